"""Conditions and comparisons written otherwise: rules of EET.

Each keeps the value, and where it counts (`places`) affinity and collation. The sources of the
less obvious ones, in SQLite's documentation: `x IN (a, b)` is `x = +a OR x = +b` (datatype3, 4.1),
BETWEEN is two comparisons (datatype3, 4.2), rows are compared element by element (rowvalue).
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from refute.fuzz.sql.nodes import everything
from refute.fuzz.sql.text import Node
from refute.oracles.sql.partial.columns import Scope
from refute.oracles.sql.partial.places import Place
from refute.oracles.sql.partial.tables import NONE, PLAIN, UNDEFINED, UNSURE
from refute.oracles.sql.partial.trees import (
    bare,
    changed,
    is_aggregate,
    literal,
    make,
    negated,
    parens,
    unknown,
)

Rule = Callable[[Scope, Place, str], Node | None]
"""What may stand in a place, None for no change. The last argument is the engine's dialect."""

_OPPOSITE: dict[type[Node], type[Node]] = {
    exp.EQ: exp.NEQ,
    exp.NEQ: exp.EQ,
    exp.LT: exp.GTE,
    exp.GTE: exp.LT,
    exp.GT: exp.LTE,
    exp.LTE: exp.GT,
}
_MIRRORED: dict[type[Node], type[Node]] = {
    exp.EQ: exp.EQ,
    exp.NEQ: exp.NEQ,
    exp.LT: exp.GT,
    exp.GT: exp.LT,
    exp.LTE: exp.GTE,
    exp.GTE: exp.LTE,
}


def case(*arms: tuple[Node, Node], default: Node | None) -> Node:
    """A searched CASE."""
    ifs = [make(exp.If, this=condition, true=value) for condition, value in arms]
    return make(exp.Case, ifs=ifs, default=default)


def both(left: Node, right: Node) -> Node:
    """Both conditions."""
    return make(exp.And, this=parens(left), expression=parens(right))


def either(*conditions: Node) -> Node:
    """Any of the conditions."""
    found = parens(conditions[0])
    for condition in conditions[1:]:
        found = make(exp.Or, this=found, expression=parens(condition))
    return found


def has_collation(node: Node) -> bool:
    """Whether there is a COLLATE in it."""
    return any(isinstance(n, exp.Collate) for n in everything(node))


def looks_around(node: Node) -> bool:
    """Whether it is an aggregate or a window."""
    return is_aggregate(node) or isinstance(node, exp.Window)


def _double_negation(scope: Scope, place: Place, dialect: str) -> Node | None:
    return negated(negated(place.node)) if place.position == "condition" else None


def _and_true(scope: Scope, place: Place, dialect: str) -> Node | None:
    node = place.node
    if place.position != "condition":
        return None
    return both(node, either(node, negated(node), unknown(node)))


def _or_false(scope: Scope, place: Place, dialect: str) -> Node | None:
    node = place.node
    if place.position != "condition":
        return None
    return either(node, both(both(node, negated(node)), negated(unknown(node))))


def _as_case(scope: Scope, place: Place, dialect: str) -> Node | None:
    node = place.node
    if place.position != "condition":
        return None
    arms = (node, literal(1)), (negated(node), literal(0))
    return parens(case(*arms, default=exp.Null()))


def _de_morgan(scope: Scope, place: Place, dialect: str) -> Node | None:
    node = place.node
    if type(node) not in (exp.And, exp.Or):
        return None
    kind = exp.Or if isinstance(node, exp.And) else exp.And
    left, right = negated(node.this), negated(node.expression)
    return negated(make(kind, this=parens(left), expression=parens(right)))


def _exchanged_logic(scope: Scope, place: Place, dialect: str) -> Node | None:
    node = place.node
    if type(node) not in (exp.And, exp.Or):
        return None
    return parens(make(type(node), this=parens(node.expression), expression=parens(node.this)))


def _negated_comparison(scope: Scope, place: Place, dialect: str) -> Node | None:
    kind = _OPPOSITE.get(type(place.node))
    if kind is None:
        return None
    return parens(negated(make(kind, this=place.node.this, expression=place.node.expression)))


def _split_comparison(scope: Scope, place: Place, dialect: str) -> Node | None:
    left, right = place.node.this, place.node.args.get("expression")
    if isinstance(left, exp.Tuple) or isinstance(right, exp.Subquery):
        return None
    if isinstance(place.node, exp.EQ):
        pair = (make(kind, this=left, expression=right) for kind in (exp.LTE, exp.GTE))
        return parens(both(*pair))
    if isinstance(place.node, exp.NEQ):
        return parens(either(*(make(k, this=left, expression=right) for k in (exp.LT, exp.GT))))
    return None


def _mirrored_comparison(scope: Scope, place: Place, dialect: str) -> Node | None:
    """y > x for x < y, where both sides have the same collation or only one has any."""
    kind = _MIRRORED.get(type(place.node))
    if kind is None or isinstance(place.node.this, exp.Tuple):
        return None
    left, right = place.node.this, place.node.expression
    one, other = scope.kind(left), scope.kind(right)
    if one is None or other is None:
        return None
    if one[1] != other[1] and NONE not in (one[1], other[1]) and not {one[1], other[1]} <= PLAIN:
        return None
    return parens(make(kind, this=right, expression=left))


def _between(scope: Scope, place: Place, dialect: str) -> Node | None:
    node = place.node
    if not isinstance(node, exp.Between) or node.args.get("symmetric"):
        return None
    low = make(exp.GTE, this=node.this, expression=node.args["low"])
    high = make(exp.LTE, this=node.this, expression=node.args["high"])
    return parens(both(low, high))


def _in_list(scope: Scope, place: Place, dialect: str) -> Node | None:
    node = place.node
    if not isinstance(node, exp.In) or not node.expressions or isinstance(node.this, exp.Tuple):
        return None
    left = node.this
    equal = []
    for item in node.expressions:
        if has_collation(item):
            return None  # it does not count in a list, but would in a comparison
        right = item
        if dialect == "sqlite" and not isinstance(bare(item), exp.Literal | exp.Null | exp.Neg):
            right = make(exp.Coalesce, this=item, expressions=[exp.Null()])
        equal.append(make(exp.EQ, this=left, expression=right))
    return parens(either(*equal))


def _in_query(scope: Scope, place: Place, dialect: str) -> Node | None:
    """EXISTS, with the NULL of IN where there is no match but a NULL on either side."""
    node = place.node
    query = node.args.get("query") if isinstance(node, exp.In) else None
    if query is None or isinstance(node.this, exp.Tuple) or has_collation(node.this):
        return None
    made = scope.output(query)
    if made is None or len(made.columns) != 1 or not made.columns[0].name:
        return None
    column = made.columns[0]
    kind = scope.kind(node.this)
    if kind is None or column.affinity in ("?", UNDEFINED):
        return None
    if kind[1] in (NONE, UNSURE) and column.collation not in PLAIN:
        return None  # IN takes the collation of its left side, or none
    if any(isinstance(c, exp.Column) and not c.table for c in everything(node.this)):
        return None
    value = make(
        exp.Column,
        this=exp.Identifier(this=column.name, quoted=False),
        table=exp.Identifier(this="eet_in", quoted=False),
    )
    source = make(
        exp.Subquery,
        this=query.this if isinstance(query, exp.Subquery) else query,
        alias=make(exp.TableAlias, this=exp.Identifier(this="eet_in", quoted=False)),
    )
    some, equal, null = (
        make(exp.Exists, this=make(exp.Select, expressions=[literal(1)], from_=frm, where=where))
        for frm in [make(exp.From, this=source)]
        for where in (
            None,
            make(exp.Where, this=make(exp.EQ, this=node.this, expression=value)),
            make(exp.Where, this=unknown(value)),
        )
    )
    arms = (equal, literal(1)), (both(some, either(unknown(node.this), null)), exp.Null())
    return parens(case(*arms, default=literal(0)))


def _exists(scope: Scope, place: Place, dialect: str) -> Node | None:
    node = place.node
    query = node.this if isinstance(node, exp.Exists) else None
    if not isinstance(query, exp.Select):
        return None
    odd = ("group", "having", "limit", "offset", "distinct", "with_")
    if any(query.args.get(name) for name in odd) or any(
        is_aggregate(n) or isinstance(n, exp.Window)
        for o in query.expressions
        for n in everything(o)
    ):
        return None
    counted = make(exp.Count, this=exp.Star(), big_int=True)
    number = make(exp.Subquery, this=changed(query, expressions=[counted], order=None))
    return parens(make(exp.GT, this=number, expression=literal(0)))


def _null_safe(scope: Scope, place: Place, dialect: str) -> Node | None:
    node = place.node
    if not isinstance(node, exp.NullSafeEQ | exp.NullSafeNEQ) or isinstance(node.this, exp.Tuple):
        return None
    left, right = node.this, node.expression
    if isinstance(_inside(right), exp.Boolean | exp.Null) or isinstance(_inside(left), exp.Boolean):
        return None
    neither = both(unknown(left), unknown(right))
    same = make(exp.EQ, this=left, expression=right)
    yes, no = (0, 1) if isinstance(node, exp.NullSafeNEQ) else (1, 0)
    return parens(case((neither, literal(yes)), (same, literal(yes)), default=literal(no)))


def _inside(node: Node) -> Node:
    """The node without parentheses and COLLATE, under which SQLite's IS TRUE is none of values."""
    node = bare(node)
    while isinstance(node, exp.Collate):
        node = bare(node.this)
    return node


def _row_values(scope: Scope, place: Place, dialect: str) -> Node | None:
    """Comparisons of rows, element by element."""
    node = place.node
    left, right = node.args.get("this"), node.args.get("expression")
    if not isinstance(left, exp.Tuple) or not isinstance(right, exp.Tuple):
        return None
    ones, others = left.expressions, right.expressions
    if len(ones) != len(others) or len(ones) < 2:
        return None
    pairs = list(zip(ones, others, strict=True))
    null_safe = isinstance(node, exp.NullSafeEQ | exp.NullSafeNEQ)
    if null_safe and any(isinstance(_inside(n), exp.Boolean) for n in (*ones, *others)):
        return None  # alone it would be IS TRUE, which asks for no value
    if isinstance(node, exp.EQ | exp.NullSafeEQ):
        kind = type(node)
        found = make(kind, this=ones[0], expression=others[0])
        for one, other in pairs[1:]:
            found = both(found, make(kind, this=one, expression=other))
        return parens(found)
    if isinstance(node, exp.NEQ | exp.NullSafeNEQ):
        return parens(either(*(make(type(node), this=a, expression=b) for a, b in pairs)))
    if not isinstance(node, exp.LT | exp.LTE | exp.GT | exp.GTE):
        return None
    strict = exp.LT if isinstance(node, exp.LT | exp.LTE) else exp.GT
    found = make(type(node), this=pairs[-1][0], expression=pairs[-1][1])
    for one, other in reversed(pairs[:-1]):
        before = make(strict, this=one, expression=other)
        found = either(before, both(make(exp.EQ, this=one, expression=other), found))
    return parens(found)


RULES: dict[str, Rule] = {
    "NOT NOT": _double_negation,
    "AND true": _and_true,
    "OR false": _or_false,
    "condition as CASE": _as_case,
    "De Morgan": _de_morgan,
    "AND and OR exchanged": _exchanged_logic,
    "comparison negated": _negated_comparison,
    "comparison split": _split_comparison,
    "comparison mirrored": _mirrored_comparison,
    "BETWEEN as comparisons": _between,
    "IN as OR": _in_list,
    "IN as EXISTS": _in_query,
    "EXISTS as COUNT": _exists,
    "IS as CASE": _null_safe,
    "rows by elements": _row_values,
}
