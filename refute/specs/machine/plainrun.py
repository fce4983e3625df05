"""A machine run for real: the user's own class, its generators, its exceptions.

This is what witnesses are replayed on. A run follows a trace: the values to start with, then which
action or process moves, with which parameters and choices. Generators cannot be copied, so a run
is linear; whether some other step would have been enabled is asked by running again from the start.
"""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from refute.errors import RefuteError
from refute.specs.machine.errors import Disabled
from refute.specs.machine.formulas import Formula, leaves, true_at
from refute.specs.machine.frontend import FrontEnd
from refute.specs.machine.handover import Meeting
from refute.specs.machine.ir import (
    CRASH,
    STEP_KINDS,
    Action,
    MachineIR,
    Param,
    Process,
    Property,
    Temporal,
)
from refute.specs.machine.language import Chooser, Running, Var, running
from refute.specs.machine.marks import Mark, mark_of
from refute.specs.machine.meaning import Meaning, World
from refute.specs.machine.plainparts import apart, called, declaring, inside, may_stop
from refute.specs.machine.resolve import embed
from refute.specs.machine.values import Value, conforms, domain, pack_value, unpack_value
from refute.specs.machine.whole import ENDED

Move = tuple[str, tuple[Value, ...]]


class Unplayable(RefuteError):
    """The trace does not fit the machine: a step it takes is not enabled, or is not there."""


@functools.lru_cache(maxsize=16)
def _read(cls: type, constants: tuple[tuple[str, int | str], ...]) -> tuple[MachineIR, FrontEnd]:
    """The IR of a class and its frontend: reading the source costs more than most runs."""
    front = FrontEnd(cls, dict(constants))
    return front.ir(), front


class PlainRun:
    """One linear run of a machine class."""

    def __init__(self, cls: type, constants: Mapping[str, int | str]) -> None:
        self.cls = cls
        self.ir, self.front = _read(cls, tuple(sorted(constants.items())))
        self.resolver = self.front.resolver
        self.kinds = {v.name: v.type for v in self.ir.variables if not v.hidden}
        self.constants = dict(self.ir.constants)
        self._given = {mover.name: mover.params for mover in self._movers()}
        self.generators: dict[Move, Any] = {}
        self.finished: set[Move] = set()
        self.machine = self._view({})

    def _view(self, state: dict[str, Any]) -> Any:
        made: Any = object.__new__(self.cls)
        made._state = state
        made._constants = self.constants
        made._types = (self.resolver, self.kinds)
        made._front = self.front
        return made

    def place(self, values: Sequence[Value]) -> None:
        """Be in the state with these values, however it was reached."""
        kinds = zip(self.kinds.items(), values, strict=True)
        self.machine = self._view({n: self.resolver.thaw(v, k) for (n, k), v in kinds})

    def start(self, values: Sequence[Value]) -> None:
        """Begin with these values. Raises Unplayable when the machine does not start so."""
        self.generators.clear()
        self.finished.clear()
        self.finished |= self._recoveries()
        if len(values) != len(self.ir.variables) or not self._starts(values):
            raise Unplayable("the machine does not start with these values")
        rows = zip(self.ir.variables, values, strict=True)
        self.place([value for variable, value in rows if not variable.hidden])
        for prop in self.ir.of_kind("initial"):
            if not self.holds(prop):
                raise Unplayable(f"the machine does not start so: {prop.name} is false")

    def _starts(self, values: Sequence[Value]) -> bool:
        """Whether each variable may start with its value."""
        world = World(tuple(values), ())
        for variable, value in zip(self.ir.variables, values, strict=True):
            if variable.start is None:
                possible = pack_value(value) in variable.initial
            else:
                possible = conforms(value, variable.type) and bool(
                    Meaning(self.ir).valued(variable.start, world)
                )
            if not possible:
                return False
        return True

    def values(self) -> tuple[Value, ...]:
        """The state's values."""
        state = self.machine._state
        return tuple(self.resolver.freeze(state[n], k) for n, k in self.kinds.items())

    def _running(self, choose: Chooser, meeting: Meeting | None = None) -> Any:
        return running(Running(self.resolver.sizes, choose, self.resolver.values, meeting))

    def step(self, name: str, params: tuple[Value, ...], choose: Any) -> None:
        """One atomic step. Raises Disabled (and undoes it), or what the step itself raises."""
        mover = self._mover(name)
        live = [self.resolver.thaw(v, p.type) for v, p in zip(params, mover.params, strict=True)]
        before = dict(self.machine._state)
        meeting = Meeting() if isinstance(mover, Action) and mover.meets else None
        try:
            with self._running(choose, meeting):
                if name == CRASH and self.ir.crashes:
                    self._crash()
                elif meeting is not None and isinstance(mover, Action):
                    self._meet(mover, params, live, meeting)
                else:
                    self._move((name, params), live)
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

    def _crash(self) -> None:
        """All processes end, volatile variables begin anew, and `@recover` runs."""
        families = {p.name for p in self.ir.processes}
        for variable in self.ir.variables:
            if not variable.hidden and inspect.getattr_static(self.cls, variable.name).volatile:
                value = self.resolver.thaw(unpack_value(variable.initial[0]), variable.type)
                self.machine._state[variable.name] = value
        self.generators.clear()
        self.finished |= {m for m in self.moves() if m[0] in families}
        self.finished -= self._recoveries()
        if not self._recoveries():
            self._recover(self.machine)

    def _recoveries(self, crash: Move | None = None) -> set[Move]:
        """The moves of each `@recover` that takes steps; of one crash, or of all.

        None where it is part of the crash.
        """
        steps = [a for a in self.ir.actions if a.place and not a.meets and self._recovers(a.name)]
        found = {
            (a.name, params)
            for a in steps
            for params in itertools.product(*(domain(p.type) for p in a.params))
        }
        if crash is None:
            return found
        prefix = crash[0].removesuffix(CRASH)
        return {m for m in found if _owner(m[0]) == prefix and m[1] == crash[1]}

    def _recovers(self, name: str) -> bool:
        mark = self.mark(name)
        return mark is not None and mark.kind == "recover"

    def recovered(self, prop: Property) -> bool:
        """Whether the recovery that an `@observe` is about has ended."""
        keys = tuple(unpack_value(key.data) for key in prop.keys)
        return self._recoveries((prop.crash, keys)) <= self.finished

    def _fall(self, move: Move, owner: Any, live: Sequence[Any]) -> None:
        """A part crashes: its processes end, its volatile variables begin anew, and it recovers."""
        prefix, keys = move[0].removesuffix(CRASH), move[1]
        own = {a.name for a in self.ir.actions if a.place and _owner(a.name) == prefix}
        self.finished |= {m for m in self.moves() if m[0] in own and m[1][: len(keys)] == keys}
        again = self._recoveries(move)
        self.finished -= again
        for recovery in again:
            self.generators.pop(recovery, None)
        for variable in self.ir.variables:
            start, _, name = variable.name.rpartition(".")
            made = inspect.getattr_static(type(owner), name, None)
            if start + "." == prefix and isinstance(made, Var) and made.volatile:
                value = self.resolver.thaw(unpack_value(variable.initial[0]), variable.type)
                for key in live:
                    value = value[key]
                owner._state[name] = value
        if not again:
            self._recover(owner)

    def _recover(self, owner: Any) -> None:
        for name in dir(type(owner)):
            mark = mark_of(inspect.getattr_static(type(owner), name))
            if mark is not None and mark.kind == "recover":
                getattr(type(owner), name)(owner)

    def _meet(self, action: Action, params: Sequence[Value], live: list[Any], met: Meeting) -> None:
        """A rendezvous: the step that sends, then the one that receives."""
        (name, count), (other, _) = action.meets
        sender, receiver = (name, tuple(params[:count])), (other, tuple(params[count:]))
        if not apart(sender, receiver, {a.name for a in self.ir.actions if a.place}):
            raise Disabled
        self._move(sender, live[:count])
        met.turn()
        self._move(receiver, live[count:])
        met.end()

    def _move(self, move: Move, live: list[Any]) -> None:
        """One step of an action or process, perhaps of a part."""
        owner, method, rest = inside(self.machine, move[0], live)
        if method == CRASH and getattr(type(owner), "_crashes", False):
            self._fall(move, owner, live)
        elif inspect.isgeneratorfunction(getattr(type(owner), method, None)):
            self._resume(move, owner, method, rest)
        else:
            called(self.machine, move[0], live)

    def _resume(self, move: Move, owner: Any, method: str, live: list[Any]) -> None:
        if move in self.finished:
            raise Disabled
        try:
            if move not in self.generators:
                self.generators[move] = getattr(type(owner), method)(owner, *live)
                next(self.generators[move])
            else:
                self.generators[move].send(owner)
        except StopIteration:
            self.finished.add(move)

    def holds(self, prop: Property, before: dict[str, Any] | None = None) -> bool:
        """Whether a predicate holds here, for all values of its parameters."""
        now = self._view(dict(self.machine._state))
        states = [now] if before is None else [self._view(dict(before)), now]
        with self._running(_no_choice):
            if prop.name == ENDED:
                return may_stop(now, self.finished, self._given)
            return all(self._true(prop.name, states, b) for b in self._bindings(prop.params))

    def _true(self, name: str, states: Sequence[Any], live: Sequence[Any]) -> bool:
        """Whether a predicate of a state, or of two, is true for these parameters."""
        found = [inside(state, name, live) for state in states]
        owner, method, rest = found[0]
        return bool(getattr(type(owner), method)(*(f[0] for f in found), *rest))

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
            formula = called(view, temporal.name, live)
            return true_at(formula, 0, len(rows), loop, holds)

    def evaluate(self, name: str, before: dict[str, Any] | None) -> None:
        """Every predicate of a property in this state, for all values of its parameters.

        Raises Unplayable, or what one of them raises.
        """
        now = self._view(dict(self.machine._state))
        every: list[Property | Temporal] = [*self.ir.properties, *self.ir.temporals]
        found = [p for p in every if p.name == name]
        if any(r.name == name for r in self.ir.refinements):
            self.mapped(name, now._state)
        elif not found:
            raise Unplayable(f"the machine has no property {name}")
        with self._running(_no_choice):
            for prop in found:
                steps = isinstance(prop, Property) and prop.kind in STEP_KINDS
                steps = steps and not self.observes(name)
                states = [now] if not steps or before is None else [self._view(dict(before)), now]
                for given in self._bindings(prop.params):
                    if isinstance(prop, Property):
                        self._true(name, states, given)
                    else:
                        for part in leaves(called(now, name, given)):
                            part.predicate()

    def mapped(self, name: str, row: Mapping[str, Any]) -> Mapping[str, Any]:
        """What a `@refines` method gives for a state."""
        with self._running(_no_choice):
            made: Mapping[str, Any] = called(self._view(dict(row)), name, ())
            return made

    def mark(self, name: str) -> Mark | None:
        """What a decorator says about a method, perhaps of a part."""
        cls, method = declaring(self.front, name)
        return mark_of(getattr(cls, method))

    def observes(self, name: str) -> bool:
        """Whether a property is an `@observe`."""
        mark = self.mark(name)
        return mark is not None and mark.kind == "observe"

    def true_step(
        self,
        prop: Property,
        params: Sequence[Value],
        before: Sequence[Value],
        after: Sequence[Value],
    ) -> bool:
        """Whether a predicate of a step is true for these parameters."""
        kinds = [p.type for p in prop.params]
        live = [self.resolver.thaw(v, k) for v, k in zip(params, kinds, strict=True)]
        views = []
        for values in (before, after):
            self.place(values)
            views.append(self.machine)
        with self._running(_no_choice):
            return self._true(prop.name, views, live)

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


def _owner(name: str) -> str:
    """The prefix of the part that a step is of."""
    return name[: name.rfind(".") + 1]


def _no_choice(options: Sequence[Any]) -> Any:
    raise Unplayable("any_of in a predicate")
