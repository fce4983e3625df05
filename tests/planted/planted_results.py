"""Planted wrong results: SQLite with one class of bugs each, as engines have had them.

A class changes a statement's tree before SQLite runs it, or the rows that come of it, or the answer
as a whole. Most look at where in a query something stands, and at what indexes there are, because
that is how optimisers go wrong: `x NOT IN (…, NULL)` is taken apart in WHERE only, an index of a
column misses a row. `CLASSES` has them all; `connect` makes a DB-API connection of one.
"""

from __future__ import annotations

import dataclasses
import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence, Set
from typing import Any

from sqlglot import exp

from refute.fuzz.sql.text import Node, look, read, write

Answer = list[Any]
Setup = Sequence[str]

_INDEX = re.compile(
    r"CREATE (?:UNIQUE )?INDEX \S+ ON (\w+)\s*\((.*)\)(?: WHERE (.*))?$", re.I | re.S
)


@dataclasses.dataclass(frozen=True)
class Class:
    """One class of bugs. says: what is wrong.

    nodes: kinds of which a statement has at least one, or it is answered rightly. query: changes a
    tree of its own in place and says whether it did. rows: changes rows. answer: another answer.
    setup: another text of a statement that changes the database.
    """

    name: str
    says: str
    nodes: tuple[type[Node], ...] = ()
    query: Callable[[Node, Setup], bool] | None = None
    rows: Callable[[Node, list[Any]], list[Any]] | None = None
    answer: Callable[[Node], Answer | None] | None = None
    setup: Callable[[str], str] | None = None

    def applies(self, kinds: Set[type[Node]]) -> bool:
        """Whether a statement with such nodes may be answered wrongly."""
        return not self.nodes or any(kind in kinds for kind in self.nodes)


CLASSES: dict[str, Class] = {}


def _planted(name: str, says: str, *nodes: type[Node]) -> Callable[[Any], Any]:
    """Register a function of a tree and the setup that changes the tree."""

    def register(function: Callable[[Node, Setup], bool]) -> Callable[[Node, Setup], bool]:
        CLASSES[name] = Class(name, says, nodes, query=function)
        return function

    return register


def parsed(sql: str) -> Node:
    """A tree of an SQL fragment."""
    tree = read(f"SELECT {sql}")
    assert isinstance(tree, exp.Select)
    return tree.expressions[0].pop()


def _each(tree: Node, kind: Any, change: Callable[[Any], Node | None]) -> bool:
    """Put what `change` gives in place of each node of the kind, from the inside out."""
    done = False
    for node in reversed(list(tree.find_all(kind))):
        made = change(node)
        if made is None:
            continue
        done = True
        if made is not node and node.parent is not None:
            node.replace(made)
    return done


def _filters(node: Node) -> bool:
    """Whether it stands in WHERE or ON, not deeper than in AND, OR, NOT and parentheses."""
    parent = node.parent
    while isinstance(parent, exp.And | exp.Or | exp.Not | exp.Paren):
        parent = parent.parent
    return isinstance(parent, exp.Where | exp.Join)


def _conjunct(node: Node) -> bool:
    parent = node.parent
    while isinstance(parent, exp.And | exp.Paren):
        parent = parent.parent
    return isinstance(parent, exp.Where)


def _wrapped(template: str, **parts: Node) -> Node:
    """The template with each name in it replaced by a tree."""
    tree = exp.Paren(this=parsed(template))
    for column in list(tree.find_all(exp.Column)):
        if column.name in parts and not column.table:
            column.replace(exp.Paren(this=parts[column.name].copy()))
    return tree


def _indexes(setup: Setup) -> list[tuple[str, str, str]]:
    """Table, first column, and condition of the indexes."""
    found = []
    for sql in setup:
        match = _INDEX.match(sql)
        if match is not None:
            column = re.split(r"[\s,]", match[2])[0]
            found.append((match[1], column, match[3] or ""))
    return found


def _tables(node: Node) -> dict[str, str]:
    """Tables of the SELECT around, by the name they have there."""
    select = node.find_ancestor(exp.Select)
    if select is None or select.args.get("from_") is None:
        return {}
    items = [select.args["from_"].this, *(j.this for j in select.args.get("joins") or ())]
    return {t.alias_or_name: t.name for t in items if isinstance(t, exp.Table)}


# Three-valued logic.


@_planted("not in forgets NULL", "a NULL in the list of NOT IN is passed over, in WHERE", exp.In)
def not_in(tree: Node, setup: Setup) -> bool:
    def change(node: exp.In) -> Node | None:
        if not isinstance(node.parent, exp.Not) or not _filters(node):
            return None
        kept = [e for e in node.expressions if not isinstance(e, exp.Null)]
        if len(kept) == len(node.expressions):
            return None
        node.set("expressions", kept)
        return node

    return _each(tree, exp.In, change)


@_planted("NULL joins NULL", "ON a = b takes two NULLs as equal", exp.Join)
def null_joins(tree: Node, setup: Setup) -> bool:
    def change(node: exp.EQ) -> Node | None:
        if not isinstance(node.parent, exp.Join):
            return None
        return exp.NullSafeEQ(this=node.this.copy(), expression=node.expression.copy())

    return _each(tree, exp.EQ, change)


@_planted("NOT of NULL holds", "WHERE NOT p keeps rows for which p is NULL", exp.Not)
def not_of_null(tree: Node, setup: Setup) -> bool:
    def change(node: exp.Not) -> Node | None:
        if not _conjunct(node) or isinstance(node.this, exp.Is | exp.Exists):
            return None
        return _wrapped("COALESCE(NOT p, 1)", p=node.this)

    return _each(tree, exp.Not, change)


@_planted("OR stops at NULL", "p OR q in WHERE is NULL where p is NULL", exp.Or)
def or_stops(tree: Node, setup: Setup) -> bool:
    def change(node: exp.Or) -> Node | None:
        if not _filters(node):
            return None
        made = "CASE WHEN p IS NULL THEN NULL ELSE p OR q END"
        return _wrapped(made, p=node.this, q=node.expression)

    return _each(tree, exp.Or, change)


@_planted("IS NULL of NOT NULL", "IS NULL of a computed value is false, in WHERE", exp.Is)
def is_null(tree: Node, setup: Setup) -> bool:
    def change(node: exp.Is) -> Node | None:
        plain = isinstance(node.this, exp.Column)
        if plain or not _filters(node) or not isinstance(node.expression, exp.Null):
            return None
        return parsed("(1 = 0)")

    return _each(tree, exp.Is, change)


# Comparisons, conversions, collations.


@_planted("BETWEEN without its end", "x BETWEEN a AND b leaves b out", exp.Between)
def between(tree: Node, setup: Setup) -> bool:
    def change(node: exp.Between) -> Node | None:
        if isinstance(node.this, exp.Tuple):
            return None
        low, high = node.args["low"], node.args["high"]
        return _wrapped("x >= a AND x < b", x=node.this, a=low, b=high)

    return _each(tree, exp.Between, change)


@_planted("LIKE minds case", "LIKE tells capital letters apart", exp.Like)
def like(tree: Node, setup: Setup) -> bool:
    def change(node: exp.Like) -> Node | None:
        if not isinstance(node.expression, exp.Literal):
            return None
        text = node.expression.name.replace("%", "*").replace("_", "?")
        pattern = exp.Literal(this=text, is_string=True)
        return exp.Glob(this=node.this.copy(), expression=pattern)

    return _each(tree, exp.Like, change)


@_planted("collation is lost", "WHERE and ON forget the collation of columns", exp.EQ)
def collation(tree: Node, setup: Setup) -> bool:
    nocase = {n for sql in setup for n in re.findall(r"(\w+) [\w() ]*COLLATE NOCASE", sql)}

    def change(node: exp.EQ) -> Node | None:
        sides = (node.this, node.expression)
        if not _filters(node) and not isinstance(node.parent, exp.Join):
            return None
        if not any(isinstance(s, exp.Column) and s.name in nocase for s in sides):
            return None
        binary = exp.Collate(
            this=exp.Paren(this=node.this.copy()), expression=exp.Var(this="BINARY")
        )
        return exp.EQ(this=binary, expression=node.expression.copy())

    return _each(tree, exp.EQ, change)


@_planted(
    "affinity is lost", "a column in WHERE converts nothing that it is compared with", exp.Where
)
def affinity(tree: Node, setup: Setup) -> bool:
    def change(node: Any) -> Node | None:
        if not _conjunct(node) or not isinstance(node.this, exp.Column):
            return None
        other = node.expression
        if not isinstance(other, exp.Literal | exp.Column):
            return None
        plus = exp.Paren(this=node.this.copy(), plus=True)
        return type(node)(this=plus, expression=other.copy())

    return _each(tree, (exp.EQ, exp.LT, exp.LTE, exp.GT, exp.GTE), change)


@_planted("rows compared at once", "(a, b) < (c, d) is a < c AND b < d", exp.Tuple)
def row_values(tree: Node, setup: Setup) -> bool:
    def change(node: Any) -> Node | None:
        if not isinstance(node.this, exp.Tuple) or not isinstance(node.expression, exp.Tuple):
            return None
        pairs = zip(node.this.expressions, node.expression.expressions, strict=True)
        parts = [type(node)(this=a.copy(), expression=b.copy()) for a, b in pairs]
        made: Node = parts[0]
        for part in parts[1:]:
            made = exp.And(this=made, expression=part)
        return exp.Paren(this=made)

    return _each(tree, (exp.LT, exp.LTE, exp.GT, exp.GTE), change)


@_planted("CAST rounds", "CAST(x AS INTEGER) rounds", exp.Cast)
def cast(tree: Node, setup: Setup) -> bool:
    def change(node: exp.Cast) -> Node | None:
        if node.args["to"].this != exp.DType.INT:
            return None
        return _wrapped("CASE WHEN TYPEOF(x) = 'real' THEN CAST(ROUND(x) AS INTEGER) "
                        "ELSE CAST(x AS INTEGER) END", x=node.this)  # fmt: skip

    return _each(tree, exp.Cast, change)


@_planted("sums wrap", "integers of more than 64 bits wrap around", exp.Add, exp.Sub, exp.Mul)
def wraps(tree: Node, setup: Setup) -> bool:
    def change(node: Any) -> Node | None:
        sign = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*"}[type(node)]
        return _wrapped(
            "CASE WHEN TYPEOF(a) || TYPEOF(b) = 'integerinteger' "
            f"AND TYPEOF(a {sign} b) = 'real' THEN -9223372036854775807 ELSE a {sign} b END",
            a=node.this,
            b=node.expression,
        )

    return _each(tree, (exp.Add, exp.Sub, exp.Mul), change)


@_planted("division by zero", "x / 0 is 0", exp.Div)
def division(tree: Node, setup: Setup) -> bool:
    def change(node: exp.Div) -> Node | None:
        made = "CASE WHEN b = 0 AND a IS NOT NULL THEN 0 ELSE a / b END"
        return _wrapped(made, a=node.this, b=node.expression)

    return _each(tree, exp.Div, change)


@_planted("NULL concatenates", "NULL concatenated with x is x", exp.DPipe)
def concat(tree: Node, setup: Setup) -> bool:
    def change(node: exp.DPipe) -> Node | None:
        made = "COALESCE(a, '') || COALESCE(b, '')"
        return _wrapped(made, a=node.this, b=node.expression)

    return _each(tree, exp.DPipe, change)


@_planted("CASE falls through", "CASE x takes the last arm where x is NULL", exp.Case)
def case(tree: Node, setup: Setup) -> bool:
    def change(node: exp.Case) -> Node | None:
        base = node.args.get("this")
        if base is None:
            return None
        last = exp.If(
            this=exp.Is(this=exp.Paren(this=base.copy()), expression=exp.Null()),
            true=node.args["ifs"][-1].args["true"].copy(),
        )
        arms = [
            exp.If(this=_wrapped("a = b", a=base, b=i.this), true=i.args["true"].copy())
            for i in node.args["ifs"]
        ]
        default = node.args.get("default")
        return exp.Case(ifs=[last, *arms], default=None if default is None else default.copy())

    return _each(tree, exp.Case, change)


@_planted(
    "COALESCE skips",
    "COALESCE of columns takes its last value where the first is NULL",
    exp.Coalesce,
)
def coalesce(tree: Node, setup: Setup) -> bool:
    def change(node: exp.Coalesce) -> Node | None:
        if len(node.expressions) < 2:
            return None
        return exp.Coalesce(this=node.this.copy(), expressions=[node.expressions[-1].copy()])

    return _each(tree, exp.Coalesce, change)


# Indexes.


@_planted("index misses a row", "= on an indexed column does not find the last row", exp.EQ)
def index_misses(tree: Node, setup: Setup) -> bool:
    indexed = {(table, column) for table, column, _ in _indexes(setup)}

    def change(node: exp.EQ) -> Node | None:
        column = node.this
        if not _conjunct(node) or not isinstance(column, exp.Column):
            return None
        table = _tables(node).get(column.table, "")
        if (table, column.name) not in indexed:
            return None
        last = f"a AND {column.table}.{column.name} IS NOT (SELECT MAX({column.name}) FROM {table})"
        return _wrapped(last, a=node)

    return _each(tree, exp.EQ, change)


@_planted("partial index used", "a scan of an indexed table sees the index's rows only", exp.Where)
def partial_index(tree: Node, setup: Setup) -> bool:
    partial = {table: where for table, _, where in _indexes(setup) if where}

    def change(node: exp.Where) -> Node | None:
        tables = _tables(node)
        if len(tables) != 1:
            return None
        [(alias, table)] = tables.items()
        select = node.parent
        if table not in partial or select is None or not isinstance(select, exp.Select):
            return None
        condition = parsed(f"({partial[table]})")
        for column in condition.find_all(exp.Column):
            column.set("table", exp.Identifier(this=alias))
        return exp.Where(this=exp.And(this=exp.Paren(this=node.this.copy()), expression=condition))

    return _each(tree, exp.Where, change)


@_planted("index has NULL below", "< on an indexed column finds its NULLs as well", exp.LT, exp.LTE)
def index_nulls(tree: Node, setup: Setup) -> bool:
    indexed = {(table, column) for table, column, _ in _indexes(setup)}

    def change(node: Any) -> Node | None:
        column = node.this
        if not _conjunct(node) or not isinstance(column, exp.Column):
            return None
        if (_tables(node).get(column.table, ""), column.name) not in indexed:
            return None
        return _wrapped("a OR b IS NULL", a=node, b=column)

    return _each(tree, (exp.LT, exp.LTE), change)


# Joins and subqueries.


@_planted(
    "LEFT JOIN is INNER", "LEFT JOIN drops rows without a partner where there is a WHERE", exp.Join
)
def left_as_inner(tree: Node, setup: Setup) -> bool:
    def change(node: exp.Join) -> Node | None:
        select = node.parent
        if node.side != "LEFT" or select is None or not select.args.get("where"):
            return None
        node.set("side", None)
        node.set("kind", "INNER")
        return node

    return _each(tree, exp.Join, change)


@_planted(
    "WHERE goes into ON",
    "WHERE on the right table of a LEFT JOIN becomes a part of its ON",
    exp.Join,
)
def where_into_on(tree: Node, setup: Setup) -> bool:
    def change(select: exp.Select) -> Node | None:
        joins, where = select.args.get("joins") or [], select.args.get("where")
        if (
            where is None
            or len(joins) != 1
            or joins[0].side != "LEFT"
            or not joins[0].args.get("on")
        ):
            return None
        both = exp.And(
            this=joins[0].args["on"].copy(), expression=exp.Paren(this=where.this.copy())
        )
        joins[0].set("on", both)
        joins[0].set("alone", None)
        select.set("where", None)
        return select

    return _each(tree, exp.Select, change)


@_planted("RIGHT JOIN is INNER", "RIGHT JOIN drops rows without a partner", exp.Join)
def right_as_inner(tree: Node, setup: Setup) -> bool:
    def change(node: exp.Join) -> Node | None:
        if node.side != "RIGHT" or node.args.get("method"):
            return None
        node.set("side", None)
        node.set("kind", "INNER")
        return node

    return _each(tree, exp.Join, change)


@_planted("FULL JOIN is LEFT", "FULL JOIN drops the right rows without a partner", exp.Join)
def full_as_left(tree: Node, setup: Setup) -> bool:
    def change(node: exp.Join) -> Node | None:
        if node.side != "FULL":
            return None
        node.set("side", "LEFT")
        return node

    return _each(tree, exp.Join, change)


@_planted("EXISTS is cached", "a correlated EXISTS forgets its condition", exp.Exists)
def exists_cached(tree: Node, setup: Setup) -> bool:
    def change(node: exp.Exists) -> Node | None:
        inner = node.this
        if not isinstance(inner, exp.Select) or not inner.args.get("where"):
            return None
        inner.set("where", None)
        return node

    return _each(tree, exp.Exists, change)


@_planted("IN takes one row", "IN (SELECT …) in WHERE looks at the first row only", exp.In)
def in_takes_one(tree: Node, setup: Setup) -> bool:
    def change(node: exp.In) -> Node | None:
        query = node.args.get("query")
        if query is None or not _filters(node) or not isinstance(query.this, exp.Select):
            return None
        if query.this.args.get("limit"):
            return None
        query.this.set("limit", exp.Limit(expression=exp.Literal.number(1)))
        return node

    return _each(tree, exp.In, change)


@_planted(
    "COUNT of nothing is NULL", "a correlated COUNT is NULL where it should be 0", exp.Subquery
)
def count_of_nothing(tree: Node, setup: Setup) -> bool:
    def change(node: exp.Subquery) -> Node | None:
        inner = node.this
        source = isinstance(node.parent, exp.From | exp.Join | exp.In | exp.Exists)
        if source or not isinstance(inner, exp.Select) or len(inner.expressions) != 1:
            return None
        if not isinstance(inner.expressions[0].unalias(), exp.Count) or not inner.args.get("where"):
            return None
        return exp.Nullif(this=node.copy(), expression=exp.Literal.number(0))

    return _each(tree, exp.Subquery, change)


# Groups, aggregates, duplicates.


@_planted("DISTINCT drops NULL", "DISTINCT loses rows that begin with NULL", exp.Distinct)
def distinct_drops(tree: Node, setup: Setup) -> bool:
    return _each(tree, exp.Select, _without_null_rows)


def _without_null_rows(select: exp.Select) -> Node | None:
    if not select.args.get("distinct") or not select.expressions:
        return None
    first = select.expressions[0].unalias()
    if (
        isinstance(first, exp.Star)
        or first.find(exp.AggFunc, exp.Window)
        or select.args.get("group")
    ):
        return None
    condition: Node = exp.Not(this=exp.Is(this=exp.Paren(this=first.copy()), expression=exp.Null()))
    where = select.args.get("where")
    if where is not None:
        condition = exp.And(this=exp.Paren(this=where.this.copy()), expression=condition)
    select.set("where", exp.Where(this=condition))
    return select


@_planted("DISTINCT keeps some", "DISTINCT over a join keeps duplicates", exp.Distinct)
def distinct_keeps(tree: Node, setup: Setup) -> bool:
    def change(select: exp.Select) -> Node | None:
        if not select.args.get("distinct") or not select.args.get("joins"):
            return None
        select.set("distinct", None)
        return select

    return _each(tree, exp.Select, change)


@_planted("NULL groups apart", "each NULL is a group of its own", exp.Group)
def groups_apart(tree: Node, setup: Setup) -> bool:
    def change(node: exp.Group) -> Node | None:
        select = node.parent
        keys = [k for k in node.expressions if isinstance(k, exp.Column) and k.table]
        source = select.args.get("from_") if select is not None else None
        if not keys or source is None or not isinstance(source.this, exp.Table):
            return None
        name = source.this.alias_or_name
        made = f"CASE WHEN {write(keys[0])} IS NULL THEN {name}.rowid END"
        node.append("expressions", parsed(made))
        return node

    return _each(tree, exp.Group, change)


@_planted("HAVING is ignored", "HAVING that is a comparison is ignored", exp.Having)
def having_ignored(tree: Node, setup: Setup) -> bool:
    def change(node: exp.Having) -> Node | None:
        if not isinstance(node.this, exp.EQ | exp.LT | exp.GT | exp.LTE | exp.GTE | exp.NEQ):
            return None
        return exp.Having(this=exp.Literal.number(1))

    return _each(tree, exp.Having, change)


@_planted("COUNT(DISTINCT) counts NULL", "COUNT(DISTINCT x) counts NULL as a value", exp.Count)
def counts_null(tree: Node, setup: Setup) -> bool:
    def change(node: exp.Count) -> Node | None:
        if not isinstance(node.this, exp.Distinct) or isinstance(
            node.parent, exp.Filter | exp.Window
        ):
            return None
        [of] = node.this.expressions
        count = exp.Count(this=of.copy())
        return exp.Paren(
            this=exp.Add(this=node.copy(), expression=_wrapped("COUNT(*) > n", n=count))
        )

    return _each(tree, exp.Count, change)


@_planted("SUM of nothing is 0", "SUM without any value is 0", exp.Sum)
def sum_of_nothing(tree: Node, setup: Setup) -> bool:
    def change(node: exp.Sum) -> Node | None:
        if isinstance(node.parent, exp.Filter | exp.Window):
            return None
        return exp.Coalesce(this=node.copy(), expressions=[exp.Literal.number(0)])

    return _each(tree, exp.Sum, change)


@_planted(
    "MIN ignores negative", "MIN passes over negative numbers, where there is a WHERE", exp.Min
)
def min_ignores(tree: Node, setup: Setup) -> bool:
    def change(node: exp.Min) -> Node | None:
        select = node.find_ancestor(exp.Select)
        if node.expressions or isinstance(node.this, exp.Distinct) or select is None:
            return None
        if not select.args.get("where"):
            return None
        return exp.Min(this=_wrapped("CASE WHEN x >= 0 OR x IS NULL THEN x END", x=node.this))

    return _each(tree, exp.Min, change)


@_planted("AVG of groups is cut", "AVG with GROUP BY loses its fraction", exp.Avg)
def average(tree: Node, setup: Setup) -> bool:
    def change(node: exp.Avg) -> Node | None:
        select = node.find_ancestor(exp.Select)
        if select is None or not select.args.get("group") or isinstance(node.parent, exp.Filter):
            return None
        return exp.Cast(this=node.copy(), to=exp.DataType(this=exp.DType.INT))

    return _each(tree, exp.Avg, change)


@_planted("FILTER is ignored", "FILTER after an aggregate is ignored", exp.Filter)
def filter_ignored(tree: Node, setup: Setup) -> bool:
    return _each(tree, exp.Filter, lambda node: node.this.copy())


# Order, LIMIT, compound queries, windows.


@_planted("NULLs come last", "ORDER BY puts NULL last", exp.Ordered)
def nulls_last(tree: Node, setup: Setup) -> bool:
    def change(node: exp.Ordered) -> Node | None:
        if node.args.get("desc") or not node.args.get("nulls_first"):
            return None
        if not isinstance(node.parent, exp.Order) or node.parent.parent is not tree:
            return None
        node.set("nulls_first", False)
        return node

    return _each(tree, exp.Ordered, change)


@_planted("LIMIT is one off", "LIMIT keeps a row too many after OFFSET or a join", exp.Limit)
def limit(tree: Node, setup: Setup) -> bool:
    def change(node: exp.Limit) -> Node | None:
        if not isinstance(node.expression, exp.Literal):
            return None
        return exp.Limit(expression=exp.Literal.number(int(node.expression.name) + 1))

    return _each(tree, exp.Limit, change)


def _compound(kind: type[Node], *, distinct: bool) -> Callable[[Node], Iterator[Any]]:
    def found(tree: Node) -> Iterator[Any]:
        return (n for n in tree.find_all(kind) if bool(n.args.get("distinct")) == distinct)

    return found


@_planted("UNION keeps", "UNION keeps duplicates", exp.Union)
def union_keeps(tree: Node, setup: Setup) -> bool:
    found = list(_compound(exp.Union, distinct=True)(tree))
    for node in found:
        node.set("distinct", False)
    return bool(found)


@_planted("UNION ALL drops", "UNION ALL drops duplicates", exp.Union)
def union_all_drops(tree: Node, setup: Setup) -> bool:
    found = list(_compound(exp.Union, distinct=False)(tree))
    for node in found:
        node.set("distinct", True)
    return bool(found)


@_planted("EXCEPT keeps NULL", "EXCEPT does not take NULL away", exp.Except)
def except_keeps(tree: Node, setup: Setup) -> bool:
    def change(node: exp.Except) -> Node | None:
        right = node.expression
        if not isinstance(right, exp.Select) or right.args.get("group"):
            return None
        first = right.expressions[0].unalias() if right.expressions else None
        if first is None or isinstance(first, exp.Star) or first.find(exp.AggFunc, exp.Window):
            return None
        condition: Node = exp.Not(
            this=exp.Is(this=exp.Paren(this=first.copy()), expression=exp.Null())
        )
        where = right.args.get("where")
        if where is not None:
            condition = exp.And(this=exp.Paren(this=where.this.copy()), expression=condition)
        right.set("where", exp.Where(this=condition))
        return node

    return _each(tree, exp.Except, change)


@_planted("INTERSECT is UNION", "INTERSECT gives what only one side has", exp.Intersect)
def intersect(tree: Node, setup: Setup) -> bool:
    def change(node: exp.Intersect) -> Node | None:
        given = {**node.args, "distinct": True}
        return exp.Union(
            **{k: v.copy() if isinstance(v, exp.Expr) else v for k, v in given.items()}
        )

    if isinstance(tree, exp.Intersect):
        return False
    return _each(tree, exp.Intersect, change)


@_planted("frames are ignored", "a window's frame of rows is the default one", exp.WindowSpec)
def frames(tree: Node, setup: Setup) -> bool:
    found = [w for w in tree.find_all(exp.Window) if w.args.get("spec")]
    for window in found:
        window.set("spec", None)
    return bool(found)


@_planted("PARTITION BY is ignored", "PARTITION BY with ORDER BY is ignored", exp.Window)
def partitions(tree: Node, setup: Setup) -> bool:
    found = [w for w in tree.find_all(exp.Window) if w.args.get("partition_by")]
    for window in found:
        window.set("partition_by", None)
    return bool(found)


# What is stored, and what does not come back.


def _plant(planted: Class) -> None:
    CLASSES[planted.name] = planted


def _rows_of_where(tree: Node, rows: list[Any]) -> list[Any]:
    where = tree.args.get("where") if isinstance(tree, exp.Select) else None
    several = where is not None and isinstance(where.this, exp.Or)
    return rows[:-1] if several and len(rows) > 1 else rows


_plant(Class("OR loses a row", "WHERE p OR q loses the last row", (exp.Or,), rows=_rows_of_where))
_plant(
    Class(
        "triggers do not fire",
        "a trigger is taken, and does nothing",
        setup=lambda sql: "SELECT 1" if re.match(r"CREATE TRIGGER", sql, re.I) else sql,
    )
)
_plant(
    Class(
        "upsert does nothing",
        "ON CONFLICT DO UPDATE does nothing",
        setup=lambda sql: re.sub(r"DO UPDATE SET .*", "DO NOTHING", sql, flags=re.I | re.S),
    )
)
_plant(
    Class(
        "DELETE keeps one",
        "DELETE leaves the row with the least rowid",
        setup=lambda sql: re.sub(
            r"^DELETE FROM (\w+) WHERE (.*)$",
            r"DELETE FROM \1 WHERE (\2) AND rowid > (SELECT MIN(rowid) FROM \1)",
            sql,
            flags=re.I | re.S,
        ),
    )
)
_plant(
    Class(
        "UNIQUE is not kept",
        "UNIQUE of a column is not enforced",
        setup=lambda sql: (
            re.sub(r"\bUNIQUE\b(?! INDEX)", "", sql)
            if sql.upper().startswith("CREATE TABLE")
            else sql
        ),
    )
)
_plant(
    Class(
        "views lose a condition",
        "a view forgets its WHERE",
        setup=lambda sql: (
            re.sub(r" WHERE .*", "", sql, flags=re.S)
            if sql.upper().startswith("CREATE VIEW")
            and sql.upper().count(" WHERE ") == 1
            and not re.search(r"GROUP BY|ORDER BY|UNION|\)", sql.upper().split(" WHERE ")[-1])
            else sql
        ),
    )
)


def _check_fails(tree: Node) -> Answer | None:
    text = write(tree).upper()
    if "INTEGRITY_CHECK" in text or "QUICK_CHECK" in text:
        return ["rows", ["integrity_check"], [["row 1 missing from index i0"]]]
    return None


def _crashes(tree: Node) -> Answer | None:
    if isinstance(tree, exp.Select) and tree.args.get("group") and tree.find(exp.Case):
        return ["lost", "ended its process (signal SIGSEGV)"]
    return None


def _hangs(tree: Node) -> Answer | None:
    if isinstance(tree, exp.Query) and tree.find(exp.Exists):
        return ["lost", "did not answer in time"]
    return None


def _internal(tree: Node) -> Answer | None:
    if isinstance(tree, exp.SetOperation) and tree.args.get("order"):
        return ["error", "sqlite3.OperationalError", "internal error: no such register"]
    return None


_plant(
    Class("index is damaged", "integrity_check finds an index without a row", answer=_check_fails)
)
_plant(Class("crash", "GROUP BY and CASE end the process", (exp.Group,), answer=_crashes))
_plant(Class("hang", "EXISTS does not end", (exp.Exists,), answer=_hangs))
_plant(
    Class(
        "internal error",
        "ORDER BY of a compound query is an internal error",
        (exp.Order,),
        answer=_internal,
    )
)


# A connection of one class.


class Cursor:
    """What PEP 249 asks of a cursor, as far as drivers use it."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._cursor = connection.database.cursor()
        self._rows: list[Any] | None = None

    def execute(self, sql: str) -> None:
        """Run a statement, with what is planted."""
        planted, self._rows = self._connection.planted, None
        tree = look(sql)
        if planted.setup is not None and not isinstance(tree, exp.Query):
            sql = planted.setup(sql)
        if planted.answer is not None and tree is not None:
            self._refuse(planted.answer(tree))
        text = sql if tree is None else wrong_text(planted, sql, self._connection.setup)
        try:
            self._cursor.execute(text)
        except sqlite3.Error:
            self._cursor.execute(sql)
        if not isinstance(tree, exp.Query):
            self._connection.setup.append(sql)
        if self._cursor.description is not None:
            self._rows = self._cursor.fetchall()
            if planted.rows is not None and tree is not None:
                self._rows = planted.rows(tree, self._rows)

    def _refuse(self, answer: Answer | None) -> None:
        if answer is not None and answer[0] == "error":
            raise sqlite3.OperationalError(answer[2])
        if answer is not None and answer[0] == "lost":
            raise RuntimeError(answer[1])

    @property
    def description(self) -> Any:
        return self._cursor.description

    def fetchall(self) -> list[Any]:
        """The rows."""
        return self._rows or []

    def close(self) -> None:
        """Let it go."""
        self._cursor.close()


class Connection:
    """A connection to an empty database of an engine with one class of bugs."""

    def __init__(self, planted: Class) -> None:
        self.planted = planted
        self.setup: list[str] = []
        self.database = sqlite3.connect(":memory:", isolation_level=None)

    def cursor(self) -> Cursor:
        """A cursor."""
        return Cursor(self)

    def close(self) -> None:
        """Let the database go."""
        self.database.close()


def kinds_of(tree: Node) -> frozenset[type[Node]]:
    """The kinds of nodes in a tree."""
    return frozenset(type(n) for n in tree.walk())


def wrong_text(planted: Class, sql: str, setup: Setup) -> str:
    """The statement as the engine with this class of bugs understands it."""
    tree = look(sql)
    if planted.query is None or not isinstance(tree, exp.Query):
        return sql
    if not planted.applies(kinds_of(tree)):
        return sql
    tree = tree.copy()
    return write(tree) if planted.query(tree, setup) else sql


def connect(name: str) -> Connection:
    """A connection of the class of this name."""
    return Connection(CLASSES[name])
