"""Walks of traces on the IR: what a replay of the plain class is compared with; in a worker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from refute.plain import Plain
from refute.specs.machine.ir import MachineIR
from refute.specs.machine.meaning import Meaning
from refute.specs.machine.values import pack_value
from refute.verifiers.model.confirm import passed
from refute.verifiers.model.lasso import not_a_witness
from refute.verifiers.model.refined import not_a_departure


def walked(data: Plain, cases: Sequence[Mapping[str, Plain]]) -> list[Plain]:
    """For each trace the variables' values along it, by the meaning of the machine's IR.

    "states" are fewer than the trace has when it gets stuck. "not": for a lasso or a departure from
    a machine that is refined, why it is none.
    """
    meaning = Meaning(MachineIR.from_plain(data))
    refined = {r.name for r in meaning.ir.refinements}
    seen = [at for at, variable in enumerate(meaning.ir.variables) if not variable.hidden]
    found: list[Plain] = []
    for case in cases:
        worlds = passed(meaning, case)
        states = [[pack_value(world.variables[at]) for at in seen] for world in worlds]
        wrong = ""
        if case["property"] in refined:
            wrong = not_a_departure(data, case)
        elif "loop" in case:
            wrong = not_a_witness(data, case)
        found.append({"states": states, "not": wrong})
    return found
