"""Asking and judging: one engine, the oracles, and a database that both know.

All that is to be asked about some cases goes to the engine in one batch, because a message costs as
much as a query; the answers are judged afterwards. A statement that two oracles ask about one case
is asked once. What a statement does to the database is never shared: a question that changes it
comes alone, on a new one.

Both sides must mean the same database. What the engine refuses of its setup is left out of what the
oracles are told; what SQLite refuses and the engine takes stays, where they speak one dialect,
since a row that should have been refused shows in the queries.
"""

from __future__ import annotations

import dataclasses
import re
import zlib
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from refute.fuzz.sql.text import Node
from refute.oracles.sql.partial.question import Answer, Case, Judged, Oracle, Question
from refute.oracles.sql.partial.written import text_of
from refute.oracles.sql.sqlite import SQLite
from refute.verifiers.sql.conform_engine import Embedded, Engine
from refute.verifiers.sql.conform_names import SQLITE
from refute.verifiers.sql.conform_run import Choice
from refute.verifiers.sql.fuzz_plan import Counts
from refute.verifiers.sql.fuzz_writing import Refused, dialect_of, writing_of

STEPS = 5_000_000  # instructions of the embedded SQLite for one statement
MOST_BROKEN = 4  # failures that are kept of one batch; the others are counted
SAID = 160  # characters of a reason
BUG = "a bug of refute"

_NUMBERS = re.compile(r"\b\d[\w.]*|\b0x[0-9a-f]+", re.IGNORECASE)
_QUOTED = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`")
_NAMES = re.compile(r"\b(?:[a-z]{1,2}\d+(?:\.[a-z]\w*)?|[a-z]\.[a-z]\w?)\b")


@dataclasses.dataclass(frozen=True)
class Failure:
    """A question that the engine's answers broke, as it was met.

    setup, query: in SQLite's dialect. seed: of the case. before: what the engine was asked on the
    database since its setup, as it was asked. kind: see `kind_of`.
    """

    oracle: str
    setup: tuple[str, ...]
    query: str
    seed: int
    program: int
    kind: str
    why: str
    expected: str
    observed: str
    asked_setup: tuple[str, ...]
    asked: tuple[str, ...]
    before: tuple[str, ...] = ()
    place: int = 0


class Asked(NamedTuple):
    """A question with the places of its answers in the batch."""

    case: Case
    question: Question
    slots: tuple[int, ...]


class Direct(Embedded):
    """The embedded SQLite in this process, its answers in the driver's form."""

    def answers(self, statements: Sequence[str]) -> Any:
        """One answer for each statement."""
        assert self._database is not None
        return self._database.run(statements)

    def again(self) -> None:
        """Begin with an empty database."""
        self.start(0)


def engine_of(choice: Choice) -> Engine:
    """The engine, not started. Raises UsageError."""
    return Direct(choice.timeout_s) if choice.engine == SQLITE else choice.open()


class Desk:
    """An engine with the oracles that judge it. program: what failures are numbered with."""

    def __init__(self, choice: Choice, oracles: Sequence[Oracle], counts: Counts) -> None:
        self.engine = engine_of(choice)
        self.dialect = dialect_of(choice)
        self.oracles = oracles
        self.counts = counts
        self.program = 0
        self.setup: tuple[str, ...] = ()
        self.failures: list[Failure] = []
        self._asked_setup: list[str] = []
        self._before: list[str] = []
        self._writing = writing_of(self.dialect)
        self._started = False
        self._own = SQLite(STEPS)

    def close(self) -> None:
        """Let the engine go."""
        self.engine.close()
        self._writing.close()
        self._own.close()

    def start(self, *, fresh: bool = False) -> None:
        """An empty database, in a fresh process if asked. Raises EngineLost, UsageError."""
        again = getattr(self.engine, "again", None)
        if fresh or not self._started or again is None:
            self.engine.start(0)
            self._started = True
        else:
            again()

    def begin(self, statements: Iterable[Node], *, fresh: bool = False) -> None:
        """A new database with this setup, as far as both sides take it. Raises as `start`."""
        self._writing.close()
        self._writing = writing_of(self.dialect)
        self.start(fresh=fresh)
        self._own.close()
        self._own = SQLite(STEPS)
        self.setup, self._asked_setup, self._before = (), [], []
        self.more(statements)

    def more(self, statements: Iterable[Node]) -> None:
        """More statements of the setup, on the database that is there."""
        trees, texts = [], []
        for tree in statements:
            text = self._writing.statement(tree)
            if isinstance(text, Refused):
                self.counts.rejected[f"cannot be written: {text.construct}"] += 1
            else:
                trees.append(tree)
                texts.append(text)
        kept = []
        for tree, text, answer in zip(trees, texts, self.engine.answers(texts), strict=False):
            self._asked_setup.append(text)
            plain = text_of(tree)
            self._writing.answered(plain, answer)
            own = self._own.run([plain])[0]
            self.counts.statements += 1
            if self._keeps(plain, own, answer):
                kept.append(plain)
        self.setup = (*self.setup, *kept)

    def _keeps(self, text: str, own: Answer, answer: Answer) -> bool:
        """Whether a statement of the setup stays a part of it."""
        if answer[0] == "error" and own[0] == "error":
            self.counts.refused_by_sqlite[reason_of(own)] += 1
            return True
        if answer[0] == "error":
            self.counts.rejected[reason_of(answer)] += 1
            return False
        return True

    def ask(self, cases: Sequence[Case]) -> None:
        """All questions about the cases that leave the database as it is; `failures` grow."""
        batch: list[str] = []
        asked: list[Asked] = []
        for case in cases:
            shared: dict[str, int] = {}
            for oracle in self.oracles:
                for question in self._questions(oracle, case):
                    if question.changes:
                        self.counts.not_asked += 1
                        continue
                    slots = self._slots(question, batch, shared)
                    if slots is not None:
                        asked.append(Asked(case, question, slots))
        self._judge(asked, batch)
        self.counts.queries += len(cases)

    def ask_alone(self, case: Case, question: Question) -> Judged | None:
        """One question, whatever it changes; None where it cannot be written."""
        batch: list[str] = []
        slots = self._slots(question, batch, {})
        if slots is None:
            return None
        answers = list(self.engine.answers(batch))
        self._before += batch
        return self._judged(question, [answers[slot] for slot in slots])

    def _questions(self, oracle: Oracle, case: Case) -> Sequence[Question]:
        try:
            return list(oracle.questions(case))
        except Exception as error:  # of refute's own: it must not end the run, and is told
            self._bug(oracle.name, error)
            return ()

    def _written(self, statement: Node | str) -> str | Refused:
        return statement if isinstance(statement, str) else self._writing.statement(statement)

    def _bug(self, oracle: str, error: Exception) -> None:
        self.counts.open[f"{BUG} in {oracle}: {type(error).__name__}: {error}"[:SAID]] += 1

    def _slots(
        self, question: Question, batch: list[str], shared: dict[str, int]
    ) -> tuple[int, ...] | None:
        """Put the question's statements into the batch; None where one cannot be written."""
        texts = []
        for statement in (*question.statements, *question.undo):
            text = self._written(statement)
            if isinstance(text, Refused):
                self.counts.open[f"cannot be written: {text.construct}"] += 1
                return None
            texts.append(text)
        first = len(batch)
        if question.undo or question.changes:
            batch += texts
            return tuple(range(first, first + len(question.statements)))
        slots = []
        for text in texts:
            slot = shared.get(text)
            if slot is None:
                slot = shared[text] = len(batch)
                batch.append(text)
            slots.append(slot)
        return tuple(slots)

    def _judge(self, asked: Sequence[Asked], batch: Sequence[str]) -> None:
        answers: list[Answer] = []
        try:
            answers += self.engine.answers(batch)
        finally:
            self._count(batch, answers)
            done = len(answers)
            for case, question, slots in asked:
                if max(slots, default=-1) < done:
                    self._one(case, question, [answers[slot] for slot in slots], batch, slots)
            self._before += batch

    def _count(self, batch: Sequence[str], answers: Sequence[Answer]) -> None:
        counts = self.counts
        counts.statements += len(answers)
        for text, answer in zip(batch, answers, strict=False):
            if answer[0] == "error":
                if self.dialect == "sqlite" and self._own.run([text])[0][0] == "error":
                    counts.refused_by_sqlite[reason_of(answer)] += 1
                else:
                    counts.rejected[reason_of(answer)] += 1
            elif answer[0] == "lost":
                counts.lost += 1

    def _one(
        self,
        case: Case,
        question: Question,
        answers: Sequence[Answer],
        batch: Sequence[str],
        slots: Sequence[int],
    ) -> None:
        """Judge one question."""
        judged = self._judged(question, answers)
        counts, name = self.counts, question.oracle
        counts.questions[name] += 1
        if judged.status == "held":
            counts.held[name] += 1
            counts.compared += 1
        elif judged.status == "open":
            counts.open[plain_reason(judged.why)] += 1
        else:
            counts.broken[name] += 1
            counts.compared += 1
            if len(self.failures) < MOST_BROKEN:
                before = (*self._before, *batch[: min(slots, default=0)])
                self.failures.append(self._failure(case, question, judged, answers, before))

    def _judged(self, question: Question, answers: Sequence[Answer]) -> Judged:
        try:
            return question.judge(answers)
        except Exception as error:  # as in `_questions`
            self._bug(question.oracle, error)
            return Judged("open", f"{BUG} in {question.oracle}")

    def _failure(
        self,
        case: Case,
        question: Question,
        judged: Judged,
        answers: Sequence[Answer],
        before: tuple[str, ...],
    ) -> Failure:
        written = map(self._written, question.statements)
        return Failure(
            oracle=question.oracle,
            setup=case.setup,
            query=text_of(case.query),
            seed=case.seed,
            program=self.program,
            kind=kind_of(answers),
            why=judged.why,
            expected=judged.expected,
            observed=judged.observed,
            asked_setup=tuple(self._asked_setup),
            asked=tuple(str(text) for text in written),
            before=before,
        )


def kind_of(answers: Sequence[Answer]) -> str:
    """How an engine broke: a smaller case must break in the same way to be the same defect."""
    for answer in answers:
        if answer[0] in ("lost", "crash", "unfit"):
            return f"{answer[0]}: {plain_reason(str(answer[-1]))}"
    return "error" if any(answer[0] == "error" for answer in answers) else "wrong"


def reason_of(answer: Answer) -> str:
    """A refusal's message, with what changes from query to query left out."""
    return plain_reason(str(answer[2]))


def plain_reason(text: str) -> str:
    """The first line of a message without its values, and with one name for all that are made."""
    line = text.split("\n", 1)[0][:SAID]
    return _NAMES.sub("…", _NUMBERS.sub("#", _QUOTED.sub("'…'", line)))


def seed_of(seed: int, number: int, place: int) -> int:
    """The seed of a case."""
    return zlib.crc32(f"{seed}/{number}/{place}".encode())
