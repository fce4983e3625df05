"""The difference of two trees: which files, and in them which units, are not the same.

Files are compared by content, so a mode change or a renamed file is seen, and index flags are not.
"""

from __future__ import annotations

import dataclasses

from refute.change.git import Commit, Repository
from refute.change.trees import (
    EMPTY,
    WORKTREE,
    Tree,
    empty_tree,
    ignored_by,
    read_commit,
    read_worktree,
)
from refute.change.units import Unit, changed_units, same_syntax
from refute.errors import GitError

ADDED, DELETED, CHANGED = "added", "deleted", "changed"
_TEXT = ("file", "exec")


@dataclasses.dataclass(frozen=True)
class FileChange:
    """One path that differs. units: changed units of a Python file of the head.

    same_syntax: a Python file whose syntax trees are equal, so that it needs no claim.
    opaque: the whole file is what changed (not Python, a link, a submodule).
    """

    path: str
    kind: str
    units: tuple[Unit, ...] = ()
    same_syntax: bool = False
    opaque: bool = False


def compare(repository: Repository, base: Tree, head: Tree) -> tuple[FileChange, ...]:
    """The paths that differ, sorted. Contents are read only where names or blobs differ."""
    found = []
    for path in sorted(base.entries.keys() | head.entries.keys()):
        before, after = base.entries.get(path), head.entries.get(path)
        if before == after:
            continue
        if after is None:
            found.append(FileChange(path, DELETED))
            continue
        kind = ADDED if before is None else CHANGED
        if not (path.endswith(".py") and after.kind in _TEXT):
            found.append(FileChange(path, kind, opaque=True))
            continue
        text = before is not None and before.kind in _TEXT
        old = base.content(repository, path) if text else None
        new = head.content(repository, path)
        same = old is not None and same_syntax(old, new)
        found.append(FileChange(path, kind, changed_units(path, old, new), same_syntax=same))
    return tuple(found)


def choose_head(repository: Repository, head: str | None) -> Tree:
    """The head's tree: as named, or the worktree when it is not what HEAD holds, or HEAD.

    Untracked files that HEAD's own `.gitignore` files ignore do not make the worktree count as
    changed; they are part of it all the same.
    """
    if head == WORKTREE or (head is None and not repository.bare):
        current = read_commit(repository, "HEAD")
        disk = read_worktree(repository, current)
        if head == WORKTREE or _dirty(repository, current, disk):
            return disk
        return current
    return read_commit(repository, head or "HEAD")


def _dirty(repository: Repository, current: Tree, disk: Tree) -> bool:
    different = {
        path
        for path in current.entries.keys() | disk.entries.keys()
        if current.entries.get(path) != disk.entries.get(path)
    }
    if not different:
        return False
    untracked = different - current.entries.keys()
    return bool(different - ignored_by(repository.root, untracked))


def choose_base(repository: Repository, base: str | None, head: Tree) -> Tree:
    """The base's tree. Raises GitError when it is not given and cannot be told.

    Without a name: for a worktree on the default branch, HEAD; for a commit that the default branch
    holds, its first parent (nothing, for a root commit); else the merge base with the default
    branch.
    """
    if base is not None:
        return read_commit(repository, base)
    tip = repository.resolve(head.commit or "HEAD")
    default = repository.default_branch()
    on_default = default is not None and repository.current_branch() in (
        default,
        "refs/heads/" + default.rpartition("/")[2],
    )
    if on_default:
        return _natural_base(repository, tip, head)
    if default is None:
        raise GitError(
            "the default branch cannot be told, so neither can the base",
            thing="--base",
            next_step="give --base REF",
        )
    common = repository.merge_base(tip.oid, default)
    if common is None:
        raise GitError(
            f"{head.label} and {default} have no common history",
            thing="--base",
            value=default,
            next_step="git fetch --unshallow" if repository.shallow else "give --base REF",
        )
    if common == tip.oid:
        return _natural_base(repository, tip, head)
    return dataclasses.replace(read_commit(repository, common), label=common[:12])


def _natural_base(repository: Repository, tip: Commit, head: Tree) -> Tree:
    if head.disk is not None:
        return dataclasses.replace(read_commit(repository, tip.oid), label="HEAD")
    if not tip.parents:
        return empty_tree()
    return dataclasses.replace(read_commit(repository, tip.parents[0]), label=f"{head.label}^")


__all__ = ["EMPTY", "FileChange", "choose_base", "choose_head", "compare"]
