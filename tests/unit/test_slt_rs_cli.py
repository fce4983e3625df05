"""`refute conform` on extended files: options, exit codes, and where failures are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from refute.cli.conform import run

PLAIN = "query I\nSELECT 1\n----\n1\n"
RS = "control sortmode rowsort\n\nquery II\nSELECT 1, 2\n----\n1 2\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory where the command is run."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def document(text: str, *args: str) -> dict[str, Any]:
    """The JSON document of a run of one file."""
    Path("a.slt").write_text(text)
    code = run(["a.slt", *args, "--json", "out.json"])
    made: dict[str, Any] = json.loads(Path("out.json").read_text())
    assert made["exit_code"] == code
    return made


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("text", "args", "code"),
    [
        (PLAIN, [], 0),
        (PLAIN, ["--dialect", "rs"], 0),
        (RS, [], 0),
        (RS, ["--dialect", "rs"], 0),
        (RS, ["--dialect", "sqlite"], 2),
        (RS.replace("1 2", "1 3"), [], 1),
        ("query T\nSELECT 1\n----\n1\n", ["--dialect", "rs", "--strict-types"], 1),
        ("query I\nSELECT 1\n----\n1\n", ["--dialect", "rs", "--strict-types"], 0),
        (f"{RS}\nonlyif pony\nquery I\nSELECT 1\n----\n2\n", [], 0),
        (f"{RS}\nonlyif pony\nquery I\nSELECT 1\n----\n2\n", ["--label", "PONY"], 1),
        (f"{RS}\nsystem ok\ntrue\n", [], 2),
        (f"{RS}\nsystem ok\ntrue\n", ["--allow-system"], 0),
        (f"{RS}\nsystem ok\nfalse\n", ["--allow-system"], 1),
        (f"{RS}\nsystem ok\nsleep 60\n", ["--allow-system", "--timeout", "300ms"], 1),
        (f"{RS}\nfrobnicate\n", [], 2),
        (f"{RS}\ninclude nothing\n", [], 2),
    ],
)
def test_exit_codes(text: str, args: list[str], code: int) -> None:
    assert document(text, *args)["exit_code"] == code


@pytest.mark.usefixtures("here")
def test_the_files_of_a_run_may_be_in_several_dialects(capsys: pytest.CaptureFixture[str]) -> None:
    Path("b.slt").write_text(PLAIN.replace("----\n1", "----\n2"))
    Path("c.slt").write_text(f"{RS}\nfrobnicate\n")
    made = document(RS, "b.slt", "c.slt")
    assert (made["exit_code"], made["records"]["run"], made["records"]["failed"]) == (2, 2, 1)
    assert "c.slt:8: unknown directive 'frobnicate'" in capsys.readouterr().out


@pytest.mark.usefixtures("here")
def test_a_failure_of_an_included_file_is_told_at_its_own_line() -> None:
    Path("part.txt").write_text("\nquery I\nSELECT 1\n----\n2\n")
    made = document("include part.txt\n", "--dialect", "rs")
    (failure,) = made["files"][0]["failures"]
    assert (failure["path"], failure["line"]) == ("part.txt", 2)


@pytest.mark.usefixtures("here")
def test_included_files_may_show_the_dialect() -> None:
    Path("part.txt").write_text(RS)
    assert document("include part.txt\n")["exit_code"] == 0
    Path("part.txt").write_text(PLAIN)
    assert document("include part.txt\n")["exit_code"] == 2


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "both read all of it, and no line is of one dialect alone"),
        (
            "# name: test/a.test\n# group: [a]\n\nquery II\nSELECT 1, 2\n----\n1 2\n\n",
            "line 7 is rs's (a row on one line), line 1 is duckdb's (# name:)",
        ),
    ],
)
def test_what_may_be_either_dialect_is_refused_with_the_lines_that_show_it(
    text: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("more.slt").write_text("statement ok\nSELECT 1\n")
    Path("a.slt").write_text(f"{text}include more.slt\n")
    assert run(["a.slt"]) == 2
    assert says in capsys.readouterr().out
