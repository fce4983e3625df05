"""Loops of helpers, as expressions that carry the locals they assign from round to round.

`for` is a fold; one that may end early carries a flag, and the rounds after it change nothing.
`while` is a loop node, whose last value says whether it goes on. A value returned from inside is
carried as a sequence of at most one, so that no value has to stand for "none yet".
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from refute.frozen import frozen
from refute.specs.machine import types as t
from refute.specs.machine.comprehensions import Comprehensions
from refute.specs.machine.expressions import BOOL, constant, number
from refute.specs.machine.ir import Expr
from refute.specs.machine.scope import Scope

End = Callable[[], Expr]
NONE_YET = Expr("seq", t.SeqOf(t.NEVER, 0))
ROUNDS = 6  # of looking for the types of what a loop carries


@frozen
class Ways:
    """What comes after a body: at its end, on `break` and `continue`, with a returned value.

    end None: a `return` must come first. leave, again None: not in a loop.
    """

    end: End | None = None
    leave: End | None = None
    again: End | None = None
    value: Callable[[Expr], Expr] = lambda found: found


def loop(
    calls: Comprehensions, node: ast.For | ast.While, rest: list[ast.stmt], ways: Ways
) -> Expr:
    """A loop, and the statements after it. Raises Unsupported."""
    made = _Loop(calls, node, ways)
    whole, walk = made.walked()
    result = calls.build.fresh("looped")
    calls.scope.env = {**calls.scope.env, **parts(made.carried, whole, result)}
    inner = made.after(rest)
    return Expr("let", inner.type, (walk, inner), result)


class _Loop:
    """One loop: the names it carries, and what each way out of a round gives for them."""

    def __init__(self, calls: Comprehensions, node: ast.For | ast.While, ways: Ways) -> None:
        self.calls, self.node, self.ways = calls, node, ways
        self.flag, self.result = calls.build.fresh(" flag"), calls.build.fresh(" result")
        scope = calls.scope
        self.source = None if isinstance(node, ast.While) else calls.collection(node.iter)
        self.elem: t.Type = t.NEVER
        if isinstance(node, ast.For) and self.source is not None:
            self.elem = calls.element(self.source, node.iter)
            scope.fixed_order(node.iter, self.source)
            self._check_names(node)
        self.names = [name for name in assigned(node.body) if name in scope.env]
        self.returns = _holds(node.body, ast.Return)
        self.ends = isinstance(node, ast.While) or self.returns or _breaks(node)
        self.carried = [*self.names, *([self.result] if self.returns else [])]
        self.carried += [self.flag] if self.ends else []

    def _check_names(self, node: ast.For) -> None:
        scope = self.calls.scope
        targets = (n.target for n in ast.walk(node) if isinstance(n, ast.For))
        leaks = {n.id for x in targets for n in ast.walk(x) if isinstance(n, ast.Name)}
        used = leaks & set(scope.env)
        if used:
            what = f"the loop over {min(used)}, a name in use,"
            raise scope.refuse(node, what, "another name")

    def walked(self) -> tuple[t.Tuple, Expr]:
        """The loop as one expression, and the types of what it carries."""
        scope = self.calls.scope
        first: dict[str, Expr] = {name: scope.env[name] for name in self.names}
        first |= {self.result: NONE_YET} if self.returns else {}
        first |= {self.flag: constant(True, BOOL)} if self.ends else {}
        kinds = {name: value.type for name, value in first.items()}
        for number_of_round in range(ROUNDS):
            names, body = self._round(kinds, first)
            found = dict(zip(kinds, _items(body.type), strict=True))
            if all(t.included(found[n], kinds[n]) for n in kinds):
                break
            kinds = {n: self._wider(n, kinds[n], found[n], number_of_round) for n in kinds}
        else:
            what = "a loop whose locals have no common type"
            raise scope.refuse(self.node, what, "one type for each")
        start = Expr("tuple", t.Tuple(tuple(v.type for v in first.values())), tuple(first.values()))
        whole = t.Tuple(tuple(kinds.values()))
        if self.source is None:
            return whole, Expr("loop", whole, (start, body), tuple(names))
        return whole, Expr("fold", whole, (self.source, start, body), tuple(names))

    def _wider(self, name: str, known: t.Type, found: t.Type, round_: int) -> t.Type:
        """The type to try next; a value returned from inside stays a sequence of at most one."""
        kind = t.join((known, found))
        if name != self.result:
            return t.widened(kind)
        elem = kind.elem if isinstance(kind, t.SeqOf) else t.NEVER
        return t.SeqOf(elem if round_ < 2 else t.widened(elem), 1)

    def _round(
        self, kinds: Mapping[str, t.Type], first: Mapping[str, Expr]
    ) -> tuple[list[str], Expr]:
        """One round: the names of its element and of what is carried, and their values after."""
        calls, scope, build = self.calls, self.calls.scope, self.calls.build
        before = scope.names()
        made = {name: build.fresh(name.strip()) for name in kinds}
        for name, kind in kinds.items():
            build.note(made[name], first[name])
            scope.env[name] = Expr("local", kind, (), made[name])
        names = list(made.values())
        if isinstance(self.node, ast.For):
            item = build.fresh("each")
            calls.bind(self.node.target, Expr("local", self.elem, (), item))
            names.insert(0, item)
        body = self._body(list(kinds))
        scope.restore(before)
        return names, body

    def _body(self, names: list[str]) -> Expr:
        calls, scope, node = self.calls, self.calls.scope, self.node

        def values(goes_on: bool = True, result: Expr | None = None) -> Expr:
            flag = constant(goes_on, BOOL)
            special = {self.flag: flag, **({self.result: result} if result is not None else {})}
            return values_of(scope, names, special, node)

        def found(value: Expr) -> Expr:
            return values(False, Expr("seq", t.SeqOf(value.type, 1), (value,)))

        inner = Ways(values, lambda: values(False), values, found)
        body = list(node.body)
        if isinstance(node, ast.While):
            test = calls.truth(node.test)
            stop = values(False)
            more = calls.returned(body, node, inner)
            return Expr("if", t.join((more.type, stop.type)), (test, more, stop))
        flag = scope.env.get(self.flag) if self.ends else None
        still = values_of(scope, names) if flag is not None else None
        made = calls.returned(body, node, inner)
        if flag is None or still is None:
            return made
        return Expr("if", t.join((made.type, still.type)), (flag, made, still))

    def after(self, rest: list[ast.stmt]) -> Expr:
        """What follows the loop; a value returned inside is returned here."""
        calls, scope = self.calls, self.calls.scope
        env = dict(scope.env)
        result, flag = env.get(self.result), env.get(self.flag)
        before = scope.names()
        body = [*self.node.orelse, *rest]
        inner = calls.returned(body, self.node, self.ways) if not _ended(rest, self) else None
        if self.node.orelse and _breaks(self.node) and flag is not None:
            scope.restore(before)
            inner = self._else(rest, flag)
        scope.restore(before)
        if not self.returns or result is None:
            assert inner is not None
            return inner
        elem = result.type.elem if isinstance(result.type, t.SeqOf) else t.NEVER
        value = self.ways.value(Expr("index", elem, (result, number(0))))
        if inner is None:
            return value
        some = Expr(">", BOOL, (Expr("len", t.Int(0, 1), (result,)), number(0)))
        return Expr("if", t.join((value.type, inner.type)), (some, value, inner))

    def _else(self, rest: list[ast.stmt], flag: Expr) -> Expr:
        """`else` on a loop: what follows where no `break` was met."""
        if isinstance(self.node, ast.While):
            what = "else on a while loop with break"
            raise self.calls.scope.refuse(self.node, what, "a local that says it")
        before = self.calls.scope.names()
        whole = self.calls.returned([*self.node.orelse, *rest], self.node, self.ways)
        self.calls.scope.restore(before)
        broken = self.calls.returned(rest, self.node, self.ways)
        return Expr("if", t.join((whole.type, broken.type)), (flag, whole, broken))


def _ended(rest: list[ast.stmt], made: _Loop) -> bool:
    """Whether nothing can follow the loop: `while True` that only a return leaves."""
    node = made.node
    endless = isinstance(node, ast.While) and isinstance(node.test, ast.Constant)
    return endless and made.returns and not _breaks(node) and not rest and made.ways.end is None


def values_of(
    scope: Scope,
    names: list[str],
    special: Mapping[str, Expr] | None = None,
    node: ast.AST | None = None,
) -> Expr:
    """The values of these names now, as a tuple. node: a loop, whose values may not be loose."""
    given = special or {}
    values = tuple(given.get(name, scope.env[name]) for name in names)
    for name, value in zip(names, values, strict=True):
        if node is not None and scope.build.is_loose(value):
            what = f"{name}, which may become a builtin set in a loop,"
            raise scope.refuse(node, what, "Set(…) around it")
    return Expr("tuple", t.Tuple(tuple(v.type for v in values)), values)


def parts(names: list[str], whole: t.Tuple, local: str) -> dict[str, Expr]:
    """The names as parts of a tuple that a local holds."""
    value = Expr("local", whole, (), local)
    return {
        name: Expr("index", kind, (value, number(at)))
        for at, (name, kind) in enumerate(zip(names, whole.items, strict=True))
    }


def assigned(body: list[ast.stmt]) -> list[str]:
    """The names that statements assign, in the order of the source."""
    found = [n for s in body for n in ast.walk(s) if isinstance(n, ast.Name)]
    named = [n.id for n in found if isinstance(n.ctx, ast.Store)]
    captures = [n.name for s in body for n in ast.walk(s) if isinstance(n, ast.MatchAs) and n.name]
    return list(dict.fromkeys([*named, *captures]))


def leaves(node: ast.stmt) -> bool:
    """Whether a way through the statement goes elsewhere than on to the next one."""
    return _holds([node], ast.Return) or _breaks(node, ast.Break | ast.Continue)


def returns(node: ast.stmt) -> bool:
    """Whether a `return` is inside."""
    return _holds([node], ast.Return)


def _holds(body: Sequence[ast.stmt], kind: Any) -> bool:
    """Whether a statement of this kind is inside, other than in a nested function."""
    return any(
        isinstance(s, kind)
        or (not isinstance(s, ast.FunctionDef) and _holds([*_body(s), *_orelse(s)], kind))
        for s in body
    )


def _breaks(node: ast.stmt, kind: Any = ast.Break) -> bool:
    """Whether a `break` inside leaves this loop, and not one inside it."""
    body = [*_body(node), *([] if isinstance(node, ast.For | ast.While) else _orelse(node))]
    return any(
        isinstance(s, kind)
        or (_holds(_orelse(s), kind) if isinstance(s, ast.For | ast.While) else _breaks(s, kind))
        for s in body
    )


def _body(node: ast.stmt) -> list[ast.stmt]:
    cases = [s for case in getattr(node, "cases", ()) for s in case.body]
    return [*getattr(node, "body", ()), *cases]


def _orelse(node: ast.stmt) -> list[ast.stmt]:
    return list(getattr(node, "orelse", ()))


def _items(kind: t.Type) -> tuple[t.Type, ...]:
    return kind.items if isinstance(kind, t.Tuple) else ()
