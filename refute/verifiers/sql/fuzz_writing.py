"""Statements as text for an engine: SQLite's dialect as it is, others through their writer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from refute.fuzz.sql.text import Node
from refute.oracles.sql.partial.written import text_of
from refute.verifiers.sql import fuzz_dialect
from refute.verifiers.sql.conform_names import SQLITE
from refute.verifiers.sql.conform_run import Choice
from refute.verifiers.sql.fuzz_dialect import Refused

__all__ = ["Plain", "Refused", "Writing", "dialect_of", "writing_of"]


class Writing(Protocol):
    """Writes the statements of one database, in their order, setup first.

    begins: what a session begins with, as texts for the engine.
    """

    begins: tuple[str, ...]

    def statement(self, tree: Node) -> str | Refused:
        """The statement in the engine's dialect."""
        ...

    def answered(self, sql: str, answer: Sequence[Any]) -> None:
        """Note what came of a statement that changes something; `sql` is SQLite's text of it."""
        ...

    def close(self) -> None:
        """Let go of what it knows of the database."""
        ...


class Plain:
    """SQLite's dialect."""

    begins: tuple[str, ...] = ()

    def statement(self, tree: Node) -> str | Refused:
        """The statement as SQLite has it."""
        return text_of(tree)

    def answered(self, sql: str, answer: Sequence[Any]) -> None:
        """Nothing is to be known."""

    def close(self) -> None:
        """Nothing is held."""


def dialect_of(choice: Choice) -> str:
    """The dialect that an engine is asked in.

    That of code under test and of programs is SQLite's, unless the choice says otherwise.
    """
    return choice.kind or fuzz_dialect.dialect_of(choice.engine)


def writing_of(dialect: str) -> Writing:
    """A writer for a new database of the dialect."""
    return Plain() if dialect == SQLITE else fuzz_dialect.Writing(dialect)
