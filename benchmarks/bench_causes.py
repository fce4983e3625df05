"""Causes of planted defects: how many come out for each class, alone and all at once.

Engines are those of tests/cases/sqllogictest/planted.py, files are parts of SQLite's corpus (named
on the command line) and files that refute's own generator writes in the same format. Printed are
for each class the records that fail, the causes that come out and the seconds; then, with all
classes at once, for each cause the class that its script shows alone, and its failures that
this class alone does not make fail: most of them show two classes. Run with
`python benchmarks/bench_causes.py [CORPUS_DIRECTORY]`; bars: every class is caught, no cause has
failures of two classes, and causes are about as many as classes.
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
from collections.abc import Sequence
from pathlib import Path

from refute.fuzz.sql.cases import cases
from refute.fuzz.sql.features import OF_TABLES, PROBES
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
from in_process import InProcess  # noqa: E402

PARTS = {  # folders of the corpus, and how many of the first records of one file are taken
    "random/expr": 500,
    "random/select": 400,
    "random/aggregates": 400,
    "random/groupby": 400,
    "index/orderby_nosort/10": 150,
    "index/random/10": 150,
    "index/delete/10": 150,
    "index/view/10": 150,
    "evidence": 150,
    ".": 250,
}
SEEDS = (1,)
GENERATED = 400  # queries of a generated file
WALL_S = 600.0
EVERYTHING = "everything"


def main() -> int:
    """Print the tables; 1 when a class was not caught."""
    corpus = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    bugs = [name for name in sys.argv[2:] if name != EVERYTHING] or list(planted.BUGS)
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        paths = list(files(Path(folder), corpus))
        if len(sys.argv) < 3 or EVERYTHING in sys.argv[2:]:
            classes = {bug: places(run_here(bug, paths)) for bug in planted.BUGS}
            results = run_here(EVERYTHING, paths)
            causes = judged(EVERYTHING, results)
            purity(results, causes, classes)
        for bug in bugs if sys.argv[2:] != [EVERYTHING] else ():
            results = run_here(bug, paths)
            missed += not places(results)
            judged(bug, results)
    return int(missed > 0)


def run_here(bug: str, paths: list[str]) -> list[FileResult]:
    """What fails on one planted engine."""
    run = Run(InProcess(getattr(planted, bug)), "sqlite")
    return [run_file(run, path, Path(path).read_bytes(), 0) for path in paths]


def places(results: list[FileResult]) -> set[tuple[str, int]]:
    """Path and line of what failed."""
    return {(file.path, failure.line) for file in results for failure in file.failures}


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


QUERIES = """
SELECT a, c FROM {t} WHERE a = {n}
SELECT count(*) FROM {t} WHERE a > {n} AND c < {r}
SELECT b, sum(c), min(c), count(c) FROM {t} GROUP BY b
SELECT b, sum(c) FROM {t} WHERE a > {n} GROUP BY b HAVING count(*) > 1
SELECT a + 9223372036854775800 FROM {t} WHERE c < {r}
SELECT a, b FROM {t} ORDER BY b, a LIMIT {m}
SELECT CAST(c AS INTEGER) FROM {t} WHERE a <> {n}
SELECT a FROM {t} WHERE b IN ('A', 'x', 'zz')
SELECT a, c FROM {t} WHERE b LIKE 'b%' OR a = {n}
SELECT COALESCE(b, a, 'none') FROM {t}
SELECT a FROM {t} WHERE b = 10 OR a = '{n}'
SELECT x.a, y.b FROM {t} AS x LEFT JOIN {t} AS y ON x.b = y.b
SELECT x.a FROM {t} AS x LEFT JOIN {t} AS y ON x.a = y.a + {m} WHERE x.c < {r}
SELECT a, (SELECT count(*) FROM {t} AS x WHERE x.a < {t}.a) FROM {t}
SELECT a FROM {t} EXCEPT SELECT a FROM {t} WHERE c < {r}
SELECT b FROM {t} UNION SELECT b FROM {t}
"""


def changes() -> str:
    """A test file with indexes, UPDATE, DELETE, collations, and sums near the ends of 64 bits."""
    database, rng = SQLite(), random.Random(1)
    records = []
    queries = QUERIES.strip().splitlines()
    for number in range(10):
        name = f"t{number}"
        setup = [
            f"CREATE TABLE {name}(a INTEGER, b TEXT COLLATE NOCASE, c REAL)",
            f"CREATE INDEX i{number} ON {name}(a)",
        ]
        for _ in range(10):
            text = rng.choice(["'a'", "'B'", "NULL", "'10'"])
            real = rng.choice(["NULL", str(rng.randint(0, 99) / 4)])
            setup.append(f"INSERT INTO {name} VALUES({rng.randint(-9, 9)}, {text}, {real})")
        if number % 3 == 1:  # not everywhere: every query would be wrong for it
            setup.append(f"UPDATE {name} SET c = c + 1 WHERE a > {rng.randint(0, 5)}")
        if number % 3 == 2:
            setup.append(f"DELETE FROM {name} WHERE b = 'B' AND a < {rng.randint(0, 9)}")
        records += [statement(database, sql) for sql in setup]
        for sql in rng.sample(queries, len(queries)):
            values = {"n": rng.randint(-9, 9), "m": rng.randint(1, 5), "r": rng.randint(0, 60) / 4}
            records.append(query(database, sql.format(t=name, **values)))
    return "\n\n".join(records) + "\n"


def judged(bug: str, results: list[FileResult]) -> Causes:
    """The causes of what failed on one planted engine; they are printed."""
    choice = Choice(f"planted:{bug}", "sqlite", 30.0, TREE, ("planted.py",), (".",))
    cpu, started = time.process_time(), time.perf_counter()
    causes = find_causes(choice, results, WALL_S, lambda _: None)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - started
    failed = sum(len(file.failures) for file in results)
    print(
        f"{bug}: {failed} failed, {len(causes.causes)} causes, {causes.unknown} without,"
        f" {causes.reductions} reductions, {cpu:.1f} CPU s here, {wall:.0f} s {causes.ended}"
    )
    for cause in causes.causes:
        how = f"{cause.reduced} reduced, {cause.located} located, {cause.by_signature} guessed"
        print(f"    {cause.count:5} ({how}) {cause.title}")
        print(f"          {'; '.join(cause.statements)}")
    sys.stdout.flush()
    return causes


def purity(
    results: list[FileResult], causes: Causes, classes: dict[str, set[tuple[str, int]]]
) -> None:
    """For each cause of all classes at once, the class that its script shows alone."""
    of: dict[int, list[set[str]]] = {}
    for file in results:
        for failure in file.failures:
            shown = {bug for bug, found in classes.items() if (file.path, failure.line) in found}
            of.setdefault(failure.cause, []).append(shown)
    fragments: Counter[str] = Counter()
    wrong = total = 0
    for cause in causes.causes:
        own = of.get(cause.number, [])
        counted = Counter(itertools.chain.from_iterable(own))
        fails = [bug for bug in planted.BUGS if differs(bug, cause.statements)]
        best = max(fails, key=lambda bug: counted[bug], default="none alone")
        number = counted[best]
        others = sum(bool(shown) and best not in shown for shown in own)
        fragments[best] += 1
        wrong, total = wrong + others, total + cause.count
        counts = f"{cause.number:3} {cause.count:5} {best} ({number})"
        print(f"    {counts}, {others} others: {cause.title}")
    missing = [bug for bug in planted.BUGS if bug not in fragments]
    print(f"classes without a cause of their own: {', '.join(missing) or 'none'}")
    print(f"causes for each class: median {statistics.median(fragments.values())}")
    print(f"    {dict(fragments)}")
    print(f"{wrong} of {total} failures stand in a cause of another class")


def differs(bug: str, statements: Sequence[str]) -> bool:
    """Whether a script's last answer is another one with one class than with none."""
    engine, plain = InProcess(getattr(planted, bug)), InProcess(getattr(planted, bug))
    engine.start(0)
    plain.connection = planted.Connection(())
    return list(engine.answers(statements))[-1] != list(plain.answers(statements))[-1]


if __name__ == "__main__":
    sys.exit(main())
