"""Reference: the embedded SQLite is asked the same, and its answer is right.

Sees: any wrong row, value or type, a wrong order where ORDER BY fixes it, missing and additional
rows; a row that is accepted although it breaks a constraint, and one that is refused although it
breaks none; tables that hold something else after the same statements, wherever a query shows it.

Does not see: what SQLite itself has wrong, which is why a second SQLite is asked before anything is
told (`refute.oracles.sql.second_sqlite`); what SQL leaves open, where any answer counts as right or
as open (`refute.oracles.sql.compare`); and anything that only one of the two accepts: a statement
that the engine refuses is told as open, with its message, and so is one that SQLite refuses.

SQLite runs in this process, in a database of its own, which is kept as long as the setup stays the
same. Equal answers cost one comparison of texts; only others are looked at closely.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sqlglot import exp

from refute.fuzz.sql.text import look
from refute.oracles.sql.compare import STEPS, Compared, compare, overflow_is_open
from refute.oracles.sql.partial import across
from refute.oracles.sql.partial.question import HELD, Answer, Case, Judged, Question
from refute.oracles.sql.partial.written import writes
from refute.oracles.sql.said import said
from refute.oracles.sql.sqlite import SQLite

CONSTRAINT = "sqlite3.IntegrityError"
SQLITE = "sqlite"
_REFUSED = "the engine refuses it: "
_ALTERS = re.compile(r"\s*ALTER\s+TABLE\b", re.IGNORECASE)
_ASTRAY = re.compile(  # what an engine that has ALTER says where it loses its way in its own schema
    r"\berror in (?:index|view|trigger|table)\b|\bno such column\b", re.IGNORECASE
)
_CHANGES_NOTHING = re.compile(r"\s*(?:REINDEX|VACUUM)\b", re.IGNORECASE)  # but how rows lie
_BREAKS = re.compile(
    r"\b(?:unique|not null|check|primary key|foreign key|duplicate key)\b.{0,20}"
    r"\b(?:constraint|violat|failed|key)|constraint (?:failed|error|violation)|duplicate entry",
    re.IGNORECASE,
)


class Reference:
    """The oracle `sqlite`."""

    name = SQLITE

    def __init__(self) -> None:
        self._setup: tuple[str, ...] | None = None
        self._database: SQLite | None = None
        self._answers: list[Answer] = []

    def questions(self, case: Case) -> Iterator[Question]:
        """The query as it is."""
        text, changes = case.text, writes(case.query)

        def judge(answers: Sequence[Answer]) -> Judged:
            return self._judged(case, text, answers[0], changes)

        yield Question(self.name, (case.asked,), judge, changes=changes)

    def setup_judged(self, setup: Sequence[str], answers: Sequence[Answer]) -> list[Judged]:
        """What the engine's answers to the setup say, one by one.

        "open" is what one of the two refuses and the other does not, for other reasons than a
        constraint: from there on the databases differ, unless the statement is left out of both.
        """
        self._prepare(tuple(setup))
        pairs = zip(setup, self._answers, answers, strict=False)
        return [_statement_judged(sql, right, left) for sql, right, left in pairs]

    def close(self) -> None:
        """Let the database go."""
        if self._database is not None:
            self._database.close()
        self._database, self._setup = None, None

    def _prepare(self, setup: tuple[str, ...]) -> SQLite:
        """The database after the setup."""
        if self._database is None or setup != self._setup:
            self.close()
            self._database = SQLite(STEPS)
            self._answers = list(self._database.run(setup))
            self._setup = setup
        return self._database

    def _judged(self, case: Case, text: str, left: Answer, changes: bool) -> Judged:
        right = self._prepare(case.setup).answer(text)
        if changes:
            self.close()
        if left[0] == "rows" and right[0] == "rows":
            if case.dialect != SQLITE and across.same(case.query, right, left):
                return HELD
            if _same(left, right):
                return HELD
        return _judged(case, text, _listed(right), left)


def _same(left: Answer, right: Answer) -> bool:
    """Whether rows are the same text, column for column and in the same order."""
    if len(left[1]) != len(right[1]) or len(left[2]) != len(right[2]):
        return False
    return repr(list(map(list, left[2]))) == repr(list(map(list, right[2])))


def _listed(answer: Answer) -> Answer:
    """An answer of `SQLite.answer` in the driver's form."""
    if answer[0] != "rows":
        return list(answer)
    return ["rows", [column[0] for column in answer[1]], list(map(list, answer[2]))]


def _judged(case: Case, text: str, right: Answer, left: Answer) -> Judged:
    """What two answers to the query say that are not the same."""
    match left[0]:
        case "lost" | "crash":
            return Judged("open", "no answer")
        case "error":
            return Judged("open", _refusal(case, text, right, left))
        case "unfit":
            return Judged("open", f"an answer that is none: {left[1]}")
    if case.dialect == SQLITE:
        compared = compare(case.setup, text, right, left)
    else:
        compared = across.compared(case.dialect, case.setup, text, right, left)
    return _told(compared, right, left)


def _told(compared: Compared, right: Answer, left: Answer) -> Judged:
    match compared.status:
        case "same":
            return HELD
        case "open":
            return Judged("open", compared.why)
    return Judged("broken", compared.why, f"SQLite: {said(right)}", said(left))


def _refusal(case: Case, text: str, right: Answer, left: Answer) -> str:
    if right[0] == "error":
        return "both refuse it"
    if overflow_is_open(case.setup, text, left[2]):
        return "a sum that overflows in some order only"
    return f"{_REFUSED}{left[2]}"


def _statement_judged(sql: str, right: Answer, left: Answer) -> Judged:
    """What the two answers to a statement of the setup say."""
    refused = right[0] == "error"
    if left[0] in ("lost", "crash", "unfit") or right[0] == "unfit":
        return Judged("open", "no answer")
    if refused == (left[0] == "error"):
        return HELD
    if refused and right[1] == CONSTRAINT and _is_fixed(sql):
        return Judged("broken", "accepted", f"SQLite: {said(right)}", said(left))
    if refused:
        return Judged("open", f"SQLite: {right[2]}")
    breaks = _BREAKS.search(left[2]) and _is_fixed(sql)
    if breaks or (_ALTERS.match(sql) and _ASTRAY.search(left[2])):
        return Judged("broken", "refused", f"SQLite: {said(right)}", said(left))
    return Judged("open", f"{_REFUSED}{left[2]}")


def _is_fixed(sql: str) -> bool:
    """Whether a constraint is broken or not in whatever order the rows are changed.

    UPDATE may meet a key that another row is about to leave.
    """
    if _CHANGES_NOTHING.match(sql):
        return True
    tree = look(sql)
    return isinstance(tree, exp.Insert | exp.Delete | exp.Create)
