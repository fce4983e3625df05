"""Files that a test reads, such as `data/csv/x.csv`, for an engine that sees no others.

An engine in a worker has nothing of the tree, so that it cannot read the results it should give.
What the SQL of a file names, relative to the root, is therefore given to the worker, and neither
the file itself nor any other test.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from refute.oracles.sqllogictest.extended.duckdb_nodes import Unzip
from refute.oracles.sqllogictest.extended.program import Node

LARGEST = 32 * 2**20  # bytes of one file
MOST = 96 * 2**20  # bytes of all
NUMBER = 2000

_QUOTED = re.compile(r"'([^'\n]{1,400})'")
_FOR_ANYTHING = re.compile(r"\$?\{[^}/]*\}")
_TESTS = (".test", ".test_slow", ".test_coverage", ".test_template", ".slt")


def data_files(root: str, nodes: Sequence[Node], known: Callable[[str], str]) -> tuple[str, ...]:
    """Paths of files, relative to the root, that the SQL of these nodes names.

    known: puts values in place of what stands for folders; what else stands for something may be
    anything. More than is allowed is left out: a record that needs it fails.
    """
    found: dict[str, int] = {}
    base = Path(root)
    for text in sorted(set(_named(nodes, known))):
        for path in _matching(base, text):
            size = _size(path)
            if 0 <= size <= LARGEST and len(found) < NUMBER and sum(found.values()) + size <= MOST:
                found[path.relative_to(base).as_posix()] = size
    return tuple(sorted(found))


def _named(nodes: Sequence[Node], known: Callable[[str], str]) -> Iterator[str]:
    """Relative paths, and patterns of them, in quotes."""
    for node in nodes:
        yield from _named(getattr(node, "body", ()), known)
        texts = _QUOTED.findall(getattr(node, "sql", ""))
        if isinstance(node, Unzip):
            texts.append(node.source)
        for text in texts:
            path = _FOR_ANYTHING.sub("*", known(text)).removeprefix("./")
            if "/" in path and not path.startswith(("/", "*")) and ".." not in path.split("/"):
                yield path


def _matching(base: Path, text: str) -> Iterator[Path]:
    """The files that a path or pattern names; all of a folder."""
    if "://" in text:
        return
    try:
        paths = sorted(base.glob(text)) if re.search(r"[*?\[]", text) else [base / text]
        for path in paths:
            yield from sorted(path.rglob("*")) if path.is_dir() else [path]
    except (OSError, ValueError, NotImplementedError):  # what is in quotes need not be a path
        return


def _size(path: Path) -> int:
    """Of a plain file that is no test; -1 otherwise."""
    if path.is_symlink() or not path.is_file() or path.name.endswith(_TESTS):
        return -1
    return path.stat().st_size
