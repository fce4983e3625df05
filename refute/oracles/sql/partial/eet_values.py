"""Values written otherwise: rules of EET.

Each keeps the value, and where it counts (`places`) affinity and collation. The sources of the
less obvious ones, in SQLite's documentation: `CASE x WHEN y` compares as `x = y` (lang_expr), +x is
still a column for its collation but has no affinity (datatype3, 7.1).
"""

from __future__ import annotations

from sqlglot import exp

from refute.fuzz.sql.nodes import everything
from refute.fuzz.sql.text import Node
from refute.oracles.sql.partial.columns import Scope
from refute.oracles.sql.partial.eet_conditions import (
    Rule,
    case,
    has_collation,
    looks_around,
)
from refute.oracles.sql.partial.places import Place
from refute.oracles.sql.partial.tables import NONE, NUMBERS
from refute.oracles.sql.partial.trees import (
    bare,
    changed,
    literal,
    make,
    negated,
    parens,
    plus,
    unknown,
)


def _wrappable(scope: Scope, place: Place, dialect: str) -> bool:
    """Whether a value may get something around it that keeps nothing but the value."""
    node = bare(place.node)
    if isinstance(node, exp.Tuple | exp.Null | exp.Star) or has_collation(node):
        return False
    if isinstance(node, exp.Literal) and node.is_string and dialect != "sqlite":
        return False  # its type is what stands beside it
    if place.position == "condition" or (isinstance(node, exp.Subquery) and place.inside):
        return False
    return place.position == "free" or scope.kind(node) == (NONE, NONE)


def _same_branches(scope: Scope, place: Place, dialect: str) -> Node | None:
    node = place.node
    if not _wrappable(scope, place, dialect):
        return None
    return parens(case((unknown(node), node), default=node))


def _coalesced(scope: Scope, place: Place, dialect: str) -> Node | None:
    node = place.node
    if not _wrappable(scope, place, dialect):
        return None
    return make(exp.Coalesce, this=node, expressions=[node])


def _null_if_null(scope: Scope, place: Place, dialect: str) -> Node | None:
    if not _wrappable(scope, place, dialect):
        return None
    return make(exp.Nullif, this=place.node, expression=exp.Null())


def _selected(scope: Scope, place: Place, dialect: str) -> Node | None:
    node = place.node
    if place.inside or not _wrappable(scope, place, dialect):
        return None
    if any(map(looks_around, everything(node))):
        return None
    if any(isinstance(n, exp.Column) and not n.table for n in everything(node)):
        return None
    return make(exp.Subquery, this=make(exp.Select, expressions=[node]))


def _hidden_constant(scope: Scope, place: Place, dialect: str) -> Node | None:
    """A constant that is compared, behind a CASE that no index sees through."""
    if not isinstance(bare(place.node), exp.Literal | exp.Neg) or place.position != "compared":
        return None
    return _same_branches(scope, place, dialect)


def _spelled_coalesce(scope: Scope, place: Place, dialect: str) -> Node | None:
    node = place.node
    if not isinstance(node, exp.Coalesce) or not node.expressions or has_collation(node):
        return None
    values = [node.this, *node.expressions]
    arms = ((negated(unknown(v)), v) for v in values[:-1])
    return parens(case(*arms, default=values[-1]))


def _searched_case(scope: Scope, place: Place, dialect: str) -> Node | None:
    node = place.node
    base = node.args.get("this") if isinstance(node, exp.Case) else None
    if base is None:
        return None
    arms = (
        (make(exp.EQ, this=parens(base), expression=parens(arm.this)), arm.args["true"])
        for arm in node.args["ifs"]
    )
    return parens(case(*arms, default=node.args.get("default")))


def _without_affinity(scope: Scope, place: Place, dialect: str) -> Node | None:
    """+x for a column, where nothing is converted anyway, so that no index fits any more."""
    node = place.node
    if dialect != "sqlite":
        return None
    if isinstance(node, exp.Column) and place.position == "free" and not plus(node):
        return None if place.inside else make(exp.Paren, this=node, plus=True)
    if not isinstance(node, exp.EQ | exp.NEQ | exp.LT | exp.LTE | exp.GT | exp.GTE):
        return None
    left, right = bare(node.this), bare(node.expression)
    classes = [_class(scope, operand) for operand in (left, right)]
    if "" in classes or classes[0] != classes[1]:
        return None
    sides = (
        make(exp.Paren, this=o, plus=True) if isinstance(o, exp.Column) else o
        for o in (left, right)
    )
    return make(type(node), **dict(zip(("this", "expression"), sides, strict=True)))


def _class(scope: Scope, node: Node) -> str:
    """Of a column of a table or a constant: whether it is of numbers or texts."""
    if isinstance(node, exp.Column):
        kind = scope.kind(node)
        if kind is None or not scope.stored(node):
            return ""
        return "number" if kind[0] in NUMBERS else "text" if kind[0] == "TEXT" else ""
    if isinstance(node, exp.Neg):
        node = node.this
    if isinstance(node, exp.Literal):
        return "text" if node.is_string else "number"
    return ""


def _counted(scope: Scope, place: Place, dialect: str) -> Node | None:
    """COUNT(x) as a sum of ones."""
    node = place.node
    if not isinstance(node, exp.Count) or isinstance(node.this, exp.Distinct) or place.inside:
        return None
    if node.expressions or place.position == "condition":
        return None
    star = isinstance(node.this, exp.Star)
    one = literal(1) if star else case((unknown(node.this), literal(0)), default=literal(1))
    added = make(exp.Sum, this=one)
    return make(exp.Coalesce, this=added, expressions=[literal(0)])


def _filtered(scope: Scope, place: Place, dialect: str) -> Node | None:
    """FILTER as a CASE inside, for aggregates that leave NULL out."""
    node = place.node
    if not isinstance(node, exp.Filter):
        return None
    call, condition = node.this, node.expression.this
    if isinstance(call, exp.Count) and isinstance(call.this, exp.Star):
        return changed(call, this=case((condition, literal(1)), default=None))
    if not isinstance(call, exp.Count | exp.Sum | exp.Avg) or call.expressions:
        return None
    if isinstance(call.this, exp.Distinct | exp.Literal) or has_collation(call.this):
        return None
    return changed(call, this=case((condition, call.this), default=None))


RULES: dict[str, Rule] = {
    "CASE of one value": _same_branches,
    "COALESCE of one value": _coalesced,
    "NULLIF of NULL": _null_if_null,
    "value as subquery": _selected,
    "constant hidden": _hidden_constant,
    "COALESCE as CASE": _spelled_coalesce,
    "CASE searched": _searched_case,
    "no affinity": _without_affinity,
    "COUNT as SUM": _counted,
    "FILTER as CASE": _filtered,
}
WRAPPING = frozenset(
    {"CASE of one value", "COALESCE of one value", "NULLIF of NULL", "value as subquery"}
)
"""Rules that fit nearly every value, and so are used for whole values or for columns only."""
