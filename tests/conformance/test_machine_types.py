"""Spec modules pass `mypy --strict`, and type errors in one are seen."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
GOOD = [
    "refute/specs/library/two_phase_commit.py",
    "refute/specs/library/dining_philosophers.py",
    "examples/journalfs/rename_spec.py",
    "tests/cases/machines/planted_machines.py",
]
PLANTED = "tests/cases/machines/type_errors.py"


def test_specs_pass_strict_type_checking_and_planted_errors_do_not() -> None:
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", *GOOD, PLANTED]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    found = {
        (m[1], int(m[2])) for m in re.finditer(r"^(\S+?):(\d+): error", ran.stdout, re.MULTILINE)
    }
    lines = (ROOT / PLANTED).read_text().splitlines()
    marked = {(PLANTED, at) for at, line in enumerate(lines, 1) if "# error" in line}
    assert len(marked) == 5
    assert found == marked, ran.stdout + ran.stderr
