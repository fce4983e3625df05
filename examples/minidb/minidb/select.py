"""One SELECT: which names it has, what it computes for every row or group, and in which order.

Names are resolved in SQLite's order: FROM, the result columns, then everything else, which may
also use the aliases of result columns. Aggregates in HAVING and ORDER BY need a query that is
grouped by GROUP BY or by an aggregate among its result columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from sqlglot import exp

from minidb.errors import OperationalError
from minidb.grouping import groups
from minidb.joins import (
    SourceOf,
    Stage,
    conditions,
    every,
    output_columns,
    pipeline,
    sources_of,
)
from minidb.ordering import (
    Keyed,
    Term,
    checked_position,
    cut,
    distinct,
    in_order,
    limits,
    position_of,
    term_of,
    without_collate,
)
from minidb.scope import Builder, Code, Column, Query, Row, Scope
from minidb.syntax import bare, expect

PARTS = ("expressions", "from_", "joins", "where", "group", "having", "order", "limit", "offset")


@dataclass
class Results:
    """The result columns: their names and code, and the expressions they were written as."""

    names: list[str] = field(default_factory=list)
    codes: list[Code] = field(default_factory=list)
    nodes: list[exp.Expr | None] = field(default_factory=list)

    def add(self, name: str, code: Code, node: exp.Expr | None) -> None:
        """One more column."""
        self.names.append(name)
        self.codes.append(code)
        self.nodes.append(node)


def compile_select(
    builder: Builder, node: exp.Expr, parent: Scope | None, source_of: SourceOf
) -> Query:
    """The query of one SELECT."""
    expect(node, *PARTS, "distinct")
    if not node.expressions:
        raise OperationalError("syntax error: no result columns")
    scope = Scope(parent)
    joined = sources_of(node, scope, source_of)
    scope.aggregates_allowed = True
    results = _results(builder, node, scope)
    scope.aggregates_allowed = False
    scope.aliases_visible = True
    group = node.args.get("group")
    grouped = group is not None or bool(scope.aggregates)
    where = node.args.get("where")
    before = conditions(builder, joined, where.this if where is not None else None, scope)
    keys = _group_keys(builder, group, results, scope)
    scope.aggregates_allowed = grouped
    having = _having(builder, node, scope, grouped)
    terms, sorting = _order(builder, node, results, scope)
    walk = pipeline(joined, before, scope)
    if grouped:
        walk = _grouped(walk, keys, scope, group is None, having)
    rows = _finish(builder, node, scope, results, walk, terms, sorting)
    columns = [
        Column(name, code.affinity, code.collation)
        for name, code in zip(results.names, results.codes, strict=True)
    ]
    plain = node.args.get("limit") is None and node.args.get("offset") is None
    depends = frozenset(scope.depends)
    return Query(columns, results.codes, rows, depends, walk if plain else None)


def _results(builder: Builder, node: exp.Expr, scope: Scope) -> Results:
    """Compile the result columns, with `*` written out, and note their aliases."""
    results = Results()
    for item in node.expressions:
        if isinstance(item, exp.Star) or (
            isinstance(item, exp.Column) and isinstance(item.this, exp.Star)
        ):
            expect(item, "this", "table")
            for name, code in output_columns(scope, item.text("table").lower()):
                results.add(name, code, None)
        elif isinstance(item, exp.Alias):
            results.add(item.alias, builder.code(item.this, scope), item.this)
            scope.aliases.setdefault(item.alias.lower(), item.this)
        else:
            inner = bare(item)
            name = inner.name if isinstance(inner, exp.Column) else item.sql("sqlite")
            results.add(name, builder.code(item, scope), item)
    return results


def _group_keys(
    builder: Builder, group: exp.Expr | None, results: Results, scope: Scope
) -> list[Code]:
    if group is None:
        return []
    expect(group, "expressions")
    keys = []
    for node in group.expressions:
        inner, collation = without_collate(node)
        number = position_of(inner)
        if number is None:
            keys.append(builder.code(node, scope))
            continue
        place = checked_position(number, len(results.codes), "GROUP BY")
        written = results.nodes[place]
        if written is not None:
            builder.code(written, scope)  # refuses an aggregate
        keys.append(_collated(results.codes[place], collation))
    return keys


def _collated(code: Code, collation: str | None) -> Code:
    if collation is None:
        return code
    return Code(code.evaluate, code.affinity, collation, True)


def _having(builder: Builder, node: exp.Expr, scope: Scope, grouped: bool) -> Code | None:
    having = node.args.get("having")
    if having is None:
        return None
    if not grouped:
        raise OperationalError("HAVING clause on a non-aggregate query")
    return builder.code(having.this, scope)


def _order(
    builder: Builder, node: exp.Expr, results: Results, scope: Scope
) -> tuple[list[Term], list[Code]]:
    """The terms of ORDER BY: a number or an alias is a result column, else an expression."""
    order = node.args.get("order")
    terms, codes = [], []
    for item in order.expressions if order is not None else []:
        expect(item, "this", "desc", "nulls_first")
        inner, collation = without_collate(item.this)
        place = _result_column(inner, results, scope)
        code = builder.code(item.this, scope) if place is None else results.codes[place]
        code = _collated(code, collation)
        terms.append(term_of(item, code.fold))
        codes.append(code)
    return terms, codes


def _result_column(node: exp.Expr, results: Results, scope: Scope) -> int | None:
    if isinstance(node, exp.Column) and not node.args.get("table"):
        wanted = node.name.lower()
        for place, name in enumerate(results.names):
            if name.lower() == wanted and scope.aliases.get(wanted) is results.nodes[place]:
                return place
    number = position_of(node)
    return None if number is None else checked_position(number, len(results.codes), "ORDER BY")


def _grouped(walk: Stage, keys: list[Code], scope: Scope, one: bool, having: Code | None) -> Stage:
    accepted = every([having.evaluate] if having is not None else [])

    def each_group() -> Iterator[None]:
        for _ in groups(walk, keys, scope, one):
            if accepted():
                yield None

    return each_group


def _finish(
    builder: Builder,
    node: exp.Expr,
    scope: Scope,
    results: Results,
    walk: Stage,
    terms: list[Term],
    sorting: list[Code],
) -> Callable[[], Iterator[Row]]:
    """What yields the rows: computed, made distinct, sorted and cut."""
    readings = [code.evaluate for code in results.codes]
    keys = [code.evaluate for code in sorting]
    folds = [code.fold for code in results.codes]
    once, limit = node.args.get("distinct") is not None, limits(builder, node, scope)

    def computed() -> Iterator[Keyed]:
        for _ in walk():
            yield tuple([read() for read in readings]), tuple([key() for key in keys])

    def rows() -> Iterator[Row]:
        wanted = limit()
        found: Iterator[Keyed] = computed() if wanted[0] != 0 else iter(())
        if once:
            found = distinct(found, folds)
        if terms:
            found = iter(in_order(found, terms))
        return cut((row for row, _ in found), wanted)

    return rows
