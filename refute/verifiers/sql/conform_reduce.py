"""Reduction of one failed record to the smallest script that still fails in the same way.

First statements: those that change what the query names, then fewer of them. Then the query's tree,
boldest first, on one database. Then rows, columns and values of the tables, each on a fresh one.
Where SQLite itself does not give what the file expects there is no oracle for another query: only
statements are left out then, and the engine must give the very answer that it gave.

Nothing is decided by a clock: trials are counted, so a reduction ends at the same script on every
machine. What comes out has failed once more, on a fresh database.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

from refute.fuzz.sql.hoisting import hoisted, whole_tables, with_values
from refute.fuzz.sql.reduction import bolder, finer, without_null
from refute.fuzz.sql.script_reduction import (
    fewer_rows,
    in_rows,
    named,
    simpler_statements,
    since_dropped,
    tables_in,
)
from refute.fuzz.sql.text import look, write
from refute.oracles.sqllogictest.reader import QueryRecord
from refute.verifiers.sql.conform_causes_words import shorter
from refute.verifiers.sql.conform_excuses import Excuses
from refute.verifiers.sql.conform_file import READS_ONLY, Engine
from refute.verifiers.sql.conform_reduce_trial import (
    Difference,
    Runnable,
    Script,
    Spent,
    Trials,
)

LIMIT = 6000  # trials of one reduction
LIMIT_LOST = 150  # where a trial ends the engine, and a new worker has to start
BATCH = 48  # candidates for the last statement that are run at once
ROUNDS = 4
SLOW = "did not answer in time"  # as `conform_worker` says it
OVER = "the time for reduction was over"

# Where nothing else is done to tables, a query that shows all of them says nothing about another.
_FILLS = re.compile(r"\s*(?:CREATE\s+(?:UNIQUE\s+)?(?:TABLE|INDEX|VIEW)|INSERT)\b", re.IGNORECASE)

Stop = Callable[[], bool]


class Interrupted(Exception):
    """No more reductions are made, for the reason that it says."""


@dataclasses.dataclass(frozen=True)
class Reduced:
    """A script that fails. oracle: whether SQLite says what it must give; else the file does.

    verified: it failed once more on a fresh database. trials: how many there were. refused: the
    statements that fail, by place. seen: the engine's answer, where there is no oracle.
    note: why there is none.
    """

    script: Script
    difference: Difference
    oracle: bool
    verified: bool
    trials: int
    refused: tuple[int, ...] = ()
    seen: list[Any] | None = None
    note: str = ""


class Reduction:
    """Makes one record smaller. before: SQL of all that the file runs before it, in order.

    part: a part of the record's query, as a query, that is known to be wrong; "" for none.
    """

    def __init__(
        self,
        engine: Engine,
        before: Sequence[str],
        record: Runnable,
        stop: Stop = lambda: False,
        limit: int = LIMIT,
        excuses: Excuses | None = None,
        part: str = "",
    ) -> None:
        self._part = part
        self._before = list(before)
        self._record = record
        self._stop = stop
        self._limit = limit
        self._trials = Trials(engine, limit, excuses)
        self._wanted = Difference("")
        self._script = Script((), record.sql)

    def run(self) -> Reduced | None:
        """The smallest script found; None where the failure does not come again.

        Raises Interrupted, EngineLost.
        """
        try:
            if not self._begins():
                return None
            part = self._with_sql(self._part)
            if self._part and self._fails(part):
                self._script = part
            first = self._script
            self._shrink()
            found = self._ended()
            if not found.verified and self._trials.by_drops:
                self._script, self._trials.by_drops = first, False
                self._shrink()
                found = self._ended()
            return found
        finally:
            self._trials.close()

    def _begins(self) -> bool:
        """Find a script of the file's own statements that fails, by the statements' names first."""
        record = self._record
        query = isinstance(record, QueryRecord)
        types, sort = (record.types, record.sort) if isinstance(record, QueryRecord) else ("", "")
        writing = [sql for sql in self._before if not READS_ONLY.match(sql)]
        guess = [writing[place] for place in named(writing, record.sql)]
        for setup in (since_dropped(guess), guess, writing, self._before):
            script = Script(tuple(setup), record.sql, types, sort)
            found = self._trials.fresh(script)
            if found is not None:
                self._script, self._wanted = script, found
                if found.kind in ("lost", "crash"):
                    self._trials.left = min(self._trials.left, LIMIT_LOST)
                    self._trials.by_drops = False
                free = dataclasses.replace(script, types="?" * max(1, len(types)), sort=sort)
                if query and found.kind == "values" and self._fails(free):
                    self._script = free
                self._leave_out_refused()
                return True
        return False

    def _leave_out_refused(self) -> None:
        """The statements that SQLite refuses; if they do not matter, none may come back."""
        refused = self._trials.refused
        setup = tuple(s for i, s in enumerate(self._script.setup) if i not in refused)
        if refused and not self._fails(self._with_setup(setup)):
            return
        self._script = self._with_setup(setup)
        self._trials.strict = True

    def _shrink(self) -> None:
        """Smaller and smaller, until nothing is, or the trials are spent."""
        if SLOW in self._wanted.said:  # each trial would take as long
            return
        try:
            for _ in range(ROUNDS):
                before = self._script
                self._shrink_query()
                self._shrink_setup()
                if self._script == before:
                    return
        except Spent:
            return

    def _shrink_query(self) -> None:
        """The last statement's tree; what was found must fail on fresh databases, too."""
        while True:
            before = self._script
            changed = not all(map(_FILLS.match, before.setup))
            tables = whole_tables(tables_in(before.setup)) if changed else []
            self._take_first(iter([t for t in tables if len(t) < len(before.sql)]))
            self._take_first(iter(hoisted(self._script.sql)))
            stages = (self._bold, self._values, self._fine, self._shorter)
            while any(self._take_first(stage()) for stage in stages):
                pass
            if self._script == before:
                return
            if self._trials.fresh(self._script) is None:  # what came before on the database matters
                self._script = before
                return

    def _bold(self) -> Iterator[str]:
        tree = look(self._script.sql)
        if tree is not None:
            yield write(tree.copy())
            yield from bolder(tree)

    def _shorter(self) -> Iterator[str]:
        """Without some of its words: what an engine does may hang on how they are written."""
        return shorter(self._script.sql)

    def _values(self) -> Iterator[str]:
        now = self._script
        return with_values(now.sql, lambda sql: self._trials.rows(now, sql))

    def _fine(self) -> Iterator[str]:
        tree = look(self._script.sql)
        if tree is not None:
            yield from without_null(tree)
            yield from finer(tree)

    def _take_first(self, candidates: Iterator[str]) -> bool:
        """Take the smallest of the first batch that has one which fails. Whether there was one."""
        now = self._script
        fresh = (text for text in _once(candidates) if _smaller(text, now.sql))
        while batch := list(islice(fresh, BATCH)):
            self._look_up()
            scripts = [self._with_sql(text) for text in batch]
            if READS_ONLY.match(now.sql):
                found = self._trials.on_one(scripts)
            else:
                found = [self._trials.fresh(script) for script in scripts]
            failing = [
                (len(script.sql), script.sql, script, difference)
                for script, difference in zip(scripts, found, strict=True)
                if difference is not None and difference.like(self._wanted)
            ]
            for _, _, script, difference in sorted(failing, key=lambda f: f[:2]):
                if self._trials.certain(difference):
                    self._script = script
                    return True
        return False

    def _with_sql(self, sql: str) -> Script:
        return dataclasses.replace(self._script, sql=sql)

    def _shrink_setup(self) -> None:
        """Fewer statements and rows, then simpler ones; each candidate on fresh databases."""
        self._take_setup(iter([()]))
        self._take_setup(iter([self._named_setup()]))
        rows = tuple(in_rows(self._script.setup))
        if rows != self._script.setup and self._fails(self._with_setup(rows)):
            self._script = self._with_setup(rows)
        self._take_setup(map(tuple, fewer_rows(self._script.setup)))
        self._leave_out()
        for fine in (False, True):
            while self._take_setup(self._simpler(fine=fine)):
                pass
        self._leave_out()

    def _named_setup(self) -> tuple[str, ...]:
        setup = self._script.setup
        return tuple(setup[place] for place in named(setup, self._script.sql))

    def _simpler(self, *, fine: bool) -> Iterator[tuple[str, ...]]:
        setup = self._script.setup
        least = _weight(setup)
        for other in simpler_statements(setup, self._script.sql, fine=fine):
            if _weight(other) < least:
                yield tuple(other)

    def _leave_out(self) -> None:
        """Delta debugging: runs of statements left out, long runs first, from the end."""
        run = len(self._script.setup)
        while run:
            end = len(self._script.setup)
            while end > 0:
                setup = self._script.setup
                start = max(0, end - run)
                taken = self._take_setup(iter([setup[:start] + setup[end:]]))
                end = start if taken or run < 2 else end - run // 2
            run //= 2

    def _take_setup(self, candidates: Iterator[tuple[str, ...]]) -> bool:
        now = self._script.setup
        for setup in candidates:
            script = self._with_setup(setup)
            if setup != now and self._fails(script):
                self._script = script
                return True
        return False

    def _with_setup(self, setup: tuple[str, ...]) -> Script:
        return dataclasses.replace(self._script, setup=setup)

    def _fails(self, script: Script) -> bool:
        self._look_up()
        found = self._trials.fresh(script)
        return found is not None and found.like(self._wanted)

    def _look_up(self) -> None:
        if self._stop():
            raise Interrupted(OVER)

    def _ended(self) -> Reduced:
        """The script with its difference, seen once more on a fresh database."""
        self._trials.left = max(self._trials.left, 1)
        used = self._limit - self._trials.left
        self._trials.forget()
        found = self._trials.fresh(self._script)
        alike = found is not None and found.like(self._wanted)
        refused = self._trials.refused
        return Reduced(self._script, found or self._wanted, True, alike, used, refused)


def _once(texts: Iterator[str]) -> Iterator[str]:
    seen: set[str] = set()
    for text in texts:
        if text not in seen:
            seen.add(text)
            yield text


def _smaller(text: str, than: str) -> bool:
    return (len(text.replace("NULL", "N")), text) < (len(than.replace("NULL", "N")), than)


def _weight(setup: Sequence[str]) -> tuple[int, str]:
    whole = "\n".join(setup)
    return len(whole.replace("NULL", "N")), whole
