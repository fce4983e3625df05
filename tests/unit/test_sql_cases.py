"""Generated SQL: the same for a seed everywhere, within its features, and worth asking."""

from __future__ import annotations

import itertools
import os
import random
import subprocess
import sys
from collections import Counter

import pytest

from refute import plain
from refute.errors import IllegalClaim
from refute.fuzz.sql.cases import cases, featured
from refute.fuzz.sql.features import (
    OF_TABLES,
    PROBE_SETUP,
    PROBES,
    TABLE_PROBES,
    features_of,
    speaks_of,
    supported,
)
from refute.fuzz.sql.grammar import Grammar
from refute.fuzz.sql.program import database
from refute.fuzz.sql.queries import PRODUCTIONS
from refute.fuzz.sql.reduction import simpler, size
from refute.fuzz.sql.schema import Shape
from refute.fuzz.sql.text import read, write
from refute.oracles.sql.sqlite import SQLite
from refute.plain import Plain
from refute.specs.sql import FEATURES, AgreesWithSQLite

ALL = Shape(frozenset(FEATURES), 3, 8)


def first(count: int, shape: Shape = ALL, seed: int = 1) -> list[Plain]:
    return list(itertools.islice(cases(seed, shape), count))


def test_a_seed_gives_the_same_cases_under_every_hash_seed() -> None:
    code = (
        "import itertools\n"
        "from refute import plain\n"
        "from refute.fuzz.sql.cases import cases, featured\n"
        "from refute.fuzz.sql.schema import Shape\n"
        "from refute.specs.sql import FEATURES\n"
        "shape = Shape(frozenset(FEATURES), 3, 8)\n"
        "drawn = [*itertools.islice(cases(1, shape), 24), *featured(1, shape, 1)]\n"
        "print(plain.digest(drawn))"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert digests == {plain.digest([*first(24), *featured(1, ALL, 1)])}
    assert first(20) != first(20, seed=2)


def test_cases_stay_within_their_features() -> None:
    some = frozenset({"left-join", "order-by", "case", "in-list", "primary-key"})
    for chosen in (some, frozenset[str]()):
        for case in first(120, Shape(chosen, 2, 4)):
            assert features_of([*case["setup"], case["query"]]) <= chosen


def test_every_feature_is_generated_and_most_queries_return_rows() -> None:
    """The counts are what the generator is worth: a change that lowers them is noticed."""
    seen: Counter[str] = Counter()
    rows = errors = 0
    database, setup = SQLite(), None
    for case in first(360):
        seen.update(features_of([*case["setup"], case["query"]]))
        if case["setup"] != setup:
            database, setup = SQLite(), case["setup"]
            refused = [r for r in database.run(setup) if r[0] == "error"]
            assert all(r[1] == "sqlite3.IntegrityError" for r in refused)
        [result] = database.run([case["query"]])
        rows += result[0] == "rows" and bool(result[2])
        errors += result[0] == "error"
    assert set(seen) >= set(PROBES)
    assert min(seen.values()) >= 1
    assert rows >= 140
    assert errors <= 8


def test_some_columns_hold_values_that_are_nearly_equal() -> None:
    rng = random.Random(1)
    databases = [database(rng, ALL, Grammar(PRODUCTIONS, ALL.features)) for _ in range(1500)]
    setups = ["\n".join(map(write, trees)) for _, trees in databases]
    for near in (("'é'", "'É'"), ("'a'", "' a'"), (str(2**53), str(2**53 + 1))):
        assert any(all(text in setup for text in near) for setup in setups), near


def test_each_feature_has_small_queries_of_its_own() -> None:
    drawn = list(featured(3, ALL, 1))
    used = Counter(name for case in drawn for name in features_of([case["query"]]))
    assert set(PROBES) <= set(used)
    assert len(drawn) == len(PROBES) + len(OF_TABLES)


@pytest.mark.parametrize("name", sorted({**PROBES, **TABLE_PROBES}))
def test_a_probe_uses_its_feature_and_sqlite_answers_it(name: str) -> None:
    probe = {**PROBES, **TABLE_PROBES}[name]
    assert name in features_of([probe])
    results = SQLite().run([*PROBE_SETUP, probe])
    assert [r[0] for r in results if r[0] == "error"] == []


def test_what_needs_a_refused_feature_is_left_out_with_it() -> None:
    assert supported(["having", "group-by", "like"], ["aggregate"]) == ["like"]
    assert supported(["aggregate", "like"], ["like"]) == ["aggregate"]


def test_reading_keeps_the_meaning_of_types() -> None:
    text = "CREATE TABLE t (a NUMERIC, b INTEGER, c)"
    tree = read(text)
    assert tree is not None and write(tree) == text
    assert read("SELECT FROM WHERE (") is None


def test_candidates_are_simpler_and_end() -> None:
    for case in first(6):
        limit = size(case["setup"], case["query"])
        for other in itertools.islice(simpler({**case, "as": "rows"}), 40):
            assert size(other["setup"], other["query"]) < limit
            assert other["as"] == "rows"
    assert list(simpler({"setup": [], "query": "not SQL ("})) == []


def test_reduction_reaches_what_a_person_would_write() -> None:
    """Greedy reduction of a large case, for a defect in NOT IN with NULL."""
    case: Plain = {
        "setup": [
            "CREATE TABLE t0 (a INTEGER, b TEXT NOT NULL)",
            "INSERT INTO t0 VALUES (1, 'x'), (2, 'y'), (NULL, 'z')",
            "CREATE TABLE t1 (c REAL)",
            "INSERT INTO t1 VALUES (0.5)",
        ],
        "query": "SELECT t0.a AS c0, COUNT(*) FROM t0 LEFT JOIN t1 ON t1.c > 0 WHERE (t0.b = 'x') "
        "AND (NOT t0.a IN (5, NULL)) GROUP BY t0.a HAVING COUNT(*) > 0 ORDER BY 1 DESC LIMIT 3",
    }
    while (smaller := next(filter(_has_not_in_null, simpler(case)), None)) is not None:
        case = smaller
    assert len(case["setup"]) == 1
    assert len(case["query"]) <= len("SELECT 0 FROM t0 WHERE NOT 0 IN (0, NULL)")


def _has_not_in_null(case: Plain) -> bool:
    runs = all(r[0] != "error" for r in SQLite().run([*case["setup"], case["query"]]))
    return runs and "NOT " in case["query"] and ", NULL)" in case["query"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"features": ["no-such"]}, "no feature"),
        ({"features": "like"}, "list of names"),
        ({"features": ["like"], "must_support": ["case"]}, "leaves out"),
        ({"tables": 9}, "tables is 1 to 4"),
        ({"rows": -1}, "rows is 0 to 40"),
    ],
)
def test_a_meaningless_statement_is_refused(options: dict[str, Plain], said: str) -> None:
    with pytest.raises(IllegalClaim, match=said):
        AgreesWithSQLite("engine:connect", **options)


def test_a_statement_is_plain_and_names_what_it_leaves_out() -> None:
    statement = AgreesWithSQLite("engine:connect", features=["like"], must_support="all")
    assert statement.params["must_support"] == ["like"]
    assert statement.text == "engine:connect answers as SQLite does, with like only"
    assert AgreesWithSQLite("engine:connect").text == "engine:connect answers as SQLite does"
    with pytest.raises(IllegalClaim, match="module:function"):
        AgreesWithSQLite("cmd:sqlite3")


def test_a_claim_speaks_of_what_it_generates_and_of_nothing_else() -> None:
    some = frozenset({"left-join", "order-by", "having", "group-by", "aggregate"})
    for case in [*first(40, Shape(some, 2, 4)), *featured(1, Shape(some, 2, 4), 1)]:
        assert speaks_of(some, case["setup"], case["query"])
    for case in [*first(60), *featured(2, ALL, 1)]:
        assert speaks_of(ALL.features, case["setup"], case["query"])
    table = ["CREATE TABLE t (a INTEGER)"]
    assert speaks_of(some, table, "SELECT a FROM t ORDER BY a")
    assert not speaks_of(some, table, "SELECT a FROM t LIMIT 1")
    assert not speaks_of(some, table, "SELECT COUNT(*) FROM t HAVING COUNT(*) > 1")
    assert not speaks_of(ALL.features, table, "SELECT sqlite_version()")
    assert not speaks_of(ALL.features, table, "DELETE FROM t")
    assert not speaks_of(ALL.features, table, "SELECT a FROM t; SELECT a FROM t")
    assert not speaks_of(ALL.features, [*table, "DROP TABLE t"], "SELECT 1")
