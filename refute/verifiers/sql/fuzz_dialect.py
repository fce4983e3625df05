"""Statements of a fuzzing run, written for an engine that does not speak SQLite's dialect.

One database has one `Writing`, which is fed every statement that makes it, in order, and then the
queries. What cannot be said there so that it means the same is refused by the name of its
construct: it is not asked, and counted. So is whatever reads what the engine lacks after that.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from refute.fuzz.sql.text import Node
from refute.oracles.sql.differences_errors import UNSUPPORTED, says, unsupported_what
from refute.oracles.sql.transpile.targets import target_of
from refute.oracles.sql.transpile.translator import Translator
from refute.verifiers.sql.conform_names import scheme_of

_SCHEMES = {"postgresql": "postgresql", "postgres": "postgresql"}
_SCHEMES |= {"mysql": "mysql", "mariadb": "mysql"}
_OWN = ("duckdb", "datafusion")


@dataclasses.dataclass(frozen=True)
class Refused:
    """A statement that is not asked. construct: a few words for what cannot be said."""

    construct: str


def dialect_of(engine: str) -> str:
    """The dialect of what `--engine` names: SQLite's, unless it is known to have its own."""
    return engine if engine in _OWN else _SCHEMES.get(scheme_of(engine), "sqlite")


class Writing:
    """Writes the statements of one database. dialect: a name that `target_of` knows.

    kinds: of the result columns of the query that was written last (`transpile.kinds`); empty for
    SQLite's dialect. begins: statements that a session begins with, as texts for the engine.
    """

    def __init__(self, dialect: str) -> None:
        self.dialect = dialect
        self.kinds: tuple[str, ...] = ()
        target = target_of(dialect)
        self.begins = target.begins
        self._translator = Translator(target, strict=True)

    def statement(self, tree: Node, sql: str = "") -> str | Refused:
        """The text for the engine; the tree stays as it is. sql: its text, where it is known."""
        made = self._translator.translate_tree(tree, sql)
        self.kinds = made.kinds
        return Refused(made.construct) if made.construct else made.texts[0]

    def answered(self, sql: str, answer: Sequence[Any]) -> None:
        """Note what came of a statement that changes something. sql: in SQLite's dialect.

        Where the engine says that it has no such statement, its tables are behind SQLite's.
        """
        if answer[0] == "error" and says(answer, "unsupported", UNSUPPORTED):
            self._translator.refused(sql, unsupported_what(answer))

    def close(self) -> None:
        """Let go of what it knows of the database."""
        self._translator.close()
