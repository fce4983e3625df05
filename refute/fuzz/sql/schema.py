"""Databases as queries see them: tables and views, their columns, and values worth storing.

What goes wrong in an engine mostly goes wrong on little data: a NULL, an empty table, a text that
looks like a number, two texts equal under a collation, an integer at the edge of 32 or 64 bits.
Values of one type are drawn from one short list, so that joins and comparisons find partners.
"""

from __future__ import annotations

import dataclasses
import functools
import random
from collections.abc import Mapping, Sequence, Set

from sqlglot import exp

from refute.fuzz.sql import nodes
from refute.fuzz.sql.definition_looks import NEEDS
from refute.fuzz.sql.text import Node
from refute.plain import Plain

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
TEXT_BEGINNINGS = ("+", "-", "-a", "+1", ".", "1e")  # as numbers begin

POOLS: dict[str, tuple[tuple[Plain, ...], tuple[Plain, ...]]] = {
    "INTEGER": (INTEGERS, INTEGER_EDGES),
    "REAL": (REALS, REAL_EDGES),
    "TEXT": (TEXTS, TEXT_EDGES + TEXT_EDGES_MORE + TEXT_BEGINNINGS),
    "NUMERIC": ((*INTEGERS[:4], 0.5, 1.5), (*INTEGER_EDGES[:4], *REAL_EDGES[:4])),
    "": ((0, 1, "a", "1", 1.0, 2, "b"), ("", "A", -0.5, 2**31, "1.0", 10, "10", -1, "B")),
}
POOLS["BLOB"] = POOLS[""]
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
    "INTEGER": ("1", "2.0", "x", 1.0, 1.5, "", " 3 ", "-a"),
    "REAL": (1, "1.5", "x", 2**53, "", 3, "-a", "+"),
    "TEXT": (1, 1.5, -1, 10, 2.0),
    "NUMERIC": ("1", "1.0", "0.5", "x", "1e1", 2.0, ""),
}
BLOBS: tuple[bytes, ...] = (b"", b"a", b"A", b"1", b"\x00", b"\xce", b"\xaa\xbb", b"\xbb")
INFINITIES = (float("inf"), float("-inf"))
LONG = "ab" * 300
OFTEN = 0.75


@functools.cache
def affinity(declared: str) -> str:
    """The affinity of a declared type, https://www.sqlite.org/datatype3.html section 3.1."""
    words = declared.upper()
    if "INT" in words:
        return "INTEGER"
    if any(word in words for word in ("CHAR", "CLOB", "TEXT")):
        return "TEXT"
    if not words or words == "ANY" or "BLOB" in words:
        return ""
    return "REAL" if any(word in words for word in ("REAL", "FLOA", "DOUB")) else "NUMERIC"


_FAMILIES = {"TEXT": "text", "": "any"}


@dataclasses.dataclass(frozen=True)
class Column:
    """A column. type: as declared, "" for none. family: "number", "text" or "any".

    key: "PRIMARY KEY" or "UNIQUE". theme: what it holds; empty for values of all kinds.
    computed: the tree that it is generated from. stored: whether that is kept.
    """

    name: str
    type: str
    collation: str = ""
    not_null: bool = False
    key: str = ""
    default: Plain = None
    theme: tuple[Plain, ...] = ()
    computed: Node | None = dataclasses.field(default=None, compare=False)
    stored: bool = False

    @property
    def family(self) -> str:
        """What its values mostly are."""
        return _FAMILIES.get(affinity(self.type), "number")


@dataclasses.dataclass(frozen=True)
class Table:
    """What a query may name in FROM: a table or a view.

    kind: "table", "view" or "virtual". held: the values by column that are mostly there, without
    NULL. rowid: whether its rows have numbers that are the same in every engine. indexes: names.
    indexed: columns that an index or a key begins with. expressions, conditions: those of its
    indexes, whose columns stand there without a table.
    """

    name: str
    columns: tuple[Column, ...]
    held: Mapping[str, Sequence[Plain]]
    kind: str = "table"
    rowid: bool = True
    indexes: tuple[str, ...] = ()
    indexed: tuple[str, ...] = ()
    expressions: tuple[Node, ...] = ()
    conditions: tuple[Node, ...] = ()

    @functools.cached_property
    def families(self) -> dict[str, tuple[Column, ...]]:
        """The columns of each family; "any" has all."""
        own = {f: tuple(c for c in self.columns if c.family == f) for f in ("number", "text")}
        return {**own, "any": self.columns}

    def values(self, column: Column) -> Sequence[Plain]:
        """Values that the column mostly holds, without NULL."""
        return self.held.get(column.name, ())


@dataclasses.dataclass(frozen=True)
class Schema:
    """The tables and views of one database."""

    tables: tuple[Table, ...]


@dataclasses.dataclass(frozen=True)
class Shape:
    """What databases may be like. features: allowed. often: the one that most shall have.

    tables, rows: at most so many, and in each.
    """

    features: Set[str]
    tables: int
    rows: int
    often: str = ""

    def has(self, rng: random.Random, feature: str, share: float) -> bool:
        """Whether a database, table or column gets the feature."""
        if feature == self.often or feature in NEEDS.get(self.often, ()):
            share = OFTEN
        return feature in self.features and rng.random() < share


def literal(value: Plain) -> Node:
    """A tree for a value."""
    if value is None:
        return nodes.null()
    if type(value) is str:
        return nodes.literal(value, is_string=True)
    if type(value) is bytes:
        return exp.HexString(this=value.hex())
    text = repr(abs(value))
    number = exp.Literal(this="1e500" if text == "inf" else text, is_string=False)
    negative = value < 0 or (type(value) is float and str(value).startswith("-"))
    return nodes.unary(exp.Neg, number) if negative else number
