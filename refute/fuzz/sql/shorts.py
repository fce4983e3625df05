"""Short queries: one table, one column, and what an engine answers by an index alone.

The least and the greatest value, the distinct ones, how many there are, the first in an order: of
these, engines read the ends of an index, or jump from entry to entry, and NULL is where that fails.
Longer queries hardly ever leave room for it.
"""

from __future__ import annotations

from sqlglot import exp

from refute.fuzz.sql import nodes
from refute.fuzz.sql.grammar import Source, Writer, column, number
from refute.fuzz.sql.nodes import make, put
from refute.fuzz.sql.schema import Column
from refute.fuzz.sql.text import Node


def short(writer: Writer) -> Node | None:
    """A query of one table that has an index; None where there is none."""
    tables = [table for table in writer.schema.tables if table.indexed]
    if not tables:
        return None
    table = writer.choice(tables)
    source = Source(table.name, table.columns, table, rowid=table.rowid)
    first = [of for of in table.columns if of.name in table.indexed]
    tree = make(exp.Select, from_=nodes.unary(exp.From, nodes.table(table.name)))
    _shown(writer, tree, source, writer.choice(first))
    if writer.chance(0.4):
        writer.sources, writer.level = (source,), 1
        put(tree, "where", nodes.unary(exp.Where, writer.condition(0)))
        writer.sources, writer.level = (), 0
    return tree


def _shown(writer: Writer, tree: Node, source: Source, of: Column) -> None:
    """What it shows of the column."""
    value = column(source, of)
    kinds = [kind for kind in ("aggregate", "distinct", "limit") if writer.has(kind)]
    kind = writer.choice(kinds) if kinds else ""
    if kind == "aggregate":
        of_one = make(writer.choice((exp.Min, exp.Max, exp.Min, exp.Max, exp.Count)), this=value)
        put(tree, "expressions", [nodes.alias(of_one, "c0")])
        return
    put(tree, "expressions", [nodes.alias(value, "c0")])
    if kind == "distinct":
        put(tree, "distinct", make(exp.Distinct))
    elif kind == "limit" and writer.has("order-by"):
        down = writer.chance(0.5)
        term = make(exp.Ordered, this=number(1), desc=down or None, nulls_first=not down)
        put(tree, "order", make(exp.Order, expressions=[term]))
        put(tree, "limit", make(exp.Limit, expression=number(writer.choice((1, 1, 2, 3)))))
