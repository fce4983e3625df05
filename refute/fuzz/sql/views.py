"""Views: tables under other names, joined, grouped, without duplicates, or any query at all."""

from __future__ import annotations

import dataclasses

from sqlglot import exp

from refute.fuzz.sql.definitions import name, table
from refute.fuzz.sql.drafts import Drafting
from refute.fuzz.sql.grammar import Grammar, Source, Writer, column, number
from refute.fuzz.sql.schema import Column, Table
from refute.fuzz.sql.selects import select
from refute.fuzz.sql.text import Node

MOST = 4  # columns
OF_FAMILY = {"number": "INTEGER", "truth": "INTEGER", "text": "TEXT", "any": ""}
JOINS = ("inner-join", "left-join", "left-join", "cross-join")


def add_view(drafting: Drafting, grammar: Grammar) -> None:
    """Adds a CREATE VIEW on the tables and views so far."""
    rng, schema = drafting.rng, drafting.schema()
    called = drafting.fresh("v")
    writer = Writer(rng, grammar, schema)
    if rng.random() < 0.3:
        families = [writer.family() for _ in range(rng.randint(1, 3))]
        query = select(writer, families)
        columns = [Column(f"c{i}", OF_FAMILY[family]) for i, family in enumerate(families)]
        made = Table(called, tuple(columns), {}, kind="view", rowid=False)
    else:
        query, made = _shown(drafting, writer, called)
    renamed = rng.random() < 0.5
    this: Node = table(called)
    if renamed:
        columns = [dataclasses.replace(c, name=f"c{i}") for i, c in enumerate(made.columns)]
        held = {f"c{i}": made.values(c) for i, c in enumerate(made.columns)}
        made = dataclasses.replace(made, columns=tuple(columns), held=held)
        this = exp.Schema(this=this, expressions=[name(c.name) for c in columns])
    drafting.statements.append(exp.Create(kind="VIEW", this=this, expression=query))
    drafting.views.append(made)


def _shown(drafting: Drafting, writer: Writer, called: str) -> tuple[Node, Table]:
    """A query that shows columns of one or two tables as they are, and what is known of it."""
    rng, features = drafting.rng, drafting.shape.features
    tables = writer.schema.tables
    sources = [_source(rng.choice(tables), "x0")]
    joins = [kind for kind in JOINS if kind in features]
    query = exp.Select(from_=exp.From(this=_named(sources[0])))
    if joins and rng.random() < 0.4:
        sources.append(_source(rng.choice(tables), "x1"))
        writer.sources = tuple(sources)
        query.set("joins", [_join(writer, sources[1], rng.choice(joins))])
    writer.sources = tuple(sources)
    found = [(s, c) for s in sources for c in s.columns]
    shown = rng.sample(found, rng.randint(1, min(MOST, len(found))))
    expressions: list[Node] = [column(*key) for key in shown]
    condition = _condition(drafting, writer, sources)
    if condition is not None:
        query.set("where", exp.Where(this=condition))
    if "distinct" in features and rng.random() < 0.2:
        query.set("distinct", exp.Distinct())
    elif "group-by" in features and rng.random() < 0.2:
        query.set("group", exp.Group(expressions=[column(*key) for key in shown]))
    names = [f"c{i}" for i in range(len(shown))]
    query.set(
        "expressions",
        [
            exp.Alias(this=tree, alias=name(called_so))
            for tree, called_so in zip(expressions, names, strict=True)
        ],
    )
    columns = [
        Column(called_so, c.type, collation=c.collation)
        for called_so, (_, c) in zip(names, shown, strict=True)
    ]
    held = {called_so: tuple(s.values(c)) for called_so, (s, c) in zip(names, shown, strict=True)}
    if {"aggregate", "group-by"} <= features and query.args.get("group") and rng.random() < 0.6:
        columns.append(Column(f"c{len(columns)}", "INTEGER"))
        count = exp.Alias(this=exp.Count(this=exp.Star()), alias=name(columns[-1].name))
        query.append("expressions", count)
    return query, Table(called, tuple(columns), held, kind="view", rowid=False)


def _source(of: Table, alias: str) -> Source:
    return Source(alias, of.columns, of, rowid=of.rowid)


def _named(source: Source) -> Node:
    assert source.table is not None
    made = table(source.table.name)
    made.set("alias", exp.TableAlias(this=name(source.alias)))
    return made


def _join(writer: Writer, source: Source, kind: str) -> Node:
    """A join of the second table with the first."""
    made = exp.Join(this=_named(source))
    if kind == "cross-join":
        made.set("kind", "CROSS")
        return made
    made.set("side" if kind == "left-join" else "kind", "LEFT" if kind == "left-join" else "INNER")
    made.set("on", writer.condition(writer.choice((0, 0, 1))))
    return made


def _condition(drafting: Drafting, writer: Writer, sources: list[Source]) -> Node | None:
    drawn = drafting.rng.random()
    numbered = sources[0].rowid and {"rowid", "cast"} <= drafting.shape.features
    if numbered and drawn < 0.15:
        rowid: Node = exp.Column(this=name("rowid"), table=name(sources[0].alias))
        if drawn < 0.08:
            rowid = exp.Cast(this=rowid, to=exp.DataType(this=exp.DType.INT))
        kind = drafting.rng.choice((exp.EQ, exp.EQ, exp.GT, exp.LTE))
        return kind(this=rowid, expression=number(drafting.rng.choice((1, 1, 2, 3))))
    return writer.condition(drafting.rng.choice((0, 1, 1))) if drawn < 0.5 else None
