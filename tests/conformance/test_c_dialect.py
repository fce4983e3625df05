"""`--dialect c` gives the C runner's verdict on files with its traps, as it gave it.

`c_runner.json` holds, for each file, the errors that SQLite's C program printed with their lines,
and its counts of errors, records run and records skipped (linked to SQLite 3.40.1).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from refute.cli.conform import run
from refute.errors import UsageError
from refute.oracles.sql.capi import Unreachable, function
from refute.oracles.sql.sqlite_c import CSQLite
from refute.oracles.sqllogictest.c_runner import Complaint, CRunner
from refute.verifiers.sql.conform_c import run_c
from refute.verifiers.sql.conform_file import Embedded, Run, run_file

try:
    function("libversion")
except Unreachable as error:
    pytest.skip(f"{error}: needs a Python whose sqlite3 is a library", allow_module_level=True)

CASES = Path(__file__).parents[1] / "cases" / "sqllogictest"
KNOWN: dict[str, Any] = json.loads((CASES / "c_runner.json").read_text(encoding="utf-8"))
RUN = Run(Embedded(30.0), "sqlite", dialect="c")


def said(complaint: Complaint) -> str:
    """As the cases have it: without names and what follows."""
    words = complaint.message.split()
    first = {"labeled": 1, "disconnection": 1, "wrong": 3}.get(words[0], 2)
    return f"{complaint.line}:{' '.join(words[:first])}"


@pytest.mark.parametrize("name", KNOWN)
def test_the_verdict_is_the_c_runners(name: str) -> None:
    text, errors, counts = KNOWN[name]
    runner = CRunner(text.encode("latin-1"), CSQLite(30.0))
    while runner.step():
        pass
    assert [said(complaint) for complaint in runner.complaints] == errors
    assert [len(runner.complaints), runner.run, runner.skipped] == counts


def test_a_result_has_the_c_runners_last_line_and_its_errors_twice() -> None:
    data = b"query I\nSELECT 1\n----\n2\n\nskipif sqlite\nstatement ok\nX\n"
    result = run_file(RUN, "a.test", data, confirm=5)
    assert result.says == "1 errors out of 1 tests in a.test - 1 skipped."
    [failure] = result.failures
    assert (failure.line, failure.kind, failure.confirmed) == (4, "values", True)
    assert (failure.expected, failure.got, failure.sql) == ("2", "wrong result: 1", "SELECT 1")


def test_a_statement_that_takes_too_long_is_ended_and_told() -> None:
    endless = "WITH RECURSIVE t(x) AS (VALUES(1) UNION ALL SELECT x + 1 FROM t) SELECT x FROM t"
    runner = CRunner(f"statement ok\n{endless}\n".encode(), CSQLite(0.05))
    while runner.step():
        pass
    assert [(c.message, c.kind) for c in runner.complaints] == [("statement error", "hang")]


def test_files_of_others_are_out_of_reach(tmp_path: Path) -> None:
    for sql in (f"ATTACH '{tmp_path}/x.db' AS x", f"VACUUM INTO '{tmp_path}/x.db'"):
        runner = CRunner(f"statement error\n{sql}\n".encode(), CSQLite(30.0))
        while runner.step():
            pass
        assert not runner.complaints
    assert not list(tmp_path.iterdir())


def test_a_run_that_is_stopped_leaves_no_verdict() -> None:
    stopped = Run(Embedded(30.0), "sqlite", lambda: True, dialect="c")
    result = run_c(stopped, "a.test", b"statement ok\nSELECT 1\n\n" * 200, confirm=0)
    assert (result.cut, result.says, result.run) == (True, "", 64)


@pytest.mark.parametrize(
    "options", [["--engine", "duckdb"], ["--as", "mysql"], ["--update"], ["--record", "1"]]
)
def test_what_the_c_runner_does_not_know_is_refused(options: list[str], tmp_path: Path) -> None:
    file = tmp_path / "a.test"
    file.write_text("statement ok\nSELECT 1\n")
    with pytest.raises(UsageError):
        run([str(file), "--dialect", "c", *options])
