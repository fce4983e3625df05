"""Clauses written otherwise: rules of EET about groups, duplicates, compound and whole queries.

Each keeps the bag of rows, not their order. Those about FROM are in `eet_sources`.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from sqlglot import exp

from refute.fuzz.sql.text import Node
from refute.oracles.sql.partial import eet_sources
from refute.oracles.sql.partial.columns import Scope
from refute.oracles.sql.partial.eet_sources import (
    Rule,
    all_named,
    column,
    everything_of,
    has_star,
    output_names,
)
from refute.oracles.sql.partial.tables import NONE, NUMBERS, PLAIN, UNDEFINED, UNSURE, Relation
from refute.oracles.sql.partial.trees import (
    changed,
    conjunction,
    derived,
    grouped,
    items,
    literal,
    make,
    name,
    negated,
    own,
    parens,
    swapped,
    windowed,
)

# Groups and duplicates.


def _distinct_as_groups(scope: Scope, select: Node, rng: random.Random) -> Node | None:
    if not select.args.get("distinct") or grouped(select) or windowed(select) or has_star(select):
        return None
    outputs = [o.unalias() for o in select.expressions]
    if not all(any(isinstance(n, exp.Column) for n in own(o)) for o in outputs):
        return None  # a number would be a place
    if not all(map(all_named, outputs)):
        return None
    return changed(select, distinct=None, group=make(exp.Group, expressions=outputs))


def _distinct_as_union(scope: Scope, select: Node, rng: random.Random) -> Node | None:
    if not select.args.get("distinct"):
        return None
    clause = select.args.get("with_")
    part = changed(select, with_=None)
    return make(exp.Union, this=part, expression=part, distinct=True, with_=clause)


def _having_outside(scope: Scope, select: Node, rng: random.Random) -> Node | None:
    clause, names = select.args.get("having"), output_names(select)
    if clause is None or not names or select.args.get("distinct") or windowed(select):
        return None
    holds = make(exp.Alias, this=parens(clause.this), alias=name("eet_holds"))
    free = changed(select, having=None, expressions=[*select.expressions, holds])
    if not grouped(free):
        return None
    return make(
        exp.Select,
        expressions=[column("eet_groups", n) for n in names],
        from_=make(exp.From, this=derived(free, "eet_groups")),
        where=make(exp.Where, this=column("eet_groups", "eet_holds")),
    )


def _union_as_distinct(scope: Scope, query: Node, rng: random.Random) -> Node | None:
    if not isinstance(query, exp.Union) or not query.args.get("distinct"):
        return None
    if not _is_certain(scope, query):
        return None
    return make(
        exp.Select,
        distinct=exp.Distinct(),
        expressions=[exp.Star()],
        from_=make(exp.From, this=derived(changed(query, distinct=False), "eet_all")),
    )


def _operands_exchanged(scope: Scope, query: Node, rng: random.Random) -> Node | None:
    if not isinstance(query, exp.Union | exp.Intersect):
        return None
    compares = query.args.get("distinct") or isinstance(query, exp.Intersect)
    if compares and not _is_certain(scope, query):
        return None
    if not isinstance(query.expression, exp.Select) or not isinstance(query.this, exp.Select):
        return None  # SQLite has no parentheses around what would become the right operand
    return changed(query, this=query.expression, expression=query.this)


def _compound_as_exists(scope: Scope, query: Node, rng: random.Random) -> Node | None:
    """INTERSECT and EXCEPT as rows for which an equal one exists in the other, or does not."""
    if not isinstance(query, exp.Intersect | exp.Except) or not query.args.get("distinct", True):
        return None
    left, right = scope.output(query.this), scope.output(query.expression)
    pairs = _comparable(left, right)
    if not pairs:
        return None
    equal = conjunction(
        *(
            make(exp.NullSafeEQ, this=column("eet_l", a), expression=column("eet_r", b))
            for a, b in pairs
        )
    )
    other = make(
        exp.Select,
        expressions=[literal(1)],
        from_=make(exp.From, this=derived(query.expression, "eet_r")),
        where=make(exp.Where, this=equal),
    )
    found: Node = make(exp.Exists, this=other)
    if isinstance(query, exp.Except):
        found = negated(found)
    return make(
        exp.Select,
        with_=query.args.get("with_"),
        distinct=exp.Distinct(),
        expressions=[column("eet_l", a) for a, _ in pairs],
        from_=make(exp.From, this=derived(query.this, "eet_l")),
        where=make(exp.Where, this=found),
    )


def _comparable(left: Relation | None, right: Relation | None) -> Sequence[tuple[str, str]]:
    """Pairs of columns that `=` compares as a compound query does: nothing is converted."""
    if left is None or right is None or len(left.columns) != len(right.columns):
        return ()
    for one, other in zip(left.columns, right.columns, strict=True):
        known = {one.affinity, other.affinity}
        if known & {"?", UNDEFINED} or (len(known) > 1 and not known <= NUMBERS):
            return ()
        if "?" in (one.collation, other.collation) or not one.name or not other.name:
            return ()
        if one.collation in (NONE, UNSURE) and other.collation not in PLAIN:
            return ()
    for side_of in (left, right):
        if len({c.name.lower() for c in side_of.columns}) < len(side_of.columns):
            return ()
    pairs = zip(left.columns, right.columns, strict=True)
    return [(a.name, b.name) for a, b in pairs]


# Around the whole.


_MANY = 1_000_000


def _is_certain(scope: Scope, query: Node) -> bool:
    """Whether the columns of a compound query have one affinity and collation each."""
    if not isinstance(query, exp.SetOperation):
        return True
    made = scope.output(query)
    return made is not None and all(
        c.affinity not in ("?", UNDEFINED) and c.collation != "?" for c in made.columns
    )


def _in_subquery(scope: Scope, query: Node, rng: random.Random) -> Node | None:
    if not _is_certain(scope, query):
        return None
    return everything_of(derived(query, "eet_whole"))


def _in_cte(scope: Scope, query: Node, rng: random.Random) -> Node | None:
    if not _is_certain(scope, query):
        return None
    cte = make(exp.CTE, this=query, alias=make(exp.TableAlias, this=name("eet_whole")))
    made = everything_of(make(exp.Table, this=name("eet_whole")))
    return changed(made, with_=make(exp.With, expressions=[cte]))


def _ordered(scope: Scope, query: Node, rng: random.Random) -> Node | None:
    down = rng.random() < 0.5
    term = make(exp.Ordered, this=literal(1), desc=down or None, nulls_first=not down)
    return changed(query, order=make(exp.Order, expressions=[term]))


def _limited(scope: Scope, query: Node, rng: random.Random) -> Node | None:
    return changed(query, limit=make(exp.Limit, expression=literal(_MANY)))


OF_SELECT: dict[str, Rule] = {
    "WHERE in ON": eet_sources.where_in_on,
    "ON in WHERE": eet_sources.on_in_where,
    "other join order": eet_sources.other_order,
    "RIGHT as LEFT": eet_sources.right_as_left,
    "one row joined": eet_sources.one_row_more,
    "tables as subqueries": eet_sources.tables_as_subqueries,
    "table in parts": eet_sources.table_in_parts,
    "condition pushed down": eet_sources.condition_pushed_down,
    "DISTINCT as GROUP BY": _distinct_as_groups,
    "HAVING outside": _having_outside,
}
"""Of any SELECT whose columns may lose nothing but their order of rows."""

OF_ROOT: dict[str, Rule] = {
    "LEFT JOIN as INNER and rest": eet_sources.left_as_inner_and_rest,
    "FULL JOIN as LEFT and rest": eet_sources.full_as_left_and_rest,
    "table as CTE": eet_sources.table_as_cte,
    "subquery as CTE": eet_sources.subquery_as_cte,
    "DISTINCT as UNION": _distinct_as_union,
}
"""Of a SELECT that is the whole query."""

OF_WHOLE: dict[str, Rule] = {
    "UNION as DISTINCT": _union_as_distinct,
    "operands exchanged": _operands_exchanged,
    "compound as EXISTS": _compound_as_exists,
    "whole in a subquery": _in_subquery,
    "whole in a CTE": _in_cte,
    "ORDER BY added": _ordered,
    "LIMIT added": _limited,
}
"""Of any whole query."""


def selects_in(query: Node) -> Iterator[Node]:
    """The SELECTs whose rows may come in another order: parts of the query, and items of FROM."""
    if isinstance(query, exp.Subquery):
        query = query.this
    if query.args.get("limit") or query.args.get("offset"):
        return
    if isinstance(query, exp.SetOperation):
        yield from selects_in(query.this)
        yield from selects_in(query.expression)
    elif isinstance(query, exp.Select):
        yield query
        for item in items(query):
            if isinstance(item, exp.Subquery):
                yield from selects_in(item)


WRAPPING = frozenset({"whole in a subquery", "whole in a CTE", "UNION as DISTINCT"})
"""Rules with `*` around the query: other dialects spell it out, so each column needs a name."""


def rewritten(
    rule: str, scope: Scope, query: Node, rng: random.Random, dialect: str = "sqlite"
) -> Node | None:
    """The query, which has no ORDER BY and LIMIT at its end, by a rule; None if it cannot be."""
    if rule in WRAPPING and dialect != "sqlite" and not output_names(_first(query)):
        return None
    if rule in OF_WHOLE:
        return OF_WHOLE[rule](scope, query, rng)
    if rule in OF_ROOT:
        return OF_ROOT[rule](scope, query, rng) if isinstance(query, exp.Select) else None
    for select in selects_in(query):
        made = OF_SELECT[rule](scope, select, rng)
        if made is not None:
            return swapped(query, {id(select): made})
    return None


def _first(query: Node) -> Node:
    """The SELECT whose names a query's result columns have."""
    while isinstance(query, exp.SetOperation | exp.Subquery):
        query = query.this
    return query


RULES = (*OF_SELECT, *OF_ROOT, *OF_WHOLE)
