"""Places: where in a query an expression stands, and what of it counts there.

In SQLite an expression is more than its value: as an operand of a comparison its affinity and its
collation count as well, and both are lost when something is put around it. So each expression is
told with one of these:

* "condition": only whether it is true, false or NULL counts;
* "free": only its value counts: operands of arithmetic, arguments of most functions, branches of
  CASE, result columns where nothing compares them;
* "compared": operands of comparisons, IN, BETWEEN, CASE x; arguments of MIN and MAX; result columns
  of DISTINCT, of compound and inner queries, whose affinity is handed on.

Keys of GROUP BY and ORDER BY, windows, and LIMIT are left alone, with what stands in them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from sqlglot import exp

from refute.fuzz.sql.text import Node
from refute.oracles.sql.partial.trees import below, is_aggregate, items, plus

Position = Literal["condition", "free", "compared"]


class Place(NamedTuple):
    """An expression, how it stands, and whether an aggregate is computed from it."""

    node: Node
    position: Position
    inside: bool = False


COMPARISONS = (
    *(exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE),
    *(exp.NullSafeEQ, exp.NullSafeNEQ),
)
_ARITHMETIC = (
    *(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.DPipe, exp.Neg),
    *(exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseLeftShift, exp.BitwiseRightShift, exp.BitwiseNot),
)
_FUNCTIONS = (
    *(exp.Length, exp.Upper, exp.Lower, exp.Typeof, exp.Abs, exp.Substring, exp.Coalesce),
    *(exp.Round, exp.Trim, exp.Hex, exp.Unicode, exp.Like),
)
_NAMED = frozenset({"SUBSTR", "ROUND", "TRIM", "INSTR", "REPLACE", "HEX", "QUOTE", "UNICODE"})


def places(query: Node) -> Iterator[Place]:
    """All places of a query without ORDER BY and LIMIT at its end, from the outside in."""
    yield from _query(query, free=True)


def _query(query: Node, *, free: bool) -> Iterator[Place]:
    while isinstance(query, exp.Subquery):
        query = query.this
    clause = query.args.get("with_")
    for cte in clause.expressions if clause is not None else ():
        yield from _query(cte.this, free=False)
    if isinstance(query, exp.SetOperation):
        free = free and isinstance(query, exp.Union) and not query.args.get("distinct")
        yield from _query(query.this, free=free)
        yield from _query(query.expression, free=free)
    elif isinstance(query, exp.Select):
        yield from _select(query, free)


def _select(select: Node, free: bool) -> Iterator[Place]:
    group = select.args.get("group")
    named = group is not None and any(
        not isinstance(k, exp.Column) or not k.table for k in group.expressions
    )
    free = free and not select.args.get("distinct") and not named
    for output in select.expressions:
        yield from _value(output.unalias(), "free" if free else "compared", inside=False)
    for item in items(select):
        if isinstance(item, exp.Subquery):
            yield from _query(item.this, free=False)
    conditions = [
        j.args.get("on") for j in select.args.get("joins") or () if not j.args.get("alone")
    ]
    for clause in (select.args.get("where"), select.args.get("having")):
        conditions.append(None if clause is None else clause.this)
    for condition in conditions:
        if condition is not None:
            yield from _value(condition, "condition", inside=False)


def _value(node: Node, position: Position, *, inside: bool) -> Iterator[Place]:
    """An expression and what is in it."""
    if isinstance(node, exp.Star | exp.Window | exp.Distinct | exp.Values):
        return
    if isinstance(node, exp.Query):
        yield Place(node, position, inside)
        yield from _query(node, free=False)
        return
    if isinstance(node, exp.Tuple):
        yield from _children(node, "compared", inside)
        return
    if isinstance(node, exp.Collate):
        yield from _value(node.this, "compared", inside=inside)
        return
    yield Place(node, position, inside)
    if isinstance(node, exp.Paren):
        yield from _value(node.this, "compared" if plus(node) else position, inside=inside)
    elif isinstance(node, exp.And | exp.Or | exp.Not):
        yield from _children(node, "condition", inside)
    elif isinstance(node, exp.Is):
        yield from _value(node.this, "compared", inside=inside)
    elif isinstance(node, exp.Exists):
        yield from _query(node.this, free=True)
    elif isinstance(node, exp.In):
        yield from _in(node, inside)
    elif isinstance(node, exp.Case):
        yield from _case(node, inside)
    elif isinstance(node, exp.Cast):
        yield from _value(node.this, position, inside=inside)
    elif isinstance(node, exp.Filter):
        yield from _arguments(node.this)
        yield from _value(node.expression.this, "condition", inside=True)
    elif is_aggregate(node):
        yield from _arguments(node)
    elif isinstance(node, _ARITHMETIC):
        if not isinstance(node, exp.Neg) or not isinstance(node.this, exp.Literal):
            yield from _children(node, "free", inside)
    elif isinstance(node, _FUNCTIONS) or (
        isinstance(node, exp.Anonymous) and node.name.upper() in _NAMED
    ):
        yield from _children(node, "free", inside)
    elif isinstance(node, (*COMPARISONS, exp.Between, exp.Nullif)):
        yield from _children(node, "compared", inside)


def _arguments(call: Node) -> Iterator[Place]:
    """What an aggregate is computed from."""
    if isinstance(call, exp.Min | exp.Max):
        yield from _children(call, "compared", inside=True)
    elif not any(isinstance(n, exp.Distinct) for n in below(call)):
        yield from _children(call, "free", inside=True)


def _children(node: Node, position: Position, inside: bool) -> Iterator[Place]:
    for child in below(node):
        yield from _value(child, position, inside=inside)


def _in(node: Node, inside: bool) -> Iterator[Place]:
    yield from _value(node.this, "compared", inside=inside)
    for item in node.expressions:
        yield from _value(item, "compared", inside=inside)
    query = node.args.get("query")
    if query is not None:
        yield from _query(query, free=False)


def _case(node: Node, inside: bool) -> Iterator[Place]:
    base = node.args.get("this")
    if base is not None:
        yield from _value(base, "compared", inside=inside)
    for arm in node.args["ifs"]:
        yield from _value(arm.this, "condition" if base is None else "compared", inside=inside)
        yield from _value(arm.args["true"], "free", inside=inside)
    default = node.args.get("default")
    if default is not None:
        yield from _value(default, "free", inside=inside)
