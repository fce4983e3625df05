"""Names in a query: which column of which source a name is, SQLite's way.

A name that is no column of any source may be an alias of a result column, then a column of the
query around; with double quotes it is a text in the end.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence

from sqlglot import exp

from refute.fuzz.sql.text import Node
from refute.oracles.sql.transpile.kinds import Column, Unresolved


@dataclasses.dataclass(frozen=True)
class Source:
    """A table, view or subquery in FROM under its alias, in lower case.

    key: the column that is its rowid; "" for none. unique: the columns of each of its keys.
    merged: columns that USING has made one with those of another source, which `*` shows.
    """

    alias: str
    columns: Sequence[Column]
    key: str = ""
    unique: tuple[tuple[str, ...], ...] = ()
    merged: frozenset[str] = frozenset()

    @functools.cached_property
    def _by_name(self) -> dict[str, Column]:
        return {column.name: column for column in reversed(self.columns)}

    def find(self, name: str) -> Column | None:
        """The column of this name."""
        return self._by_name.get(name)


def _lower(word: Node | str | None) -> str:
    """What a name says, in lower case."""
    if word is None:
        return ""
    text = word if isinstance(word, str) else word.args["this"]
    return text.lower() if isinstance(text, str) else ""


@dataclasses.dataclass
class Scope:
    """One SELECT. aliases: of its result columns, with what they stand for.

    groups: the columns, by source and name, and the texts of other expressions in GROUP BY; None
    when the query does not group. aggregating: inside of an aggregate function's arguments.
    expanding: aliases that are being replaced, against circles. having: inside of
    HAVING. merged: whether a RIGHT or FULL JOIN has made one column of two.
    """

    parent: Scope | None = None
    sources: list[Source] = dataclasses.field(default_factory=list)
    aliases: dict[str, Node] = dataclasses.field(default_factory=dict)
    groups: set[tuple[str, str]] | None = None
    texts: set[str] = dataclasses.field(default_factory=set)
    aggregating: bool = False
    expanding: set[str] = dataclasses.field(default_factory=set)
    having: bool = False
    merged: bool = False

    def find(self, column: exp.Column) -> tuple[Source, Column, Scope] | None:
        """The source, the column and the scope of a name; None if it is no column."""
        name, table = _lower(column.args["this"]), _lower(column.args.get("table"))
        scope: Scope | None = self
        while scope is not None:
            for source in scope.sources:
                if table in ("", source.alias):
                    found = source.find(name)
                    if found is None and name in ("rowid", "oid", "_rowid_") and source.key:
                        found = source.find(source.key)
                    if found is not None:
                        return source, found, scope
            if not table and name in scope.aliases and name not in scope.expanding:
                return None
            scope = scope.parent
        return None

    def aliased(self, name: str) -> tuple[Scope, Node] | None:
        """What an alias stands for, and where."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.aliases and name not in scope.expanding:
                return scope, scope.aliases[name]
            scope = scope.parent
        return None

    def starred(self, table: str) -> list[tuple[Source, Column]]:
        """The columns that `*`, or `table.*`, stands for. Raises Unresolved."""
        found = [
            (source, column)
            for source in self.sources
            if table in ("", source.alias)
            for column in source.columns
            if table or column.name not in source.merged
        ]
        if not found:
            raise Unresolved(f"{table}.*")
        return found

    def is_key(self, source: Source, column: Column) -> bool:
        """Whether GROUP BY fixes the column."""
        return (source.alias, column.name) in (self.groups or ())
