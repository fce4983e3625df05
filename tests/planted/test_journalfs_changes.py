"""The patches of examples/journalfs/changes: each applies, works on the happy path, and is wrong
(or right) in the way its README says, as judged by the brute-force explorer and not by refute.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "journalfs"
CHANGES = EXAMPLE / "changes"
BRUTE_FORCE = ROOT / "tests" / "sound" / "journalfs_bruteforce.py"

A, B, SYNC = ["create", "/a"], ["create", "/b"], ["sync"]
LITTLE = ["write", "/a", 0, "x"]
ONE = ["write", "/a", 0, "x" * 1000]
THREE = ["write", "/a", 0, "y" * 3000]
FULL = [A, ["write", "/a", 0, "f" * 5000], ["create", "/b"], ["write", "/b", 0, "g" * 3000]]

# patch → the sequence of its README, what it breaks; "behaviour" is a violation without a crash.
# What breaks a contract (13) breaks nothing here: few operations on a small device come that far.
EXPECTED = {
    "01-rename-two-transactions": ([A, ["rename", "/a", "/b"]], {"P1", "P3"}),
    "02-inode-freed-first": ([A, ["unlink", "/a"]], {"P3"}),
    "03-bitmap-in-place": ([A], {"P3"}),
    "04a-no-barrier-before-checkpoint": ([A, LITTLE, SYNC], {"P1", "P3"}),
    "04b-no-barrier-after-checkpoint": ([A, LITTLE, SYNC], {"P1", "P3", "P4"}),
    "05-stale-record-replayed": ([A, B, SYNC], {"P2", "P4"}),
    "06a-checksum-of-record-only": ([["mkdir", "/d"]], {"P1"}),
    "06b-checksum-of-first-sectors": ([A, ONE], {"P1"}),
    "07-truncate-two-transactions": ([A, THREE, ["truncate", "/a", 1]], {"P3"}),
    "08-rename-keeps-replaced-link": ([A, B, ["rename", "/a", "/b"]], {"P3"}),
    "09-bitmap-cache-not-rolled-back": (FULL, {"P5"}),
    "10-fsync-skips-clean-files": ([A, ["fsync", "/a"]], {"P2"}),
    "11a-recovery-replays-both-slots": ([A, ["unlink", "/a"], ["fsync", "/"]], {"P2", "P4"}),
    "11b-recovery-forgets-first": ([A], {"P3", "P4"}),
    "12a-short-write-ignored": ([A, SYNC], {"P5", "P6"}),
    "12b-fsync-error-ignored": ([A, ["fsync", "/a"]], {"P5", "P6"}),
    "12c-cache-kept-after-failed-write": ([A], {"P5"}),
    "12d-failed-flush-repeated": ([A, ["fsync", "/a"]], {"P6"}),
    "13a-index-counts-from-the-inode": ([A, LITTLE, SYNC], set()),
    "13b-part-ends-one-early": ([A, LITTLE, SYNC], set()),
    "13c-one-block-too-many": ([A, LITTLE, SYNC], set()),
    "13d-checksum-forgets-order": ([A, LITTLE, SYNC], set()),
    "13e-slots-overlap": ([A, LITTLE, SYNC], set()),
    "right-async-commit": (FULL, set()),
    "right-rename": ([A, B, ["rename", "/a", "/b"], ["mkdir", "/d"]], set()),
    "right-skip-unchanged": (FULL, set()),
}

HAPPY_PATH = """
import fsck
from journalfs import JournalFS, MemoryDevice
device = MemoryDevice.blank(64)
JournalFS.format(device)
fs = JournalFS.mount(device)
fs.mkdir("/d")
fs.create("/a")
assert fs.write("/a", 0, b"hello") == 5
fs.write("/a", 6000, b"far")
fs.link("/a", "/b")
fs.fsync("/a")
fs.rename("/a", "/d/c")
fs.truncate("/b", 3)
assert fs.readdir("/") == ["b", "d"] and fs.readdir("/d") == ["c"]
assert fs.read("/d/c", 0, 9) == b"hel" and fs.stat("/b")["nlink"] == 2
fs.unlink("/b")
fs.unlink("/d/c")
fs.rmdir("/d")
fs.unmount()
fs = JournalFS.mount(device)
assert fs.readdir("/") == [] and fs.stat("/")["nlink"] == 2
assert fsck.problems(bytes(device.image), 1024) == []
"""


@pytest.fixture
def patched(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """The example's tree with one patch applied."""
    tree = tmp_path / "tree"
    shutil.copytree(EXAMPLE / "journalfs", tree / "journalfs")
    for name in ("fsck.py", "journalfs_arithmetic.py"):
        shutil.copy(EXAMPLE / name, tree)
    patch = CHANGES / f"{request.param}.patch"
    done = subprocess.run(
        ["git", "apply", "-p1", "--verbose", str(patch)],
        cwd=tree,
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/usr/bin:/bin", "GIT_CEILING_DIRECTORIES": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    assert "Applied patch" in done.stderr
    return tree


def python(tree: Path, *arguments: str) -> str:
    """The output of an interpreter that imports from the tree."""
    done = subprocess.run(
        [sys.executable, *arguments], cwd=tree, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_patch_is_described_and_expected() -> None:
    names = {path.stem for path in CHANGES.glob("*.patch")}
    described = (CHANGES / "README.md").read_text()
    assert names == set(EXPECTED)
    assert all(f"| {name} |" in described for name in names)
    assert {name[:2] for name in names if name[0].isdigit()} == {f"{n:02}" for n in range(1, 14)}


@pytest.mark.parametrize("patched", sorted(EXPECTED), indirect=True)
def test_patch_passes_a_test_of_the_happy_path(patched: Path) -> None:
    assert python(patched, "-W", "error", "-c", HAPPY_PATH) == ""


@pytest.mark.parametrize(
    ("patched", "name"), [(n, n) for n in sorted(EXPECTED)], indirect=["patched"]
)
def test_patch_breaks_what_its_readme_says(patched: Path, name: str) -> None:
    sequence, broken = EXPECTED[name]
    found = json.loads(python(patched, str(BRUTE_FORCE), ".", "given", json.dumps(sequence)))
    assert found["states"] > 20
    assert set(found["violations"]) >= broken
    assert broken or not found["violations"]
