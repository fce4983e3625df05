"""Listings: the files of a tree, without caches, environments and other repositories in it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

SKIPPED_DIRECTORIES = frozenset(
    {".git", ".hg", ".svn", ".refute", "__pycache__", "node_modules", ".tox", ".nox", ".mypy_cache"}
    | {".ruff_cache", ".pytest_cache", ".hypothesis", ".eggs", "__pypackages__"}
)
_APART = ("pyvenv.cfg", ".git")  # a directory with one of these is no part of the tree around it


def listing(tree: Path) -> tuple[str, ...]:
    """The paths of all files and links below a directory, sorted.

    Another repository is named, so that it can be noted, but not entered.
    """
    return tuple(sorted(_walk(tree, "")))


def _walk(tree: Path, directory: str) -> Iterator[str]:
    try:
        entries = list(os.scandir(tree / directory))
    except OSError:
        return
    names = {entry.name for entry in entries}
    if directory and "pyvenv.cfg" in names:
        return
    if directory and ".git" in names:
        yield directory
        return
    for entry in entries:
        path = f"{directory}/{entry.name}" if directory else entry.name
        if entry.is_dir(follow_symlinks=False):
            if entry.name not in SKIPPED_DIRECTORIES:
                yield from _walk(tree, path)
        elif entry.name != ".git" and (entry.is_symlink() or entry.is_file()):
            yield path


def is_listed(tree: Path, path: str) -> bool:
    """Whether a text is the path of a file that `listing` has, found without listing the tree.

    False for a pattern, and for a directory, which stands for all below it.
    """
    *folders, name = path.split("/")
    if any(c in path for c in "*?[") or not name or name == ".git":
        return False
    above = tree
    for folder in folders:
        above /= folder
        if folder in ("", ".", "..") or folder in SKIPPED_DIRECTORIES or above.is_symlink():
            return False
        if any((above / mark).exists() for mark in _APART):
            return False
    return (above / name).is_file()
