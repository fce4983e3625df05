"""SQL text and syntax trees: how this project reads and writes SQLite's dialect with sqlglot.

What SQLite takes as different stays different when it is read and written again, where the library
would let it fall together: NUMERIC and REAL, which are two affinities; `+x`, which takes affinity
and collation from a column, and `x` (a Paren with `plus`); a comma and CROSS JOIN, which orders the
loops (a Join with `comma`); a join without ON and one with ON TRUE (`alone`); IFNULL and COALESCE
(`is_nvl`); `x IS NOT NULL` and `NOT x IS NULL`, of which only the first fits the condition of a
partial index. Writers of other dialects, which know nothing of these marks, write parentheses,
CROSS JOIN, ON TRUE and COALESCE. SUBSTRING is SUBSTR, as in every release.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import types
from collections.abc import Iterator
from typing import Any, ClassVar, TypeAlias

import sqlglot
from sqlglot import exp
from sqlglot.dialects.sqlite import SQLite
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import TokenType

from refute.errors import UsageError
from refute.fuzz.sql.definitions import DefinitionParser, DefinitionWriter, read_definition
from refute.fuzz.sql.nodes import settled
from refute.fuzz.sql.writing import is_not
from refute.fuzz.sql.writing_queries import texts_of

_LARGEST = 200_000  # characters of a statement that is read

_LOG = logging.getLogger("sqlglot")

Node: TypeAlias = exp.Expr


def check_library(kind: type) -> None:
    """Raises UsageError where the library's classes are compiled, as the package sqlglotc has them.

    Classes of Python cannot inherit from those, and readers and writers here do.
    """
    if not isinstance(kind.__init__, types.FunctionType):  # type: ignore[misc]
        raise UsageError(
            "sqlglot is installed with its compiled classes, which refute cannot extend",
            thing="package",
            value="sqlglotc",
            possible=("sqlglot without sqlglotc",),
            next_step="uninstall the package sqlglotc, or use another environment",
        )


check_library(exp.Expression)


class _Parser(DefinitionParser):
    """Reads SQLite's dialect, and marks what would be lost."""

    UNARY_PARSERS: ClassVar = {
        **DefinitionParser.UNARY_PARSERS,
        TokenType.PLUS: lambda self: exp.Paren(this=self._parse_unary(), plus=True),
    }
    FUNCTIONS: ClassVar = {
        **DefinitionParser.FUNCTIONS,
        "IFNULL": lambda args: exp.Coalesce(this=args[0], expressions=args[1:], is_nvl=True),
    }

    def _parse_join(self, *args: Any, **options: Any) -> exp.Join | None:
        comma = self._curr is not None and self._curr.token_type == TokenType.COMMA
        join = super()._parse_join(*args, **options)
        if join is not None and comma:
            join.set("comma", True)
        on = None if join is None else join.args.get("on")
        if join is not None and isinstance(on, exp.Boolean) and not self._ends_with_true():
            join.set("alone", True)
        return join

    def _parse_is_rhs(self, distinct: bool = False) -> exp.Expr | None:
        """What IS compares with; `+TRUE` is the number 1, and its plus would be lost otherwise."""
        found: exp.Expr | None = super()._parse_is_rhs(distinct)
        inner, signed = found, False
        while isinstance(inner, exp.Paren):
            inner, signed = inner.this, signed or bool(inner.args.get("plus"))
        if signed and isinstance(inner, exp.Boolean):
            inner.replace(exp.Literal.number(int(inner.this)))
        return found

    def _ends_with_true(self) -> bool:
        return self._prev is not None and self._prev.text.upper() in ("TRUE", "FALSE")


class _Writer(DefinitionWriter):
    """Writes trees as text, types under their own names."""

    TYPE_MAPPING: ClassVar = {**DefinitionWriter.TYPE_MAPPING, exp.DType.DECIMAL: "NUMERIC"}

    def identifier_sql(self, expression: exp.Identifier) -> str:
        """A name that came without quotes goes without them; a third of all nodes are names."""
        if expression.args.get("quoted"):
            return super().identifier_sql(expression)
        return str(expression.args["this"])

    def paren_sql(self, expression: exp.Paren) -> str:
        """Parentheses, or a plus."""
        if expression.args.get("plus"):
            return f"+{self.sql(expression, 'this')}"
        return super().paren_sql(expression)

    def join_sql(self, expression: exp.Join, join_op: str | None = None) -> str:
        """A join, or a comma."""
        this = self.sql(expression, "this")
        if expression.args.get("comma") and not expression.args.get("on"):
            return f", {this}"
        if expression.args.get("alone"):
            words = (expression.method, expression.side, expression.kind)
            return f" {' '.join(filter(None, words))} JOIN {this}".replace("  ", " ")
        return super().join_sql(expression, join_op)

    def coalesce_sql(self, expression: exp.Coalesce) -> str:
        """COALESCE, or IFNULL."""
        name = "IFNULL" if expression.args.get("is_nvl") else "COALESCE"
        return self.func(name, expression.this, *expression.expressions)

    def substring_sql(self, expression: exp.Substring) -> str:
        """SUBSTR."""
        given = (expression.args.get(name) for name in ("this", "start", "length"))
        return self.func("SUBSTR", *(part for part in given if part is not None))

    def not_sql(self, expression: exp.Not) -> str:
        """NOT in front, or IS NOT."""
        if not is_not(expression):
            return super().not_sql(expression)
        inner = expression.this
        return f"{self.sql(inner, 'this')} IS NOT {self.sql(inner, 'expression')}"


class _SQLite(SQLite):
    """SQLite's dialect with that reader and writer."""

    Parser = _Parser
    Generator = _Writer


_DIALECT = _SQLite()


def write_slowly(tree: Node) -> str:
    """As `write`, with sqlglot's writer. It has state, so each text gets its own, in any thread."""
    return _Writer(dialect=_DIALECT).generate(settled(tree), copy=False)


_TEXTS = texts_of(write_slowly)


def write(tree: Node) -> str:
    """The text of a tree."""
    return _TEXTS[type(tree)](tree).strip()


@contextlib.contextmanager
def remembering() -> Iterator[None]:
    """While this lasts, no tree is changed in place, and what trees share is written once."""
    _TEXTS.known = {}
    try:
        yield
    finally:
        _TEXTS.known = None


def _parsed(sql: str) -> Node:
    return sqlglot.parse_one(sql, dialect=_DIALECT)


@functools.lru_cache(maxsize=512)
def _read(sql: str) -> Node | None:
    before, _LOG.disabled = _LOG.disabled, True  # what it cannot read it would tell a terminal
    try:
        return read_definition(sql, _parsed) or _parsed(sql)
    except (SqlglotError, RecursionError):
        return None
    finally:
        _LOG.disabled = before


def read(sql: str) -> Node | None:
    """A tree of the statement, the caller's own; None when it cannot be read."""
    tree = look(sql)
    return None if tree is None else tree.copy()


def look(sql: str) -> Node | None:
    """As `read`, for whoever only looks: the tree belongs to all."""
    return _read(sql) if len(sql) <= _LARGEST else None
