"""The functions of journalfs_arithmetic as the filesystem calls them: without their contracts.

What refute checks for all inputs (claims.py) need not be asked again at every call; asking would
take more time than the arithmetic itself. The functions are the same, only the decorators are off.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TypeVar, cast

import journalfs_arithmetic as checked

F = TypeVar("F", bound=Callable[..., object])


def _plain(function: F) -> F:
    """The function below its decorators."""
    return cast(F, inspect.unwrap(function))


bit_place = _plain(checked.bit_place)
blocks_for = _plain(checked.blocks_for)
blocks_in_file = _plain(checked.blocks_in_file)
capacity_of = _plain(checked.capacity_of)
checksum_of = _plain(checked.checksum_of)
inode_place = _plain(checked.inode_place)
lowest_clear = _plain(checked.lowest_clear)
part_of_block = _plain(checked.part_of_block)
pointer_offset = _plain(checked.pointer_offset)
slot_start = _plain(checked.slot_start)
table_blocks = _plain(checked.table_blocks)
without_bit = _plain(checked.without_bit)
