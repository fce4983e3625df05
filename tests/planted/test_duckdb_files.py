"""Files of DuckDB's dialect with wrong results planted in each construct: none may pass."""

from __future__ import annotations

import dataclasses
import gzip
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("duckdb", reason="DuckDB runs here: pip install duckdb")

from refute.verifiers.sql.conform_chosen import Chosen
from refute.verifiers.sql.conform_file import FileResult, Run, run_file
from refute.verifiers.sql.conform_run import Choice

CASES = Path(__file__).parents[1] / "cases" / "sqllogictest"
RIGHT = (CASES / "duckdb.test").read_text(encoding="utf-8")
PLANTED = (CASES / "duckdb_planted.test").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    engine = Choice("duckdb", "duckdb", 30.0).open()
    yield Run(engine, "duckdb", dialect="duckdb")
    engine.close()


def result(run: Run, text: str, confirm: int = 0, path: str = "f.test") -> FileResult:
    return run_file(run, path, text.encode(), confirm)


def test_a_file_with_every_construct_passes(run: Run) -> None:
    found = result(run, RIGHT)
    assert [(f.line, f.expected, f.got) for f in found.failures] == []
    assert (found.error, found.lost) == ("", "")
    assert (found.run, found.skipped) == (72, 12)
    assert found.unmet == "require httpfs: the engine cannot load it (1 record)"


def test_every_planted_defect_fails_and_nothing_else(run: Run) -> None:
    wanted = [n for n, line in enumerate(PLANTED.split("\n"), 1) if line == "# wrong:"]
    found = result(run, PLANTED, confirm=20)
    failed = {failure.line for failure in found.failures}
    by_plant = [next((n + k for k in (1, 2, 3) if n + k in failed), 0) for n in wanted]
    assert 0 not in by_plant, [n for n, at in zip(wanted, by_plant, strict=True) if not at]
    assert failed == set(by_plant)
    assert all(f.confirmed for f in found.failures[:20])
    assert found.error == ""


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("require httpfs", "require httpfs: the engine cannot load it"),
        ("require vector_size 4096", "require vector_size 4096: it is 2048"),
        ("require windows", "require windows: this machine is not windows"),
        ("require-env REFUTE_NEVER_SET", "require-env REFUTE_NEVER_SET: it is not set"),
    ],
)
def test_what_is_not_there_leaves_the_rest_out_and_passes_nothing(
    run: Run, text: str, why: str
) -> None:
    body = f"{text}\n\nloop i 0 3\n\nquery I\nSELECT 1\n----\n2\n\nendloop\n"
    found = result(run, body)
    assert (found.run, found.skipped, found.failures) == (0, 3, [])
    assert found.unmet == f"{why} (3 records)"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("foreach x <variable:nothing>\n\nquery I\nSELECT 1\n----\n1\n\nendloop\n", "no list"),
        ("reset label x\n", "no result of label x"),
        ("require a-b\n", "require takes a name"),
        ("require vector_size many\n", "takes a number"),
        ("query I\nSELECT 'a'\n----\n<REGEX>:(\n", "regular expression"),
        ("query I\nSELECT 'a'\n----\n<FILE>:nowhere.csv\n", "nowhere.csv cannot be read"),
        ("statement ok\nSELECT '{BUILD_DIRECTORY}'\n", "DuckDB's build is not here"),
        ("unzip x.gz\n", "x.gz cannot be unpacked"),
        (
            "concurrentloop i 0 2\n\nstatement ok con1\nSELECT 1\n\nendloop\n",
            "a named connection in a concurrent loop",
        ),
    ],
)
def test_what_cannot_be_done_is_an_error_with_its_place(run: Run, text: str, problem: str) -> None:
    found = result(run, text)
    assert problem in found.error
    assert re.match(r"f\.test:\d+: |\{", found.error)


def test_files_that_the_sql_names_are_there_and_no_tests(run: Run, tmp_path: Path) -> None:
    data = tmp_path / "data" / "csv"
    data.mkdir(parents=True)
    (data / "one.csv").write_text("a\n1\n", encoding="utf-8")
    (data / "two.csv").write_text("a\n2\n", encoding="utf-8")
    (data / "answers.csv").write_text("a|b\n1|\n", encoding="utf-8")
    (tmp_path / "data" / "zipped.csv.gz").write_bytes(gzip.compress(b"a\n3\n"))
    path = tmp_path / "test" / "f.test"
    path.parent.mkdir()
    text = (
        "# name: test/f.test\n# group: [test]\n\n"
        "query I\nSELECT * FROM read_csv('data/csv/one.csv')\n----\n1\n\n"
        "foreach n one two\n\nquery I\n"
        "SELECT count(*) FROM read_csv('{DATA_DIR}/csv/{n}.csv')\n----\n1\n\nendloop\n\n"
        "unzip data/zipped.csv.gz\n\n"
        "query I\nSELECT * FROM read_csv('{TEST_DIR}/zipped.csv')\n----\n3\n\n"
        "query II\nSELECT 1, NULL\n----\n<FILE>:data/csv/answers.csv\n\n"
        "query II\nSELECT 1, 2\n----\n<FILE>:data/csv/answers.csv\n\n"
        "statement ok\nATTACH 'here.db'\n\n"
        "query I\nSELECT count(*) FROM glob('test/*')\n----\n0\n\n"
        "query I\nSELECT count(*) FROM read_text('test/f.test')\n----\n0\n"
    )
    path.write_text(text, encoding="utf-8")
    found = result(run, text, path=str(path))
    assert [(f.expected, f.got) for f in found.failures] == [
        ("2 values: … NULL", "2 values: … 2"),
    ]
    assert (found.run, found.error) == (9, "")


def test_a_database_that_cannot_be_opened_fails_at_its_line(run: Run) -> None:
    text = "load __TEST_DIR__/none.db readonly\n\nstatement ok\nSELECT 1\n"
    found = result(run, text, confirm=1)
    assert [(f.line, f.confirmed) for f in found.failures] == [(1, True)]
    assert (found.run, found.not_run) == (0, 1)


def test_rounds_at_once_are_narrowed_and_stopped_like_any_records(run: Run) -> None:
    text = (
        "statement ok\nCREATE TABLE t AS SELECT 7 AS a\n\nconcurrentloop i 0 3\n\n"
        "query I\nSELECT {i} + 0 * a FROM t\n----\n{i}\n\nquery I\nSELECT {i}\n----\n1\n\nendloop\n"
    )
    found = result(run, text)
    assert (found.run, found.unchosen) == (7, 0)
    assert [(f.line, f.round, f.sql) for f in found.failures] == [
        (11, "i=0", "SELECT 0"),
        (11, "i=2", "SELECT 2"),
    ]
    one = result(dataclasses.replace(run, chosen=Chosen(lines=((6, 6),))), text)
    assert (one.run, one.setup, one.unchosen, one.failures) == (3, 1, 4, [])
    first = result(dataclasses.replace(run, most=1), text)
    assert (first.run, first.stopped, len(first.failures)) == (3, True, 1)


def test_files_are_chosen_by_tag(run: Run) -> None:
    text = "tags big slow\n\nquery I\nSELECT 1\n----\n1\n"
    chosen = [Chosen(tags=("big",)), Chosen(no_tags=("slow",)), Chosen(tags=("other",))]
    runs = [result(dataclasses.replace(run, chosen=tags), text).run for tags in chosen]
    assert runs == [1, 0, 0]


def test_another_engine_takes_such_a_file_as_far_as_it_can() -> None:
    engine = Choice("sqlite", "sqlite", 30.0).open()
    run = Run(engine, "sqlite", dialect="duckdb")
    text = (
        "skipif duckdb\nquery IRT\nSELECT 1, 0.5, 'x'\n----\n1\t0.5\tx\n\n"
        "concurrentloop i 0 3\n\nquery I\nSELECT {i}\n----\n{i}\n\nendloop\n\n"
        "query I\nSELECT 2\n----\n3\n"
    )
    found = result(run, text)
    assert (found.run, [failure.line for failure in found.failures]) == (5, [16])
    engine.close()
