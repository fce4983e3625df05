"""Tables: rows by rowid, and the constraints that every row keeps.

Each change appends its inverse to the log of the database, so that a failed statement or a
ROLLBACK is undone by running the log backwards.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from minidb.affinity import Affinity, stored
from minidb.collation import fold_of, identity
from minidb.errors import IntegrityError, OperationalError
from minidb.scope import Row
from minidb.values import LARGEST, Value

Log = list[Callable[[], object]]


@dataclass(frozen=True)
class TableColumn:
    """One column as it was declared."""

    name: str
    affinity: Affinity
    collation: str = "BINARY"
    not_null: bool = False
    default: Value = None


@dataclass
class Unique:
    """Columns of which no two rows have the same values; NULL is never the same."""

    places: tuple[int, ...]
    name: str = ""
    rowids: dict[Row, int] = field(default_factory=dict)


@dataclass
class Table:
    """A table. Its rows carry their rowid behind the last column; `key` is the column, if any,
    that is another name of the rowid (INTEGER PRIMARY KEY).
    """

    name: str
    columns: list[TableColumn]
    key: int | None = None
    uniques: list[Unique] = field(default_factory=list)
    rows: dict[int, Row] = field(default_factory=dict)

    def scan(self) -> list[Row]:
        """All rows in the order of their rowids."""
        return [self.rows[rowid] for rowid in sorted(self.rows)]

    def place(self, name: str) -> int:
        """Where the column stands; OperationalError if there is none."""
        for place, column in enumerate(self.columns):
            if column.name.lower() == name.lower():
                return place
        raise OperationalError(f"table {self.name} has no column named {name}")

    def insert(self, values: list[Value], log: Log, rowid: int | None = None) -> int:
        """Store one row and return its rowid; IntegrityError if a constraint forbids it."""
        row = [stored(v, c.affinity) for v, c in zip(values, self.columns, strict=True)]
        if self.key is not None:
            rowid = self._rowid(row[self.key])
            row[self.key] = rowid
        elif rowid is None:
            rowid = self._next_rowid()
        for column, value in zip(self.columns, row, strict=True):
            if column.not_null and value is None:
                raise IntegrityError(f"NOT NULL constraint failed: {self.name}.{column.name}")
        if rowid in self.rows:
            raise self._taken((self.key or 0,))
        complete = (*row, rowid)
        for unique in self.uniques:
            self.check(unique, complete)
        self._put(complete)
        log.append(lambda: self._drop(rowid))
        return rowid

    def delete(self, rowid: int, log: Log) -> None:
        """Remove one row."""
        row = self._drop(rowid)
        log.append(lambda: self._put(row))

    def check(self, unique: Unique, row: Row) -> None:
        """IntegrityError if another row has the same values in these columns."""
        mark = self._mark(unique, row)
        if mark is not None and mark in unique.rowids:
            raise self._taken(unique.places)

    def index(self, unique: Unique, row: Row) -> None:
        """Remember the row's values in these columns."""
        mark = self._mark(unique, row)
        if mark is not None:
            unique.rowids[mark] = int(row[-1] or 0)

    def _put(self, row: Row) -> None:
        self.rows[int(row[-1] or 0)] = row
        for unique in self.uniques:
            self.index(unique, row)

    def _drop(self, rowid: int) -> Row:
        row = self.rows.pop(rowid)
        for unique in self.uniques:
            mark = self._mark(unique, row)
            if mark is not None:
                unique.rowids.pop(mark, None)
        return row

    def _mark(self, unique: Unique, row: Row) -> Row | None:
        values = [row[place] for place in unique.places]
        if any(value is None for value in values):
            return None
        folds = [fold_of(self.columns[place].collation) for place in unique.places]
        return tuple(identity(v, fold) for v, fold in zip(values, folds, strict=True))

    def _taken(self, places: tuple[int, ...]) -> IntegrityError:
        names = ", ".join(f"{self.name}.{self.columns[place].name}" for place in places)
        return IntegrityError(f"UNIQUE constraint failed: {names}")

    def _rowid(self, value: Value) -> int:
        if value is None:
            return self._next_rowid()
        if not isinstance(value, int):
            raise IntegrityError("datatype mismatch")
        return value

    def _next_rowid(self) -> int:
        largest = max(self.rows, default=0)
        if largest == LARGEST:
            raise OperationalError("database or disk is full")
        return max(largest, 0) + 1 if largest >= 0 else largest + 1
