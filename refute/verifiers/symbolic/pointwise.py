"""A loop over a Sort of any size without rounds: each round writes at its own element.

`for r in RM: if c(r): self.x[r] = e(r)` is `self.x = {r: e(r) if c(r) else self.x[r] for r in RM}`,
whatever the order of the rounds, as long as no round reads what another one writes. Any other loop
is outside.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

from refute.specs.machine import types as t
from refute.specs.machine.ir import Assign, Check, Choose, Expr, For, If, Leave, Stmt, When, Write
from refute.specs.machine.lower import used
from refute.verifiers.symbolic.forms import Outside
from refute.verifiers.symbolic.rewriting import not_

BOOL = t.Bool()
TRUE = Expr("const", BOOL, (), True)
_WORDS = {Leave: "break, continue or return", Choose: "any_of"}


def element_type(kind: t.Type) -> t.Type:
    """The type of what iteration over a container yields."""
    match kind:
        case t.SetOf() | t.SeqOf():
            return kind.elem
        case t.MapOf():
            return kind.key
        case t.Tuple():
            return t.join(kind.items)
    return t.NEVER


def assigned(body: Sequence[Stmt]) -> set[str]:
    """The locals that a body gives values to."""
    found: set[str] = set()
    for stmt in body:
        match stmt:
            case Assign() | Choose():
                found.add(stmt.name)
            case For():
                found |= {stmt.name, *assigned(stmt.body)}
            case If():
                found |= assigned((*stmt.then, *stmt.orelse))
    return found


def pointwise(loop: For, kinds: Mapping[str, t.Type]) -> tuple[Stmt, ...]:
    """What the loop does, without a loop. kinds: the types of the variables. Raises Outside."""
    return _Round(loop, kinds).statements()


@dataclasses.dataclass(frozen=True)
class _Cell:
    """What a round makes of its own entry of a variable. at: the keys before the element."""

    write: Write
    at: tuple[Expr, ...]
    before: Expr
    now: Expr


class _Round:
    """One round of a loop, on an element that stands for all of them."""

    def __init__(self, loop: For, kinds: Mapping[str, t.Type]) -> None:
        self.loop = loop
        self.kinds = kinds
        self.kind = element_type(loop.source.type)
        self.element = Expr("local", self.kind, (), loop.name)
        self.body = tuple(_without_loops(loop.body, kinds))
        self.own = {loop.name, *assigned(self.body)}
        self.same = {loop.name, *(_copies(self.body, loop.name))}
        self.given: dict[str, Expr] = {loop.name: self.element}
        self.cells: dict[str, _Cell] = {}
        self.tests: list[Stmt] = []
        self.written = {write.var for write in _writes(self.body)}
        for write in _writes(self.body):
            if not any(map(self._is_element, write.path)):
                raise self._outside(f"a write to {write.var} that rounds share", write.line)
        self._now(loop.source, loop.line)

    def statements(self) -> tuple[Stmt, ...]:
        """The tests and the writes of all rounds. Raises Outside."""
        self._body(self.body, TRUE)
        writes = [self._mapped(cell) for cell in self.cells.values()]
        values, stores = [], []
        for at, write in enumerate(writes):
            name = f"{self.loop.name}#{at}"
            values.append(Assign(name, write.value, write.line))
            kept = Expr("local", write.value.type, (), name)
            stores.append(dataclasses.replace(write, value=kept))
        return (*self.tests, *values, *stores)

    def _outside(self, what: str, line: int) -> Outside:
        of = f"in a loop over {t.show(self.kind)}, which has any number of members"
        return Outside(f"line {line}: {what} {of}")

    def _is_element(self, key: Expr) -> bool:
        return key.op == "local" and key.data in self.same

    def _body(self, body: Sequence[Stmt], condition: Expr) -> None:
        for stmt in body:
            match stmt:
                case Assign():
                    self.given[stmt.name] = self._now(stmt.value, stmt.line)
                case When() | Check():
                    test = _if(condition, self._now(stmt.condition, stmt.line), TRUE)
                    self.tests.append(dataclasses.replace(stmt, condition=self._over("all", test)))
                case If():
                    self._branches(stmt, condition)
                case Write():
                    self._entry(stmt)
                case _:
                    raise self._outside(_WORDS.get(type(stmt), "this statement"), stmt.line)

    def _branches(self, stmt: If, condition: Expr) -> None:
        test = self._now(stmt.condition, stmt.line)
        given, cells = self.given, self.cells
        self.given, self.cells = dict(given), dict(cells)
        self._body(stmt.then, _and(condition, test))
        then_given, then_cells = self.given, self.cells
        self.given, self.cells = dict(given), dict(cells)
        self._body(stmt.orelse, _and(condition, not_(test)))
        for name, value in then_given.items():
            self.given[name] = _if(test, value, self.given.get(name, value))
        for var, cell in then_cells.items():
            other = self.cells.get(var, dataclasses.replace(cell, now=cell.before))
            if other.at != cell.at:
                raise self._outside(f"writes of {var} at two places", stmt.line)
            self.cells[var] = dataclasses.replace(cell, now=_if(test, cell.now, other.now))
        for var, cell in self.cells.items():
            if var not in then_cells:
                self.cells[var] = dataclasses.replace(cell, now=_if(test, cell.before, cell.now))

    def _entry(self, stmt: Write) -> None:
        """A write at the element."""
        value = self._now(stmt.value, stmt.line)
        place = next(at for at, key in enumerate(stmt.path) if self._is_element(key))
        at = tuple(self._fixed(key, stmt.line) for key in stmt.path[:place])
        rest = [self._now(key, stmt.line) for key in stmt.path[place + 1 :]]
        cell = self.cells.get(stmt.var)
        if cell is None:
            before = self._read(stmt.var, (*at, self.element))
            cell = _Cell(stmt, at, before, before)
        if cell.at != at:
            raise self._outside(f"writes of {stmt.var} at two places", stmt.line)
        self.cells[stmt.var] = dataclasses.replace(cell, now=self._placed(cell.now, rest, value))

    def _over(self, word: str, test: Expr) -> Expr:
        """Whether the test is true of all rounds, or of any."""
        item = Expr("item", BOOL, (test,))
        return Expr(word, BOOL, (Expr("for", BOOL, (self.loop.source, item), self.loop.name),))

    def _mapped(self, cell: _Cell) -> Write:
        """The write of all entries of a variable."""
        source, now = self.loop.source, cell.now
        if source.op != "domain":
            inside = Expr("in", BOOL, (self.element, source))
            now = _if(inside, now, cell.before)
        kind = self._read(cell.write.var, cell.at).type
        if not isinstance(kind, t.MapOf) or kind.key != self.kind:
            raise self._outside(f"a write to {cell.write.var} at a part of it", cell.write.line)
        made = t.MapOf(self.kind, now.type)
        domain = Expr("domain", t.SeqOf(self.kind))
        item = Expr("item", made, (self.element, now))
        chain = Expr("for", made, (domain, item), self.loop.name)
        value = Expr("mapping", made, (chain,))
        return dataclasses.replace(cell.write, path=cell.at, value=value, target=kind)

    def _placed(self, base: Expr, keys: Sequence[Expr], value: Expr) -> Expr:
        """A value with the entry at these keys replaced."""
        if not keys:
            return value
        if not isinstance(base.type, t.MapOf):
            raise self._outside("a write into what is no map", self.loop.line)
        name = f"{self.loop.name}#{len(keys)}"
        key = Expr("local", base.type.key, (), name)
        old = Expr("index", base.type.value, (base, key))
        same = Expr("==", BOOL, (key, keys[0]))
        now = _if(same, self._placed(old, keys[1:], value), old)
        made = t.MapOf(base.type.key, now.type)
        domain = Expr("domain", t.SeqOf(base.type.key))
        chain = Expr("for", made, (domain, Expr("item", made, (key, now))), name)
        return Expr("mapping", made, (chain,))

    def _read(self, var: str, keys: Sequence[Expr]) -> Expr:
        """The value of a variable at these keys, before the loop."""
        found = Expr("read", self.kinds[var], (), var)
        for key in keys:
            if not isinstance(found.type, t.MapOf):
                raise self._outside(f"a write into {var}", self.loop.line)
            found = Expr("index", found.type.value, (found, key))
        return found

    def _fixed(self, key: Expr, line: int) -> Expr:
        """A key that is the same in every round. Raises Outside."""
        made = self._now(key, line)
        if used(made) & {self.loop.name, *self.own}:
            raise self._outside("a key that depends on the round", line)
        return made

    def _now(self, expr: Expr, line: int) -> Expr:
        """An expression as a round sees it where it stands. Raises Outside."""
        if expr.op == "local":
            name = str(expr.data)
            if name in self.own and name not in self.given:
                raise self._outside("what an earlier round has left", line)
            return self.given.get(name, expr)
        found = _keys(expr)
        if found is not None and found[0] in self.written:
            return self._seen(*found, line)
        args = tuple(self._now(a, line) for a in expr.args)
        return Expr(expr.op, expr.type, args, expr.data)

    def _seen(self, var: str, keys: Sequence[Expr], line: int) -> Expr:
        """The entry of a written variable, which has to be the round's own."""
        keys = [self._now(k, line) for k in keys]
        if self.element not in keys:
            raise self._outside(f"a read of {var}, which other rounds write,", line)
        place = keys.index(self.element)
        cell = self.cells.get(var)
        if cell is None:
            return self._read(var, keys)
        if tuple(keys[:place]) != cell.at:
            raise self._outside(f"a read of {var}, which other rounds write,", line)
        made = cell.now
        for key in keys[place + 1 :]:
            assert isinstance(made.type, t.MapOf)
            made = Expr("index", made.type.value, (made, key))
        return made


def _keys(expr: Expr) -> tuple[str, list[Expr]] | None:
    """The variable that an expression reads, and at which keys; None for any other."""
    if expr.op == "read":
        return str(expr.data), []
    if expr.op == "index" and isinstance(expr.args[0].type, t.MapOf):
        inner = _keys(expr.args[0])
        return None if inner is None else (inner[0], [*inner[1], expr.args[1]])
    return None


def _without_loops(body: Sequence[Stmt], kinds: Mapping[str, t.Type]) -> Iterator[Stmt]:
    for stmt in body:
        match stmt:
            case For():
                yield from pointwise(stmt, kinds)
            case If():
                ways = [tuple(_without_loops(b, kinds)) for b in (stmt.then, stmt.orelse)]
                yield dataclasses.replace(stmt, then=ways[0], orelse=ways[1])
            case _:
                yield stmt


def _copies(body: Sequence[Stmt], name: str) -> Iterator[str]:
    """The locals that are the loop's own element by another name."""
    for stmt in body:
        if isinstance(stmt, Assign) and stmt.value.op == "local" and stmt.value.data == name:
            yield stmt.name


def _writes(body: Sequence[Stmt]) -> Iterator[Write]:
    for stmt in body:
        if isinstance(stmt, Write):
            yield stmt
        elif isinstance(stmt, If):
            yield from _writes((*stmt.then, *stmt.orelse))


def _and(left: Expr, right: Expr) -> Expr:
    return right if left == TRUE else Expr("and", BOOL, (left, right))


def _if(test: Expr, then: Expr, orelse: Expr) -> Expr:
    if test == TRUE or then == orelse:
        return then
    return Expr("if", t.join((then.type, orelse.type)), (test, then, orelse))
