"""Whether a trace leaves the machine that is refined, by the tree walk of both machines.

Shares nothing with the search that found it but the IR.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

from refute.plain import Plain
from refute.specs.machine.fairness import fairness
from refute.specs.machine.ir import MachineIR, Refinement, hides
from refute.specs.machine.meaning import Meaning, Taken, World, bindings
from refute.specs.machine.values import Value
from refute.verifiers.model.confirm import passed
from refute.verifiers.model.lasso import broken, steps_of, unfair_lasso

Values = tuple[Value, ...]


def not_a_departure(data: Plain, case: Mapping[str, Plain]) -> str:
    """Why the trace does not break its refinement; empty when it does. Runs in a worker."""
    meaning = Meaning(MachineIR.from_plain(data))
    (refinement,) = [r for r in meaning.ir.refinements if r.name == case["property"]]
    worlds = passed(meaning, case)
    if len(worlds) != len(case["steps"]) + 1:
        return "the trace is no run"
    above = Meaning(refinement.abstract)
    images = [_image(meaning, refinement, world) for world in worlds]
    if hides(above.ir):
        return _never_fits(meaning, above, worlds, images, case)
    rows = [World(image, ()) for image in images]
    if "loop" in case:
        return _kept(meaning, above, worlds, rows, case)
    if not case["steps"]:
        return "the start is right" if rows[0] in set(above.starts()) else ""
    before, after = rows[-2:]
    same = before == after or any(taken.after == after for taken in above.steps(before))
    return "the step is allowed" if same else ""


def _kept(
    meaning: Meaning,
    above: Meaning,
    worlds: Sequence[World],
    rows: Sequence[World],
    case: Mapping[str, Plain],
) -> str:
    """Why a lasso is fair to the other machine, whose states `rows` are, or is none."""
    loop = int(case["loop"])
    problem = unfair_lasso(meaning, worlds, loop)
    if problem:
        return problem
    if rows[loop] != rows[-1]:
        return "the other machine's cycle does not close"
    fair = fairness(above.ir)[int(case["condition"])]
    unkept = broken(fair.strong, rows[loop:], functools.partial(steps_of, above, fair))
    return "" if unkept else "the condition is kept"


def _image(meaning: Meaning, refinement: Refinement, world: World) -> Values:
    return tuple(meaning.valued(e, world) for e in refinement.mapping)


def _never_fits(
    meaning: Meaning,
    above: Meaning,
    worlds: Sequence[World],
    images: Sequence[Values],
    case: Mapping[str, Plain],
) -> str:
    """The same where a part of the other machine's state is hidden: all that fit are followed."""
    places = [at for at, v in enumerate(above.ir.variables) if not v.hidden]

    def seen(world: World) -> Values:
        return tuple(world.variables[at] for at in places)

    def reached(found: Iterable[World], shown: Values) -> frozenset[World]:
        every = dict.fromkeys(w for w in found if seen(w) == shown)
        queue = list(every)
        for world in queue:
            more = [w for w in _behind(above, world) if seen(w) == shown and w not in every]
            every.update(dict.fromkeys(more))
            queue += more
        return frozenset(every)

    fits = reached(above.starts(), images[0])
    rows = [fits]
    for before, after in itertools.pairwise(images):
        if after != before:
            fits = reached((w for f in fits for w in _behind(above, f)), after)
        rows.append(fits)
    if "loop" not in case:
        return "the start is right" if fits and not case["steps"] else _allowed(fits)
    if any(len(row) != 1 for row in rows):
        return "several states of the other machine fit, or none"
    return _kept(meaning, above, worlds, [world for row in rows for world in row], case)


def _allowed(fits: frozenset[World]) -> str:
    return "the step is allowed" if fits else ""


def _behind(above: Meaning, world: World) -> Iterator[World]:
    """Where the steps from a state lead; one that raises leads nowhere."""
    for action in above.ir.actions:
        for params in bindings(action.params):
            yield from _ends(above.action(action, params, world))
    for at in range(len(above.processes)):
        yield from _ends(above.process(at, world))


def _ends(steps: Iterator[Taken]) -> Iterator[World]:
    try:
        yield from (taken.after for taken in steps)
    except Exception:
        return
