"""SQLite is never accused of not being SQLite, in whatever order it works."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from refute.budget import Budget
from refute.check import check
from refute.claim import Verdict, claim
from refute.fuzz.sql.cases import cases, featured
from refute.fuzz.sql.schema import Shape
from refute.oracles.sql.compare import compare
from refute.oracles.sql.sqlite import SQLite
from refute.site import Site
from refute.specs.sql import BASIC, AgreesWithSQLite

TREE = Path(__file__).parents[1] / "cases" / "sql"
SITE = Site(TREE, TREE, (".",))
SHAPE = Shape(frozenset(BASIC), 3, 8)


def backwards(setup: list[str]) -> SQLite:
    """SQLite on the same rows, with an index on every first column, scanning from the end."""
    database = SQLite()
    database.run(["PRAGMA reverse_unordered_selects = ON", *setup])
    tables = [s.split()[2] for s in setup if s.startswith("CREATE TABLE")]
    database.run([f"CREATE INDEX i{t} ON {t} (a)" for t in tables])
    return database


def test_sqlite_that_works_backwards_agrees_with_itself() -> None:
    drawn = itertools.chain(featured(7, SHAPE, 4), cases(7, SHAPE))
    setup: list[str] = []
    tried = reordered = opened = 0
    for case in itertools.islice(drawn, 1000):
        if case["setup"] != setup:
            setup = case["setup"]
            usual, other = SQLite(), backwards(setup)
            usual.run(setup)
        [right], [left] = usual.run([case["query"]]), other.run([case["query"]])
        if left[0] != "rows":
            continue
        compared = compare(setup, case["query"], right, left)
        assert compared.status != "different", (case, compared.why)
        tried += 1
        opened += compared.status == "open"
        reordered += left != right
    assert tried >= 990
    assert reordered >= 60  # or the test would say nothing
    assert opened <= 5  # or the comparison would


@pytest.mark.parametrize("engine", ["sound", "reorders", "prints_and_forks"])
def test_a_sound_engine_is_spared(engine: str) -> None:
    features = [name for name in BASIC if name != "violation"]
    statement = AgreesWithSQLite(f"planted:{engine}", features=features, must_support="all")
    budget = Budget(cases=250, wall_s=60.0, cpu_s=60.0)
    [evidence] = check(claim("it", statement), budget, SITE)
    assert evidence.verdict is Verdict.SURVIVED, evidence.reason
    assert evidence.tried == 250
    assert evidence.statistics["refused"] == 0
    assert evidence.statistics["open"] <= 4
