"""Revisions and worktrees as listings of content, and their export into clean directories.

A worktree is everything on disk except `.git`, caches, `node_modules` and virtual environments: the
index is not asked, so `assume-unchanged`, `skip-worktree` and ignore rules hide nothing. A symbolic
link that leaves the tree is not exported, because it would bring files that no digest covers.
"""

from __future__ import annotations

import dataclasses
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from refute.change.git import Entry, Repository, environment, object_name, tree_entries
from refute.closure import tree_files
from refute.errors import GitError

WORKTREE = "worktree"
EMPTY = "empty"


@dataclasses.dataclass
class Tree:
    """A revision's content. label: what reports call it. notes: what was left out, and why.

    entries: path → kind and blob name; for a worktree, of the content at the time of export.
    """

    label: str
    entries: dict[str, Entry]
    commit: str = ""
    disk: Path | None = None
    notes: list[str] = dataclasses.field(default_factory=list)

    def content(self, repository: Repository, path: str) -> bytes:
        """The bytes of a file, or the target of a link."""
        if self.disk is None:
            return repository.object(self.entries[path].oid, "blob")
        return _read_disk(self.disk / path)


def read_commit(repository: Repository, ref: str) -> Tree:
    """The tree of a commit. Raises GitError."""
    commit = repository.resolve(ref)
    return Tree(ref, tree_entries(repository, commit.tree), commit.oid)


def empty_tree() -> Tree:
    """The base of a first commit."""
    return Tree(EMPTY, {})


def read_worktree(repository: Repository, current: Tree) -> Tree:
    """What is on disk, hashed as git would. Raises GitError for a bare repository.

    current: the commit checked out; its files count even in directories that are skipped, and its
    submodules stand for themselves.
    """
    if repository.bare:
        raise GitError(
            "a bare repository has no worktree",
            thing="--head",
            value=WORKTREE,
            next_step="give --head REF",
        )
    tree = Tree(WORKTREE, {}, disk=repository.root)
    tracked = [p for p in current.entries if os.path.lexists(repository.root / p)]
    for path in sorted({*tree_files(repository.root), *tracked}):
        known = current.entries.get(path)
        if known is not None and known.kind == "submodule":
            tree.entries[path] = known
            continue
        entry = _disk_entry(repository.root, path, len(current.commit))
        if entry is None:
            tree.notes.append(f"{path}: not a readable file; left out")
        else:
            tree.entries[path] = entry
    return tree


def _disk_entry(root: Path, path: str, oid_length: int) -> Entry | None:
    try:
        content = _read_disk(root / path)
        kind = _disk_kind(root / path)
    except OSError:
        return None
    return Entry(kind, object_name("blob", content, oid_length))


def _disk_kind(path: Path) -> str:
    if path.is_symlink():
        return "link"
    return "exec" if path.stat().st_mode & 0o100 else "file"


def _read_disk(path: Path) -> bytes:
    if path.is_symlink():
        return os.fsencode(path.readlink())
    return path.read_bytes()


def export(
    repository: Repository,
    tree: Tree,
    target: Path,
    reuse: tuple[Path, Mapping[str, Entry]] | None = None,
) -> None:
    """Write the tree's files into the directory `target`, read-only, links last.

    reuse: an earlier export and its entries; equal files become hard links to it. Links that leave
    the tree and submodules are left out and noted in `tree.notes`.
    """
    target.mkdir(parents=True, exist_ok=True)
    for directory in sorted({p.rpartition("/")[0] for p in tree.entries}):
        (target / directory).mkdir(parents=True, exist_ok=True)
    waiting: list[str] = []
    for path, entry in tree.entries.items():
        if entry.kind == "submodule":
            tree.notes.append(f"{path}: a submodule; its content is not judged")
        elif entry.kind != "link":
            same = reuse is not None and reuse[1].get(path) == entry
            if not (same and reuse and _linked(f"{reuse[0]}/{path}", f"{target}/{path}")):
                waiting.append(path)
    for path, content in zip(waiting, _contents(repository, tree, waiting), strict=True):
        entry = tree.entries[path]
        if tree.disk is not None:
            tree.entries[path] = Entry(entry.kind, object_name("blob", content, len(entry.oid)))
        write_file(f"{target}/{path}", content, executable=entry.kind == "exec")
    links = [path for path, entry in tree.entries.items() if entry.kind == "link"]
    _export_links(repository, tree, target, links)
    if tree.disk is not None:
        tree.disk = target  # what is compared is what is judged, whatever is written meanwhile


def _contents(repository: Repository, tree: Tree, paths: list[str]) -> Iterator[bytes]:
    if tree.disk is None:
        return repository.objects([tree.entries[path].oid for path in paths], "blob")
    return (_read_disk(tree.disk / path) for path in paths)


def write_file(place: str | Path, content: bytes, *, executable: bool = False) -> None:
    """Put a new read-only file there. Raises FileExistsError when something is there."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    descriptor = os.open(place, flags, 0o555 if executable else 0o444)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)


def _linked(source: str, place: str) -> bool:
    try:
        os.link(source, place, follow_symlinks=False)
    except OSError:
        return False
    return True


def _export_links(repository: Repository, tree: Tree, target: Path, links: list[str]) -> None:
    for path in links:
        (target / path).symlink_to(os.fsdecode(tree.content(repository, path)))
    real = os.path.realpath(target)
    for path in links:
        place = target / path
        inside = os.path.realpath(place)
        if not (inside == real or inside.startswith(real + os.sep)):
            place.unlink()
            tree.notes.append(f"{path}: a symbolic link that leaves the tree; left out")


def copy_part(source: Path, target: Path, paths: Iterable[str]) -> None:
    """A new directory with these files of an exported tree, as hard links where possible."""
    for path in paths:
        place = target / path
        place.parent.mkdir(parents=True, exist_ok=True)
        origin = (source / path).resolve()
        if not _linked(str(origin), str(place)):
            shutil.copyfile(origin, place)
            place.chmod(origin.stat().st_mode)


def ignored_by(tree: Path, paths: Iterable[str]) -> frozenset[str]:
    """Those paths that the `.gitignore` files inside `tree` ignore.

    Asked in an empty repository of its own, so that the judged one's index and exclude file have
    no say. An ignore file among the paths never ignores itself.
    """
    wanted = sorted(p for p in set(paths) if p.rpartition("/")[2] != ".gitignore")
    if not wanted:
        return frozenset()
    with tempfile.TemporaryDirectory(prefix="refute-ignore-") as git_dir:
        base = ["git", f"--git-dir={git_dir}"]
        _run([*base, "init", "--quiet", "--bare", "--template="], tree, b"")
        ask = [*base, f"--work-tree={tree}", "check-ignore", "--no-index", "-z", "--stdin"]
        done = _run(ask, tree, b"\0".join(os.fsencode(p) for p in wanted))
    return frozenset(os.fsdecode(p) for p in done.stdout.split(b"\0") if p)


def apply_patch(tree: Path, patch: bytes) -> str:
    """Apply a unified patch to a directory outside any repository; why not, or empty.

    The directory's files may be hard links: git writes new files, so their twins stay as they are.
    """
    done = _run(["git", "apply", "--whitespace=nowarn", "-"], tree, patch)
    return "" if done.returncode == 0 else done.stderr.decode("utf-8", "replace").strip()


def _run(command: list[str], tree: Path, stdin: bytes) -> subprocess.CompletedProcess[bytes]:
    quiet = environment() | {"GIT_CEILING_DIRECTORIES": str(tree.parent)}
    return subprocess.run(
        command, input=stdin, cwd=tree, env=quiet, capture_output=True, check=False
    )


def patched_paths(patch: bytes) -> Iterator[str]:
    """The paths that a unified patch names, for choosing what to copy."""
    for line in patch.decode("utf-8", "replace").splitlines():
        for mark in ("--- a/", "+++ b/"):
            if line.startswith(mark):
                yield line.removeprefix(mark).split("\t")[0]
