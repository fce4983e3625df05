"""The executable filesystem spec and journalfs answer as a real directory of the kernel does.

Errors are compared by errno, exactly: the alternatives that the spec allows do not count here.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from refute.budget import Budget
from refute.check import check
from refute.claim import Statement, Verdict, claim
from refute.evidence import Evidence
from refute.oracles.directory import Directory
from refute.site import Site
from refute.specs.domains import OneOf
from refute.specs.reference import AgreesWith

SPEC = "refute.specs.library.filesystem:Filesystem"
JOURNALFS = Path(__file__).parents[2] / "examples" / "journalfs"
PATHS = {"path": OneOf("/a", "/b", "/a/b")}
PAIRS = {"src": PATHS["path"], "dst": PATHS["path"]}
OPERATIONS = {
    "create": PATHS,
    "mkdir": PATHS,
    "rename": PAIRS,
    "link": PAIRS,
    "unlink": PATHS,
    "rmdir": PATHS,
    "write": {"path": OneOf("/a", "/b"), "offset": OneOf(0, 3, -1), "data": OneOf(b"xy", b"")},
    "truncate": {"path": OneOf("/a"), "size": OneOf(0, 1, 5, -1)},
    "read": {"path": OneOf("/a", "/b"), "offset": OneOf(0, 1, 9), "size": OneOf(9)},
    "fsync": PATHS,
}
OBSERVED = [
    *((name, path) for path in ("/", "/a", "/b", "/a/b") for name in ("stat", "readdir")),
    ("read", "/a", 0, 9),
    ("read", "/b", 0, 9),
]
IGNORED = {"stat": {"ino": {}, "size": {"kind": "dir"}}}


def agrees(subject: str, reference: str, **options: Any) -> Statement:
    operations = options.pop("operations", OPERATIONS)
    options = {"observe": OBSERVED, "ignore": IGNORED, **options}
    return AgreesWith(subject, reference, operations, **options)


def judged(statement: Statement, cases: int, tree: Path = JOURNALFS) -> Evidence:
    budget = Budget(cases=cases, wall_s=120.0, cpu_s=120.0, seed=4)
    [evidence] = check(claim("it", statement), budget, Site(tree, tree, (".",)))
    return evidence


def test_the_spec_does_what_the_kernel_does_to_depth_two_and_beyond() -> None:
    evidence = judged(agrees(SPEC, "directory", longest=14), cases=3400)
    assert evidence.verdict is Verdict.EXHAUSTED, evidence.reason
    assert evidence.scope.depths == {"depth": 2}
    count = 5 * 3 + 2 * 9 + 12 + 4 + 6
    assert evidence.distribution.startswith(f"{count + count**2} of all sequences to depth 2")


def test_the_spec_does_what_the_kernel_does_to_depth_three() -> None:
    path = {"path": OneOf("/a", "/a/b")}
    pair = {"src": OneOf("/a", "/b"), "dst": OneOf("/a", "/a/b")}
    few = {"create": path, "mkdir": path, "rename": pair, "link": pair, "unlink": path}
    kinds = OBSERVED[:-2]  # nothing is written
    evidence = judged(agrees(SPEC, "directory", operations=few, observe=kinds, depth=3), cases=3000)
    assert evidence.verdict is Verdict.EXHAUSTED, evidence.reason
    assert evidence.tried == 3000
    assert evidence.scope.depths == {"depth": 3}


@pytest.mark.parametrize(("reference", "cases"), [(SPEC, 100), ("directory", 1000)])
def test_journalfs_does_what_the_reference_does(reference: str, cases: int) -> None:
    """The spec, which does what the directory does, is compared in every single operation only.

    But for one thing that POSIX leaves open: which of two wrong arguments is looked at first."""
    statement = agrees(
        "journalfs:JournalFS",
        reference,
        operations={**OPERATIONS, "truncate": {"path": OneOf("/a"), "size": OneOf(0, 1, 5)}},
        device={"block_count": 128, "block_size": 1024},
        may_refuse=["ENOSPC"],
        depth=1,
    )
    evidence = judged(statement, cases=cases)
    assert evidence.verdict is Verdict.EXHAUSTED, evidence.reason


@pytest.fixture
def directory() -> Iterator[Directory]:
    made = Directory()
    yield made
    made.close()


def raises_errno(number: int) -> Any:
    return pytest.raises(OSError, match=rf"^\[Errno {number}\]")


def test_a_directory_is_empty_and_gone_when_closed() -> None:
    made = Directory()
    made.create("/a")
    made.mkdir("/d")
    made.create("/d/b")
    assert made.readdir("/") == ["a", "d"]
    made.close()
    with raises_errno(errno.ENOENT):
        made.readdir("/")


def test_nothing_outside_is_reached(directory: Directory) -> None:
    for path in ("/../x", "/a/../../x", "x", "/./x", "/a\0b"):
        with raises_errno(errno.EINVAL):
            directory.create(path)


@pytest.mark.parametrize(
    ("operation", "number"),
    [
        (("rename", "/", "/a"), errno.EBUSY),
        (("rename", "/a", "/"), errno.EBUSY),
        (("rmdir", "/"), errno.EBUSY),
        (("unlink", "/"), errno.EISDIR),
        (("create", "/"), errno.EEXIST),
        (("mkdir", "/"), errno.EEXIST),
        (("link", "/a", "/"), errno.EEXIST),
        (("read", "/a", 0, -1), errno.EINVAL),
        (("write", "/", 0, b"x"), errno.EISDIR),
    ],
    ids=str,
)
def test_the_root_is_a_root(directory: Directory, operation: tuple[Any, ...], number: int) -> None:
    directory.create("/a")
    name, *args = operation
    with raises_errno(number):
        getattr(directory, name)(*args)
    assert directory.readdir("/") == ["a"]


def test_results_have_the_shape_of_the_spec(directory: Directory) -> None:
    directory.mkdir("/d")
    directory.mkdir("/d/e")
    directory.create("/a")
    assert directory.write("/a", 2, b"xy") == 2
    directory.link("/a", "/b")
    directory.fsync("/a")
    directory.sync()
    stat = directory.stat("/a")
    assert {k: stat[k] for k in ("kind", "size", "nlink")} == {
        "kind": "file",
        "size": 4,
        "nlink": 2,
    }
    assert stat["ino"] == directory.stat("/b")["ino"]
    assert directory.stat("/d")["nlink"] == 3
    assert directory.stat("/d")["size"] == 0
    assert directory.read("/b", 0, 9) == b"\0\0xy"
