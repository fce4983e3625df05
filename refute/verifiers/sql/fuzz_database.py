"""The database in use: an engine's, and what the oracles are told of it.

Both sides must mean the same database. What only one of them takes of its setup is left out, and
the database made anew without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from refute.fuzz.sql.text import Node
from refute.oracles.sql.partial.question import HELD, Answer, Case, Judged, Oracle, Question
from refute.oracles.sql.partial.written import text_of, tree_of
from refute.oracles.sql.sqlite import SQLite
from refute.verifiers.sql.conform_engine import EngineLost
from refute.verifiers.sql.conform_names import SQLITE
from refute.verifiers.sql.conform_run import Choice
from refute.verifiers.sql.fuzz_direct import engine_of
from refute.verifiers.sql.fuzz_failure import Failure, kind_of, reason_of
from refute.verifiers.sql.fuzz_plan import Counts
from refute.verifiers.sql.fuzz_writing import Refused, dialect_of, writing_of

STEPS = 5_000_000  # instructions of the embedded SQLite for one statement
OFTEN = "the engine was lost"
MOST_LOST = 3
UNWRITTEN = "cannot be written: "
ODD = Judged("open", "only one of the two takes it")


class Asked(NamedTuple):
    """A question with the places of its answers in the batch."""

    place: int
    case: Case
    question: Question
    slots: tuple[int, ...]


class Database:
    """An engine's databases, one after the other, with the oracles that judge what it answers.

    counts, failures, program: of the unit in work. setup: of the database in use, in SQLite's
    dialect, as both sides took it. refused: places of the unit's queries that were, ended: of those
    that ended the engine; losses: how often that was. log: questions asked on the database so far,
    kept where it is a list.
    """

    def __init__(self, choice: Choice, oracles: Sequence[Oracle], counts: Counts) -> None:
        self.engine = engine_of(choice)
        self.dialect = dialect_of(choice)
        self.oracles = {oracle.name: oracle for oracle in oracles}
        self.counts = counts
        self.program = 0
        self.failures: list[Failure] = []
        self.setup: tuple[str, ...] = ()
        self.asked_setup: tuple[str, ...] = ()
        self.refused: set[int] = set()
        self.ended: set[int] = set()
        self.losses = 0
        self.log: list[Asked] | None = None
        self._writing = writing_of(self.dialect)
        self._kinds: dict[int, tuple[str, ...]] = {}
        self._started = False
        self._sqlite: SQLite | None = None

    def close(self) -> None:
        """Let the engine go."""
        self.engine.close()
        self._writing.close()
        self._forget()

    def begin(self, statements: Sequence[Node | str], *, fresh: bool = False) -> None:
        """A new database with this setup, as far as both sides take it.

        What both refuse stays in; what one of them takes alone is left out, and where that breaks
        an oracle it is one of the failures. fresh: in a new process. Raises EngineLost.
        """
        trees = [tree_of(s) if isinstance(s, str) else s for s in statements]
        counts = self.counts
        try:
            while odd := self._begun(trees, fresh=fresh):
                trees = [tree for place, tree in enumerate(trees) if place not in odd]
                self.counts = Counts()  # what is asked again was counted before
        finally:
            self.counts = counts

    def extend(self, statement: str) -> None:
        """One statement more of the setup; it must change no row. Left out where it is refused."""
        text = self.written(tree_of(statement))
        if isinstance(text, Refused):
            return
        own = SQLite(STEPS)
        fit = own.run([*self.setup, statement])[-1][0] == "done"
        own.close()
        if fit and next(iter(self.engine.answers([text])))[0] == "done":
            self.setup = (*self.setup, statement)
            self.asked_setup = (*self.asked_setup, text)
            self._forget()

    def written(self, statement: Node | str) -> str | Refused:
        """A statement as the engine is asked it."""
        return statement if isinstance(statement, str) else self._writing.statement(statement)

    def _begun(self, trees: Sequence[Node], *, fresh: bool) -> set[int]:
        """A new database with the setup; places of what only one of the two took."""
        self._writing.close()
        self._writing = writing_of(self.dialect)
        self._start(fresh=fresh)
        for _ in self.engine.answers(begins) if (begins := self._writing.begins) else ():
            pass  # what an engine has no word for, its tables cannot be made of either
        self._forget()
        self.setup, self.asked_setup = (), ()
        if self.log is not None:
            self.log = []
        written = []
        for place, tree in enumerate(trees):
            text = self._writing.statement(tree)
            if isinstance(text, Refused):
                self.counts.rejected[f"{UNWRITTEN}{text.construct}"] += 1
            else:
                plain = text if self.dialect == SQLITE else text_of(tree)
                written.append((place, plain, text))
        self.setup = tuple(plain for _, plain, _ in written)
        answers: list[Answer] = []
        for answer in self.engine.answers([text for _, _, text in written]) if written else ():
            answers.append(answer)
            if answer[0] == "lost":
                self.losses += 1
                break
        self.counts.statements += len(answers)
        self.asked_setup = tuple(text for _, _, text in written[: len(answers)])
        odd = self._taken_by_one(written, answers)
        if self.losses >= MOST_LOST:
            raise EngineLost(f"{OFTEN} {MOST_LOST} times in one program")
        return odd

    def _taken_by_one(
        self, written: Sequence[tuple[int, str, str]], answers: Sequence[Answer]
    ) -> set[int]:
        odd = set()
        for at, (answer, said) in enumerate(zip(answers, self._said(answers), strict=True)):
            self._writing.answered(self.setup[at], answer)
            if answer[0] not in ("done", "rows"):
                self._crashed(at, answer)
            if answer[0] == "error":
                both = said.status == "held"
                where = self.counts.refused_by_sqlite if both else self.counts.rejected
                where[reason_of(answer)] += 1
            if said.status != "held":
                odd.add(written[at][0])
            if said.status == "broken":
                self._break(at, SQLITE, said)
        return odd

    def _said(self, answers: Sequence[Answer]) -> Sequence[Judged]:
        """Whether SQLite takes and refuses the same statements of the setup, one by one."""
        judge = getattr(self.oracles.get(SQLITE), "setup_judged", None)
        if judge is not None:
            judged: Sequence[Judged] = judge(self.setup, answers)
            return judged
        own = SQLite(STEPS)
        pairs = zip(answers, own.run(self.setup[: len(answers)]), strict=True)
        said = [HELD if (a[0] == "error") == (b[0] == "error") else ODD for a, b in pairs]
        own.close()
        return said

    def _crashed(self, at: int, answer: Answer) -> None:
        """A statement of the setup that was not answered, or by an error that may be internal."""
        oracle = self.oracles.get("crash")
        self.counts.lost += answer[0] == "lost"
        if oracle is None:
            return
        case = Case(self.setup[:at], tree_of(self.setup[at]), 0, self.dialect)
        for question in oracle.questions(case):
            judged = question.judge([answer])
            if judged.status == "broken":
                self._break(at, "crash", judged, kind_of([answer]))

    def _break(self, at: int, oracle: str, judged: Judged, kind: str = "") -> None:
        """A statement of the setup breaks an oracle."""
        self.counts.broken[oracle] += 1
        self.failures.append(
            Failure(
                oracle=oracle,
                setup=self.setup[:at],
                query=self.setup[at],
                seed=0,
                program=self.program,
                kind=kind or judged.why,
                why=judged.why,
                expected=judged.expected,
                observed=judged.observed,
                asked_setup=self.asked_setup[:at],
                asked=self.asked_setup[at : at + 1],
            )
        )

    def _start(self, *, fresh: bool) -> None:
        again = getattr(self.engine, "again", None)
        if fresh or not self._started or again is None:
            self.engine.start(0)
            self._started = True
        else:
            again()

    def _own(self, statement: str) -> Answer:
        """What the embedded SQLite says on a database of its own."""
        if self._sqlite is None:
            self._sqlite = SQLite(STEPS)
            self._sqlite.run(self.setup)
        return self._sqlite.run([statement])[0]

    def _forget(self) -> None:
        if self._sqlite is not None:
            self._sqlite.close()
            self._sqlite = None
