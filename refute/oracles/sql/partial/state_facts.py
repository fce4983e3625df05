"""What a setup leaves: tables, keys, indexes and views, as the embedded SQLite says."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Sequence

from refute.oracles.sql.sqlite import SQLite
from refute.oracles.sql.stored import ROWIDS, quoted

STEPS = 2_000_000
_VIRTUAL = re.compile(r"\s*CREATE\s+VIRTUAL\b", re.IGNORECASE)
_WHERE = re.compile(r"\)\s*WHERE\s+(.*)$", re.IGNORECASE | re.DOTALL)


@dataclasses.dataclass(frozen=True)
class Index:
    """columns: those of the table in it, "" for an expression. where: its condition."""

    name: str
    columns: tuple[str, ...]
    unique: bool
    where: str = ""


@dataclasses.dataclass(frozen=True)
class TableFacts:
    """columns: as names. rowid: by which name a rowid is reached, "" for none."""

    name: str
    columns: tuple[str, ...]
    rowid: str
    indexes: tuple[Index, ...]

    @property
    def keys(self) -> list[tuple[str, ...]]:
        """Columns that no two rows have the same values of, unless one is NULL."""
        found = [i.columns for i in self.indexes if i.unique and not i.where and all(i.columns)]
        return [(self.rowid,), *found] if self.rowid else found


@dataclasses.dataclass(frozen=True)
class Facts:
    """views: name, and the text that made it."""

    tables: tuple[TableFacts, ...]
    views: tuple[tuple[str, str], ...]


@functools.lru_cache(maxsize=32)
def facts_of(setup: tuple[str, ...]) -> Facts:
    """The facts of a setup, kept for the queries that come."""
    database = SQLite(STEPS)
    database.run(setup)
    made = _rows(database, "SELECT type, name, sql FROM sqlite_master ORDER BY rowid")
    tables, views = [], []
    for kind, name, sql in made:
        text = str(sql)
        if kind == "view":
            views.append((str(name), text))
        elif kind == "table" and not str(name).startswith("sqlite_") and not _VIRTUAL.match(text):
            tables.append(_table(database, str(name)))
    database.close()
    return Facts(tuple(t for t in tables if t.columns), tuple(views))


def _table(database: SQLite, name: str) -> TableFacts:
    shown = _rows(database, f"PRAGMA table_xinfo({quoted(name)})")
    columns = tuple(str(row[1]) for row in shown if row[6] != 1)
    taken = {column.lower() for column in columns}
    rowid = next((r for r in ROWIDS if r not in taken), "")
    if rowid and database.answer(f"SELECT {rowid} FROM {quoted(name)}")[0] != "rows":
        rowid = ""
    indexes = [
        _index(database, row) for row in _rows(database, f"PRAGMA index_list({quoted(name)})")
    ]
    return TableFacts(name, columns, rowid, tuple(sorted(indexes, key=lambda i: i.name)))


def _index(database: SQLite, row: Sequence[object]) -> Index:
    name = str(row[1])
    parts = _rows(database, f"PRAGMA index_info({quoted(name)})")
    columns = tuple("" if part[2] is None else str(part[2]) for part in parts)
    made = _rows(database, f"SELECT sql FROM sqlite_master WHERE name = '{_escaped(name)}'")
    text = str(made[0][0]) if made and made[0][0] is not None else ""
    match = _WHERE.search(text) if row[4] else None
    return Index(name, columns, bool(row[2]), match[1] if match else "1" if row[4] else "")


def _escaped(text: str) -> str:
    return text.replace("'", "''")


def _rows(database: SQLite, sql: str) -> list[Sequence[object]]:
    answer = database.answer(sql)
    return list(answer[2]) if answer[0] == "rows" else []
