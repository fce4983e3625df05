"""What is asked of engines whose dialect is not SQLite's: fewer features, and types kept apart.

What a dialect has no counterpart for is left out from the start, and told; what an engine lacks is
learned as for any other. The smallest statements of features that mix types, or that stand for
several things of which only some can be said, are others here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from refute.verifiers.sql.conform_names import SQLITE

Given = TypeVar("Given", bound=str | Sequence[str])

VERBATIM = (SQLITE, "turso")

_TYPES = "types belong to columns there, not to values"
_COLLATIONS = "SQLite's collations are its own"
_ROWS = "rows have no numbers there"
_OWN = "SQLite's own"
LEFT_OUT = {
    "untyped": _TYPES,
    "numeric": _TYPES,
    "conversion": _TYPES,
    "types": _TYPES,
    "strict": _TYPES,
    "blob": _TYPES,
    "zeroblob": _TYPES,
    "collate": _COLLATIONS,
    "column-collate": _COLLATIONS,
    "index-collate": _COLLATIONS,
    "rtrim": _COLLATIONS,
    "rowid": _ROWS,
    "without-rowid": _ROWS,
    "bare-columns": "which row they are of is SQLite's own",
    "infinity": "NaN and NULL come of it in different ways",
    "trigger": _OWN,
    "insert-or": _OWN,
    "update-or": _OWN,
    "reindex": _OWN,
    "vacuum": _OWN,
    "fts5": _OWN,
    "rtree": _OWN,
}
PROBES = {
    "cast": "SELECT CAST(a AS TEXT), CAST(a AS REAL) FROM t",
    "functions": "SELECT LENGTH(b), UPPER(b), LOWER(b), SUBSTR(b, 1, 1), TYPEOF(b), ABS(a) FROM t",
    "text-functions": "SELECT REPLACE(b, 'x', 'y'), TRIM(b), LTRIM(b, 'x') FROM t",
    "number-functions": "SELECT ROUND(a), INSTR(b, 'x') FROM t",
    "expression-index": "CREATE INDEX i ON t (a + 1)",
    "bits": "SELECT ~a, a & 1, a | 2 FROM t",
    "values": "SELECT x.column1 FROM (VALUES (1), (2)) AS x",
    "row-in": "SELECT (a, b) IN (VALUES (1, 'x')) FROM t",
    "materialized": "WITH x AS (SELECT 1 AS c) SELECT x.c FROM x",
    "window": "SELECT ROW_NUMBER() OVER (PARTITION BY a ORDER BY b), RANK() OVER (ORDER BY a), "
    "LAG(a, 1) OVER (ORDER BY a), FIRST_VALUE(a) OVER (ORDER BY a), SUM(a) OVER () FROM t",
    "union": "SELECT a FROM t UNION SELECT a + 1 FROM t",
    "union-all": "SELECT a FROM t UNION ALL SELECT a + 1 FROM t",
    "except": "SELECT a FROM t EXCEPT SELECT a + 1 FROM t",
    "compound-several": "SELECT a FROM t UNION SELECT a + 1 FROM t UNION SELECT 1",
    "compound-inside": "SELECT a IN (SELECT a FROM t UNION SELECT a + 1 FROM t) FROM t",
}


def left_out(dialect: str) -> dict[str, str]:
    """Features that are not asked for in this dialect, and why."""
    return {} if dialect in VERBATIM else dict(LEFT_OUT)


def probe_of(dialect: str, feature: str, usual: Given) -> str | Given:
    """The smallest statement of a feature."""
    return usual if dialect in VERBATIM else PROBES.get(feature, usual)


def mixed(dialect: str) -> bool:
    """Whether numbers and texts may meet in generated queries."""
    return dialect in VERBATIM
