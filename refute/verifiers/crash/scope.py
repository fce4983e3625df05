"""What a search covered, in words that promise no more than was done."""

from __future__ import annotations

from refute.fuzz.operations import Operations
from refute.specs.crash import PERSISTENCE, Configuration
from refute.verifiers.crash.explore import Explorer

COLLISIONS = "no two of the crash images share a 128-bit fingerprint by chance"

_STAGES = {
    "prefixes": "every prefix of the writes, and every suffix of open writes lost at the end",
    "single": "one open write lost, one kept, or one torn",
    "faults": "a fault at every device call of the last operation and the sync after it",
    "recovery": "recovery crashed again at its own writes, once for each distinct log of writes",
    "continued": "operations and faults after a recovery, for a few images that need recovering",
    "pairs": "two open writes lost or kept, any one torn at a flush",
    "subsets": "every subset of flush epochs up to the bound",
    "samples": "longer sequences drawn by seed, with one fault each",
}
_NEEDED = {
    "recovery": {"prefixes", "single", "recovery"},
    "errors": {"prefixes", "faults"},
    "fsync": {"prefixes", "faults"},
    "behaviour": {"prefixes"},
}


_OWN = {"recovery": "recovery", "errors": "faults", "fsync": "faults"}


def own_stage(prop: str) -> str:
    """The stage without which nothing was tried against the property."""
    return _OWN.get(prop, "prefixes")


def vacuous(prop: str, configuration: Configuration, alphabet: Operations) -> str:
    """Why the property could not be broken whatever the subject does; empty when it could."""
    promises = any(operation[0] in configuration.syncs for operation in alphabet)
    if prop in ("durability", "fsync") and configuration.durability == "prefix" and not promises:
        return "vacuous: no operation promises durability; name some in syncs"
    if prop in ("durability", "fsync") and configuration.persistence == "dropped-flush":
        return "vacuous: on a disk that drops flushes nothing can be promised"
    return ""


def needed(prop: str) -> set[str]:
    """The stages that must be finished before the search counts as complete for the property."""
    return _NEEDED.get(prop, {"prefixes", "single", "pairs", "subsets"})


def scope_text(configuration: Configuration, explorer: Explorer) -> str:
    """One sentence on what was explored, and one on each thing left out."""
    done = [_STAGES[name] for name in explorer.complete]
    parts = [
        f"sequences of up to {configuration.depth} operations, of which all but the last succeed"
        f" (faults: up to {configuration.fault_depth}; subsets: epochs of up to"
        f" {configuration.subsets} writes)",
        f"device model {configuration.persistence}: {PERSISTENCE[configuration.persistence]}",
        "finished: " + ("; ".join(done) or "nothing"),
    ]
    if explorer.stopped:
        parts.append(f"then stopped: {explorer.stopped}")
    if configuration.filesystem and not configuration.structure:
        parts.append("structure is judged from the view alone")
    return ". ".join([*parts, *explorer.notes])
