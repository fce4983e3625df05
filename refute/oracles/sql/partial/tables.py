"""Tables as their statements tell them: names of columns, affinities, collations, some values.

Statements are not parsed as a whole, because an oracle meets a new setup every few queries: CREATE
TABLE is cut at its commas, and of INSERT only the literals are collected.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator

NONE = ""  # of an expression: no affinity, and so no conversion
BLOB = "BLOB"
NUMBERS = frozenset({"INTEGER", "REAL", "NUMERIC"})
BINARY = "BINARY"
UNSURE = "~"  # a collation that is BINARY or NONE
PLAIN = frozenset({NONE, BINARY, UNSURE})  # collations that compare byte by byte, or none
UNDEFINED = "!"  # of a compound query whose parts differ: SQLite takes that of any part
MOST_LITERALS = 40
ROWIDS = frozenset({"rowid", "oid", "_rowid_"})
FORMS = {"INTEGER": "int", "NUMERIC": "int", "REAL": "real", "TEXT": "text"}

TOKENS = re.compile(
    r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\]|--[^\n]*|/\*.*?\*/|[(),]|[^\s(),'"`\[]+""",
    re.DOTALL,
)
_CONSTRAINTS = frozenset({"CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"})
_ENDS_TYPE = _CONSTRAINTS | {"NOT", "NULL", "DEFAULT", "COLLATE", "REFERENCES", "GENERATED", "AS"}
_LITERALS = re.compile(
    r"""(?<![\w.'"])(?:-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|'(?:[^']|'')*')(?![\w.'])"""
)


@dataclasses.dataclass(frozen=True)
class Column:
    """affinity: NONE for what has none. collation: NONE for an expression that brings none.

    form: in which its values come, see `Scope.form`.
    """

    name: str
    affinity: str
    collation: str
    form: str = ""


@dataclasses.dataclass(frozen=True)
class Relation:
    """A table, or what stands for one. literals: some values of it, as SQL."""

    columns: tuple[Column, ...]
    literals: tuple[str, ...] = ()

    def column(self, name: str) -> Column | None:
        """The column of a name."""
        low = name.lower()
        return next((c for c in self.columns if c.name.lower() == low), None)


def affinity_of(declared: str) -> str:
    """The affinity of a declared type."""
    text = declared.upper()
    if "INT" in text:
        return "INTEGER"
    if any(word in text for word in ("CHAR", "CLOB", "TEXT")):
        return "TEXT"
    if not text or "BLOB" in text:
        return BLOB
    return "REAL" if any(word in text for word in ("REAL", "FLOA", "DOUB")) else "NUMERIC"


def definitions(tokens: list[str]) -> Iterator[Column]:
    """The columns, from the tokens behind the first parenthesis."""
    part: list[str] = []
    depth = 0
    for token in tokens:
        if depth == 0 and token in (",", ")"):
            column = _definition(part)
            if column is not None:
                yield column
            part = []
            if token == ")":
                return
            continue
        depth += (token == "(") - (token == ")")
        part.append(token)


def _outside(tokens: list[str]) -> Iterator[str]:
    """The words outside of parentheses, in capitals."""
    depth = 0
    for token in tokens:
        depth -= token == ")"
        if not depth and token != ")":
            yield token.upper()
        depth += token == "("


def _definition(tokens: list[str]) -> Column | None:
    if not tokens or tokens[0].upper() in _CONSTRAINTS:
        return None
    words = list(_outside(tokens))
    end = next((i for i, w in enumerate(words[1:], 1) if w in _ENDS_TYPE), len(words))
    collation = BINARY
    if "COLLATE" in words[1:]:
        place = words.index("COLLATE", 1) + 1
        collation = unquoted(words[place]) if place < len(words) else "?"
    declared = " ".join(words[1:end])
    affinity = "?" if declared == "ANY" else affinity_of(declared)  # STRICT tables know it
    form = FORMS.get(affinity, "") if collation == BINARY else ""
    return Column(unquoted(tokens[0]), affinity, collation, form)


def unquoted(token: str) -> str:
    """A name without the quotes around it."""
    if token[:1] in "\"'`[" and len(token) > 1:
        return token[1:-1].replace(token[-1] * 2, token[-1])
    return token


def collect(sql: str, literals: dict[str, list[str]]) -> None:
    """Add the literals of an INSERT to those of its table."""
    words = sql.split(None, 6)
    place = next((i for i, w in enumerate(words) if w.upper() == "INTO"), -1)
    if 0 <= place < len(words) - 1:
        table = unquoted(re.split(r"[\s(]", words[place + 1])[0]).lower()
        found = literals.setdefault(table, [])
        if len(found) < MOST_LITERALS:
            found += _LITERALS.findall(sql[len(" ".join(words[: place + 2])) :])
