"""The meaning of a machine's IR: a tree walk written to be read, not to be fast.

This is the definition that compiled engines are compared with, and the second engine that confirms
a complete search. It shares with them the values and nothing else: nondeterminism is a generator
here (`execute` yields every way a statement can end), not a vector of choices.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from refute.errors import UnreadableInput
from refute.specs.machine import types as t
from refute.specs.machine.errors import MOST_ROUNDS, Endless, OutOfRange, check_depth
from refute.specs.machine.ir import (
    Action,
    Assign,
    Block,
    Branch,
    Check,
    Choose,
    Die,
    Done,
    Expr,
    For,
    If,
    Jump,
    Leave,
    MachineIR,
    Param,
    Process,
    Property,
    Stmt,
    When,
    Write,
    Yield,
)
from refute.specs.machine.listing import require_listed
from refute.specs.machine.operations import apply, elements, position, total
from refute.specs.machine.values import (
    Value,
    conforms,
    domain,
    pack_value,
    unpack_value,
)

Env = Mapping[str, Value]
# Operations that take more, or less, than the values of all their arguments.
_BY_ITSELF = frozenset(("let", "fold", "loop", "rec", "again", "and", "or", "if"))
_BY_ITSELF |= {"any", "all", "set", "list", "total", "mapping"}


class World(NamedTuple):
    """A state: variables by name, and for each process (name, parameters) its place and locals."""

    variables: tuple[Value, ...]
    places: tuple[tuple[int, tuple[Value, ...]], ...]


class Taken(NamedTuple):
    """One step taken: by which action or process, with which parameters and choices, to where."""

    name: str
    params: tuple[Value, ...]
    choices: tuple[Value, ...]
    after: World


class _Way(NamedTuple):
    """How far one way through a body has come. ended: "", or the word it left by.

    died: whether all processes have ended in it.
    """

    variables: Mapping[str, Value]
    locals: Env
    choices: tuple[Value, ...] = ()
    ended: str = ""
    died: bool = False


class Meaning:
    """Evaluates one machine."""

    def __init__(self, ir: MachineIR) -> None:
        self.ir = ir
        self.types = {v.name: v.type for v in ir.variables}
        self._last: tuple[World, Mapping[str, Value]] = (World((), ()), {})
        self.processes = [
            (process, params) for process in ir.processes for params in bindings(process.params)
        ]

    def starts(self) -> Iterator[World]:
        """The initial states: the product of starting values that every `@initial` admits.

        Raises UsageError for a machine whose values cannot be listed.
        """
        require_listed(self.ir)
        every = [[unpack_value(v) for v in variable.initial] for variable in self.ir.variables]
        places = tuple((process.entry, ()) for process, _ in self.processes)
        for values in itertools.product(*every):
            world = World(values, places)
            if all(self.holds(p, world) for p in self.ir.of_kind("initial")):
                yield world

    def start(self, values: tuple[Value, ...]) -> World | None:
        """The initial state with these values; None where the machine does not start so."""
        world = World(values, tuple((process.entry, ()) for process, _ in self.processes))
        if len(values) != len(self.ir.variables):
            return None
        for variable, value in zip(self.ir.variables, values, strict=True):
            if variable.start is None and pack_value(value) not in variable.initial:
                return None
            if variable.start is not None and not (
                conforms(value, variable.type) and self.valued(variable.start, world)
            ):
                return None
        admitted = all(self.holds(p, world) for p in self.ir.of_kind("initial"))
        return world if admitted else None

    def steps(self, world: World) -> Iterator[Taken]:
        """Every step that the state offers. Raises what a step raises in Python."""
        for action in self.ir.actions:
            for params in bindings(action.params):
                yield from self.action(action, params, world)
        for at in range(len(self.processes)):
            yield from self.process(at, world)

    def step(self, name: str, params: tuple[Value, ...], world: World) -> Iterator[Taken]:
        """Every outcome of the action or process of this name with these parameters."""
        for action in self.ir.actions:
            if action.name == name:
                yield from self.action(action, params, world)
        for at, (process, given) in enumerate(self.processes):
            if process.name == name and given == params:
                yield from self.process(at, world)

    def action(self, action: Action, params: tuple[Value, ...], world: World) -> Iterator[Taken]:
        """Every outcome of an action with these parameters."""
        for way in self.execute(action.body, self._begin(action.params, params, world)):
            places = ((-1, ()),) * len(world.places) if way.died else world.places
            after = World(tuple(way.variables.values()), places)
            yield Taken(action.name, params, way.choices, after)

    def process(self, at: int, world: World) -> Iterator[Taken]:
        """Every outcome of the next step of the process with this number."""
        process, params = self.processes[at]
        block, kept = world.places[at]
        if block < 0:
            return
        way = self._begin(process.params, params, world)
        ends = [b.end for b in process.blocks]
        names = next((e.live for e in ends if isinstance(e, Yield) and e.target == block), ())
        bound = {**way.locals, **dict(zip(names, kept, strict=True))}
        way = way._replace(locals=bound)
        for ended, place in self._run(process, process.blocks[block], way):
            places = (*world.places[:at], place, *world.places[at + 1 :])
            after = World(tuple(ended.variables.values()), places)
            yield Taken(process.name, params, ended.choices, after)

    def _run(
        self, process: Process, block: Block, way: _Way
    ) -> Iterator[tuple[_Way, tuple[int, tuple[Value, ...]]]]:
        for reached in self.execute(block.body, way):
            end = block.end
            if reached.ended == "return" or isinstance(end, Done):
                yield reached, (-1, ())
            elif isinstance(end, Jump):
                yield from self._run(process, process.blocks[end.target], reached)
            elif isinstance(end, Branch):
                test = self.value(end.condition, reached)
                target = end.then if test else end.orelse
                yield from self._run(process, process.blocks[target], reached)
            else:
                yield reached, (end.target, tuple(reached.locals[n] for n in end.live))

    def _begin(self, params: tuple[Param, ...], given: tuple[Value, ...], world: World) -> _Way:
        given_names = zip((p.name for p in params), given, strict=True)
        return _Way(self._named(world), dict(given_names))

    def _named(self, world: World) -> Mapping[str, Value]:
        if world is not self._last[0]:  # all steps of a state begin with the same variables
            self._last = world, dict(zip(self.types, world.variables, strict=True))
        return self._last[1]

    def execute(self, body: tuple[Stmt, ...], way: _Way) -> Iterator[_Way]:
        """Every way the body can end, depth first; none where a `when` is false."""
        ways = [iter([way])]  # to each statement that was come to, those that are left
        while ways:
            reached = next(ways[-1], None)
            done = len(ways) - 1
            if reached is None:
                ways.pop()
            elif reached.ended or done == len(body):
                yield reached
            else:
                ways.append(self._statement(body[done], reached))

    def _statement(self, stmt: Stmt, way: _Way) -> Iterator[_Way]:
        match stmt:
            case When():
                if self.value(stmt.condition, way):
                    yield way
            case Check():
                if not self.value(stmt.condition, way):
                    raise AssertionError(f"line {stmt.line}")
                yield way
            case Choose():
                for choice in self.items(stmt.source, way):
                    bound = {**way.locals, stmt.name: choice}
                    chosen = (*way.choices, choice)
                    yield way._replace(locals=bound, choices=chosen)
            case Assign():
                bound = {**way.locals, stmt.name: self.value(stmt.value, way)}
                yield way._replace(locals=bound)
            case Write():
                yield way._replace(variables=self._written(stmt, way))
            case If():
                test = self.value(stmt.condition, way)
                yield from self.execute(stmt.then if test else stmt.orelse, way)
            case For():
                yield from self._loop(stmt, list(self.items(stmt.source, way)), way)
            case Leave():
                yield way._replace(ended=stmt.word)
            case Die():
                yield way._replace(died=True)
            case _:
                raise UnreadableInput(f"{type(stmt).__name__} was not lowered", thing="machine")

    def _loop(self, stmt: For, items: list[Value], way: _Way) -> Iterator[_Way]:
        """Every way through the rounds, depth first. rounds: the ways that one more has ended."""
        rounds: list[Iterator[_Way]] = [iter([way])]
        while rounds:
            reached = next(rounds[-1], None)
            done = len(rounds) - 1
            if reached is None:
                rounds.pop()
            elif reached.ended == "return":
                yield reached
            elif reached.ended == "break" or done == len(items):
                yield reached._replace(ended="")
            else:
                bound = {**reached.locals, stmt.name: items[done]}
                begun = reached._replace(locals=bound, ended="")
                rounds.append(self.execute(stmt.body, begun))

    def _written(self, stmt: Write, way: _Way) -> dict[str, Value]:
        value = self.value(stmt.value, way)
        keys = [self.value(k, way) for k in stmt.path]
        old = way.variables[stmt.var]
        new = self._placed(self.types[stmt.var], old, keys, value)
        if not conforms(new, self.types[stmt.var]):
            raise OutOfRange(f"{stmt.var}: {value!r} is not in {t.show(stmt.target)}")
        return {**way.variables, stmt.var: new}

    def _placed(self, kind: t.Type, old: Value, keys: list[Value], value: Value) -> Value:
        if not keys:
            return value
        if isinstance(kind, t.MapOf):
            at, inner = position(kind.key, keys[0]), kind.value
        elif isinstance(kind, t.SeqOf):
            at, inner = range(len(old))[keys[0]], kind.elem
        else:
            raise TypeError(f"{t.show(kind)} has no entries")
        return (*old[:at], self._placed(inner, old[at], keys[1:], value), *old[at + 1 :])

    def holds(self, prop: Property, world: World, after: World | None = None) -> bool:
        """Whether a predicate holds, for all values of its parameters."""
        every = bindings(prop.params)
        return all(self.true(prop.predicate, prop.params, p, world, after) for p in every)

    def true(
        self,
        predicate: Expr,
        params: tuple[Param, ...],
        given: tuple[Value, ...],
        world: World,
        after: World | None = None,
    ) -> bool:
        """Whether a predicate holds for one choice of its parameters."""
        way = self._begin(params, given, world)
        later = self._named(after) if after is not None else {}
        bound = {**way.locals, **{f"'{n}": v for n, v in later.items()}}
        return bool(self.value(predicate, way._replace(locals=bound)))

    def valued(self, expr: Expr, world: World) -> Value:
        """The value of an expression in a state."""
        return self.value(expr, self._begin((), (), world))

    def returned(self, world: World) -> bool:
        """Whether there are processes and all of them have returned."""
        return bool(world.places) and all(block < 0 for block, _ in world.places)

    def items(self, expr: Expr, way: _Way) -> Iterable[Value]:
        """The elements of a container in canonical order."""
        return elements(self.value(expr, way), expr.type)

    def value(self, expr: Expr, way: _Way) -> Value:
        """The value of an expression."""
        args = expr.args
        match expr.op:
            case "const":
                return unpack_value(expr.data)
            case "read":
                return way.variables[expr.data]
            case "next":
                return way.locals[f"'{expr.data}"]
            case "local":
                return way.locals[expr.data]
        if expr.op not in _BY_ITSELF:
            return apply(expr, [self.value(a, way) for a in args])
        match expr.op:
            case "let":
                return self.value(args[1], _bound(way, expr.data, self.value(args[0], way)))
            case "fold":
                return self._folded(expr, way)
            case "loop":
                return self._looped(expr, way)
            case "rec":
                return self._called(expr, [self.value(a, way) for a in args[:-1]], way)
            case "again":
                return self._called(way.locals[expr.data], [self.value(a, way) for a in args], way)
            case "and":
                return all(self.value(a, way) for a in args)
            case "or":
                return any(self.value(a, way) for a in args)
            case "if":
                return self.value(args[1 if self.value(args[0], way) else 2], way)
        return self._comprehension(expr, way)

    def _folded(self, expr: Expr, way: _Way) -> Value:
        source, start, body = expr.args
        item, *names = expr.data
        values = self.value(start, way)
        for element in list(self.items(source, way)):
            bound = _bound(way, item, element)
            for name, value in zip(names, values, strict=True):
                bound = _bound(bound, name, value)
            values = self.value(body, bound)
        return values

    def _looped(self, expr: Expr, way: _Way) -> Value:
        start, body = expr.args
        values = self.value(start, way)
        for _ in range(MOST_ROUNDS):
            if not values[-1]:
                return values
            bound = {**way.locals, **dict(zip(expr.data, values, strict=True))}
            values = self.value(body, way._replace(locals=bound))
        raise Endless(f"a while loop of one step goes round {MOST_ROUNDS} times")

    def _called(self, rec: Expr, values: list[Value], way: _Way) -> Value:
        """The body of a recursive helper; its own name stands for it, and for how deep it is."""
        name, *params = rec.data
        depth = way.locals.get(f"depth of {name}", 0) + 1
        check_depth(depth)
        bound = {name: rec, f"depth of {name}": depth, **dict(zip(params, values, strict=True))}
        return self.value(rec.args[-1], way._replace(locals={**way.locals, **bound}))

    def _comprehension(self, expr: Expr, way: _Way) -> Value:
        found = self._chain(expr.args[0], way)
        match expr.op:
            case "any":
                return any(v for (v,) in found)
            case "all":
                return all(v for (v,) in found)
            case "set":
                return frozenset(v for (v,) in found)
            case "list":
                return tuple(v for (v,) in found)
            case "total":
                return sum(v for (v,) in found)
        return total(expr.type, {entry[0]: entry[1] for entry in found})

    def _chain(self, expr: Expr, way: _Way) -> Iterator[tuple[Value, ...]]:
        if expr.op == "item":
            yield tuple(self.value(a, way) for a in expr.args)
        elif expr.op == "if":
            if self.value(expr.args[0], way):
                yield from self._chain(expr.args[1], way)
        else:
            for item in self.items(expr.args[0], way):
                yield from self._chain(expr.args[1], _bound(way, expr.data, item))


def bindings(params: tuple[Param, ...]) -> Iterator[tuple[Value, ...]]:
    """Every choice of values for the parameters."""
    return itertools.product(*(domain(p.type) for p in params))


def _bound(way: _Way, name: str, value: Value) -> _Way:
    return way._replace(locals={**way.locals, name: value})
