"""A process as an action: where it goes on, and the locals it keeps, become hidden variables.

Two processes that meet move in one step, and a machine made of parts may stop where each of them
may; both are told of places, which only variables have. The step is the same, and so is the number
of states: a local that no later code reads has one fixed value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from refute.errors import Unsupported
from refute.specs.machine import types as t
from refute.specs.machine.errors import MOST_ROUNDS
from refute.specs.machine.expressions import BOOL, number
from refute.specs.machine.ir import (
    Action,
    Assign,
    Branch,
    Check,
    Done,
    Expr,
    For,
    If,
    Jump,
    Leave,
    Param,
    Process,
    Stmt,
    Variable,
    When,
    Write,
    Yield,
)
from refute.specs.machine.values import Value, domain, members, pack_value, tag_of


def nested(kinds: Sequence[t.Type], inner: t.Type) -> t.Type:
    """The type of a map from each of these types into the next, and at last to `inner`."""
    for kind in reversed(kinds):
        inner = t.MapOf(kind, inner)
    return inner


def everywhere(kinds: Sequence[t.Type], value: Value) -> Value:
    """The map of that type with this value in every place."""
    for kind in reversed(kinds):
        value = (value,) * len(domain(kind))
    return value


def some_value(kind: t.Type) -> Value:
    """One fixed value of a type."""
    match kind:
        case t.Bool():
            return False
        case t.Int():
            return kind.lo if kind.lo is not None else min(0, kind.hi or 0)
        case t.Nothing():
            return None
        case t.Atoms():
            return members(kind)[0]
        case t.Text():
            return kind.options[0]
        case t.Tuple():
            return tuple(map(some_value, kind.items))
        case t.Rec():
            return (tag_of(kind), *(some_value(k) for _, k in kind.fields))
        case t.Union():
            return some_value(kind.options[0]) if kind.options else None
        case t.MapOf():
            return (some_value(kind.value),) * len(domain(kind.key))
        case t.SetOf():
            return frozenset()
        case t.SeqOf():
            return ()
    return domain(kind)[0]


def onward(end: Jump | Branch | Yield | Done) -> tuple[int, ...]:
    """The blocks that the same step may go on with."""
    match end:
        case Jump():
            return (end.target,)
        case Branch():
            return (end.then, end.orelse)
    return ()


def at_place(variable: Variable, keys: Sequence[Expr]) -> Expr:
    """The entry of a variable that is a map of these keys."""
    found = Expr("read", variable.type, (), variable.name)
    for key in keys:
        assert isinstance(found.type, t.MapOf)
        found = Expr("index", found.type.value, (found, key))
    return found


class Placed:
    """A process as an action. variables: hidden ones. done: the place of one that has returned."""

    def __init__(self, process: Process, fresh: Callable[[str], str]) -> None:
        self.process = process
        self.kinds = [p.type for p in process.params]
        self.keys = tuple(Expr("local", p.type, (), p.name) for p in process.params)
        ends = [b.end for b in process.blocks]
        stops = {e.target: e.live for e in ends if isinstance(e, Yield)}
        self.stops = [process.entry, *(s for s in stops if s != process.entry)]
        self.live = {s: stops.get(s, ()) for s in self.stops}
        self.done = len(self.stops)
        self._refuse_open(())
        self.place = self._variable("place", t.Int(0, self.done), 0)
        types = {p.name: p.type for p in process.locals}
        kept = dict.fromkeys(name for names in self.live.values() for name in names)
        self._refuse_open(tuple(types[n] for n in kept))
        self.locals = {n: self._variable(n, types[n], some_value(types[n])) for n in kept}
        self.here, self.block, self.round = fresh("place"), fresh("block"), fresh("round")

    def _refuse_open(self, kept: tuple[t.Type, ...]) -> None:
        for sort in (name for kind in (*self.kinds, *kept) for name in t.open_sorts(kind)):
            raise Unsupported(
                f"line {self.process.line}: the process {self.process.name} has members of {sort}, "
                "of any number, as its identity or in locals that it keeps, in a machine with "
                "parts, rendezvous or a recovery in steps",
                thing=self.process.name,
                next_step=f"actions with a parameter of {sort}, and the place of each as a Map",
            )

    def _variable(self, name: str, kind: t.Type, value: Value) -> Variable:
        whole = nested(self.kinds, kind)
        packed = pack_value(everywhere(self.kinds, value))
        hidden = f"{self.process.name}@{name}"
        return Variable(hidden, whole, (packed,), self.process.line, hidden=True)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The place and the locals."""
        return (self.place, *self.locals.values())

    def kept(self) -> list[tuple[Variable, t.Type]]:
        """The variables of the locals, and the types of one process's."""
        return [(v, at_place(v, self.keys).type) for v in self.locals.values()]

    def action(self) -> Action:
        """The action that takes the next step of the process."""
        made = self.process
        kind = t.Int(0, self.done)
        start: list[Stmt] = [Assign(self.here, at_place(self.place, self.keys), made.line)]
        ways: tuple[Stmt, ...] = (When(Expr("const", BOOL, (), False), made.line),)
        for at, stop in reversed(list(enumerate(self.stops))):
            here = Expr("==", BOOL, (Expr("local", kind, (), self.here), number(at)))
            code = (*self._restored(stop), *self._step(stop))
            ways = (If(here, code, ways, made.line),)
        lines = (*map(self._line, self.stops), 0)
        name, fair, fair_any = made.name, made.fair, made.fair_any
        body = (*start, *ways)
        return Action(name, made.params, body, fair, made.line, fair_any, self.place.name, lines)

    def _restored(self, stop: int) -> Iterator[Stmt]:
        line = self._line(stop)
        for name in self.live[stop]:
            yield Assign(name, at_place(self.locals[name], self.keys), line)

    def _line(self, block: int) -> int:
        """The source line that a step from this block starts at."""
        queue, seen = [block], set()
        for at in queue:
            body, end = self.process.blocks[at].body, self.process.blocks[at].end
            if body:
                return body[0].line
            seen.add(at)
            if isinstance(end, Jump | Yield):
                queue += [end.target] if end.target not in seen else []
            elif isinstance(end, Branch):
                queue += [n for n in (end.then, end.orelse) if n not in seen]
        return self.process.line

    def _step(self, stop: int) -> tuple[Stmt, ...]:
        """The code from a stop to where the step ends.

        Where it may go round, as a `for` does that yields on some ways only, each round of one loop
        runs the code from one block to the next, and a local says which.
        """
        met: dict[int, int] = {}
        self._rounds(stop, set(), met)
        if not met:
            return self._from(stop, stop, {})
        heads = {block: at for at, block in enumerate(dict.fromkeys((stop, *met)))}
        last, line = t.Int(0, MOST_ROUNDS), self._line(stop)
        now = Expr("local", t.Int(0, len(heads) - 1), (), self.block)
        code: tuple[Stmt, ...] = ()
        for block, at in reversed(heads.items()):
            test = Expr("==", BOOL, (now, number(at)))
            code = (If(test, self._from(block, stop, heads), code, line),)
        every = Expr("range", t.SeqOf(last), (number(0), number(MOST_ROUNDS + 1), number(1)))
        more = Expr("<", BOOL, (Expr("local", last, (), self.round), number(MOST_ROUNDS)))
        begin = Assign(now.data, Expr("const", now.type, (), 0), line)
        return (begin, For(self.round, every, (Check(more, line), *code), line))

    def _rounds(self, block: int, running: set[int], met: dict[int, int]) -> None:
        """Note the blocks that the code from this one comes back to within a step."""
        if block in running:
            met[block] = 0
            return
        for then in onward(self.process.blocks[block].end):
            self._rounds(then, running | {block}, met)

    def _from(self, block: int, stop: int, heads: Mapping[int, int]) -> tuple[Stmt, ...]:
        """The code from a block to where the step, which began at a stop, or the round ends."""
        made = self.process.blocks[block]
        body = tuple(self._returning(made.body, stop))
        leave = (Leave("break", self._line(block)),) if heads else ()
        match made.end:
            case Jump(target):
                return (*body, *self._onward(target, stop, heads))
            case Branch(condition, then, orelse):
                ways = self._onward(then, stop, heads), self._onward(orelse, stop, heads)
                return (*body, If(condition, *ways, body[0].line if body else self._line(block)))
            case Yield(target):
                at, live = self.stops.index(target), self.live[target]
                return (*body, *self._ended(at, live, stop), *leave)
            case Done():
                return (*body, *self._ended(self.done, (), stop), *leave)

    def _onward(self, block: int, stop: int, heads: Mapping[int, int]) -> tuple[Stmt, ...]:
        """On to a block: in the next round, or at once."""
        if block not in heads:
            return self._from(block, stop, heads)
        value = Expr("const", t.Int(0, len(heads) - 1), (), heads[block])
        return (Assign(self.block, value, self._line(block)),)

    def _ended(self, at: int, live: Sequence[str], stop: int) -> Iterator[Stmt]:
        """Write the place and the locals that are kept; forget those that were."""
        line = self.process.line
        if at >= len(self.stops) or self.stops[at] != stop:
            yield Write(self.place.name, self.keys, number(at), t.Int(0, self.done), line)
        for name, variable in self.locals.items():
            kind = at_place(variable, self.keys).type
            if name in live:
                value = Expr("local", kind, (), name)
            elif name in self.live[stop]:
                value = Expr("const", kind, (), pack_value(some_value(kind)))
            else:
                continue
            yield Write(variable.name, self.keys, value, kind, line)

    def _returning(self, body: Sequence[Stmt], stop: int) -> Iterator[Stmt]:
        """The statements; one that returns from inside a loop first writes where that leads."""
        for stmt in body:
            match stmt:
                case Leave(word="return"):
                    yield from self._ended(self.done, (), stop)
                    yield stmt
                case If():
                    then = tuple(self._returning(stmt.then, stop))
                    orelse = tuple(self._returning(stmt.orelse, stop))
                    yield If(stmt.condition, then, orelse, stmt.line)
                case For():
                    inside = tuple(self._returning(stmt.body, stop))
                    yield For(stmt.name, stmt.source, inside, stmt.line)
                case _:
                    yield stmt


def returned(placed: Placed, keys: Sequence[Expr], fresh: Callable[[str], str]) -> Expr:
    """Whether all processes of one kind have returned; keys: the first ones are given."""
    free = [Param(fresh("each"), p.type) for p in placed.process.params[len(keys) :]]
    every = (*keys, *(Expr("local", p.type, (), p.name) for p in free))
    test = Expr("==", BOOL, (at_place(placed.place, every), number(placed.done)))
    for param in reversed(free):
        item = Expr("item", BOOL, (test,))
        walk = Expr("for", BOOL, (Expr("domain", t.SeqOf(param.type)), item), param.name)
        test = Expr("all", BOOL, (walk,))
    return test
