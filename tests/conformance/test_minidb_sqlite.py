"""minidb against the files that SQLite answered: its own suite, and SQLite's where it is at hand;
and against SQLite itself on generated queries. All in this process, so that many fit into seconds.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from refute.fuzz.sql.cases import cases, featured
from refute.fuzz.sql.schema import Shape
from refute.oracles.sql.compare import compare
from refute.oracles.sql.driver import Session
from refute.oracles.sql.sqlite import SQLite
from refute.oracles.sqllogictest.expect import Labels, judge
from refute.oracles.sqllogictest.reader import ControlRecord, read
from refute.specs.sql import BASIC

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "minidb"
CORPUS = ROOT.parent / "shared" / "sqllogictest" / "public.tar.zst"
SUITE = sorted((EXAMPLE / "suite").glob("*.test"))
sys.path.insert(0, str(EXAMPLE))


def answers(engine: Session | SQLite, statements: list[str]) -> list[Any]:
    """The engine's answers to all statements."""
    found: list[Any] = []
    while len(found) < len(statements):
        found += engine.run(statements[len(found) :])
    return found


def failures(engine: Session | SQLite, path: Path) -> tuple[int, list[str]]:
    """How many records of a file ran, and those that did not pass."""
    labels: Labels = {}
    ran, failed = 0, []
    for record in read(path.read_bytes(), path.name):
        if isinstance(record, ControlRecord):
            continue
        excused = {("skipif", "sqlite"), ("skipif", "minidb")} & set(record.conditions)
        if excused or any(c[0] == "onlyif" and c[1] != "sqlite" for c in record.conditions):
            continue
        ran += 1
        [answer] = answers(engine, [record.sql])
        wrong = judge(record, answer, labels)
        if wrong is not None:
            failed.append(f"{path.name}:{record.line}: {wrong}")
    return ran, failed


def test_the_suite_is_all_there() -> None:
    assert [path.stem for path in SUITE] == ["changes", "queries", "values"]


@pytest.mark.parametrize("path", SUITE, ids=lambda path: path.stem)
def test_minidb_and_sqlite_pass_the_suite(path: Path) -> None:
    ran, failed = failures(Session("minidb:connect"), path)
    assert (failed, failures(SQLite(), path)) == ([], (ran, []))
    assert ran > 40


def generated() -> Iterator[Any]:
    """Small queries of every feature, then queries that mix them."""
    shape = Shape(frozenset(BASIC), 3, 8)
    yield from featured(7, shape, rounds=2)
    yield from islice(cases(7, shape), 300)


def test_minidb_answers_generated_queries_as_sqlite_does() -> None:
    compared = 0
    for case in generated():
        setup, query = case["setup"], case["query"]
        right = answers(SQLite(), [*setup, query])
        left = answers(Session("minidb:connect"), [*setup, query])
        assert [a[0] for a in left[:-1]] == [a[0] for a in right[:-1]], case
        if right[-1][0] == "rows":
            assert left[-1][0] == "rows", (case, left[-1])
            assert compare(setup, query, right[-1], left[-1]).status != "different", case
            compared += 1
    assert compared > 300


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first files of SQLite's own suite, unpacked."""
    if not CORPUS.exists():
        pytest.skip("needs ../shared/sqllogictest/public.tar.zst, SQLite's sqllogictest files")
    if shutil.which("zstd") is None:
        pytest.skip("needs zstd to unpack the sqllogictest files: apt install zstd")
    place = tmp_path_factory.mktemp("sqllogictest")
    names = [f"test/select{number}.test" for number in (1, 2)]
    subprocess.run(
        ["tar", "-I", "zstd -d --long=27", "-xf", str(CORPUS), "-C", str(place), *names], check=True
    )
    return place / "test"


@pytest.mark.parametrize(("number", "records"), [(1, 1031), (2, 1031)])
def test_minidb_passes_the_first_files_of_sqlites_own_suite(
    corpus: Path, number: int, records: int
) -> None:
    path = corpus / f"select{number}.test"
    assert failures(Session("minidb:connect"), path) == (records, [])
