"""Whether a query that has no result in a file is one that fails: SQLite says so.

The format cannot say "this query fails": the C runner takes the rows before a run-time error as the
result, and files were recorded so (`SELECT sum(x)` with an integer overflow returns nothing). An
engine that raises an error there is right, one that raises it elsewhere is not; SQLite, run up to
the same record, tells which.

A statement that the engine refused, and was excused, leaves its tables behind SQLite's. A second
database, where those statements are not run, says what has to follow from that.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from refute.oracles.sql.sqlite import SQLite
from refute.oracles.sqllogictest.reader import QueryRecord, StatementRecord
from refute.verifiers.sql.conform_chosen import READS_ONLY

Runnable = StatementRecord | QueryRecord


class Arbiter:
    """Says it, of the records of one file."""

    def __init__(self) -> None:
        self._todo: deque[Runnable] = deque()
        self._database: SQLite | None = None
        self._left_out: set[int] = set()
        self.behind: SQLite | None = None

    def later(self, records: Sequence[Runnable]) -> None:
        """Records that were run on the engine; they are run here only if that is ever needed."""
        self._todo += [record for record in records if not READS_ONLY.match(record.sql)]

    def fails_too(self, record: Runnable) -> bool:
        """Whether SQLite understands the query and cannot finish it."""
        database = self.before(record)
        known = database.answer(f"EXPLAIN {record.sql}")[0]
        return (known, database.answer(record.sql)[0]) == ("rows", "error")

    def before(self, record: Runnable) -> SQLite:
        """SQLite after all that was run before a record; later records only, from now on."""
        if self._database is None:
            self._database = SQLite()
        while self._todo and self._todo[0].line < record.line:
            before = self._todo.popleft()
            self._database.answer(before.sql)
            if self.behind is not None and before.line not in self._left_out:
                self.behind.answer(before.sql)
        return self._database

    def leave_out(self, record: Runnable) -> None:
        """Have `behind`, as it is before each record, without this one and others left out."""
        database = self.before(record)
        if self.behind is None:
            self.behind = database.copy()
        self._left_out.add(record.line)
