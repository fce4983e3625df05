"""A git repository read as content-addressed data.

Only object names and raw objects are taken from git, and every object is hashed again here, so that
a tampered object store, a replacement ref or a graft cannot put other content under a commit's
name. Commands that consult the index, attributes, filters, hooks or the network are not used; the
environment is cleared of `GIT_*` because a hook's own variables would redirect every command.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from refute.errors import GitError

_BATCH = 500  # object names of 65 bytes, well below a pipe's 64 KiB
_FLAGS = ("--no-pager", "--no-replace-objects", "--no-optional-locks", "--literal-pathspecs")
_QUIET = {
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_GRAFT_FILE": os.devnull,
    "LC_ALL": "C",
}


def environment() -> dict[str, str]:
    """The environment for git: nothing inherited redirects it, nothing is fetched."""
    return {k: v for k, v in os.environ.items() if not k.startswith("GIT_")} | _QUIET


@dataclasses.dataclass(frozen=True)
class Commit:
    """oid: full object name. tree: of its root. parents: as the object itself names them."""

    oid: str
    tree: str
    parents: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Entry:
    """One path of a tree. kind: "file", "exec", "link" or "submodule". oid: git's blob name."""

    kind: str
    oid: str


_KINDS = {"100644": "file", "100664": "file", "100755": "exec", "120000": "link"}


class Repository:
    """An open repository; a context manager, because it keeps one reading git process.

    root: top of the worktree (the git directory when bare). common_dir: where refs live.
    """

    def __init__(self, root: Path, common_dir: Path, bare: bool) -> None:
        self.root = root
        self.common_dir = common_dir
        self.bare = bare
        self._reader: subprocess.Popen[bytes] | None = None

    @classmethod
    def open(cls, path: Path) -> Repository:
        """The repository that holds `path`. Raises GitError when there is none."""
        asked = ("--is-bare-repository", "--absolute-git-dir", "--git-common-dir")
        bare, git_dir, common = _git(path, "rev-parse", *asked).splitlines()
        common_dir = Path(path, common).resolve()
        if bare == "true":
            return cls(Path(git_dir), common_dir, True)
        return cls(Path(_git(path, "rev-parse", "--show-toplevel").rstrip("\n")), common_dir, False)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if self._reader is not None:
            self._reader.kill()
            self._reader.communicate()
            self._reader = None

    @property
    def shallow(self) -> bool:
        """Whether history is cut off."""
        return (self.common_dir / "shallow").exists()

    @property
    def main_worktree(self) -> Path:
        """The directory beside the common git directory: one for all linked worktrees."""
        return self.common_dir.parent if self.common_dir.name == ".git" else self.common_dir

    def run(self, *arguments: str) -> str:
        """Standard output of one git command, without the final newline. Raises GitError."""
        return _git(self.root, *arguments).rstrip("\n")

    def try_run(self, *arguments: str) -> str | None:
        """As `run`, or None when git says no."""
        try:
            return self.run(*arguments)
        except GitError:
            return None

    def resolve(self, ref: str) -> Commit:
        """The commit that `ref` names. Raises GitError for an unknown one."""
        oid = self.try_run(
            "rev-parse", "--verify", "--quiet", "--end-of-options", ref + "^{commit}"
        )
        if oid is None:
            raise self._unknown(ref)
        return self.commit(oid)

    def _unknown(self, ref: str) -> GitError:
        if ref == "HEAD":
            return GitError(
                "the repository has no commit yet",
                thing="HEAD",
                next_step="commit the code that is there, so that changes to it can be judged",
            )
        names = (
            self.try_run("for-each-ref", "--format=%(refname:short)", "--count=12") or ""
        ).split()
        step = "git fetch --unshallow" if self.shallow else "git fetch, or give another revision"
        return GitError(
            f"{ref!r} names no commit in {self.root}",
            thing="revision",
            value=ref,
            possible=names,
            next_step=step,
        )

    def commit(self, oid: str) -> Commit:
        """The commit object. Raises GitError when it is missing or is no commit."""
        head = self.object(oid, "commit").partition(b"\n\n")[0].decode("utf-8", "replace")
        lines = head.split("\n")
        parents = [line[7:] for line in lines if line.startswith("parent ")]
        return Commit(oid, lines[0].removeprefix("tree "), tuple(parents))

    def object(self, oid: str, kind: str) -> bytes:
        """The content of an object, verified against its name. Raises GitError."""
        (content,) = self.objects([oid], kind)
        return content

    def objects(self, oids: Sequence[str], kind: str) -> Iterator[bytes]:
        """The contents of objects in order, asked for in batches that fit into a pipe."""
        for at in range(0, len(oids), _BATCH):
            batch = oids[at : at + _BATCH]
            reader = self._start()
            assert reader.stdin is not None and reader.stdout is not None
            try:
                reader.stdin.write("".join(oid + "\n" for oid in batch).encode())
                reader.stdin.flush()
                for oid in batch:
                    yield self._verified(reader.stdout, oid, kind)
            except (OSError, ValueError) as error:
                raise GitError(f"git stopped answering: {error}", thing="git") from error

    def _verified(self, answers: IO[bytes], oid: str, kind: str) -> bytes:
        header = answers.readline().split()
        if len(header) != 3:
            raise self._missing(oid)
        size = int(header[2])
        content = answers.read(size + 1)[:size]
        if header[1].decode() != kind or object_name(kind, content, len(oid)) != oid:
            raise GitError(
                f"object {oid} is not the {kind} its name says: the object store is damaged",
                thing="object",
                value=oid,
                next_step="run git fsck",
            )
        return content

    def _start(self) -> subprocess.Popen[bytes]:
        if self._reader is None:
            self._reader = subprocess.Popen(
                ["git", *_FLAGS, "cat-file", "--batch"],
                cwd=self.root,
                env=environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        return self._reader

    def _missing(self, oid: str) -> GitError:
        step = "git fetch --unshallow" if self.shallow else "git fetch, or run git fsck"
        why = "; the clone is shallow" if self.shallow else ""
        return GitError(
            f"object {oid} is not in the repository{why}",
            thing="object",
            value=oid,
            next_step=step,
        )

    def default_branch(self) -> str | None:
        """The full name of the ref that changes are to land on; a remote's one comes first."""
        remote = self.try_run("symbolic-ref", "--quiet", "refs/remotes/origin/HEAD")
        locals_ = (self.try_run("for-each-ref", "--format=%(refname)", "refs/heads") or "").split()
        remotes = (
            self.try_run("for-each-ref", "--format=%(refname)", "refs/remotes") or ""
        ).split()
        configured = self.try_run("config", "--get", "init.defaultBranch")
        names = [n for n in (configured, "main", "master", "trunk") if n]
        wanted = [remote] if remote else []
        wanted += [f"refs/remotes/origin/{n}" for n in names] + [f"refs/heads/{n}" for n in names]
        if len(locals_) == 1:
            wanted.append(locals_[0])
        return next((ref for ref in wanted if ref in (*locals_, *remotes)), None)

    def current_branch(self) -> str | None:
        """The full name of the ref HEAD is on; None when it is detached."""
        return self.try_run("symbolic-ref", "--quiet", "HEAD")

    def merge_base(self, left: str, right: str) -> str | None:
        """The best common ancestor of two commits; None when they share none."""
        return self.try_run("merge-base", left, right)

    def remote_refs_with(self, oid: str) -> tuple[str, ...]:
        """The remote-tracking refs whose history contains a commit."""
        out = self.try_run(
            "for-each-ref", "--format=%(refname)", f"--contains={oid}", "refs/remotes"
        )
        return tuple((out or "").split())


def object_name(kind: str, content: bytes, length: int = 40) -> str:
    """Git's name of an object: SHA-1 for 40 hex digits, SHA-256 for 64."""
    raw = f"{kind} {len(content)}\0".encode() + content
    if length == 64:
        return hashlib.sha256(raw).hexdigest()
    return hashlib.sha1(raw, usedforsecurity=False).hexdigest()


def tree_entries(repository: Repository, tree: str) -> dict[str, Entry]:
    """Path → entry of everything below a tree object. Raises GitError for impossible names."""
    found: dict[str, Entry] = {}
    todo = [("", tree)]
    while todo:
        prefix, oid = todo.pop()
        for mode, name, child in _parse_tree(repository.object(oid, "tree"), len(oid) // 2):
            path = prefix + os.fsdecode(name)
            if name.lower() in (b"", b".", b"..", b".git") or b"/" in name or path in found:
                raise GitError(f"tree {oid} holds an impossible name: {path!r}", thing="tree")
            if mode in ("40000", "040000"):
                todo.append((path + "/", child))
            else:
                found[path] = Entry(_KINDS.get(mode, "submodule"), child)
    return dict(sorted(found.items()))


def _parse_tree(content: bytes, width: int) -> Iterable[tuple[str, bytes, str]]:
    at = 0
    while at < len(content):
        space = content.index(b" ", at)
        end = content.index(b"\0", space)
        oid = content[end + 1 : end + 1 + width].hex()
        yield content[at:space].decode("ascii"), content[space + 1 : end], oid
        at = end + 1 + width


def _git(path: Path, *arguments: str) -> str:
    """Standard output of one git command in `path`. Raises GitError with git's own words."""
    try:
        done = subprocess.run(
            ["git", *_FLAGS, *arguments],
            cwd=path,
            env=environment(),
            capture_output=True,
            text=True,
            errors="surrogateescape",
            check=False,
        )
    except FileNotFoundError as error:
        missing = "git" if path.is_dir() else str(path)
        raise GitError(
            f"{missing} does not exist", thing=missing, next_step="install git, or give a directory"
        ) from error
    except OSError as error:
        raise GitError(f"{path} cannot be used: {error}", thing=str(path)) from error
    if done.returncode:
        said = done.stderr.strip().removeprefix("fatal: ").split("\n")[0]
        raise GitError(
            f"git {arguments[0]} failed in {path}: {said or f'exit {done.returncode}'}",
            thing="repository",
            value=str(path),
            next_step="run refute inside a git repository" if "not a git" in said else "",
        )
    return done.stdout
