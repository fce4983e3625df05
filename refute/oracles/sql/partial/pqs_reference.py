"""The database in which pivot rows are looked at: SQLite's tables without anything that decides
how a query runs.

After the setup every table is copied, its columns with their types and collations and its rows with
their rowids, but without indexes, constraints and triggers; generated columns become plain ones. So
no index can answer a subquery. For each item of FROM there is one more table of the same columns,
which holds the pivot row alone: there is nothing to choose in a join of tables of one row.
"""

from __future__ import annotations

from collections.abc import Sequence

from refute.fuzz.sql.text import Node, write
from refute.oracles.sql.sqlite import SQLite
from refute.oracles.sql.stored import Table, quoted, stored_in

STEPS = 2_000_000


class PivotDatabase:
    """tables: by name in lower case; empty where they cannot be copied as they are."""

    def __init__(self, setup: Sequence[str]) -> None:
        self.tables: dict[str, Table] = {}
        self._database = SQLite(STEPS)
        self._pivots: set[str] = set()
        source = SQLite(STEPS)
        source.run(setup)
        try:
            self._copy(source)
        except UnicodeEncodeError:  # a text that is none cannot be given back to SQLite
            self.tables = {}
        finally:
            source.close()

    def close(self) -> None:
        """Let it go."""
        self._database.close()

    def rows(self, tree: Node) -> list[Sequence[object]] | None:
        """The rows of a query; None where there are none to be had."""
        answer = self._database.answer(write(tree))
        return answer[2] if answer[0] == "rows" else None

    def pivot(self, table: Table, slot: int, place: int) -> str:
        """The name of a table like this one that holds the row at one place alone.

        slot: of the item of FROM, so that each has its own. place: -1 for no row.
        """
        name = f"refute pivot {slot} {table.name}"
        if name not in self._pivots:
            self._pivots.add(name)
            self._database.answer(f"CREATE TABLE {quoted(name)} {table.definition}")
        self._database.answer(f"DELETE FROM {quoted(name)}")
        if place >= 0:
            self._database.fill(table.filled.format(quoted(name)), [table.rows[place]])
        return name

    def _copy(self, source: SQLite) -> None:
        stored = stored_in(source)
        for table in stored.tables:
            if self._holds(table):
                self.tables[table.name.lower()] = table
        for sql in stored.views:
            self._database.answer(sql)

    def _holds(self, table: Table) -> bool:
        """Make the copy; whether it shows the same."""
        name = quoted(table.name)
        if self._database.answer(f"CREATE TABLE {name} {table.definition}")[0] != "done":
            return False
        if not self._database.fill(table.filled.format(name), table.rows):
            return False
        answer = self._database.answer(table.shown)
        return answer[0] == "rows" and repr(answer[2]) == repr(table.rows)
