"""A whole search by formulas beside a whole explicit one: what is found, and after how many steps.

Breadth first and depth after depth both find shortest traces, so that as far as both searched they
find the same, be it broken properties, examples, deadlocks, what raises, or steps that are taken.
Whatever induction proves, explicit search must not break.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.util
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import typed_machines  # type: ignore[import-not-found]
import wide_machines  # type: ignore[import-not-found]
from test_machine_meanings import executed  # type: ignore[import-not-found]

from refute.errors import Unsupported
from refute.frozen import frozen
from refute.specs.machine.ir import MachineIR
from refute.specs.machine.statement import ALL_FIRE, DEADLOCK_FREE, WELL_DEFINED
from refute.verifiers.model.search import Search
from refute.verifiers.symbolic import searching
from refute.verifiers.symbolic.goals import FIRES

DEPTH = 6
STATES = 2_000  # expanded by the plain engine at most
WHOLE = 10**6  # deeper than any search here
SOURCES: Mapping[str, Callable[[int], str]] = {
    "typed": typed_machines.source,
    "wide": wide_machines.source,
}


@frozen
class Seen:
    """What a search found: for each goal the number of steps; complete: down to which depth."""

    steps: Mapping[str, int]
    complete: int


@frozen
class Compared:
    """depth: down to which both searched. found: goals that both met. wrong: what differs."""

    depth: int
    found: int
    proved: int
    wrong: str


@contextlib.contextmanager
def built(directory: Path, kind: str, seed: int) -> Iterator[MachineIR]:
    """A random machine, forgotten afterwards. Raises Unsupported where the language refuses it."""
    name = f"searched_{kind}_{seed}"
    file = directory / f"{name}.py"
    file.write_text(SOURCES[kind](seed))
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    try:
        yield executed(name, spec).M.build().ir
    finally:
        sys.modules.pop(name, None)
        file.unlink()


def variants(ir: MachineIR, seed: int) -> Iterator[MachineIR]:
    """The machine, and one of its actions alone: what never rests seldom has a deadlock."""
    yield ir
    if ir.actions:
        chosen = ir.actions[(seed + 1) % len(ir.actions)]
        yield dataclasses.replace(ir, actions=(chosen,), processes=())


def compared(ir: MachineIR, depth: int = DEPTH, seconds: float = 4.0) -> Compared:
    """Both searches of a machine; each stops after so many seconds where it then is."""
    plain = explicit(ir, seconds)
    job, formulas = symbolic(ir, depth, seconds)
    most = min(plain.complete, formulas.complete)
    # What formulas do not say, or not all of, and what they have proved.
    outside = job.goals.outside.keys() | job.goals.limited.keys()
    ours = {n: s for n, s in plain.steps.items() if s <= most and n not in outside}
    found = {n: s for n, s in formulas.steps.items() if s <= most}
    report = job.report()
    wrong = _unequal(ours, {n: s for n, s in found.items() if n not in outside})
    broken = {n: plain.steps[n] for n in report["proved"] if n in plain.steps}
    wrong += [f"proved and broken: {broken}"] if broken else []
    wrong += [f"parted: {report['parted']}"] if report["parted"] else []
    if report["ended"] and plain.complete == WHOLE:
        late = {n: s for n, s in plain.steps.items() if s > report["depth"] + 1}
        wrong += [f"behaviours end after {report['depth']} steps, but {late}"] if late else []
    return Compared(most, len(found), len(report["proved"]), "; ".join(wrong))


def _unequal(ours: Mapping[str, int], found: Mapping[str, int]) -> list[str]:
    names = [n for n in {**ours, **found} if ours.get(n) != found.get(n)]
    return [f"{n}: explicit {ours.get(n)}, symbolic {found.get(n)} steps" for n in names]


def explicit(ir: MachineIR, seconds: float) -> Seen:
    """The plain engine's search."""
    search = Search(ir)
    begun = time.monotonic()
    while not search.started:
        search.advance(0.0)
    while search.at < min(len(search.states), STATES) and time.monotonic() - begun < seconds:
        if search.at == search.level_end:
            search.level_end = len(search.states)
            search.depth += 1
        search.expand(search.at)
        search.at += 1
    steps = {name: len(hit.links) for name, hit in search.hits.items()}
    steps |= {FIRES + name: len(hit.links) for name, hit in search.fired.items()}
    # The states that are being expanded are `depth - 1` steps from a start.
    return Seen(steps, WHOLE if search.at == len(search.states) else search.depth - 2)


def symbolic(ir: MachineIR, depth: int, seconds: float) -> tuple[searching.Search, Seen]:
    """The search by formulas, with 2-induction beside it. Raises Unsupported: there are none."""
    names = [p.name for p in ir.properties if p.kind not in ("initial", "constraint", "terminal")]
    order = {
        "props": [*names, DEADLOCK_FREE, WELL_DEFINED, ALL_FIRE],
        "depth": depth,
        "induct": 2,
        "query_s": seconds,
        "wall_s": seconds,
        "seed": 0,
    }
    job = searching.Search(ir, order)
    job.run()
    if job.bounded is None:
        raise Unsupported(f"no formulas: {job.stopped}", thing="machine")
    found = job.bounded.found
    steps = {n: f.length + (f.goal.further is not None) for n, f in found.items()}
    whole = job.bounded.over and not job.bounded.stopped
    return job, Seen(steps, WHOLE if whole else job.bounded.depth)
