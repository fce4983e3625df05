"""Paths: from the root directory to the inode that a path names.

A path starts with "/", its components are separated by slashes (empty ones do not count), and "."
and ".." are not among them: the kernel has resolved those before it asks a filesystem.
"""

from __future__ import annotations

import os
from errno import EBUSY, EINVAL, ENAMETOOLONG, ENOENT, ENOTDIR

from journalfs import directory
from journalfs.inodes import Inode, Kind, load
from journalfs.layout import NO_INODE, ROOT
from journalfs.transaction import Transaction


def failure(code: int, path: str) -> OSError:
    """The OSError with this errno about this path."""
    return OSError(code, os.strerror(code), path)


def split(path: str) -> list[bytes]:
    """The components of an absolute path. Raises OSError EINVAL, ENAMETOOLONG."""
    if not path.startswith("/") or "\0" in path:
        raise failure(EINVAL, path)
    components = [os.fsencode(component) for component in path.split("/") if component]
    for component in components:
        if component in (b".", b".."):
            raise failure(EINVAL, path)
        if len(component) > directory.MAXIMUM_NAME:
            raise failure(ENAMETOOLONG, path)
    return components


def resolve(tx: Transaction, path: str) -> Inode:
    """The inode that the path names. Raises OSError ENOENT, ENOTDIR, and as `split`."""
    return _walk(tx, path, split(path))[-1]


def resolve_parent(tx: Transaction, path: str) -> tuple[list[Inode], bytes]:
    """The directories from the root to the one that holds the path's last name, and that name.

    The name itself may name nothing. Raises OSError EBUSY for the root, and as `resolve`.
    """
    components = split(path)
    if not components:
        raise failure(EBUSY, path)
    ancestors = _walk(tx, path, components[:-1])
    if ancestors[-1].kind != Kind.DIRECTORY:
        raise failure(ENOTDIR, path)
    return ancestors, components[-1]


def _walk(tx: Transaction, path: str, components: list[bytes]) -> list[Inode]:
    """The inodes on the way down from the root, which is the first of them."""
    inodes = [load(tx, ROOT)]
    for component in components:
        if inodes[-1].kind != Kind.DIRECTORY:
            raise failure(ENOTDIR, path)
        number = directory.find(tx, inodes[-1], component)
        if number == NO_INODE:
            raise failure(ENOENT, path)
        inodes.append(load(tx, number))
    return inodes
