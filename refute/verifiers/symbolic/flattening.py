"""A machine of actions alone: where its processes are, and what they keep, is in hidden variables.

The encoding then knows one kind of step and one kind of state, and a family of processes over an
open Sort is a function like any other variable. A step keeps its name, parameters and choices, so
that its trace is a trace of the machine with processes too.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Sequence

from refute.frozen import frozen
from refute.specs.machine import types as t
from refute.specs.machine.ir import (
    Die,
    Expr,
    MachineIR,
    Process,
    Stmt,
    Variable,
    Write,
    Yield,
)
from refute.specs.machine.placing import Placed, at_place, everywhere, nested, returned, some_value
from refute.specs.machine.values import Value, domain, pack_value
from refute.verifiers.symbolic.rewriting import atoms_in

BOOL = t.Bool()
OPEN = ("open", "open ordered")  # kinds of Sorts of any size
Fresh = Callable[[str], str]


def is_open(kind: t.Type) -> bool:
    """Whether the type is made of a Sort of any size."""
    return any(a.kind in OPEN for a in atoms_in(kind))


def packed(kind: t.Type, value: Value) -> Expr:
    """A known value."""
    return Expr("const", kind, (), pack_value(value))


def everywhere_of(kinds: Sequence[t.Type], value: Expr, fresh: Fresh) -> Expr:
    """The map from each of these types into the next, and at last to the value, wherever."""
    for kind in reversed(kinds):
        name = fresh("each")
        item = Expr("item", value.type, (Expr("local", kind, (), name), value))
        domain = Expr("domain", t.SeqOf(kind))
        chain = Expr("for", value.type, (domain, item), name)
        value = Expr("mapping", t.MapOf(kind, value.type), (chain,))
    return value


class Standing(Placed):
    """A process as an action, over Sorts of any size as well.

    A local that is no longer read gets one fixed value, so that states are not told apart by it. A
    member of an open Sort has no such value, and such a local stays what it was.
    """

    def __init__(self, process: Process, fresh: Fresh) -> None:
        self.process = process
        self.kinds = [p.type for p in process.params]
        self.keys = tuple(Expr("local", p.type, (), p.name) for p in process.params)
        ends = [b.end for b in process.blocks]
        stops = {e.target: e.live for e in ends if isinstance(e, Yield)}
        self.stops = [process.entry, *(s for s in stops if s != process.entry)]
        self.live = {s: stops.get(s, ()) for s in self.stops}
        self.done = len(self.stops)
        self.place = self._begun("place", t.Int(0, self.done), fresh)
        types = {p.name: p.type for p in process.locals}
        kept = dict.fromkeys(name for names in self.live.values() for name in names)
        self.locals = {name: self._begun(name, types[name], fresh) for name in kept}
        self.here, self.block, self.round = fresh("place"), fresh("block"), fresh("round")

    def _begun(self, name: str, kind: t.Type, fresh: Fresh) -> Variable:
        """The hidden variable of a place or a local, with what it is at first."""
        hidden = f"{self.process.name}@{name}"
        whole, line = nested(self.kinds, kind), self.process.line
        if not any(map(is_open, (*self.kinds, kind))):
            value = pack_value(everywhere(self.kinds, some_value(kind)))
            return Variable(hidden, whole, (value,), line, hidden=True)
        test = packed(BOOL, True)
        if not is_open(kind):
            same = everywhere_of(self.kinds, packed(kind, some_value(kind)), fresh)
            test = Expr("==", BOOL, (Expr("read", whole, (), hidden), same))
        return Variable(hidden, whole, (), line, hidden=True, start=test)

    def _ended(self, at: int, live: Sequence[str], stop: int) -> Iterator[Stmt]:
        line = self.process.line
        if at >= len(self.stops) or self.stops[at] != stop:
            place = packed(t.Int(at, at), at)
            yield Write(self.place.name, self.keys, place, t.Int(0, self.done), line)
        for name, variable in self.locals.items():
            kind = at_place(variable, self.keys).type
            if name in live:
                yield Write(variable.name, self.keys, Expr("local", kind, (), name), kind, line)
            elif name in self.live[stop] and not is_open(kind):
                yield Write(variable.name, self.keys, packed(kind, some_value(kind)), kind, line)

    def dies(self, line: int, fresh: Fresh) -> Iterator[Stmt]:
        """What a crash does to the processes of this kind."""
        done = everywhere_of(self.kinds, packed(self.place.type, self.done), fresh)
        yield Write(self.place.name, (), done, self.place.type, line)
        for variable, kind in self.kept():
            if not is_open(kind):
                gone = everywhere_of(self.kinds, packed(kind, some_value(kind)), fresh)
                yield Write(variable.name, (), gone, variable.type, line)

    def values(self, family: Sequence[tuple[Value, ...]]) -> Iterator[tuple[str, Value]]:
        """The hidden variables where the processes are at these places, each with its locals."""
        at = {stop: number for number, stop in enumerate(self.stops)}
        places = [self.done if block < 0 else at[block] for block, *_ in family]
        yield self.place.name, _nested(self.kinds, places)
        for name, kind in zip(self.locals, (k for _, k in self.kept()), strict=True):
            kept = [
                row[1 + self.live[row[0]].index(name)]
                if row[0] >= 0 and name in self.live[row[0]]
                else some_value(kind)
                for row in family
            ]
            yield self.locals[name].name, _nested(self.kinds, kept)


@frozen
class Flat:
    """A machine of actions, and whether all processes have returned; None if there were none."""

    ir: MachineIR
    returned: Expr | None
    processes: tuple[Standing, ...]

    def values(self, state: Sequence[Value]) -> dict[str, Value]:
        """The values of all variables in a state of the plain engine, families at its end."""
        count = len(state) - len(self.processes)
        found = dict(zip((v.name for v in self.ir.variables), state[:count], strict=False))
        for placed, family in zip(self.processes, state[count:], strict=True):
            found.update(placed.values(family))
        return found


def _nested(kinds: Sequence[t.Type], values: Sequence[Value]) -> Value:
    """The map from each of these types into the next, of the values in order."""
    if not kinds:
        return values[0]
    size = len(values) // len(domain(kinds[0]))
    parts = range(0, len(values), size)
    return tuple(_nested(kinds[1:], values[at : at + size]) for at in parts)


def flattened(ir: MachineIR) -> Flat:
    """The machine with every process as an action."""
    numbers = itertools.count()

    def fresh(name: str) -> str:
        return f"{name}@{next(numbers)}"

    every = [Standing(process, fresh) for process in ir.processes]
    actions = [dataclasses.replace(a, body=_with_deaths(a.body, every, fresh)) for a in ir.actions]
    hidden = [variable for placed in every for variable in placed.variables]
    made = dataclasses.replace(
        ir,
        variables=(*ir.variables, *hidden),
        actions=(*actions, *(placed.action() for placed in every)),
        processes=(),
    )
    tests = tuple(returned(placed, (), fresh) for placed in every)
    return Flat(made, Expr("and", BOOL, tests) if tests else None, tuple(every))


def _with_deaths(
    body: tuple[Stmt, ...], every: Sequence[Standing], fresh: Fresh
) -> tuple[Stmt, ...]:
    """The body with what a crash does to processes written out; only the body of one says so."""
    return tuple(
        part
        for stmt in body
        for part in (
            (s for placed in every for s in placed.dies(stmt.line, fresh))
            if isinstance(stmt, Die)
            else (stmt,)
        )
    )
