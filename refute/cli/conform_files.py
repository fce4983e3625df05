"""Which sqllogictest files a command line names: each once, in order, links and loops or not."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from refute.errors import UsageError
from refute.verifiers.sql.conform_run import STDIN

ENDINGS = (".test", ".slt")


def collect(targets: Sequence[str]) -> list[str]:
    """The files to run, without those that are there twice. Raises UsageError.

    A file that is named is taken whatever its name ends in; in directories those of ENDINGS are,
    sorted, links followed.
    """
    found: dict[str, str] = {}
    for target in targets:
        for path in _files_of(target):
            found.setdefault(path if path == STDIN else os.path.realpath(path), path)
    return list(found.values())


def _files_of(target: str) -> list[str]:
    if target == STDIN:
        return [STDIN]
    if not os.path.lexists(target):
        raise UsageError(
            f"{target} does not exist",
            thing="file",
            value=target,
            next_step="name sqllogictest files, or directories that hold some",
        )
    if not Path(target).is_dir():
        return [target]
    files = sorted(_walk(target, set()))
    if not files:
        raise UsageError(
            f"{target} holds no {' or '.join('*' + e for e in ENDINGS)} file",
            thing="directory",
            value=target,
            next_step="name the files themselves if theirs have other names",
        )
    return files


def _walk(directory: str, seen: set[str]) -> Iterator[str]:
    """Test files below the directory; a directory that is reached again is not entered again."""
    real = os.path.realpath(directory)
    if real in seen:
        return
    seen.add(real)
    try:
        entries = sorted(os.scandir(directory), key=lambda entry: entry.name)
    except OSError as error:
        raise UsageError(
            f"{directory} cannot be read: {error.strerror}", thing="directory", value=directory
        ) from error
    for entry in entries:
        if entry.is_dir():
            yield from _walk(entry.path, seen)
        elif entry.name.endswith(ENDINGS):
            yield entry.path
