"""The file of known bugs: what it suppresses, what it says of itself, and how it is added to."""

from __future__ import annotations

import dataclasses
import datetime
from pathlib import Path

import pytest

from refute.errors import UnreadableInput, UsageError
from refute.verifiers.sql.fuzz_known import KnownFile, read_known_bugs
from refute.verifiers.sql.fuzz_known_write import write_known_bugs
from refute.verifiers.sql.fuzz_plan import Finding

FOUND = Finding(
    oracle="sqlite",
    setup=("CREATE TABLE t(c TEXT COLLATE NOCASE)", "INSERT INTO t VALUES('a')"),
    query="SELECT 'A' EXCEPT SELECT c FROM t",
    asked_setup=("CREATE TABLE t(c TEXT)",),
    asked=("SELECT 'A' EXCEPT SELECT t.c FROM t",),
    expected="SQLite: no rows",
    observed="('A')",
    why="another row",
    seed=0,
    program=3,
    cause="abc123",
    times=4,
)
TODAY = datetime.date(2026, 6, 1)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def known(entry: str, version: str = "0.8.3") -> KnownFile:
    Path("known.toml").write_text(f"[[bug]]\n{entry}\n")
    return KnownFile("known.toml", read_known_bugs("known.toml"), ("turso",), version, TODAY)


@pytest.mark.parametrize(
    ("entry", "label"),
    [
        ('reason = "r"\ncause = "abc123"', "known.toml:1"),
        ('name = "n"\nreason = "r"\ncause = ["x", "abc123"]', "n"),
        ('reason = "r"\ncause = "other"', ""),
        ("reason = 'r'\nsql = 'select .* EXCEPT select c'", "known.toml:1"),
        ("reason = 'r'\nsql = 'nocase.*except'", "known.toml:1"),
        ("reason = 'r'\nsql = 'SELECT t[.]c FROM'", "known.toml:1"),
        ("reason = 'r'\nsql = 'UNION'", ""),
        ("reason = 'r'\nsql = 'EXCEPT'\ncause = 'other'", ""),
        ('reason = "r"\ncause = "abc123"\nengine = ["duckdb", "Turso"]', "known.toml:1"),
        ('reason = "r"\ncause = "abc123"\nengine = "duckdb"', ""),
        ('reason = "r"\ncause = "abc123"\nversion = "0.8.*"', "known.toml:1"),
        ('reason = "r"\ncause = "abc123"\nversion = "0.7.*"', ""),
        ('reason = "r"\ncause = "abc123"\noracle = ["tlp", "sqlite"]', "known.toml:1"),
        ('reason = "r"\ncause = "abc123"\noracle = "tlp"', ""),
        ('reason = "r"\ncause = "abc123"\nkind = "wrong"', "known.toml:1"),
        ('reason = "r"\ncause = "abc123"\nkind = "crash"', ""),
        ('reason = "r"\ncause = "abc123"\nuntil = 2026-06-01', "known.toml:1"),
        ('reason = "r"\ncause = "abc123"\nuntil = 2026-05-31', ""),
        ('reason = "unreviewed"\ncause = "abc123"', ""),
        ('reason = "Unreviewed."\ncause = "abc123"', ""),
    ],
)
def test_an_entry_suppresses_what_it_describes(here: Path, entry: str, label: str) -> None:
    assert known(entry).match(FOUND) == label


def test_a_version_is_found_in_what_an_engine_says(here: Path) -> None:
    entry = 'reason = "r"\ncause = "abc123"\nversion = "3.24.*"'
    assert known(entry, "SQLite 3.24.0").match(FOUND)
    assert not known(entry, "SQLite 3.40.1").match(FOUND)


def test_the_kind_of_a_crash_has_its_words_behind_a_colon(here: Path) -> None:
    crash = dataclasses.replace(FOUND, kind="crash: index out of bounds")
    assert known('reason = "r"\ncause = "abc123"\nkind = "crash"').match(crash)


def test_what_it_says_of_a_run(here: Path) -> None:
    file = known(
        'name = "a"\nreason = "r"\ncause = "abc123"\n'
        '[[bug]]\nname = "b"\nreason = "r"\ncause = "never met"\n'
        '[[bug]]\nname = "c"\nreason = "r"\nengine = "duckdb"\ncause = "never met"\n'
        '[[bug]]\nname = "d"\nreason = "unreviewed"\ncause = "new"\n'
        '[[bug]]\nname = "e"\nreason = "r"\ncause = "old"\nuntil = 2020-01-01'
    )
    mine = dataclasses.replace(FOUND, known=file.match(FOUND))
    twice = dataclasses.replace(mine, times=3)
    new = dataclasses.replace(FOUND, cause="new")
    assert file.suppressed([mine, twice, new]) == {"a": 7}
    assert file.idle([mine, new]) == ["b"]
    assert file.ended() == ["e"]
    assert file.unreviewed([mine, new]) == [new]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[[bug]]\nreason = "r"\n', "known.toml:1: an entry that does not say which bug"),
        ('[[bug]]\ncause = "x"\n', "known.toml:1: a known bug without a reason"),
        ('[[bug]]\ncause = "x"\nreason = " "\n', "known.toml:3: a known bug without a reason"),
        ('\n[[bug]]\nreason = "r"\ncause = 5\n', "known.toml:4: cause = 5 is no text"),
        ('[[bug]]\nreason = "r"\nsql = "("\n', "known.toml:3: sql: no regular expression"),
        ('[[bug]]\nreason = "r"\nsql = ".*"\n', "known.toml:3: sql = '.*' matches everything"),
        ('[[bug]]\nreason = "r"\ncause = "x"\nuntil = "x"\n', "known.toml:4: until = 'x'"),
        ('[[bug]]\nreason = "r"\ncause = "x"\noracle = "x"\n', "known.toml:4: there is no oracle"),
        ('[[bug]]\nreason = "r"\ncause = "x"\nkind = "x"\n', "known.toml:4: there is no kind"),
        ('[[bug]]\nreason = "r"\ncause = "x"\nsqll = "x"\n', "known.toml:4: unknown key 'sqll'"),
        ('[[bug]]\nname = "n"\nreason = "r"\ncause = "x"\n' * 2, "known.toml:6: 'n' is there"),
        ("[[known]]\n", "known.toml:1: unknown key 'known'"),
        ('format = "x"\n', "known.toml:1: format 'x'"),
        ("a b", "known.toml:1: no TOML"),
        ('# x\n# \udcff"', "known.toml:2: this is not UTF-8"),
        ("bug = 3", "known.toml:1: `bug` is no table"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(here: Path, text: str, says: str) -> None:
    Path("known.toml").write_text(text, errors="surrogateescape")
    with pytest.raises(UnreadableInput) as caught:
        read_known_bugs("known.toml")
    assert caught.value.message.startswith(says)
    assert caught.value.next_step


def test_a_file_that_is_not_there() -> None:
    for path in ("nothing.toml", "/", "a\0b"):
        with pytest.raises(UnreadableInput, match="cannot be read"):
            read_known_bugs(path)


def test_findings_are_written_once_and_suppress_nothing_until_reviewed(here: Path) -> None:
    odd = dataclasses.replace(FOUND, query='SELECT "\x07\n\\"', cause='c"\\', kind="lost: died")
    assert write_known_bugs("known.toml", [FOUND, FOUND, odd], "turso") == 2
    text = Path("known.toml").read_text()
    assert write_known_bugs("known.toml", [FOUND, odd], "turso") == 0
    assert Path("known.toml").read_text() == text
    file = KnownFile("known.toml", read_known_bugs("known.toml"), ("turso",))
    assert [file.match(finding) for finding in (FOUND, odd)] == ["", ""]
    Path("known.toml").write_text(text.replace('reason = "unreviewed"', 'reason = "issue 3"'))
    file = KnownFile("known.toml", read_known_bugs("known.toml"), ("turso",))
    assert all(file.match(finding) for finding in (FOUND, odd))
    assert file.match(dataclasses.replace(FOUND, cause="another")) == ""


def test_what_is_there_already_stays_as_it_is(here: Path) -> None:
    mine = '# mine\n[[bug]]\nreason="r"\ncause="abc123"'
    Path("known.toml").write_text(mine)
    other = dataclasses.replace(FOUND, cause="zzz")
    known_one = dataclasses.replace(FOUND, cause="yyy", known="mine")
    assert write_known_bugs("known.toml", [FOUND, other, known_one], "turso") == 1
    assert Path("known.toml").read_text().startswith(mine + "\n\n[[bug]]\n# CREATE")
    Path("known.toml").write_text("no list at all")
    with pytest.raises(UnreadableInput):
        write_known_bugs("known.toml", [other], "turso")
    assert Path("known.toml").read_text() == "no list at all"
    with pytest.raises(UsageError):
        write_known_bugs("/nowhere/known.toml", [other], "turso")


def test_the_example_names_bugs_by_what_is_special_about_them() -> None:
    example = Path(__file__).parents[2] / "examples" / "fuzz" / "known-turso.toml"
    file = KnownFile(str(example), read_known_bugs(str(example)), ("turso",), "Turso 0.8.3")
    assert file.match(FOUND).startswith("EXCEPT, INTERSECT and UNION")
    plain = dataclasses.replace(FOUND, setup=("CREATE TABLE t(c TEXT)",))
    assert file.match(plain) == ""
    rows = dataclasses.replace(FOUND, query="SELECT 0 FROM t WHERE (c, 0) >= ('A', 0)")
    assert file.match(rows).startswith("row values")
    assert file.match(dataclasses.replace(rows, kind="error")) == ""
