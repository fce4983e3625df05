"""Reports of shards are merged into the report of the whole, or refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from refute.cli.conform import run
from refute.errors import RefuteError

GOOD = "query I\nSELECT {0}\n----\n{0}\n\n"
BAD = "query I\nSELECT 1\n----\n2\n\nskipif sqlite\nstatement ok\nSELECT\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with files of several sizes, and the reports of its three shards."""
    monkeypatch.chdir(tmp_path)
    for i in range(9):
        path = Path("suite", "abc"[i % 3] + "-x" * (i % 2), f"{i}.test")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(BAD if i in (4, 5) else GOOD.format(i) * (i + 1))
    for k in (1, 2, 3):
        run(["suite", "--shard", f"{k}/3", "--json", f"{k}.json"])
    return tmp_path


def merged(*paths: str, known: str = "") -> dict[str, Any]:
    code = run(["--merge", *paths, "--json", "merged.json", *(["--known", known] if known else [])])
    made: dict[str, Any] = json.loads(Path("merged.json").read_text())
    assert made["exit_code"] == code
    return made


def test_the_shards_together_are_the_whole(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert run(["suite", "--json", "whole.json"]) == 1
    of_whole = [line for line in capsys.readouterr().out.splitlines() if "records/s" not in line]
    whole = json.loads(Path("whole.json").read_text())
    made = merged("3.json", "1.json", "2.json")
    of_merged = [line for line in capsys.readouterr().out.splitlines() if "records/s" not in line]
    assert of_merged == of_whole
    for document in (whole, made):
        document["wall_s"] = 0.0
        for file in document["files"]:
            file["wall_s"] = 0.0
    assert made == whole


def test_a_shard_that_is_missing_is_no_pass(here: Path) -> None:
    places = {p: json.loads(Path(p).read_text())["files"] for p in ("1.json", "2.json", "3.json")}
    rest = [p for p, files in places.items() if not any(f["failures"] for f in files)]
    assert [run([*rest, "--merge"]), run([*places, "--merge"])] == [3, 1]
    made = merged(*rest)
    missing = ", ".join(sorted(p[0] for p in places if p not in rest))
    assert made["reasons"] == [f"no report of shards {missing} of 3"]
    assert made["scope"]["shard"]["of"] == 3


def test_a_shard_that_ended_early_is_no_pass(here: Path) -> None:
    for name in ("1.json", "2.json", "3.json"):
        document = json.loads(Path(name).read_text())
        document["files"] = [f for f in document["files"] if not f["failures"]][:1]
        Path(name).write_text(json.dumps(document))
    made = merged("1.json", "2.json", "3.json")
    assert made["exit_code"] == 3
    assert "6 of 9 files are in no report" in made["reasons"]


def other_files(_: dict[str, Any]) -> None:
    Path("suite/more.test").write_text(GOOD)
    run(["suite", "--shard", "2/3", "--json", "2.json"])


def other_options(_: dict[str, Any]) -> None:
    run(["suite", "--shard", "2/3", "--json", "2.json", "--record", "SELECT"])


def edited(change: Callable[[dict[str, Any]], object]) -> Callable[[dict[str, Any]], None]:
    def edit(document: dict[str, Any]) -> None:
        change(document)
        Path("2.json").write_text(json.dumps(document))

    return edit


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (other_files, "their files differ"),
        (other_options, "their options differ"),
        (edited(lambda d: d.update(version="SQLite 3.99")), "their version differ"),
        (edited(lambda d: d["scope"]["shard"].update(number=1)), "are both shard 1"),
        (edited(lambda d: d["scope"].update(shard=None)), "of a whole run"),
        (edited(lambda d: d["scope"]["shard"].update(of="3")), "other types"),
        (edited(lambda d: d["files"][0].update(run=-1)), "a result is wrong"),
        (edited(lambda d: d["files"][0].update(failures=None)), "a field is missing"),
        (edited(lambda d: d.update(causes={"causes": [{"number": 1}]})), "a field is missing"),
        (edited(lambda d: d.pop("scope")), "a field is missing"),
        (edited(lambda d: d.update(schema="refute.run/1")), "no document of the schema"),
        (lambda _: Path("2.json").write_text("{"), "no JSON"),
        (lambda _: Path("2.json").unlink(), "No such file"),
    ],
)
def test_what_is_not_of_one_run_is_refused(
    here: Path, change: Callable[[dict[str, Any]], object], message: str
) -> None:
    change(json.loads(Path("2.json").read_text()))
    with pytest.raises(RefuteError, match=message) as caught:
        run(["--merge", "1.json", "2.json", "3.json"])
    assert caught.value.exit_code == 2


def test_known_failures_are_judged_for_the_whole(here: Path) -> None:
    assert run(["suite", "--write-known", "known.toml"]) == 1
    known = Path("known.toml").read_text().replace("unreviewed", "issue 7")
    Path("known.toml").write_text(known)
    made = merged("1.json", "2.json", "3.json", known="known.toml")
    assert (made["exit_code"], made["records"]["known"]) == (0, 2)
    run(["suite", "--shard", "1/3", "--known", "known.toml", "--json", "1.json"])
    with pytest.raises(RefuteError, match="give --known to --merge"):
        merged("1.json", "2.json", "3.json", known="known.toml")


def test_a_report_is_not_written_over(here: Path) -> None:
    with pytest.raises(RefuteError, match=r"1\.json, which is merged"):
        run(["--merge", "1.json", "2.json", "--json", "1.json"])
