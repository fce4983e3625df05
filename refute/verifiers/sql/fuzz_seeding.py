"""Databases that somebody's script makes, as the generator sees its own: what queries may name.

The embedded SQLite runs the script's statements; its catalog then says which tables and views there
are, with their columns' types, and the rows are read. So any script will do, however it is written.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

from refute.fuzz.sql.schema import Column, Schema, Table, affinity
from refute.oracles.sql.sqlite import SQLite

STEPS = 5_000_000
MOST_ROWS = 40  # of a table that are read, to draw values from
MOST_TABLES = 6
MOST_COLUMNS = 12

_NAME = re.compile(r"[A-Za-z_]\w*")
_COLLATED = r"\b{}\b[^,]*?\bCOLLATE\s+(NOCASE|RTRIM)\b"
_TABLES = (
    "SELECT name, type, sql FROM sqlite_master WHERE type IN ('table', 'view') "
    "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid"
)


@functools.lru_cache(maxsize=64)
def schema_of(setup: tuple[str, ...]) -> Schema | None:
    """What queries may name after these statements; None when that is nothing."""
    database = SQLite(STEPS)
    try:
        database.run(setup)
        [answer] = database.run([_TABLES])
        found = answer[2] if answer[0] == "rows" else []
        tables = [_table(database, name, kind, sql or "") for name, kind, sql in found]
    finally:
        database.close()
    known = tuple(table for table in tables if table is not None)[:MOST_TABLES]
    return Schema(known) if known else None


def _table(database: SQLite, name: str, kind: str, sql: str) -> Table | None:
    """A table; None when it has a name that needs quotes, or cannot be read."""
    if not _is_plain(name):
        return None
    [info] = database.run([f"SELECT name, type FROM pragma_table_xinfo('{name}')"])
    if info[0] != "rows":
        return None
    columns = [
        Column(column, affinity(kind), _collation(sql, column))
        for column, kind in info[2]
        if _is_plain(column)
    ][:MOST_COLUMNS]
    if not columns:
        return None
    names = ", ".join(column.name for column in columns)
    [rows] = database.run([f"SELECT {names} FROM {name} LIMIT {MOST_ROWS}"])
    if rows[0] != "rows":
        return None
    held = {
        column.name: [row[place] for row in rows[2] if row[place] is not None]
        for place, column in enumerate(columns)
    }
    return Table(name, tuple(columns), held, kind, rowid=False)


def _is_plain(name: str) -> bool:
    """Whether a name goes without quotes: as a column and as a table."""
    if not _NAME.fullmatch(name):
        return False
    database = SQLite(STEPS)
    [answer] = database.run([f"CREATE TABLE {name} ({name})"])
    database.close()
    return bool(answer[0] != "error")


def _collation(sql: str, column: str) -> str:
    found = re.search(_COLLATED.format(re.escape(column)), sql, re.IGNORECASE)
    return found[1].upper() if found is not None else ""


def cases_of(
    script_cases: Sequence[tuple[tuple[str, ...], str]],
) -> list[tuple[tuple[str, ...], list[str]]]:
    """The queries of a script by the setup they are asked after, in its order."""
    found: list[tuple[tuple[str, ...], list[str]]] = []
    for setup, query in script_cases:
        if not found or found[-1][0] != setup:
            found.append((setup, []))
        if query:
            found[-1][1].append(query)
    return found
