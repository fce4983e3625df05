"""Sound engines pass, whatever their rows and connections look like; nothing else is accused."""

from __future__ import annotations

from pathlib import Path

import pytest

from refute import EXHAUSTED
from refute.budget import Budget
from refute.check import check
from refute.claim import Verdict, claim
from refute.evidence import Evidence
from refute.site import Site
from refute.specs.conformance import Conforms
from refute.verifiers.sql.conform_file import Embedded, FileResult, Run, run_file

TREE = Path(__file__).parents[1] / "cases" / "sqllogictest"
SITE = Site(TREE, TREE, (".",))


def judged(files: list[str], name: str = "sqlite") -> Evidence:
    made = claim("it", Conforms("engines:sound", files, name=name), covers=["*"])
    [evidence] = check(made, Budget(), SITE)
    return evidence


def test_a_sound_engine_is_exhausted_over_the_records() -> None:
    evidence = judged(["basics.test", "crlf.test"])
    need = EXHAUSTED(files=["basics.test", "crlf.test"], records=17)
    assert (evidence.verdict, evidence.unmet(need)) == (Verdict.EXHAUSTED, "")
    assert (evidence.tried, evidence.statistics["skipped"]) == (17, 2)
    assert evidence.statistics["without expectation"] == 1


def test_nothing_run_is_unknown() -> None:
    assert judged(["no/such/*.test"]).verdict is Verdict.UNKNOWN
    (skipped,) = [judged(["engines.txt"])]
    assert "match nothing" in skipped.reason


def run(text: str, name: str = "sqlite") -> FileResult:
    return run_file(Run(Embedded(5.0), name), "f.test", text.encode(), confirm=10)


def test_a_query_that_fails_where_sqlite_does_may_be_expected_to_return_nothing() -> None:
    table = "statement ok\nCREATE TABLE t(x INTEGER)\n\nstatement ok\n"
    filled = f"{table}INSERT INTO t VALUES(9223372036854775807),(1)\n\n"
    overflow = "query I nosort\nSELECT sum(x) FROM t\n----\n"
    assert run(filled + overflow).failures == []
    assert len(run(filled + overflow + "1\n").failures) == 1
    assert len(run(filled + overflow.replace("sum(x)", "y")).failures) == 1
    assert len(run(table + "SELECT 1\n\n" + overflow).failures) == 1


@pytest.mark.parametrize(
    ("text", "run_records", "skipped"),
    [
        ("", 0, 0),
        ("halt\n\nstatement ok\nNOT SQL\n", 0, 0),
        ("onlyif other\nhalt\n\nstatement ok\nSELECT 1\n", 1, 1),
        ("onlyif SQLite\nstatement ok\nSELECT 1\n", 1, 0),
        ("skipif sqlite\nquery I\nNOT SQL\n----\n1\n\nhash-threshold 3\n", 0, 1),
        ("skipif other\nonlyif sqlite\nskipif third\nstatement ok\nSELECT 1\n", 1, 0),
        ("skipif other\nskipif sqlite\nonlyif sqlite\nstatement ok\nSELECT 1\n", 0, 1),
    ],
)
def test_records_are_counted_as_the_c_runner_counts_them(
    text: str, run_records: int, skipped: int
) -> None:
    result = run(text)
    assert (result.run, result.skipped, result.failures) == (run_records, skipped, [])


def test_several_statements_in_one_record_are_run_one_by_one() -> None:
    text = "statement ok\nCREATE TABLE t(a); INSERT INTO t VALUES(';');\n\n"
    assert run(text + "query T\nSELECT a FROM t\n----\n;\n").failures == []
    assert len(run("statement ok\nSELECT 1; SELECT no;\n").failures) == 1
