"""A real directory on the kernel's filesystem, with the operations of the filesystem spec.

What the kernel answers is the truth about POSIX behaviour that nobody here wrote. It is made in the
private temporary space of a worker, and only the result's shape is ours: sizes of directories read
0, since every filesystem has its own idea of them, and names come sorted.

The directory is not a root, so the kernel would take `/` for an ordinary directory; its answers for
a root are given here instead (EBUSY, EISDIR and EEXIST as in the kernel's fs/namei.c, where a path
without a last name is refused). Paths with `.` or `..` are refused with EINVAL, as the spec does.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import tempfile
from pathlib import Path

from refute.plain import Plain


class Directory:
    """An empty directory. Methods take absolute paths and raise the kernel's OSError."""

    def __init__(self) -> None:
        self._root = tempfile.mkdtemp(prefix="directory-")

    def close(self) -> None:
        """Remove the directory and everything in it."""
        shutil.rmtree(self._root)

    def create(self, path: str) -> None:
        """Make an empty file. EEXIST when the name is taken."""
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY
        os.close(os.open(self._real(path, root=errno.EEXIST), flags, 0o644))

    def write(self, path: str, offset: int, data: bytes) -> int:
        """Put `data` at `offset`; returns the number of bytes written."""
        descriptor = os.open(self._real(path), os.O_WRONLY)
        try:
            return os.pwrite(descriptor, data, offset)
        finally:
            os.close(descriptor)

    def read(self, path: str, offset: int, size: int) -> bytes:
        """At most `size` bytes from `offset`."""
        descriptor = os.open(self._real(path), os.O_RDONLY)
        try:
            if size < 0:
                raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
            return os.pread(descriptor, size, offset)
        finally:
            os.close(descriptor)

    def truncate(self, path: str, size: int) -> None:
        """Cut the file to `size` bytes, or lengthen it with zeros."""
        os.truncate(self._real(path), size)

    def unlink(self, path: str) -> None:
        """Remove the name of a file."""
        Path(self._real(path, root=errno.EISDIR)).unlink()

    def link(self, src: str, dst: str) -> None:
        """Give the file `src` a second name `dst`."""
        os.link(self._real(src), self._real(dst, root=errno.EEXIST), follow_symlinks=False)

    def rename(self, src: str, dst: str) -> None:
        """Move `src` to the name `dst` in one step, replacing what was there."""
        source, target = self._real(src, root=errno.EBUSY), self._real(dst, root=errno.EBUSY)
        os.rename(source, target)  # noqa: PTH104 - the bare system call

    def mkdir(self, path: str) -> None:
        """Make an empty directory."""
        os.mkdir(self._real(path, root=errno.EEXIST), 0o755)  # noqa: PTH102 - the bare system call

    def rmdir(self, path: str) -> None:
        """Remove an empty directory."""
        os.rmdir(self._real(path, root=errno.EBUSY))  # noqa: PTH106 - the bare system call

    def readdir(self, path: str) -> list[str]:
        """The names in a directory, sorted, without `.` and `..`."""
        return sorted(os.listdir(self._real(path)))  # noqa: PTH208 - names are wanted, not paths

    def stat(self, path: str) -> dict[str, Plain]:
        """kind "file" or "dir", size in bytes (0 for a directory), nlink, ino.

        A filesystem that does not count the links of directories (btrfs says 1) is counted for.
        """
        real = self._real(path)
        found = os.lstat(real)
        if not stat.S_ISDIR(found.st_mode):
            size, nlink = found.st_size, found.st_nlink
            return {"kind": "file", "size": size, "nlink": nlink, "ino": found.st_ino}
        nlink = found.st_nlink if found.st_nlink >= 2 else 2 + _subdirectories(real)
        return {"kind": "dir", "size": 0, "nlink": nlink, "ino": found.st_ino}

    def fsync(self, path: str) -> None:
        """Make a file or directory durable."""
        descriptor = os.open(self._real(path), os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def sync(self) -> None:
        """Make the directory durable; not `sync(2)`, which would flush the whole machine."""
        self.fsync("/")

    def _real(self, path: str, root: int | None = None) -> str:
        """The path on the machine. root: the errno for `/`, where it is not an ordinary path."""
        parts = [part for part in path.split("/") if part]
        if not path.startswith("/") or any(part in (".", "..") or "\0" in part for part in parts):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), path)
        if not parts and root is not None:
            raise OSError(root, os.strerror(root), path)
        return "/".join([self._root, *parts])


def _subdirectories(path: str) -> int:
    with os.scandir(path) as entries:
        return sum(entry.is_dir(follow_symlinks=False) for entry in entries)
