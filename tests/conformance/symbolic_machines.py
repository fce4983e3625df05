"""The encoding of a machine, asked for everything that the plain engine does in some states.

The state before is unknown to the encoding and fixed by an equation, so that nothing is known when
formulas are built. Models are enumerated by blocking what was found, until there is no other.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import itertools
import signal
from collections.abc import Iterable, Iterator
from types import FrameType
from typing import Any

import z3

from refute.specs.machine import types as t
from refute.specs.machine.ir import STEP_KINDS, Action, MachineIR
from refute.specs.machine.values import Value, domain
from refute.verifiers.model.compiled import Choices, Instance, State
from refute.verifiers.model.search import Search
from refute.verifiers.symbolic.comparing import equal
from refute.verifiers.symbolic.decoding import Decoding, closed
from refute.verifiers.symbolic.enabling import moves
from refute.verifiers.symbolic.flattening import flattened
from refute.verifiers.symbolic.folding import all_of, iff, not_, term_of
from refute.verifiers.symbolic.forms import OpenMap, OpenSet, Outside
from refute.verifiers.symbolic.reading import state_in, taken_in
from refute.verifiers.symbolic.rewriting import sorts_of
from refute.verifiers.symbolic.transition import Encoding
from refute.verifiers.symbolic.world import Judged, Step, World

MOST = 48  # models of one question that are enumerated
SOLVER_MS = 2_000
WEAK = ("weakref", "_weakrefset")  # modules whose functions are called of what has gone
Row = dict[str, Value]
Outcome = tuple[str, tuple[Value, ...], tuple[Value, ...], tuple[Value, ...]]


class TooMany(Exception):
    """More ways than a comparison enumerates, or a formula that takes too long."""


def swallowed(frame: FrameType) -> bool:
    """Whether Python only warns of what is raised here: where objects are deleted or collected."""
    collecting = [getattr(callback, "__code__", None) for callback in gc.callbacks]
    deleting = frame.f_code.co_name == "__del__" or frame.f_globals.get("__name__") in WEAK
    return deleting or frame.f_code in collecting


@contextlib.contextmanager
def limited(cpu_s: float) -> Iterator[None]:
    """Raise TooMany from what takes so long."""

    fired = []

    def late(_: int, frame: FrameType | None) -> None:
        while frame is not None:
            if swallowed(frame):
                return
            frame = frame.f_back
        fired.append(True)
        raise TooMany

    before = signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, cpu_s, 0.1)
    try:
        yield
    except ctypes.ArgumentError:  # as ctypes has it when the signal comes in a conversion
        if not fired:
            raise
        raise TooMany from None
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def outcomes(instance: Instance, state: State) -> Iterator[tuple[State | None, tuple[Value, ...]]]:
    """All ways to take a step, each with its choices; None for the state after one that raises."""
    choices = Choices()
    while True:
        try:
            found = instance.function(state, choices, *instance.params)
            if found is not None:
                yield found, choices.chosen()
        except Exception:
            yield None, choices.chosen()
        if not choices.advance():
            return


class Asking:
    """One machine in both engines. wide: what is encoded, where that is of any size."""

    def __init__(self, ir: MachineIR, wide: MachineIR | None = None) -> None:
        self.ir = ir
        self.encoding = Encoding(wide or ir)
        self.parts = flattened(ir)
        hidden = {v.name for v in self.encoding.flat.variables if v.hidden}
        self.loose = {n for n in hidden if wide and not n.endswith("@place")}
        self.universe = {n: _members(k, sorts_of(ir)[n]) for n, k in _open(wide or ir).items()}
        self.whole = [fact for n, k in _open(wide or ir).items() for fact in self._only(n, k)]
        self.names = list(self.encoding.kinds)
        self.search = Search(ir)
        self.world: World | None = None
        with contextlib.suppress(Outside):
            self.world = self.encoding.arbitrary("s")
        self.known: dict[Any, Any] = {}

    def seen(self, row: Row) -> Row:
        """What of a state is compared: a member of an open Sort that nobody reads may be any."""
        return {n: v for n, v in row.items() if n not in self.loose}

    def row(self, state: State) -> Row:
        """A state of the plain engine by the encoding's variables."""
        return self.parts.values(state)

    def _only(self, name: str, kind: t.Atoms) -> Iterator[Any]:
        """That a Sort has these members, in this order, and no others."""
        members = self.universe[name]
        some = z3.Const(f"{name}?", members[0].sort())
        yield z3.ForAll([some], z3.Or([some == member for member in members]))
        yield z3.Distinct(*members)
        if kind.kind == t.OPEN_ORDERED:
            less = z3.Function(f"{name}<", some.sort(), some.sort(), z3.BoolSort())
            yield from (less(a, b) for a, b in itertools.pairwise(members))

    def same(self, sym: Any, value: Value) -> Any:
        """Whether a symbolic value is a known one, for all members of open Sorts by name."""
        lifted = Decoding(None, self.universe).lifted
        if type(sym) is OpenMap:
            keys = domain(closed(sym.kind.key, self.universe))
            pairs = zip(keys, value, strict=True)
            return all_of(self.same(sym.read(lifted(k)), v) for k, v in pairs)
        if type(sym) is OpenSet:
            every = domain(closed(sym.elem, self.universe))
            return all_of(iff(sym.has(lifted(e)), e in value) for e in every)
        return equal(sym, lifted(value) if self.universe else value)

    def before(self, row: Row) -> tuple[World, list[Any]]:
        """The state as the encoding has it, and what fixes it."""
        if self.world is None:
            return World(row), []
        same = [self.same(self.world.values[n], v) for n, v in row.items()]
        return self.world, [*self.whole, *self.world.facts, *map(term_of, same)]

    def asked(self, what: Any, make: Any) -> Any:
        """A formula, built once where the state is unknown."""
        if self.world is None:
            return make()
        if what not in self.known:
            self.known[what] = make()
        return self.known[what]


def _open(ir: MachineIR) -> dict[str, t.Atoms]:
    return {n: k for n, k in sorts_of(ir).items() if k.kind in (t.OPEN, t.OPEN_ORDERED)}


def _members(kind: t.Atoms, small: t.Atoms) -> list[Any]:
    return [z3.Const(f"{kind.name}:{m}", z3.DeclareSort(kind.name)) for m in small.members]


def solver_of(given: list[Any]) -> Any:
    """A solver that knows these formulas."""
    solver = z3.Solver()
    solver.set("timeout", SOLVER_MS)
    solver.add(*given)
    return solver


def model_of(solver: Any) -> Any:
    """A model, or None. Raises TooMany."""
    answer = solver.check()
    if answer == z3.unknown:
        raise TooMany
    return solver.model() if answer == z3.sat else None


def models(given: list[Any], block: Any) -> Iterator[Any]:
    """Models until there is no other; block: of a model, what others may not be."""
    solver = solver_of(given)
    for _ in range(MOST):
        model = model_of(solver)
        if model is None:
            return
        yield model
        solver.add(term_of(block(model)))
    raise TooMany


def difference(
    ir: MachineIR, states: int, cpu_s: float = 2.0, wide: MachineIR | None = None
) -> tuple[int, str]:
    """How many states were compared, so many at most, and where the encoding and the plain engine
    differ in them; "" if nowhere.

    Raises Outside where the machine has no encoding.
    """
    compared = 0
    with contextlib.suppress(TooMany), limited(cpu_s):
        asking = Asking(ir, wide)
        found = _starts(asking)
        search = asking.search
        while not found and search.at < min(len(search.states), states):
            found = _state(asking, search.states[search.at])
            search.expand(search.at)
            search.at += 1
            compared += 1
        return compared, found
    return compared, ""


def _starts(asking: Asking) -> str:
    encoding = asking.encoding
    world = encoding.start("first")

    def block(model: Any) -> Any:
        row = asking.seen(state_in(model, world, encoding.kinds, asking.universe))
        return not_(all_of(asking.same(world.values[n], v) for n, v in row.items()))

    ours = [asking.row(s) for s in _every_start(asking.search)]
    given = [*asking.whole, *world.facts]
    kinds, universe = encoding.kinds, asking.universe
    found = [state_in(m, world, kinds, universe) for m in models(given, block)]
    return "" if _same(*(map(asking.seen, rows) for rows in (ours, found))) else "starts"


def _every_start(search: Search) -> Iterator[State]:
    filters = [p for p in search.machine.predicates if p.property.kind == "initial"]
    for state in search.machine.initial_states():
        try:
            if all(p.test(state) for p in filters):
                yield state
        except Exception:
            continue


def _same(left: Iterable[Row], right: Iterable[Row]) -> bool:
    return {tuple(r.items()) for r in left} == {tuple(r.items()) for r in right}


def _state(asking: Asking, state: State) -> str:
    row = asking.row(state)
    encoding = asking.encoding
    world, given = asking.before(row)
    afters: list[State] = []
    for action in encoding.flat.actions:
        own = [i for i in asking.search.machine.instances if i.name == action.name]
        ours: set[Outcome] = set()
        for instance in own:
            for after, choices in outcomes(instance, state):
                behind = () if after is None else tuple(asking.seen(asking.row(after)).values())
                kind = "raises" if after is None else "to"
                ours.add((kind, instance.params, choices, behind))
                afters += [] if after is None else [after]
        step = asking.asked(action.name, lambda a=action: encoding.step(a, world, "t"))
        try:
            found = set(_outcomes(asking, action, step, given))
        except TooMany:
            continue
        wrong = _unequal(ours, found)
        if wrong:
            return f"{action.name}: {wrong} in {row}"
        with contextlib.suppress(Outside):
            able = asking.asked(
                f"{action.name}?", lambda a=action: moves(asking.encoding, a, world)
            )
            if (model_of(solver_of([*given, term_of(able)])) is not None) != bool(ours):
                return f"whether {action.name} can move in {row}"
    return _properties(asking, state, afters[:6], world, given)


def _outcomes(asking: Asking, action: Action, step: Step, given: list[Any]) -> Iterator[Outcome]:
    kinds = [p.type for p in action.params]

    def block(model: Any) -> Any:
        return not_(all_of(_fixed(model)))

    def _fixed(model: Any) -> Iterator[Any]:
        taken = taken_in(model, step, kinds, asking.universe)
        for sym, value in zip(step.params, taken.params, strict=True):
            yield asking.same(sym, value)
        chosen = iter(taken.choices)
        reading = Decoding(model, asking.universe)
        for choice in step.choices:
            if reading.true(choice.condition):
                yield choice.condition
                yield asking.same(choice.value, next(chosen))
            else:
                yield not_(choice.condition)

    for kind, bit in (("to", step.enabled), ("raises", step.error)):
        for model in models([*given, *step.facts, term_of(bit)], block):
            taken = taken_in(model, step, kinds, asking.universe)
            after = _after(asking, model, step) if kind == "to" else {}
            yield kind, taken.params, taken.choices, tuple(after.values())


def _after(asking: Asking, model: Any, step: Step) -> Row:
    return asking.seen(state_in(model, step.after, asking.encoding.kinds, asking.universe))


def _unequal(ours: set[Outcome], found: set[Outcome]) -> str:
    """What differs. Where listing the source of a choice raises, the encoding may know a choice."""
    raising = {(params, choices) for kind, params, choices, _ in ours if kind == "raises"}
    more = [
        outcome
        for outcome in found - ours
        if not any(p == outcome[1] and outcome[2][: len(c)] == c for p, c in raising)
    ]
    less = list(ours - found)
    if more or less:
        return f"not in the encoding: {less[:2]}, not in the plain engine: {more[:2]}"
    return ""


def _properties(
    asking: Asking, state: State, afters: list[State], world: World, given: list[Any]
) -> str:
    encoding = asking.encoding
    for predicate in asking.search.machine.predicates:
        prop = predicate.property
        if prop.kind in ("weak", "strong") or (asking.universe and prop.kind in STEP_KINDS):
            continue
        rows = [()] if prop.kind not in STEP_KINDS else [(after,) for after in afters]
        for row in rows:
            later = World(asking.row(row[0])) if row else None
            judged = (
                encoding.holds(prop, world, later)
                if row
                else asking.asked(prop.name, lambda p=prop: encoding.holds(p, world))
            )
            try:
                ours = str(bool(predicate.test(state, *row)))
            except Exception:
                ours = "raises"
            if not _agrees(asking, judged, ours, given):
                return f"{prop.name} is {ours} in {asking.row(state)}"
    return ""


def _agrees(asking: Asking, judged: Judged, ours: str, given: list[Any]) -> bool:
    model = model_of(solver_of([*given, *judged.facts]))
    reading = Decoding(model, asking.universe)
    true, error = reading.true(judged.true), reading.true(judged.error)
    if ours == "raises":
        return error
    return true and not error if ours == "True" else not true or error
