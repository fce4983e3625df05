"""journalfs without crashes: operations, refusals, the device in a file, and its reader fsck."""

from __future__ import annotations

import errno
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "journalfs"
sys.path.insert(0, str(EXAMPLE))

import fsck  # noqa: E402
from journalfs import FileDevice, JournalFS, MemoryDevice  # noqa: E402
from journalfs.layout import arrange  # noqa: E402


def make(blocks: int = 64, block_size: int = 1024) -> tuple[MemoryDevice, JournalFS]:
    """A new filesystem and the device under it."""
    device = MemoryDevice.blank(blocks, block_size)
    JournalFS.format(device)
    return device, JournalFS.mount(device)


def number(call: Callable[..., Any], *args: Any) -> int | None:
    """The errno that the call raises."""
    with pytest.raises(OSError) as caught:
        call(*args)
    return caught.value.errno


@pytest.mark.parametrize("block_size", [512, 1024, 4096])
@pytest.mark.parametrize("blocks", [40, 64, 128, 3000])
def test_contents_survive_a_remount_on_any_geometry(blocks: int, block_size: int) -> None:
    device, fs = make(blocks, block_size)
    content = bytes(range(256)) * (5 * block_size // 256)
    fs.mkdir("/d")
    fs.create("/d/f")
    fs.write("/d/f", 10, content)
    fs.truncate("/d/f", len(content))
    fs.unmount()
    again = JournalFS.mount(device)
    assert again.read("/d/f", 0, 10**6) == (bytes(10) + content)[: len(content)]
    assert again.stat("/d/f") == {"kind": "file", "size": len(content), "nlink": 1, "ino": 3}
    assert fsck.problems(bytes(device.image), block_size) == []


def test_a_cut_and_regrown_file_shows_zeros() -> None:
    _, fs = make()
    fs.create("/a")
    fs.write("/a", 0, b"x" * 3000)
    fs.truncate("/a", 100)
    fs.truncate("/a", 2500)
    assert fs.read("/a", 0, 9999) == b"x" * 100 + bytes(2400)


def test_a_directory_of_many_entries_keeps_all_of_them() -> None:
    device, fs = make(512)
    names = [f"name{i:03}" for i in range(100)]
    for name in names:
        fs.create(f"/{name}")
    for name in names[::2]:
        fs.unlink(f"/{name}")
    fs.sync()
    assert fs.readdir("/") == names[1::2]
    assert fsck.problems(bytes(device.image), 1024) == []


def test_everything_can_be_used_up_and_given_back() -> None:
    device, fs = make()
    fs.create("/a")
    before = fs.statfs()
    offset = 0
    while True:
        try:
            offset += fs.write("/a", offset, b"z" * fs.maximum_write())
        except OSError as error:
            assert error.errno == errno.ENOSPC
            break
    assert fs.stat("/a")["size"] == offset
    fs.truncate("/a", 0)
    assert fs.statfs() == before
    while number_or_none(fs.create, f"/f{fs.statfs()['free_inodes']}") is None:
        pass
    assert fs.statfs()["free_inodes"] == 0
    fs.sync()
    assert fsck.problems(bytes(device.image), 1024) == []


def number_or_none(call: Callable[..., Any], *args: Any) -> int | None:
    try:
        call(*args)
    except OSError as error:
        return error.errno
    return None


def test_refusals_have_the_errno_of_linux() -> None:
    _, fs = make()
    fs.mkdir("/d")
    fs.create("/d/f")
    fs.create("/a")
    assert number(fs.create, "/a") == errno.EEXIST
    assert number(fs.read, "/no", 0, 1) == errno.ENOENT
    assert number(fs.create, "/a/b") == errno.ENOTDIR
    assert number(fs.write, "/d", 0, b"x") == errno.EISDIR
    assert number(fs.rmdir, "/d") == errno.ENOTEMPTY
    assert number(fs.rename, "/d", "/d/e") == errno.EINVAL
    assert number(fs.rename, "/d/f", "/d") == errno.ENOTEMPTY
    assert number(fs.rename, "/a", "/d") == errno.EISDIR
    assert number(fs.link, "/d", "/e") == errno.EPERM
    assert number(fs.rename, "/", "/e") == errno.EBUSY
    assert number(fs.create, "/" + "n" * 60) == errno.ENAMETOOLONG
    assert number(fs.create, "relative") == errno.EINVAL
    assert number(fs.write, "/a", 10**6, b"x") == errno.EFBIG
    assert number(fs.write, "/a", 0, b"x" * 20 * 1024) == errno.EFBIG
    assert fs.stat("/a")["size"] == 0


def test_rename_onto_another_name_of_the_same_file_changes_nothing() -> None:
    _, fs = make()
    fs.create("/a")
    fs.link("/a", "/b")
    fs.rename("/a", "/b")
    assert fs.readdir("/") == ["a", "b"] and fs.stat("/a")["nlink"] == 2


def test_what_is_no_journalfs_is_refused() -> None:
    assert number(JournalFS.mount, MemoryDevice.blank(64)) == errno.EINVAL
    assert number(JournalFS.format, MemoryDevice.blank(20)) == errno.EINVAL
    assert number(arrange, 1000, 64) == errno.EINVAL


def test_a_device_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "disk.img"
    path.write_bytes(bytes(64 * 1024))
    with FileDevice(path) as device:
        JournalFS.format(device)
        fs = JournalFS.mount(device)
        fs.create("/a")
        fs.unmount()
        assert number(device.read, 64) == errno.EIO
    with FileDevice(path) as device:
        assert JournalFS.mount(device).readdir("/") == ["a"]
    assert fsck.main([str(path)]) == 0


def used_image() -> tuple[bytearray, int, int]:
    """An image with a file of two names and a directory; block and byte of bitmap and table."""
    device, fs = make()
    fs.create("/a")
    fs.write("/a", 0, b"x" * 6000)
    fs.link("/a", "/b")
    fs.mkdir("/d")
    fs.unmount()
    layout = arrange(1024, 64)
    return device.image, layout.block_bitmap * 1024, layout.inode_table * 1024


BITMAP, TABLE = "bitmap", "table"
DAMAGE = [
    (BITMAP, 4, 0x40, "in the bitmap"),  # a block's bit
    (BITMAP, -1024, 0x04, "in the bitmap"),  # inode 2's bit
    (TABLE, 2 * 32 + 2, 0x01, "nlink"),  # links of /a
    (TABLE, 3 * 32 + 2, 0x01, "nlink"),  # links of /d
    (TABLE, 2 * 32, 0x03, ""),  # /a becomes a directory
    (TABLE, 3 * 32, 0xFF, "in use"),  # /d becomes free
    (TABLE, 2 * 32 + 8, 0x01, ""),  # another block for /a
    (TABLE, 2 * 32 + 5, 0x10, "past its size"),  # a smaller size
    (TABLE, 5 * 32, 0x01, "no entry names it"),  # an inode in use that nothing names
]


@pytest.mark.parametrize(("part", "offset", "flip", "words"), DAMAGE)
def test_fsck_finds_damage(part: str, offset: int, flip: int, words: str) -> None:
    image, bitmap, table = used_image()
    assert fsck.problems(bytes(image), 1024) == []
    image[(bitmap if part == BITMAP else table) + offset] ^= flip
    found = fsck.problems(bytes(image), 1024)
    assert found and any(words in line for line in found), found
