"""A machine run for real: the user's own class, its generators, its exceptions.

This is what witnesses are replayed on. A run follows a trace: the values to start with, then which
action or process moves, with which parameters and choices. Generators cannot be copied, so a run
is linear; whether some other step would have been enabled is asked by running again from the start.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from refute.errors import RefuteError
from refute.plain import Plain
from refute.specs.machine.errors import Disabled
from refute.specs.machine.formulas import Formula, true_at
from refute.specs.machine.frontend import FrontEnd
from refute.specs.machine.ir import Action, MachineIR, Param, Process, Property, Temporal
from refute.specs.machine.language import Chooser, Running, running
from refute.specs.machine.resolve import embed
from refute.specs.machine.statement import ALL_FIRE, DEADLOCK_FREE, WELL_DEFINED
from refute.specs.machine.values import Value, domain, pack_value, unpack_value

Move = tuple[str, tuple[Value, ...]]


class Unplayable(RefuteError):
    """The trace does not fit the machine: a step it takes is not enabled, or is not there."""


class PlainRun:
    """One linear run of a machine class."""

    def __init__(self, cls: type, constants: Mapping[str, int]) -> None:
        front = FrontEnd(cls, constants)
        self.cls = cls
        self.ir: MachineIR = front.ir()
        self.resolver = front.resolver
        self.kinds = {v.name: v.type for v in self.ir.variables}
        self.constants = dict(self.ir.constants)
        self.generators: dict[Move, Any] = {}
        self.finished: set[Move] = set()
        self.machine = self._view({})

    def _view(self, state: dict[str, Any]) -> Any:
        made: Any = object.__new__(self.cls)
        made._state = state
        made._constants = self.constants
        made._types = (self.resolver, self.kinds)
        return made

    def start(self, values: Sequence[Value]) -> None:
        """Begin with these values. Raises Unplayable when the machine does not start so."""
        self.generators.clear()
        self.finished.clear()
        packed = [pack_value(v) for v in values]
        if len(packed) != len(self.ir.variables) or any(
            p not in v.initial for p, v in zip(packed, self.ir.variables, strict=True)
        ):
            raise Unplayable("the machine does not start with these values")
        kinds = zip(self.kinds.items(), values, strict=True)
        self.machine = self._view({n: self.resolver.thaw(v, k) for (n, k), v in kinds})
        for prop in self.ir.of_kind("initial"):
            if not self.holds(prop):
                raise Unplayable(f"the machine does not start so: {prop.name} is false")

    def values(self) -> tuple[Value, ...]:
        """The state's values."""
        state = self.machine._state
        return tuple(self.resolver.freeze(state[n], k) for n, k in self.kinds.items())

    def _running(self, choose: Chooser) -> Any:
        return running(Running(self.resolver.sizes, choose, self.resolver.values))

    def step(self, name: str, params: tuple[Value, ...], choose: Any) -> None:
        """One atomic step. Raises Disabled (and undoes it), or what the step itself raises."""
        mover = self._mover(name)
        live = [self.resolver.thaw(v, p.type) for v, p in zip(params, mover.params, strict=True)]
        before = dict(self.machine._state)
        try:
            with self._running(choose):
                if isinstance(mover, Action):
                    getattr(self.cls, name)(self.machine, *live)
                else:
                    self._resume((name, params), live)
        except Disabled:
            self.machine._state.clear()
            self.machine._state.update(before)
            raise

    def _mover(self, name: str) -> Action | Process:
        for mover in self._movers():
            if mover.name == name:
                return mover
        raise Unplayable(f"the machine has no action or process {name}")

    def _movers(self) -> tuple[Action | Process, ...]:
        return (*self.ir.actions, *self.ir.processes)

    def _resume(self, move: Move, live: list[Any]) -> None:
        if move in self.finished:
            raise Disabled
        try:
            if move not in self.generators:
                self.generators[move] = getattr(self.cls, move[0])(self.machine, *live)
                next(self.generators[move])
            else:
                self.generators[move].send(self.machine)
        except StopIteration:
            self.finished.add(move)

    def holds(self, prop: Property, before: dict[str, Any] | None = None) -> bool:
        """Whether a predicate holds here, for all values of its parameters."""
        now = self._view(dict(self.machine._state))
        states = [now] if before is None else [self._view(dict(before)), now]
        with self._running(_no_choice):
            return all(
                getattr(self.cls, prop.name)(*states, *live) for live in self._bindings(prop.params)
            )

    def _bindings(self, params: tuple[Param, ...]) -> Iterator[tuple[Any, ...]]:
        every = ([self.resolver.thaw(v, p.type) for v in domain(p.type)] for p in params)
        return itertools.product(*every)

    def true_of(
        self,
        temporal: Temporal,
        params: Sequence[Value],
        rows: Sequence[dict[str, Any]],
        loop: int,
    ) -> bool:
        """Whether a formula is true of the lasso through these states."""
        view = self._view({})
        kinds = [p.type for p in temporal.params]
        live = [self.resolver.thaw(v, k) for v, k in zip(params, kinds, strict=True)]

        def holds(part: Formula, at: int) -> bool:
            view._state = dict(rows[at])
            return bool(part.predicate())

        with self._running(_no_choice):
            formula = getattr(self.cls, temporal.name)(view, *live)
            return true_at(formula, 0, len(rows), loop, holds)

    def moves(self) -> Iterator[Move]:
        """Every action and process with every choice of parameters."""
        for mover in self._movers():
            for params in itertools.product(*(domain(p.type) for p in mover.params)):
                yield mover.name, params

    def all_returned(self) -> bool:
        """Whether there are processes and all of them have returned."""
        families = {p.name for p in self.ir.processes}
        every = {m for m in self.moves() if m[0] in families}
        return bool(every) and every <= self.finished


class Follow:
    """Answers any_of with recorded choices."""

    def __init__(self, choices: Sequence[Value]) -> None:
        self.left = list(choices)

    def __call__(self, options: Sequence[Any]) -> Any:
        if not self.left:
            raise Unplayable("the trace has too few choices")
        wanted = self.left.pop(0)
        for option in options:
            if embed(option) == wanted:
                return option
        raise Unplayable(f"{wanted!r} is not among the choices {list(options)!r}")


class Explore:
    """Answers any_of by one vector of choices after the other."""

    def __init__(self) -> None:
        self.trail: list[list[int]] = []
        self.depth = 0

    def __call__(self, options: Sequence[Any]) -> Any:
        if self.depth == len(self.trail):
            self.trail.append([0, len(options)])
        self.depth += 1
        return options[self.trail[self.depth - 1][0]]

    def advance(self) -> bool:
        """Go to the next vector; False when all were tried."""
        del self.trail[self.depth :]
        self.depth = 0
        while self.trail and self.trail[-1][0] + 1 == self.trail[-1][1]:
            self.trail.pop()
        if self.trail:
            self.trail[-1][0] += 1
        return bool(self.trail)


def _no_choice(options: Sequence[Any]) -> Any:
    raise Unplayable("any_of in a predicate")


def _step_of(data: Mapping[str, Plain]) -> tuple[str, tuple[Value, ...], list[Value]]:
    params, choices = map(unpack_value, data["params"]), map(unpack_value, data["choices"])
    return str(data["do"]), tuple(params), list(choices)


class Play:
    """A trace played on the plain machine, and what it shows about one property."""

    def __init__(self, cls: type, constants: Mapping[str, int], case: Mapping[str, Plain]) -> None:
        self.run = PlainRun(cls, constants)
        self.start = [unpack_value(v) for v in case["start"]]
        self.steps = [_step_of(step) for step in case["steps"]]
        self.prop = str(case["property"])
        self.predicate = str(case.get("predicate", ""))
        self.case = case
        self.states: list[Plain] = []
        self.rows: list[dict[str, Any]] = []

    def judge(self) -> dict[str, Plain]:
        """broke: the property broke here (or was shown). why: in words. states: values, packed."""
        broke, why = self._judged()
        return {"broke": broke, "why": why, "states": self.states}

    def _judged(self) -> tuple[bool, str]:
        last = self.prop == WELL_DEFINED and not self.predicate
        before: dict[str, Any] | None = None
        self._begin()
        for step in self.steps[:-1] if last else self.steps:
            before = dict(self.run.machine._state)
            self._take(step)
        if self.prop == ALL_FIRE:
            return True, "every step was taken"
        if self.prop == WELL_DEFINED:
            return self._raises(before)
        if self.prop == DEADLOCK_FREE:
            return self._stuck()
        if "loop" in self.case:
            return self._lasso(int(self.case["loop"]))
        prop = self._property(self.prop)
        if prop.kind == "transition":
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

    def _lasso(self, loop: int) -> tuple[bool, str]:
        """Whether the formula is false of the run that repeats its states from `loop` on.

        The cycle is played once more, to see that it leads round again.
        """
        rows, seen = list(self.rows), list(self.states)
        for at, step in enumerate(self.steps[loop:], loop):
            self._take(step)
            if self.states[-1] != seen[at + 1]:
                return False, "a second round of the cycle passes other states"
        self.states = seen
        if seen[loop] != seen[-1]:
            return False, "the cycle does not close"
        temporals = {t.name: t for t in self.run.ir.temporals}
        if self.prop not in temporals:
            raise Unplayable(f"the machine has no temporal property {self.prop}")
        params = [unpack_value(v) for v in self.case["params"]]
        holds = self.run.true_of(temporals[self.prop], params, rows, loop)
        return not holds, f"{self.prop} is {holds}"

    def _raises(self, before: dict[str, Any] | None) -> tuple[bool, str]:
        try:
            if self.predicate:
                prop = self._property(self.predicate)
                self.run.holds(prop, before if prop.kind == "transition" else None)
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
