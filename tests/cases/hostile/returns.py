"""Returns values that lie about themselves, or that are no data, or far too much of it."""

from collections.abc import Callable
from typing import Any


class Equal:
    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 1


class Integer(int):
    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 1

    def __repr__(self) -> str:
        return "42"


class Meta(type):
    def __getattribute__(cls, name: str) -> Any:
        raise SystemExit(name)


class Nameless(metaclass=Meta):
    @property
    def __class__(self) -> Any:
        raise SystemExit("no class")


def equal() -> Any:
    return Equal()


def equal_inside() -> Any:
    return [1, Equal()]


def integer() -> Any:
    return Integer(41)


def nan() -> float:
    return float("nan")


def nameless() -> Any:
    return Nameless()


def function() -> Callable[[], Any]:
    return lambda: 1


def deep() -> Any:
    value: Any = []
    for _ in range(100_000):
        value = [value]
    return value


def cyclic() -> Any:
    value: list[Any] = []
    value.append(value)
    return value


def many_bytes() -> bytes:
    return bytes(100 * 2**20)


def long_texts() -> list[str]:
    return ["x" * 2**20] * 9


def surrogate() -> str:
    return "\ud800"
