"""The job that repeats a proof from scratch: another process, another solver, no incremental state.

What it is given is the claim of a proof, not its steps: which invariants are inductive together,
for which k, and what follows from them. Each question is asked of a solver that has seen nothing
else, and the formulas themselves are doubted with runs of the tree walk.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping, Sequence

import z3

from refute.plain import Plain
from refute.specs.machine.ir import MachineIR, Property
from refute.specs.machine.statement import WELL_DEFINED
from refute.specs.machine.types import unpack
from refute.verifiers.symbolic.doubting import doubt
from refute.verifiers.symbolic.findings import VACUOUS
from refute.verifiers.symbolic.folding import Term, any_of, not_
from refute.verifiers.symbolic.forms import Outside
from refute.verifiers.symbolic.goals import Goal, Goals
from refute.verifiers.symbolic.singling import Alone, Hypothesis, variables_of
from refute.verifiers.symbolic.solving import GENERAL, Queries
from refute.verifiers.symbolic.starting import raising, some_start
from refute.verifiers.symbolic.transition import Encoding
from refute.verifiers.symbolic.unrolling import Path
from refute.verifiers.symbolic.world import World

DISAGREES = "a fresh solver does not say so"
JOINT_SHARE = 0.3  # of the time that is left, for one question about many goals
EACH_SHARE = 0.7  # of it, for all of them one by one
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
        self.unsaid: dict[str, str] = {}  # what was proved, and not confirmed in its time

    def report(self) -> dict[str, Plain]:
        """Why the proof is not confirmed, empty if it is; queries; what the tree walk was asked."""
        found = {"said": self.said, "doing": self.doing, "queries": self.asked}
        unsaid = {n: f"{DISAGREES}: {why}" for n, why in self.unsaid.items()}
        return {**found, "unsaid": unsaid, "compared": dict(self.compared), "stopped": ""}

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
        return f"{DISAGREES}: {said}" if said else ""

    def _base(self, encoding: Encoding, goals: Goals, length: int) -> str:
        """Why something breaks after so many steps from a start; empty if nothing is known to."""
        self.doing = f"again: {length} steps from a start"
        queries = self._queries()
        path = Path(encoding, queries, encoding.start("b0"), "b")
        for _ in range(length):
            path.extend()
        found = goals.at(path, [n for n in goals.names if n not in self.unsaid])
        if goals.outside:
            return next(iter(goals.outside.values()))
        asked = [(goal, frozenset(encoding.kinds)) for goal in found]
        return self._never(path, asked, [], f"something breaks after {length} steps")[0]

    def _longer(self, encoding: Encoding, deepest: int) -> str:
        queries = self._queries()
        path = Path(encoding, queries, encoding.start("b0"), "b")
        for _ in range(deepest + 1):
            path.extend()
        return self._answered(queries, "unsat", f"there are behaviours of {path.length} steps")

    def _step(self, encoding: Encoding, goals: Goals) -> str:
        """The invariants after a step from where they hold, then the rest where they hold."""
        self.doing = "again: the induction step"
        kept = [p for p in self.invariants if p.name not in self.unsaid]
        while True:
            path = self._from_anywhere(encoding)
            asked = []
            for prop in kept:
                judged = encoding.holds(prop, path.last)
                broken = Goal(prop.name, not_(judged.holds), "", judged.facts)
                asked.append((broken, variables_of(prop.predicate)))
            assumed = _assumed(encoding, kept, path.worlds[:-1])
            said, used = self._never(path, asked, assumed, "the invariants are not inductive")
            kept = [p for p in kept if p.name not in self.unsaid]
            if said:
                return said
            if used <= {p.name for p in kept}:
                break  # none of those that are left leans on one that is not
        for name in self.others:
            path = self._from_anywhere(encoding)
            found = goals.at(path, [name]) if name not in self.unsaid else []
            if goals.outside:
                return next(iter(goals.outside.values()))
            assumed = _assumed(encoding, kept, path.worlds)
            asked = [(goal, frozenset(encoding.kinds)) for goal in found]
            said, _ = self._never(path, asked, assumed, f"{name} does not follow")
            if said:
                return said
        return ""

    def _from_anywhere(self, encoding: Encoding) -> Path:
        path = Path(encoding, self._queries(), encoding.arbitrary("r0"), "r")
        for _ in range(int(self.order["k"])):
            path.extend()
        return path

    def _never(
        self,
        path: Path,
        asked: Sequence[tuple[Goal, frozenset[str]]],
        assumed: Sequence[Hypothesis],
        otherwise: str,
    ) -> tuple[str, frozenset[str]]:
        """What is wrong if one of the goals is met, and names of what was needed against that.

        asked: with the variables that each speaks of. What is not answered is put down by goal.
        """
        given = path.queries.given
        queries = self._queries()
        queries.add(*given, *(fact for goal, _ in asked for fact in goal.facts))
        for one in assumed:
            queries.add(*one.facts, *one.holds)
        queries.add(any_of(goal.found for goal, _ in asked))
        left = self.until - time.monotonic()
        answer = queries.ask(at_most_s=left * (JOINT_SHARE if len(asked) > 1 else 1.0))
        self.asked += 1
        every = frozenset(one.name for one in assumed)
        if answer.said == "unsat":
            return "", every
        if answer.said == "sat" and not (assumed and self.unsaid):
            return f"{DISAGREES}: {otherwise}", every
        return self._each(Alone(self._queries, given, _ways(path)), asked, assumed, otherwise)

    def _each(
        self,
        alone: Alone,
        asked: Sequence[tuple[Goal, frozenset[str]]],
        assumed: Sequence[Hypothesis],
        otherwise: str,
    ) -> tuple[str, frozenset[str]]:
        """The same, asked of each goal alone."""
        used: set[str] = set()
        for at, (goal, variables) in enumerate(asked):
            left = EACH_SHARE * (self.until - time.monotonic())
            answer = alone.ask(goal, assumed, variables, left / (len(asked) - at))
            self.asked += 1
            if answer.said == "sat" and not (assumed and self.unsaid):
                return f"{DISAGREES}: {otherwise}", frozenset()
            if answer.said != "unsat":  # which a model is no reason for where less is assumed
                self.unsaid[goal.name] = answer.why or otherwise
                continue
            needed = {str(literal) for literal in answer.needed}
            used |= {one.name for one in assumed if str(one.literal) in needed}
        return "", frozenset(used)

    def _answered(self, queries: Queries, wanted: str, otherwise: str) -> str:
        """Empty if the solver says what is wanted, else what is wrong."""
        answer = queries.ask(at_most_s=self.until - time.monotonic())
        self.asked += 1
        if answer.said == wanted:
            return ""
        return f"{DISAGREES}: {answer.why or otherwise}"

    def _queries(self) -> Queries:
        seed = int(self.order["seed"]) + SEED
        return Queries(float(self.order["query_s"]), seed, GENERAL)


def _assumed(
    encoding: Encoding, props: Sequence[Property], worlds: Sequence[World]
) -> list[Hypothesis]:
    """That invariants hold in these states."""
    found = []
    for prop in props:
        judged = [encoding.holds(prop, world) for world in worlds]
        facts = tuple(fact for one in judged for fact in one.facts)
        holds = tuple(one.holds for one in judged)
        literal = z3.FreshBool(prop.name)
        variables = variables_of(prop.predicate)
        found.append(Hypothesis(prop.name, literal, facts, holds, variables))
    return found


def _ways(path: Path) -> tuple[Term, ...]:
    """The ways that the last step of a path may go; none where it has no step."""
    taken = path.moves[-1].taken if path.moves else ()
    return tuple(bit for bit in taken if not isinstance(bit, bool))
