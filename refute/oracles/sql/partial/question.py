"""Cases and questions: what the oracles are given, what they ask, and how answers are judged."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, Protocol

from refute.fuzz.sql.text import Node
from refute.oracles.sql.partial.written import text_of

Answer = Sequence[Any]
"""What came of one statement, in the form of `refute.oracles.sql.driver`, or ["lost", how]."""

Status = Literal["held", "broken", "open"]


@dataclasses.dataclass(frozen=True)
class Case:
    """A database and one query of it.

    setup: the statements that made the database, in SQLite's dialect. query: its tree, shared by
    all oracles, which copy what they change. seed: of an oracle's own choices, so that the same
    case asks the same questions. dialect: of the engine: "sqlite", "duckdb", "postgres", …
    """

    setup: tuple[str, ...]
    query: Node
    seed: int = 0
    dialect: str = "sqlite"

    @functools.cached_property
    def text(self) -> str:
        """The query in SQLite's dialect, written once for all oracles."""
        return text_of(self.query)

    @property
    def asked(self) -> Node | str:
        """The query as an engine of the dialect is asked it: as a text where it is SQLite's."""
        return self.text if self.dialect == "sqlite" else self.query


@dataclasses.dataclass(frozen=True)
class Judged:
    """status: "open" says nothing about the engine, and `why` says for what reason.

    expected, observed: for people, of a broken question.
    """

    status: Status
    why: str = ""
    expected: str = ""
    observed: str = ""


HELD = Judged("held")


@dataclasses.dataclass(frozen=True)
class Question:
    """Statements that are asked in a row on the case's database, and the judge of their answers.

    statements: trees in SQLite's dialect, written for the engine by whoever asks; texts go as they
    are. judge: gets one answer for each. undo: statements that restore what these changed, such as
    settings; they are asked afterwards whatever the answers are. changes: whether the statements
    change the database, so that the next question needs a new one.
    """

    oracle: str
    statements: tuple[Node | str, ...]
    judge: Callable[[Sequence[Answer]], Judged]
    undo: tuple[Node | str, ...] = ()
    changes: bool = False


class Oracle(Protocol):
    """One way to refute an engine. It is made once for a run, and used for many cases."""

    name: str

    def questions(self, case: Case) -> Iterator[Question]:
        """What it asks about a case; nothing where it has nothing to say of such a query.

        The same case gives the same questions, on any machine.
        """
        ...
