"""`refute gate` from outside: a change of each kind, every rendering, exit codes as verdicts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest

from refute.report.document import schema

REFUTE = Path(sys.executable).with_name("refute")
NAMED = ["-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "commit.gpgsign=false"]
CLAIMS = """
from refute import claim
from refute.specs.domains import Ints
from refute.specs.function import Holds


def is_last_digit(x, digit):
    return digit(x) == int(str(x)[-1])


claim(
    "digit is the last digit",
    Holds("digits:digit", prop="claims:is_last_digit", given={"x": Ints(0, 60)}),
    covers=("digits.py",),
)
"""
RIGHT = "def digit(x):\n    return x % 10\n"


def git(tree: Path, *arguments: str) -> None:
    subprocess.run(["git", *NAMED, *arguments], cwd=tree, check=True, capture_output=True)


def refute(tree: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(REFUTE), *arguments],
        cwd=tree,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "REFUTE_KEY_FILE": str(tree.parent / "key")},
    )


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tree = tmp_path_factory.mktemp("gated") / "repository"
    tree.mkdir()
    (tree / "claims.py").write_text(CLAIMS)
    (tree / "digits.py").write_text(RIGHT)
    git(tree, "init", "-q", "-b", "main")
    git(tree, "add", "-A")
    git(tree, "commit", "-q", "-m", "base")
    return tree


@pytest.fixture
def change(repository: Path) -> Path:
    """The repository with the right code on its disk, to be changed by a test."""
    git(repository, "checkout", "-q", "--", ".")
    return repository


def test_a_wrong_change_is_1_in_every_rendering(change: Path) -> None:
    (change / "digits.py").write_text("def digit(x):\n    return x % 12\n")
    targets = ["--json", "-", "--sarif", "out.sarif", "--junit", "out.xml"]
    done = refute(change, "gate", "--base", "main", *targets)
    assert done.returncode == 1, done.stderr
    data = json.loads(done.stdout)
    jsonschema.Draft202012Validator(schema()).validate(data)
    assert data["decision"] == "refuted"
    assert data["canary"]["verdict"] == "REFUTED"
    assert done.stderr.startswith("REFUTED  gate main")
    (result,) = json.loads((change / "out.sarif").read_text())["runs"][0]["results"]
    assert result["ruleId"] == "digit is the last digit"
    assert "digit(10) returned 10" in result["message"]["text"]
    suite = ElementTree.parse(change / "out.xml").getroot()
    assert suite.get("failures") == "1" and suite.get("skipped") == "0"
    witness = data["results"][0]["witness_file"]
    assert f"refute replay {witness}" in done.stderr
    assert (change / witness).is_file()
    for name in ("out.sarif", "out.xml"):
        (change / name).unlink()


def test_a_right_change_is_0(change: Path) -> None:
    (change / "digits.py").write_text("def digit(x):\n    return x - x // 10 * 10\n")
    done = refute(change, "gate", "--base", "main")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("ACCEPTED  gate main")
    assert "1 of 1 changed unit covered" in done.stdout
    assert "canary    failed, as it must" in done.stdout
    assert "advisory" in done.stdout


def test_a_changed_spec_is_3_whatever_the_code_does(change: Path) -> None:
    (change / "claims.py").write_text(CLAIMS.replace("Ints(0, 60)", "Ints(0, 5)"))
    done = refute(change, "gate", "--base", "main")
    assert done.returncode == 3
    assert done.stdout.startswith("NOT ESTABLISHED  gate")
    assert "approval" in done.stdout


def test_no_change_is_3(change: Path) -> None:
    done = refute(change, "gate", "--base", "main", "--head", "worktree")
    assert done.returncode == 3
    assert done.stdout.startswith("NOTHING TO JUDGE")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--base", "no-such-branch"],
        ["--base", "--help-me"],
        ["--budget", "0s"],
        ["--policy", "/nonexistent.toml"],
        ["--head", "nowhere"],
        ["--json", "."],
        ["stray"],
    ],
    ids=" ".join,
)
def test_arguments_that_fit_nothing_are_2(change: Path, arguments: list[str]) -> None:
    done = refute(change, "gate", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("refute: ")
    assert "Traceback" not in done.stderr


def test_outside_a_repository_it_is_2(tmp_path: Path) -> None:
    done = refute(tmp_path, "gate")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_an_interrupted_gate_says_what_it_knew_and_is_3(change: Path) -> None:
    """The subject hangs, so that the interrupt falls into the middle of the work."""
    (change / "digits.py").write_text("import time\n\n\ndef digit(x):\n    time.sleep(600)\n")
    process = subprocess.Popen(
        [str(REFUTE), "gate", "--base", "main", "--budget", "60s"],
        cwd=change,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "REFUTE_KEY_FILE": str(change.parent / "key")},
    )
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(timeout=3)
    process.terminate()
    out, err = process.communicate(timeout=30)
    assert process.returncode == 3, out + err
    assert "interrupted" in out + err
    assert "Traceback" not in err
