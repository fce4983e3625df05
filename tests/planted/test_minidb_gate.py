"""The gate on every patch of examples/minidb/changes: wrong ones are refuted with few statements as
witness, right ones are accepted.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from refute.budget import Budget
from refute.gate.flow import gate
from refute.record import Run

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "minidb"
CHANGES = EXAMPLE / "changes"
IDENTITY = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "author",
    "GIT_AUTHOR_EMAIL": "author@example.org",
    "GIT_COMMITTER_NAME": "author",
    "GIT_COMMITTER_EMAIL": "author@example.org",
}

SUITE, LIKE_SQLITE = "minidb passes its suite", "minidb answers as SQLite does"

# patch → the part of SQL that the reduced case must still have; empty where a claim about one
# function may also be what shows it
WRONG = {
    "01-not-in-ignores-null": "IN (SELECT",
    "02-division-rounds-down": "",
    "03-comparison-forgets-column-collation": "COLLATE",
    "04-left-join-condition-filters": "LEFT",
    "05-count-counts-null": "COUNT(",
    "06-distinct-keeps-every-null": "DISTINCT",
    "07-having-only-after-group-by": "HAVING",
    "08-and-is-unknown-too-often": "",
    "09-or-takes-unknown-for-false": "",
    "10-nulls-come-first-when-descending": "ORDER BY",
    "11-sum-of-nothing-is-zero": "SUM(",
    "12-between-null-is-false": "BETWEEN",
    "13-case-finds-null": "CASE",
    "14-scalar-subquery-takes-last-row": "(SELECT",
    "15-union-keeps-duplicates-of-one-side": "UNION",
    "16-subquery-answer-kept-across-rows": "(SELECT",
    "17-text-column-compares-as-text": "SELECT",
    "18-average-of-integers-is-whole": "AVG(",
    "19-min-takes-null-for-smallest": "MIN(",
}
RIGHT = ("right-in-list-as-set", "right-logic-by-rank", "right-one-sort")
MOST_STATEMENTS, LONGEST = 8, 130


@pytest.fixture
def judged(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Run]:
    """What the gate says of patches on a branch of a repository made from the example."""
    tree = tmp_path / "repository"
    leave_out = shutil.ignore_patterns("__pycache__", ".refute", "generate.py")
    shutil.copytree(EXAMPLE, tree, ignore=leave_out)

    def git(*arguments: str) -> None:
        kept = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
        subprocess.run(
            ["git", *arguments], cwd=tree, env=kept | IDENTITY, check=True, capture_output=True
        )

    git("init", "--quiet", "--initial-branch=main")
    git("add", "--all")
    git("commit", "--quiet", "--message", "base")
    git("switch", "--quiet", "--create", "change")
    git("apply", "--index", *(f"changes/{name}.patch" for name in request.param))
    git("commit", "--quiet", "--message", "change")
    yield gate(tree, base="main", budget=Budget(cases=120, cpu_s=600, wall_s=600))


def test_every_patch_is_judged() -> None:
    assert {path.stem for path in CHANGES.glob("*.patch")} == {*WRONG, *RIGHT}


def _cases() -> Iterator[Any]:
    """Every wrong change; some whose kind is judged by others are left to `make test-heavy`."""
    for name in WRONG:
        marks = [pytest.mark.heavy] if name[:2] in ("05", "06", "12", "13", "18", "19") else []
        yield pytest.param((name,), name, marks=marks, id=name)


@pytest.mark.parametrize(("judged", "name"), list(_cases()), indirect=["judged"])
def test_a_wrong_change_is_refuted_with_a_reduced_query(judged: Run, name: str) -> None:
    assert (judged.decision, judged.exit_code) == ("refuted", 1)
    broken = {r.claim.name: w for r in judged.results if (w := r.evidence.witness) is not None}
    sql = [broken[name] for name in (SUITE, LIKE_SQLITE) if name in broken]
    assert sql or not WRONG[name]
    for witness in sql:
        steps = [step.text for step in witness.counterexample.steps]
        assert len(steps) <= MOST_STATEMENTS
        assert WRONG[name] in " ".join(steps).upper()
        assert len(steps[-1]) <= LONGEST


@pytest.mark.parametrize("judged", [RIGHT], indirect=True)
def test_right_changes_are_accepted(judged: Run) -> None:
    """In one change: it is accepted only when each of them is, and every unit is knocked out."""
    assert judged.reasons == ()
    assert (judged.decision, judged.exit_code) == ("accepted", 0)
    assert all(line.status == "covered" for line in judged.coverage)
