"""Trials of reduction: does the engine still fail, in the same way, on a smaller script?

The embedded SQLite says what a smaller script must give. Its answer and the engine's are compared
twice: as a file would compare them, and by what may differ (`refute.oracles.sql.compare`), because
a smaller query may leave open what the file's own query fixed. Candidates for the last statement
share one database, where each only reads; whatever comes of that is looked at again on fresh ones.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from typing import Any

from refute.oracles.sql.compare import compare
from refute.oracles.sql.sqlite import SQLite
from refute.oracles.sqllogictest.expect import judge
from refute.oracles.sqllogictest.reader import QueryRecord, StatementRecord
from refute.oracles.sqllogictest.render import texts
from refute.verifiers.sql.conform_causes_words import normal_message
from refute.verifiers.sql.conform_excuses import INEXPRESSIBLE, Excuses
from refute.verifiers.sql.conform_file import READS_ONLY, Engine

STEPS = 2_000_000  # instructions of SQLite for one candidate
_OPEN = re.compile(
    r"\b(?:LIMIT|GROUP|DISTINCT|UNION|EXCEPT|INTERSECT|OVER)\b"
    r"|\b(?:SUM|AVG|TOTAL|GROUP_CONCAT|STRING_AGG)\b",
    re.IGNORECASE,
)
_MADE = re.compile(
    r"\s*CREATE\s+(?P<kind>TABLE|VIEW)\s+(?P<name>\"[^\"]+\"|\w+)\s*(?:\(|AS\b)", re.IGNORECASE
)
_PART = re.compile(r"\s*(?:INSERT|UPDATE|DELETE|CREATE\s+(?:UNIQUE\s+)?INDEX)\b", re.IGNORECASE)
_INNER = re.compile(r"\bHAVING\b|\bSELECT\b.*\bSELECT\b", re.IGNORECASE | re.DOTALL)
_UNSURE = re.compile(
    r"\b(?:RANDOM|RANDOMBLOB|CURRENT_\w+|CHANGES|TOTAL_CHANGES|LAST_INSERT_ROWID|SQLITE_\w+|NOW)\b",
    re.IGNORECASE,
)

Runnable = StatementRecord | QueryRecord
Answer = Sequence[Any]


@dataclasses.dataclass(frozen=True)
class Script:
    """Statements and the one in question. types, sort: of its record; "" for none.

    types: "?" in place of a column's type is the type that shows its values.
    """

    setup: tuple[str, ...]
    sql: str
    types: str = ""
    sort: str = ""

    @property
    def statements(self) -> tuple[str, ...]:
        """All of them in order."""
        return (*self.setup, self.sql)


@dataclasses.dataclass(frozen=True)
class Difference:
    """How the engine's answer is wrong.

    kind: "values", "columns", "error", "no error", "crash", "lost", "unfit" or "no rows". message:
    of the error, its names and values left out. expected, got: texts, one for each value. doubt:
    what `compare` needs to say whether this is a difference, where that is not clear yet. script,
    answer: what it was seen on, and what the engine answered. fails: whether SQLite refuses it.
    """

    kind: str
    message: str = ""
    types: str = ""
    sort: str = ""
    expected: tuple[str, ...] = ()
    got: tuple[str, ...] = ()
    said: str = ""
    doubt: tuple[Any, ...] = ()
    script: Script | None = None
    answer: Answer = ()
    fails: bool = False

    def like(self, other: Difference) -> bool:
        """Whether both are of one kind, with one message, where SQLite fails or does not."""
        own = (self.kind, self.message, self.fails)
        return own == (other.kind, other.message, other.fails)


class Spent(Exception):
    """The trials are used up."""


class Trials:
    """Runs candidates on an engine and on SQLite. limit: trials of one reduction.

    strict: whether SQLite must not refuse a statement of a setup. refused: which ones it refused
    the last time. by_drops: whether the engine's tables may be dropped where a fresh database would
    take long; an engine that remembers more than tables needs fresh ones. grows: whether databases
    that have the first statements of a setup may be given the others.
    """

    def __init__(self, engine: Engine, limit: int, excuses: Excuses | None = None) -> None:
        self.engine = engine
        self._excuses = excuses
        self.left = limit
        self.strict = False
        self.refused: tuple[int, ...] = ()
        self.by_drops = True
        self.grows = False
        self._drops: list[str] | None = None
        self._setup: tuple[str, ...] | None = None
        self._sqlite: SQLite | None = None

    def close(self) -> None:
        """Let SQLite's database go; the engine is the caller's."""
        if self._sqlite is not None:
            self._sqlite.close()
        self._sqlite = self._setup = None

    def forget(self) -> None:
        """Have the next trial begin with a database that is really fresh."""
        self._drops = None

    def fresh(self, script: Script) -> Difference | None:
        """The difference on fresh databases; None too where the setup itself differs."""
        self._setup = None
        [found] = self.on_one([script])
        self._setup = None
        return found if found is not None and self.certain(found) else None

    def certain(self, found: Difference) -> bool:
        """Whether it is wrong by what may differ between right answers; asked before the next."""
        if found.doubt and compare(*found.doubt).status != "different":
            return False
        if self._excuses is None or found.script is None or self._sqlite is None:
            return True
        return not any(self._excuses.of(_record(found), found.answer, self._sqlite))

    def rows(self, script: Script, sql: str) -> Sequence[Sequence[Any]]:
        """What SQLite returns for another query after the script's setup; none if that fails."""
        if self._sqlite is None or self._setup != script.setup:
            self.on_one([script])
        assert self._sqlite is not None
        answer = self._sqlite.answer(sql)
        return answer[2] if answer[0] == "rows" else ()

    def on_one(self, scripts: Sequence[Script]) -> list[Difference | None]:
        """What differs for scripts with one setup, whose last statements are run in turn.

        Whether one really is a difference `certain` says, which may take long.
        """
        self.left -= len(scripts)
        if self.left < 0:
            raise Spent
        setup = scripts[0].setup
        reads = all(READS_ONLY.match(s.sql) for s in scripts)
        sqls = [s.sql for s in scripts]
        if self._setup != setup:
            answers = self._more(setup, sqls) or self._begin(setup, sqls)
            if answers is None:
                return [None] * len(scripts)
        else:
            answers = list(self.engine.answers(sqls))
        assert self._sqlite is not None
        self._setup = setup if reads else None
        rights = [self._sqlite.answer(sql) for sql in sqls]
        found = list(map(difference, scripts, rights, answers))
        return [
            None if d is None else dataclasses.replace(d, script=script, answer=left)
            for d, script, left in zip(found, scripts, answers, strict=True)
        ]

    def _more(self, setup: tuple[str, ...], sqls: Sequence[str]) -> list[Answer] | None:
        """What the engine answers after the rest of a setup; None where databases are not so far,
        or no longer alike."""
        had = self._setup or ()
        if not self.grows or not had or setup[: len(had)] != had or self._sqlite is None:
            return None
        self._setup = None
        more = setup[len(had) :]
        right = [self._sqlite.answer(sql)[0] for sql in more]
        answers = list(self.engine.answers([*more, *sqls]))
        left = [answer[0] for answer in answers[: len(more)]]
        alike = all((a == "error") == (b == "error") for a, b in zip(left, right, strict=True))
        self._drops = None
        return answers[len(more) :] if alike else None

    def _begin(self, setup: tuple[str, ...], sqls: Sequence[str]) -> list[Answer] | None:
        """Fresh databases after the setup; what the engine answers then, if the setup is alike."""
        self._setup = None
        if self._sqlite is not None:
            self._sqlite.close()
        self._sqlite = SQLite(STEPS)
        right = [self._sqlite.answer(sql)[0] for sql in setup]
        self.refused = tuple(place for place, kind in enumerate(right) if kind == "error")
        if self.refused and self.strict:
            return None
        answers = self._answers(setup, sqls)
        left = [answer[0] for answer in answers[: len(setup)]]
        if any((a == "error") != (b == "error") for a, b in zip(left, right, strict=True)):
            return None
        return answers[len(setup) :]

    def _answers(self, setup: Sequence[str], sqls: Sequence[str]) -> list[Answer]:
        """The engine's answers on an empty database, which it has when all tables were dropped."""
        drops = self._drops if self.by_drops else None
        self._drops = None
        answers = []
        if drops is not None:
            answers = list(self.engine.answers([*drops, *setup, *sqls]))
        if drops is None or any(answer[0] == "error" for answer in answers[: len(drops)]):
            drops = []
            begin_again(self.engine)
            answers = list(self.engine.answers([*setup, *sqls]))
        answers = answers[len(drops) :]
        if all(READS_ONLY.match(sql) for sql in sqls):
            self._drops = drops_of(setup, answers)
        return answers


def drops_of(setup: Sequence[str], answers: Sequence[Answer]) -> list[str] | None:
    """What undoes a setup that answered so; None where that is more than dropping tables."""
    drops = []
    for sql, answer in zip(setup, answers, strict=False):
        made = _MADE.match(sql)
        if answer[0] == "lost" or not (made or _PART.match(sql)):
            return None
        if made and answer[0] != "error":
            drops.append(f"DROP {made['kind']} {made['name']}")
    return drops[::-1]


def begin_again(engine: Engine) -> None:
    """Begin with an empty database, as cheaply as the engine can."""
    again = getattr(engine, "again", None)
    if again is not None:
        again()
    else:
        engine.start(0)


def difference(script: Script, right: Answer, left: Answer) -> Difference | None:
    """How the engine's answer `left` is wrong where SQLite's is `right`; None where it is not."""
    if right[0] not in ("rows", "done", "error") or _UNSURE.search(script.sql):
        return None
    if left[0] == INEXPRESSIBLE:
        return None
    if right[0] == "error":
        if left[0] == "error":
            return None
        if left[0] in ("rows", "done"):
            message = normal_message(str(right[2]), script.statements)
            return Difference("no error", message, said=str(right[2]), fails=True)
    if left[0] not in ("rows", "done"):
        said = _said(left)
        message = f"{_type(left)}: {normal_message(said, script.statements)}"
        found = Difference(left[0], message, said=said, fails=right[0] == "error")
        return _wanting(script, right, found)
    if left[0] != right[0]:
        rows = right[0] == "rows" and script.types
        return _wanting(script, right, Difference("no rows")) if rows else None
    return _of_rows(script, right, left) if left[0] == "rows" else None


def _wanting(script: Script, right: Answer, found: Difference) -> Difference:
    """A difference with what SQLite returns, where it returns rows."""
    if right[0] != "rows" or not script.types:
        return found
    rows = [list(row) for row in right[2]]
    types = shown_types(len(right[1]), rows)
    sort = "nosort" if script.sort == "nosort" and "ORDER" in script.sql.upper() else "rowsort"
    expected = tuple(texts(types, rows, sort))
    return dataclasses.replace(found, types=types, sort=sort, expected=expected)


def _said(answer: Answer) -> str:
    """What an answer says that is neither rows nor an end."""
    if answer[0] == "error":
        return str(answer[2])
    return f"{answer[1]}: {answer[2]}" if answer[0] == "crash" else str(answer[1])


def _type(answer: Answer) -> str:
    return str(answer[1]).rpartition(".")[2] if answer[0] in ("error", "crash") else answer[0]


def _of_rows(script: Script, right: Answer, left: Answer) -> Difference | None:
    width = len(right[1])
    if len(left[1]) != width:
        said = f"{len(left[1])} columns instead of {width}"
        return _wanting(script, right, Difference("columns", said=said))
    names = [c if isinstance(c, str) else str(c[0]) for c in right[1]]
    a, b = [list(map(list, r)) for r in (right[2], left[2])]
    types = script.types
    if len(types) != width or "?" in types:
        types = shown_types(width, a, b)
    ordered = script.sort == "nosort" and "ORDER" in script.sql.upper()
    sort = script.sort if "?" not in script.types else "nosort" if ordered else "rowsort"
    wanted, got = texts(types, a, sort), texts(types, b, sort)
    if wanted == got:
        return None
    if "?" in script.types and _whole(a, ordered) == _whole(b, ordered):
        return None  # 5 and 5.0 are one number, unless the file shows them apart
    doubt: tuple[Any, ...] = ()
    if "?" in script.types and not _is_clear(script.sql, a, b, sorted(wanted) == sorted(got)):
        doubt = (script.setup, script.sql, ["rows", names, a], ["rows", names, b])
    return Difference("values", "", types, sort, tuple(wanted), tuple(got), doubt=doubt)


def _whole(rows: Sequence[Sequence[Any]], ordered: bool) -> list[str]:
    """The rows as texts, with whole numbers as integers."""
    shown = [repr([int(v) if _is_whole(v) else v for v in row]) for row in rows]
    return shown if ordered else sorted(shown)


def _is_whole(value: Any) -> bool:
    return type(value) is float and value.is_integer()


def _is_clear(sql: str, a: Sequence[Any], b: Sequence[Any], same_values: bool) -> bool:
    """Whether rows that differ do so whatever order SQLite works in.

    How many rows there are is not open, not even with LIMIT, where no subquery and no HAVING is.
    """
    if same_values:
        return False
    return not _OPEN.search(sql) or (len(a) != len(b) and not _INNER.search(sql))


def _record(found: Difference) -> Runnable:
    """What a file would expect of the script."""
    script = found.script
    assert script is not None
    if found.types:
        values = list(found.expected)
        return QueryRecord(0, script.sql, (), found.types, found.sort, "", values, -1, "")
    return StatementRecord(0, script.sql, (), found.kind == "no error")


def shown_types(width: int, *results: Sequence[Sequence[Any]]) -> str:
    """A type for each column that shows all of its values: T, R or I."""
    types = ["I"] * width
    for rows in results:
        for row in rows:
            for place, value in enumerate(row):
                if type(value) in (str, bytes):
                    types[place] = "T"
                elif type(value) is float and types[place] == "I":
                    types[place] = "R"
                elif type(value) is int and not -(2**31) <= value < 2**31:
                    types[place] = "T"
    return "".join(types)


def passes(record: Runnable, answer: Answer) -> bool:
    """Whether the answer is what the record expects, labels aside."""
    return judge(record, answer, {}) is None


def unexpected(
    statements: Sequence[str], record: Runnable | None, seen: Answer, kind: str
) -> tuple[Script, Difference]:
    """A script whose answer is not the file's expectation, where there is no other oracle."""
    *setup, sql = statements
    types = sort = ""
    expected: tuple[str, ...] = ()
    if isinstance(record, QueryRecord):
        types, sort, expected = record.types, record.sort, tuple(record.values or ())
        if record.number >= 0:
            expected = (f"{record.number} values hashing to {record.digest}",)
    script = Script(tuple(setup), sql, types, sort)
    if seen[0] not in ("rows", "done"):
        said = _said(seen)
        message = f"{_type(seen)}: {normal_message(said, statements)}"
        return script, Difference(seen[0], message, types, sort, expected, said=said)
    if kind == "no error":
        return script, Difference("no error", "an error is expected")
    if seen[0] == "done" or len(seen[1]) != len(types):
        return script, Difference("columns" if types else kind, "", types, sort, expected)
    got = tuple(texts(types, [list(row) for row in seen[2]], sort))
    return script, Difference("values", "", types, sort, expected, got)
