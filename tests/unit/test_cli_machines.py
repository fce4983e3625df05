"""`refute check` on machines: sweeps, names, refusals, traces and their replay."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from refute.cli.check import run
from refute.cli.replay import run as replay
from refute.errors import RefuteError

ROOT = Path(__file__).parents[2]
TWO_PHASE = str(ROOT / "refute" / "specs" / "library" / "two_phase_commit.py")

COUNTER = """
from refute.machine import Machine, Range, Sort, Var, action, const, Const, invariant, var, when
from typing import Annotated


class Counter(Machine):
    \"\"\"Counts up to the top.\"\"\"

    top: Const[int] = const(3)
    n: Var[Annotated[int, Range(0, 9)]] = var(0)

    @action
    def up(self) -> None:
        when(self.n < self.top)
        self.n = self.n + 1

    @action
    def restart(self) -> None:
        when(self.n == self.top)
        self.n = 0

    @invariant
    def small(self) -> bool:
        return self.n < 3
"""


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "pyproject.toml").write_text("[tool.refute]\n")
    (tmp_path / "counter.py").write_text(COUNTER)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_sweep_is_one_report_with_the_published_counts(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert run([f"{TWO_PHASE}:agreement", "--set", "RM=2..3", "--json", "-"]) == 0
    data = json.loads(capfd.readouterr().out)
    found = {
        r["claim"]["statement"]["params"]["constants"]["RM"]: r["evidence"]["statistics"]
        for r in data["results"]
    }
    assert sorted(found) == [2, 3]
    assert (found[3]["distinct"], found[3]["generated"]) == (288, 1146)


def test_a_broken_invariant_is_1_and_its_trace_replays(
    tree: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["counter.py:Counter", "--set", "top=3"]) == 1
    shown = capfd.readouterr().out
    assert shown.startswith("REFUTED  check: 1 of 4 claims broken")
    assert shown.count(" up") == 3
    (witness,) = (tree / ".refute" / "witnesses").glob("*.json")
    assert replay([str(witness)]) == 1
    (tree / "counter.py").write_text(COUNTER.replace("self.n < 3", "self.n < 4"))
    assert replay([str(witness)]) == 0


def test_a_long_trace_is_shown_whole_when_asked_for(
    tree: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = COUNTER.replace("Range(0, 9)", "Range(0, 99)").replace("self.n < 3", "self.n < 30")
    (tree / "counter.py").write_text(text)
    command = ["counter.py:small", "--set", "top=40"]
    assert run(command) == 1
    short = capfd.readouterr().out
    assert "… 19 more steps, --trace full shows all, refute replay too" in short
    assert run([*command, "--trace", "full"]) == 1
    whole = capfd.readouterr().out
    assert (short.count(" up()"), whole.count(" up()")) == (11, 30)
    assert "more steps" not in whole
    (witness,) = (tree / ".refute" / "witnesses").glob("*.json")
    assert replay([str(witness)]) == 1
    assert capfd.readouterr().out.count(" up()") == 30


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["counter.py", "--set", "bottom=3"], "bottom"),
        (["counter.py:nothing"], "possible: Counter, small"),
        (["counter.py", "--set", "top=many"], "top=many"),
        (["counter.py", "--set", "top=3..1"], "top=3..1"),
        (["counter.py", "--set", "top=3", "--set", "top=4"], "top"),
    ],
    ids=lambda a: " ".join(a) if isinstance(a, list) else "",
)
def test_names_and_settings_that_fit_nothing_are_refused(
    tree: Path, arguments: list[str], words: str
) -> None:
    with pytest.raises(RefuteError) as caught:
        run(arguments)
    assert words in str(caught.value)
    assert caught.value.exit_code == 2


def test_unsupported_python_is_refused_with_its_place(tree: Path) -> None:
    (tree / "counter.py").write_text(COUNTER.replace("self.n = 0", "self.n = eval('0')"))
    with pytest.raises(RefuteError, match=r"counter\.py:\d+"):
        run(["counter.py"])


def test_the_engine_and_the_memory_are_the_users_to_choose(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tree / "cache"))
    command = ["counter.py:deadlock-free", "--memory", "1GiB", "--json", "-"]
    found = {}
    for engine in ("auto", "plain", "native"):
        assert run([*command, "--engine", engine]) == 0
        (result,) = json.loads(capfd.readouterr().out)["results"]
        found[engine] = result["evidence"]["statistics"]["engine"]
        assert result["evidence"]["statistics"]["distinct"] == 4
    assert found == {"auto": "plain", "plain": "plain", "native": "native"}
    with pytest.raises(RefuteError, match="amount of memory"):
        run([*command[:1], "--memory", "little"])


def test_walks_have_no_checkpoint(tree: Path) -> None:
    with pytest.raises(RefuteError, match="nothing to go on from"):
        run(["counter.py", "--simulate", "5", "--checkpoint", "kept"])


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("Counter.small", ["Counter(top=3).small"]),
        ("Counter(top=2).small", ["Counter(top=2).small"]),
        ("Counter.deadlock-free", ["Counter(top=3).deadlock-free"]),
    ],
)
def test_a_property_of_one_machine_is_asked_for_though_another_cannot_be_built(
    name: str, names: list[str], tree: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tree / "counter.py").write_text(
        COUNTER + "\n\nclass Other(Counter):\n    n: Var[str] = var('')\n"
    )
    options = ["--set", "top=2"] if "top=2" in name else []
    run([f"counter.py:{name}", *options, "--json", "-"])
    found = json.loads(capfd.readouterr().out)["results"]
    assert [r["claim"]["name"] for r in found] == names


def test_what_a_machine_has_no_property_of_is_said(tree: Path) -> None:
    with pytest.raises(RefuteError, match=r"nothing called 'Counter\.large'") as raised:
        run(["counter.py:Counter.large"])
    assert "small" in raised.value.possible
