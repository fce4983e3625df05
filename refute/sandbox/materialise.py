"""Materialise: copy a closure's files, and nothing else, under one directory."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable

_CHUNK = 2**20


def copy_files(tree: str, files: Iterable[str], target: str) -> None:
    """Copy `files`, paths relative to `tree`, to `target`. Raises ValueError naming the file.

    A symbolic link is copied as a link, never followed: a change could commit one that points at
    what its worker must not read.
    """
    made = {""}
    for name in files:
        parts = name.split("/")
        if name.startswith("/") or ".." in parts:
            raise ValueError(f"{name!r} is not a path inside the tree")
        try:
            _make_parents(tree, parts[:-1], target, made)
            _copy(f"{tree}/{name}", f"{target}/{name}")
        except OSError as error:
            raise ValueError(f"{name!r} cannot be copied: {error.strerror}") from error


def remove_files(directory: str) -> None:
    """Remove a directory and all below it; links are removed, not followed."""
    for path, directories, files in os.walk(directory, topdown=False):
        for name in files:
            os.unlink(f"{path}/{name}")
        for name in directories:
            below = f"{path}/{name}"
            (os.unlink if os.path.islink(below) else os.rmdir)(below)
    os.rmdir(directory)


def _make_parents(tree: str, parts: list[str], target: str, made: set[str]) -> None:
    for depth in range(1, len(parts) + 1):
        path = "/".join(parts[:depth])
        if path in made:
            continue
        if stat.S_ISLNK(os.lstat(f"{tree}/{path}").st_mode):
            raise ValueError(f"{path!r} is a symbolic link, not a directory")
        os.mkdir(f"{target}/{path}", 0o755)
        made.add(path)


def _copy(source: str, target: str) -> None:
    status = os.lstat(source)
    if stat.S_ISLNK(status.st_mode):
        os.symlink(os.readlink(source), target)
        return
    if not stat.S_ISREG(status.st_mode):
        raise ValueError(f"{source.rpartition('/')[2]!r} is not a file")
    mode = 0o555 if status.st_mode & 0o100 else 0o444
    reading = os.open(source, os.O_RDONLY | os.O_NOFOLLOW)
    writing = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        while data := os.read(reading, _CHUNK):
            os.write(writing, data)
    finally:
        os.close(reading)
        os.close(writing)
