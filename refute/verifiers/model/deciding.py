"""What one search of a machine decides: of which properties, and why not of others."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from refute.claim import Claim
from refute.frozen import frozen
from refute.plain import Plain
from refute.specs.machine.ir import MachineIR
from refute.specs.machine.statement import ALL, ALL_FIRE, DEADLOCK_FREE, WELL_DEFINED
from refute.specs.machine.symmetry import Symmetry
from refute.verifiers.model.exploring import counted as _counted
from refute.verifiers.model.second import ALWAYS_SECOND
from refute.verifiers.model.stating import undecided


@frozen
class Searched:
    """What one search found. stopped: why it is not complete, empty when it is.

    confirmed: what the second engine found, empty when it did not finish; confirming: how far it
    came then. undecided: for properties without a trace, why they are not established.
    behaviours: for properties of behaviours, how they were judged. interrupted: when the user asked
    to stop in the middle of that.
    symmetry: of which permutations one state stands for those it leads to; None for no such search.
    """

    ir: MachineIR
    report: Mapping[str, Plain]
    stopped: str
    cpu_s: float
    wall_s: float
    isolation: str
    confirmed: Mapping[str, Plain] = dataclasses.field(default_factory=dict)
    confirming: str = ""
    undecided: Mapping[str, str] = dataclasses.field(default_factory=dict)
    behaviours: Mapping[str, str] = dataclasses.field(default_factory=dict)
    symmetry: Symmetry | None = None
    interrupted: bool = False


def cut(prop: str, searched: Searched) -> str:
    """Why the search does not decide a property it found no trace for; empty when it does."""
    report = searched.report
    if searched.symmetry is not None and prop in behaviours_of(searched.ir):
        return searched.undecided[prop]  # also where a larger budget would end the search
    if searched.stopped:
        return undecided(prop, searched.ir, "walks" in report, searched.stopped)
    if searched.confirmed and not same_counts(searched):
        theirs = str(searched.confirmed.get("disagrees", _counted(searched.confirmed)))
        return f"a bug of refute: the engines disagree, {_counted(report)} against {theirs}"
    if not report.get("distinct"):
        return "vacuous: the machine has no initial state within its constraint"
    if report["raised"] and prop != WELL_DEFINED:
        return (
            f"{report['raised']} steps or predicates raise or leave a type's range, and nothing "
            "is known beyond them; see well_defined"
        )
    if prop in searched.undecided:
        return searched.undecided[prop]
    existential = prop == ALL_FIRE or prop in {p.name for p in searched.ir.of_kind("reachable")}
    if existential and report["outside"]:
        return f"not found, and the constraint cuts the search at {report['outside']} states"
    if prop == ALL:
        shown = {p.name for p in searched.ir.of_kind("reachable")} - set(report["hits"])
        missing = [f"{name} is never reached" for name in sorted(shown)]
        missing += [f"{name} never takes a step" for name in report["silent"]]
        missing += [f"{name}: {why}" for name, why in searched.undecided.items()]
        return "; ".join(missing)
    return ""


def walked_through(prop: str, searched: Searched) -> bool:
    """Whether random walks were taken that judged the property all along."""
    report = searched.report
    kinds = ("invariant", "transition", "observe")
    judged = [p.name for k in kinds for p in searched.ir.of_kind(k)]
    judged += [DEADLOCK_FREE, WELL_DEFINED]
    return bool(report.get("walks")) and not report.get("raised") and prop in judged


def behaviours_of(ir: MachineIR) -> set[str]:
    """The names of temporal properties and refinements."""
    return {t.name for t in ir.temporals} | {r.name for r in ir.refinements}


def temporal_props(claims: Sequence[Claim], ir: MachineIR) -> bool:
    """Whether some claim is about a temporal property or a refinement."""
    known = behaviours_of(ir)
    props = {str(c.statement.params["prop"]) for c in claims}
    return bool(known) and (ALL in props or bool(known & props))


def needs_second(claims: Sequence[Claim], searched: Searched) -> bool:
    """Whether some claim is refuted by the search being complete."""
    props = [str(c.statement.params["prop"]) for c in claims if c.statement.existential]
    known = {p.name for p in searched.ir.of_kind("reachable")}
    hits = searched.report.get("hits", {})
    return any(
        (p in known and p not in hits) or (p == ALL_FIRE and searched.report.get("silent"))
        for p in props
    )


def small(report: Mapping[str, Plain]) -> bool:
    """Whether the second engine can repeat the whole search for next to nothing."""
    return not report["raised"] and states_of(report) <= ALWAYS_SECOND


def states_of(report: Mapping[str, Plain]) -> int:
    """The states found; of a search up to permutations those of all orbits."""
    return int(report.get("whole", report.get("distinct", 0)))


def same_counts(searched: Searched) -> bool:
    """Whether both engines counted alike; the second one searches all states of orbits."""
    first, second = searched.report, searched.confirmed
    if "whole" in first:
        return bool(first["whole"] == second["distinct"])
    return all(second.get(n) == first[n] for n in ("distinct", "generated"))


def agreement(prop: str, searched: Searched) -> bool:
    """Whether the second engine finished, with the same counts and without an example either."""
    second, first = searched.confirmed, searched.report
    if not second or not same_counts(searched):
        return False
    if prop == ALL_FIRE:
        return not set(first["silent"]) & set(second["fired"])
    return prop not in second["reached"]
