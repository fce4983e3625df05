"""Which files and records a run takes: lines, patterns, globs, shards; it says what not."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from refute.cli.conform import run
from refute.cli.conform_files import selected
from refute.cli.conform_options import parser
from refute.errors import UsageError
from refute.verifiers.sql.conform_chosen import Chosen, merged_lines
from refute.verifiers.sql.conform_file import Embedded, FileResult, Run, run_file
from refute.verifiers.sql.conform_shard import Shard, parted, shard_of

SCRIPT = """\
statement ok
CREATE TABLE t(a INTEGER)

query I
SELECT 1
----
2

statement ok
INSERT INTO t VALUES (7)

skipif sqlite
query I
SELECT nothing
----
1

query I nosort
SELECT a FROM t
----
7

statement ok
INSERT INTO gone VALUES (1)

query I
SELECT count(*) FROM t
----
1
"""


def chosen(**given: Any) -> FileResult:
    wanted = Chosen(**given)
    return run_file(Run(Embedded(5.0), "sqlite", chosen=wanted), "f.test", SCRIPT.encode(), 9)


@pytest.mark.parametrize("dialect", ["sqlite", "rs"])
def test_lines_behind_the_end_mean_no_record(dialect: str) -> None:
    behind = len(SCRIPT.splitlines()) + 1
    for pairs in (((behind, behind + 9),), ((behind - 1, behind), (behind, 2 * behind))):
        wanted = Run(Embedded(5.0), "sqlite", chosen=Chosen(lines=pairs), dialect=dialect)
        result = run_file(wanted, "f.test", SCRIPT.encode(), 9)
        assert result.run == (pairs[0][0] < behind)


@pytest.mark.parametrize("lines", ["0", "9-3", "0-4"])
def test_a_range_without_lines_is_an_error(lines: str) -> None:
    with pytest.raises(UsageError, match=f"{lines} names no lines"):
        run([str(Path(__file__)), "--record", lines])


@pytest.mark.parametrize("line", [18, 19, 20, 21])
def test_a_record_is_meant_by_any_of_its_lines(line: int) -> None:
    result = chosen(lines=((line, line),))
    assert (result.run, result.setup, result.unchosen) == (1, 2, 4)
    assert (result.failures, result.setup_failed) == ([], [])


def test_what_comes_before_runs_and_is_not_checked() -> None:
    whole = run_file(Run(Embedded(5.0), "sqlite"), "f.test", SCRIPT.encode(), 9)
    assert [failure.line for failure in whole.failures] == [4, 23]
    result = chosen(pattern=r"COUNT\(")
    assert (result.run, result.skipped, result.setup, result.unchosen) == (1, 0, 3, 3)
    assert result.failures == []
    assert result.setup_failed == [
        "f.test:23: expected no error, got error OperationalError: no such table: gone"
    ]


def test_a_chosen_record_that_fails_is_seen_twice() -> None:
    result = chosen(lines=((4, 9),))
    assert [(f.line, f.confirmed) for f in result.failures] == [(4, True)]
    assert (result.run, result.setup, result.unchosen) == (2, 1, 4)


def test_a_file_without_the_tag_is_left_out() -> None:
    assert chosen(tags=("slow",)).unchosen == 7
    assert chosen(no_tags=("slow",)).run == 6


def test_lines_in_others_are_merged() -> None:
    assert merged_lines([(5, 5), (1, 9), (3, 4), (20, 21)]) == ((1, 9), (20, 21))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("a/one.test", "a/two.test", "b/one.test", "b/long.slt"):
        path = tmp_path / "suite" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SCRIPT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def taken(*args: str) -> list[str]:
    return selected(parser().read(args)).paths


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (["--only", "a/*"], ["a/one.test", "a/two.test"]),
        (["--only", "suite/b/**"], ["b/long.slt", "b/one.test"]),
        (["--only", "one.test"], ["a/one.test", "b/one.test"]),
        (["--only", "a"], ["a/one.test", "a/two.test"]),
        (["--only", "*.slt", "--only", "a/two*"], ["a/two.test", "b/long.slt"]),
        (["--skip", "b/**", "--skip", "two.test"], ["a/one.test"]),
        (["--only", "*.test", "--skip", "a/*"], ["b/one.test"]),
    ],
)
def test_globs(here: Path, options: list[str], names: list[str]) -> None:
    assert taken("suite", *options) == [f"suite/{name}" for name in names]


def document(*args: str) -> dict[str, Any]:
    code = run([*args, "--json", "out.json"])
    made: dict[str, Any] = json.loads(Path("out.json").read_text())
    assert made["exit_code"] == code
    return made


def test_nothing_left_is_not_established(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = document("suite", "--only", "nowhere/*")
    assert made["exit_code"] == 3
    assert made["scope"]["left_out"] == ["4 of 4 files (--only nowhere/*)"]
    assert "no record was run; 4 of 4 files (--only nowhere/*)" in capsys.readouterr().out
    made = document("suite", "--record", "no such text")
    assert (made["exit_code"], made["scope"]["unchosen"]) == (3, 28)
    assert "28 records were not chosen" in capsys.readouterr().out


def test_the_report_says_what_was_not_checked(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = document("suite/a/one.test:10", "suite/a/two.test", "--skip", "two.test")
    assert made["decision"] == "established"
    assert made["records"]["run"] == 1
    assert (made["scope"]["unchosen"], made["scope"]["setup"]) == (5, 1)
    out = capsys.readouterr().out
    assert "not checked: 1 of 2 files (--skip two.test)" in out
    assert "not checked: 5 records that were not chosen" in out


def test_setup_that_fails_is_no_pass(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = document("suite/a/one.test", "--record", "count")
    assert (made["exit_code"], made["records"]["failed"]) == (3, 0)
    assert "one.test:23: expected no error" in capsys.readouterr().out


def test_lines_of_arguments(here: Path) -> None:
    one = "suite/a/one.test"
    found = selected(parser().read([f"{one}:10", f"{one}:4-5", "suite/a/two.test"]))
    assert found.paths == [one, "suite/a/two.test"]
    assert found.chosen == {one: Chosen(((4, 5), (10, 10)))}
    assert selected(parser().read([f"{one}:10:", one])).chosen == {}
    Path("odd:7").write_text(SCRIPT)
    assert selected(parser().read(["odd:7"])).chosen == {}
    for wrong in (f"{one}:9-4", f"{one}:0", "suite:3", "gone.test:3"):
        with pytest.raises(UsageError):
            selected(parser().read([wrong]))


@pytest.mark.parametrize("args", [["--record", "("], ["--shard", "0/2"], ["--shard", "3/2"]])
def test_wrong_selections(here: Path, args: list[str]) -> None:
    with pytest.raises(UsageError, match=args[0]):
        run(["suite", *args])


@pytest.mark.parametrize("of", [1, 2, 3, 7, 16])
def test_shards_are_disjoint_complete_and_balanced(of: int) -> None:
    random_ = random.Random(of)
    files = [(f"dir/{i}.test", random_.choice([0, 10, 10, 900, 10**6])) for i in range(100)]
    shards = [parted(Shard(number, of), files) for number in range(1, of + 1)]
    assert sorted(i for places, _ in shards for i in places) == list(range(100))
    loads = [sum(files[i][1] for i in places) for places, _ in shards]
    assert max(loads) - min(loads) <= 10**6
    assert len({shard.partition for _, shard in shards}) == 1


def test_a_shard_depends_on_names_and_sizes_alone() -> None:
    files = [(f"{i}.test", i % 5) for i in range(40)]
    shuffled = random.Random(1).sample(files, 40)
    names = []
    for order in (files, shuffled):
        places, shard = parted(shard_of("2/3"), order)
        names.append((sorted(order[i] for i in places), shard))
    assert names[0] == names[1]
    assert parted(shard_of("2/3"), [*files, ("more.test", 1)])[1].partition != names[0][1].partition


def test_a_shard_is_the_same_elsewhere(here: Path, tmp_path: Path) -> None:
    other = tmp_path / "elsewhere" / "deep"
    other.parent.mkdir()
    (here / "suite").rename(other)
    moved = [taken(str(other), "--shard", f"{k}/3") for k in (1, 2, 3)]
    other.rename(here / "suite")
    stayed = [taken("suite", "--shard", f"{k}/3") for k in (1, 2, 3)]
    assert [[p.removeprefix(f"{other}/") for p in shard] for shard in moved] == [
        [p.removeprefix("suite/") for p in shard] for shard in stayed
    ]
