"""The job that repeats a proof from scratch: another process, another solver, no incremental state.

What it is given is the claim of a proof, not its steps: which invariants are inductive together,
for which k, and what follows from them. Each question is asked of a solver that has seen nothing
else, and the formulas themselves are doubted with runs of the tree walk.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping, Sequence

from refute.plain import Plain
from refute.specs.machine.ir import MachineIR, Property
from refute.specs.machine.statement import WELL_DEFINED
from refute.specs.machine.types import unpack
from refute.verifiers.symbolic.doubting import doubt
from refute.verifiers.symbolic.findings import VACUOUS
from refute.verifiers.symbolic.folding import Bit, any_of, not_
from refute.verifiers.symbolic.forms import Outside
from refute.verifiers.symbolic.goals import Goals
from refute.verifiers.symbolic.solving import GENERAL, Queries
from refute.verifiers.symbolic.starting import raising, some_start
from refute.verifiers.symbolic.transition import Encoding
from refute.verifiers.symbolic.unrolling import Path

SEED = 1_000_003  # added to the seed of the proof


class Recheck:
    """order: "props", the names of what was proved (that nothing raises is asked in any case);
    "lemmas", invariants that are none of the machine's; "k"; "ended", how long behaviours are at
    most, or None; "query_s", "wall_s", "seed".
    """

    encoding: Callable[[MachineIR], Encoding] = Encoding

    def __init__(self, ir: MachineIR, order: Mapping[str, Plain]) -> None:
        lemmas = tuple(unpack(data) for data in order["lemmas"])
        self.lemmas = tuple(lemma.name for lemma in lemmas)
        self.ir = dataclasses.replace(ir, properties=(*ir.properties, *lemmas))
        self.order = order
        self.until = time.monotonic() + float(order["wall_s"])
        names = {*order["props"], *self.lemmas}
        self.invariants = [p for p in self.ir.of_kind("invariant") if p.name in names]
        every = dict.fromkeys((*order["props"], WELL_DEFINED))
        self.others = [n for n in every if n not in {p.name for p in self.invariants}]
        self.doing = ""
        self.said = "it did not end"
        self.asked = 0
        self.compared: dict[str, int] = {}

    def report(self) -> dict[str, Plain]:
        """Why the proof is not confirmed, empty if it is; queries; what the tree walk was asked."""
        found = {"said": self.said, "doing": self.doing, "queries": self.asked}
        return {**found, "compared": dict(self.compared), "stopped": ""}

    def run(self) -> None:
        """Repeat the proof."""
        try:
            self.said = self._problem()
        except Outside as reason:
            self.said = f"outside what formulas say here: {reason}"

    def _problem(self) -> str:
        encoding = self.encoding(self.ir)
        said = self._starts(encoding)
        if said:
            return said
        goals = Goals(self.ir, (*(p.name for p in self.invariants), *self.others))
        k, ended = int(self.order["k"]), self.order["ended"]
        deepest = k - 1 if ended is None else int(ended)
        for length in range(deepest + 1):
            said = self._base(encoding, goals, length)
            if said:
                return said
        said = self._longer(encoding, deepest) if ended is not None else self._step(encoding, goals)
        return said or doubt(self.ir, encoding, self.order, self.compared)

    def _starts(self, encoding: Encoding) -> str:
        """Why the machine may start nowhere, or where it is not known whether it does."""
        self.doing = "again: the starts"
        self.asked += 2
        said = raising(encoding, self._queries(), self.until - time.monotonic())
        found = some_start(encoding, self._queries(), self.until - time.monotonic())
        if not said and found.said != "sat":
            said = found.why or VACUOUS
        return f"a fresh solver does not say so: {said}" if said else ""

    def _base(self, encoding: Encoding, goals: Goals, length: int) -> str:
        """Why nothing breaks after so many steps from a start; empty if that is so."""
        self.doing = f"again: {length} steps from a start"
        queries = self._queries()
        path = Path(encoding, queries, encoding.start("b0"), "b")
        for _ in range(length):
            path.extend()
        broken = []
        for goal in goals.at(path, goals.names):
            queries.add(*goal.facts)
            broken.append(goal.found)
        return self._never(queries, goals, broken, f"something breaks after {length} steps")

    def _longer(self, encoding: Encoding, deepest: int) -> str:
        queries = self._queries()
        path = Path(encoding, queries, encoding.start("b0"), "b")
        for _ in range(deepest + 1):
            path.extend()
        return self._answered(queries, "unsat", f"there are behaviours of {path.length} steps")

    def _step(self, encoding: Encoding, goals: Goals) -> str:
        """The invariants after a step from where they hold, then the rest where they hold."""
        self.doing = "again: the induction step"
        queries = self._queries()
        path = self._from_anywhere(encoding, queries)
        broken = []
        for prop in self.invariants:
            judged = encoding.holds(prop, path.last)
            queries.add(*judged.facts)
            broken.append(not_(judged.holds))
        said = self._never(queries, goals, broken, "the invariants are not inductive")
        for name in self.others if not said else ():
            queries = self._queries()
            path = self._from_anywhere(encoding, queries)
            _assume(encoding, queries, self.invariants, path, len(path.worlds))
            found = goals.at(path, [name])
            for goal in found:
                queries.add(*goal.facts)
            bits = [goal.found for goal in found]
            said = said or self._never(queries, goals, bits, f"{name} does not follow")
        return said

    def _from_anywhere(self, encoding: Encoding, queries: Queries) -> Path:
        path = Path(encoding, queries, encoding.arbitrary("r0"), "r")
        for _ in range(int(self.order["k"])):
            path.extend()
        _assume(encoding, queries, self.invariants, path, path.length)
        return path

    def _never(self, queries: Queries, goals: Goals, bits: Sequence[Bit], otherwise: str) -> str:
        if goals.outside:
            return next(iter(goals.outside.values()))
        queries.add(any_of(bits))
        return self._answered(queries, "unsat", otherwise)

    def _answered(self, queries: Queries, wanted: str, otherwise: str) -> str:
        """Empty if the solver says what is wanted, else what is wrong."""
        answer = queries.ask(at_most_s=self.until - time.monotonic())
        self.asked += 1
        if answer.said == wanted:
            return ""
        return f"a fresh solver does not say so: {answer.why or otherwise}"

    def _queries(self) -> Queries:
        seed = int(self.order["seed"]) + SEED
        return Queries(float(self.order["query_s"]), seed, GENERAL)


def _assume(
    encoding: Encoding, queries: Queries, props: Sequence[Property], path: Path, count: int
) -> None:
    """Assert invariants in the first states of a path."""
    for world in path.worlds[:count]:
        for prop in props:
            judged = encoding.holds(prop, world)
            queries.add(*judged.facts, judged.holds)
