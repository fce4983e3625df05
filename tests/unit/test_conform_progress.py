"""Progress of a run, told by bytes and records; the end after enough failures."""

from __future__ import annotations

import io
import json
import runpy
from pathlib import Path
from typing import Any

import pytest

from refute.cli.conform import run
from refute.cli.conform_progress import Progress, bytes_a_record
from refute.verifiers.sql.conform_file import Failure, FileResult

ROOT = Path(__file__).parents[2]
BAD = "query I\nSELECT 1\n----\n2\n\n"
GOOD = "query I\nSELECT 1\n----\n1\n\n"


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def result(path: str, run: int, failed: int = 0) -> FileResult:
    return FileResult(path, run=run, failures=[Failure(1, "", "", "")] * failed)


def test_time_left_is_by_bytes() -> None:
    clock, stream = Clock(), Terminal()
    progress = Progress(stream, {"a": 600, "b": 200, "c": 400}, clock=clock)
    progress.ended(result("a", 50))  # a result that was kept says nothing about the speed
    clock.now += 10.0
    progress.ran(100)
    assert "1/3 files, 100 records, 10/s" in stream.getvalue()
    assert "left" not in stream.getvalue()
    progress.ended(result("b", 100, failed=2))
    clock.now += 5.0
    progress.ran(50)  # half of what is left of c, as b's 200 bytes had 100 records
    assert "2/3 files, 150 records, 10/s, 2 failed, about 15 s left" in stream.getvalue()
    progress.clear()
    assert stream.getvalue().endswith("\r\x1b[2K")


def test_time_left_in_a_single_file_is_by_what_its_records_may_have(tmp_path: Path) -> None:
    path = tmp_path / "a.test"
    path.write_text(GOOD * 100)
    sizes = {str(path): 100 * len(GOOD), "gone.test": 5}
    assert bytes_a_record(sizes) == len(GOOD)
    assert (bytes_a_record({"gone.test": 5}), bytes_a_record({})) == (0.0, 0.0)
    windows = tmp_path / "windows.test"
    windows.write_bytes(GOOD.replace("\n", "\r\n").encode() * 100)
    assert bytes_a_record({str(windows): 1}) == len(GOOD) + GOOD.count("\n")
    clock, stream = Clock(), Terminal()
    progress = Progress(stream, {"a": 100 * len(GOOD)}, a_record=len(GOOD), clock=clock)
    clock.now += 10.0
    progress.ran(25)
    assert "0/1 files, 25 records, 2/s, about 30 s left" in stream.getvalue()


@pytest.mark.parametrize(("often", "lines"), [(False, 3), (True, 20)])
def test_a_line_now_and_then_where_there_is_no_terminal(often: bool, lines: int) -> None:
    clock, stream = Clock(), io.StringIO()
    progress = Progress(stream, {"a": 1}, often=often, clock=clock)
    for _ in range(100):
        clock.now += 1.0
        progress.ran(1)
    progress.clear()
    told = stream.getvalue().splitlines()
    assert len(told) == lines
    assert all("\r" not in line and line.startswith("0/1 files, ") for line in told)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("refute.verifiers.sql.conform_run.SHARE", 1)
    for name, text in (("a", GOOD), ("b", BAD * 3), ("c", BAD), ("d", GOOD)):
        Path(f"{name}.test").write_text(text)
    return tmp_path


def document(*args: str) -> dict[str, Any]:
    code = run(["a.test", "b.test", "c.test", "d.test", *args, "--json", "out.json"])
    made: dict[str, Any] = json.loads(Path("out.json").read_text())
    assert made["exit_code"] == code
    return made


@pytest.mark.parametrize(("option", "failed"), [(["--fail-fast"], 3), (["--max-failures", "4"], 4)])
def test_enough_failures_end_the_run(here: Path, option: list[str], failed: int) -> None:
    made = document(*option, "--jobs", "1")
    assert (made["exit_code"], made["records"]["failed"]) == (1, failed)
    assert made["scope"]["stopped"] == f"stopped after {failed} failed records"
    paths = [file["path"] for file in made["files"]]
    assert paths == ["a.test", "b.test", "c.test"][: 2 if failed == 3 else 3]
    assert f"stopped after {failed} failed records, in {len(paths)} of 4 files" in made["reasons"]
    assert made["interrupted"] is False
    assert all(failure["confirmed"] for file in made["files"] for failure in file["failures"])


def test_a_long_file_ends_with_its_chunk(here: Path) -> None:
    Path("b.test").write_text(BAD + GOOD * 1000)
    made = document("--fail-fast", "--jobs", "1")
    long = made["files"][1]
    assert long["stopped"] is True
    assert long["run"] + long["not_run"] == 1001
    assert long["not_run"] > 800
    assert f"{long['not_run']} records not run" in made["reasons"]


def test_processes_stop_as_well(here: Path) -> None:
    made = document("--fail-fast", "--jobs", "2")
    assert (made["exit_code"], bool(made["scope"]["stopped"])) == (1, True)


def file_of(path: str, run: int, **others: Any) -> dict[str, Any]:
    base = {"path": f"/corpus/{path}", "run": run, "skipped": 0, "failures": [], "error": ""}
    return {**base, "lost": "", "by_release": [], **others}


def test_counts_that_differ_from_the_c_runners_are_told() -> None:
    compare = runpy.run_path(str(ROOT / "benchmarks" / "conformance.py"))["compare"]
    known = {
        "test/a.test": {"run": 5, "skipped": 0, "errors": 0},
        "test/b.test": {"run": 5, "skipped": 0, "errors": 2},
        "test/c.test": {"run": 5, "skipped": 1, "errors": 0},
    }
    files = [
        file_of("test/a.test", 5),
        file_of("test/b.test", 5, by_release=[7, 9]),
        file_of("test/new.test", 1),
    ]
    differences, notes = compare(files, Path("/corpus"), known)
    assert differences == []
    assert [note.split(":")[0] for note in notes] == [
        "test/b.test",
        "test/new.test",
        "not run, and in the counts",
    ]
    wrong = [
        file_of("test/a.test", 4),
        file_of("test/b.test", 5),
        file_of("test/c.test", 5, lost="gone"),
    ]
    differences, _ = compare(wrong, Path("/corpus"), known)
    assert [line.split(":")[0] for line in differences] == list(known)
    assert differences[2].endswith("gone")
