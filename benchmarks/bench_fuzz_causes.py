"""How many causes `refute fuzz sql` tells of one planted defect, and of two at once.

    python benchmarks/bench_fuzz_causes.py [CLASS …]     of these classes, or of those below
    python benchmarks/bench_fuzz_causes.py --pairs       of pairs of defects in one engine

Each run begins from generated queries that show the defect (`tests/planted/measured_oracles.py`
keeps them), asks all oracles about them, and looks into what breaks as every run does. Bars: 1.5
causes of a defect on average; two defects never one cause.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "planted"))

from planted_causes import run_with, shows  # noqa: E402

from refute.verifiers.sql.fuzz_plan import FuzzRun  # noqa: E402

BAR = 1.5
CLASSES = (
    "not in forgets NULL",
    "NULL joins NULL",
    "OR stops at NULL",
    "BETWEEN without its end",
    "rows compared at once",
    "NULL concatenates",
    "index misses a row",
    "RIGHT JOIN is INNER",
    "FULL JOIN is LEFT",
    "DISTINCT drops NULL",
    "NULL groups apart",
    "HAVING is ignored",
    "SUM of nothing is 0",
    "NULLs come last",
    "LIMIT is one off",
    "UNION keeps",
    "PARTITION BY is ignored",
    "crash",
)
PAIRS = (
    ("FULL JOIN is LEFT", "RIGHT JOIN is INNER"),
    ("RIGHT JOIN is INNER", "NULL joins NULL"),
    ("DISTINCT drops NULL", "NULL groups apart"),
    ("HAVING is ignored", "SUM of nothing is 0"),
    ("not in forgets NULL", "OR stops at NULL"),
    ("UNION keeps", "NULLs come last"),
)


def told(run: FuzzRun, *, whole: bool) -> None:
    """Each finding of a run, on a line."""
    if whole:
        for finding in run.findings:
            print(f"      {finding.oracle} x{finding.times}: {finding.title}")
            print(f"        {'; '.join((*finding.setup, finding.query))[:300]}")


def of_one(name: str, most: int, *, whole: bool) -> int:
    """Causes that a run tells of one defect."""
    began = time.monotonic()
    run = run_with(name, most=most)
    met = sum(run.counts.broken.values())
    seconds = time.monotonic() - began
    print(f"  {name:28} {len(run.findings):3} causes of {met:4} failures, {seconds:5.1f} s")
    told(run, whole=whole)
    return len(run.findings)


def of_two(names: tuple[str, str], most: int, *, whole: bool) -> bool:
    """Whether a run tells causes of each of two defects."""
    run = run_with(*names, most=most)
    own = [sum(shows(finding, name) for finding in run.findings) for name in names]
    each = ", ".join(f"{number} of {name!r}" for number, name in zip(own, names, strict=True))
    print(f"  {len(run.findings):3} causes: {each}")
    told(run, whole=whole)
    return all(own)


def main() -> int:
    """Measure; 1 where a bar is missed."""
    parser = argparse.ArgumentParser(description="causes told of planted defects")
    parser.add_argument("classes", nargs="*")
    parser.add_argument("--pairs", action="store_true")
    parser.add_argument("--whole", action="store_true", help="show the findings")
    parser.add_argument("--most", type=int, default=6, help="queries that show a defect")
    given = parser.parse_args()
    if given.pairs:
        apart = [of_two(names, given.most, whole=given.whole) for names in PAIRS]
        print(f"two defects told as such: {sum(apart)} of {len(apart)}")
        return int(not all(apart))
    counts = [of_one(name, given.most, whole=given.whole) for name in given.classes or CLASSES]
    seen = [number for number in counts if number]
    mean = statistics.mean(seen) if seen else 0.0
    print(f"causes of a defect: {mean:.2f} on average of {len(seen)} defects; bar {BAR}")
    return int(mean > BAR)


if __name__ == "__main__":
    sys.exit(main())
