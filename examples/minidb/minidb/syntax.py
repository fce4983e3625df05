"""From SQL text to sqlglot's syntax tree, keeping what SQLite gives a meaning to.

Two things are lost by sqlglot's own parser for the SQLite dialect: the words of a declared type,
which decide its affinity, and the names of functions, which it replaces by those of other
dialects. And a part of the tree that minidb does not know must not be ignored: `expect` refuses it.
"""

from __future__ import annotations

from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.dialects.sqlite import SQLite
from sqlglot.errors import SqlglotError
from sqlglot.parsers.sqlite import SQLiteParser

from minidb.affinity import Affinity, affinity_of_type
from minidb.errors import NotSupportedError, OperationalError, ProgrammingError

DECLARED, POSITION = "declared", "position"


class Grammar(SQLite):
    """SQLite's dialect with the words of types and the names of functions kept."""

    class Parser(SQLiteParser):
        """The parser of that dialect."""

        FUNCTIONS: ClassVar[dict[str, Any]] = {}
        FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {"CAST": SQLiteParser.FUNCTION_PARSERS["CAST"]}
        NO_PAREN_FUNCTIONS: ClassVar[dict[Any, Any]] = {}

        def _parse_types(self, *args: Any, **named: Any) -> exp.Expr | None:
            first = self._curr
            node = super()._parse_types(*args, **named)
            if isinstance(node, exp.DataType) and first is not None:
                node.meta[DECLARED] = self.sql[first.start : self._prev.end + 1]
            return node

        def _parse_placeholder(self) -> exp.Expr | None:
            node = super()._parse_placeholder()
            if isinstance(node, exp.Placeholder):
                node.meta[POSITION] = self._prev.start
            return node


_DIALECT = Grammar()


def parse(sql: str) -> exp.Expr | None:
    """The one statement of the text, None if there is none; a syntax error is OperationalError."""
    try:
        statements = [node for node in _DIALECT.parse(sql) if node is not None]
    except (SqlglotError, RecursionError) as error:
        raise OperationalError(f"syntax error: {str(error).splitlines()[0]}") from None
    if len(statements) > 1:
        raise ProgrammingError("You can only execute one statement at a time.")
    return statements[0] if statements else None


def expect(node: exp.Expr, *known: str) -> None:
    """Refuse a node that says more than its caller reads; `known` names the parts that it reads."""
    for part, value in node.args.items():
        if value not in (None, False, []) and part not in known:
            raise NotSupportedError(f"{node.key} with {part.strip('_')}: {node.sql('sqlite')}")


def declared_type(node: exp.Expr | None) -> str:
    """The words of a column's type, without its length; empty if none were written."""
    words = str(node.meta.get(DECLARED, "")) if node is not None else ""
    if node is not None and not words:
        raise NotSupportedError(f"type {node.sql('sqlite')}")
    return words.partition("(")[0].strip()


def cast_affinity(node: exp.Expr) -> Affinity:
    """The affinity of the type that CAST names."""
    return affinity_of_type(declared_type(node))


def bare(node: exp.Expr) -> exp.Expr:
    """The expression without the parentheses around it."""
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def name_of(node: Any) -> str:
    """The name that an identifier, column or table has in SQL, without its quotes."""
    return str(node.name if isinstance(node, exp.Expr) else node)


def table_name(node: exp.Expr) -> str:
    """The name of a table; only the schema `main` exists."""
    if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
        raise NotSupportedError(f"a table written as {node.sql('sqlite')}")
    if node.args.get("catalog") or name_of(node.args.get("db") or "main").lower() != "main":
        raise OperationalError(f"unknown database: {node.sql('sqlite')}")
    return node.name
