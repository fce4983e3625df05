"""A sum that leaves 64 bits may be refused or widened, and is not another number."""

from __future__ import annotations

from typing import Any

import pytest

from refute.oracles.sql.partial.across import compared
from refute.oracles.sql.sqlite import SQLite

SETUP = (
    "CREATE TABLE t (a BIGINT)",
    "INSERT INTO t VALUES (2), (9223372036854775807)",
)
SUM = 2**63 + 1


@pytest.mark.parametrize(
    ("dialect", "query", "value", "status"),
    [
        ("duckdb", "SELECT SUM(a) FROM t", 1 - 2**63, "different"),
        ("postgresql", "SELECT SUM(a) AS s FROM t WHERE a > 0", 0, "different"),
        ("duckdb", "SELECT SUM(a) FROM t", SUM, "open"),
        ("duckdb", "SELECT SUM(a) FROM t", float(SUM), "open"),
        ("duckdb", "SELECT SUM(a) + 0 FROM t", 1 - 2**63, "open"),
        ("duckdb", "SELECT SUM(a) FROM t GROUP BY a > 0", 1 - 2**63, "open"),
        ("datafusion", "SELECT SUM(a) FROM t", 1 - 2**63, "open"),
    ],
)
def test_a_sum_beyond_64_bits(dialect: str, query: str, value: Any, status: str) -> None:
    database = SQLite()
    *_, right = database.run([*SETUP, query])
    database.close()
    assert right[0] == "error" and "overflow" in right[2]
    left = ["rows", ["s"], [[value]], ["int"]]
    assert compared(dialect, SETUP, query, right, left).status == status
