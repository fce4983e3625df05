"""The plugin: silent until asked; REFUTED fails, UNKNOWN is an error, nothing is skipped."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CLAIMS = """
from refute import PROVED, SURVIVED, claim
from refute.specs.domains import Ints
from refute.specs.function import Holds

import os
os.environ["CLAIMS_WERE_IMPORTED"] = "here"

for name, need in (("good", SURVIVED()), ("bad", SURVIVED()), ("good", PROVED())):
    claim(
        f"{name} {need.grade.value}",
        Holds(f"digits:{name}", prop="claims:small", given={"x": Ints(0, 30)}, name="digit"),
        need=need,
    )


def small(x, digit):
    return digit(x) <= 9
"""
TEST = """
import os
import sys

def test_ordinary():
    assert "CLAIMS_WERE_IMPORTED" not in os.environ
    heavy = {"z3", "hypothesis", "refute.describe", "refute.pytest_plugin.items"}
    assert not heavy & set(sys.modules)
"""


def run_pytest(tree: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:hypothesispytest", "-rA", *arguments],
        cwd=tree,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("tree")
    (made / "digits.py").write_text("def good(x): return x % 10\ndef bad(x): return x % 11\n")
    (made / "claims.py").write_text(CLAIMS)
    (made / "test_ordinary.py").write_text(TEST)
    (made / "test_some_claims.py").write_text("def test_it():\n    pass\n")
    return made


def test_nothing_changes_for_those_who_did_not_ask(tree: Path) -> None:
    done = run_pytest(tree)
    assert done.returncode == 0, done.stdout
    assert "2 passed" in done.stdout


def test_claims_are_items_and_verdicts_are_outcomes(tree: Path) -> None:
    done = run_pytest(tree, "--refute", "claims.py", "--junitxml", "out.xml")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "PASSED claims.py::good SURVIVED\n" in done.stdout
    assert "FAILED claims.py::bad SURVIVED" in done.stdout
    assert "ERROR claims.py::good PROVED" in done.stdout
    assert "1 failed, 1 passed, 1 error" in done.stdout
    assert "digit(10) returned 10" in done.stdout
    assert "need PROVED() is not met" in done.stdout
    assert "Traceback" not in done.stdout
    assert "no claim was collected" not in done.stdout
    assert 'value="REFUTED"' in (tree / "out.xml").read_text()


def test_claims_that_were_asked_for_and_not_found_are_mentioned(tree: Path) -> None:
    done = run_pytest(tree, "--refute", "test_some_claims.py")
    assert done.returncode == 0, done.stdout
    assert "refute: no claim was collected" in done.stdout
    assert "no claim" not in run_pytest(tree, "test_some_claims.py").stdout


def test_the_ini_file_can_ask_and_a_broken_module_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\nrefute = true\n")
    (tmp_path / "shop_claims.py").write_text("1 / 0\n")
    done = run_pytest(tmp_path)
    assert done.returncode == 2, done.stdout
    assert "shop_claims.py:1" in done.stdout
    assert "ZeroDivisionError" in done.stdout
