"""The gate on every patch of examples/journalfs/changes: wrong ones are refuted with a smallest
sequence, right ones accepted. The brute-force explorer judges the same patches independently.
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

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "journalfs"
CHANGES = EXAMPLE / "changes"
IDENTITY = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "author",
    "GIT_AUTHOR_EMAIL": "author@example.org",
    "GIT_COMMITTER_NAME": "author",
    "GIT_COMMITTER_EMAIL": "author@example.org",
}

# patch → claims of which at least one must be refuted, and in how many operations at most
WRONG = {
    "01-rename-two-transactions": ({"atomicity", "structure"}, 2),
    "02-inode-freed-first": ({"structure"}, 2),
    "03-bitmap-in-place": ({"structure"}, 1),
    "04a-no-barrier-before-checkpoint": ({"atomicity", "structure"}, 2),
    "04b-no-barrier-after-checkpoint": ({"atomicity", "structure"}, 2),
    "05-stale-record-replayed": ({"atomicity", "durability"}, 3),
    "06a-checksum-of-record-only": ({"atomicity", "structure"}, 1),
    "06b-checksum-of-first-sectors": ({"atomicity", "structure"}, 2),
    "07-truncate-two-transactions": ({"structure"}, 3),
    "08-rename-keeps-replaced-link": ({"structure"}, 3),
    "09-bitmap-cache-not-rolled-back": ({"errors", "structure"}, 4),
    "10-fsync-skips-clean-files": ({"durability"}, 2),
    "11a-recovery-replays-both-slots": ({"durability", "recovery", "structure"}, 3),
    "11b-recovery-forgets-first": ({"recovery", "structure"}, 1),
    "12a-short-write-ignored": ({"errors", "fsync"}, 2),
    "12b-fsync-error-ignored": ({"errors", "fsync"}, 2),
    "12c-cache-kept-after-failed-write": ({"errors"}, 1),
    "12d-failed-flush-repeated": ({"fsync"}, 3),
    "13a-index-counts-from-the-inode": (
        {"a block's number has its own place in the inode or its indirect block"},
        2,
    ),
    "13b-part-ends-one-early": ({"a write changes its own bytes of a block and no others"}, 2),
    "13c-one-block-too-many": ({"as many blocks as it takes, and no more"}, 2),
    "13d-checksum-forgets-order": (
        {"the checksum is over the record and all bodies, in order"},
        2,
    ),
    "13e-slots-overlap": ({"the two slots of the journal do not overlap"}, 2),
}
RIGHT = ("right-async-commit", "right-rename", "right-skip-unchanged")
# Of each kind (of a number) at least one is always judged; `make test-heavy` judges these too.
HEAVY = {"right-async-commit", "right-skip-unchanged", "04b-no-barrier-after-checkpoint"}
HEAVY |= {"06b-checksum-of-first-sectors", "11b-recovery-forgets-first"}
HEAVY |= {"12a-short-write-ignored", "12c-cache-kept-after-failed-write"}
HEAVY |= {"12d-failed-flush-repeated", "13b-part-ends-one-early", "13c-one-block-too-many"}


def marked(*values: str) -> Any:
    """A case of a test; a heavy one with its mark."""
    marks = [pytest.mark.heavy] if values[0] in HEAVY else []
    return pytest.param(*values, marks=marks, id=values[0])


@pytest.fixture
def judged(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Run]:
    """What the gate says of a patch on a branch of a repository made from the example."""
    tree = tmp_path / "repository"
    leave_out = shutil.ignore_patterns("__pycache__", ".refute")
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
    git("apply", "--index", f"changes/{request.param}.patch")
    git("commit", "--quiet", "--message", "change")
    yield gate(tree, base="main", budget=Budget(cpu_s=600, wall_s=600))


def test_every_patch_is_judged() -> None:
    assert {path.stem for path in CHANGES.glob("*.patch")} == {*WRONG, *RIGHT}


@pytest.mark.parametrize(("judged", "name"), [marked(n, n) for n in WRONG], indirect=["judged"])
def test_a_wrong_change_is_refuted_with_its_smallest_sequence(judged: Run, name: str) -> None:
    properties, operations = WRONG[name]
    assert (judged.decision, judged.exit_code) == ("refuted", 1)
    broken = {
        result.claim.name.removeprefix("crash "): len(witness.counterexample.steps)
        for result in judged.results
        if (witness := result.evidence.witness) is not None
    }
    assert broken.keys() & properties
    assert min(broken.values()) <= operations


@pytest.mark.parametrize("judged", [marked(n) for n in RIGHT], indirect=True)
def test_a_right_change_is_accepted(judged: Run) -> None:
    assert judged.reasons == ()
    assert (judged.decision, judged.exit_code) == ("accepted", 0)
    assert all(line.status in ("covered", "exempt") for line in judged.coverage)
