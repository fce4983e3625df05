"""SQL fuzzing: queries per CPU second of each step and of whole runs, and memory of a worker.

    python benchmarks/bench_fuzz.py [PROGRAMS]

Bars: 3,000 queries per second and core that are generated, run on both sides and compared, in one
dialect, with in-memory SQLite on both sides; 1,500 across two dialects, with DuckDB; 1,000 with
partitions (tlp; with norec and eet too the rate is shown beside); a worker under 300 MB. All at one
distribution of sizes, the generator's own with all features, whose median is at least 40
syntax-tree nodes.

Seconds are CPU seconds of this process and its children, the engine's own among them, so that a
machine that is busy changes less; each figure is the best of three rounds. A query of a run counts
when a judgement says that it was compared, which leaves out those that both sides refuse; with
several oracles it counts once, however many questions are asked about it. Whole runs are long
enough that their start is a small part of them. Where the engine is no SQLite, what the engine
alone takes for a query is printed beside, since that may be more than the bar leaves, and the rate
of refute's own part.
"""

from __future__ import annotations

import gc
import random
import resource
import statistics
import sys
import time
import unittest.mock
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from refute.fuzz.sql.grammar import Grammar
from refute.fuzz.sql.program import Program, program
from refute.fuzz.sql.queries import PRODUCTIONS, query
from refute.fuzz.sql.schema import Shape
from refute.fuzz.sql.text import Node, write, write_slowly
from refute.oracles.sql.sqlite import SQLite
from refute.specs.sql import FEATURES
from refute.verifiers.sql import fuzz_database
from refute.verifiers.sql.conform_engine import Engine
from refute.verifiers.sql.conform_run import Choice
from refute.verifiers.sql.fuzz_direct import engine_of
from refute.verifiers.sql.fuzz_learn import Learner, Probe
from refute.verifiers.sql.fuzz_plan import QUERIES, Plan
from refute.verifiers.sql.fuzz_processes import RINGS
from refute.verifiers.sql.fuzz_run import fuzz
from refute.verifiers.sql.fuzz_worker import Bench, Unit

SHAPE = Shape(frozenset(FEATURES), 3, 8)
GRAMMAR = Grammar(PRODUCTIONS, SHAPE.features)
SEED = 7
ROUNDS = 3
LEAST_NODES = 40
MOST_MB = 300
# What is run, with which oracles, and the bar: queries per second; 0 where none is named.
RUNS = (
    ("sqlite", ("sqlite",), 3000),
    ("sqlite", ("tlp",), 1000),
    ("sqlite", ("tlp", "norec"), 0),
    ("sqlite", ("tlp", "norec", "eet"), 0),
    ("duckdb", ("sqlite",), 1500),
)


def least(work: Callable[[], object]) -> float:
    """The least CPU seconds that the work takes."""
    spent = []
    for _ in range(ROUNDS):
        started = time.process_time()
        work()
        spent.append(time.process_time() - started)
    return min(spent)


def generate(made: Program) -> list[Node]:
    """The program's queries, made anew."""
    rng = random.Random(f"{SEED}/{made.number}/queries")
    return [query(rng, GRAMMAR, made.schema) for _ in range(QUERIES)]


def steps(programs: int) -> None:
    """Print the sizes of queries, and microseconds of CPU for one in each step."""
    made = [program(SEED, number, SHAPE, GRAMMAR, QUERIES) for number in range(programs)]
    trees = [generate(one) for one in made]
    sizes = [sum(1 for _ in tree.walk()) for some in trees for tree in some]
    count, quartiles = len(sizes), statistics.quantiles(sizes)
    named = ", ".join(f"{q:.0f}" for q in quartiles)
    print(f"{count} queries: syntax-tree nodes: quartiles {named}, mean {sum(sizes) / count:.0f}")
    if quartiles[1] < LEAST_NODES:
        print(f"MISSED: the median is below {LEAST_NODES}")
    setups = [[write(tree) for tree in one.setup] for one in made]
    texts = [[write(tree) for tree in some] for some in trees]
    databases = []
    for setup in setups:
        databases.append(SQLite())
        databases[-1].run(setup)
    pairs = list(zip(databases, texts, strict=True))
    answers = [[database.run([text]) for text in some] for database, some in pairs]
    gc.collect()
    gc.freeze()
    measured = {
        "databases made": lambda: [program(SEED, n, SHAPE, GRAMMAR) for n in range(programs)],
        "databases run": lambda: [SQLite().run(setup) for setup in setups],
        "queries generated": lambda: [generate(one) for one in made],
        "written": lambda: [[write(tree) for tree in some] for some in trees],
        "written by sqlglot": lambda: [[write_slowly(t) for t in some] for some in trees],
        "run once": lambda: [database.run(some) for database, some in pairs],
        "compared": lambda: [repr(a) == repr(b) for a, b in zip(answers, answers, strict=True)],
    }
    for name, work in measured.items():
        print(f"  {name:20} {least(work) / count * 1e6:6.0f} µs a query")
    gc.unfreeze()


def used() -> float:
    """CPU seconds of this process and its children."""
    whole = [resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(r.ru_utime + r.ru_stime for r in whole)


class Kept:
    """An engine whose answers are kept as they come, and played back once `play` was called."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._kept: list[list[Sequence[Any]]] = []
        self._played: Iterator[list[Sequence[Any]]] | None = None
        self._before = 0.0

    def start(self, hash_seed: int) -> None:
        """Begin with an empty database."""
        if self._played is None:
            self._engine.start(hash_seed)

    def again(self) -> None:
        """Begin with an empty database, in the process that is there if the engine can."""
        if self._played is None:
            getattr(self._engine, "again", lambda: self._engine.start(0))()

    def answers(self, statements: Sequence[str]) -> Iterator[Sequence[Any]]:
        """One answer for each statement."""
        if self._played is None:
            self._kept.append(list(self._engine.answers(statements)))
            return iter(self._kept[-1])
        return iter(next(self._played))

    def forget(self) -> None:
        """Keep nothing of what came so far."""
        self._kept.clear()
        self._before = self._cpu_s()

    @property
    def cpu_s(self) -> float:
        """CPU seconds that the engine took since `forget`."""
        return self._cpu_s() - self._before

    def _cpu_s(self) -> float:
        return float(getattr(self._engine, "cpu_s", 0.0))

    def play(self) -> None:
        """Give what was kept, from its beginning; the same has to be asked."""
        self._played = iter(self._kept)

    def close(self) -> None:
        """Let the engine go."""
        self._engine.close()


def parts(engine: str, oracles: tuple[str, ...], programs: int) -> tuple[float, float]:
    """Microseconds of CPU a query: of the engine alone, and of refute with its answers known.

    The engine's process has to be waited for, and a core that wakes up from that is slower, which
    is no property of either; so the answers are kept in a first run and played back in others.
    """
    choice = Choice(engine, engine, 10.0)
    kept = Kept(engine_of(choice))
    bench = Bench(Plan(choice, oracles=oracles, seed=SEED))
    with unittest.mock.patch.object(fuzz_database, "engine_of", lambda _: kept):
        refused = bench.do(Probe(frozenset(FEATURES))).refused
    features = Learner(frozenset(FEATURES), refused).features(0)
    kept.forget()
    counts = [bench.do(Unit(number, features)).counts for number in range(programs)]
    queries = sum(one.queries for one in counts)
    alone = kept.cpu_s / queries
    gc.collect()
    gc.freeze()
    before = gc.get_threshold()
    gc.set_threshold(RINGS, 10, 100)  # as workers do
    spent = []
    for _ in range(ROUNDS):
        kept.play()
        started = time.process_time()
        for number in range(programs):
            bench.do(Unit(number, features))
        spent.append(time.process_time() - started)
    gc.set_threshold(*before)
    gc.unfreeze()
    bench.close()
    return alone * 1e6, min(spent) / queries * 1e6


def whole(engine: str, oracles: tuple[str, ...], bar: int, programs: int) -> bool:
    """Print the rate of a whole run, its memory and what it found; whether the bar is kept."""
    plan = Plan(Choice(engine, engine, 10.0), oracles=oracles, seed=SEED, programs=programs)
    took = []
    for _ in range(ROUNDS):
        before = used()
        run = fuzz(plan)
        took.append(used() - before)
    spent = min(took)
    counts = run.counts
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    rate = min(counts.compared, counts.queries) / spent
    kept = rate >= bar and memory < MOST_MB and counts.median_nodes >= LEAST_NODES
    print(
        f"{engine}, {', '.join(oracles)}: {rate:.0f} queries compared per CPU second (bar {bar}); "
        f"{spent:.1f} s with the engine and start; {counts.compared} questions compared about "
        f"{counts.queries} queries, median {counts.median_nodes} nodes, open "
        f"{sum(counts.open.values())}, refused {counts.refusals}, worker {memory:.0f} MB, "
        f"{len(run.findings)} findings {'' if kept else '  MISSED'}"
    )
    if engine != "sqlite":
        alone, own = parts(engine, oracles, min(programs, 100))
        print(f"  {engine} alone {alone:.0f} µs a query; refute {own:.0f} µs: {1e6 / own:.0f}/s")
    return kept


def main() -> int:
    """Print all; 1 where a bar is missed."""
    programs = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    steps(max(10, programs // 20))
    kept = [whole(engine, oracles, bar, programs) for engine, oracles, bar in RUNS]
    return 0 if all(kept) else 1


if __name__ == "__main__":
    raise SystemExit(main())
