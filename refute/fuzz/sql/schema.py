"""Databases: small tables, full of NULLs and of values where engines differ.

What goes wrong in an engine mostly goes wrong on little data: a NULL, an empty table, a text that
looks like a number, two texts equal under a collation, an integer at the edge of 32 or 64 bits.
Values of one type are drawn from one short list, so that joins and comparisons find partners.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterator, Sequence, Set

from sqlglot import exp

from refute.fuzz.sql.text import Node, write
from refute.plain import Plain

NULLS = 0.3  # of the values in columns that take them
EDGES = 0.12  # of the other values
THEMED = {"TEXT": 0.25, "INTEGER": 0.05}  # of the columns of that type
TOGETHER = 0.5  # of the rows that are refused, in one INSERT with a row that would be accepted

INTEGERS = (0, 1, 2, 3, -1, 5, 10)
INTEGER_EDGES = (2**31 - 1, -(2**31), 2**31, 2**32, 2**53 + 1, 2**63 - 1, -(2**63), 100, -7)
REALS = (0.0, 1.0, 0.5, -1.5, 2.0, 2.5, 3.25)
REAL_EDGES = (-0.0, 1e10, -1e18, 9223372036854775808.0, 0.1, 1e-7, 1e300, 123456789.125)
TEXTS = ("a", "A", "b", "ab", "", "x", "1")
TEXT_EDGES = (
    "B",
    "Ab",
    "10",
    "2",
    "1.0",
    "01",
    "1e1",
    " 1",
    "-1",
    "1x",
    "é",
    "É",
    "日本",
    "a ",
    "%",
)
TEXT_EDGES_MORE = ("_", "'", "a_", "A%b", "null", "9223372036854775808", "0x10", ".5", "ß")

POOLS: dict[str, tuple[tuple[Plain, ...], tuple[Plain, ...]]] = {
    "INTEGER": (INTEGERS, INTEGER_EDGES),
    "REAL": (REALS, REAL_EDGES),
    "TEXT": (TEXTS, TEXT_EDGES + TEXT_EDGES_MORE),
    "NUMERIC": ((*INTEGERS[:4], 0.5, 1.5), (*INTEGER_EDGES[:4], *REAL_EDGES[:4])),
    "": ((0, 1, "a", "1", 1.0, 2, "b"), ("", "A", -0.5, 2**31, "1.0", 10, "10")),
}
# Values that differ from each other in one way only; some columns hold nothing else.
THEMES: dict[str, tuple[tuple[Plain, ...], ...]] = {
    "TEXT": (
        ("é", "É", "e", "E", "éA"),
        ("a", " a", "a ", "A ", ""),
        ("10", "9", "1e1", " 10", "10.0"),
        ("%", "_", "a%", "a_b", "aXb"),
    ),
    "INTEGER": ((2**53, 2**53 + 1, 2**53 - 1, 2**53 + 2),),
}
CONVERTED: dict[str, tuple[Plain, ...]] = {
    "INTEGER": ("1", "2.0", "x", 1.0, 1.5, "", " 3 "),
    "REAL": (1, "1.5", "x", 2**53, "", 3),
    "TEXT": (1, 1.5, -1, 10, 2.0),
    "NUMERIC": ("1", "1.0", "0.5", "x", "1e1", 2.0, ""),
}
NAMES = "abcdef"
TYPES = ("INTEGER", "INTEGER", "INTEGER", "TEXT", "TEXT", "REAL")
TYPES_OF_TEXT = ("TEXT", "TEXT", "INTEGER")
OFTEN = 0.75


@dataclasses.dataclass(frozen=True)
class Column:
    """A column. type: as declared, "" for none. family: "number", "text" or "any"."""

    name: str
    type: str
    collation: str = ""
    not_null: bool = False
    key: str = ""  # "PRIMARY KEY" or "UNIQUE"
    default: Plain = None
    theme: tuple[Plain, ...] = ()  # what it holds; empty for values of all kinds

    @property
    def family(self) -> str:
        """What its values mostly are."""
        return {"TEXT": "text", "": "any"}.get(self.type, "number")


@dataclasses.dataclass(frozen=True)
class Table:
    """A table with its rows; `refused` are INSERTs that break one of its constraints."""

    name: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Plain, ...], ...]
    refused: tuple[tuple[tuple[Plain, ...], ...], ...] = ()

    def values(self, column: Column) -> list[Plain]:
        """The values of one column that are not NULL."""
        place = self.columns.index(column)
        return [row[place] for row in self.rows if row[place] is not None]


@dataclasses.dataclass(frozen=True)
class Schema:
    """The tables of one database, and the statements that make them."""

    tables: tuple[Table, ...]

    def trees(self) -> Iterator[Node]:
        """CREATE TABLE and INSERT statements, in order."""
        for table in self.tables:
            yield from _statements(table)

    def statements(self) -> list[str]:
        """The same as text."""
        return [write(tree) for tree in self.trees()]


@dataclasses.dataclass(frozen=True)
class Shape:
    """What tables may be like. features: allowed. often: the one that most columns shall have."""

    features: Set[str]
    tables: int
    rows: int
    often: str = ""

    def has(self, rng: random.Random, feature: str, share: float) -> bool:
        """Whether a table or column gets the feature."""
        share = OFTEN if feature == self.often else share
        return feature in self.features and rng.random() < share


def make_schema(rng: random.Random, shape: Shape) -> Schema:
    """A random database."""
    count = 1 + min(rng.randrange(shape.tables), rng.randrange(shape.tables + 1))
    return Schema(tuple(_table(rng, shape, f"t{i}") for i in range(count)))


def _table(rng: random.Random, shape: Shape, name: str) -> Table:
    width = 1 + min(rng.randrange(5), rng.randrange(5))
    columns = [_column(rng, shape, NAMES[i]) for i in range(width)]
    if shape.has(rng, "primary-key", 0.2):
        columns[0] = dataclasses.replace(columns[0], key="PRIMARY KEY", default=None)
    many = 0 if rng.random() < 0.08 else rng.randint(min(2, shape.rows), shape.rows)
    kept = list(_rows(rng, shape, columns, many))
    refused: list[tuple[tuple[Plain, ...], ...]] = []
    if shape.has(rng, "violation", 0.25):
        for row in _breaking(rng, columns, kept):
            before = [kept.pop()] if len(kept) > 1 and rng.random() < TOGETHER else []
            refused.append((*before, row))  # of such a statement nothing may stay
    return Table(name, tuple(columns), tuple(kept), tuple(refused))


def _column(rng: random.Random, shape: Shape, name: str) -> Column:
    if shape.has(rng, "untyped", 0.14):
        kind = ""
    elif shape.has(rng, "numeric", 0.14):
        kind = "NUMERIC"
    else:
        kind = rng.choice(TYPES_OF_TEXT if shape.often == "column-collate" else TYPES)
    collated = kind == "TEXT" and shape.has(rng, "column-collate", 0.25)
    default = shape.has(rng, "default", 0.1)
    themes = THEMES[kind] if rng.random() < THEMED.get(kind, 0.0) else ()
    return Column(
        name,
        kind,
        collation="NOCASE" if collated else "",
        not_null=shape.has(rng, "not-null", 0.12),
        key="UNIQUE" if shape.has(rng, "unique", 0.08) else "",
        default=rng.choice(POOLS[kind][0]) if default else None,
        theme=rng.choice(themes) if themes else (),
    )


def _rows(
    rng: random.Random, shape: Shape, columns: Sequence[Column], count: int
) -> Iterator[tuple[Plain, ...]]:
    taken: list[set[object]] = [set() for _ in columns]
    for _ in range(count):
        row = tuple(_value(rng, shape, column) for column in columns)
        keys = [_identity(c, v) for c, v in zip(columns, row, strict=True)]
        doubled = [c.key and k in t for c, k, t in zip(columns, keys, taken, strict=True)]
        if any(doubled):
            continue
        for known, key, column in zip(taken, keys, columns, strict=True):
            if column.key and key is not None:
                known.add(key)
        yield row


def _value(rng: random.Random, shape: Shape, column: Column) -> Plain:
    filled = column.not_null or column.key == "PRIMARY KEY"
    if not filled and rng.random() < NULLS:
        return None
    plain_key = column.key == "PRIMARY KEY" and column.type == "INTEGER"
    if not plain_key and shape.has(rng, "conversion", 0.06):
        return rng.choice(CONVERTED.get(column.type, POOLS[column.type][1]))
    usual, edges = (column.theme, column.theme) if column.theme else POOLS[column.type]
    return rng.choice(edges if rng.random() < EDGES else usual)


def _identity(column: Column, value: Plain) -> object:
    """Equal for values that a UNIQUE constraint may take as equal; None for NULL.

    Coarser than SQLite's own comparison, so that rows meant to be accepted are.
    """
    if value is None:
        return None
    text = str(value).strip().lower()
    try:
        return float(text)
    except ValueError:
        return text


def _breaking(
    rng: random.Random, columns: Sequence[Column], rows: Sequence[tuple[Plain, ...]]
) -> Iterator[tuple[Plain, ...]]:
    """Up to one row that breaks a NOT NULL, UNIQUE or PRIMARY KEY constraint."""
    if not rows:
        return
    row = list(rng.choice(rows))
    for place, column in enumerate(columns):
        if column.key and row[place] is not None:
            yield tuple(row)
            return
        if column.not_null:
            row[place] = None
            yield tuple(row)
            return


def literal(value: Plain) -> Node:
    """A tree for a value."""
    if value is None:
        return exp.Null()
    if type(value) is str:
        return exp.Literal(this=value, is_string=True)
    text = repr(abs(value))
    number = exp.Literal(this=text, is_string=False)
    negative = value < 0 or (type(value) is float and str(value).startswith("-"))
    return exp.Neg(this=number) if negative else number


def _statements(table: Table) -> Iterator[Node]:
    name = exp.Table(this=exp.Identifier(this=table.name))
    parts = [_definition(column) for column in table.columns]
    yield exp.Create(kind="TABLE", this=exp.Schema(this=name, expressions=parts))
    if table.rows:
        yield _insert(table, table.rows)
    for rows in table.refused:
        yield _insert(table, rows)


def _insert(table: Table, rows: Sequence[Sequence[Plain]]) -> Node:
    """One INSERT of these rows; a column whose every value is its default is left out."""
    named = [
        place
        for place, column in enumerate(table.columns)
        if column.default is None or any(row[place] != column.default for row in rows)
    ]
    this: Node = exp.Table(this=exp.Identifier(this=table.name))
    if named and len(named) < len(table.columns):
        names = [exp.Identifier(this=table.columns[place].name) for place in named]
        this = exp.Schema(this=this, expressions=names)
    else:
        named = list(range(len(table.columns)))
    tuples = [exp.Tuple(expressions=[literal(row[place]) for place in named]) for row in rows]
    return exp.Insert(this=this, expression=exp.Values(expressions=tuples))


def _definition(column: Column) -> Node:
    constraints: list[Node] = []
    if column.key == "PRIMARY KEY":
        constraints.append(exp.PrimaryKeyColumnConstraint())
    if column.key == "UNIQUE":
        constraints.append(exp.UniqueColumnConstraint())
    if column.not_null:
        constraints.append(exp.NotNullColumnConstraint())
    if column.default is not None:
        constraints.append(exp.DefaultColumnConstraint(this=literal(column.default)))
    if column.collation:
        constraints.append(exp.CollateColumnConstraint(this=exp.Var(this=column.collation)))
    types = {"NUMERIC": exp.DType.DECIMAL, "INTEGER": exp.DType.INT, "REAL": exp.DType.FLOAT}
    return exp.ColumnDef(
        this=exp.Identifier(this=column.name),
        kind=exp.DataType(this=types.get(column.type, exp.DType.TEXT)) if column.type else None,
        constraints=[exp.ColumnConstraint(kind=kind) for kind in constraints],
    )
