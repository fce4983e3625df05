"""Classes of expected difference: where another engine may answer otherwise and be right.

A record that fails is excused by a class only if a test says so, with SQLite as the witness: it has
run the same statements, and says what a right answer may look like where SQL leaves something open,
or what the engine's documented rule would give. Each class is visible (it is counted with its
lines) and can be switched off. What the classes of `ANY` say is open in SQL itself, whatever the
engine; the others are about the engines they name.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from refute.errors import UsageError

ANY = ("any",)
ALL = "all"


@dataclasses.dataclass(frozen=True)
class Difference:
    """One class. engines: those it is about. meaning: what differs. test: when it is recognised.

    bare: only for statements that were not written for the engine.
    """

    name: str
    engines: tuple[str, ...]
    meaning: str
    test: str
    bare: bool = False

    def applies(self, engine: str, transpiled: bool) -> bool:
        """Whether the class is about this engine; any but SQLite itself."""
        return (self.engines == ANY or engine in self.engines) and not (self.bare and transpiled)


_STRICT = ("duckdb", "postgresql", "datafusion", "mysql")

DIFFERENCES: dict[str, Difference] = {
    d.name: d
    for d in (
        Difference(
            "row-order",
            ANY,
            "without ORDER BY, rows come in any order",
            "the rows are SQLite's in another order, and the query has no ORDER BY",
        ),
        Difference(
            "ties",
            ANY,
            "rows that ORDER BY takes as equal come in any order among themselves",
            "each rank of ORDER BY, as SQLite computes it, has SQLite's rows",
        ),
        Difference(
            "limit-ties",
            ANY,
            "LIMIT keeps any of the rows that are equal for ORDER BY, any at all without one",
            "as many rows as SQLite has, each from a rank that reaches into the LIMIT",
        ),
        Difference(
            "group-concat-order",
            ANY,
            "group_concat joins the values of a group in any order",
            "SQLite gives the same in another order of rows, or the same parts and separators",
        ),
        Difference(
            "bare-column",
            ANY,
            "a column that GROUP BY does not fix has the value of any row of the group",
            "SQLite gives each of the rows when its tables are in another order, each is of a "
            "group of its own, and the columns that are fixed are SQLite's",
        ),
        Difference(
            "equal-keys",
            ANY,
            "of values that are equal (1 and 1.0, or under a collation) any stands for all",
            "SQLite gives each of the rows when its tables are in another order",
        ),
        Difference(
            "float-sum",
            ANY,
            "floats are added in another order, or with more digits",
            "the query has SUM, AVG or TOTAL, and numbers differ by 16 units in the last place",
        ),
        Difference(
            "number-text",
            ANY,
            "a number in a T column is written otherwise: 5 or 5.0, more or fewer digits",
            "both are numbers, equal in 15 digits; texts have to be the same",
        ),
        Difference(
            "integer-overflow",
            _STRICT,
            "an integer outside of 64 bits is an error; SQLite goes on with a float",
            "the engine says overflow or out of range (SQLSTATE 22003), and SQLite, watched while "
            "it runs the query, leaves 64 bits",
        ),
        Difference(
            "integer-wraps",
            ("datafusion",),
            "an integer that leaves 64 bits comes in again at the other end",
            "the answer is SQLite's for the query with operators that do so, and one of them did",
        ),
        Difference(
            "division-by-zero",
            _STRICT,
            "a division by zero is an error; in SQLite it is NULL",
            "the engine says division by zero (SQLSTATE 22012), and SQLite, watched, meets a zero",
            bare=True,
        ),
        Difference(
            "integer-division",
            ("duckdb", "mysql"),
            "the quotient of integers has a fraction",
            "the answer is SQLite's for the query with dividends that are floats",
            bare=True,
        ),
        Difference(
            "null-order",
            ("duckdb", "postgresql", "datafusion"),
            "NULL comes last in ascending order",
            "the answer is SQLite's for the query with the places of NULL exchanged",
            bare=True,
        ),
        Difference(
            "cast-rounds",
            ("duckdb", "postgresql", "mysql"),
            "CAST of a number to an integer rounds; in SQLite it cuts off",
            "the answer is SQLite's for the query with rounded numbers under CAST",
            bare=True,
        ),
        Difference(
            "like-case",
            ("duckdb", "postgresql", "datafusion"),
            "LIKE tells capital from small letters",
            "the answer is SQLite's under PRAGMA case_sensitive_like",
            bare=True,
        ),
        Difference(
            "decimal-numbers",
            ("duckdb", "postgresql", "mysql"),
            "numbers with a point are decimal numbers, not floats",
            "the query has such a number, and values differ by 16 units in the last place",
            bare=True,
        ),
        Difference(
            "sqlite-syntax",
            ("duckdb", "postgresql", "datafusion", "mysql"),
            "the statement has a construct of SQLite's own",
            "the engine says syntax or parser error (SQLSTATE 42601), and the statement has "
            "GLOB, REPLACE INTO, INSERT OR, AUTOINCREMENT, WITHOUT ROWID, PRAGMA, REINDEX, "
            "INDEXED BY, ==, IN (), IN table, ISNULL, NOTNULL, an untyped column, a column that "
            "is set twice, or a trigger",
            bare=True,
        ),
        Difference(
            "strict-types",
            ("duckdb", "postgresql", "datafusion"),
            "an operator is refused for types that it has not; SQLite converts",
            "the engine says so (SQLSTATE 42883, 42804, 22P02), and an operator of the statement "
            "has a text or blob for a number, two types that do not compare, or no condition "
            "where one is wanted",
            bare=True,
        ),
        Difference(
            "unique-names",
            ("datafusion",),
            "result columns must have different names",
            "the engine says so, and a SELECT shows the same name or expression twice",
            bare=True,
        ),
        Difference(
            "dependent-objects",
            ("duckdb", "postgresql"),
            "what a view or key needs cannot be dropped before it",
            "the engine says that others depend on it (SQLSTATE 2BP01), and SQLite drops it while "
            "another table, view or trigger names it",
        ),
        Difference(
            "affinity",
            _STRICT,
            "a value that does not fit its column's type is refused; SQLite keeps it as it is",
            "the engine refuses the statement, and SQLite stores a value of another type than the "
            "column's",
            bare=True,
        ),
        Difference(
            "only-sqlite-refuses",
            ANY,
            "a statement that SQL allows and SQLite does not",
            "SQLite's error is that it changes a view, or that DISTINCT in an aggregate has "
            "several arguments, or HAVING without an aggregate",
        ),
        Difference(
            "after-difference",
            ANY,
            "what follows from a statement that was refused, as was expected",
            "the answer is SQLite's on a database where those statements were not run",
        ),
        Difference(
            "unsupported",
            ANY,
            "the engine has no such feature, and says so",
            "an error whose text or SQLSTATE (0A000) says not implemented or not supported; the "
            "record counts as not run",
        ),
    )
}


def switched_off(names: Iterable[str]) -> frozenset[str]:
    """The classes that are not to be used. Raises UsageError for one that does not exist."""
    found = set()
    for name in names:
        if name != ALL and name not in DIFFERENCES:
            raise UsageError(
                f"there is no class of difference {name!r}",
                thing="--no-difference",
                value=name,
                possible=(ALL, *DIFFERENCES),
                next_step="`refute conform --list-differences` describes them",
            )
        found |= set(DIFFERENCES) if name == ALL else {name}
    return frozenset(found)


def table() -> list[tuple[str, str, str, str]]:
    """Name, engines, meaning and test of each class, for people."""
    return [
        (d.name, ", ".join(d.engines) + (", untranspiled" if d.bare else ""), d.meaning, d.test)
        for d in DIFFERENCES.values()
    ]
