"""Generated queries: how many per CPU second, where the time goes, and how long reduction takes.

    python benchmarks/bench_sql.py [QUERIES]

Bar: a failing query is reduced within 5 s. The engine is SQLite on both sides, in this process for
the rates, so that what is measured is refute; cases are reduced as `check` does it, with the engine
in a worker.
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
from refute.claim import Claim, claim
from refute.fuzz.sql.cases import cases
from refute.fuzz.sql.reduction import simpler
from refute.fuzz.sql.schema import Shape
from refute.oracles.sql.compare import compare
from refute.oracles.sql.sqlite import SQLite
from refute.plain import Plain
from refute.site import Site
from refute.specs.sql import FEATURES, AgreesWithSQLite
from refute.verifiers.reduction import Shrinker
from refute.verifiers.sql.differential_player import QueryPlayer, Tally

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
    """Print the time to reduce the first case that each defect breaks; the worst wall seconds."""
    spent: list[float] = []
    site = Site(TREE, TREE, (".",))
    for defect in DEFECTS:
        about = claim(defect, AgreesWithSQLite(f"planted:{defect}"))
        [evidence] = check(about, Budget(cases=5_000, shrink=False), site)
        if evidence.witness is None:
            print(f"{defect:22} not found in {evidence.tried} cases")
            return float("inf")
        inputs: Plain = evidence.witness.counterexample.inputs
        wall, cpu, query = reduced(about, site, inputs["case"])
        spent.append(wall)
        found = f"found after {evidence.tried:4} cases"
        print(f"{defect:22} {found}, reduced in {wall:4.1f} s ({cpu:4.1f} s CPU): {query}")
    print(f"reduction: median {statistics.median(spent):.1f} s, worst {max(spent):.1f} s")
    return max(spent)


def reduced(about: Claim, site: Site, case: Plain) -> tuple[float, float, str]:
    """Wall and CPU seconds that reducing a broken case takes, and the query that it ends with."""
    tally, budget = Tally(), Budget()

    def opened() -> QueryPlayer:
        return QueryPlayer(about, site, budget, tally=tally)

    with opened() as player:
        [judgement] = player.play([case])
    wall, cpu = time.monotonic(), time.process_time()
    shrinker = Shrinker("bench", opened, lambda c: simpler({**c, "as": "rows"}), set(), 60.0)
    small: Plain = shrinker.smallest((), case, judgement).inputs
    own = time.process_time() - cpu
    return time.monotonic() - wall, own + shrinker.cpu_s, small["case"]["query"]


def main(argv: list[str]) -> int:
    """Measure; exit 1 when the bar on reduction is missed."""
    rates(int(argv[0]) if argv else 3_000)
    worst = reductions()
    print(f"bar of {BAR_S:g} s to reduce: {'reached' if worst <= BAR_S else 'MISSED'}")
    return 0 if worst <= BAR_S else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
