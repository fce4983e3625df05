"""WITH: tables made for one query, plain ones and recursive ones that end by themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from refute.fuzz.sql.grammar import Source, Writer, closed, column, number, some_literal
from refute.fuzz.sql.nodes import make, put
from refute.fuzz.sql.schema import Column
from refute.fuzz.sql.sources import TYPES, alias, link, name
from refute.fuzz.sql.text import Node

DEEPEST = (1, 2, 3, 5)  # rounds of a recursion

Body = Callable[[Writer, Sequence[str]], tuple[Node, Source]]


def with_clause(writer: Writer, body: Body) -> Node | None:
    """WITH, whose tables are in `writer.common` afterwards; None where nothing allows one.

    body: makes a query with one result column for each family, and the source that it is.
    """
    made: list[Node] = []
    recursive = False
    for _ in range(1 + writer.chance(0.3)):
        if writer.turns_to("recursive", 0.3):
            tree, source = _recursive(writer)
            recursive = True
        elif writer.has("cte"):
            families = [writer.family() for _ in range(1 + writer.chance(0.6))]
            tree, source = body(writer, families)
        else:
            continue
        hint = writer.chance(0.5) if writer.turns_to("materialized", 0.2) else None
        word = alias(source.alias)
        if writer.chance(0.6) or recursive:
            put(word, "columns", [name(of.name) for of in source.columns])
        made.append(make(exp.CTE, this=tree, alias=word, materialized=hint))
        writer.common.append(source)
    return make(exp.With, expressions=made, recursive=recursive or None) if made else None


def _recursive(writer: Writer) -> tuple[Node, Source]:
    """Rows that are numbered, each round made from the one before."""
    word = writer.alias()
    family = writer.family()
    columns = (Column("n", "INTEGER"), Column("c0", TYPES[family]))
    source = Source(word, columns)
    value = closed(some_literal(writer, family))
    first = make(exp.Select, expressions=[number(1), value])
    before = writer.sources, writer.level
    following = make(exp.Add, this=column(source, columns[0]), expression=number(1))
    tables = [(make(exp.Table, this=name(word)), source)]
    joined = writer.has("inner-join") and writer.chance(0.3)
    if joined:
        table = writer.choice(writer.schema.tables)
        tables.append(
            (make(exp.Table, this=name(table.name)), Source(table.name, table.columns, table))
        )
    writer.sources, writer.level = tuple(s for _, s in tables), 3
    shown = writer.value(family, 1)
    bound = exp.LT(
        this=column(source, columns[0]),
        expression=number(2 if joined else writer.choice(DEEPEST)),
    )
    again = make(
        exp.Select, expressions=[following, shown], from_=make(exp.From, this=tables[0][0])
    )
    if joined:
        on = link(writer, [source], [tables[1][1]])
        put(again, "joins", [make(exp.Join, this=tables[1][0], kind="INNER", on=on)])
    put(again, "where", make(exp.Where, this=bound))
    writer.sources, writer.level = before
    distinct = writer.has("union") and (writer.chance(0.5) or not writer.has("union-all"))
    return make(exp.Union, this=first, expression=again, distinct=distinct), source
