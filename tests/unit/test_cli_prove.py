"""`refute prove`: which functions it takes, what it reports, and its exit codes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from refute.claim import Claim
from refute.cli.main import main
from refute.cli.prove import groups_of
from refute.errors import UnreadableInput, UsageError
from refute.evidence import Finding
from refute.report.document import schema
from refute.verifiers.contracts.engine import Prover

MODULE = """
from icontract import ensure, require


@require(lambda x: x >= 0)
@ensure(lambda x, result: result > x)
def right(x: int) -> int:
    return x + 1


@ensure(lambda x, result: result > x)
def wrong(x: int) -> int:
    return x


class Box:
    @ensure(lambda result: result)
    def full(self) -> bool:
        return True


def bare(x: int) -> int:
    return x
"""


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "pyproject.toml").write_text("", encoding="utf-8")
    (tmp_path / "m.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def names(*targets: str) -> list[str]:
    return [claim.subject for group in groups_of(targets) for claim in group.claims]


def test_every_function_with_a_contract_is_named(tree: Path) -> None:
    assert names("m.py") == ["m:right", "m:wrong", "m:Box.full"]
    assert names("m.py:wrong", "m.py", "m.py:right") == ["m:wrong", "m:right", "m:Box.full"]
    (group,) = groups_of(["m.py:right"])
    assert (str(group.claims[0].where), str(group.claims[0].need)) == ("m.py:7", "PROVED()")


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("m.py:bare", "m.py:bare has no contract"),
        ("m.py:nothing", "no function called 'nothing'"),
        ("none.py", "does not exist"),
        ("empty.py", "holds no contract"),
    ],
)
def test_what_is_not_there_is_a_usage_error(tree: Path, target: str, words: str) -> None:
    (tree / "empty.py").write_text("x = 1\n", encoding="utf-8")
    with pytest.raises(UsageError, match=words):
        groups_of(["m.py", target])


def test_a_file_that_is_no_python_is_unreadable(tree: Path) -> None:
    (tree / "broken.py").write_text("def f(:\n", encoding="utf-8")
    with pytest.raises(UnreadableInput, match="not Python that can be parsed"):
        groups_of(["broken.py"])
    assert main(["prove", "broken.py"]) == 2


def test_proved_is_0_with_the_obligations(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prove", "m.py:right", "--json", "run.json"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("ESTABLISHED  prove: 1 claim established")
    assert "PROVED     m.py:right meets its contract" in text
    assert "obligations" in text
    document = json.loads((tree / "run.json").read_text(encoding="utf-8"))
    jsonschema.validate(document, schema())
    assert document["command"] == "prove"


def test_a_refuted_one_is_1_and_its_witness_replays(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["prove", "m.py:wrong", "--junit", "j.xml", "--sarif", "s.json"]) == 1
    text = capsys.readouterr().out
    assert "x = 0" in text and "without its decorators it returned 0" in text
    assert "allowed    ensure result > x (m.py:11)" in text
    assert (tree / "j.xml").exists() and (tree / "s.json").exists()
    (witness,) = (tree / ".refute" / "witnesses").glob("*.json")
    assert main(["replay", str(witness)]) == 1
    (tree / "m.py").write_text(
        MODULE.replace("    return x\n\n\nclass", "    return x + 2\n\n\nclass")
    )
    assert main(["replay", str(witness)]) == 0


def test_what_is_not_supported_is_unknown_with_its_place(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["prove", "m.py:Box.full"]) == 3
    assert "m.py:18: 'Box.full' is a method, which is not supported" in capsys.readouterr().out


def test_an_interrupt_keeps_what_is_known(
    tree: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tree / "other").mkdir()
    (tree / "other" / "pyproject.toml").touch()
    (tree / "other" / "n.py").write_text(MODULE.replace("wrong", "late"), encoding="utf-8")
    run = Prover.run

    def interrupted(self: Prover, claims: Sequence[Claim], *rest: Any) -> Sequence[Finding]:
        if claims[0].subject == "m:wrong":
            raise KeyboardInterrupt
        return run(self, claims, *rest)

    monkeypatch.setattr(Prover, "run", interrupted)
    assert main(["prove", "m.py:right", "m.py:wrong", "other/n.py:late"]) == 3
    text = capsys.readouterr().out
    assert "interrupted: this is what was known by then" in text
    assert "PROVED     m.py:right meets its contract" in text
    assert text.count(": interrupted before it was judged") == 2


def test_a_contract_inside_of_a_function_is_named_with_its_line(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "from icontract import ensure\n\n\ndef outer():\n    if True:\n"
    text += "        @ensure(lambda x, result: result == x)\n"
    text += "        def inner(x: int) -> int:\n            return x\n"
    (tree / "nested.py").write_text(text, encoding="utf-8")
    assert main(["prove", str(tree / "nested.py")]) == 3
    said = " ".join(capsys.readouterr().out.split())
    assert "nested.py:7: 'outer.inner' is defined inside of a function" in said


def test_names_may_be_of_any_letters(tree: Path) -> None:
    text = "from icontract import ensure\n\n\n@ensure(lambda zahl, result: result == zahl)\n"
    text += "def größe(zahl: int) -> int:\n    return zahl\n"
    (tree / "maß.py").write_text(text, encoding="utf-8")
    (group,) = groups_of([str(tree / "maß.py")])
    assert [c.statement.subject for c in group.claims] == ["maß:größe"]


def test_what_cannot_be_parsed_is_named_with_its_line(tree: Path) -> None:
    (tree / "torn.py").write_text("x = 1\ndef f(:\n", encoding="utf-8")
    with pytest.raises(UnreadableInput, match="line 2: invalid syntax"):
        groups_of([str(tree / "torn.py")])
