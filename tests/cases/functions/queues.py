"""Queues: the reference, a sound one, and each defect in one class."""

from __future__ import annotations

import errno
import os


class Reference:
    """A queue of at most three items."""

    def __init__(self) -> None:
        self.items: list[int] = []

    def put(self, x: int) -> int:
        if len(self.items) == 3:
            raise OSError(errno.ENOSPC, "full")
        self.items.append(x)
        return len(self.items)

    def get(self) -> int:
        return self.items.pop(0)

    def all(self) -> list[int]:
        return list(self.items)

    def facts(self) -> dict[str, object]:
        return {"kind": "queue", "size": len(self.items), "version": 1}


class Sound(Reference):
    """Answers as the reference does, but with another version and another order."""

    def all(self) -> list[int]:
        return self.items[::-1]

    def facts(self) -> dict[str, object]:
        return {**super().facts(), "version": 2}


class Stack(Reference):
    def get(self) -> int:
        return self.items.pop()


class Forgets(Reference):
    """Loses the second item without a word; only what is observed later shows it."""

    def put(self, x: int) -> int:
        if len(self.items) == 1:
            return 2
        return super().put(x)


class WrongErrno(Reference):
    def put(self, x: int) -> int:
        if len(self.items) == 3:
            raise OSError(errno.EDQUOT, "full")
        return super().put(x)


class WrongType(Reference):
    def get(self) -> int:
        if not self.items:
            raise KeyError("empty")
        return super().get()


class Small(Reference):
    """Refuses the third item already, without effect."""

    def put(self, x: int) -> int:
        if len(self.items) == 2:
            raise OSError(errno.ENOSPC, "full")
        return super().put(x)


class SmallAndDirty(Small):
    """Refuses the third item, and loses the others."""

    def put(self, x: int) -> int:
        try:
            return super().put(x)
        except OSError:
            self.items.clear()
            raise


class Exits(Reference):
    def get(self) -> int:
        if len(self.items) == 2:
            os._exit(0)
        return super().get()


class CannotBeMade(Reference):
    def __init__(self) -> None:
        raise RuntimeError("no")


_shared: list[int] = []


class Leaks(Reference):
    """All queues of a process share their items."""

    def __init__(self) -> None:
        self.items = _shared


class Odd(Reference):
    def get(self) -> object:  # type: ignore[override]
        return object()


class Lenient(Reference):
    """A reference that leaves open which errno a full queue gives."""

    def put(self, x: int) -> int:
        if len(self.items) == 3:
            error = OSError(errno.ENOSPC, "full")
            error.also = (errno.EDQUOT,)  # type: ignore[attr-defined]
            raise error
        return super().put(x)


class Counter:
    """Over a block device: counts in block 0."""

    def __init__(self, device: object) -> None:
        self.device = device

    @staticmethod
    def format(device: object) -> None:
        device.write(0, bytes(device.block_size))  # type: ignore[attr-defined]

    @classmethod
    def mount(cls, device: object) -> Counter:
        return cls(device)

    def add(self, n: int) -> int:
        device = self.device
        total = int.from_bytes(device.read(0), "big") + n  # type: ignore[attr-defined]
        device.write(0, total.to_bytes(device.block_size, "big"))  # type: ignore[attr-defined]
        device.flush()  # type: ignore[attr-defined]
        return total


class PlainCounter:
    def __init__(self) -> None:
        self.total = 0

    def add(self, n: int) -> int:
        self.total += n
        return self.total


class LimitedCounter(PlainCounter):
    def add(self, n: int) -> int:
        if self.total >= 4:
            return self.total
        return super().add(n)
