"""The list of known failures: how it is read, what it excuses, and when it is out of date."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from refute.cli.conform import run
from refute.errors import UnreadableInput, UsageError
from refute.verifiers.sql.conform_file import Failure, FileResult
from refute.verifiers.sql.conform_known import Known, KnownUse
from refute.verifiers.sql.conform_known_file import read_known
from refute.verifiers.sql.conform_known_write import write_known

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "refute" / "report" / "conform.schema.json").read_text()
)
TABLE = "statement ok\nCREATE TABLE t(a INTEGER)\n\nstatement ok\nINSERT INTO t VALUES (1), (2)\n\n"
WRONG = "query I rowsort\nSELECT a FROM t\n----\n1\n3\n\n"
RIGHT = WRONG.replace("3", "2")
OTHER = "query I\nSELECT 5\n----\n6\n\n"
REVIEWED = 'reason = "integers, issue 12"'


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with a file of two wrong records of the same text, and a third."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.test").write_text(TABLE + WRONG + RIGHT + WRONG + OTHER)
    return tmp_path


def document(*args: str) -> dict[str, Any]:
    """The JSON document of a run, which fits its schema and has the exit code."""
    code = run([*args, "--json", "out.json"])
    made: dict[str, Any] = json.loads(Path("out.json").read_text())
    jsonschema.validate(made, SCHEMA)
    assert made["exit_code"] == code
    return made


def listed(review: bool = True) -> None:
    """Write the list of what fails now, reviewed or not."""
    assert run(["a.test", "--write-known", "known.toml"]) == 1
    if review:
        known = Path("known.toml")
        known.write_text(known.read_text().replace('reason = "unreviewed"', REVIEWED))


def test_reviewed_failures_are_excused_and_the_verdict_says_so(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    listed()
    capsys.readouterr()
    made = document("a.test", "--known", "known.toml")
    out = capsys.readouterr().out
    assert (made["exit_code"], made["decision"]) == (0, "established except known failures")
    assert made["records"] | {"run": 0, "skipped": 0} == made["records"] | {
        "run": 0, "skipped": 0, "failed": 3, "known": 3,
    }  # fmt: skip
    assert "ESTABLISHED EXCEPT 3 KNOWN FAILURES" in out
    assert "a.test: 3 known failures" in out
    assert "a.test:7" not in out
    assert [f["known"] for f in made["files"][0]["failures"]] == ["integers, issue 12"] * 3
    assert made["known"]["covered"] == 3


def test_what_nobody_reviewed_excuses_nothing(here: Path) -> None:
    listed(review=False)
    made = document("a.test", "--known", "known.toml")
    assert (made["exit_code"], made["known"]["unreviewed"]) == (1, 3)
    text = Path("known.toml").read_text()
    Path("known.toml").write_text(text.replace('"unreviewed"', '" Unreviewed. "'))
    assert document("a.test", "--known", "known.toml")["exit_code"] == 1


def test_a_new_failure_beside_known_ones_is_one(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    listed()
    with Path("a.test").open("a") as file:
        file.write("query I\nSELECT 7\n----\n8\n")
    assert run(["a.test", "--known", "known.toml"]) == 1
    assert "1 record failed, and again on a fresh database" in capsys.readouterr().out
    assert run(["a.test", "--known", "known.toml", "--write-known", "known.toml"]) == 1
    assert "1 entry added" in capsys.readouterr().out
    entries = read_known("known.toml")
    assert [(entry.reviewed, len(entry.records)) for entry in entries] == [(True, 3), (False, 1)]


def test_records_are_found_again_when_lines_move(here: Path) -> None:
    listed()
    text = Path("a.test").read_text()
    Path("a.test").write_bytes(b"# more\r\n\r\n" + text.replace("\n", "\r\n").encode())
    made = document("a.test", "--known", "known.toml")
    assert made["exit_code"] == 0
    assert len(made["known"]["moved"]) == 3


def test_an_edit_does_not_lend_a_reason_to_another_record(here: Path) -> None:
    """One more record of the same text: which of them was meant, nobody can tell."""
    listed()
    text = Path("a.test").read_text()
    Path("a.test").write_text(text.replace(RIGHT, WRONG))
    made = document("a.test", "--known", "known.toml")
    assert made["exit_code"] == 1
    assert [bool(f["known"]) for f in made["files"][0]["failures"]] == [False] * 3 + [True]
    assert len(made["known"]["gone"]) == 2
    changed = text.replace("SELECT 5", "SELECT 4")
    Path("a.test").write_text(changed)
    assert document("a.test", "--known", "known.toml")["exit_code"] == 1


@pytest.mark.parametrize(("policy", "code"), [("fail", 3), ("warn", 0)])
def test_a_known_failure_that_passes_is_told(
    here: Path, capsys: pytest.CaptureFixture[str], policy: str, code: int
) -> None:
    listed()
    data = Path("a.test").read_text()
    Path("engines.py").write_text(
        "import sqlite3\n\n\nclass Cursor(sqlite3.Cursor):\n"
        "    def execute(self, sql):\n        return super().execute(sql.replace('5', '6'))\n\n\n"
        "class Connection(sqlite3.Connection):\n"
        "    def cursor(self):\n        return super().cursor(Cursor)\n\n\n"
        "def mended():\n    return sqlite3.connect(':memory:', factory=Connection)\n"
    )
    engine = ["--engine", "engines:mended", "--as", "sqlite"]
    made = document("a.test", *engine, "--known", "known.toml", "--known-passing", policy)
    assert made["exit_code"] == code
    line = data[: data.index("query I\nSELECT 5")].count("\n") + 1
    assert made["known"]["passing"] == [f"known.toml:12: a.test:{line} passes now"]
    assert "passes now; take it out" in capsys.readouterr().out


def test_another_kind_of_failure_is_not_excused(here: Path) -> None:
    listed()
    text = Path("known.toml").read_text()
    Path("known.toml").write_text(text.replace('kind = "values"', 'kind = "crash"'))
    made = document("a.test", "--known", "known.toml")
    assert (made["exit_code"], made["records"]["listed"]) == (1, 3)


def test_entries_for_other_engines_are_not_looked_at(here: Path) -> None:
    listed()
    text = Path("known.toml").read_text()
    Path("known.toml").write_text(text.replace('engine = "sqlite"', 'engine = "duckdb"'))
    made = document("a.test", "--known", "known.toml")
    assert (made["exit_code"], made["records"]["listed"]) == (1, 0)
    assert made["known"]["passing"] == []


def used(text: str, today: str = "2026-06-15", path: str = "a.test") -> tuple[FileResult, KnownUse]:
    """What a list does to the failures of a.test."""
    Path("known.toml").write_text(text)
    run([path, "--json", "out.json"])
    from_json = json.loads(Path("out.json").read_text())["files"][0]
    file = FileResult(path, run=from_json["run"])
    for failure in from_json["failures"]:
        made = Failure(failure["line"], failure["sql"], "x", failure["got"], True)
        made.kind = failure["kind"]
        file.failures.append(made)
    day = datetime.date.fromisoformat(today)
    known = Known("known.toml", "sqlite", "sqlite", lambda p: Path(p).read_bytes(), day)
    known.apply(file)
    return file, known.finish([file])


PATTERN = '[[known]]\nreason = "r"\nfiles = "*.test"\nsql = "FROM t"\n'


def test_the_last_day_counts_and_the_next_does_not(here: Path) -> None:
    until = f"{PATTERN}most = 5\nuntil = 2026-06-15\n"
    file, use = used(until, today="2026-06-15")
    assert (use.covered, use.expired) == (2, [])
    file, use = used(until, today="2026-06-16")
    assert use.covered == 0
    assert "until = 2026-06-15" in use.expired[0]
    assert "expired" in file.failures[0].listed


def test_a_pattern_that_covers_more_than_it_may_covers_nothing(here: Path) -> None:
    assert used(f"{PATTERN}most = 2\n")[1].covered == 2
    file, use = used(f"{PATTERN}most = 1\n")
    assert use.covered == 0
    assert "2 failures match, more than most = 1" in use.over[0]
    assert not any(failure.known for failure in file.failures)
    assert used(PATTERN.replace("FROM t", "FROM u") + "most = 1\n")[1].idle != []
    assert used(PATTERN.replace("*.test", "other/*") + "most = 2\n")[1].covered == 0
    assert used(f"{PATTERN}most = 2\ngot = 'never'\n")[1].covered == 0


def test_a_file_that_was_not_run_to_its_end_says_nothing_of_what_passes(here: Path) -> None:
    record = "[[known]]\nreason = 'r'\nrecords = ['a.test:2 0123456789ab']\n"
    Path("known.toml").write_text(record)
    for broken in (FileResult("a.test", lost="x"), FileResult("a.test", unchosen=3)):
        known = Known("known.toml", "sqlite", "sqlite", lambda p: b"", datetime.date.today())
        known.apply(broken)
        use = known.finish([broken])
        assert (use.stale, use.not_run) == ([], 1)
    assert used(record)[1].gone != []
    assert used(record.replace("a.test", "no.test"))[1].gone[0].endswith("there is no file no.test")


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("[[known]\n", 1, "no TOML"),
        ("\n[[known]]\nreason = 'a'\nreason = 'b'\n", 4, "no TOML"),
        ("[[known]]\nfiles = 'a'\nmost = 1\n", 1, "without a reason"),
        ("[[known]]\nfiles = 'a'\nmost = 1\nreason = ' '\n", 4, "without a reason"),
        ("[[known]]\nreason = 'r'\n", 1, "does not say what it is for"),
        ("[[known]]\nreason = 'r'\nfiles = 'a'\n", 1, "without `most`"),
        ("[[known]]\nreason = 'r'\nfiles = 'a'\nmost = 0\n", 4, "most = 0"),
        ("[[known]]\nreason = 'r'\nfiles = 'a'\nmost = true\n", 4, "most = True"),
        ("[[known]]\nreason = 'r'\nsql = '('\nmost = 1\n", 3, "no regular expression"),
        ("[[known]]\nreason = 'r'\nsql = ['a']\nmost = 1\n", 3, "sql = ['a'] is no text"),
        ("[[known]]\nreason = 'r'\nuntil = 'soon'\nsql = 'a'\nmost = 1\n", 3, "no date"),
        ("[[known]]\nreason = 'r'\nrecords = []\n", 1, "for no record"),
        ("[[known]]\nreason = 'r'\nrecords = [\n 'a:1 0123456789ab',\n 'a:2'\n]\n", 5, "no record"),
        ("[[known]]\nreason = 'r'\nrecords = ['a:1 0123456789ab 3/2']\n", 3, "no 3 of 2"),
        ("[[known]]\nreason = 'r'\nengines = 'x'\nrecords = []\n", 3, "unknown key 'engines'"),
        ("[[knwon]]\nreason = 'r'\n", 1, "unknown key 'knwon'"),
        ("format = 'refute.known/2'\n", 1, "format"),
        (
            "[[known]]\nreason = 'r'\nrecords = ['a:1 0123456789ab']\n\n[[known]]\n"
            "reason = 's'\nengine = 'x'\nrecords = [\n  'a:9 0123456789ab',\n]\n",
            9,
            "there already, known.toml:3",
        ),
    ],
)
def test_what_is_wrong_with_a_list_is_named_with_its_line(
    here: Path, text: str, line: int, problem: str
) -> None:
    Path("known.toml").write_text(text)
    with pytest.raises(UnreadableInput) as caught:
        run(["a.test", "--known", "known.toml"])
    assert caught.value.exit_code == 2
    assert caught.value.message.startswith(f"known.toml:{line}: ")
    assert problem in caught.value.message


@pytest.mark.parametrize("text", ["", "format = 'refute.known/1'\n", "# nothing yet\n"])
def test_a_list_may_be_empty(here: Path, text: str) -> None:
    Path("known.toml").write_text(text)
    assert document("a.test", "--known", "known.toml", "--no-reduce")["exit_code"] == 1


def test_one_record_may_be_known_to_two_engines(here: Path) -> None:
    entry = "[[known]]\nreason = 'r'\nengine = '{}'\nrecords = ['a:1 0123456789ab']\n"
    Path("known.toml").write_text(entry.format("x") + entry.format("y"))
    assert len(read_known("known.toml")) == 2


def test_a_list_is_never_written_over(here: Path) -> None:
    listed()
    before = Path("known.toml").read_bytes()
    with pytest.raises(UsageError, match="is there already"):
        run(["a.test", "--write-known", "known.toml"])
    Path("notes.txt").write_text("mine")
    with pytest.raises(UsageError, match="is there already"):
        run(["a.test", "--write-known", "notes.txt", "--known", "known.toml"])
    with pytest.raises(UnreadableInput):
        run(["a.test", "--known", "missing.toml"])
    assert Path("known.toml").read_bytes() == before


def test_flaky_failures_are_not_listed(here: Path) -> None:
    Path("engines.py").write_text(
        "import os\nimport sqlite3\n\n\nclass Cursor(sqlite3.Cursor):\n"
        "    def fetchall(self):\n"
        "        rows = super().fetchall()\n"
        "        return rows[: len(rows) - (os.environ['PYTHONHASHSEED'] == '0')]\n\n\n"
        "class Connection(sqlite3.Connection):\n"
        "    def cursor(self):\n        return super().cursor(Cursor)\n\n\n"
        "def flaky():\n    return sqlite3.connect(':memory:', factory=Connection)\n"
    )
    Path("b.test").write_text(TABLE + RIGHT)
    assert run(["b.test", "--engine", "engines:flaky", "--write-known", "known.toml"]) == 3
    assert not Path("known.toml").exists()


def test_rounds_of_a_loop_are_listed_one_by_one(here: Path) -> None:
    Path("l.test").write_text("loop i 0 3\n\nquery I\nSELECT ${i}\n----\n1\n\nendloop\n")

    def load(path: str) -> bytes:
        return Path(path).read_bytes()

    def result() -> FileResult:
        failures = [
            Failure(3, f"SELECT {i}", "1", f"{i}", True, kind="values", round=f"i={i}")
            for i in (0, 2)
        ]
        return FileResult("l.test", run=3, failures=failures)

    first = result()
    first.failures.pop()
    assert write_known("known.toml", [first], "sqlite", load) == 1
    text = Path("known.toml").read_text().replace('"unreviewed"', '"r"')
    Path("known.toml").write_text(text)
    known = Known("known.toml", "sqlite", "sqlite", load, datetime.date.today())
    both = result()
    known.apply(both)
    assert [bool(failure.known) for failure in both.failures] == [True, False]
    assert known.finish([both]).stale == []


def test_failures_of_an_included_file_are_listed_for_that_file(here: Path) -> None:
    (here / "sub").mkdir()
    Path("sub/i.slt").write_text(WRONG)
    failures = [Failure(1, "SELECT a FROM t", "x", "y", True, kind="values", path="sub/i.slt")]
    file = FileResult("a.test", run=1, failures=failures, reads={"sub/i.slt": "digest"})
    load = lambda path: Path(path).read_bytes()  # noqa: E731
    write_known("known.toml", [file], "sqlite", load)
    assert '"sub/i.slt:1 ' in Path("known.toml").read_text()
    Path("known.toml").write_text(Path("known.toml").read_text().replace('"unreviewed"', '"r"'))
    known = Known("known.toml", "sqlite", "sqlite", load, datetime.date.today())
    known.apply(file)
    assert file.failures[0].known == "r"
    known = Known("known.toml", "sqlite", "sqlite", load, datetime.date.today())
    passing = FileResult("a.test", run=1, reads={"sub/i.slt": "digest"})
    known.apply(passing)
    assert known.finish([passing]).passing == ["known.toml:10: sub/i.slt:1 passes now"]
