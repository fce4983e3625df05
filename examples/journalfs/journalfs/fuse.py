"""Mounting through FUSE: the kernel's calls become operations of JournalFS.

The module needs mfusepy and libfuse (Debian: fuse3, libfuse3-3); the package imports it only to
mount. What the format does not store is made up here: owner (who mounts), permissions (always
0644 and 0755, chmod is accepted and ignored), times (kept until unmount). The kernel's page cache
holds no dirty data, so a crash of the mounting process is a crash of the filesystem and no more.

libfuse 3 delivers O_TRUNC inside `open`, and writes in pieces of its own size; a piece larger than
a transaction is cut again here, so only writes up to `maximum_write` are atomic.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from typing import Any

import mfusepy  # type: ignore[import-untyped]

from journalfs.directory import MAXIMUM_NAME
from journalfs.fs import JournalFS
from journalfs.layout import Layout

_MODES = {"file": stat.S_IFREG | 0o644, "dir": stat.S_IFDIR | 0o755}


def mount(fs: JournalFS, layout: Layout, mountpoint: str) -> None:
    """Serve the filesystem at `mountpoint` until it is unmounted. Raises RuntimeError, OSError."""
    mfusepy.FUSE(
        Adapter(fs, layout),
        mountpoint,
        foreground=True,
        nothreads=True,
        use_ino=True,
        attr_timeout=0,
        entry_timeout=0,
        fsname="journalfs",
    )


class Adapter(mfusepy.Operations):  # type: ignore[misc]
    """FUSE operations by path; file handles carry nothing, as every call names its path."""

    use_ns = True

    def __init__(self, fs: JournalFS, layout: Layout) -> None:
        self._fs = fs
        self._layout = layout
        self._mounted = time.time_ns()
        self._times: dict[int, int] = {}

    def getattr(self, path: str, fh: int | None = None) -> dict[str, Any]:
        """stat(2); times in nanoseconds."""
        found = self._fs.stat(path)
        when = self._times.get(int(found["ino"]), self._mounted)
        return {
            "st_ino": found["ino"],
            "st_mode": _MODES[str(found["kind"])],
            "st_nlink": found["nlink"],
            "st_size": found["size"],
            "st_uid": os.getuid(),
            "st_gid": os.getgid(),
            "st_atime": when,
            "st_mtime": when,
            "st_ctime": when,
        }

    def readdir(self, path: str, fh: int) -> Iterator[tuple[str, dict[str, int], int]]:
        """Every name with its inode number; a name with the number 0 would not be listed."""
        for name in (".", "..", *self._fs.readdir(path)):
            named = path if name in (".", "..") else f"{path.rstrip('/')}/{name}"
            found = self._fs.stat(named)
            attributes = {"st_mode": _MODES[str(found["kind"])], "st_ino": int(found["ino"])}
            yield name, attributes, 0

    def create(self, path: str, mode: int, fi: int | None = None) -> int:
        """open(2) with O_CREAT of a name that is not there."""
        self._fs.create(path)
        self._touch(path)
        return 0

    def open(self, path: str, flags: int) -> int:
        """open(2) of an existing file, with O_TRUNC where the caller gave it."""
        if flags & os.O_TRUNC:
            self.truncate(path, 0)
        return 0

    def read(self, path: str, size: int, offset: int, fh: int) -> bytes:
        """pread(2)."""
        return self._fs.read(path, offset, size)

    def write(self, path: str, data: bytes, offset: int, fh: int) -> int:
        """pwrite(2), in pieces that fit a transaction; returns the bytes written before an error.

        Raises OSError when the first piece fails.
        """
        done = 0
        while done < len(data):
            aligned = self._fs.maximum_write() - (offset + done) % self._layout.block_size
            try:
                done += self._fs.write(path, offset + done, data[done : done + aligned])
            except OSError:
                if not done:
                    raise
                break
        self._touch(path)
        return done

    def truncate(self, path: str, length: int, fh: int | None = None) -> int:
        """truncate(2) and ftruncate(2)."""
        self._fs.truncate(path, length)
        self._touch(path)
        return 0

    def unlink(self, path: str) -> int:
        """unlink(2)."""
        self._fs.unlink(path)
        return 0

    def link(self, target: str, source: str) -> int:
        """link(2): `target` is the new name, as mfusepy has it."""
        self._fs.link(source, target)
        return 0

    def rename(self, old: str, new: str) -> int:
        """rename(2)."""
        self._fs.rename(old, new)
        return 0

    def mkdir(self, path: str, mode: int) -> int:
        """mkdir(2)."""
        self._fs.mkdir(path)
        self._touch(path)
        return 0

    def rmdir(self, path: str) -> int:
        """rmdir(2)."""
        self._fs.rmdir(path)
        return 0

    def fsync(self, path: str, datasync: int, fh: int) -> int:
        """fsync(2) and fdatasync(2)."""
        self._fs.fsync(path)
        return 0

    def fsyncdir(self, path: str, datasync: int, fh: int) -> int:
        """fsync(2) of a directory."""
        self._fs.fsync(path)
        return 0

    def chmod(self, path: str, mode: int) -> int:
        """Accepted and ignored: the format stores no permissions."""
        return 0

    def chown(self, path: str, uid: int, gid: int) -> int:
        """Accepted and ignored: the format stores no owner."""
        return 0

    def utimens(self, path: str, times: tuple[int, int] | None = None) -> int:
        """Set the time of the last change, kept until unmount."""
        self._touch(path, None if times is None else times[1])
        return 0

    def statfs(self, path: str) -> dict[str, int]:
        """statvfs(3)."""
        free = self._fs.statfs()
        return {
            "f_bsize": self._layout.block_size,
            "f_frsize": self._layout.block_size,
            "f_blocks": self._layout.block_count - self._layout.data,
            "f_bfree": free["free_blocks"],
            "f_bavail": free["free_blocks"],
            "f_files": self._layout.inode_count,
            "f_ffree": free["free_inodes"],
            "f_favail": free["free_inodes"],
            "f_namemax": MAXIMUM_NAME,
        }

    def destroy(self, path: str) -> None:
        """The filesystem was unmounted."""
        self._fs.unmount()

    def _touch(self, path: str, when: int | None = None) -> None:
        """Remember a time, by default now, as that of the path's last change."""
        number = int(self._fs.stat(path)["ino"])
        self._times[number] = time.time_ns() if when is None else when
