"""The compiler of one statement: which handler takes a node, and where the rows of FROM come from.

Everything is compiled once per execution and then only evaluated. A node without a handler is
refused by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from sqlglot import exp

from minidb import calls, expressions, predicates
from minidb.compound import compile_compound
from minidb.errors import NotSupportedError, ProgrammingError
from minidb.scope import Code, Column, Query, Row, Scope, Source
from minidb.select import compile_select
from minidb.syntax import POSITION, expect, name_of, table_name
from minidb.table import Table
from minidb.values import Value

HANDLERS = {**expressions.HANDLERS, **predicates.HANDLERS, **calls.HANDLERS}


class Catalogue(Protocol):
    """Where tables are found."""

    def table(self, name: str) -> Table:
        """The table; OperationalError if there is none."""


class Compiler:
    """Compiles the expressions and queries of one statement."""

    def __init__(self, catalogue: Catalogue, parameters: Sequence[Value] = ()) -> None:
        self._catalogue = catalogue
        self._parameters = list(parameters)
        self._bound: dict[int, Value] = {}
        self._scans: dict[str, list[Row]] = {}
        self._named: list[dict[str, exp.Expr]] = []

    def bind(self, statement: exp.Expr) -> None:
        """Give each `?` its parameter; ProgrammingError if their number differs."""
        holes = sorted(statement.find_all(exp.Placeholder), key=lambda hole: hole.meta[POSITION])
        if any(hole.this for hole in holes):
            raise NotSupportedError("named parameters")
        if len(holes) != len(self._parameters):
            raise ProgrammingError(
                f"Incorrect number of bindings supplied. The current statement uses {len(holes)}, "
                f"and there are {len(self._parameters)} supplied."
            )
        self._bound = {id(h): v for h, v in zip(holes, self._parameters, strict=True)}

    def parameter(self, node: exp.Expr) -> Value:
        """The value bound to a placeholder."""
        return self._bound[id(node)]

    def code(self, node: exp.Expr, scope: Scope) -> Code:
        """Compile one expression in a scope."""
        handler = HANDLERS.get(type(node))
        if handler is None:
            raise NotSupportedError(f"{node.key}: {node.sql('sqlite')}")
        return handler(self, node, scope)

    def query(self, node: exp.Expr, parent: Scope | None) -> Query:
        """Compile one SELECT or compound inside a scope."""
        if isinstance(node, exp.Subquery):
            expect(node, "this", "alias")
            return self.query(node.this, parent)
        if isinstance(node, exp.Select | exp.SetOperation):
            if isinstance(node, exp.Select):
                return compile_select(self, node, parent, self._source)
            return compile_compound(self, node, parent)
        raise NotSupportedError(f"{node.key} as a query: {node.sql('sqlite')}")

    def _source(self, node: exp.Expr, scope: Scope) -> Source:
        """The item of FROM that a node describes."""
        if isinstance(node, exp.Table):
            return self._table(node)
        if isinstance(node, exp.Subquery) and not isinstance(node.this, exp.Table):
            expect(node, "this", "alias")
            return self._derived(node, scope)
        raise NotSupportedError(f"{node.key} in FROM: {node.sql('sqlite')}")

    def _table(self, node: exp.Table) -> Source:
        expect(node, "this", "alias", "db")
        table = self._catalogue.table(table_name(node))
        scans = self._scans

        def load() -> list[Row]:
            if table.name not in scans:
                scans[table.name] = table.scan()
            return scans[table.name]

        alias = self._alias(node)
        columns = [Column(c.name, c.affinity, c.collation) for c in table.columns]
        return Source(alias or table.name, columns, load, has_rowid=True)

    def _derived(self, node: exp.Subquery, scope: Scope) -> Source:
        query = self.query(node.this, scope.parent)
        for used in query.depends:
            scope.depends.add(used)
        kept: list[list[Row]] = []

        def load() -> list[Row]:
            if query.depends:
                return list(query.rows())
            if not kept:
                kept.append(list(query.rows()))
            return kept[0]

        return Source(self._alias(node), _distinct_names(query.columns), load)

    @staticmethod
    def _alias(node: exp.Expr) -> str:
        alias = node.args.get("alias")
        if alias is None:
            return ""
        expect(alias, "this")
        return name_of(alias)


def _distinct_names(columns: list[Column]) -> list[Column]:
    """The columns of a derived table, each with a collation; a name that is taken gets a number."""
    seen: set[str] = set()
    named = []
    for column in columns:
        name, count = column.name, 0
        while name.lower() in seen:
            count += 1
            name = f"{column.name}:{count}"
        seen.add(name.lower())
        named.append(Column(name, column.affinity, column.collation or "BINARY"))
    return named


def evaluate_constant(compiler: Compiler, node: exp.Expr) -> Value:
    """The value of an expression that names no column."""
    return compiler.code(node, Scope(None)).evaluate()


def run_query(compiler: Compiler, node: exp.Expr) -> tuple[list[str], Iterator[Row]]:
    """Names and rows of a query."""
    query = compiler.query(node, None)
    return [column.name for column in query.columns], query.rows()
