"""Kinds of values as SQLite has them, of columns by their declared type, and joined in one place.

SQLite types values, other engines type columns and expressions. So each expression gets the kind
that all of its values have, as far as the schema tells; where values of a number kind and of text
would meet in one place, no other engine can hold both, and the statement is not expressible.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from typing import NamedTuple

from sqlglot import exp

from refute.fuzz.sql.text import Node, write

INT, REAL, NUM, TEXT, BLOB, NULL = "int", "real", "num", "text", "blob", "null"
NUMBERS = frozenset({INT, REAL, NUM, NULL})

WIDE_DOUBT = "integers of more than 53 bits beside floats"
LETTERS_DOUBT = "the case of letters beyond ASCII"
"""What is written so that it means the same but for some values, which are rare."""

_NUMBER = re.compile(r"\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*")
_PREFIX = re.compile(r"\s*([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)")
_WHOLE = re.compile(r"\s*([+-]?\d+)")


class Inexpressible(Exception):
    """A statement that another engine cannot be asked. construct: a few words that name why."""

    def __init__(self, construct: str) -> None:
        super().__init__(construct)
        self.construct = construct


class Unresolved(Exception):
    """A name that SQLite does not know either."""


class Typed(NamedTuple):
    """An expression for the other engine, its kind, and its affinity as SQLite sees it ("" none).

    constant: the value of a literal, for what is decided while translating; None for others.
    """

    node: Node
    kind: str
    affinity: str = ""
    constant: int | float | str | None = None


class Column(NamedTuple):
    """A column of a table, a view or a query. name: in lower case."""

    name: str
    kind: str
    affinity: str


def affinity(declared: str) -> str:
    """The affinity of a declared type, https://www.sqlite.org/datatype3.html section 3.1."""
    upper = declared.upper()
    if "INT" in upper:
        return INT
    if any(word in upper for word in ("CHAR", "CLOB", "TEXT")):
        return TEXT
    if "BLOB" in upper or not upper.strip():
        return BLOB
    if any(word in upper for word in ("REAL", "FLOA", "DOUB")):
        return REAL
    return NUM


def type_affinity(kind: Node) -> str:
    """The affinity of a type as it was parsed. BOOLEAN is taken as INTEGER, for its values."""
    word = kind.args.get("this")
    if len(kind.args) == 1 and isinstance(word, exp.DType):
        return _type_affinity(word)
    return _affinity_of(kind)


@functools.cache
def _type_affinity(word: exp.DType) -> str:
    return _affinity_of(exp.DataType(this=word))


def _affinity_of(kind: Node) -> str:
    if "NUMERIC" in (written := write(kind).upper()) or "DECIMAL" in written:
        return NUM
    return affinity(kind.sql(dialect="sqlite"))


def joined(kinds: Iterable[str]) -> str:
    """The kind of a place where values of these kinds meet, such as the branches of CASE."""
    found = set(kinds) - {NULL}
    if not found:
        return NULL
    if len(found) == 1:
        return found.pop()
    if found <= NUMBERS:
        return NUM
    raise Inexpressible("values of several types in one place")


def number_of(text: str) -> int | float | None:
    """The number that numeric affinity makes of a text; None when it stays a text."""
    return _number(text) if _NUMBER.fullmatch(text) else None


def leading_number(text: str) -> int | float:
    """The number that SQLite reads at the beginning of a text, 0 if there is none."""
    found = _PREFIX.match(text)
    return _number(found[1]) if found else 0


def leading_integer(text: str) -> int:
    """What CAST(text AS INTEGER) gives."""
    found = _WHOLE.match(text)
    return int(found[1]) if found else 0


def _number(text: str) -> int | float:
    try:
        whole = int(text)
    except ValueError:
        return float(text)
    return whole if -(2**63) <= whole < 2**63 else float(whole)
