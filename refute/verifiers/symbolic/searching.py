"""The job of a search: bounded, one depth after the other, and k-induction beside it.

A k-induction needs that nothing breaks in the first k - 1 steps, so it is asked as soon as these
were searched; what it proves the bounded search need not look for any more.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

from refute.plain import Plain
from refute.specs.machine.ir import MachineIR
from refute.specs.machine.naming import silent_steps
from refute.specs.machine.statement import ALL_FIRE, WELL_DEFINED
from refute.verifiers.symbolic.bounded import Bounded, Found
from refute.verifiers.symbolic.forms import Outside
from refute.verifiers.symbolic.goals import FIRES, Goals
from refute.verifiers.symbolic.induction import Induction
from refute.verifiers.symbolic.reading import Following, Parted
from refute.verifiers.symbolic.solving import FINITE, Queries
from refute.verifiers.symbolic.starting import raising
from refute.verifiers.symbolic.stepping import run_of
from refute.verifiers.symbolic.telling import told_induction
from refute.verifiers.symbolic.transition import Encoding

STEP_SHARE = 0.2  # of the time that is left, for the induction of one k


class Search:
    """order: "props", names of the properties asked for; "depth", the most steps, None as far as
    time goes; "induct", the largest k; "query_s", "wall_s", seconds; "seed"."""

    def __init__(self, ir: MachineIR, order: Mapping[str, Plain]) -> None:
        self.ir = ir
        self.order = order
        self.until = time.monotonic() + float(order["wall_s"])
        self.doing = "writing formulas"
        self.stopped = ""
        self.traces: dict[str, Plain] = {}
        self.parted: dict[str, str] = {}
        self.told: dict[str, Plain] = {}
        # All invariants are looked for, as each may be assumed in the proofs of others.
        invariants = (p.name for p in ir.of_kind("invariant"))
        self.goals = Goals(ir, dict.fromkeys((*order["props"], *invariants)))
        self.bounded: Bounded | None = None
        self.induction: Induction | None = None
        self.no_induction = ""
        self._queries: list[Queries] = []

    def new_queries(self) -> Queries:
        """A solver of its own, with the limits of the order."""
        made = Queries(float(self.order["query_s"]), int(self.order["seed"]))
        self._queries.append(made)
        return made

    def run(self) -> None:
        """Search until everything is decided, or the limits are reached."""
        try:
            encoding = Encoding(self.ir)
            self._limit(encoding)
            self.bounded = Bounded(encoding, self.goals, self.new_queries(), self._tell)
            self.induction = self._induction(encoding)
            self._search(self.bounded)
        except Outside as reason:
            self.stopped = f"outside what formulas say here: {reason}"

    def _limit(self, encoding: Encoding) -> None:
        """Nothing can be proved where it is not known at which values the machine starts."""
        seconds = STEP_SHARE * (self.until - time.monotonic())
        said = raising(encoding, self.new_queries(), seconds)
        if said:
            self.goals.limited[WELL_DEFINED] = said

    def _induction(self, encoding: Encoding) -> Induction | None:
        names = self._universal()
        if not self.order["induct"] or not names:
            return None
        invariants = self.ir.of_kind("invariant")
        goals = Goals(self.ir, names)
        return Induction(encoding, goals, invariants, self.new_queries, self._tell)

    def _search(self, bounded: Bounded) -> None:
        most = self.order["depth"]
        while not bounded.over and time.monotonic() < self.until:
            bounded.deeper(self.until)
            self._note(bounded)
            if bounded.depth < 0:
                break
            self._induct(bounded, bounded.depth + 1)
            if most is not None and bounded.depth >= int(most):
                break
        self.stopped = bounded.stopped or self.stopped
        if not bounded.over and most is None:
            self.stopped = self.stopped or "its time ended"

    def _induct(self, bounded: Bounded, k: int) -> None:
        """Induction for this k, if it is asked for and nothing was found outside before."""
        induction = self.induction
        if induction is None or self.no_induction or k > int(self.order["induct"]):
            return
        unsure = {*bounded.found, *bounded.unanswered, *self.goals.limited}
        if bounded.vacuous or WELL_DEFINED in unsure:
            return  # proofs are of machines that start, and of which nothing raises
        now = time.monotonic()
        try:
            gone = {*bounded.found, *bounded.unanswered}
            induction.run(k, now + STEP_SHARE * (self.until - now), gone)
        except Outside as reason:
            self.no_induction = str(reason)
            return
        bounded.settle(induction.proved)
        for name, step in induction.steps.items():
            self.told[name] = told_induction(self.ir, step)

    def _note(self, bounded: Bounded) -> None:
        """The traces of what was found, as the plain engine walks them."""
        following: Following | None = None
        for name, found in bounded.found.items():
            if name not in self.traces and name not in self.parted:
                following = following or Following(self.ir)
                try:
                    self.traces[name] = self._trace(following, bounded, name, found)
                except Parted as reason:
                    self.parted[name] = f"a bug of refute: {reason}"

    def _trace(self, following: Following, bounded: Bounded, name: str, found: Found) -> Plain:
        prop = ALL_FIRE if name.startswith(FIRES) else name
        run = run_of(self.ir, bounded.path, found)
        return following.trace(prop, found.goal.why, run, found.goal.predicate)

    def _proved(self) -> dict[str, Plain]:
        """What induction shows; or all that is not broken, if behaviours end."""
        bounded, induction = self.bounded, self.induction
        known = {} if induction is None else dict(induction.proved)
        found: dict[str, Plain] = {
            n: {"k": p.k, "needed": list(p.needed)} for n, p in known.items()
        }
        if bounded is not None and bounded.ended and not bounded.vacuous:
            end = {"ended": bounded.depth, "needed": []}
            found |= {n: end for n in self._universal() if n in bounded.open}
        return found

    def _universal(self) -> list[str]:
        shown = {p.name for p in self.ir.of_kind("reachable")} | {ALL_FIRE}
        return [n for n in self.order["props"] if n not in shown]

    def _tell(self, doing: str) -> None:
        self.doing = doing

    def report(self) -> dict[str, Plain]:
        """How far it is, in plain data: depth, what was found, proved, and why other things are
        open."""
        bounded, induction = self.bounded, self.induction
        hits = {n: t for n, t in self.traces.items() if not n.startswith(FIRES)}
        fired = {n.removeprefix(FIRES): t for n, t in self.traces.items() if n.startswith(FIRES)}
        proved = self._proved()
        given_up = {} if bounded is None else dict(bounded.unanswered)
        return {
            "doing": self.doing,
            "stopped": self.stopped,
            "depth": -1 if bounded is None else bounded.depth,
            "renamed": "" if bounded is None else bounded.renamed,
            "ended": bounded is not None and bounded.ended,
            "vacuous": bounded is not None and bounded.vacuous,
            "hits": hits,
            "fired": fired,
            "silent": silent_steps(self.ir, fired),
            "parted": dict(self.parted),
            "outside": {n: w for n, w in self.goals.outside.items() if w},
            "limited": dict(self.goals.limited),
            "proved": proved,
            "inductions": dict(self.told),
            "open": {} if induction is None else dict(induction.open),
            "unanswered": {n: {"depth": d, "why": w} for n, (d, w) in given_up.items()},
            "no_induction": self.no_induction,
            "finite": all(q.solver == FINITE for q in self._queries),
            "queries": sum(q.asked for q in self._queries),
            "solver_s": sum(q.spent_s for q in self._queries),
        }
