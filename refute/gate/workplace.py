"""The directory that one run of the gate works in, gone when the run ends however it ends.

A killed process removes nothing, so each directory is locked while its run lives, and the next run
removes those that nobody holds any more.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

PREFIX = "refute-gate-"
_SETTLED_S = 10.0  # a directory younger than this may not be locked yet


@contextlib.contextmanager
def workplace() -> Iterator[Path]:
    """A new directory for one run; those that killed runs left are removed."""
    _sweep(Path(tempfile.gettempdir()))
    work = Path(tempfile.mkdtemp(prefix=PREFIX))
    held = _lock(work)
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)
        if held is not None:
            os.close(held)


def _sweep(parent: Path) -> None:
    for entry in os.scandir(parent):
        if not (entry.name.startswith(PREFIX) and entry.is_dir(follow_symlinks=False)):
            continue
        facts = entry.stat(follow_symlinks=False)
        if facts.st_uid != os.getuid() or time.time() - facts.st_mtime < _SETTLED_S:
            continue
        held = _lock(Path(entry.path))
        if held is not None:
            shutil.rmtree(entry.path, ignore_errors=True)
            os.close(held)


def _lock(directory: Path) -> int | None:
    """A descriptor that holds the directory; None when another run does, or locks do not work."""
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor
