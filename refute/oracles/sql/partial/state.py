"""State: what an engine has stored is whole, and is the same in whatever way it is read.

Asked are: SQLite's own checks (`integrity_check`, `quick_check`, and `foreign_key_check` where keys
are enforced from the beginning); a table as it lies, through an index, by its keys, from a copy;
its number of rows, its least and greatest values and its distinct values, each in two ways; a view
and the query that it stands for; the query of the case before and after REINDEX.

Sees: an index that has other rows than its table; a row that its own key does not find; a damaged
file; statistics that an engine keeps wrongly (COUNT, MIN, MAX); a view that is not its query.

Does not see: a change that was made wrongly but consistently, such as an UPDATE of the wrong row or
a constraint that is not kept, which is what `sqlite` sees; what needs a second connection.

The same values are compared, not the order. Where one of the ways is refused, nothing is said.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence

from sqlglot import exp

from refute.fuzz.sql.text import Node, look
from refute.oracles.sql.partial.bags import Pair, broken, exact, loose, rows_of, same_bag
from refute.oracles.sql.partial.openness import deterministic
from refute.oracles.sql.partial.question import HELD, Answer, Case, Judged, Question
from refute.oracles.sql.partial.state_facts import TableFacts, facts_of
from refute.oracles.sql.partial.trees import changed
from refute.oracles.sql.partial.written import asked, tree_of
from refute.oracles.sql.said import said
from refute.oracles.sql.stored import quoted

CHECKS = ("PRAGMA integrity_check", "PRAGMA quick_check")
COPY = "refute_copy"
WAYS = 2  # that are asked about a case
REFUSED = "one of the ways is refused"

_ENFORCED = re.compile(r"\s*PRAGMA\s+foreign_keys\s*=\s*(?:ON|1|TRUE|YES)\b", re.IGNORECASE)

Judge = Callable[[Sequence[Answer]], Judged]
Way = tuple[tuple[str, ...], Judge, tuple[str, ...]]


class State:
    """The oracle `state`."""

    name = "state"

    def questions(self, case: Case) -> Iterator[Question]:
        """A few ways to look at the tables, other ones for each case."""
        rng = random.Random(f"{case.seed}/state")
        facts = facts_of(case.setup)
        sqlite = case.dialect == "sqlite"
        if sqlite and rng.random() < 0.3:
            yield self._check(case, rng)
        for _ in range(WAYS if facts.tables else 0):
            make = rng.choice(_WAYS if sqlite else _ANYWHERE)
            way = make(rng.choice(facts.tables), rng, sqlite)
            if way is not None:
                yield self._question(case, way)
        if facts.views and rng.random() < 0.3:
            yield from self._view(case, *rng.choice(facts.views))
        if sqlite and rng.random() < 0.2 and isinstance(case.query, exp.Query):
            yield from self._reindexed(case)

    def _question(self, case: Case, way: Way) -> Question:
        texts, judge, undo = way
        if case.dialect == "sqlite":
            return Question(self.name, texts, judge, undo)
        return Question(self.name, tuple(map(tree_of, texts)), judge, tuple(map(tree_of, undo)))

    def _check(self, case: Case, rng: random.Random) -> Question:
        checks = [*CHECKS]
        if case.setup and _ENFORCED.match(case.setup[0]):
            checks.append("PRAGMA foreign_key_check")
        return Question(self.name, (rng.choice(checks),), _whole)

    def _view(self, case: Case, name: str, sql: str) -> Iterator[Question]:
        tree = look(sql)
        body = tree.expression if isinstance(tree, exp.Create) else None
        if not isinstance(body, exp.Query) or not deterministic(body):
            return
        if body.args.get("limit") or body.args.get("offset"):
            return
        first = tree_of(f"SELECT * FROM {quoted(name)}")

        def judge(answers: Sequence[Answer]) -> Judged:
            rows = rows_of(answers)
            if isinstance(rows, Judged):
                return rows
            return Pair(case, body, rows[1], rows[0], "a view is not its query").judged()

        yield Question(self.name, (asked(first, case.dialect), asked(body, case.dialect)), judge)

    def _reindexed(self, case: Case) -> Iterator[Question]:
        if not deterministic(case.query):
            return
        tree: Node = changed(case.query, limit=None, offset=None)

        def judge(answers: Sequence[Answer]) -> Judged:
            rows = rows_of((answers[0], answers[2]))
            if isinstance(rows, Judged) or answers[1][0] == "error":
                return Judged("open", REFUSED)
            return Pair(case, tree, rows[1], rows[0], "before its indexes are made anew").judged()

        text = asked(tree, case.dialect)
        yield Question(self.name, (text, "REINDEX", text), judge)


def _whole(answers: Sequence[Answer]) -> Judged:
    """Whether a check of SQLite finds nothing."""
    answer = answers[0]
    if answer[0] != "rows":
        return Judged("open", REFUSED)
    if answer[2] in ([], [["ok"]], [("ok",)]):
        return HELD
    return Judged("broken", "the database is damaged", "(ok)", said(answer))


def _same(what: str) -> Judge:
    """The judge of answers that must all have the same rows."""

    def judge(answers: Sequence[Answer]) -> Judged:
        rows = rows_of([a for a in answers if a[0] != "done"])
        if isinstance(rows, Judged):
            return Judged("open", REFUSED)
        for other in rows[1:]:
            if not same_bag(rows[0], other, exact):
                return broken(what, rows[0], other)
        return HELD

    return judge


def _columns(table: TableFacts, of: str = "") -> str:
    return ", ".join(f"{of}{quoted(column)}" for column in table.columns)


def _scan(table: TableFacts, sqlite: bool, where: str = "") -> str:
    """The whole table without its indexes, where that can be said."""
    hint = " NOT INDEXED" if sqlite else ""
    return f"SELECT {_columns(table)} FROM {quoted(table.name)}{hint}{where}"


def _sorted(table: TableFacts, rng: random.Random, sqlite: bool) -> Way:
    keys = [c for i in table.indexes for c in i.columns[:1] if c] or list(table.columns)
    term = f"{quoted(rng.choice(keys))}{rng.choice(('', ' DESC'))}"
    other = f"SELECT {_columns(table)} FROM {quoted(table.name)} ORDER BY {term}"
    return (_scan(table, sqlite), other), _same("in order of a column"), ()


def _by_index(table: TableFacts, rng: random.Random, sqlite: bool) -> Way | None:
    """All rows of an index, asked with its own condition if it has one."""
    if not table.indexes:
        return None
    index = rng.choice(table.indexes)
    where = f" WHERE {index.where}" if index.where else ""
    first = next((c for c in index.columns if c), "")
    if not where and first and rng.random() < 0.5:
        where = f" WHERE {quoted(first)} IS NOT NULL"
    name = f"INDEXED BY {quoted(index.name)}" if rng.random() < 0.7 else ""
    order = f" ORDER BY {quoted(first)}" if first and rng.random() < 0.5 else ""
    other = f"SELECT {_columns(table)} FROM {quoted(table.name)} {name}{where}{order}"
    return (_scan(table, sqlite, where), other), _same("through an index"), ()


def _by_key(table: TableFacts, rng: random.Random, sqlite: bool) -> Way | None:
    """Each row found by its own key."""
    keys = [key for key in table.keys if sqlite or key != (table.rowid,)]
    if not keys:
        return None
    key = rng.choice(keys)
    name = quoted(table.name)
    filled = " AND ".join(f"{quoted(k)} IS NOT NULL" for k in key)
    both = " AND ".join(f"x.{quoted(k)} = y.{quoted(k)}" for k in key)
    known = " AND ".join(f"y.{quoted(k)} IS NOT NULL" for k in key)
    hint = " NOT INDEXED" if sqlite else ""
    other = (
        f"SELECT {_columns(table, 'x.')} FROM {name} AS y{hint} CROSS JOIN {name} AS x "
        f"WHERE {both} AND {known}"
    )
    return (_scan(table, sqlite, f" WHERE {filled}"), other), _same("found by its key"), ()


def _found(table: TableFacts, rng: random.Random, sqlite: bool) -> Way:
    """Each row whose value is one of the column's values."""
    name, column = quoted(table.name), quoted(rng.choice(table.columns))
    form = (
        f"EXISTS(SELECT 1 FROM {name} AS x WHERE x.{column} = y.{column})"
        if rng.random() < 0.5
        else f"y.{column} IN (SELECT x.{column} FROM {name} AS x)"
    )
    other = f"SELECT {_columns(table, 'y.')} FROM {name} AS y WHERE {form}"
    first = _scan(table, sqlite, f" WHERE {column} IS NOT NULL")
    return (first, other), _same("found by its value"), ()


def _counted(table: TableFacts, rng: random.Random, sqlite: bool) -> Way:
    name, column = quoted(table.name), quoted(rng.choice(table.columns))
    texts = (
        _scan(table, sqlite),
        f"SELECT COUNT(*) FROM {name}",
        f"SELECT COUNT(*) FROM {name} WHERE {column} IS NULL OR {column} IS NOT NULL",
        f"SELECT SUM(x.n) FROM (SELECT COUNT(*) AS n FROM {name} GROUP BY {column}) AS x",
    )

    def judge(answers: Sequence[Answer]) -> Judged:
        rows = rows_of(answers)
        if isinstance(rows, Judged):
            return Judged("open", REFUSED)
        number = len(rows[0])
        for found in rows[1:]:
            value = found[0][0] if found else None
            if value != number and not (value is None and not number):
                return Judged(
                    "broken", "the number of rows", str(number), said(["rows", [], found])
                )
        return HELD

    return texts, judge, ()


def _extremes(table: TableFacts, rng: random.Random, sqlite: bool) -> Way:
    name, column = quoted(table.name), quoted(rng.choice(table.columns))
    term = f"+{column}" if sqlite else column
    texts = (
        f"SELECT {column} FROM {name} WHERE {column} IS NOT NULL ORDER BY {term}",
        f"SELECT MIN({column}) FROM {name}",
        f"SELECT MAX({column}) FROM {name}",
    )

    def judge(answers: Sequence[Answer]) -> Judged:
        rows = rows_of(answers)
        if isinstance(rows, Judged):
            return Judged("open", REFUSED)
        for place, found in ((0, rows[1]), (-1, rows[2])):
            wanted = rows[0][place : place + 1 or None] if rows[0] else [(None,)]
            if not same_bag(wanted, found, loose):
                return broken("the least or greatest value", wanted, found)
        return HELD

    return texts, judge, ()


def _distinct(table: TableFacts, rng: random.Random, sqlite: bool) -> Way:
    name, column = quoted(table.name), quoted(rng.choice(table.columns))
    some = f"{name} WHERE {column} IS NOT NULL"
    texts = (
        f"SELECT COUNT(DISTINCT {column}) FROM {name}",
        f"SELECT COUNT(*) FROM (SELECT DISTINCT {column} AS c FROM {some}) AS x",
        f"SELECT COUNT(*) FROM (SELECT {column} AS c FROM {some} GROUP BY {column}) AS x",
    )
    return texts, _same("the number of distinct values"), ()


def _copied(table: TableFacts, rng: random.Random, sqlite: bool) -> Way:
    """A copy, which has no indexes and keys."""
    name = quoted(table.name)
    texts = (
        f"SELECT {_columns(table)} FROM {name}",
        f"CREATE TABLE {COPY} AS SELECT {_columns(table)} FROM {name}",
        f"SELECT {_columns(table)} FROM {COPY}",
    )
    return texts, _same("its copy"), (f"DROP TABLE IF EXISTS {COPY}",)


_ANYWHERE = (_sorted, _by_key, _found, _counted, _extremes, _distinct)
_WAYS = (*_ANYWHERE, _by_index, _by_index, _copied)
