"""Properties and references for `subjects.py`, right and wrong ones."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from typing import Any

from refute.specs.function import SubjectRaised

Function = Callable[..., Any]


def round_trip(x: bytes, encode: Function, decode: Function) -> bool:
    return bool(decode(encode(x)) == x)


def permutes(v: list[int], subject: Function) -> bool:
    before = sorted(v)
    return sorted(subject(v)) == before


def doubles(x: int, subject: Function) -> bool:
    return bool(subject(x) == 2 * x)


def doubles_loudly(x: int, subject: Function) -> bool:
    assert subject(x) == 2 * x, f"{x} is not doubled"
    return True


def doubles_or_raises(x: int, subject: Function) -> bool:
    try:
        return bool(subject(x) == 2 * x)
    except ValueError as error:
        return isinstance(error, SubjectRaised) and error.type_name == "ValueError"


def swallows_everything(x: int, subject: Function) -> bool:
    with contextlib.suppress(BaseException):
        subject(x)
    return True


def last_in_first_out(x: int, push: Function, pop: Function) -> bool:
    push(x)
    return bool(pop() == x)


def first_item(x: int, subject: Function) -> bool:
    return bool(subject(x)[0] == 2 * x)


def is_json(text: str, parse: Function) -> bool:
    try:
        parse(text)
    except json.JSONDecodeError:
        return True
    return True


def never_asks(x: int) -> bool:
    return True


def returns_none(x: int, subject: Function) -> None:
    subject(x)


def has_a_typo(x: int, subject: Function) -> bool:
    return bool(subject(x) == undefined)  # type: ignore[name-defined]  # noqa: F821


def fails_before_asking(x: int, subject: Function) -> bool:
    return bool([][x] == subject(x))


def wants_more(x: int, y: int) -> bool:
    return True


def hands_it_on(x: int, token: Function, subject: Function) -> bool:
    token(token(x))
    return True


def multiplies(w: int, h: int, area: Function) -> bool:
    return bool(area(w, h) == w * h and area(w, h=h) == w * h)


def positive(x: int) -> bool:
    return x > 0


def never(x: int) -> bool:
    return False


def maybe(x: int) -> Any:
    return None


def twice(x: int) -> int:
    return x + x


def in_order(v: list[int]) -> list[int]:
    return sorted(v)


def alone(x: int) -> list[int]:
    return [x]


def same_number(x: float) -> float:
    return x


def too_large(x: int) -> int:
    if x > 41:
        raise ValueError("no")
    return 2 * x


def stranger(x: int) -> object:
    return object()
