"""The part that runs next to the subject, or next to spec code, inside a worker.

It only carries out and reports; the parent judges. Recovering thousands of crash states over a
pipe, one device call at a time, would be slow, so the states of a batch travel as differences to
one image and are recovered over a device in this process, whose writes are reported back. What
breaks there is replayed over the parent's device before it counts.
"""

from __future__ import annotations

import errno
import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from refute import plain
from refute.plain import Plain

MAX_ENTRIES = 4096  # of a tree that is walked; a damaged one may have cycles
MAX_DEPTH = 64


def resolve(reference: str) -> Any:
    """The object that `"module:qualname"` names. Raises what importing it raises."""
    module, _, name = reference.partition(":")
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


class FarDevice:
    """The block device as the subject sees it; every call is answered by the parent."""

    def __init__(self, remote: Any, block_size: int, block_count: int) -> None:
        self.block_size = block_size
        self.block_count = block_count
        self._remote = remote

    def read(self, block: int) -> bytes:
        """The bytes of a block."""
        data: bytes = self._remote.read(int(block))
        return data

    def write(self, block: int, data: bytes) -> int:
        """Write a block; returns the number of bytes written, fewer for a short write."""
        count: int = self._remote.write(int(block), bytes(data))
        return count

    def flush(self) -> None:
        """Return when everything written before is durable."""
        self._remote.flush()


class MirroredDevice(FarDevice):
    """As FarDevice, but reads are answered here, from a copy that follows the writes."""

    def __init__(self, remote: Any, block_size: int, image: bytes) -> None:
        super().__init__(remote, block_size, len(image) // block_size)
        self._image = bytearray(image)

    def read(self, block: int) -> bytes:
        """The bytes of a block."""
        if not 0 <= block < self.block_count:
            raise OSError(errno.EINVAL, f"no block {block!r} on this device")
        start = block * self.block_size
        return bytes(self._image[start : start + self.block_size])

    def write(self, block: int, data: bytes) -> int:
        """Write a block, here as far as the parent's device says that it was written."""
        data = bytes(data)
        count = super().write(block, data)
        start = block * self.block_size
        self._image[start : start + count] = data[:count]
        return count


class NearDevice:
    """A block device in this process: an image with differences, recording what is written."""

    def __init__(self, base: bytes, block_size: int, delta: dict[int, bytes]) -> None:
        self.block_size = block_size
        self.block_count = len(base) // block_size
        self._base = base
        self._delta = delta
        self.log: list[tuple[int, bytes]] = []  # block -1 is a flush

    def read(self, block: int) -> bytes:
        """The bytes of a block."""
        found = self._delta.get(block)
        if found is not None:
            return found
        if not 0 <= block < self.block_count:
            raise OSError(errno.EINVAL, f"no block {block!r} on this device")
        return self._base[block * self.block_size : (block + 1) * self.block_size]

    def write(self, block: int, data: bytes) -> int:
        """Write a whole block."""
        data = bytes(data)
        if not 0 <= block < self.block_count or len(data) != self.block_size:
            raise OSError(errno.EINVAL, f"a write takes {self.block_size} bytes of a block")
        self._delta[block] = data
        self.log.append((block, data))
        return self.block_size

    def flush(self) -> None:
        """Everything is durable already."""
        self.log.append((-1, b""))


def loads(subject: str) -> list[str]:
    """Which of format, mount and unmount the subject has; raises what importing it raises."""
    found = resolve(subject)
    names = ("format", "mount", "unmount")
    return [name for name in names if callable(getattr(found, name, None))]


def make(subject: str, remote: Any, block_size: int, block_count: int) -> None:
    """`format` the parent's device."""
    resolve(subject).format(FarDevice(remote, block_size, block_count))


def mount(subject: str, remote: Any, block_size: int, block_count: int, image: bytes) -> Any:
    """The subject mounted on the parent's device, after its recovery.

    image: what is on it, for answering reads here; empty to leave them to the parent.
    """
    if image:
        return resolve(subject).mount(MirroredDevice(remote, block_size, image))
    return resolve(subject).mount(FarDevice(remote, block_size, block_count))


def view(mounted: Any, method: str) -> Plain:
    """The whole state: what `method` returns, or the walked tree when `method` is empty."""
    return getattr(mounted, method)() if method else walk(mounted)


def space(mounted: Any, method: str) -> Plain:
    """What the subject says of its free space; None when it has no such method."""
    ask = getattr(mounted, method, None)
    return None if ask is None else ask()


def walk(mounted: Any) -> dict[str, Plain]:
    """The tree as `refute.specs.library.filesystem.Filesystem.view` describes it."""
    nodes: dict[str, tuple[Plain, ...]] = {}
    first: dict[Plain, str] = {}
    for path, stat in sorted(_entries(mounted), key=lambda entry: entry[0]):
        if stat["kind"] == "dir":
            nodes[path] = ("dir", stat["nlink"])
            continue
        size = stat["size"]
        content = mounted.read(path, 0, size) if size else b""
        twin = first.setdefault(stat["ino"], path)
        nodes[path] = (stat["kind"], size, stat["nlink"], content, twin)
    return nodes


def _entries(mounted: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    waiting = [("/", 0)]
    seen = 0
    while waiting:
        path, depth = waiting.pop()
        stat = mounted.stat(path)
        seen += 1
        if depth > MAX_DEPTH or seen > MAX_ENTRIES:
            raise RuntimeError(f"the tree has no end: more than {seen - 1} names, or a cycle")
        yield path, stat
        if stat["kind"] == "dir":
            stem = "" if path == "/" else path
            waiting.extend((f"{stem}/{name}", depth + 1) for name in mounted.readdir(path))


class _Table:
    """Distinct values by a hashable key, so that what repeats within a reply is sent once."""

    def __init__(self) -> None:
        self.values: list[Plain] = []
        self._index: dict[Any, int] = {}

    def place(self, key: Any, value: Plain) -> int:
        found = self._index.get(key)
        if found is None:
            found = self._index[key] = len(self.values)
            self.values.append(value)
        return found


def recover(
    subject: str,
    method: str,
    base: bytes,
    block_size: int,
    payloads: Sequence[bytes],
    states: Sequence[Sequence[tuple[int, int]]],
) -> Plain:
    """Recover each state and report its view and what recovery wrote.

    states: for each, the blocks that differ from `base`, as (block, index into payloads). Returns
    views, payloads (distinct values) and results, one for each state: (view index, failure, log)
    where failure is (phase, exception's type, errno, message) or None and log lists (block, payload
    index), block -1 for a flush.
    """
    mount_on = resolve(subject).mount
    views, written = _Table(), _Table()
    results = []
    for state in states:
        delta = {block: payloads[index] for block, index in state}
        device = NearDevice(base, block_size, delta)
        seen, failure = _attempt(mount_on, device, method)
        place = -1
        if failure is None:
            place = views.place(_key(seen, method), seen)
        log = [(block, written.place(data, data)) for block, data in device.log]
        results.append((place, failure, log))
    return {"views": views.values, "payloads": written.values, "results": results}


def _attempt(
    mount_on: Callable[[Any], Any], device: NearDevice, method: str
) -> tuple[Plain, Plain]:
    phase = "mount"
    try:
        mounted = mount_on(device)
        wrote = len(device.log)
        phase = "view"
        seen = view(mounted, method)
        del device.log[wrote:]
    except (Exception, SystemExit) as error:
        number = error.errno if isinstance(error, OSError) else None
        return None, (phase, plain.type_name(error), number, str(error)[:200])
    return seen, None


def _key(seen: Plain, method: str) -> Any:
    if method:
        return plain.digest_any(seen)
    try:
        key = tuple(seen.items())
        hash(key)
    except (TypeError, AttributeError):
        return plain.digest_any(seen)
    return key


def follow(model: str, operations: Sequence[Sequence[Plain]]) -> Plain:
    """Apply the operations to a new model: one (answer, view) for the start and for each of them.

    An answer is ("value", value) or ("error", errno, other errno that are as good).
    """
    machine = resolve(model)()
    steps: list[Plain] = [(("value", None), machine.view())]
    for operation in operations:
        try:
            answer: Plain = ("value", machine.apply(operation[0], list(operation[1:])))
        except OSError as error:
            answer = ("error", error.errno, sorted(getattr(error, "also", ())))
        steps.append((answer, machine.view()))
    return steps


def problems(
    check: str,
    base: bytes,
    block_size: int,
    payloads: Sequence[bytes],
    states: Sequence[Sequence[tuple[int, int]]],
) -> list[list[str]]:
    """What the spec's `check(image, block_size)` finds in each image; states as in `recover`."""
    found = resolve(check)
    results = []
    for state in states:
        image = bytearray(base)
        for block, index in state:
            image[block * block_size : (block + 1) * block_size] = payloads[index]
        results.append([str(problem) for problem in found(bytes(image), block_size)])
    return results
