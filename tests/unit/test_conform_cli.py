"""`refute conform`: exit codes, what is printed, and which files are run."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from refute.cli.conform import run
from refute.cli.conform_files import collect
from refute.errors import UsageError

CASES = Path(__file__).parents[1] / "cases" / "sqllogictest"
REFUTE = Path(sys.executable).with_name("refute")

GOOD = "query I\nSELECT 1\n----\n1\n"
BAD = (
    "statement ok\nSELECT 1\n\nquery II rowsort\nSELECT 2, 3 UNION SELECT 1, 2\n----\n1\n2\n2\n4\n"
)
FOREVER = "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT max(x) FROM r"
CUT = "query I\nSELECT 1\n----\n1\n\nstatement perhaps\nSELECT 1\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with files of all kinds, where the command is run."""
    monkeypatch.chdir(tmp_path)
    for name, text in (("good", GOOD), ("bad", BAD), ("cut", CUT), ("empty", "# nothing\n")):
        (tmp_path / f"{name}.test").write_text(text)
    shutil.copy(CASES / "engines.py", tmp_path)
    return tmp_path


def document(*args: str) -> dict[str, Any]:
    """The JSON document of a run, which also has the exit code."""
    code = run([*args, "--json", "out.json"])
    made: dict[str, Any] = json.loads(Path("out.json").read_text())
    assert made["exit_code"] == code
    return made


@pytest.mark.parametrize(
    ("files", "code", "decision"),
    [
        (["good.test"], 0, "established"),
        (["bad.test"], 1, "refuted"),
        (["good.test", "bad.test"], 1, "refuted"),
        (["empty.test"], 3, "not established"),
        (["empty.test", "good.test"], 0, "established"),
        (["cut.test"], 2, "unreadable"),
        (["cut.test", "bad.test", "good.test"], 2, "unreadable"),
    ],
)
def test_exit_codes(here: Path, files: list[str], code: int, decision: str) -> None:
    made = document(*files)
    assert (made["exit_code"], made["decision"]) == (code, decision)
    assert [file["path"] for file in made["files"]] == files


def test_a_failure_is_one_line(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bad.test"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "bad.test:4: expected 4 values: … 4, got 4 values: … 3"
    assert "REFUTED" in lines


def test_a_file_that_cannot_be_read_does_not_cost_the_others(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = document("cut.test", "bad.test", "good.test")
    out = capsys.readouterr().out
    assert "error: cut.test:6: statement perhaps (possible: ok, error)" in out
    assert "bad.test:4: expected" in out
    assert [file["run"] for file in made["files"]] == [0, 2, 1]
    assert made["files"][1]["failures"][0]["confirmed"] is True


def test_a_last_record_that_may_be_cut_off_accuses_nobody(here: Path) -> None:
    Path("end.test").write_text(f"{GOOD}\nstatement ok\nINSERT IN")
    made = document("end.test")
    assert (made["exit_code"], made["records"]["failed"]) == (2, 0)
    assert "end.test:6: the file seems to be cut off" in made["files"][0]["error"]
    Path("end.test").write_text("query I\nSELECT 12\n----\n1")
    assert document("end.test")["exit_code"] == 2
    Path("end.test").write_text("query I\nSELECT 12\n----\n2")
    assert document("end.test")["exit_code"] == 1
    Path("end.test").write_text(f"statement ok\nINSERT IN\n\n{GOOD.rstrip()}")
    assert document("end.test")["exit_code"] == 1


def test_many_failures_are_counted_in_text_and_whole_in_json(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("many.test").write_text("query I\nSELECT 1\n----\n2\n\n" * 30)
    made = document("many.test", "--show", "3", "--no-reduce")
    assert len(made["files"][0]["failures"]) == 30
    out = capsys.readouterr().out
    assert out.count("many.test:") == 4
    assert "many.test: … and 27 more failed records" in out


def test_engines_in_workers(here: Path) -> None:
    assert document("bad.test", "good.test", "--engine", "engines:sound")["exit_code"] == 1
    assert document("good.test", "--engine", "engines:sound")["exit_code"] == 0
    assert document("good.test", "--engine", "engines:broken")["exit_code"] == 3


def test_an_engine_that_answers_otherwise_the_second_time(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(CASES / "basics.test", here)
    made = document("basics.test", "--engine", "engines:unsteady", "--as", "sqlite")
    assert made["exit_code"] == 3
    assert made["files"][0]["failures"][0]["confirmed"] is False
    assert "passed when it was run again" in capsys.readouterr().out


@pytest.mark.parametrize("engine", ["engines:nothing", "nowhere:connect"])
def test_an_engine_that_is_not_there(here: Path, engine: str) -> None:
    with pytest.raises(UsageError, match="cannot be loaded"):
        run(["good.test", "--engine", engine])


@pytest.mark.parametrize(
    "args",
    [
        [],
        ["missing.test"],
        ["good.test", "--engine", "not an engine"],
        ["good.test", "--jobs", "-1"],
        ["good.test", "--timeout", "soon"],
        ["good.test", "--json", "no/such/place.json"],
        ["good.test", "--json", "-", "--junit", "-"],
        ["good.test", "--json", "./good.test"],
        ["good.test", "--json", "out", "--junit", "./out"],
        ["good.test", "--reduce", "soon"],
        ["good.test", "--save-reduced", "bad.test"],
        ["good.test", "--save-reduced", "bad.test/in/it"],
        ["good.test", "--write-known", "no/such/place.toml"],
        ["good.test", "--write-known", "."],
    ],
)
def test_wrong_usage(here: Path, args: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError) as caught:
        run(args)
    assert caught.value.exit_code == 2
    assert Path("good.test").read_text() == GOOD
    assert "records" not in capsys.readouterr().out  # nothing was run


@pytest.mark.parametrize("option", ["--write-known", "--save-reduced"])
def test_what_is_known_is_said_where_something_beside_it_cannot_be_written(
    option: str, here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("refute.cli.conform.check_made", lambda *_, **__: None)  # it filled up
    with pytest.raises(UsageError):
        run(["bad.test", option, "good.test/in/it", "--json", "out.json"])
    assert "2 records run, 0 skipped, 1 failed" in capsys.readouterr().out
    assert json.loads(Path("out.json").read_text())["exit_code"] == 1


def test_what_is_known_is_said_where_a_document_cannot_be_written(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UsageError, match="No space left"):
        run(["bad.test", "--json", "/dev/full"])
    out = capsys.readouterr().out
    assert "2 records run, 0 skipped, 1 failed" in out
    assert "REFUTED" in out


def test_files_are_found_once_whatever_the_links(here: Path) -> None:
    inner = here / "suite" / "inner"
    inner.mkdir(parents=True)
    (inner / "b.slt").write_text(GOOD)
    (inner / "notes.txt").write_text("no test")
    (here / "suite" / "a.test").write_text(GOOD)
    (inner / "loop").symlink_to(here / "suite")
    (here / "suite" / "again.test").symlink_to(inner / "b.slt")
    found = collect(["suite", "suite/a.test", "./suite"])
    assert found == ["suite/a.test", "suite/again.test"]
    (here / "nothing").mkdir()
    with pytest.raises(UsageError, match="holds no"):
        collect(["nothing"])


def test_links_in_a_circle_cost_no_other_file(here: Path) -> None:
    (here / "circle.test").symlink_to("circle.test")
    made = document(".")
    assert made["exit_code"] == 2 and made["records"]["run"] == 3
    assert any("circle.test: cannot be read" in reason for reason in made["reasons"])


def test_what_is_no_regular_file_is_an_error(here: Path) -> None:
    os.mkfifo("pipe.test")
    Path("gone.test").symlink_to("nowhere")
    made = document("pipe.test", "gone.test", "good.test")
    assert made["exit_code"] == 2
    assert [bool(file["error"]) for file in made["files"]] == [True, True, False]


def test_processes_find_what_one_finds(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("refute.verifiers.sql.conform_run.SHARE", 1)
    names = ["bad.test", "cut.test", "good.test", "empty.test"]
    made = [document(*names, "--jobs", jobs)["files"] for jobs in ("1", "2")]
    for file in [*made[0], *made[1]]:
        file["wall_s"] = 0.0
    assert made[0] == made[1]


def test_junit_counts_failures_and_errors(here: Path) -> None:
    run(["good.test", "bad.test", "cut.test", "empty.test", "--junit", "out.xml"])
    top = ElementTree.parse("out.xml").getroot()
    suites = {suite.get("name"): suite for suite in top}
    counts = {name: (s.get("failures"), s.get("errors")) for name, s in suites.items()}
    assert counts == {
        "good.test": ("0", "0"),
        "bad.test": ("1", "0"),
        "cut.test": ("0", "1"),
        "empty.test": ("0", "0"),  # as the exit code has it: empty beside others is no error
    }
    assert (top.get("failures"), top.get("errors")) == ("1", "1")


def test_standard_input(here: Path) -> None:
    done = subprocess.run(
        [REFUTE, "conform", "-", "--json", "-"], input=BAD, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert json.loads(done.stdout)["files"][0]["path"] == "<stdin>"
    assert "<stdin>:4: expected" in done.stderr


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_interrupted_run_says_what_it_knew(here: Path, jobs: str) -> None:
    shutil.copy(CASES / "basics.test", here / "slow.test")
    padding = "# so large that it is worth a process\n" * 100_000
    (here / "slow.test").write_text((here / "slow.test").read_text() + padding)
    engine = ["--engine", "engines:hanging", "--as", "sqlite", "--timeout", "60s"]
    command = [REFUTE, "conform", "bad.test", "slow.test", *engine, "--jobs", jobs]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout is not None
    first = process.stdout.readline()
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=60)
    assert "bad.test:4: expected" in first
    assert "interrupted" in rest
    assert process.returncode == 1  # what was refuted stays refuted


def test_ctrl_c_ends_a_query_of_the_embedded_sqlite(here: Path) -> None:
    (here / "long.test").write_text(f"query I\n{FOREVER}\n----\n1\n")
    command = [REFUTE, "conform", "bad.test", "long.test", "--jobs", "1", "--timeout", "60s"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert "bad.test:4: expected" in process.stdout.readline()
    time.sleep(0.5)  # for the next file to begin; an earlier signal is well, too
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=30)
    assert "interrupted" in rest
    assert "expected 1 value: 1" not in rest


def test_a_query_that_takes_too_long_fails(here: Path) -> None:
    (here / "long.test").write_text(f"statement error\n{FOREVER}\n")
    made = document("long.test", "--timeout", "50ms")
    assert made["exit_code"] == 1
    assert "did not finish" in made["files"][0]["failures"][0]["got"]
