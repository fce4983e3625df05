"""Stored: the tables that a setup leaves, as data: columns and rows, without what guards them.

A table is described by a definition that keeps types, collations and rowids, and has neither keys
nor constraints nor generated columns. So the same rows can be put into another database, in another
order, with other indexes, and SQLite compares and converts them as in the first one.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Sequence
from typing import Any

from refute.oracles.sql.sqlite import SQLite

ROWIDS = ("rowid", "oid", "_rowid_")
_PROBE = "refute probe"
_STRICT = re.compile(r"\bSTRICT\b[^()]*$", re.IGNORECASE)
_TABLE = re.compile(r"\s*CREATE\s+(?:TEMP\w*\s+)?TABLE\b", re.IGNORECASE)

Row = Sequence[Any]


@dataclasses.dataclass(frozen=True)
class Table:
    """A table. columns: names. rowid: by which name a rowid is reached, "" for none.

    definition: of its columns, and what follows. rows: with the rowid, if there is one, first.
    numbered: whether a column is the rowid.
    """

    name: str
    columns: tuple[str, ...]
    rowid: str
    definition: str
    rows: Sequence[Row]
    numbered: bool = False

    @property
    def values(self) -> list[Row]:
        """The rows without rowid."""
        return [row[1:] for row in self.rows] if self.rowid else list(self.rows)

    @property
    def filled(self) -> str:
        """The statement that puts a row into a table like this, its name left open as `{}`."""
        names = [quoted(name) for name in self.columns]
        names = [self.rowid, *names] if self.rowid else names
        return f"INSERT INTO {{}} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"

    @property
    def shown(self) -> str:
        """The query that shows the rows."""
        names = [quoted(name) for name in self.columns]
        names = [self.rowid, *names] if self.rowid else names
        return f"SELECT {', '.join(names)} FROM {quoted(self.name)}"


@dataclasses.dataclass(frozen=True)
class Stored:
    """tables: those that can be described. views: as they were made."""

    tables: tuple[Table, ...]
    views: tuple[str, ...]


def quoted(name: str) -> str:
    """A name in quotes."""
    return '"' + name.replace('"', '""') + '"'


def literal(value: Any) -> str:
    """A value as SQLite reads it."""
    if value is None:
        return "NULL"
    if type(value) is bytes:
        return f"x'{value.hex()}'"
    if type(value) is str:
        if "\0" in value:
            return f"CAST(x'{value.encode('utf-8', 'surrogateescape').hex()}' AS TEXT)"
        return "'" + value.replace("'", "''") + "'"
    if type(value) is float and math.isinf(value):
        return "9e999" if value > 0 else "-9e999"
    if value == -(2**63):
        return "(-9223372036854775807 - 1)"
    return repr(value)


def stored_in(source: SQLite) -> Stored:
    """What a database holds. Indexes are made and dropped on the way."""
    tables: list[Table] = []
    views: list[str] = []
    for kind, name, sql in _rows(
        source, "SELECT type, name, sql FROM sqlite_master ORDER BY rowid"
    ):
        if kind == "view":
            views.append(str(sql))
        elif kind == "table" and not str(name).startswith("sqlite_"):
            table = _table(source, str(name), str(sql))
            tables += [] if table is None else [table]
    return Stored(tuple(tables), tuple(views))


def _table(source: SQLite, name: str, sql: str) -> Table | None:
    """What the table of that name is like; None for one that is none of its own."""
    if not _TABLE.match(sql):
        return None
    found = _rows(source, f"PRAGMA table_xinfo({quoted(name)})")
    columns = [row for row in found if row[6] != 1]
    names = tuple(str(row[1]) for row in columns)
    keys = [str(row[1]) for row in columns if row[5]]
    indexes = _rows(source, f"PRAGMA index_list({quoted(name)})")
    rowid = next((r for r in ROWIDS if r not in map(str.lower, names)), "")
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
    table = Table(name, names, rowid, definition, (), alias)
    return dataclasses.replace(table, rows=_rows(source, table.shown))


def _collations(source: SQLite, name: str, columns: Sequence[str]) -> dict[str, str] | None:
    """The collation of each column, which only an index tells."""
    listed = ", ".join(map(quoted, columns))
    made = source.answer(f"CREATE INDEX {quoted(_PROBE)} ON {quoted(name)} ({listed})")
    if made[0] != "done":
        return None
    found = _rows(source, f"PRAGMA index_xinfo({quoted(_PROBE)})")
    source.answer(f"DROP INDEX {quoted(_PROBE)}")
    return {str(row[2]): str(row[4]) for row in found if row[5]}


def _rows(source: SQLite, sql: str) -> list[Row]:
    answer = source.answer(sql)
    return list(answer[2]) if answer[0] == "rows" else []
