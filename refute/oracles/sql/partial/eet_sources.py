"""FROM written otherwise: rules of EET about joins, and about tables as subqueries.

Each keeps the bag of rows, and names, affinities and collations of the columns that the rest of the
query uses. A table under its own name may become a subquery or a CTE with all its columns, which
hand both on, unless the rowid is used, which they have not. What a rule cannot be sure of it leaves
alone: `*` where FROM changes, names without their table where they could come to mean another
column, USING and NATURAL.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from sqlglot import exp

from refute.fuzz.sql.nodes import everything
from refute.fuzz.sql.text import Node
from refute.oracles.sql.partial.columns import Scope
from refute.oracles.sql.partial.predicates import columns_of, predicate
from refute.oracles.sql.partial.tables import ROWIDS
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
    on_of,
    only_inner,
    plain_join,
    side,
    swapped,
    unknown,
    where,
    windowed,
    with_on,
    with_where,
)

Rule = Callable[[Scope, Node, random.Random], Node | None]
"""The same SELECT, or whole query, in another way; None where it cannot be."""


def joins_of(select: Node) -> list[Node]:
    """The joins, in a list of their own."""
    return list(select.args.get("joins") or ())


def has_star(select: Node) -> bool:
    """Whether a result column is `*`, or that of a table."""
    return any(isinstance(o, exp.Star) or isinstance(o.this, exp.Star) for o in select.expressions)


def all_named(node: Node) -> bool:
    """Whether every column comes with its table."""
    return all(n.table for n in everything(node) if isinstance(n, exp.Column))


def output_names(select: Node) -> list[str]:
    """The names of the result columns, where each has one of its own; else none."""
    names = [o.alias_or_name for o in select.expressions]
    return names if all(names) and len(set(names)) == len(names) and not has_star(select) else []


def everything_of(source: Node, condition: Node | None = None) -> Node:
    """SELECT * of an item of FROM."""
    clause = None if condition is None else make(exp.Where, this=condition)
    return make(
        exp.Select,
        expressions=[exp.Star()],
        from_=make(exp.From, this=source),
        where=clause,
    )


def column(source: str, of: str) -> Node:
    """A column by its full name."""
    return make(exp.Column, this=name(of), table=name(source))


def plain_tables(select: Node) -> list[Node]:
    """The tables of FROM that nothing but a name and an alias belongs to."""
    if any(isinstance(n, exp.Column) and n.name.lower() in ROWIDS for n in everything(select)):
        return []
    found: list[Node] = []
    for item in items(select):
        given = {k for k, v in item.args.items() if v}
        if isinstance(item, exp.Table) and given <= {"this", "alias"}:
            found.append(item)
    return found


def unaliased(table: Node) -> Node:
    """The table under its own name."""
    return changed(table, alias=None)


def where_in_on(scope: Scope, select: Node, rng: random.Random) -> Node | None:
    """WHERE as a part of the last ON, of inner joins."""
    condition, joins = where(select), joins_of(select)
    if condition is None or not joins or not only_inner(select):
        return None
    joins[-1] = with_on(joins[-1], conjunction(on_of(joins[-1]), condition))
    return changed(select, joins=joins, where=None)


def on_in_where(scope: Scope, select: Node, rng: random.Random) -> Node | None:
    """The ON of inner joins as parts of WHERE."""
    joins = joins_of(select)
    conditions = [on_of(join) for join in joins]
    if not any(c is not None for c in conditions) or not only_inner(select):
        return None
    condition = conjunction(*conditions, where(select))
    return with_where(changed(select, joins=[with_on(j, None) for j in joins]), condition)


def other_order(scope: Scope, select: Node, rng: random.Random) -> Node | None:
    """Inner joins in reversed order."""
    joins = joins_of(select)
    if not joins or not only_inner(select) or has_star(select):
        return None
    condition = conjunction(*map(on_of, joins), where(select))
    sources = list(reversed(list(items(select))))
    how = {"kind": "CROSS"} if rng.random() < 0.5 else {"comma": True}
    crossed = [make(exp.Join, this=source, **how) for source in sources]
    first = make(exp.From, this=sources[0])
    return with_where(changed(select, from_=first, joins=crossed[1:]), condition)


def left_as_inner_and_rest(scope: Scope, select: Node, rng: random.Random) -> Node | None:
    """The pairs that match, and the left rows for which nothing does."""
    joins = joins_of(select)
    if not joins or grouped(select) or windowed(select) or select.args.get("distinct"):
        return None
    last, on = joins[-1], on_of(joins[-1])
    if side(last) != "LEFT" or not plain_join(last) or on is None or not all_named(on):
        return None
    inner = make(exp.Join, this=last.this, kind="INNER", on=on)
    partner = make(
        exp.Select,
        expressions=[literal(1)],
        from_=make(exp.From, this=last.this),
        where=make(exp.Where, this=on),
    )
    alone = conjunction(where(select), negated(make(exp.Exists, this=partner)))
    never = changed(last, on=make(exp.EQ, this=literal(1), expression=literal(0)))
    matching = changed(select, joins=[*joins[:-1], inner])
    return together(matching, with_where(changed(select, joins=[*joins[:-1], never]), alone))


def right_as_left(scope: Scope, select: Node, rng: random.Random) -> Node | None:
    """RIGHT JOIN, the first of the joins, as LEFT JOIN the other way round."""
    joins = joins_of(select)
    if not joins or side(joins[0]) != "RIGHT" or not all(map(plain_join, joins)):
        return None
    if has_star(select):
        return None
    join = changed(joins[0], this=select.args["from_"].this, side="LEFT")
    first = make(exp.From, this=joins[0].this)
    return changed(select, from_=first, joins=[join, *joins[1:]])


def full_as_left_and_rest(scope: Scope, select: Node, rng: random.Random) -> Node | None:
    """The rows of the LEFT JOIN, and the right rows for which nothing matches."""
    joins = joins_of(select)
    if len(joins) != 1 or side(joins[0]) != "FULL" or not plain_join(joins[0]):
        return None
    on, first = on_of(joins[0]), select.args["from_"].this
    if grouped(select) or windowed(select) or select.args.get("distinct") or has_star(select):
        return None
    if on is None or not all_named(on):
        return None
    partner = make(
        exp.Select,
        expressions=[literal(1)],
        from_=make(exp.From, this=first),
        where=make(exp.Where, this=on),
    )
    alone = conjunction(where(select), negated(make(exp.Exists, this=partner)))
    left = changed(select, joins=[changed(joins[0], side="LEFT")])
    never = make(exp.EQ, this=literal(1), expression=literal(0))
    join = changed(joins[0], this=first, side="LEFT", on=never)
    rest = changed(select, from_=make(exp.From, this=joins[0].this), joins=[join])
    return together(left, with_where(rest, alone))


def together(left: Node, right: Node) -> Node:
    """UNION ALL; a WITH is that of both."""
    clause = left.args.get("with_")
    return make(
        exp.Union,
        this=changed(left, with_=None),
        expression=changed(right, with_=None),
        distinct=False,
        with_=clause,
    )


def one_row_more(scope: Scope, select: Node, rng: random.Random) -> Node | None:
    """A CROSS JOIN with one row."""
    if has_star(select) or select.args.get("from_") is None:
        return None
    one = make(exp.Alias, this=literal(1), alias=name("eet_one"))
    source = derived(make(exp.Select, expressions=[one]), "eet_row")
    return changed(select, joins=[*joins_of(select), make(exp.Join, this=source, kind="CROSS")])


def tables_as_subqueries(scope: Scope, select: Node, rng: random.Random) -> Node | None:
    """Each table as a subquery for all of it."""
    tables = plain_tables(select)
    by = {id(t): derived(everything_of(unaliased(t)), t.alias_or_name) for t in tables}
    return swapped(select, by) if by else None


def table_as_cte(scope: Scope, select: Node, rng: random.Random) -> Node | None:
    """The first table as a CTE for all of it."""
    tables = plain_tables(select)
    clause = select.args.get("with_")
    if not tables or (clause is not None and clause.args.get("recursive")):
        return None
    table = tables[0]
    before = list(clause.expressions) if clause is not None else []
    alias = make(exp.TableAlias, this=name("eet_cte"))
    cte = make(exp.CTE, this=everything_of(unaliased(table)), alias=alias)
    other = make(
        exp.Table, this=name("eet_cte"), alias=make(exp.TableAlias, this=name(table.alias_or_name))
    )
    made = swapped(select, {id(table): other})
    return changed(made, with_=make(exp.With, expressions=[*before, cte]))


def table_in_parts(scope: Scope, select: Node, rng: random.Random) -> Node | None:
    """UNION ALL of the rows where a condition is true, false and NULL."""
    tables = plain_tables(select)
    if not tables or scope.relation(tables[0]) is None:
        return None
    table = unaliased(tables[0])
    alone = make(exp.Select, expressions=[literal(1)], from_=make(exp.From, this=table))
    condition = predicate(rng, columns_of(alone, scope), 0)
    if condition is None:
        return None
    parts = [condition, negated(condition), unknown(condition)]
    whole = everything_of(table, parts[0])
    for part in parts[1:]:
        whole = together(whole, everything_of(table, part))
    return swapped(select, {id(tables[0]): derived(whole, tables[0].alias_or_name)})


def condition_pushed_down(scope: Scope, select: Node, rng: random.Random) -> Node | None:
    """A part of WHERE that is about one table alone, inside of a subquery for that table."""
    condition = where(select)
    if condition is None or not only_inner(select):
        return None
    parts = list(_conjuncts(condition))
    for table in plain_tables(select):
        alias = table.alias_or_name
        for part in parts:
            columns = [n for n in everything(part) if isinstance(n, exp.Column)]
            inside = any(isinstance(n, exp.Query) for n in everything(part))
            if inside or not columns or any(c.table != alias for c in columns):
                continue
            filtered = everything_of(table, part)
            rest = conjunction(*(p for p in parts if p is not part))
            made = swapped(select, {id(table): derived(filtered, alias)})
            return with_where(made, rest)
    return None


def _conjuncts(condition: Node) -> Iterator[Node]:
    while type(condition) is exp.Paren and not condition.args.get("plus"):
        condition = condition.this
    if isinstance(condition, exp.And):
        yield from _conjuncts(condition.this)
        yield from _conjuncts(condition.expression)
    else:
        yield condition


def subquery_as_cte(scope: Scope, select: Node, rng: random.Random) -> Node | None:
    """A subquery in FROM as a CTE."""
    clause = select.args.get("with_")
    before = list(clause.expressions) if clause is not None else []
    if clause is not None and clause.args.get("recursive"):
        return None
    taken = {n.name.lower() for n in everything(select) if isinstance(n, exp.Table)}
    for item in items(select):
        low = item.alias.lower() if isinstance(item, exp.Subquery) else ""
        if not low or low in taken or item.args.get("joins"):
            continue
        cte = make(exp.CTE, this=item.this, alias=make(exp.TableAlias, this=name(item.alias)))
        made = swapped(select, {id(item): make(exp.Table, this=name(item.alias))})
        return changed(made, with_=make(exp.With, expressions=[*before, cte]))
    return None
