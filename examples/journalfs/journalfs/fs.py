"""The filesystem: each operation is one transaction.

Contract. An operation happens completely or, when it raises OSError, not at all. After a crash
the filesystem is as it was after some prefix of the operations that returned; the prefix includes
at least everything before the last fsync, sync or unmount that returned, and at most the operation
that was running is added. fsync of one file makes all earlier operations durable. A write that
needs more blocks than a transaction has is refused (EFBIG); `maximum_write` is always accepted.

After an error of the device the state in memory stays that before the failed operation, every
change raises EROFS and every fsync, sync and unmount raises EIO until the device is mounted again.

Paths are absolute (paths.py). Errors are OSError with the errno that Linux gives in that case.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from errno import (
    EEXIST,
    EINVAL,
    EISDIR,
    EMLINK,
    ENOENT,
    ENOTDIR,
    ENOTEMPTY,
    EPERM,
)

from journalfs import bitmap, content, directory
from journalfs.device import BlockDevice, write_block
from journalfs.inodes import (
    MAXIMUM_LINKS,
    Inode,
    Kind,
    erase,
    load,
    release_blocks,
    store,
)
from journalfs.journal import Journal
from journalfs.layout import NO_INODE, ROOT, arrange, pack_superblock, unpack_superblock
from journalfs.paths import failure, resolve, resolve_parent, split
from journalfs.transaction import Transaction

_NAMES = {Kind.FILE: "file", Kind.DIRECTORY: "dir"}


class JournalFS:
    """One mounted filesystem. Not safe for concurrent calls."""

    def __init__(self, journal: Journal) -> None:
        """Use `mount`, which recovers the journal first."""
        self._journal = journal

    @staticmethod
    def format(device: BlockDevice) -> None:
        """Make an empty filesystem; what was there is lost. Raises OSError EINVAL: too small."""
        layout = arrange(device.block_size, device.block_count)
        size = layout.block_size
        for number in range(2):
            write_block(device, layout.journal + number * (1 + layout.capacity), bytes(size))
        inodes = bitmap.pack_bitmap(ROOT + 1, layout.inode_count, size)
        blocks = bitmap.pack_bitmap(layout.data, layout.block_count, size)
        table = [bytes(size)] * (layout.data - layout.inode_table)
        for block, data in enumerate(inodes + blocks + table, start=layout.inode_bitmap):
            write_block(device, block, data)
        write_block(device, 0, pack_superblock(size, layout.block_count, 0))
        tx = Transaction(Journal(device, layout, 0))
        store(tx, Inode(ROOT, Kind.DIRECTORY, links=2))
        write_block(device, layout.inode_table, tx.read(layout.inode_table))
        device.flush()

    @classmethod
    def mount(cls, device: BlockDevice) -> JournalFS:
        """Recover what a crash left behind and open the filesystem.

        Raises OSError EINVAL when there is none, or the device's error.
        """
        layout, checkpointed = unpack_superblock(device.read(0))
        journal = Journal(device, layout, checkpointed)
        journal.recover()
        return cls(journal)

    def unmount(self) -> None:
        """Make everything durable and leave nothing to recover; the object is of no use then."""
        self._journal.checkpoint()

    # -- operations that change something -------------------------------------------------------

    def create(self, path: str) -> None:
        """Make an empty file. Raises EEXIST when the name is taken, ENOSPC."""
        with self._change() as tx:
            self._enter_new(tx, path, Kind.FILE, links=1)

    def mkdir(self, path: str) -> None:
        """Make an empty directory. Raises EEXIST when the name is taken, ENOSPC, EMLINK."""
        with self._change() as tx:
            parent = self._enter_new(tx, path, Kind.DIRECTORY, links=2)
            _add_link(tx, parent, path)

    def write(self, path: str, offset: int, data: bytes) -> int:
        """Put all of `data` at `offset` and return its length; a gap before it reads as zeros.

        Raises EISDIR, EINVAL for a negative offset, ENOSPC, EFBIG.
        """
        with self._change() as tx:
            content.write(tx, _file(tx, path, offset), offset, data)
        return len(data)

    def truncate(self, path: str, size: int) -> None:
        """Cut the file to `size` bytes or grow it with zeros. Raises EISDIR, EINVAL, EFBIG."""
        with self._change() as tx:
            content.truncate(tx, _file(tx, path, size), size)

    def unlink(self, path: str) -> None:
        """Take a file's name away, and the file with its last one. Raises EISDIR."""
        with self._change() as tx:
            parent, name, inode = _existing(tx, path)
            if inode.kind == Kind.DIRECTORY:
                raise failure(EISDIR, path)
            directory.remove(tx, parent, name)
            _drop_link(tx, inode)

    def link(self, source: str, target: str) -> None:
        """Give a file one more name. Raises EEXIST, EPERM for a directory, EMLINK, ENOSPC."""
        with self._change() as tx:
            inode = resolve(tx, source)
            parent, name = _new_name(tx, target)
            if inode.kind == Kind.DIRECTORY:
                raise failure(EPERM, target)
            directory.add(tx, parent, name, inode.number)
            _add_link(tx, inode, target)

    def rmdir(self, path: str) -> None:
        """Remove an empty directory. Raises ENOTDIR, ENOTEMPTY, EBUSY for the root."""
        with self._change() as tx:
            parent, name, inode = _existing(tx, path)
            if inode.kind != Kind.DIRECTORY:
                raise failure(ENOTDIR, path)
            if not directory.is_empty(tx, inode):
                raise failure(ENOTEMPTY, path)
            directory.remove(tx, parent, name)
            _drop_directory(tx, parent, inode)

    def rename(self, source: str, target: str) -> None:
        """Let `target` name what `source` names, in one step; a file or empty directory that
        `target` named before is gone. Two names of one file: nothing happens.

        Raises EINVAL for a directory into itself, EISDIR, ENOTDIR, ENOTEMPTY, ENOSPC, EMLINK.
        """
        with self._change() as tx:
            old_ancestors, old_name = resolve_parent(tx, source)
            new_ancestors, new_name = resolve_parent(tx, target)
            old_parent, new_parent = old_ancestors[-1], new_ancestors[-1]
            if old_parent.number == new_parent.number:
                new_parent = old_parent
            moved = _entry(tx, old_parent, old_name, source)
            replaced = directory.find(tx, new_parent, new_name)
            if any(inode.number == moved.number for inode in new_ancestors):
                raise failure(EINVAL, target)
            if any(inode.number == replaced for inode in old_ancestors):
                raise failure(ENOTEMPTY, target)
            if replaced == moved.number:
                return
            directory.remove(tx, old_parent, old_name)
            if replaced == NO_INODE:
                directory.add(tx, new_parent, new_name, moved.number)
            else:
                victim = load(tx, replaced)
                _check_replaceable(tx, moved, victim, target)
                directory.replace(tx, new_parent, new_name, moved.number)
                _drop_replaced(tx, new_parent, victim)
            if moved.kind == Kind.DIRECTORY and old_parent is not new_parent:
                _move_parent_link(tx, old_parent, new_parent, target)

    # -- durability -----------------------------------------------------------------------------

    def fsync(self, path: str) -> None:
        """Make everything so far durable, the file and its name included. Raises ENOENT, EIO."""
        resolve(self._view(), path)
        self._journal.flush()

    def sync(self) -> None:
        """Make everything so far durable and in place. Raises EIO."""
        self._journal.checkpoint()

    # -- operations that look -------------------------------------------------------------------

    def read(self, path: str, offset: int, size: int) -> bytes:
        """Up to `size` bytes from `offset`. Raises EISDIR, EINVAL for negative numbers."""
        tx = self._view()
        inode = _file(tx, path, min(offset, size))
        return content.read(tx, inode, offset, size)

    def readdir(self, path: str) -> list[str]:
        """The names in a directory, sorted, without "." and "..". Raises ENOTDIR."""
        tx = self._view()
        inode = resolve(tx, path)
        if inode.kind != Kind.DIRECTORY:
            raise failure(ENOTDIR, path)
        return [name.decode(errors="surrogateescape") for name in directory.names(tx, inode)]

    def stat(self, path: str) -> dict[str, int | str]:
        """kind ("file" or "dir"), size in bytes, nlink as POSIX counts, ino."""
        inode = resolve(self._view(), path)
        return {
            "kind": _NAMES[inode.kind],
            "size": inode.size,
            "nlink": inode.links,
            "ino": inode.number,
        }

    def statfs(self) -> dict[str, int]:
        """free_blocks and free_inodes."""
        tx = self._view()
        return {"free_blocks": bitmap.free_blocks(tx), "free_inodes": bitmap.free_inodes(tx)}

    def maximum_write(self) -> int:
        """Bytes, starting at a block boundary, that one write accepts if there is room."""
        layout = self._journal.layout
        metadata = 2 + layout.inode_table - layout.block_bitmap
        return (layout.capacity - metadata) * layout.block_size

    # -- parts ----------------------------------------------------------------------------------

    @contextmanager
    def _change(self) -> Iterator[Transaction]:
        """A transaction that is committed when the block ends without an error."""
        tx = Transaction(self._journal)
        yield tx
        tx.commit()

    def _view(self) -> Transaction:
        """A transaction to look through; never committed."""
        return Transaction(self._journal)

    def _enter_new(self, tx: Transaction, path: str, kind: Kind, links: int) -> Inode:
        """Make an inode and enter it under a new name; returns the directory it is in."""
        parent, name = _new_name(tx, path)
        inode = Inode(bitmap.allocate_inode(tx), kind, links)
        store(tx, inode)
        directory.add(tx, parent, name, inode.number)
        return parent


def _file(tx: Transaction, path: str, least: int) -> Inode:
    """The file that the path names. Raises EISDIR, and EINVAL when `least` is negative."""
    inode = resolve(tx, path)
    if inode.kind == Kind.DIRECTORY:
        raise failure(EISDIR, path)
    if least < 0:
        raise failure(EINVAL, path)
    return inode


def _new_name(tx: Transaction, path: str) -> tuple[Inode, bytes]:
    """The directory for a new name, and the name. Raises EEXIST when it is taken."""
    if not split(path):
        raise failure(EEXIST, path)
    ancestors, name = resolve_parent(tx, path)
    if directory.find(tx, ancestors[-1], name) != NO_INODE:
        raise failure(EEXIST, path)
    return ancestors[-1], name


def _existing(tx: Transaction, path: str) -> tuple[Inode, bytes, Inode]:
    """The directory of the path's last name, that name, and the inode it names."""
    ancestors, name = resolve_parent(tx, path)
    return ancestors[-1], name, _entry(tx, ancestors[-1], name, path)


def _entry(tx: Transaction, parent: Inode, name: bytes, path: str) -> Inode:
    """The inode that `name` names in the directory. Raises ENOENT."""
    number = directory.find(tx, parent, name)
    if number == NO_INODE:
        raise failure(ENOENT, path)
    return load(tx, number)


def _add_link(tx: Transaction, inode: Inode, path: str) -> None:
    """Count one more link. Raises EMLINK when the count is at its end."""
    if inode.links == MAXIMUM_LINKS:
        raise failure(EMLINK, path)
    inode.links += 1
    store(tx, inode)


def _drop_link(tx: Transaction, inode: Inode) -> None:
    """Count one link of a file less; without any left, give back the file."""
    inode.links -= 1
    if inode.links:
        store(tx, inode)
    else:
        _free(tx, inode)


def _drop_directory(tx: Transaction, parent: Inode, inode: Inode) -> None:
    """Give back an empty directory, whose ".." was a link of its parent."""
    _free(tx, inode)
    parent.links -= 1
    store(tx, parent)


def _free(tx: Transaction, inode: Inode) -> None:
    """Give back an inode and its blocks."""
    release_blocks(tx, inode)
    bitmap.release_inode(tx, inode.number)
    erase(tx, inode.number)


def _check_replaceable(tx: Transaction, moved: Inode, victim: Inode, path: str) -> None:
    """Raises EISDIR, ENOTDIR or ENOTEMPTY when rename may not put `moved` in its place."""
    if moved.kind == Kind.DIRECTORY:
        if victim.kind != Kind.DIRECTORY:
            raise failure(ENOTDIR, path)
        if not directory.is_empty(tx, victim):
            raise failure(ENOTEMPTY, path)
    elif victim.kind == Kind.DIRECTORY:
        raise failure(EISDIR, path)


def _drop_replaced(tx: Transaction, parent: Inode, victim: Inode) -> None:
    """Account for an inode whose entry in `parent` now names another one."""
    if victim.kind == Kind.DIRECTORY:
        _drop_directory(tx, parent, victim)
    else:
        _drop_link(tx, victim)


def _move_parent_link(tx: Transaction, old: Inode, new: Inode, path: str) -> None:
    """Account for the ".." of a directory that moved from `old` to `new`."""
    old.links -= 1
    store(tx, old)
    _add_link(tx, new, path)
