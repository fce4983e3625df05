"""Statements as text in SQLite's dialect, and whether they only read."""

from __future__ import annotations

from sqlglot import exp

from refute.fuzz.sql.text import Node, read, write

_READS = (exp.Query, exp.Values)
_GIVEN = "given"


def text_of(tree: Node) -> str:
    """The statement in SQLite's dialect. A text that nobody could read is a Command, as it came."""
    if text := given(tree):
        return text
    if type(tree) is exp.Command and not tree.args.get("expression"):
        return str(tree.args["this"])
    return write(tree)


def tree_of(sql: str) -> Node:
    """The tree of a statement that came as text, and is asked as it came while it stays itself."""
    return kept_as(read(sql) or exp.Command(this=sql), sql)


def given(tree: Node) -> str:
    """The text that the statement came as; empty when it did not, or is a copy of one that did."""
    found = tree._meta and tree._meta.get(_GIVEN)
    return str(found[1]) if found and found[0] == id(tree) else ""


def kept_as(tree: Node, sql: str) -> Node:
    """The tree, which is asked as this text as long as it is not changed."""
    tree.meta[_GIVEN] = (id(tree), sql)
    return tree


def asked(tree: Node, dialect: str) -> Node | str:
    """What to ask an engine of the dialect: of SQLite's the text, so that it is written once."""
    return text_of(tree) if dialect == "sqlite" else tree


def writes(tree: Node) -> bool:
    """Whether the statement may change the database."""
    if isinstance(tree, _READS):
        return False
    words = text_of(tree).split(None, 1)
    return not words or words[0].upper() not in ("SELECT", "VALUES", "EXPLAIN")
