"""Generated queries: how many per CPU second, where the time goes, and how long reduction takes.

    python benchmarks/bench_sql.py [QUERIES]

Bar: a failing query is reduced within 5 s. The engine is SQLite on both sides, in this process for
the rates, so that what is measured is refute; the time of reduction is that of `check` as users run
it, with the engine in a worker.
"""

from __future__ import annotations

import itertools
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

from refute.budget import Budget
from refute.check import check
from refute.claim import claim
from refute.fuzz.sql.queries import cases
from refute.fuzz.sql.schema import Shape
from refute.oracles.sql.compare import compare
from refute.oracles.sql.sqlite import SQLite
from refute.plain import Plain
from refute.site import Site
from refute.specs.sql import FEATURES, AgreesWithSQLite

BAR_S = 5.0
SHAPE = Shape(frozenset(FEATURES), 3, 8)
TREE = Path(__file__).parents[1] / "tests" / "cases" / "sql"
DEFECTS = (
    "left_as_inner",
    "null_in_not_in",
    "distinct_drops_nulls",
    "limit_off_by_one",
    "union_keeps",
    "average_of_integers",
    "nocase_as_binary",
)


def answered(drawn: list[Plain]) -> list[list[Plain]]:
    """SQLite's answers, on a database for each setup."""
    answers: list[list[Plain]] = []
    database, setup = SQLite(), None
    for case in drawn:
        if case["setup"] is not setup:
            database, setup = SQLite(), case["setup"]
            database.run(setup)
        answers += database.run([case["query"]])
    return answers


def timed(work: Callable[[], object]) -> tuple[object, float]:
    """What the work returns, and its CPU seconds."""
    started = time.process_time()
    result = work()
    return result, time.process_time() - started


def rates(count: int) -> None:
    """Print queries per CPU second of each step, and of all together."""
    drawn: list[Plain] = []
    _, made = timed(lambda: drawn.extend(itertools.islice(cases(1, SHAPE), count)))
    rights: list[list[Plain]] = []
    lefts: list[list[Plain]] = []
    _, ran = timed(lambda: rights.extend(answered(drawn)))
    _, again = timed(lambda: lefts.extend(answered(drawn)))

    def compared() -> None:
        for case, right, left in zip(drawn, rights, lefts, strict=True):
            if left[0] == "rows":
                assert compare(case["setup"], case["query"], right, left).status == "same"

    _, judged = timed(compared)
    steps = {"generated": made, "run twice": ran + again, "compared": judged}
    steps["all"] = sum(steps.values())
    for name, seconds in steps.items():
        print(f"{name:10} {count / seconds:>9.0f} queries per CPU second")


def reductions() -> float:
    """Print wall seconds from nothing to the replayed, reduced case; returns the worst."""
    spent = []
    site = Site(TREE, TREE, (".",))
    for defect in DEFECTS:
        started = time.monotonic()
        statement = AgreesWithSQLite(f"planted:{defect}")
        [evidence] = check(claim(defect, statement), Budget(cases=5_000), site)
        spent.append(time.monotonic() - started)
        case: Plain = evidence.witness and evidence.witness.counterexample.inputs
        query = case["case"]["query"] if case else "not found"
        print(f"{defect:22} {spent[-1]:5.1f} s after {evidence.tried:4} cases: {query}")
    print(f"median {statistics.median(spent):.1f} s, worst {max(spent):.1f} s (bar {BAR_S:g} s)")
    return max(spent)


def main(argv: list[str]) -> int:
    """Measure; exit 1 when the bar on reduction is missed."""
    rates(int(argv[0]) if argv else 3_000)
    worst = reductions()
    print(f"bar of {BAR_S:g} s to find and reduce: {'reached' if worst <= BAR_S else 'MISSED'}")
    return 0 if worst <= BAR_S else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
