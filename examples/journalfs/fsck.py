"""An independent reader of the on-disk format: is the structure of an image sound?

Written from the format's documentation in the docstrings of journalfs/layout.py, inodes.py and
directory.py, and sharing no code with the package, so that both cannot be wrong in the same way.
It looks at the blocks in place alone; a record waiting in the journal is not applied, because what
is in place must be sound without it, except while a checkpoint is running.

Usage: python fsck.py IMAGE [BLOCK_SIZE]; prints a line for each problem, exit status 1 if any.
"""

from __future__ import annotations

import sys
import zlib
from collections import Counter
from pathlib import Path
from struct import Struct
from typing import NamedTuple

_SUPER = Struct("<8sIIIQI")
_INODE = Struct("<HHI4II4x")
_ENTRY = Struct("<IB59s")
_FILE, _DIRECTORY = 1, 2
_ROOT = 1


class _Shape(NamedTuple):
    """Where the parts lie, in blocks; sizes in bytes where not said otherwise."""

    size: int
    total: int
    inode_bitmap: int
    block_bitmap: int
    table: int
    data: int
    inodes: int


class _Node(NamedTuple):
    """An inode in use: kind, links and size as stored, blocks of content, all blocks it names."""

    kind: int
    links: int
    size: int
    content: list[int]
    blocks: list[int]


def problems(image: bytes, block_size: int) -> list[str]:
    """What is wrong with the image's structure, a sentence each; empty when it is sound.

    Checked: every entry names an inode in use, once per name; links = number of entries (for a
    directory 2 + its subdirectories, and one entry); every inode in use is reachable; each block
    belongs to one inode at most; both bitmaps = what is in use; sizes fit the blocks.
    """
    found: list[str] = []
    shape = _shape(image, block_size)
    if shape is None:
        return ["the superblock is not one of a journalfs of this size"]
    nodes = _read_inodes(image, shape, found)
    _check_blocks(image, shape, nodes, found)
    _check_tree(image, shape, nodes, found)
    return found


def _shape(image: bytes, block_size: int) -> _Shape | None:
    """The arrangement, derived from the block count; None without a whole superblock."""
    for start in (0, block_size // 2):
        magic, version, size, count, _, checksum = _SUPER.unpack_from(image, start)
        whole = zlib.crc32(image[start : start + _SUPER.size - 4]) == checksum
        if magic == b"JOURNLFS" and version == 1 and whole and size == block_size:
            break
    else:
        return None
    if count * size > len(image):
        return None
    capacity = min(max(12, count // 8), (size - 28) // 4)
    inode_bitmap = 3 + 2 * capacity
    block_bitmap = inode_bitmap + 1
    table = block_bitmap + (count + 8 * size - 1) // (8 * size)
    per_block = size // 32
    blocks = min((count // 4 + per_block - 1) // per_block, 256)
    data = table + blocks
    return _Shape(size, count, inode_bitmap, block_bitmap, table, data, blocks * per_block)


def _read_inodes(image: bytes, shape: _Shape, found: list[str]) -> dict[int, _Node]:
    """Every inode that the table says is in use, checked against its bitmap."""
    nodes = {}
    used = 1
    for number in range(1, shape.inodes):
        raw = _INODE.unpack_from(image, shape.table * shape.size + number * _INODE.size)
        if not any(raw):
            continue
        kind, links, size, *direct, indirect = raw
        if kind not in (_FILE, _DIRECTORY):
            found.append(f"inode {number} is free and not empty, or of unknown kind {kind}")
            continue
        used |= 1 << number
        content = [block for block in direct if block]
        blocks = [*content, indirect] if indirect else content
        last = max((index for index, block in enumerate(direct) if block), default=-1)
        if indirect and shape.data <= indirect < shape.total:
            start = indirect * shape.size
            pointers = Struct(f"<{shape.size // 4}I").unpack_from(image, start)
            placed = {index: block for index, block in enumerate(pointers, start=4) if block}
            content = [*content, *placed.values()]
            blocks = [*content, indirect]
            last = max(placed, default=last)
        if last * shape.size >= size and last >= 0:
            found.append(f"inode {number} has a block past its size of {size} bytes")
        nodes[number] = _Node(kind, links, size, content, blocks)
    stored = _bits(image, shape.inode_bitmap, 1, shape)
    _compare_bits("inode", stored & ((1 << shape.inodes) - 1), used, found)
    return nodes


def _check_blocks(image: bytes, shape: _Shape, nodes: dict[int, _Node], found: list[str]) -> None:
    """Each block belongs to one inode at most, and the block bitmap is their union."""
    owner: dict[int, int] = {}
    used = (1 << shape.data) - 1
    for number, node in nodes.items():
        for block in node.blocks:
            if not shape.data <= block < shape.total:
                found.append(f"inode {number} names block {block}, which is not a data block")
                continue
            if block in owner:
                found.append(f"block {block} belongs to inodes {owner[block]} and {number}")
            owner[block] = number
            used |= 1 << block
    stored = _bits(image, shape.block_bitmap, shape.table - shape.block_bitmap, shape)
    _compare_bits("block", stored & ((1 << shape.total) - 1), used, found)


def _check_tree(image: bytes, shape: _Shape, nodes: dict[int, _Node], found: list[str]) -> None:
    """Entries and inodes in use agree: names, kinds of links, counts, reachability."""
    if _ROOT not in nodes or nodes[_ROOT].kind != _DIRECTORY:
        found.append("the root is not a directory")
        return
    names: Counter[int] = Counter()
    subdirectories: Counter[int] = Counter()
    waiting, seen = [_ROOT], {_ROOT}
    while waiting:
        parent = waiting.pop()
        for name, number in _entries(image, shape, parent, nodes[parent], found):
            if number not in nodes:
                found.append(f"entry {name!r} in inode {parent} names inode {number}, not in use")
                continue
            names[number] += 1
            if nodes[number].kind == _DIRECTORY:
                subdirectories[parent] += 1
                if number not in seen:
                    seen.add(number)
                    waiting.append(number)
    for number, node in nodes.items():
        _check_links(number, node, names[number], subdirectories[number], found)


def _entries(
    image: bytes, shape: _Shape, number: int, node: _Node, found: list[str]
) -> list[tuple[bytes, int]]:
    """The directory's names and inode numbers; reports bad names, repeated ones and bad sizes."""
    entries = []
    for block in node.content:
        content = image[block * shape.size : (block + 1) * shape.size]
        for target, length, raw in _ENTRY.iter_unpack(content):
            if target:
                entries.append((raw[:length], target))
    names = [name for name, _ in entries]
    if len(set(names)) != len(names):
        found.append(f"directory {number} has a name twice: {sorted(names)}")
    if any(not name or b"/" in name or b"\0" in name for name in names):
        found.append(f"directory {number} has a name that no path can spell")
    if node.size != len(node.content) * shape.size:
        found.append(f"directory {number} has {node.size} bytes in {len(node.content)} blocks")
    return entries


def _check_links(
    number: int, node: _Node, names: int, subdirectories: int, found: list[str]
) -> None:
    """The stored count of links is what the entries say, and the inode can be reached."""
    if not names and number != _ROOT:
        found.append(f"inode {number} is in use and no entry names it")
        return
    if node.kind == _DIRECTORY:
        if names > 1 or (names and number == _ROOT):
            found.append(f"directory {number} has {names} names")
        if node.links != 2 + subdirectories:
            found.append(
                f"directory {number} has {subdirectories} subdirectories and nlink {node.links}"
            )
    elif node.links != names:
        found.append(f"inode {number} has {names} entries and nlink {node.links}")


def _bits(image: bytes, start: int, blocks: int, shape: _Shape) -> int:
    """The bitmap in these blocks as one number."""
    return int.from_bytes(image[start * shape.size : (start + blocks) * shape.size], "little")


def _compare_bits(thing: str, stored: int, used: int, found: list[str]) -> None:
    """Report every bit in which the bitmap and the truth differ."""
    difference = stored ^ used
    while difference:
        lowest = difference & -difference
        index = lowest.bit_length() - 1
        if used & lowest:
            found.append(f"{thing} {index} is in use and free in the bitmap")
        else:
            found.append(f"{thing} {index} is not in use and taken in the bitmap")
        difference ^= lowest


def main(arguments: list[str]) -> int:
    """Check the image named on the command line; returns the exit status."""
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    block_size = int(arguments[1]) if len(arguments) > 1 else 1024
    found = problems(Path(arguments[0]).read_bytes(), block_size)
    print("\n".join(found) or "sound")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
