"""Statements in an engine's own dialect: read and written by sqlglot as it has that dialect.

A script that somebody gives for an engine may say what SQLite has no words for. It is asked as it
stands, and oracles that compare an engine's answers with each other ask about its queries in the
same dialect; nothing is translated, so nothing is said of SQLite.
"""

from __future__ import annotations

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from refute.fuzz.sql.text import Node
from refute.oracles.sql.partial.written import given, kept_as

ORACLES = ("tlp", "norec", "plans", "crash")
"""Those that need neither SQLite nor its rules for types."""

_NAMES = {"duckdb": "duckdb", "postgresql": "postgres", "mysql": "mysql"}


def own_tree(sql: str, dialect: str) -> Node:
    """The tree of a statement in a dialect, which is asked as it came while it stays itself."""
    try:
        found = sqlglot.parse(sql, read=_NAMES.get(dialect, ""))
    except (SqlglotError, RecursionError):
        found = []
    tree = found[0] if len(found) == 1 and found[0] is not None else exp.Command(this=sql)
    return kept_as(tree, sql)


def own_text(tree: Node, dialect: str) -> str:
    """The statement in the dialect."""
    text = given(tree)
    if text:
        return text
    made: str = tree.copy().sql(dialect=_NAMES.get(dialect, ""))
    return made
