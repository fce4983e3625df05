"""Raises what a careless harness would not catch, or could not print."""

import sys


class Mute(Exception):
    def __str__(self) -> str:
        raise SystemExit("no message")

    __repr__ = __str__


class Base(BaseException):
    pass


class Meta(type):
    def __getattribute__(cls, name: str) -> object:
        raise KeyboardInterrupt(name)


class Odd(OSError):
    @property
    def errno(self) -> int:  # type: ignore[override]
        raise ValueError("no errno")


def system_exit() -> None:
    sys.exit(0)


def builtin_exit() -> None:
    exit(0)


def keyboard_interrupt() -> None:
    raise KeyboardInterrupt


def generator_exit() -> None:
    raise GeneratorExit


def base() -> None:
    raise Base("base")


def mute() -> None:
    raise Mute


def odd() -> None:
    raise Odd(5, "odd")


def surrogate() -> None:
    raise ValueError("\ud800")


def recursion() -> None:
    recursion()


def unlimited_recursion() -> None:
    sys.setrecursionlimit(2**30)
    left: list[object] = []
    right: list[object] = []
    for _ in range(300_000):
        left, right = [left], [right]
    if left == right:
        return
