"""Traces played on the real class, and what each shows about one property."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from refute.plain import Plain
from refute.specs.machine.errors import Disabled
from refute.specs.machine.fairness import observed_moves
from refute.specs.machine.ir import Property, Refinement
from refute.specs.machine.limited import limited
from refute.specs.machine.plainrefine import Refined
from refute.specs.machine.plainrun import Explore, Follow, PlainRun, Unplayable
from refute.specs.machine.statement import ALL_FIRE, DEADLOCK_FREE, WELL_DEFINED
from refute.specs.machine.values import Value, pack_value, unpack_value


def _step_of(data: Mapping[str, Plain]) -> tuple[str, tuple[Value, ...], list[Value]]:
    params, choices = map(unpack_value, data["params"]), map(unpack_value, data["choices"])
    return str(data["do"]), tuple(params), list(choices)


class Play:
    """A trace played on the plain machine, and what it shows about one property."""

    def __init__(
        self, cls: type, constants: Mapping[str, int | str], case: Mapping[str, Plain]
    ) -> None:
        self.run = PlainRun(cls, constants)
        self.start = [unpack_value(v) for v in case["start"]]
        self.steps = [_step_of(step) for step in case["steps"]]
        self.prop = str(case["property"])
        self.predicate = str(case.get("predicate", ""))
        self.case = case
        self.states: list[Plain] = []
        self.rows: list[dict[str, Any]] = []
        self.recovered_before = True

    def judge(self) -> dict[str, Plain]:
        """broke: the property broke here (or was shown). why: in words. states: values, packed."""
        broke, why = self._judged()
        return {"broke": broke, "why": why, "states": self.states}

    def _judged(self) -> tuple[bool, str]:
        last = self.prop == WELL_DEFINED and not self.predicate
        before: dict[str, Any] | None = None
        every = [p for p in self.run.ir.properties if p.name == self.prop and p.crash]
        observed = next(iter(every), None)
        self._begin()
        for step in self.steps[:-1] if last else self.steps:
            before = dict(self.run.machine._state)
            self.recovered_before = observed is None or self.run.recovered(observed)
            self._take(step)
        if self.prop == ALL_FIRE:
            return True, "every step was taken"
        if self.prop == WELL_DEFINED:
            return self._raises(before)
        if self.prop == DEADLOCK_FREE:
            return self._stuck()
        refinements = {r.name: r for r in self.run.ir.refinements}
        if self.prop in refinements:
            return self._refined(refinements[self.prop])
        if "loop" in self.case:
            return self._lasso(int(self.case["loop"]))
        prop = self._property(self.prop)
        crashes = bool(self.steps) and self.steps[-1][:2] in observed_moves(self.run.ir, prop)
        if prop.kind == "observe" and not crashes:
            return False, "the last step is no crash"
        if prop.kind == "transition" and self.run.observes(prop.name):
            recovers = bool(self.steps) and not crashes and self.run.recovered(prop)
            if not recovers or self.recovered_before:
                return False, "the last step does not end a recovery"
            holds = self.run.holds(prop)
        elif prop.kind == "transition":
            holds = before is None or self.run.holds(prop, before)
        else:
            holds = self.run.holds(prop)
        return holds == (prop.kind == "reachable"), f"{self.prop} is {holds}"

    def _begin(self) -> None:
        self.states, self.rows = [], []
        self.run.start(self.start)
        self._note()

    def _note(self) -> None:
        self.rows.append(dict(self.run.machine._state))
        self.states.append([pack_value(v) for v in self.run.values()])

    def _take(self, step: tuple[str, tuple[Value, ...], list[Value]]) -> None:
        name, params, choices = step
        follow = Follow(choices)
        try:
            self.run.step(name, params, follow)
        except Disabled:
            raise Unplayable(f"{name} is not enabled where the trace takes it") from None
        except Unplayable:
            raise
        except Exception as error:
            raise Unplayable(f"{name} raises {type(error).__name__}: {error}") from error
        if follow.left:
            raise Unplayable(f"{name} asked for fewer choices than the trace has")
        self._note()

    def _property(self, name: str) -> Property:
        for prop in self.run.ir.properties:
            if prop.name == name:
                return prop
        raise Unplayable(f"the machine has no property {name}")

    def _open_end(self, loop: int) -> str:
        """Why the run does not go round from `loop` on; empty when it does.

        The cycle is played once more, to see that it leads round again.
        """
        rows, seen = list(self.rows), list(self.states)
        again = ""
        for at, step in enumerate(self.steps[loop:], loop):
            self._take(step)
            if self.states[-1] != seen[at + 1]:
                again = "a second round of the cycle passes other states"
        self.rows, self.states = rows, seen
        return again if seen[loop] == seen[-1] else "the cycle does not close"

    def _lasso(self, loop: int) -> tuple[bool, str]:
        """Whether the formula is false of the run that repeats its states from `loop` on."""
        problem = self._open_end(loop)
        if problem:
            return False, problem
        temporals = {t.name: t for t in self.run.ir.temporals}
        if self.prop not in temporals:
            raise Unplayable(f"the machine has no temporal property {self.prop}")
        params = [unpack_value(v) for v in self.case["params"]]
        holds = self.run.true_of(temporals[self.prop], params, self.rows, loop)
        return not holds, f"{self.prop} is {holds}"

    def _refined(self, refinement: Refinement) -> tuple[bool, str]:
        """Whether the run is none of the machine that is refined."""
        mark = self.run.mark(self.prop)
        if mark is None or mark.abstract is None:
            raise Unplayable(f"{self.prop} names no machine")
        refined = Refined(self.run, refinement, mark.abstract)
        if "loop" in self.case:
            loop = int(self.case["loop"])
            problem = self._open_end(loop)
            if problem:
                return False, problem
            unfair = refined.unfair(int(self.case["condition"]), self.rows, loop)
            return unfair, "fairness is broken" if unfair else "fairness is kept"
        wrong = refined.departs(self.rows)
        name = refinement.abstract.name
        return wrong, f"{name} does no such thing" if wrong else f"{name} does the same"

    def _raises(self, before: dict[str, Any] | None) -> tuple[bool, str]:
        try:
            with limited():
                if self.predicate:
                    self.run.evaluate(self.predicate, before)
                else:
                    name, params, choices = self.steps[-1]
                    self.run.step(name, params, Follow(choices))
        except (Disabled, Unplayable):
            return False, "it does not raise"
        except Exception as error:
            return True, f"{type(error).__name__}: {error}"
        return False, "it does not raise"

    def _stuck(self) -> tuple[bool, str]:
        if self.run.all_returned():
            return False, "all processes have returned"
        if any(self.run.holds(p) for p in self.run.ir.of_kind("terminal")):
            return False, "the machine may stop here"
        for name, params in list(self.run.moves()):
            if self._enabled(name, params):
                return False, f"{name} is enabled"
        return True, "no step is enabled"

    def _enabled(self, name: str, params: tuple[Value, ...]) -> bool:
        explore = Explore()
        while True:
            self._begin()
            for step in self.steps:
                self._take(step)
            try:
                self.run.step(name, params, explore)
                return True
            except Disabled:
                if not explore.advance():
                    return False
            except Unplayable:
                raise
            except Exception:
                return True  # a step that raises was enabled; `well_defined` judges it
