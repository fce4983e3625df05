"""Causes of planted defects: how many come out for each class, alone and all at once.

Engines are those of tests/cases/sqllogictest/planted.py, files are parts of SQLite's corpus (named
on the command line) and files that refute's own generator writes in the same format. Printed are
for each class the records that fail, the causes that come out and the seconds; then, with all
classes at once, for each cause the class that most of its failures show, and the failures that do
not show it. Run with `python benchmarks/bench_causes.py [CORPUS_DIRECTORY]`; bars: every class is
caught, no cause has failures of two classes, and causes are about as many as classes.
"""

from __future__ import annotations

import itertools
import random
import re
import statistics
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from refute.fuzz.sql.features import OF_TABLES, PROBES
from refute.fuzz.sql.queries import cases
from refute.fuzz.sql.schema import Shape
from refute.oracles.sql.sqlite import SQLite
from refute.oracles.sqllogictest.render import texts
from refute.verifiers.sql.conform_causes import Causes, find_causes
from refute.verifiers.sql.conform_file import FileResult, Run, run_file
from refute.verifiers.sql.conform_reduce_trial import shown_types
from refute.verifiers.sql.conform_run import Choice

TREE = Path(__file__).resolve().parents[1] / "tests" / "cases" / "sqllogictest"
sys.path.insert(0, str(TREE))
import planted  # noqa: E402

PARTS = {  # folders of the corpus, and how many of the first records of one file are taken
    "random/expr": 1500,
    "random/select": 1000,
    "random/aggregates": 1000,
    "random/groupby": 1000,
    "index/orderby_nosort/10": 400,
    "index/random/10": 600,
    "index/delete/10": 400,
    "index/view/10": 400,
    "evidence": 400,
    ".": 1100,
}
SEEDS = (1, 2)
GENERATED = 500  # queries of a generated file
WALL_S = 300.0


def main() -> int:
    """Print the tables; 1 when a class was not caught."""
    corpus = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    only = sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder:
        paths = list(files(Path(folder), corpus))
        classes: dict[tuple[str, int], set[str]] = {}
        missed = 0
        for bug in only or planted.BUGS:
            results, causes, spent = judged(bug, paths)
            failed = [(f.path, x.line) for f in results for x in f.failures]
            for place in failed:
                classes.setdefault(place, set()).add(bug)
            missed += not failed
            show(bug, len(failed), causes, spent)
        if not only or "everything" in only:
            results, causes, spent = judged("everything", paths)
            show("everything", sum(len(f.failures) for f in results), causes, spent)
            purity(results, causes, classes)
    return int(missed > 0)


def files(folder: Path, corpus: Path | None) -> list[str]:
    """Files to run: parts of the corpus, and generated ones."""
    made = []
    for name, number in PARTS.items() if corpus is not None else ():
        source = sorted((corpus / name).glob("*.test"))[0]
        path = folder / f"{name.replace('/', '_')}_{source.name}"
        blocks = source.read_text(encoding="utf-8").split("\n\n")[:number]
        path.write_text("\n\n".join(blocks) + "\n", encoding="utf-8")
        made.append(path)
    for seed in SEEDS:
        path = folder / f"generated_{seed}.test"
        path.write_text(generated(seed), encoding="utf-8")
        made.append(path)
    path = folder / "changes.test"
    path.write_text(changes(), encoding="utf-8")
    return [str(path) for path in (*made, path)]


def generated(seed: int) -> str:
    """A test file of random tables and queries, with SQLite's results."""
    database = SQLite()
    records, setup, queries = [], [], 0
    for case in cases(seed, Shape(frozenset([*PROBES, *OF_TABLES]), 3, 6)):
        if case["setup"] != setup:
            for table in filter(None, (re.match(r"CREATE TABLE (\w+)", s) for s in setup)):
                records.append(statement(database, f"DROP TABLE {table[1]}"))
            setup = case["setup"]
            records += [statement(database, sql) for sql in setup]
        record = query(database, case["query"])
        if record and ("LIMIT" not in record or "ORDER BY" in record):
            records.append(record)
            queries += 1
        if queries >= GENERATED:
            return "\n\n".join(records) + "\n"
    raise AssertionError


def statement(database: SQLite, sql: str) -> str:
    """A statement that is run now, as a record."""
    failed = database.answer(sql)[0] == "error"
    return f"statement {'error' if failed else 'ok'}\n{sql}"


def query(database: SQLite, sql: str) -> str:
    """A query as a record with its result; empty when it has none."""
    answer = database.answer(sql)
    if answer[0] != "rows":
        return ""
    rows = [list(row) for row in answer[2]]
    types = shown_types(len(answer[1]), rows)
    sort = "nosort" if "ORDER BY" in sql else "rowsort"
    return "\n".join([f"query {types} {sort}", sql, "----", *texts(types, rows, sort)])


def changes() -> str:
    """A test file with indexes, UPDATE, DELETE and sums near the ends of 64 bits."""
    database, rng = SQLite(), random.Random(1)
    records = []
    for number in range(12):
        name = f"t{number}"
        setup = [
            f"CREATE TABLE {name}(a INTEGER, b TEXT, c REAL)",
            f"CREATE INDEX i{number} ON {name}(a)",
        ]
        for _ in range(10):
            text = rng.choice(["'a'", "'B'", "NULL", "'10'"])
            setup.append(
                f"INSERT INTO {name} VALUES({rng.randint(-9, 9)}, {text}, {rng.randint(0, 99) / 4})"
            )
        setup += [
            f"UPDATE {name} SET c = c + 1 WHERE a > {rng.randint(0, 5)}",
            f"DELETE FROM {name} WHERE b = 'B' AND a < {rng.randint(0, 9)}",
        ]
        records += [statement(database, sql) for sql in setup]
        for _ in range(25):
            value, other = rng.randint(-9, 9), rng.randint(0, 60) / 4
            records.append(
                query(
                    database,
                    rng.choice(
                        [
                            f"SELECT a, c FROM {name} WHERE a = {value}",
                            f"SELECT count(*) FROM {name} WHERE a > {value} AND c < {other}",
                            f"SELECT b, sum(c) FROM {name} GROUP BY b",
                            f"SELECT a + 9223372036854775800 FROM {name} WHERE c < {other}",
                            f"SELECT a, b FROM {name} ORDER BY b, a LIMIT {abs(value)}",
                            f"SELECT CAST(c AS INTEGER) FROM {name} WHERE a <> {value}",
                        ]
                    ),
                )
            )
    return "\n\n".join(records) + "\n"


def judged(bug: str, paths: list[str]) -> tuple[list[FileResult], Causes, float]:
    """The files on one planted engine, and the causes of what failed; seconds for these."""
    choice = Choice(f"planted:{bug}", "sqlite", 30.0, TREE, ("planted.py",), (".",))
    engine = choice.open()
    run = Run(engine, "sqlite")
    results = [run_file(run, path, Path(path).read_bytes(), 0) for path in paths]
    engine.close()
    started = time.perf_counter()
    causes = find_causes(choice, results, WALL_S, lambda _: None)
    return results, causes, time.perf_counter() - started


def show(bug: str, failed: int, causes: Causes, spent: float) -> None:
    """One class."""
    print(
        f"{bug}: {failed} failed, {len(causes.causes)} causes, {causes.unknown} without,"
        f" {causes.reductions} reductions, {spent:.1f} s {causes.ended}"
    )
    for cause in causes.causes:
        print(f"    {cause.count:5} ({cause.reduced} reduced) {cause.title}")
        print(f"          {'; '.join(cause.statements)}")
    sys.stdout.flush()


def purity(
    results: list[FileResult], causes: Causes, classes: dict[tuple[str, int], set[str]]
) -> None:
    """For each cause of all classes at once, the class of most of its failures."""
    of: dict[int, list[set[str]]] = {}
    for file in results:
        for failure in file.failures:
            shown = classes.get((file.path, failure.line), set())
            of.setdefault(failure.cause, []).append(shown)
    fragments: Counter[str] = Counter()
    wrong = total = 0
    for cause in causes.causes:
        counted = Counter(itertools.chain.from_iterable(of.get(cause.number, ())))
        best, number = counted.most_common(1)[0] if counted else ("none alone", 0)
        others = sum(bool(s) and best not in s for s in of.get(cause.number, ()))
        fragments[best] += 1
        wrong, total = wrong + others, total + cause.count
        counted = f"{cause.number:3} {cause.count:5} {best} ({number})"
        print(f"    {counted}, {others} others: {cause.title}")
    missing = [bug for bug in planted.BUGS if bug not in fragments]
    print(f"classes without a cause of their own: {', '.join(missing) or 'none'}")
    print(
        f"causes for each class: median {statistics.median(fragments.values())}, {dict(fragments)}"
    )
    print(f"{wrong} of {total} failures stand in a cause of another class")


if __name__ == "__main__":
    sys.exit(main())
