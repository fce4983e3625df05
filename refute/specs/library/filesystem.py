"""A POSIX-like filesystem as an executable spec over plain data, without a disk and without time.

It says what every operation returns, which error it gives, and what the tree looks like afterwards.
It knows nothing of blocks: how much fits is the implementation's business, so a spec never answers
ENOSPC, EFBIG or ENAMETOOLONG; a judge lets an implementation refuse with those and leaves the spec
where it was. Where POSIX lets implementations choose the error, the one of Linux is raised and the
others are listed in `FileError.also`.

Sources: POSIX.1-2017 rename(), link(), unlink(), mkdir(), rmdir(); Linux man-pages section 2.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator, Sequence

from refute.plain import Plain

ROOT = 1
NAME_MAX = 255


class FileError(OSError):
    """An operation's POSIX error. also: errno values that POSIX allows in its place."""

    def __init__(self, number: int, path: str, also: Sequence[int] = ()) -> None:
        super().__init__(number, os.strerror(number), path)
        self.also = frozenset(also)

    @property
    def all(self) -> frozenset[int]:
        """Every errno value that will do."""
        return self.also | ({self.errno} if self.errno is not None else set())


class _Node:
    """An inode: a directory when `entries` is a dict (name → inode number), else a file."""

    __slots__ = ("content", "entries")

    def __init__(self, entries: dict[str, int] | None, content: bytes = b"") -> None:
        self.entries = entries
        self.content = content


class Filesystem:
    """A tree of files and directories. Paths are absolute: `/`, `/a`, `/d/b`.

    Methods return what the operation returns and raise FileError. `apply` calls one by name and
    `view` gives the whole tree, which is all that a judge of crash consistency needs.
    """

    OPERATIONS = frozenset(
        {"create", "write", "read", "truncate", "unlink", "link", "rename", "mkdir", "rmdir"}
        | {"readdir", "stat", "fsync", "sync"}
    )

    def __init__(self) -> None:
        self._nodes: dict[int, _Node] = {ROOT: _Node({})}
        self._next = ROOT + 1

    def copy(self) -> Filesystem:
        """An independent filesystem in the same state."""
        twin = Filesystem()
        twin._next = self._next
        twin._nodes = {
            number: _Node(None if node.entries is None else dict(node.entries), node.content)
            for number, node in self._nodes.items()
        }
        return twin

    def apply(self, operation: str, args: Sequence[Plain]) -> Plain:
        """The result of the operation called `operation`. Raises FileError."""
        if operation not in self.OPERATIONS:
            raise FileError(errno.ENOSYS, operation)
        return getattr(self, operation)(*args)

    def create(self, path: str) -> None:
        """Make an empty file. EEXIST when the name is taken."""
        parent, name = self._place(path)
        if name in parent:
            raise FileError(errno.EEXIST, path)
        parent[name] = self._new(_Node(None))

    def write(self, path: str, offset: int, data: bytes) -> int:
        """Put `data` at `offset`, filling a gap with zeros; returns the number of bytes."""
        node = self._file(path)
        if offset < 0:
            raise FileError(errno.EINVAL, path)
        if data:
            old = node.content.ljust(offset, b"\0")
            node.content = old[:offset] + bytes(data) + old[offset + len(data) :]
        return len(data)

    def read(self, path: str, offset: int, size: int) -> bytes:
        """At most `size` bytes from `offset`; empty at or after the end."""
        node = self._file(path)
        if offset < 0 or size < 0:
            raise FileError(errno.EINVAL, path)
        return node.content[offset : offset + size]

    def truncate(self, path: str, size: int) -> None:
        """Cut the file to `size` bytes, or lengthen it with zeros. The size is looked at first."""
        if size < 0:
            wrong = self._errors((self._file, path))
            raise FileError(errno.EINVAL, path, also=[n for e in wrong for n in e.all])
        node = self._file(path)
        node.content = node.content[:size].ljust(size, b"\0")

    def unlink(self, path: str) -> None:
        """Remove the name of a file; the file goes with its last name."""
        parent, name = self._place(path)
        if self._node(path).entries is not None:
            raise FileError(errno.EISDIR, path, also=(errno.EPERM,))
        self._drop(parent.pop(name))

    def link(self, src: str, dst: str) -> None:
        """Give the file `src` a second name `dst`."""
        self._check_paths((self._node, src), (self._place, dst))
        node = self._node(src)
        parent, name = self._place(dst)
        if name in parent:
            raise FileError(errno.EEXIST, dst, also=(errno.EPERM, errno.EISDIR, errno.EINVAL))
        if node.entries is not None:
            raise FileError(errno.EPERM, src, also=(errno.EISDIR, errno.EINVAL))
        parent[name] = self._number(src)

    def rename(self, src: str, dst: str) -> None:
        """Move `src` to the name `dst` in one step, replacing what was there.

        Two names of one file stay both (POSIX). A directory replaces only an empty directory, a
        file only a file, and nothing moves into itself.
        """
        if "/" in (src, dst):
            raise FileError(errno.EBUSY, src, also=(errno.EINVAL, errno.EEXIST, errno.ENOTEMPTY))
        self._check_paths((self._place, src), (self._place, dst), (self._node, src))
        old_parent, old_name = self._place(src)
        moved = self._node(src)
        number = self._number(src)
        new_parent, new_name = self._place(dst)
        if moved.entries is not None and dst.startswith(src + "/"):
            raise FileError(errno.EINVAL, dst)
        if src.startswith(dst + "/"):
            raise FileError(errno.ENOTEMPTY, dst, also=(errno.EEXIST, errno.EISDIR, errno.EINVAL))
        target = new_parent.get(new_name)
        if target == number:
            return
        if target is not None:
            self._replaceable(moved, self._nodes[target], src, dst)
        new_parent[new_name] = number
        del old_parent[old_name]
        if target is not None:
            self._drop(target)

    def mkdir(self, path: str) -> None:
        """Make an empty directory. EEXIST when the name is taken."""
        if path == "/":
            raise FileError(errno.EEXIST, path)
        parent, name = self._place(path)
        if name in parent:
            raise FileError(errno.EEXIST, path)
        parent[name] = self._new(_Node({}))

    def rmdir(self, path: str) -> None:
        """Remove an empty directory."""
        if path == "/":
            raise FileError(errno.EBUSY, path, also=(errno.EINVAL, errno.ENOTEMPTY))
        parent, name = self._place(path)
        entries = self._node(path).entries
        if entries is None:
            raise FileError(errno.ENOTDIR, path)
        if entries:
            raise FileError(errno.ENOTEMPTY, path, also=(errno.EEXIST,))
        self._drop(parent.pop(name))

    def readdir(self, path: str) -> list[str]:
        """The names in a directory, sorted, without `.` and `..`."""
        return sorted(self._directory(path))

    def stat(self, path: str) -> dict[str, Plain]:
        """kind "file" or "dir", size in bytes (0 for a directory), nlink, ino."""
        node = self._node(path)
        number = self._number(path)
        if node.entries is not None:
            return {"kind": "dir", "size": 0, "nlink": self._dir_nlink(node), "ino": number}
        nlink = sum(1 for _, child in self._names() if child == number)
        return {"kind": "file", "size": len(node.content), "nlink": nlink, "ino": number}

    def fsync(self, path: str) -> None:
        """Nothing to see: a spec's state is always durable. ENOENT for a missing path."""
        self._node(path)

    def sync(self) -> None:
        """As `fsync`, for the whole filesystem."""

    def view(self) -> dict[str, Plain]:
        """The tree as plain data: path → ("dir", nlink) or ("file", size, nlink, content, twin).

        twin: the first path, in order, that names the same file; equal to the path itself for a
        file with one name. Inode numbers are left out, because an implementation may choose them.
        """
        names = sorted(self._names())
        nlink: dict[int, int] = {}
        twin: dict[int, str] = {}
        for path, number in names:
            nlink[number] = nlink.get(number, 0) + 1
            twin.setdefault(number, path)
        tree: dict[str, Plain] = {"/": ("dir", self._dir_nlink(self._nodes[ROOT]))}
        for path, number in names:
            node = self._nodes[number]
            if node.entries is not None:
                tree[path] = ("dir", self._dir_nlink(node))
            else:
                content = node.content
                tree[path] = ("file", len(content), nlink[number], content, twin[number])
        return tree

    def _names(self, number: int = ROOT, prefix: str = "") -> Iterator[tuple[str, int]]:
        for name, child in (self._nodes[number].entries or {}).items():
            path = f"{prefix}/{name}"
            yield path, child
            yield from self._names(child, path)

    def _dir_nlink(self, node: _Node) -> int:
        children = (node.entries or {}).values()
        return 2 + sum(self._nodes[child].entries is not None for child in children)

    def _new(self, node: _Node) -> int:
        number = self._next
        self._next += 1
        self._nodes[number] = node
        return number

    def _drop(self, number: int) -> None:
        if all(child != number for _, child in self._names()):
            del self._nodes[number]

    def _check_paths(self, *looks: tuple[Callable[[str], object], str]) -> None:
        """Raise what is wrong with any path, the first being Linux's error.

        POSIX does not say which is looked at first.
        """
        wrong = self._errors(*looks)
        if wrong:
            number = wrong[0].errno or errno.EINVAL
            also = {n for e in wrong for n in e.all if n != number}
            raise FileError(number, looks[0][1], also=sorted(also))

    def _errors(self, *looks: tuple[Callable[[str], object], str]) -> list[FileError]:
        wrong: list[FileError] = []
        for look, path in looks:
            try:
                look(path)
            except FileError as error:
                wrong.append(error)
        return wrong

    def _replaceable(self, moved: _Node, target: _Node, src: str, dst: str) -> None:
        if target.entries is None:
            if moved.entries is not None:
                raise FileError(errno.ENOTDIR, dst)
        elif moved.entries is None:
            raise FileError(errno.EISDIR, dst)
        elif target.entries:
            raise FileError(errno.ENOTEMPTY, dst, also=(errno.EEXIST,))

    def _parts(self, path: str) -> list[str]:
        if not path.startswith("/"):
            raise FileError(errno.EINVAL, path, also=(errno.ENOENT,))
        parts = [part for part in path.split("/") if part]
        if any(part in (".", "..") or "\0" in part for part in parts):
            raise FileError(errno.EINVAL, path)
        if any(len(os.fsencode(part)) > NAME_MAX for part in parts):
            raise FileError(errno.ENAMETOOLONG, path)
        return parts

    def _walk(self, parts: Sequence[str], path: str) -> int:
        number = ROOT
        for part in parts:
            entries = self._nodes[number].entries
            if entries is None:
                raise FileError(errno.ENOTDIR, path)
            if part not in entries:
                raise FileError(errno.ENOENT, path)
            number = entries[part]
        return number

    def _number(self, path: str) -> int:
        return self._walk(self._parts(path), path)

    def _node(self, path: str) -> _Node:
        return self._nodes[self._number(path)]

    def _file(self, path: str) -> _Node:
        node = self._node(path)
        if node.entries is not None:
            raise FileError(errno.EISDIR, path, also=(errno.EINVAL,))
        return node

    def _directory(self, path: str) -> dict[str, int]:
        entries = self._node(path).entries
        if entries is None:
            raise FileError(errno.ENOTDIR, path)
        return entries

    def _place(self, path: str) -> tuple[dict[str, int], str]:
        """The directory that holds (or would hold) the path's last name, and that name."""
        parts = self._parts(path)
        if not parts:
            raise FileError(errno.EEXIST, path, also=(errno.EISDIR, errno.EBUSY, errno.EINVAL))
        entries = self._nodes[self._walk(parts[:-1], path)].entries
        if entries is None:
            raise FileError(errno.ENOTDIR, path)
        return entries, parts[-1]
