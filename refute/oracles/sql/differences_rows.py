"""Tests of wrong rows: are they what SQLite could have given, or what a stated rule predicts?

Values are compared as the record shows them, since that is what the file says about them. SQLite
has run the same statements as the engine, so it knows the whole result also where the file has only
a hash of it.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any

from sqlglot import exp

from refute.fuzz.sql.text import Node, look, write
from refute.oracles.sql.differences_groups import each_has_a_group
from refute.oracles.sql.sqlite import SQLite
from refute.oracles.sql.windows import Row, Window, loose, window_of
from refute.oracles.sqllogictest.render import joined

LARGEST = 20_000  # rows of all tables that are put in another order
SHUFFLES = 6
DIGITS = 15

_SHUFFLED = "ORDER BY (rowid * 7919 + {0} * 104729) % (10007 + {0})"
_TABLES = (
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'"
)
_TRIGGERS = "SELECT name FROM sqlite_master WHERE type = 'trigger'"


def key_of(types: str) -> Callable[[Row], Hashable]:
    """What a row looks like in a record of these types."""

    def key(row: Row) -> Hashable:
        return tuple(joined(t, [[v]], "nosort") for t, v in zip(types, row, strict=True))

    return key


def number_key_of(types: str) -> Callable[[Row], Hashable]:
    """As `key_of`, but a number in a T column is its value in 15 digits."""

    def one(kind: str, value: Any) -> Hashable:
        if kind == "T" and type(value) in (int, float):
            return f"{float(value):.{DIGITS}g}" if value else "0"
        return joined(kind, [[value]], "nosort"), kind == "T"

    return lambda row: tuple(map(one, types, row))


@dataclasses.dataclass(frozen=True)
class Rows:
    """A query's right rows by SQLite, `database`, and the engine's.

    orders: the same database, with its rows in other orders.
    """

    database: SQLite
    query: Node
    types: str
    right: Sequence[Row]
    left: Sequence[Row]
    orders: Orders

    def explained(self) -> str:
        """The class that excuses the engine's rows, of those that hold for any engine; or ""."""
        window = window_of(self.database, self.query, self.right)
        exact = dataclasses.replace(window, adds=False)
        key = key_of(self.types)
        if exact.accepts(self.left, key):
            return self._order_class()
        if exact.accepts(self.left, number_key_of(self.types)):
            return "number-text"
        if window.adds and self._nearly(window):
            return "float-sum"
        if decided_by_order(self.query) or self._loosely(exact):
            return self._open()
        return ""

    def nearly(self) -> bool:
        """Whether numbers differ by some units in the last place at most."""
        return self._nearly(window_of(self.database, self.query, self.right))

    def predicted_by(self, database: SQLite, query: Node) -> bool:
        """Whether the engine's rows are SQLite's for another query on another database."""
        [answer] = database.run([write(query)])
        if answer[0] != "rows":
            return False
        window = window_of(database, query, answer[2])
        return window.accepts(self.left, number_key_of(self.types))

    def _nearly(self, window: Window) -> bool:
        groups = tuple(tuple(map(self._as_floats, group)) for group in window.groups)
        near = dataclasses.replace(window, groups=groups, adds=True)
        return near.accepts(list(map(self._as_floats, self.left)), key_of(self.types))

    def _as_floats(self, row: Row) -> Row:
        return tuple(float(v) if type(v) is int else v for v in row)

    def _order_class(self) -> str:
        if self.query.args.get("limit") is not None or self.query.args.get("offset") is not None:
            return "limit-ties"
        return "row-order" if self.query.args.get("order") is None else "ties"

    # What SQLite's own order of rows decides

    def _open(self) -> str:
        """The class of a query whose answer changes when SQLite's tables are in another order."""
        key = number_key_of(self.types)
        pool: Counter[Hashable] = Counter()
        several: list[Sequence[Any]] = [list(map(key, self.right))]
        for rows, window in self._others():
            several.append(list(map(key, rows)))
            if window.accepts(self.left, key):
                return self._open_class()
        if all(Counter(rows) == Counter(several[0]) for rows in several):
            return self._parts()
        for rows in several:
            pool.update(rows)
        left = list(map(key, self.left))
        if len(left) != len(self.right) or not all(row in pool for row in left):
            return self._parts()
        fixed = _fixed_columns(several)
        mine, theirs = (_columns(rows, fixed) for rows in (left, several[0]))
        right = mine == theirs and each_has_a_group(self.database, self.query, key, self.left)
        return self._open_class() if right else ""

    def _others(self) -> Iterator[tuple[Sequence[Row], Window]]:
        """SQLite's rows, and the window, in other orders of its tables."""
        text = write(self.query)
        for database in self.orders.of(self.database):
            [answer] = database.run([text])
            if answer[0] == "rows":
                yield answer[2], window_of(database, self.query, answer[2])

    def _loosely(self, window: Window) -> bool:
        """Whether the rows are right ones but for which of several equal values they show."""
        if not self.query.find(exp.Distinct, exp.SetOperation, exp.Group, exp.Min, exp.Max):
            return False

        def key(row: Row) -> Hashable:
            return loose(tuple(float(v) if type(v) is int else v for v in row))

        return window.accepts(self.left, key)

    def _open_class(self) -> str:
        if self.query.find(exp.GroupConcat):
            return "group-concat-order"
        return "bare-column" if bare_columns(self.query) else "equal-keys"

    def _parts(self) -> str:
        """group_concat of the same parts in another order, where its rows are few."""
        concat = self.query.find(exp.GroupConcat)
        if concat is None:
            return ""
        found = concat.args.get("separator")
        between = found.name if isinstance(found, exp.Literal) else ","

        def key(row: Row) -> Hashable:
            return tuple(
                tuple(sorted(v.split(between))) if type(v) is str and between else v for v in row
            )

        window = window_of(self.database, self.query, self.right)
        exact = dataclasses.replace(window, adds=False)
        return "group-concat-order" if exact.accepts(self.left, key) else ""


class Orders:
    """Copies of a database in other orders of rows, kept until the database changes."""

    def __init__(self) -> None:
        self._of: SQLite | None = None
        self._state: tuple[Any, ...] = ()
        self._copies: list[SQLite] = []

    def of(self, database: SQLite) -> list[SQLite]:
        """The copies; they belong to this object."""
        counted = _rows(database, "SELECT total_changes()")
        state = (counted, _rows(database, "PRAGMA schema_version"))
        if database is not self._of or state != self._state:
            self.close()
            self._of = database
            self._copies = list(_orders(database))
            self._state = state
        return self._copies

    def close(self) -> None:
        """Let the copies go."""
        for copy in self._copies:
            copy.close()
        self._copies, self._state = [], ()


def decided_by_order(query: Node) -> bool:
    """Whether the order of rows may decide what a query shows, other than which equal value."""
    if query.find(exp.GroupConcat, exp.Window) or bare_columns(query):
        return True
    inner = (part for part in query.find_all(exp.Subquery, exp.Exists) if part is not query)
    return any(
        part.find(exp.Limit) or (isinstance(part, exp.Subquery) and _may_have_rows(part))
        for part in inner
    )


def _may_have_rows(part: Node) -> bool:
    """Whether a subquery that is a value may have several rows, of which SQLite takes one."""
    select = part.this
    as_value = not isinstance(part.parent, exp.From | exp.Join | exp.In | exp.Exists)
    return as_value and isinstance(select, exp.Select) and not select.find(exp.AggFunc)


def _orders(database: SQLite) -> Iterator[SQLite]:
    """Copies of a database that meet the rows of its tables in other orders."""
    backwards = database.copy()
    backwards.answer("PRAGMA reverse_unordered_selects = ON")
    yield backwards
    names = [str(row[0]).replace('"', '""') for row in _rows(database, _TABLES)]
    counts = [_rows(database, f'SELECT count(*) FROM "{name}"') for name in names]
    if sum(int(count[0][0]) for count in counts if count) > LARGEST:
        return
    for seed in range(1, SHUFFLES + 1):
        other = database.copy()
        for (trigger,) in _rows(other, _TRIGGERS):
            other.answer('DROP TRIGGER "{}"'.format(str(trigger).replace('"', '""')))
        for name in names:
            other.run(
                [
                    f'CREATE TEMP TABLE "refute rows" AS SELECT * FROM "{name}"',
                    f'DELETE FROM "{name}"',
                    f'INSERT INTO "{name}" SELECT * FROM "refute rows" {_SHUFFLED.format(seed)}',
                    'DROP TABLE temp."refute rows"',
                ]
            )
        if seed % 2:
            other.answer("PRAGMA reverse_unordered_selects = ON")
        yield other


def bare_columns(query: Node) -> bool:
    """Whether a SELECT that groups shows a column that it does not group by."""
    for select in query.find_all(exp.Select):
        group = select.args.get("group")
        keys = {key.sql().lower() for key in (group.expressions if group else ())}
        names = {key.rpartition(".")[2] for key in keys}
        outputs = [o.unalias() for o in select.expressions]
        totals = any(o.find(exp.AggFunc) for o in outputs)
        if group is None and not totals:
            continue
        for output in outputs:
            if output.sql().lower() in keys:
                continue
            for column in output.find_all(exp.Column, exp.Star):
                inside = column.find_ancestor(exp.AggFunc, exp.Subquery)
                if inside is None and column.name.lower() not in names:
                    return True
    return False


def misread(database: SQLite, sql: str, right: Sequence[Row]) -> bool:
    """Whether the library reads the query as another one than SQLite does."""
    tree = look(sql)
    if tree is None:
        return True
    [answer] = database.run([write(tree)])
    same = answer[0] == "rows" and Counter(map(repr, map(tuple, answer[2]))) == Counter(
        map(repr, map(tuple, right))
    )
    return not same and tree.args.get("limit") is None


def _fixed_columns(several: Sequence[Sequence[Any]]) -> list[int]:
    """The columns that are the same in all orders."""
    width = len(several[0][0]) if several[0] else 0
    first = [_columns(several[0], [place]) for place in range(width)]
    return [
        place
        for place in range(width)
        if all(_columns(rows, [place]) == first[place] for rows in several)
    ]


def _columns(rows: Sequence[Any], places: Sequence[int]) -> Counter[Hashable]:
    return Counter(tuple(row[place] for place in places) for row in rows)


def _rows(database: SQLite, sql: str) -> list[tuple[Any, ...]]:
    answer = database.answer(sql)
    return list(answer[2]) if answer[0] == "rows" else []
