"""Reduction of failures: it ends at the smallest case, within its bounds, and says where it did."""

from __future__ import annotations

from refute.verifiers.sql.fuzz_reduce import Reducer

SETUP = (
    "CREATE TABLE t0 (a INTEGER PRIMARY KEY, b TEXT COLLATE NOCASE, c REAL DEFAULT 1.5)",
    "INSERT INTO t0 VALUES (1, 'x', 0.5), (2, 'y', NULL), (3, 'z', 2.5)",
    "CREATE TABLE t1 (a INTEGER)",
    "INSERT INTO t1 VALUES (1)",
    "CREATE INDEX i0 ON t0 (b DESC, c) WHERE c IS NOT NULL",
    "CREATE VIEW v0 AS SELECT a FROM t1",
    "ANALYZE",
    "UPDATE t0 SET b = 'q' WHERE a = 1",
)
QUERY = "SELECT t0.a AS c0, COUNT(*) FROM t0 JOIN t1 ON t0.a = t1.a WHERE t0.b LIKE 'x%' GROUP BY 1"


def needs(setup: tuple[str, ...], query: str) -> bool:
    """A defect that takes an index and LIKE."""
    return any("CREATE INDEX" in s for s in setup) and "LIKE" in query and "FROM t0" in query


def test_what_a_failure_does_not_need_goes() -> None:
    reducer = Reducer(needs, 50_000)
    setup, query = reducer.reduced(SETUP, QUERY)
    assert len(setup) == 1 and len(setup[0]) < 40, setup
    assert len(query) < 40 and not reducer.spent, query


def test_the_same_failure_becomes_the_same_case() -> None:
    assert Reducer(needs, 50_000).reduced(SETUP, QUERY) == Reducer(needs, 50_000).reduced(
        SETUP, QUERY
    )


def test_it_stops_at_its_bound_with_what_it_has() -> None:
    reducer = Reducer(needs, 30)
    setup, query = reducer.reduced(SETUP, QUERY)
    assert reducer.spent and reducer.tried < 10 and needs(setup, query)


def test_what_cannot_be_read_stays() -> None:
    setup, query = Reducer(lambda s, q: "@@" in q, 1_000).reduced(SETUP, "SELECT @@ nothing (")
    assert (setup, query) == ((), "SELECT @@ nothing (")


def test_what_ends_an_engine_is_tried_alone_first() -> None:
    query = f"SELECT t0.b AS c0, {'0, ' * 50} t0.a IN (1, t0.c) FROM t0 WHERE b LIKE 'x' LIMIT 3"
    reducer = Reducer(lambda s, q: " IN (" in q, 4_000, 15, restart=300)
    setup, text = reducer.reduced(SETUP, query)
    assert setup == () and len(text) < 30 and reducer.tried < 120, text


def test_a_process_is_counted_where_one_ended() -> None:
    tried = {}
    for restart in (0, 300):
        reducer = Reducer(lambda s, q: s == SETUP and q == QUERY, 1_000, restart=restart)
        reducer.reduced(SETUP, QUERY)
        tried[restart] = reducer.tried
    assert tried[300] >= tried[0], "nothing ended, so nothing is charged"
