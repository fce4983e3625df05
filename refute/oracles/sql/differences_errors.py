"""Tests of errors: did SQLite, watched while it runs the statement, meet what the engine refuses?

To watch, the query is rewritten so that each operator is a function that does what SQLite does and
notes when an integer leaves 64 bits, or when a divisor is zero. An error that says overflow where
no integer overflows is not excused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from refute.fuzz.sql.text import Node, look, write
from refute.oracles.sql.sqlite import SQLite
from refute.oracles.sql.transpile.kinds import BLOB, INT, NUM, REAL, TEXT, affinity, leading_number

OVERFLOW = re.compile(r"overflow|out of range", re.IGNORECASE)
ZERO = re.compile(r"divi(?:sion|de) by zero", re.IGNORECASE)
SYNTAX = re.compile(
    r"syntax|parse(?:r|d)? ?error|expected|unexpected|multiple assignments", re.IGNORECASE
)
UNIQUE = re.compile(r"unique expression names|duplicate (?:\w+ )*field name", re.IGNORECASE)
DEPENDENT = re.compile(r"\bdepend(?:s|ent)? on it\b|\bdepend on\b", re.IGNORECASE)
UNSUPPORTED = re.compile(
    r"not (?:yet |currently )?(?:implemented|supported)|unsupported|does not support|"
    r"(?:un|not )support|only supports? |only up to \S+ tables|"
    r"too many tables|recursion ?limit|stack depth limit|nested too deep",
    re.IGNORECASE,
)
ONLY_SQLITE = re.compile(
    r"cannot modify .* because it is a view|DISTINCT aggregates must have exactly one argument|"
    r"HAVING clause on a non-aggregate query|a GROUP BY clause is required before HAVING",
)
_CODES = {
    "overflow": "22003", "zero": "22012", "syntax": "42601", "unsupported": "0A000",
    "dependent": "2BP01", "unique": "42701",
}  # fmt: skip
_OWN_WORDS = re.compile(
    r"\bGLOB\b|^\s*REPLACE\s+INTO\b|\bINSERT\s+OR\b|\bAUTOINCREMENT\b|\bWITHOUT\s+ROWID\b|"
    r"^\s*PRAGMA\b|^\s*REINDEX\b|^\s*(?:CREATE\s+(?:TEMP\w*\s+)?|DROP\s+)TRIGGER\b|"
    r"\bINDEXED\s+BY\b|"
    r"\bNOT\s+INDEXED\b|==|\bIN\s*\(\s*\)|\bIN\s+(?![(\s])\w+|\bISNULL\b|\bNOTNULL\b",
    re.IGNORECASE,
)
_TEXTS = re.compile(r"'(?:[^']|'')*'")
_STORED = {
    INT: ("integer",), REAL: ("real",), TEXT: ("text",), NUM: ("integer", "real"),
}  # fmt: skip
_WIDTH = range(-(2**63), 2**63)


def says(answer: Sequence[Any], what: str, words: re.Pattern[str]) -> bool:
    """Whether an error has the SQLSTATE of a kind, or these words."""
    code = str(answer[3]) if len(answer) > 3 else ""
    return code == _CODES[what] or bool(words.search(f"{answer[1]} {answer[2]}"))


def unsupported_what(answer: Sequence[Any]) -> str:
    """What an engine says it has not: its message without names and numbers, short."""
    text = re.sub(r"\s+", " ", re.sub(r"[\"'`].*?[\"'`]|\d+", "…", str(answer[2]))).strip()
    found = UNSUPPORTED.search(text)
    start = 0 if found is None else text.rfind(": ", 0, found.start()) + 1
    return re.split(r"[{(\n]| for expression", text[start:].strip())[0].strip()[:70]


class Watch:
    """What SQLite met while it ran a query. overflowed, divided: by an integer, by a zero.

    wraps: whether integers that leave 64 bits come in again at the other end. query: as it was run.
    """

    def __init__(self, database: SQLite, query: Node, *, wraps: bool = False) -> None:
        self.wraps = wraps
        self.overflowed = False
        self.divided = False
        database.define("refute_operator", self._operator)
        database.define("refute_integer", self._integer)
        watched = query.copy()
        for node in reversed(list(watched.walk())):  # operands before operators
            changed = self._watched(node)
            if changed is not node:
                node.replace(changed)
        self.query = watched
        database.run([write(watched)])

    def _watched(self, node: Node) -> Node:
        signs: dict[type[Node], str] = {
            exp.Add: "+",
            exp.Sub: "-",
            exp.Mul: "*",
            exp.Div: "/",
            exp.Mod: "%",
        }
        sign = signs.get(type(node))
        if sign is not None:
            text = exp.Literal(this=sign, is_string=True)
            return exp.Anonymous(
                this="refute_operator", expressions=[text, node.this, node.expression]
            )
        if isinstance(node, exp.Neg) and not isinstance(node.this, exp.Literal):
            text, zero = (exp.Literal(this=t, is_string=s) for t, s in (("-", True), ("0", False)))
            return exp.Anonymous(this="refute_operator", expressions=[text, zero, node.this])
        if isinstance(node, exp.Cast) and affinity(node.to.sql(dialect="sqlite")) == INT:
            node.set("this", exp.Anonymous(this="refute_integer", expressions=[node.this]))
        return node

    def _integer(self, value: Any) -> Any:
        self.overflowed |= type(value) is float and not -(2.0**63) <= value < 2.0**63
        return value

    def _operator(self, sign: str, left: Any, right: Any) -> Any:
        if left is None or right is None:
            return None
        a, b = _number(left), _number(right)
        if sign == "%":
            a, b = _whole(a), _whole(b)
        if sign in "/%" and b == 0:
            self.divided = True
            return None
        both = type(a) is int and type(b) is int
        made: Any
        try:
            match sign:
                case "+":
                    made = a + b
                case "-":
                    made = a - b
                case "*":
                    made = a * b
                case "/":
                    made = (abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)) if both else a / b
                case _:
                    made = int(math.fmod(a, b)) if abs(a) < 2**53 else abs(a) % abs(b)
        except OverflowError:
            return None
        if both and made not in _WIDTH:
            self.overflowed = True
            return (made - 2**63) % 2**64 - 2**63 if self.wraps else float(made)
        return None if made != made else made


def _number(value: Any) -> int | float:
    if type(value) in (int, float):
        number: int | float = value
        return number
    text = value.decode("utf-8", "replace") if type(value) is bytes else str(value)
    return leading_number(text)


def _whole(value: int | float) -> int:
    return int(max(-(2**63), min(2**63 - 1, value))) if value == value else 0


def own_syntax(sql: str) -> bool:
    """Whether a statement has a construct of SQLite's own."""
    if _OWN_WORDS.search(_TEXTS.sub("''", sql)):
        return True
    tree = look(sql)
    if isinstance(tree, exp.Update):
        names = [e.this.name.lower() for e in tree.expressions if isinstance(e, exp.EQ)]
        return len(set(names)) < len(names)
    return isinstance(tree, exp.Create) and any(
        column.kind is None for column in tree.find_all(exp.ColumnDef)
    )


def shows_twice(query: Node) -> bool:
    """Whether a SELECT shows the same name, or expression without a name, twice."""
    for select in query.find_all(exp.Select):
        names = [_shown(output) for output in select.expressions]
        if len(set(names)) < len(names):
            return True
    return False


def _shown(output: Node) -> str:
    if output.alias:
        return output.alias.lower()
    while isinstance(output, exp.Subquery | exp.Paren):
        output = output.this
    if isinstance(output, exp.Select) and output.expressions:
        return _shown(output.expressions[0])
    return write(output).lower()


def drops_needed(database: SQLite, sql: str) -> bool:
    """Whether SQLite drops something that another table, view or trigger names."""
    tree = look(sql)
    if not isinstance(tree, exp.Drop) or database.answer(f"EXPLAIN {sql}")[0] == "error":
        return False
    name = tree.args["tables"][0].name.lower()
    found = database.answer("SELECT lower(name), sql FROM sqlite_master WHERE sql IS NOT NULL")
    word = re.compile(rf"\b{re.escape(name)}\b", re.IGNORECASE)
    others = [(n, text) for n, text in (found[2] if found[0] == "rows" else ()) if n != name]
    return any(word.search(_TEXTS.sub("''", str(text))) for _, text in others)


def keeps_other_types(database: SQLite, sql: str) -> bool:
    """Whether SQLite, running the statement, stores a value of another type than its column's."""
    tree = look(sql)
    if not isinstance(tree, exp.Insert | exp.Update):
        return False
    this = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
    name = this.name.replace('"', '""')
    database.answer("SAVEPOINT refute")
    try:
        if database.answer(sql)[0] == "error":
            return False
        infos = database.answer(f'PRAGMA table_info("{name}")')
        tests = [
            f'typeof("{column}") NOT IN ({_list(declared)})'
            for _, column, declared, *_ in (infos[2] if infos[0] == "rows" else ())
            if affinity(declared) != BLOB
        ]
        if not tests:
            return False
        found = database.answer(f'SELECT 1 FROM "{name}" WHERE {" OR ".join(tests)} LIMIT 1')
        return bool(found[0] == "rows" and found[2])
    finally:
        database.answer("ROLLBACK TO refute")
        database.answer("RELEASE refute")


def _list(declared: str) -> str:
    return ", ".join(f"'{kind}'" for kind in ("null", *_STORED[affinity(declared)]))
