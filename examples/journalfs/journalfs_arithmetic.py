"""Where a bit, a block, a byte or a record of journalfs lies: its arithmetic, and nothing else.

Apart from all that reads and writes, because a function of numbers alone can be checked for all of
them: above each stands its contract, and claims.py says which of them are to be proved. The module
imports nothing of the filesystem, so that a change there does not bring these questions up again.
The filesystem itself takes the functions from journalfs/arithmetic.py.
"""

from __future__ import annotations

import zlib

from icontract import ensure, require

DIRECT = 4
INODE_SIZE = 32
POINTER_SIZE = 4
MINIMUM_CAPACITY = 12
RECORD_OVERHEAD = 28


# -- blocks and bytes ---------------------------------------------------------------------------


@require(lambda size, block_size: size >= 0 and block_size > 0)
@ensure(lambda size, block_size, result: result * block_size >= size)
@ensure(lambda size, block_size, result: (result - 1) * block_size < size)
def blocks_for(size: int, block_size: int) -> int:
    """How many blocks it takes to hold `size` bytes."""
    return -(-size // block_size)


@require(lambda offset, end: offset < end)
@require(lambda start, block_size, end: start < end and block_size > 0)
@require(lambda start, block_size, offset: offset < start + block_size)
@ensure(lambda block_size, result: 0 <= result[0] < result[1] <= block_size)
@ensure(lambda start, offset, result: result[0] == 0 or start + result[0] == offset)
@ensure(lambda start, offset, result: start + result[0] >= offset)
@ensure(lambda start, end, block_size, result: result[1] == block_size or start + result[1] == end)
@ensure(lambda start, end, result: start + result[1] <= end)
def part_of_block(offset: int, end: int, start: int, block_size: int) -> tuple[int, int]:
    """The part that bytes offset..end of a file have of the block that begins at byte `start`.

    As positions in the block, the second one excluded; the two must overlap.
    """
    return max(offset, start) - start, min(end, start + block_size) - start


# -- the map from a file's blocks to the device's -----------------------------------------------


@require(lambda index: index >= 0)
@ensure(lambda index, result: (result is None) == (index < DIRECT))
@ensure(lambda result: result is None or (result >= 0 and result % POINTER_SIZE == 0))
@ensure(lambda index, result: result is None or result // POINTER_SIZE == index - DIRECT)
def pointer_offset(index: int) -> int | None:
    """Where the indirect block names block `index` of a file; None: the inode itself names it."""
    if index < DIRECT:
        return None
    return (index - DIRECT) * POINTER_SIZE


@require(lambda block_size: block_size >= 512)
@ensure(lambda block_size, result: (result - DIRECT) * POINTER_SIZE <= block_size)
@ensure(lambda block_size, result: (result + 1 - DIRECT) * POINTER_SIZE > block_size)
def blocks_in_file(block_size: int) -> int:
    """How many blocks a file may have: those that the inode names, and those that one block can."""
    return DIRECT + block_size // POINTER_SIZE


@require(lambda number, block_size: number >= 0 and block_size >= 512)
@ensure(lambda result: result[0] >= 0 and result[1] >= 0 and result[1] % INODE_SIZE == 0)
@ensure(lambda block_size, result: result[1] + INODE_SIZE <= block_size)
@ensure(
    lambda number, block_size, result: (
        result[0] * (block_size // INODE_SIZE) + result[1] // INODE_SIZE == number
    )
)
def inode_place(number: int, block_size: int) -> tuple[int, int]:
    """The block of the inode table that holds an inode, and the inode's first byte in it."""
    block, position = divmod(number, block_size // INODE_SIZE)
    return block, position * INODE_SIZE


# -- bitmaps ------------------------------------------------------------------------------------


@require(lambda index, block_size: index >= 0 and block_size > 0)
@ensure(lambda block_size, result: 0 <= result[1] < 8 * block_size)
@ensure(lambda index, block_size, result: result[0] * (8 * block_size) + result[1] == index)
def bit_place(index: int, block_size: int) -> tuple[int, int]:
    """The block of a bitmap that holds bit `index`, and the bit's place in it."""
    return divmod(index, 8 * block_size)


@require(lambda bits: bits >= 0)
@ensure(lambda bits, result: result > 0 and bits & result == 0)
@ensure(lambda result: result & (result - 1) == 0, "one bit")
@ensure(lambda bits, result: bits & (result - 1) == result - 1, "all bits below it are set")
def lowest_clear(bits: int) -> int:
    """The lowest bit that is clear, as a number in which no other is set."""
    return ~bits & (bits + 1)


@require(lambda bits, place: bits >= 0 and 0 <= place < 8 * 65536)
@ensure(lambda place, result: result >> place & 1 == 0)
@ensure(lambda bits, place, result: bits - result in (0, 1 << place))
def without_bit(bits: int, place: int) -> int:
    """The bits with the one at `place` clear, and all others as they were."""
    return bits & ~(1 << place)


# -- the device and the journal -----------------------------------------------------------------


@require(lambda block_size, block_count: block_size >= 512 and block_count >= 0)
@ensure(lambda result: result >= MINIMUM_CAPACITY)
@ensure(lambda block_size, result: result * POINTER_SIZE + RECORD_OVERHEAD <= block_size)
@ensure(lambda block_count, result: 8 * result <= max(block_count, 8 * MINIMUM_CAPACITY))
def capacity_of(block_size: int, block_count: int) -> int:
    """How many blocks one transaction may have; a record must be able to name all of them."""
    return min(
        max(MINIMUM_CAPACITY, block_count // 8), (block_size - RECORD_OVERHEAD) // POINTER_SIZE
    )


@require(lambda block_size, block_count: block_size >= 512 and block_count >= 0)
@ensure(lambda result: 0 <= result <= 8 * INODE_SIZE)
@ensure(
    lambda block_size, block_count, result: (
        result == 8 * INODE_SIZE or result * (block_size // INODE_SIZE) >= block_count // 4
    )
)
def table_blocks(block_size: int, block_count: int) -> int:
    """How many blocks the inode table has: an inode for every four blocks, as far as allowed."""
    return min(blocks_for(block_count // 4, block_size // INODE_SIZE), 8 * INODE_SIZE)


@require(lambda number, first, capacity: number >= 0 and first >= 1 and capacity >= 1)
@ensure(lambda number, first, result: number % 2 == 1 or result == first)
@ensure(lambda number, first, capacity, result: number % 2 == 0 or result == first + 1 + capacity)
def slot_start(number: int, first: int, capacity: int) -> int:
    """The block of the record of transaction `number`; the journal begins at block `first`."""
    return first + number % 2 * (1 + capacity)


@ensure(lambda result: 0 <= result < 2**32)
@ensure(lambda head, bodies, result: result == zlib.crc32(head + b"".join(bodies)))
def checksum_of(head: bytes, bodies: list[bytes]) -> int:
    """CRC-32 of a record's checked part and every body, in order."""
    checksum = zlib.crc32(head)
    for body in bodies:
        checksum = zlib.crc32(body, checksum)
    return checksum
