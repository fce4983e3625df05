"""Witness files: counterexamples that outlive the run that found them.

A file holds the claim and the case, so that `refute replay` needs nothing else but the code. It
does not hold the verdict of a replay: whoever opens it plays the case again on the tree of today.
A file that another version wrote is refused by name rather than half understood.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from refute import __version__
from refute.budget import Budget
from refute.claim import Claim, Verdict
from refute.errors import RefuteError, UnreadableInput, UsageError
from refute.frozen import frozen
from refute.record import ClaimResult
from refute.replay import Counterexample, Replayed, Witness, replay
from refute.site import Site
from refute.verifiers.registry import engines_for

SCHEMA = "refute.witness/1"
LARGEST = 16 * 2**20
FOLDER = Path(".refute") / "witnesses"


@frozen
class WitnessFile:
    """claim, case: what to replay. roots: import roots of the tree it was found in, relative.

    broke, runs: how often it broke when it was saved. versions: what wrote it.
    """

    claim: Claim
    case: Counterexample
    roots: tuple[str, ...]
    broke: int = 0
    runs: int = 0
    versions: tuple[tuple[str, str], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The file's content as JSON data."""
        return {
            "schema": SCHEMA,
            "claim": self.claim.to_json(),
            "counterexample": self.case.to_json(),
            "roots": list(self.roots),
            "broke": self.broke,
            "runs": self.runs,
            "versions": dict(self.versions),
        }

    @property
    def name(self) -> str:
        """A file name from the claim's name and a digest of claim and case."""
        identity = json.dumps([self.claim.digest(), self.case.to_json()], sort_keys=True)
        slug = re.sub(r"[^a-z0-9]+", "-", self.claim.name.lower()).strip("-")[:40]
        return f"{slug or 'claim'}-{hashlib.sha256(identity.encode()).hexdigest()[:8]}.json"


def of_witness(claim: Claim, witness: Witness, roots: Sequence[str]) -> WitnessFile:
    """The file for a witness against `claim`, found with these import roots."""
    versions = (("refute", __version__), ("python", sys.version.split()[0]))
    case = witness.counterexample
    return WitnessFile(claim, case, tuple(roots), witness.broke, witness.runs, versions)


def save(file: WitnessFile, folder: Path) -> Path:
    """Write the file into `folder` (made when missing) in one step; returns its path.

    Raises UnreadableInput when the folder cannot be written.
    """
    target = folder / file.name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        ignore = folder.parent / ".gitignore"
        if folder.parent.name == ".refute" and not ignore.exists():
            ignore.write_text("*\n", encoding="utf-8")
        aside = folder / f".{file.name}.{secrets.token_hex(4)}"
        aside.write_text(json.dumps(file.to_json(), indent=1) + "\n", encoding="utf-8")
        aside.replace(target)
    except OSError as error:
        raise UnreadableInput(
            f"the witness cannot be saved in {folder}: {error.strerror}",
            thing="witness folder",
            value=folder,
            next_step="make the folder writable; the counterexample is in the report",
        ) from error
    return target


def save_all(
    results: Sequence[ClaimResult], roots: Sequence[str], folder: Path
) -> tuple[dict[str, Path], str]:
    """Save every refuting witness. Returns claim digest → path, and why some were not saved."""
    saved: dict[str, Path] = {}
    for result in results:
        witness = result.evidence.witness
        if witness is None or result.evidence.verdict is not Verdict.REFUTED:
            continue
        try:
            saved[result.claim.digest()] = save(of_witness(result.claim, witness, roots), folder)
        except UnreadableInput as error:
            return saved, error.message
    return saved, ""


def load(path: Path) -> WitnessFile:
    """The witness file at `path`. Raises UnreadableInput for anything else."""
    return from_json(_json_object(path), str(path))


def from_json(data: dict[str, Any], path: str = "the data") -> WitnessFile:
    """The inverse of `WitnessFile.to_json`. Raises UnreadableInput, naming `path`."""
    schema = data.get("schema")
    if schema != SCHEMA:
        raise UnreadableInput(
            f"{path} is not a witness file of this version",
            thing="schema",
            value=schema,
            possible=(SCHEMA,),
            next_step="run the check again; it saves the witness in this version's form",
        )
    try:
        return WitnessFile(
            claim=Claim.from_json(data["claim"]),
            case=Counterexample.from_json(data["counterexample"]),
            roots=_strings(data["roots"]),
            broke=int(data["broke"]),
            runs=int(data["runs"]),
            versions=tuple((str(k), str(v)) for k, v in dict(data["versions"]).items()),
        )
    except (RefuteError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise UnreadableInput(
            f"{path} is not a complete witness file: {_why(error)}",
            thing="witness file",
            value=path,
            next_step="give a file that `refute gate` or `refute check` saved",
        ) from error


def play(file: WitnessFile, tree: Path, budget: Budget | None = None) -> Replayed:
    """Play the file's case on the code in `tree`, in fresh workers.

    The engine that found it plays it when it is still there, otherwise the first engine of its
    kind that takes the claim. Raises UsageError when none does.
    """
    claim = file.claim
    takers = [e for e in engines_for(claim.statement.kind) if not e.declines(claim)]
    takers.sort(key=lambda engine: engine.name != file.case.engine)
    if not takers:
        raise UsageError(
            f"no engine takes the claim {claim.name!r}",
            thing="claim",
            value=claim.name,
            next_step="state the claim again and check it",
        )
    site = Site(tree, tree, file.roots)
    return replay(file.case, takers[0].replayer(claim, site, budget or Budget()))


def _strings(value: Any) -> tuple[str, ...]:
    if type(value) is not list or not all(type(v) is str for v in value):
        raise TypeError(f"roots must be a list of strings, got {value!r}")
    return tuple(value)


def _why(error: Exception) -> str:
    if isinstance(error, RefuteError):
        return error.message
    return f"no {error}" if isinstance(error, KeyError) else str(error)


def _json_object(path: Path) -> dict[str, Any]:
    try:
        if path.stat().st_size > LARGEST:
            raise UnreadableInput(f"{path} is larger than {LARGEST >> 20} MiB", thing="file")
        data = json.loads(path.read_bytes().decode("utf-8"))
    except OSError as error:
        raise UnreadableInput(
            f"{path} cannot be read: {error.strerror}",
            thing="file",
            value=path,
            next_step="give the path of a witness file, e.g. one under .refute/witnesses/",
        ) from error
    except (ValueError, RecursionError) as error:
        raise UnreadableInput(
            f"{path} is not JSON: {error}",
            thing="file",
            value=path,
            next_step="give a witness file that refute saved",
        ) from error
    if type(data) is not dict:
        raise UnreadableInput(f"{path} is JSON, but not a witness file", thing="file", value=path)
    return data
