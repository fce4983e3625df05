"""Where operation sequences come from: alphabets, longer samples, and smaller ones.

An operation is plain data, `(method, *arguments)`. Alphabets are ordered so that the simple
operations come first, because a search that stops at the first failure then stops at a small one.
Everything drawn is determined by one seed.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

from refute.plain import Plain

Operation = tuple[Plain, ...]
Operations = tuple[Operation, ...]

_FILLS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LIKELY = 0.85  # share of drawn operations that the model is known to allow


def filesystem_alphabet(
    names: Sequence[str], sizes: Sequence[int], block_size: int, unmounts: bool = False
) -> tuple[Operation, ...]:
    """The operations of a filesystem over the names, at the root and one inside another.

    unmounts: whether it can be unmounted. sizes: of the files written, in blocks; the last block is
    not full, so that file sizes are told apart from block counts. Every write has its own letter,
    so that contents are told apart.
    """
    top = ["/" + name for name in names]
    nested = [f"{top[0]}/{name}" for name in names[1:2]]
    paths = top + nested
    pairs = [(a, b) for a in paths for b in paths if a != b]
    operations: list[Operation] = [("create", path) for path in paths]
    operations += [("rename", a, b) for a, b in pairs]
    operations += [("unlink", path) for path in paths]
    operations += _content_operations(top, sizes, block_size)
    operations += [("link", a, b) for a, b in pairs if not b.startswith(a + "/")]
    operations += [("mkdir", path) for path in top]
    operations += [("rmdir", path) for path in top]
    operations += [("fsync", path) for path in top]
    operations += [("sync",)] + [("unmount",)] * unmounts
    return tuple(sorted(operations, key=lambda o: sum(str(a).count("/") > 1 for a in o)))


def _content_operations(
    paths: Sequence[str], sizes: Sequence[int], block_size: int
) -> Iterator[Operation]:
    fills = iter(_FILLS * (1 + len(paths) * (len(sizes) + 1) // len(_FILLS)))
    for size in sizes:
        for path in paths:
            length = size * block_size - block_size // 4
            yield ("write", path, 0, bytes([next(fills)]) * length)
    for path in paths:
        yield ("truncate", path, 0)
        yield ("truncate", path, block_size // 2)
    for path in paths[:1]:
        yield (
            "write",
            path,
            block_size + block_size // 2,
            bytes([next(fills)]) * (block_size // 4),
        )


def populated(names: Sequence[str], sizes: Sequence[int], block_size: int) -> Operations:
    """Operations that make a small tree: files with content, for later ones to change."""
    first, *others = ["/" + name for name in names]
    operations: list[Operation] = []
    if sizes:
        length = max(sizes) * block_size - block_size // 4
        operations += [("create", first), ("write", first, 0, b"a" * length)]
        for other in others[:1]:
            operations += [("create", other), ("write", other, 0, b"b" * (block_size // 2))]
    operations.append(("sync",))
    return tuple(operations)


def fills(names: Sequence[str], block_size: int) -> Iterator[Operation]:
    """Operations that use up space one block at a time, in files outside the names explored."""
    number = 0
    while True:
        stem = f"/{'z' * (1 + max(map(len, names), default=0))}{number}"
        yield ("create", stem)
        for block in range(8):
            yield ("write", stem, block * block_size, b"z" * block_size)
        number += 1


def sample(
    alphabet: Sequence[Operation],
    length: int,
    seed: int,
    allowed: Callable[[Operations, Operation], bool],
) -> Operations:
    """A random sequence of the length, mostly of operations that are allowed after those before.

    allowed: whether the model lets the operation succeed after the sequence. Contents vary.
    """
    rng = random.Random(seed)
    made: Operations = ()
    while len(made) < length:
        operation = _varied(rng.choice(alphabet), rng)
        for _ in range(12):
            if allowed(made, operation) or rng.random() > _LIKELY:
                break
            operation = _varied(rng.choice(alphabet), rng)
        made += (operation,)
    return made


def _varied(operation: Operation, rng: random.Random) -> Operation:
    return tuple(
        bytes([rng.choice(_FILLS)]) * len(a) if type(a) is bytes and a else a for a in operation
    )


def smaller(operations: Operations) -> Iterator[Operations]:
    """Sequences that are simpler by one step: some operations dropped, many first, or less data."""
    count = len(operations)
    while count := count // 2:
        for index in range(0, len(operations), count):
            yield operations[:index] + operations[index + count :]
    for index, operation in enumerate(operations):
        for place, value in enumerate(operation):
            if type(value) is bytes and len(value) > 1:
                for size in (1, len(value) // 2):
                    less = (*operation[:place], value[:size], *operation[place + 1 :])
                    yield (*operations[:index], less, *operations[index + 1 :])
