"""Conditions of SQLite written for another engine: comparisons, IN, BETWEEN, IS, AND, OR, NOT.

Comparisons follow SQLite's conversions by affinity. A number and a text that stays one never meet
in the other engine: a number is smaller than every text, so the answer is known.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sqlglot import exp

from refute.fuzz.sql.nodes import binary, make, unary
from refute.fuzz.sql.text import Node
from refute.oracles.sql.transpile.kinds import (
    BLOB,
    INT,
    NULL,
    NUM,
    NUMBERS,
    REAL,
    TEXT,
    WIDE_DOUBT,
    Column,
    Inexpressible,
    Typed,
    Unresolved,
    number_of,
)
from refute.oracles.sql.transpile.scopes import Scope
from refute.oracles.sql.transpile.targets import Target
from refute.oracles.sql.transpile.values import COMPARED, Values
from refute.oracles.sql.transpile.writer import cast, integer, paren


class Conditions(Values):
    """Rewrites conditions."""

    def __init__(self, target: Target) -> None:
        super().__init__(target)
        self._truths: dict[type[Node], Callable[[Any, Scope], Node]] = {
            exp.Paren: lambda node, scope: unary(exp.Paren, self.truth(node.this, scope)),
            exp.And: self._chain,
            exp.Or: self._chain,
            exp.Not: self._not,
            exp.Boolean: lambda node, _: make(exp.Boolean, this=node.this),
            exp.Null: lambda node, _: self._unknown(),
            exp.Is: self._is,
            exp.In: self._in,
            exp.Between: self._between,
            exp.Exists: lambda node, scope: make(
                exp.Exists, this=self.query(bare(node.this), scope)[0]
            ),
            **dict.fromkeys((exp.Like, exp.Glob, exp.Escape), self.pattern),
            **dict.fromkeys(COMPARED, self._comparison),
        }

    def truth(self, node: Node, scope: Scope) -> Node:
        """The expression where a condition is wanted. Raises Inexpressible and Unresolved."""
        rewrite = self._truths.get(type(node))
        if rewrite is not None:
            return rewrite(node, scope)
        typed = self.numeric(self.value(node, scope))
        return make(exp.NEQ, this=paren(typed.node), expression=integer(0))

    @abc.abstractmethod
    def type_nulls(self, query: Node, place: int, kind: str) -> None:
        """Have a column that is NULL in every row be of another type."""

    @abc.abstractmethod
    def pattern(self, node: Node, scope: Scope) -> Node:
        """LIKE and GLOB."""

    def _not(self, node: exp.Not, scope: Scope) -> Node:
        inner = self.truth(node.this, scope)
        return unary(exp.Not, inner if type(inner) is exp.Paren else unary(exp.Paren, inner))

    def _unknown(self) -> Node:
        return cast(make(exp.Null), self.target.boolean) if self.target.boolean else make(exp.Null)

    def _chain(self, node: Node, scope: Scope) -> Node:
        """AND or OR of two; long chains go left, so that is where this loops."""
        kind = type(node)
        rights = []
        while type(node) is kind:
            rights.append(node.expression)
            node = node.this
        shown = self.truth if kind is exp.Or else self._tighter
        made = shown(node, scope)
        for right in reversed(rights):
            other = shown(right, scope)  # AND inside of OR needs no parentheses, and engines count
            made = binary(kind, made, _loose(other) if type(other) is kind else other)
        return made

    def _tighter(self, node: Node, scope: Scope) -> Node:
        return _loose(self.truth(node, scope))

    def _comparison(self, node: Node, scope: Scope) -> Node:
        kind, negate = type(node), False
        if kind is exp.NullSafeNEQ:
            kind, negate = exp.NullSafeEQ, True
        if isinstance(node.this, exp.Tuple) or isinstance(node.expression, exp.Tuple):
            left_row, right_row = self.row(node.this, scope), self.row(node.expression, scope)
            made = self.compared_rows(kind, left_row, right_row)
        else:
            left, right = self.value(node.this, scope), self.value(node.expression, scope)
            made = self.compared(kind, left, right)
        return make(exp.Not, this=make(exp.Paren, this=made)) if negate else made

    def _is(self, node: exp.Is, scope: Scope) -> Node:
        operand = node.expression
        if isinstance(operand, exp.Null):
            made: Node = make(
                exp.Is, this=paren(self.value(node.this, scope).node), expression=make(exp.Null)
            )
        elif isinstance(operand, exp.Boolean):  # IS TRUE is about truth, unlike IS 1
            made = make(exp.Is, this=paren(self.truth(node.this, scope)), expression=operand.copy())
        else:
            left, right = self.value(node.this, scope), self.value(operand, scope)
            made = self.compared(exp.NullSafeEQ, left, right)
        return make(exp.Not, this=make(exp.Paren, this=made)) if node.args.get("negate") else made

    def compared(self, kind: type[Node], left: Typed, right: Typed) -> Node:
        """A comparison, after SQLite's conversions by affinity (datatype3.html, section 4.2)."""
        left, right = self.matched(left, right)
        if _comparable(left, right):
            common = self._common(left, right)
            a, b = self.as_kind(left, common), self.as_kind(right, common)
            return binary(kind, paren(a), paren(b))
        return self._decided(kind, left, right)

    def _common(self, *typed: Typed) -> str:
        """The kind that NULL gets beside these."""
        kinds = {t.kind for t in typed} - {NULL}
        if len(kinds) > 1:
            self.doubts.add(WIDE_DOUBT)
        return TEXT if TEXT in kinds else kinds.pop() if len(kinds) == 1 else INT

    def matched(self, left: Typed, right: Typed) -> tuple[Typed, Typed]:
        """Both after conversion; a text that stays one beside a number is of the kind text."""
        numbers = (INT, REAL, NUM)
        for one, other, order in ((left, right, 1), (right, left, -1)):
            if (
                one.affinity in numbers
                and other.kind == TEXT
                and other.affinity in ("", TEXT, BLOB)
            ):
                if not isinstance(other.constant, str):
                    raise Inexpressible("a comparison of numbers with texts")
                number = number_of(other.constant)
                if number is not None:
                    other = self.number(number)
            elif one.affinity == TEXT and other.kind in numbers and not other.affinity:
                if not isinstance(other.constant, int):
                    raise Inexpressible("a comparison of numbers with texts")
                other = self.literal(make(exp.Literal, this=str(other.constant), is_string=True))
            else:
                continue
            return (one, other) if order == 1 else (other, one)
        return left, right

    def _decided(self, kind: type[Node], left: Typed, right: Typed) -> Node:
        """A comparison of a number with a text: the number is the smaller one, unless NULL."""
        if BLOB in (left.kind, right.kind):
            raise Inexpressible("a comparison of blobs")
        smaller = left.kind != TEXT
        results: dict[type[Node], bool] = {
            exp.EQ: False, exp.NullSafeEQ: False, exp.NEQ: True,
            exp.LT: smaller, exp.LTE: smaller, exp.GT: not smaller, exp.GTE: not smaller,
        }  # fmt: skip
        known: Node = make(exp.Boolean, this=results[kind])
        nulls: list[Node] = [
            make(exp.Is, this=paren(t.node), expression=make(exp.Null))
            for t in (left, right)
            if t.constant is None
        ]
        if kind is exp.NullSafeEQ and len(nulls) == 2:  # no value is both, but NULL is
            return make(exp.Paren, this=make(exp.And, this=nulls[0], expression=nulls[1]))
        if kind is exp.NullSafeEQ or not nulls:
            return known
        test = nulls[0] if len(nulls) == 1 else make(exp.Or, this=nulls[0], expression=nulls[1])
        return make(exp.Case, ifs=[make(exp.If, this=test, true=self._unknown())], default=known)

    # Row values, which are compared one value after another

    def row(self, node: Node, scope: Scope) -> list[Typed]:
        """The values of a row. Raises Inexpressible for what is no list of values."""
        if not isinstance(node, exp.Tuple):
            raise Inexpressible("a comparison of rows with a subquery")
        return [self.value(value, scope) for value in node.expressions]

    def compared_rows(
        self, kind: type[Node], left: Sequence[Typed], right: Sequence[Typed]
    ) -> Node:
        """A comparison of two rows (rowvalue.html, section 2.1), each value named once or twice."""
        if len(left) != len(right):
            raise Unresolved("rows of different widths")
        pairs = list(zip(left, right, strict=True))
        if kind in (exp.EQ, exp.NullSafeEQ):
            return self._all(self.compared(kind, *pair) for pair in pairs)
        if kind is exp.NEQ:
            return make(exp.Not, this=self._all(self.compared(exp.EQ, *pair) for pair in pairs))
        strict = exp.LT if kind is exp.LTE else exp.GT if kind is exp.GTE else kind
        made = self.compared(kind, *pairs[-1])
        for one, other in reversed(pairs[:-1]):
            equal = self.compared(exp.EQ, _again(one), _again(other))
            rest = make(exp.And, this=_loose(equal), expression=_loose(made))
            made = make(
                exp.Or, this=_loose(self.compared(strict, one, other)), expression=_loose(rest)
            )
        return make(exp.Paren, this=made)

    def _all(self, tests: Iterable[Node]) -> Node:
        made, *others = tests
        made = _loose(made)
        for test in others:
            made = make(exp.And, this=made, expression=_loose(test))
        return make(exp.Paren, this=made)

    def _row_between(self, node: exp.Between, scope: Scope) -> Node:
        rows = [node.this, node.args["low"], node.args["high"]]
        above = self.compared_rows(exp.GTE, *(self.row(r, scope) for r in rows[:2]))
        below = self.compared_rows(exp.LTE, *(self.row(r, scope) for r in (rows[0], rows[2])))
        return self._all((above, below))

    def _row_in(self, node: exp.In, scope: Scope) -> Node:
        """A row among those of a list."""
        values = node.expressions
        if len(values) == 1 and isinstance(values[0], exp.Values):
            values = values[0].expressions
        if not values:
            return self._row_in_query(node, scope)
        tests = []
        for value in values:
            left, right = self.row(node.this, scope), self.row(value, scope)
            plain = [typed._replace(affinity="") for typed in right]
            tests.append(self.compared_rows(exp.EQ, left, plain))
        made = tests[0]
        for test in tests[1:]:
            made = make(exp.Or, this=made, expression=test)
        return make(exp.Paren, this=made)

    def _row_in_query(self, node: exp.In, scope: Scope) -> Node:
        """A row among those of a subquery, value by value of the same kind."""
        inner = node.args.get("query")
        if inner is None or "row-in" in self.target.lacks:
            raise Inexpressible("a comparison of rows with a subquery")
        row = self.row(node.this, scope)
        query, columns = self.query(bare(inner), scope)
        if len(row) != len(columns):
            raise Unresolved("rows of different widths")
        shown = []
        for place, (left, column) in enumerate(zip(row, columns, strict=True)):
            right = Typed(query, column.kind, column.affinity)
            if self.matched(left, right) != (left, right) or not _comparable(left, right):
                raise Inexpressible("a comparison of numbers with texts")
            kind = self._common(left, right)
            shown.append(self.as_kind(left, kind))
            if right.kind == NULL:
                self.type_nulls(query, place, kind)
        row_of = make(exp.Tuple, expressions=shown)
        return make(exp.In, this=row_of, query=make(exp.Subquery, this=query))

    def _between(self, node: exp.Between, scope: Scope) -> Node:
        if isinstance(node.this, exp.Tuple):
            return self._row_between(node, scope)
        this = self.value(node.this, scope)
        low, high = (self.value(node.args[end], scope) for end in ("low", "high"))
        ends = [self.matched(this, end) for end in (low, high)]
        alike = _comparable(low, high) and all(_comparable(*pair) for pair in ends)
        if alike and all(one is this for one, _ in ends):
            common = self._common(this, low, high)
            shown = [paren(self.as_kind(other, common)) for _, other in ends]
            of = paren(self.as_kind(this, common))
            return make(exp.Between, this=of, low=shown[0], high=shown[1])
        above, below = self.compared(exp.GTE, this, low), self.compared(exp.LTE, this, high)
        return make(exp.Paren, this=make(exp.And, this=_loose(above), expression=_loose(below)))

    def _in(self, node: exp.In, scope: Scope) -> Node:
        if isinstance(node.this, exp.Tuple):
            return self._row_in(node, scope)
        left = self.value(node.this, scope)
        field, query = node.args.get("field"), node.args.get("query")
        if field is not None:
            source = unary(exp.From, make(exp.Table, this=field.this))
            query = make(exp.Select, expressions=[make(exp.Star)], from_=source)
        if query is not None:
            return self._in_query(left, self.query(bare(query), scope))
        items = [self.value(item, scope)._replace(affinity="") for item in node.expressions]
        if not items:
            return make(exp.Boolean, this=False)
        pairs = [self.matched(left, item) for item in items]
        alike = all(_comparable(items[0], item) for item in items)
        if alike and all(one is left and _comparable(one, other) for one, other in pairs):
            common = self._common(left, *items)
            shown = [self.as_kind(other, common) for _, other in pairs]
            return make(exp.In, this=paren(self.as_kind(left, common)), expressions=shown)
        tests = [self.compared(exp.EQ, left, item) for item in items]
        made = _loose(tests[0])
        for test in tests[1:]:
            made = make(exp.Or, this=made, expression=_loose(test))
        return make(exp.Paren, this=made)

    def _in_query(self, left: Typed, found: tuple[Node, list[Column]]) -> Node:
        query, columns = found
        if len(columns) != 1:
            raise Inexpressible("a comparison of rows")
        right = Typed(query, columns[0].kind, columns[0].affinity)
        left, right = self.matched(left, right)
        if not _comparable(left, right):
            raise Inexpressible("a comparison of numbers with texts")
        kind = self._common(left, right)
        if right.kind == NULL:
            self.type_nulls(query, 0, kind)
        return make(
            exp.In, this=paren(self.as_kind(left, kind)), query=make(exp.Subquery, this=query)
        )


def _comparable(left: Typed, right: Typed) -> bool:
    kinds = {left.kind, right.kind} - {NULL}
    return len(kinds) < 2 or kinds <= NUMBERS


def _again(typed: Typed) -> Typed:
    """The value for a second place in the tree."""
    return typed._replace(node=typed.node.copy())


def _loose(node: Node) -> Node:
    """An operand of AND or OR: what binds less is put in parentheses.

    So is IS NOT DISTINCT FROM, whose right side takes AND along in DataFusion.
    """
    return (
        make(exp.Paren, this=node) if isinstance(node, exp.And | exp.Or | exp.NullSafeEQ) else node
    )


def bare(node: Node) -> Node:
    """The query in a subquery without an alias."""
    while isinstance(node, exp.Subquery) and not isinstance(node.this, exp.Table):
        node = node.this
    return node
