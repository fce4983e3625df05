"""The state of a run in a file, from which it goes on: what is done, found, and still to be done.

It is written every few seconds, under another name first, so that a run that is killed at any
moment leaves a whole one behind. A run that goes on must mean the same: the same engine, seed,
oracles and sizes. Only how long it takes, and on how many processes, may be another.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from refute.errors import UnreadableInput, UsageError
from refute.verifiers.sql.fuzz_causes import Causes
from refute.verifiers.sql.fuzz_failure import Failure
from refute.verifiers.sql.fuzz_learn import Learner
from refute.verifiers.sql.fuzz_plan import Counts, Plan

FORMAT = "refute.fuzz-state/1"
NAME = "state.json"
LOCK = "lock"
_STEP = "begin anew in another directory, or give what the run was begun with"


@dataclasses.dataclass
class State:
    """A run between two programs. taken: units whose results are part of it.

    looking: whether the first of the pending failures was being looked into. plans: numbers of
    those that were seen.
    """

    taken: int
    counts: Counts
    causes: Causes
    learner: Learner
    pending: list[Failure]
    version: str = ""
    notes: tuple[str, ...] = ()
    looking: bool = False
    plans: tuple[int, ...] = ()


def identity(plan: Plan) -> dict[str, Any]:
    """What must be the same for a run to go on."""
    scripts = repr([(script.name, list(script.cases())) for script in plan.seeds])
    return {
        "engine": plan.choice.shown,
        "oracles": list(plan.oracles),
        "seed": plan.seed,
        "first": plan.first,
        "queries": plan.queries,
        "tables": plan.tables,
        "rows": plan.rows,
        "guided": plan.guided,
        "features": None if plan.features is None else sorted(plan.features),
        "scripts": hashlib.sha256(scripts.encode()).hexdigest()[:16] if plan.seeds else "",
    }


@contextlib.contextmanager
def held(directory: Path | None) -> Iterator[None]:
    """Keep other runs out of the directory. Raises UsageError while one is in it."""
    if directory is None:
        yield
        return
    path = directory / LOCK
    try:
        directory.mkdir(parents=True, exist_ok=True)
        lock = path.open("w")
    except OSError as error:
        raise _unwritten(path, error) from error
    with lock:
        try:
            fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # of this process, not its children
        except OSError as error:
            raise UsageError(
                f"{directory}: another run goes on there",
                thing="state",
                value=str(directory),
                next_step="wait for its end, or name another directory",
            ) from error
        yield


def save(directory: Path, plan: Plan, state: State) -> None:
    """Write the state. Raises UsageError when that cannot be done."""
    data = {
        "format": FORMAT,
        "plan": identity(plan),
        "taken": state.taken,
        "counts": state.counts.to_json(),
        "causes": state.causes.to_json(),
        "learner": state.learner.to_json(),
        "pending": [dataclasses.asdict(failure) for failure in state.pending],
        "version": state.version,
        "notes": list(state.notes),
        "looking": state.looking,
        "plans": list(state.plans),
    }
    path = directory / NAME
    try:
        directory.mkdir(parents=True, exist_ok=True)
        made = path.with_suffix(".new")
        with made.open("w", encoding="utf-8", errors="surrogatepass") as file:
            json.dump(data, file)
            file.flush()
            os.fsync(file.fileno())
        made.replace(path)
    except OSError as error:
        raise _unwritten(path, error) from error


def _unwritten(path: Path, error: OSError) -> UsageError:
    return UsageError(
        f"{path}: the state of the run cannot be written: {error.strerror or error}",
        thing="state",
        value=str(path.parent),
        next_step="name a directory that can be written",
    )


def load(directory: Path, plan: Plan) -> State | None:
    """The state to go on from; None where no run was begun. Raises UnreadableInput, UsageError."""
    path = directory / NAME
    try:
        text = path.read_text(encoding="utf-8", errors="surrogatepass")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from error
    try:
        data = json.loads(text)
        if type(data) is not dict or data.get("format") != FORMAT:
            raise ValueError(f"it is no file of the format {FORMAT}")
        _check_same(path, data["plan"], identity(plan))
        return State(
            taken=int(data["taken"]),
            counts=Counts.from_json(data["counts"]),
            causes=Causes.from_json(data["causes"]),
            learner=Learner.from_json(data["learner"]),
            pending=[_failure(one) for one in data["pending"]],
            version=str(data["version"]),
            notes=tuple(map(str, data["notes"])),
            looking=bool(data["looking"]),
            plans=tuple(map(int, data["plans"])),
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise _unreadable(path, str(error) or type(error).__name__) from error


def _failure(data: Mapping[str, Any]) -> Failure:
    given: dict[str, Any] = {k: tuple(v) if type(v) is list else v for k, v in data.items()}
    return Failure(**given)


def _check_same(path: Path, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    other: Sequence[str] = [name for name in now if before.get(name) != now[name]]
    if other:
        name = other[0]
        raise UsageError(
            f"{path} is of another run: its {name} is {before.get(name)!r}, not {now[name]!r}",
            thing=name,
            value=now[name],
            next_step=_STEP,
        )


def _unreadable(path: Path, why: str) -> UnreadableInput:
    return UnreadableInput(
        f"{path}: cannot go on from here: {why}", thing="state", value=str(path), next_step=_STEP
    )
