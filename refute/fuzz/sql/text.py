"""SQL text and syntax trees: how this project reads and writes SQLite's dialect with sqlglot.

The library's writer for SQLite gives NUMERIC as REAL, which has another affinity, and so would
change the meaning of a table; here it keeps its name.
"""

from __future__ import annotations

import functools
import logging
from typing import ClassVar, TypeAlias

import sqlglot
from sqlglot import exp
from sqlglot.dialects.sqlite import SQLite
from sqlglot.errors import SqlglotError
from sqlglot.generators.sqlite import SQLiteGenerator

_LARGEST = 200_000  # characters of a statement that is read

_DIALECT = SQLite()
_LOG = logging.getLogger("sqlglot")

Node: TypeAlias = exp.Expr


class _Writer(SQLiteGenerator):
    """Writes trees as text, types under their own names."""

    TYPE_MAPPING: ClassVar = {**SQLiteGenerator.TYPE_MAPPING, exp.DType.DECIMAL: "NUMERIC"}

    def identifier_sql(self, expression: exp.Identifier) -> str:
        """A name that came without quotes goes without them; a third of all nodes are names."""
        if expression.args.get("quoted"):
            return super().identifier_sql(expression)
        return str(expression.args["this"])


def write(tree: Node) -> str:
    """The text of a tree. A writer has state, so each text gets its own, from any thread."""
    return _Writer(dialect=_DIALECT).generate(tree, copy=False)


@functools.lru_cache(maxsize=512)
def _read(sql: str) -> Node | None:
    before, _LOG.disabled = _LOG.disabled, True  # what it cannot read it would tell a terminal
    try:
        return sqlglot.parse_one(sql, dialect=SQLite)
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
