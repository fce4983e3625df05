"""The smallest part of a failed query that is wrong alone: an experiment that costs milliseconds.

To reduce a record takes hundreds of trials and fresh databases; most of many records need not be
reduced to know what they show. All values, conditions and queries inside of a query are run on the
database as the file has it, on the engine and on SQLite. What is wrong is followed from the whole
inwards to a part in which all parts are right, so what is wrong is what it adds. If that is a known
cause's construct, and the answer is wrong in the same way, the record is of that cause; if not, it
is worth a reduction.
"""

from __future__ import annotations

from typing import NamedTuple

from refute.fuzz.sql.hoisting import hoisted, tables_in
from refute.oracles.sqllogictest.reader import QueryRecord
from refute.verifiers.sql.conform_causes_shape import Shape
from refute.verifiers.sql.conform_causes_title import outcome
from refute.verifiers.sql.conform_causes_words import Words, words_of
from refute.verifiers.sql.conform_excuses import Excuses
from refute.verifiers.sql.conform_file import READS_ONLY, Engine
from refute.verifiers.sql.conform_reduce_script import Case
from refute.verifiers.sql.conform_reduce_trial import Difference, Script, Trials

MOST = 80  # parts of a query that are run
TABLES = 4  # of a query; parts with more of them may have very many rows
ENDLESS = 10**9


class Part(NamedTuple):
    """The smallest part of a query that is wrong alone.

    shape: of the part, with constructs of the query only, not of the tables. own: constructs that
    it has and nothing inside of it has; empty where all are inside, too. sql: the part as a query.
    """

    shape: Shape
    own: Words
    sql: str


class Parts:
    """Looks for such parts. Cheapest for many records of one file in order: tables are filled once.

    Nothing else may use the engine in between; after that others are to be made.
    """

    def __init__(self, engine: Engine, excuses: Excuses | None) -> None:
        self._trials = Trials(engine, ENDLESS, excuses)
        self._trials.grows = True

    def close(self) -> None:
        """Let SQLite's database go; the engine is the caller's."""
        self._trials.close()

    def of(self, case: Case, setup: tuple[str, ...]) -> Part | None:
        """The smallest part that is wrong; None where none is, or that is not known.

        setup: what changes the database before the record, in order. Raises EngineLost.
        """
        record = case.record
        if not isinstance(record, QueryRecord) or not READS_ONLY.match(record.sql):
            return None
        if tables_in(record.sql) > TABLES:
            return None
        free = "?" * max(1, len(record.types))
        inside = hoisted(record.sql)[:MOST]
        scripts = {sql: Script(setup, sql, "?", "") for sql in inside}
        scripts[record.sql] = Script(setup, record.sql, free, record.sort)
        found = self._trials.on_one(list(scripts.values()))
        seen = _Seen(self._trials, dict(zip(scripts, found, strict=True)))
        difference = seen.wrong(record.sql)
        if difference is None:
            return None
        sql = seen.innermost(record.sql)
        words = words_of(sql)
        shape = Shape("values", "", words, outcome(seen.wrong(sql) or difference))
        inner = frozenset[str]().union(*(words_of(part) for part in seen.inside(sql)))
        return Part(shape, words - inner, sql)


class _Seen:
    """What differed of a query and its parts, by their text."""

    def __init__(self, trials: Trials, found: dict[str, Difference | None]) -> None:
        self._trials = trials
        self._found = found
        self._certain: dict[str, bool] = {}
        self._inside: dict[str, list[str]] = {}

    def wrong(self, sql: str) -> Difference | None:
        """How its values are wrong, whatever may differ between right answers."""
        found = self._found[sql]
        if found is None or found.kind != "values":
            return None
        if sql not in self._certain:
            self._certain[sql] = self._trials.certain(found)
        return found if self._certain[sql] else None

    def inside(self, sql: str) -> list[str]:
        """The parts of a part that were run."""
        if sql not in self._inside:
            self._inside[sql] = [p for p in hoisted(sql) if p in self._found and p != sql]
        return self._inside[sql]

    def innermost(self, sql: str) -> str:
        """The part where following what is wrong from the whole inwards ends.

        A wrong part inside of a right one does not make the whole wrong.
        """
        while True:
            wrong = [part for part in self.inside(sql) if self.wrong(part) is not None]
            if not wrong:
                return sql
            deeper = frozenset[str]().union(*map(self.inside, wrong))
            outer = [part for part in wrong if part not in deeper]
            sql = (outer or wrong)[0]


def shows(part: Part, cause: Shape, query: str) -> bool:
    """Whether a part is wrong as a cause is, whose reduced script has this shape and last query."""
    shape = cause._replace(words=words_of(query))
    if not shape.words or not shape.covers(part.shape):
        return False
    own = part.shape._replace(words=part.own or part.shape.words)
    return bool(own.plain & shape.plain)
