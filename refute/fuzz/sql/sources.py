"""FROM: tables, subqueries, lists of VALUES and tables of WITH, joined in every way SQLite has.

What a column is called stays clear: USING and NATURAL are written only where one side has each
common name once, because which of two columns they take is nothing that engines agree on.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from sqlglot import exp

from refute.fuzz.sql import nodes
from refute.fuzz.sql.grammar import Grammar, Source, Writer, column, columns_in, some_literal
from refute.fuzz.sql.nodes import make, put
from refute.fuzz.sql.schema import Column, Table
from refute.fuzz.sql.text import Node

JOINS = {
    "inner-join": 15,
    "left-join": 15,
    "cross-join": 6,
    "right-join": 4,
    "full-join": 3,
    "using": 3,
    "natural-join": 2,
}
PLAIN = frozenset({"inner-join", "left-join", "cross-join"})
SIDES = (("LEFT", "left-join"), ("RIGHT", "right-join"), ("FULL", "full-join"))
MOST = 3  # items of one FROM
TYPES = {"truth": "INTEGER", "number": "INTEGER", "text": "TEXT", "any": ""}

Derive = Callable[[Writer], tuple[Node, Source]]


def from_clause(writer: Writer, derived: Derive) -> tuple[Node, list[Node]]:
    """The first item of FROM, and the joins of others to it; all are in scope afterwards."""
    first, sources = _first(writer, derived)
    writer.sources = sources
    joins: list[Node] = []
    kinds = _kinds(writer.grammar)
    share = 0.15 if writer.level > 1 else 0.7 if writer.grammar.narrow else 0.38
    while kinds and len(writer.sources) < MOST and writer.chance(share):
        joins.append(_joined(writer, kinds, derived))
    return first, joins


@functools.lru_cache(maxsize=256)
def _kinds(grammar: Grammar) -> list[str]:
    """The joins that are allowed, each as often as its weight says."""
    return [kind for kind in JOINS if kind in grammar.features for _ in range(JOINS[kind])]


def link(writer: Writer, some: Sequence[Source], others: Sequence[Source]) -> Node:
    """A comparison of a column of each, of one family where there is one."""
    source, of = writer.choice(columns_in(others, "any"))
    found = columns_in(some, of.family)
    if not found and not writer.mixed:
        return writer.condition(0)
    found = found or columns_in(some, "any")
    if writer.random() < 0.85:
        kind: type[exp.Binary] = exp.EQ
    else:
        kind = writer.choice((exp.LT, exp.NEQ, exp.GTE))
    return nodes.binary(kind, column(*writer.choice(found)), column(source, of))


def name(text: str) -> Node:
    """A name without quotes."""
    return nodes.name(text)


def alias(text: str) -> Node:
    """Another name of an item of FROM."""
    return nodes.table_alias(text)


def _first(writer: Writer, derived: Derive) -> tuple[Node, tuple[Source, ...]]:
    if writer.level == 1 and writer.turns_to("paren-from", 0.04):
        return _several(writer, derived)
    first, source = _item(writer, derived)
    return first, (source,)


def _several(writer: Writer, derived: Derive) -> tuple[Node, tuple[Source, ...]]:
    """Two tables in parentheses."""
    before, writer.beside = writer.sources, writer.sources
    first, source = _table(writer)
    writer.sources = (source,)
    kinds = [kind for kind in _kinds(writer.grammar) if kind in PLAIN]
    if kinds:
        put(first, "joins", [_joined(writer, kinds, derived, plain=True)])
    sources, writer.sources = writer.sources, before
    writer.beside = ()
    return make(exp.Subquery, this=first), sources


def _joined(writer: Writer, kinds: Sequence[str], derived: Derive, *, plain: bool = False) -> Node:
    """One more item, joined to those in scope, and in scope afterwards."""
    earlier = writer.sources
    several = not plain and len(earlier) < MOST - 1 and writer.level == 1
    if several and writer.turns_to("paren-from", 0.05):
        item, more = _several(writer, derived)
    else:
        item, source = _table(writer) if plain else _item(writer, derived)
        more = (source,)
    writer.sources = (*earlier, *more)
    kind = writer.choice(kinds)
    if kind == "cross-join":
        if writer.chance(0.5):
            return make(exp.Join, this=item, kind="CROSS")
        return make(exp.Join, this=item, kind="CROSS", comma=True)
    if kind in ("using", "natural-join"):
        made = _by_names(writer, kind, item, earlier, more)
        if made is not None:
            return made
        kind = "left-join" if writer.has("left-join") else "inner-join"
    return _by_condition(writer, kind, item, earlier, more)


def _by_condition(
    writer: Writer, kind: str, item: Node, earlier: Sequence[Source], more: Sequence[Source]
) -> Node:
    on = link(writer, earlier, more) if writer.chance(0.8) else writer.condition(1)
    if writer.chance(0.15):
        both = (nodes.unary(exp.Paren, part) for part in (on, writer.condition(0)))
        on = nodes.binary(exp.And, *both)
    alone = writer.turns_to("join-alone", 0.04) or None
    if alone:
        on = make(
            exp.Boolean, this=True
        )  # for other dialects, which need one; SQLite's is not written
    side = {"left-join": "LEFT", "right-join": "RIGHT", "full-join": "FULL"}.get(kind)
    if side is None:
        return make(exp.Join, this=item, kind="INNER", on=on, alone=alone)
    return make(exp.Join, this=item, side=side, on=on, alone=alone)


def _by_names(
    writer: Writer, kind: str, item: Node, earlier: Sequence[Source], more: Sequence[Source]
) -> Node | None:
    """A join on columns of the same name; None where the names do not tell which those are."""
    left = [of.name for source in earlier for of in source.columns]
    right = [of.name for source in more for of in source.columns]
    common = [word for word in right if word in left]
    if any(left.count(word) > 1 or right.count(word) > 1 for word in common):
        return None
    sides = [None, *(side for side, feature in SIDES if writer.has(feature))]
    side = writer.choice(sides)
    if kind == "natural-join":
        return make(exp.Join, this=item, method="NATURAL", side=side)
    if not common:
        return None
    chosen = common if writer.chance(0.5) else [writer.choice(common)]
    return make(exp.Join, this=item, side=side, using=[name(word) for word in chosen])


def _item(writer: Writer, derived: Derive) -> tuple[Node, Source]:
    """A table, a list of values, or a subquery, under a name of its own."""
    share = writer.random()
    if share < 0.25:
        if writer.level <= 2 and writer.turns_to("derived-table", 0.28 / writer.level):
            return derived(writer)
        if writer.level == 1 and writer.turns_to("values", 0.15):
            return _values(writer)
    return _table(writer)


def _table(writer: Writer) -> tuple[Node, Source]:
    """A table, a view, or a table of WITH."""
    if writer.common and writer.chance(0.5):
        of = writer.choice(writer.common)
        return _under(writer, of.alias, of)
    table = writer.choice(writer.schema.tables)
    node, source = _under(writer, table.name, table)
    if table.kind == "table" and writer.turns_to("not-indexed", 0.03):
        put(node, "indexed", False)
    elif table.indexes and writer.turns_to("indexed-by", 0.04):
        put(node, "indexed", make(exp.Table, this=name(writer.choice(table.indexes))))
    return node, source


def _under(writer: Writer, of: str, what: Table | Source) -> tuple[Node, Source]:
    """By its own name, or by another where that is taken."""
    word = of
    for other in (*writer.sources, *writer.beside, *writer.outer):
        if other.alias == of:
            word = writer.alias()
            break
    node = nodes.table(of)
    if word is not of:
        put(node, "alias", alias(word))
    if isinstance(what, Source):
        return node, Source(word, what.columns, what.table, what.origins, what.rowid)
    return node, Source(word, what.columns, what, rowid=what.rowid)


def _values(writer: Writer) -> tuple[Node, Source]:
    """VALUES, whose columns SQLite calls column1, column2."""
    families = [writer.family() for _ in range(1 + writer.chance(0.5))]
    rows = [
        make(exp.Tuple, expressions=[some_literal(writer, family) for family in families])
        for _ in range(1 + int(writer.random() * 3))
    ]
    word = writer.alias()
    columns = tuple(
        Column(f"column{i + 1}", "" if writer.mixed else TYPES[family])
        for i, family in enumerate(families)
    )
    return make(exp.Values, expressions=rows, alias=alias(word)), Source(word, columns)
