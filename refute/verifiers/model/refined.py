"""Whether a trace leaves the machine that is refined, by the tree walk of both machines.

Shares nothing with the search that found it but the IR.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

from refute.plain import Plain
from refute.specs.machine.fairness import fairness
from refute.specs.machine.ir import MachineIR, Refinement
from refute.specs.machine.meaning import Meaning, World
from refute.verifiers.model.confirm import passed
from refute.verifiers.model.lasso import broken, steps_of, unfair_lasso


def not_a_departure(data: Plain, case: Mapping[str, Plain]) -> str:
    """Why the trace does not break its refinement; empty when it does. Runs in a worker."""
    meaning = Meaning(MachineIR.from_plain(data))
    (refinement,) = [r for r in meaning.ir.refinements if r.name == case["property"]]
    worlds = passed(meaning, case)
    if len(worlds) != len(case["steps"]) + 1:
        return "the trace is no run"
    above = Meaning(refinement.abstract)
    images = [_image(meaning, refinement, world) for world in worlds]
    if "loop" in case:
        loop = int(case["loop"])
        problem = unfair_lasso(meaning, worlds, loop)
        fair = fairness(above.ir)[int(case["condition"])]
        kept = not broken(fair.strong, images[loop:], functools.partial(steps_of, above, fair))
        return problem or ("the condition is kept" if kept else "")
    if not case["steps"]:
        return "the start is right" if images[0] in set(above.starts()) else ""
    before, after = images[-2:]
    same = before == after or any(taken.after == after for taken in above.steps(before))
    return "the step is allowed" if same else ""


def _image(meaning: Meaning, refinement: Refinement, world: World) -> World:
    return World(tuple(meaning.valued(e, world) for e in refinement.mapping), ())
