"""Which class of expected difference, if any, excuses what an engine answered to a record.

The questions go from what is open in SQL to what is an engine's own rule. The first class whose
test holds is the answer; a test never looks at what the record expects, only at what SQLite says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

from sqlglot import exp

from refute.fuzz.sql.text import Node, look
from refute.oracles.sql.differences import DIFFERENCES
from refute.oracles.sql.differences_errors import (
    DEPENDENT,
    ONLY_SQLITE,
    OVERFLOW,
    SYNTAX,
    UNIQUE,
    UNSUPPORTED,
    ZERO,
    Watch,
    drops_needed,
    keeps_other_types,
    own_syntax,
    says,
    shows_twice,
    unsupported_what,
)
from refute.oracles.sql.differences_rows import Orders, Rows, misread
from refute.oracles.sql.differences_types import mistyped, says_types
from refute.oracles.sql.sqlite import SQLite
from refute.oracles.sql.transpile.kinds import INT, affinity
from refute.oracles.sqllogictest.expect import judge
from refute.oracles.sqllogictest.reader import QueryRecord, StatementRecord

UNSUPPORTED_CLASS, AFTER = "unsupported", "after-difference"
MISREAD = "a statement that the parser reads otherwise than SQLite"

Record = StatementRecord | QueryRecord


class Explainer:
    """Excuses for one engine. engine: as `DIFFERENCES` names it, "" for any other.

    transpiled: whether statements are written for the engine. off: classes that are not used.
    """

    def __init__(self, engine: str, transpiled: bool, off: frozenset[str]) -> None:
        self._transpiled = transpiled
        self._orders = Orders()
        self._classes = frozenset(
            d.name
            for d in DIFFERENCES.values()
            if d.name not in off and d.applies(engine, transpiled)
        )

    def explain(
        self,
        record: Record,
        answer: Sequence[Any],
        database: SQLite,
        behind: SQLite | None = None,
    ) -> tuple[str, str]:
        """The class that excuses the answer, "" for none, and for what the record was not run.

        database: SQLite after all that was run before the record, and as it was afterwards.
        behind: the same without the statements that the engine refused, as was expected. The
        second is for what is neither a failure nor a difference: the engine says that it has not
        got something, or the statement was misread.
        """
        found = ""
        if answer[0] == "error":
            if UNSUPPORTED_CLASS in self._classes and says(answer, UNSUPPORTED_CLASS, UNSUPPORTED):
                return "", f"unsupported: {unsupported_what(answer)}"
            found = self._of_error(record, answer, database)
        elif type(record) is StatementRecord and record.fails and answer[0] in ("rows", "done"):
            found = self._of_acceptance(record, database)
        elif type(record) is QueryRecord and answer[0] == "rows":
            found, problem = self._of_rows(record, answer, database)
            if problem:
                return "", problem
        found = found if found in self._classes else ""
        if not found and behind is not None and self._follows(record, answer, database, behind):
            found = AFTER
        return found, ""

    def _follows(
        self, record: Record, answer: Sequence[Any], database: SQLite, behind: SQLite
    ) -> bool:
        """Whether the answer is SQLite's on the database that is behind, and only there."""
        if AFTER not in self._classes or answer[0] not in ("error", "rows", "done"):
            return False
        if type(record) is QueryRecord:
            right, there = database.answer(record.sql), behind.answer(record.sql)
            if right[0] != "rows" or len(record.types) != len(right[1]):
                return False
            if judge(record, right, {}) is not None:
                return False  # the file does not expect what SQLite answers
            tree = look(record.sql)
            if answer[0] != "rows" or there[0] != "rows" or not isinstance(tree, exp.Query):
                return bool(answer[0] == there[0] == "error")
            rows = Rows(behind, tree, record.types, there[2], answer[2], self._orders)
            return len(there[1]) == len(answer[1]) and rows.predicted_by(behind, tree)
        refused = _tried(behind, record.sql)
        return refused != _tried(database, record.sql) and refused == (answer[0] == "error")

    def _of_acceptance(self, record: Record, database: SQLite) -> str:
        refused = database.answer(f"EXPLAIN {record.sql}")
        accepted = refused[0] == "error" and ONLY_SQLITE.search(refused[2])
        return "only-sqlite-refuses" if accepted else ""

    # Errors

    def _of_error(self, record: Record, answer: Sequence[Any], database: SQLite) -> str:
        if type(record) is StatementRecord and record.fails:
            return ""
        tree = look(record.sql)
        overflow, zero = says(answer, "overflow", OVERFLOW), says(answer, "zero", ZERO)
        if (overflow or zero) and isinstance(tree, exp.Query):
            watch = Watch(database, tree)
            if overflow and watch.overflowed:
                return "integer-overflow"
            if zero and watch.divided:
                return "division-by-zero"
        if says(answer, "unique", UNIQUE) and tree is not None and shows_twice(tree):
            return "unique-names"
        if says(answer, "dependent", DEPENDENT) and drops_needed(database, record.sql):
            return "dependent-objects"
        refused = "sqlite-syntax" in self._classes and says(answer, "syntax", SYNTAX)
        if refused and own_syntax(record.sql):
            return "sqlite-syntax"
        typed = "strict-types" in self._classes and says_types(answer)
        if typed and tree is not None and mistyped(database, record.sql, tree):
            return "strict-types"
        if "affinity" in self._classes and type(record) is StatementRecord:
            return "affinity" if keeps_other_types(database, record.sql) else ""
        return ""

    # Rows

    def _of_rows(
        self, record: QueryRecord, answer: Sequence[Any], database: SQLite
    ) -> tuple[str, str]:
        right = database.answer(record.sql)
        if right[0] != "rows" or len(right[1]) != len(answer[1]):
            return "", ""
        if len(record.types) != len(answer[1]) or judge(record, right, {}) is not None:
            return "", ""  # the file does not expect what SQLite answers
        if record.expects and judge(record, answer, {}) is None:
            return "", ""  # what differs is the result of another record with this label
        tree = look(record.sql)
        if isinstance(tree, exp.Values):
            tree = exp.Select(expressions=[exp.Star()]).from_(exp.Subquery(this=tree.copy()))
        if not isinstance(tree, exp.Query) or misread(database, record.sql, right[2]):
            return "", MISREAD if self._transpiled else ""
        rows = Rows(database, tree, record.types, right[2], answer[2], self._orders)
        return rows.explained() or self._by_rule(rows), ""

    def _of_rules(self, rows: Rows) -> str:
        """The class of one rule that predicts the rows, or the first of several that do."""
        names = [name for name in _RULES if name in self._classes]
        for number in range(1, len(names) + 1):
            for rules in combinations(names, number):
                changed = _changed(rows.query, rules)
                if changed is not None and rows.predicted_by(rows.database, changed):
                    return rules[0]
        return ""

    def _by_rule(self, rows: Rows) -> str:
        """The class whose rule predicts the rows exactly."""
        if "integer-wraps" in self._classes:
            watch = Watch(rows.database, rows.query, wraps=True)
            if watch.overflowed and rows.predicted_by(rows.database, watch.query):
                return "integer-wraps"
        found = self._of_rules(rows)
        if found:
            return found
        if "like-case" in self._classes and rows.query.find(exp.Like):
            strict = rows.database.copy()
            strict.answer("PRAGMA case_sensitive_like = ON")
            try:
                if rows.predicted_by(strict, rows.query):
                    return "like-case"
            finally:
                strict.close()
        if "decimal-numbers" in self._classes and _has_point(rows.query) and rows.nearly():
            return "decimal-numbers"
        return ""


def _changed(query: Node, rules: Sequence[str]) -> Node | None:
    """The query by these rules, each of which changes it; else None."""
    made = query.copy()
    for name in rules:
        before = made.copy()
        made = made.transform(_RULES[name], copy=False)
        if made == before:
            return None
    return made


def _tried(database: SQLite, sql: str) -> bool:
    """Whether SQLite refuses a statement, which is taken back."""
    database.answer("SAVEPOINT refute")
    refused = bool(database.answer(sql)[0] == "error")
    database.answer("ROLLBACK TO refute")
    database.answer("RELEASE refute")
    return refused


def _float_quotient(node: Node) -> Node:
    if isinstance(node, exp.Div):
        product = exp.Mul(this=exp.Paren(this=node.this), expression=_number("1.0"))
        node.set("this", exp.Paren(this=product))
    return node


def _null_last(node: Node) -> Node:
    if isinstance(node, exp.Ordered):
        node.set("nulls_first", not node.args.get("nulls_first"))
    return node


def _rounded(node: Node) -> Node:
    to_int = isinstance(node, exp.Cast) and affinity(node.to.sql(dialect="sqlite")) == INT
    if to_int and not isinstance(node.this, exp.Round):
        node.set("this", exp.Round(this=node.this))
    return node


def _number(text: str) -> Node:
    return exp.Literal(this=text, is_string=False)


def _has_point(query: Node) -> bool:
    return any(not n.is_string and "." in str(n.this) for n in query.find_all(exp.Literal))


_RULES: dict[str, Callable[[Node], Node]] = {
    "integer-division": _float_quotient,
    "null-order": _null_last,
    "cast-rounds": _rounded,
}
