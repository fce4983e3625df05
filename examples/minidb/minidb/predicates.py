"""Expressions that decide: comparisons, AND, OR, NOT, IS, BETWEEN, IN, EXISTS, LIKE.

Their results are 1, 0 and NULL, the last for unknown; logic.py says what follows from unknown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from sqlglot import exp

from minidb.affinity import compared_as, converted
from minidb.collation import fold_of, identity
from minidb.comparing import collation_of, comparison, inheriting, same
from minidb.errors import NotSupportedError, OperationalError
from minidb.expressions import Handler
from minidb.logic import conjunction, disjunction, membership, negation
from minidb.scalars import matches_glob, matches_like
from minidb.scope import Builder, Code, Evaluate, Query, Scope
from minidb.syntax import bare, expect
from minidb.values import Value, truth

T = TypeVar("T")


def as_value(decided: bool | None) -> Value:
    """A decision as the integer that SQL has for it."""
    return None if decided is None else int(decided)


def compared(sign: str) -> Handler:
    """The handler of a comparison operator."""

    def handler(builder: Builder, node: exp.Expr, scope: Scope) -> Code:
        return comparison(
            sign, builder.code(node.this, scope), builder.code(node.expression, scope)
        )

    return handler


def both(builder: Builder, node: exp.Expr, scope: Scope) -> Code:
    """`x AND y`; y is not looked at where x is false."""
    left, right = builder.code(node.this, scope), builder.code(node.expression, scope)
    first, second = left.evaluate, right.evaluate

    def evaluate() -> Value:
        decided = truth(first())
        return 0 if decided is False else as_value(conjunction(decided, truth(second())))

    return inheriting(evaluate, left, right)


def either(builder: Builder, node: exp.Expr, scope: Scope) -> Code:
    """`x OR y`; y is not looked at where x is true."""
    left, right = builder.code(node.this, scope), builder.code(node.expression, scope)
    first, second = left.evaluate, right.evaluate

    def evaluate() -> Value:
        decided = truth(first())
        return 1 if decided is True else as_value(disjunction(decided, truth(second())))

    return inheriting(evaluate, left, right)


def opposite(builder: Builder, node: exp.Expr, scope: Scope) -> Code:
    """`NOT x`, which is also what NOT IN, NOT LIKE, NOT BETWEEN and IS NOT are made of."""
    operand = builder.code(node.this, scope)
    evaluate = operand.evaluate
    return inheriting(lambda: as_value(negation(truth(evaluate()))), operand)


def is_known(builder: Builder, node: exp.Expr, scope: Scope) -> Code:
    """`x IS NULL`, `x IS TRUE`, `x IS FALSE`."""
    operand, other = builder.code(node.this, scope), bare(node.expression)
    evaluate = operand.evaluate
    if isinstance(other, exp.Null):
        return inheriting(lambda: int(evaluate() is None), operand)
    if isinstance(other, exp.Boolean):
        wanted = bool(other.this)
        return inheriting(lambda: int(truth(evaluate()) is wanted), operand)
    return same(operand, builder.code(other, scope), True)


def is_same(builder: Builder, node: exp.Expr, scope: Scope) -> Code:
    """`x IS y`."""
    return same(builder.code(node.this, scope), builder.code(node.expression, scope), True)


def is_other(builder: Builder, node: exp.Expr, scope: Scope) -> Code:
    """`x IS NOT y`."""
    return same(builder.code(node.this, scope), builder.code(node.expression, scope), False)


def between(builder: Builder, node: exp.Expr, scope: Scope) -> Code:
    """`x BETWEEN low AND high` is `x >= low AND x <= high`."""
    expect(node, "this", "low", "high")
    operand, low, high = (builder.code(node.args[part], scope) for part in ("this", "low", "high"))
    above, below = comparison(">=", operand, low), comparison("<=", operand, high)
    first, second = above.evaluate, below.evaluate
    return inheriting(
        lambda: as_value(conjunction(truth(first()), truth(second()))), operand, low, high
    )


def is_in(builder: Builder, node: exp.Expr, scope: Scope) -> Code:
    """`x IN (…)` over a list or a subquery."""
    expect(node, "this", "expressions", "query")
    operand = builder.code(node.this, scope)
    if node.args.get("query") is not None:
        return _in_query(operand, builder.query(node.args["query"], scope))
    items = [builder.code(item, scope) for item in node.expressions]
    affinity, fold = compared_as(operand.affinity, None), operand.fold
    readings = [item.evaluate for item in items]

    def members() -> list[Value]:
        return [identity(converted(read(), affinity), fold) for read in readings]

    fixed = all(isinstance(bare(item), exp.Literal | exp.Null) for item in node.expressions)
    known = members() if fixed else None
    read = operand.evaluate

    def evaluate() -> Value:
        found = members() if known is None else known
        value = identity(converted(read(), affinity), fold)
        return _membership(value, found)

    return inheriting(evaluate, operand, *items)


def _membership(value: Value, members: set[Value] | list[Value]) -> Value:
    """Whether the value is among the members: unknown is in nothing but also not out of it."""
    if not members:
        return 0
    if value is None:
        return None
    return as_value(membership(value in members, None in members))


def _in_query(operand: Code, query: Query) -> Code:
    if len(query.columns) != 1:
        raise OperationalError(f"sub-select returns {len(query.columns)} columns - expected 1")
    column = query.codes[0]
    affinity = compared_as(operand.affinity, column.affinity)
    fold = fold_of(collation_of(operand, column))
    read = operand.evaluate
    known: Once[set[Value]] = Once(query)

    def members() -> set[Value]:
        return {identity(converted(row[0], affinity), fold) for row in query.rows()}

    def evaluate() -> Value:
        value = identity(converted(read(), affinity), fold)
        return _membership(value, known.get(members))

    return inheriting(evaluate, operand)


class Once(Generic[T]):
    """An answer of a subquery, kept for the statement if the subquery reads no row around it."""

    def __init__(self, query: Query) -> None:
        self._keeps = not query.depends
        self._kept: list[T] = []

    def get(self, compute: Callable[[], T]) -> T:
        """The kept answer, or what `compute` returns."""
        if self._kept:
            return self._kept[0]
        answer = compute()
        if self._keeps:
            self._kept.append(answer)
        return answer


def exists(builder: Builder, node: exp.Expr, scope: Scope) -> Code:
    """`EXISTS (…)`."""
    expect(node, "this")
    query = builder.query(node.this, scope)
    known: Once[Value] = Once(query)
    return Code(lambda: known.get(lambda: int(query.any())))


def scalar(builder: Builder, node: exp.Expr, scope: Scope) -> Code:
    """A subquery as a value: the first column of its first row, NULL if it has none."""
    expect(node, "this")
    query = builder.query(node.this, scope)
    if len(query.columns) != 1:
        raise OperationalError(f"sub-select returns {len(query.columns)} columns - expected 1")
    known: Once[Value] = Once(query)
    return Code(lambda: known.get(lambda: next(query.rows(), (None,))[0]), query.codes[0].affinity)


def like(builder: Builder, node: exp.Expr, scope: Scope) -> Code:
    """`x LIKE pattern`."""
    return _pattern(builder, node, scope, None)


def escaped(builder: Builder, node: exp.Expr, scope: Scope) -> Code:
    """`x LIKE pattern ESCAPE mark`."""
    if not isinstance(node.this, exp.Like):
        raise NotSupportedError(f"ESCAPE after {node.this.key}")
    return _pattern(builder, node.this, scope, builder.code(node.expression, scope))


def _pattern(builder: Builder, node: exp.Expr, scope: Scope, mark: Code | None) -> Code:
    expect(node, "this", "expression", "negate")
    text, pattern = builder.code(node.this, scope), builder.code(node.expression, scope)
    read, sought = text.evaluate, pattern.evaluate
    escape: list[Evaluate] = [mark.evaluate] if mark else []

    def evaluate() -> Value:
        found = truth(matches_like(sought(), read(), *[letter() for letter in escape]))
        return as_value(negation(found) if node.args.get("negate") else found)

    return inheriting(evaluate, text, pattern)


def globbed(builder: Builder, node: exp.Expr, scope: Scope) -> Code:
    """`x GLOB pattern`."""
    expect(node, "this", "expression")
    text, pattern = builder.code(node.this, scope), builder.code(node.expression, scope)
    read, sought = text.evaluate, pattern.evaluate
    return inheriting(lambda: matches_glob(sought(), read()), text, pattern)


HANDLERS: dict[type[exp.Expr], Handler] = {
    exp.EQ: compared("="),
    exp.NEQ: compared("<>"),
    exp.LT: compared("<"),
    exp.LTE: compared("<="),
    exp.GT: compared(">"),
    exp.GTE: compared(">="),
    exp.And: both,
    exp.Or: either,
    exp.Not: opposite,
    exp.Is: is_known,
    exp.NullSafeEQ: is_same,
    exp.NullSafeNEQ: is_other,
    exp.Between: between,
    exp.In: is_in,
    exp.Exists: exists,
    exp.Subquery: scalar,
    exp.Like: like,
    exp.Escape: escaped,
    exp.Glob: globbed,
}
