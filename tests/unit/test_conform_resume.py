"""Results that are kept: what counts for a later run, what is run again, and that this is said."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from refute.cli.conform import run
from refute.errors import UsageError
from refute.verifiers.sql.conform_file import FileResult
from refute.verifiers.sql.conform_identity import own_code

CASES = Path(__file__).parents[1] / "cases" / "sqllogictest"
GOOD = "statement ok\nCREATE TABLE t(a)\n\nquery I\nSELECT {0}\n----\n{0}\n"
BAD = "query I\nSELECT 1\n----\n2\n"
VARIABLE = "query I\nSELECT $WANTED\n----\n7\n"
NAMES = ["bad.test", "one.test", "two.test"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("one.test").write_text(GOOD.format(1))
    Path("two.test").write_text(GOOD.format(2))
    Path("bad.test").write_text(BAD)
    return tmp_path


def document(*args: str) -> dict[str, Any]:
    """The JSON document of a run that keeps its results, without what differs each time."""
    code = run([*NAMES, "--resume", "kept.jsonl", *args, "--json", "out.json"])
    made: dict[str, Any] = json.loads(Path("out.json").read_text())
    assert made["exit_code"] == code
    made["wall_s"] = 0.0
    for file in made["files"]:
        file["wall_s"] = 0.0
    return made


def kept_of(made: dict[str, Any]) -> int:
    number: int = made["scope"]["kept_files"]
    return number


def lines() -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path("kept.jsonl").read_text().splitlines()]


def write_back(changed: list[dict[str, Any]], *, seal: bool) -> None:
    """The lines as somebody may edit them; sealed anew by somebody who knows how."""
    texts = []
    for line in changed:
        if seal:
            line.pop("seal")
            whole = json.dumps(line, sort_keys=True).encode()
            line["seal"] = hashlib.sha256(whole).hexdigest()
        texts.append(json.dumps(line))
    Path("kept.jsonl").write_text("\n".join(texts) + "\n")


def test_a_second_run_reports_the_same_and_runs_nothing(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first = document()
    assert (first["exit_code"], kept_of(first)) == (1, 0)
    capsys.readouterr()
    monkeypatch.setattr("refute.verifiers.sql.conform_run.run_task", None)  # nothing can run
    second = document()
    out = capsys.readouterr().out
    assert "bad.test:1: expected 1 value: 2, got 1 value: 1" in out
    assert "3 files not run again: the results are kept ones" in out
    assert "records/s" not in out  # of none there is no rate
    assert kept_of(second) == 3
    first["scope"] = second["scope"] = None
    assert first == second


def test_a_run_goes_on_where_another_ended(here: Path) -> None:
    assert run(["one.test", "--resume", "kept.jsonl"]) == 0
    made = document()
    assert (kept_of(made), made["records"]["run"], made["exit_code"]) == (1, 5, 1)
    assert kept_of(document()) == 3


def test_a_file_that_changed_is_run_again(here: Path) -> None:
    document()
    Path("one.test").write_text(BAD)
    made = document()
    assert kept_of(made) == 2
    assert made["records"]["failed"] == 2
    assert "1 file run again: kept results whose content changed" in made["scope"]["notes"]


@pytest.mark.parametrize("seal", [False, True])
def test_an_edit_does_not_make_a_changed_file_pass(here: Path, seal: bool) -> None:
    Path("bad.test").write_text(GOOD.format(3))
    document()
    Path("bad.test").write_text(BAD)
    edited = lines()
    for line in edited:
        line["result"]["run"] = 3  # an edit that is well-formed
    write_back(edited, seal=seal)
    made = document()
    assert made["exit_code"] == 1
    assert kept_of(made) == (2 if seal else 0)


def test_a_failure_that_is_edited_away_is_found_again(here: Path) -> None:
    document()
    edited = lines()
    for line in edited:
        line["result"]["failures"] = []
    write_back(edited, seal=False)
    made = document()
    assert (made["exit_code"], kept_of(made)) == (1, 2)  # those whose failures were none
    assert any("damaged or edited" in note for note in made["scope"]["notes"])


def test_a_sealed_line_must_have_the_form_of_a_result(here: Path) -> None:
    document()
    edited = lines()
    edited[0]["result"]["run"] = -1
    del edited[1]["result"]["skipped"]
    edited[2]["result"]["failures"] = "none"
    write_back(edited, seal=True)
    assert kept_of(document()) == 0


@pytest.mark.parametrize("cut", [1, 2, 40, 500])
def test_a_tail_that_is_cut_off_costs_one_file(here: Path, cut: int) -> None:
    document()
    whole = Path("kept.jsonl").read_bytes()
    Path("kept.jsonl").write_bytes(whole[:-cut])
    made = document()
    assert kept_of(made) == (3 if cut == 1 else 2)  # the line end alone is no loss
    assert any("kept.jsonl:3: cut off" in note for note in made["scope"]["notes"]) == (cut > 1)
    assert kept_of(document()) == 3


def test_other_options_and_engines_do_not_count(here: Path) -> None:
    document()
    made = document("--timeout", "31s")
    assert kept_of(made) == 0
    assert "3 files run again: kept results under other options" in made["scope"]["notes"]
    assert kept_of(document("--record", "SELECT", "--timeout", "31s")) == 0
    shutil.copy(CASES / "engines.py", here)
    sound = ["--engine", "engines:sound"]
    made = document(*sound)
    assert (
        "3 files run again: kept results of another engine or version of it"
        in made["scope"]["notes"]
    )
    assert kept_of(document(*sound)) == 3
    with Path("engines.py").open("a") as file:
        file.write("# the same engine in other words\n")
    assert kept_of(document(*sound)) == 0


def test_other_code_of_refute_does_not_count(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document()
    monkeypatch.setattr("refute.verifiers.sql.conform_resume.own_code", lambda: "0.0.1+1")
    made = document()
    assert kept_of(made) == 0
    assert any("another version of refute" in note for note in made["scope"]["notes"])


def test_what_a_file_reads_counts_too(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("two.test").write_text("include more.slt\n\ncontrol substitution on\n\n" + VARIABLE)
    Path("more.slt").write_text("query I\nSELECT 5\n----\n5\n")
    monkeypatch.setenv("WANTED", "7")
    made = document()
    assert (kept_of(made), made["records"]["run"]) == (0, 5)
    assert kept_of(document()) == 3
    Path("more.slt").write_text("query I\nSELECT 5\n----\n6\n")
    made = document()
    assert (kept_of(made), made["records"]["failed"]) == (2, 2)
    monkeypatch.setenv("WANTED", "8")
    made = document()
    assert (kept_of(made), made["records"]["failed"]) == (2, 3)
    Path("more.slt").unlink()
    assert document()["exit_code"] == 2


def test_what_a_command_finds_may_be_anything(here: Path) -> None:
    Path("two.test").write_text(f"system ok\necho 1\n----\n1\n\n{BAD}")
    assert [kept_of(document("--allow-system")) for _ in range(2)] == [0, 2]


def test_only_what_was_run_to_its_end_is_kept(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("two.test").write_text("statement perhaps\nSELECT 1\n")
    assert document()["exit_code"] == 2
    assert [line["path"] for line in lines()] == ["bad.test", "one.test"]
    Path("kept.jsonl").unlink()

    def cut(_run: object, path: str, _data: bytes, _confirm: int) -> FileResult:
        return FileResult(path, run=1, lost="the engine is gone" if path[0] == "o" else "")

    monkeypatch.setattr("refute.verifiers.sql.conform_task.run_file", cut)
    document()
    assert [line["path"] for line in lines()] == ["bad.test", "two.test"]


def test_what_holds_other_things_is_left_alone(here: Path) -> None:
    for text in ("notes", "notes\nof mine\n", '{"schema": "refute.conform/1"}\n'):
        Path("kept.jsonl").write_text(text)
        with pytest.raises(UsageError, match="something else"):
            document()
        assert Path("kept.jsonl").read_text() == text
    with pytest.raises(UsageError, match="No such file"):
        run(["one.test", "--resume", "no/such/place"])
    with pytest.raises(UsageError, match="would overwrite"):
        run(["one.test", "--resume", "out.json", "--json", "out.json"])


def test_a_place_that_is_full_costs_nothing_but_itself(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*NAMES, "--resume", "/dev/full"]) == 1
    out = capsys.readouterr().out
    assert "5 records run, 0 skipped, 1 failed" in out
    assert "--resume: not all results could be kept: No space left on device" in out


def test_a_directory_is_shared_by_shards(here: Path) -> None:
    totals = 0
    for shard in ("1/2", "2/2"):
        run([*NAMES, "--resume", "kept/", "--shard", shard, "--json", "out.json"])
        totals += json.loads(Path("out.json").read_text())["records"]["run"]
    assert sorted(p.name for p in Path("kept").iterdir()) == [
        "shard-1-of-2.jsonl",
        "shard-2-of-2.jsonl",
    ]
    assert run([*NAMES, "--resume", "kept", "--json", "out.json"]) == 1
    whole = json.loads(Path("out.json").read_text())
    assert (kept_of(whole), whole["records"]["run"]) == (3, totals)


def test_kill_9_loses_only_the_files_in_work(here: Path) -> None:
    forever = "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT max(x) FROM r"
    Path("zz.test").write_text(f"query I\n{forever}\n----\n1\n")
    own_code()  # known before the fork: both processes are of the same refute
    args = [*NAMES, "zz.test", "--jobs", "1", "--timeout", "60s", "--resume", "kept.jsonl"]
    process = multiprocessing.get_context("fork").Process(target=run, args=(args,))
    process.start()
    other = None
    for _ in range(600):
        if Path("kept.jsonl").exists() and Path("kept.jsonl").read_bytes().count(b"\n") == 3:
            with pytest.raises(UsageError, match="another run is writing") as other:
                document()
            break
        time.sleep(0.05)
    process.kill()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert other is not None
    assert kept_of(document("--timeout", "60s")) == 3
