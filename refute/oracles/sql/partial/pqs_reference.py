"""The database in which pivot rows are looked at: SQLite's tables without anything that decides
how a query runs.

After the setup every table is copied, its columns with their types and collations and its rows with
their rowids, but without indexes, constraints and triggers; generated columns become plain ones. So
no index can answer a subquery. For each item of FROM there is one more table of the same columns,
which holds the pivot row alone: there is nothing to choose in a join of tables of one row.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence

from refute.fuzz.sql.text import Node, write
from refute.oracles.sql.partial.question import Answer
from refute.oracles.sql.sqlite import SQLite

STEPS = 2_000_000
_ROWIDS = ("rowid", "oid", "_rowid_")
_PROBE = "refute probe"
_STRICT = re.compile(r"\bSTRICT\b[^()]*$", re.IGNORECASE)


@dataclasses.dataclass(frozen=True)
class Table:
    """A table. columns: names. rowid: by which name a rowid is reached, "" for none.

    definition: of its columns, and what follows. rows: with the rowid, if there is one, first.
    """

    name: str
    columns: tuple[str, ...]
    rowid: str
    definition: str
    rows: Sequence[Sequence[object]]

    @property
    def values(self) -> list[Sequence[object]]:
        """The rows without rowid."""
        return [row[1:] for row in self.rows] if self.rowid else list(self.rows)

    @property
    def filled(self) -> str:
        """The statement that puts a row into a table like this, its name left open as `{}`."""
        names = [quoted(name) for name in self.columns]
        names = [self.rowid, *names] if self.rowid else names
        return f"INSERT INTO {{}} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"


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
        made = source.answer("SELECT type, name, sql FROM sqlite_master ORDER BY rowid")
        for kind, name, sql in made[2] if made[0] == "rows" else ():
            if kind == "table" and not name.startswith("sqlite_"):
                table = _table(source, name, sql)
                if table is not None and self._holds(table):
                    self.tables[name.lower()] = table
            elif kind == "view":
                self._database.answer(sql)

    def _holds(self, table: Table) -> bool:
        """Make the copy; whether it shows the same."""
        name = quoted(table.name)
        if self._database.answer(f"CREATE TABLE {name} {table.definition}")[0] != "done":
            return False
        if not self._database.fill(table.filled.format(name), table.rows):
            return False
        answer = self._database.answer(_shown(table))
        return answer[0] == "rows" and repr(answer[2]) == repr(table.rows)


def quoted(name: str) -> str:
    """A name in quotes."""
    return '"' + name.replace('"', '""') + '"'


def _shown(table: Table) -> str:
    names = [quoted(name) for name in table.columns]
    names = [table.rowid, *names] if table.rowid else names
    return f"SELECT {', '.join(names)} FROM {quoted(table.name)}"


def _table(source: SQLite, name: str, sql: str) -> Table | None:
    """What the table of that name is like; None for one that is none of its own."""
    if not re.match(r"\s*CREATE\s+(?:TEMP\w*\s+)?TABLE\b", sql, re.IGNORECASE):
        return None
    found = _rows(source, f"PRAGMA table_xinfo({quoted(name)})")
    columns = [row for row in found if row[6] != 1]
    names = tuple(str(row[1]) for row in columns)
    keys = [str(row[1]) for row in columns if row[5]]
    indexes = _rows(source, f"PRAGMA index_list({quoted(name)})")
    rowid = next((r for r in _ROWIDS if r not in map(str.lower, names)), "")
    if rowid and source.answer(f"SELECT {rowid} FROM {quoted(name)}")[0] != "rows":
        rowid = ""  # WITHOUT ROWID
    collations = _collations(source, name, names)
    if collations is None:
        return None
    alias = bool(rowid and len(keys) == 1 and not any(row[3] == "pk" for row in indexes))
    parts = []
    for column in columns:
        key = " PRIMARY KEY" if alias and column[1] == keys[0] else ""
        collation = quoted(collations[str(column[1])])
        parts.append(f"{quoted(str(column[1]))} {column[2]}{key} COLLATE {collation}")
    definition = f"({', '.join(parts)}){' STRICT' if _STRICT.search(sql) else ''}"
    table = Table(name, names, rowid, definition, ())
    return dataclasses.replace(table, rows=_rows(source, _shown(table)))


def _collations(source: SQLite, name: str, columns: Sequence[str]) -> dict[str, str] | None:
    """The collation of each column, which only an index tells."""
    listed = ", ".join(map(quoted, columns))
    made = source.answer(f"CREATE INDEX {quoted(_PROBE)} ON {quoted(name)} ({listed})")
    if made[0] != "done":
        return None
    found = _rows(source, f"PRAGMA index_xinfo({quoted(_PROBE)})")
    source.answer(f"DROP INDEX {quoted(_PROBE)}")
    return {str(row[2]): str(row[4]) for row in found if row[5]}


def _rows(source: SQLite, sql: str) -> list[Sequence[object]]:
    answer: Answer = source.answer(sql)
    return list(answer[2]) if answer[0] == "rows" else []
