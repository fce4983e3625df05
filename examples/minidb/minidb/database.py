"""The tables by name, and the log by which changes are undone."""

from __future__ import annotations

from minidb.errors import OperationalError
from minidb.table import Log, Table, Unique


class Database:
    """One database in memory."""

    def __init__(self) -> None:
        self._tables: dict[str, Table] = {}
        self._indexes: dict[str, tuple[Table, Unique | None]] = {}
        self.log: Log = []
        self.begun = False

    def table(self, name: str) -> Table:
        """The table of that name, whatever its case."""
        found = self._tables.get(name.lower())
        if found is None:
            raise OperationalError(f"no such table: {name}")
        return found

    def has(self, name: str) -> bool:
        """Whether a table or index has the name."""
        return name.lower() in self._tables or name.lower() in self._indexes

    def create(self, table: Table) -> None:
        """Add a table."""
        key = table.name.lower()
        self._tables[key] = table
        self.log.append(lambda: self._tables.pop(key))

    def drop(self, name: str) -> None:
        """Remove a table with its indexes."""
        table, indexes = self.table(name), dict(self._indexes)
        del self._tables[name.lower()]
        self._indexes = {n: i for n, i in indexes.items() if i[0] is not table}

        def restore() -> None:
            self._tables[name.lower()] = table
            self._indexes = indexes

        self.log.append(restore)

    def create_index(self, name: str, table: Table, unique: Unique | None) -> None:
        """Add an index; only a unique one means anything, the rows are found without."""
        if unique is not None:
            for row in table.scan():
                table.check(unique, row)
                table.index(unique, row)
            table.uniques.append(unique)
        self._indexes[name.lower()] = (table, unique)
        self.log.append(lambda: self._remove_index(name))

    def drop_index(self, name: str) -> None:
        """Remove an index; OperationalError if there is none."""
        if name.lower() not in self._indexes:
            raise OperationalError(f"no such index: {name}")
        table, unique = self._indexes[name.lower()]
        self._remove_index(name)
        if unique is not None:
            empty = Unique(unique.places)
            self.log.append(lambda: self.create_index(name, table, empty))
        else:
            self.log.append(lambda: self.create_index(name, table, None))

    def _remove_index(self, name: str) -> None:
        table, unique = self._indexes.pop(name.lower())
        if unique is not None:
            table.uniques = [other for other in table.uniques if other is not unique]

    def undo(self, mark: int) -> None:
        """Take back every change since the log had that length."""
        while len(self.log) > mark:
            before = self.log[:-1]
            self.log.pop()()
            self.log = before

    def commit(self) -> None:
        """Keep all changes."""
        self.log.clear()
        self.begun = False

    def rollback(self) -> None:
        """Take back all changes since the last commit."""
        self.undo(0)
        self.begun = False
