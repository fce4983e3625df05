"""Names and what they stand for while one SELECT is compiled, and the rows they stand for later.

A scope has one frame: a list with the current row of each of its sources. Compiled expressions
read the frame they were compiled for, so a correlated subquery simply reads the frame of the query
around it. `depends` records such readings; a subquery without any has one answer per statement.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from sqlglot import exp

from minidb.affinity import Affinity
from minidb.aggregates import Accumulator
from minidb.collation import Fold, fold_of
from minidb.errors import OperationalError
from minidb.values import Value

Row = tuple[Value, ...]
Evaluate = Callable[[], Value]
ROWID_NAMES = frozenset({"rowid", "_rowid_", "oid"})


@dataclass(frozen=True, slots=True)
class Code:
    """A compiled expression: how to evaluate it, and what it brings into a comparison.

    `explicit` says that the collation was written with COLLATE somewhere inside, which wins over
    the collation of a column.
    """

    evaluate: Evaluate
    affinity: Affinity | None = None
    collation: str | None = None
    explicit: bool = False

    @property
    def fold(self) -> Fold:
        """What its collation compares."""
        return fold_of(self.collation)


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table or of a query's result."""

    name: str
    affinity: Affinity | None = None
    collation: str | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """A compiled SELECT: its columns, the code of each, its rows, and the scopes it reads.

    `walk`, if there is one, only finds the rows and computes no result column.
    """

    columns: list[Column]
    codes: list[Code]
    rows: Callable[[], Iterator[Row]]
    depends: frozenset[int]
    walk: Callable[[], Iterator[None]] | None = None

    def any(self) -> bool:
        """Whether there is a row, which EXISTS asks without looking at the result columns."""
        return any(True for _ in (self.walk or self.rows)())


class Builder(Protocol):
    """What compiles the parts of an expression; see compiler.py."""

    def code(self, node: exp.Expr, scope: Scope) -> Code:
        """Compile one expression in a scope."""

    def query(self, node: exp.Expr, parent: Scope | None) -> Query:
        """Compile one SELECT or compound inside a scope."""

    def parameter(self, node: exp.Expr) -> Value:
        """The value bound to a placeholder."""


@dataclass
class Source:
    """One item of FROM. A table's rows carry their rowid behind the last column.

    `merged` names the columns that USING or NATURAL made one with those of an earlier source, and
    `side` is LEFT, RIGHT, FULL or nothing, as it joins those.
    """

    name: str
    columns: list[Column]
    load: Callable[[], list[Row]]
    has_rowid: bool = False
    merged: set[str] = field(default_factory=set)
    side: str = ""

    @property
    def nothing(self) -> Row:
        """The row of an outer join that found none."""
        return (None,) * (len(self.columns) + self.has_rowid)

    def index(self, name: str) -> int | None:
        """Where the column stands in a row; the name is in lower case."""
        for place, column in enumerate(self.columns):
            if column.name.lower() == name:
                return place
        return None


class Scope:
    """The names of one SELECT."""

    def __init__(self, parent: Scope | None) -> None:
        self.parent = parent
        self.sources: list[Source] = []
        self.frame: list[Row] = []
        self.aliases: dict[str, exp.Expr] = {}
        self.aliases_visible = False
        self.aggregates_allowed = False
        self.aggregates: list[object] = []
        self.results: list[Accumulator] = []
        self.depends: set[int] = set()
        self.used: set[int] = set()
        self.keeps_right = False

    def add(self, source: Source) -> int:
        """Add an item of FROM; its number."""
        self.sources.append(source)
        self.frame.append(source.nothing)
        return len(self.sources) - 1

    def note(self, used: Scope) -> None:
        """Record that something compiled here reads the frame of `used`, an ancestor or itself."""
        scope: Scope | None = self
        while scope is not None and scope is not used:
            scope.depends.add(id(used))
            scope = scope.parent

    def find(self, table: str, name: str) -> list[tuple[int, int]]:
        """Source and place of every column with that name; both in lower case, table may be ""."""
        found = []
        for number, source in enumerate(self.sources):
            if table and source.name.lower() != table:
                continue
            place = source.index(name)
            if place is not None and (table or name not in source.merged):
                found.append((number, place))
        return found or self._find_rowid(table, name)

    def _find_rowid(self, table: str, name: str) -> list[tuple[int, int]]:
        named = [
            (number, source)
            for number, source in enumerate(self.sources)
            if not table or source.name.lower() == table
        ]
        if name not in ROWID_NAMES or len(named) != 1 or not named[0][1].has_rowid:
            return []
        return [(named[0][0], len(named[0][1].columns))]

    def column(self, number: int, place: int) -> Code:
        """The code that reads one column of the current row."""
        source, frame = self.sources[number], self.frame
        self.used.add(number)
        if place == len(source.columns):
            return Code(lambda: frame[number][place], Affinity.INTEGER, "BINARY")
        column = source.columns[place]
        return Code(lambda: frame[number][place], column.affinity, column.collation)

    def unqualified(self, number: int, place: int) -> Code:
        """A column named without its table. Of those that USING made one, a RIGHT JOIN takes its
        own, a FULL JOIN the first that is not NULL, and else it is the leftmost.
        """
        found, source = [(number, place)], self.sources[number]
        name = source.columns[place].name.lower() if place < len(source.columns) else ""
        for other, later in enumerate(self.sources):
            if other > number and name in later.merged and (at := later.index(name)) is not None:
                if later.side == "RIGHT":
                    found = [(other, at)]
                elif later.side == "FULL":
                    found.append((other, at))
        codes = [self.column(*column) for column in found]
        if len(codes) == 1:
            return codes[0]
        readings = [code.evaluate for code in codes]
        return Code(lambda: next((v for read in readings if (v := read()) is not None), None))


def resolve(builder: Builder, scope: Scope, table: str, name: str) -> Code:
    """What a column name means here or in the nearest scope around that knows it: a column of its
    sources, else an alias of its result columns. Raises OperationalError for none or several.
    """
    here: Scope | None = scope
    while here is not None:
        found = here.find(table.lower(), name.lower())
        if len(found) > 1:
            raise OperationalError(f"ambiguous column name: {name}")
        if found:
            scope.note(here)
            return here.column(*found[0]) if table else here.unqualified(*found[0])
        if not table and here.aliases_visible and name.lower() in here.aliases:
            scope.note(here)
            return _alias(builder, here, here.aliases[name.lower()])
        here = here.parent
    raise OperationalError(f"no such column: {f'{table}.' if table else ''}{name}")


def _alias(builder: Builder, scope: Scope, node: exp.Expr) -> Code:
    """A result column named by its alias; inside it, aliases mean nothing."""
    scope.aliases_visible = False
    try:
        return builder.code(node, scope)
    finally:
        scope.aliases_visible = True
