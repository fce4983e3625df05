"""Answers as a worker packs them (`refute.oracles.sql.engines.session`), read without trust.

The engine shares its process with what packs, so anything may come: what has not the form of an
answer is "unfit", or nothing at all.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Sequence
from itertools import chain
from typing import Any

from refute.oracles.sql.engines.values import INTEGERS, SIMPLE

MALFORMED = ["unfit", "a malformed answer"]
_TEXTS = {"error": (2, 3), "crash": (2,), "unfit": (1,), "lost": (1,), "done": (0,)}
_SENT = SIMPLE | {dict}
_ROWS = frozenset({list})

_decode = json.JSONDecoder().decode


def unpacked(data: Any, most: int) -> list[list[Any]] | None:
    """At most so many answers, in the driver's form; None for what is no list of some.

    The last one may be ["part", names, rows, …], whose other rows are still to come.
    """
    answers = _parsed(data)
    if type(answers) is not list or not 0 < len(answers) <= most:
        return None
    return [_checked(answer, last=answer is answers[-1]) for answer in answers]


def unpacked_rows(data: Any, width: int) -> tuple[list[list[Any]], bool] | None:
    """More rows of a result that came in parts, and whether they are the last ones."""
    given = _parsed(data)
    if type(given) is not list or len(given) != 2 or type(given[1]) is not bool:
        return None
    rows, last = given
    return (rows, last) if type(rows) is list and rows and _are_rows(rows, width) else None


def in_form(answer: Any) -> bool:
    """Whether the answer has the driver's form."""
    if type(answer) is not list or not answer or type(answer[0]) is not str:
        return False
    if answer[0] == "rows":
        return _is_result(answer)
    if answer[0] == "done" and len(answer) == 2:
        return type(answer[1]) is int and answer[1] >= 0
    texts = answer[1:]
    return len(texts) in _TEXTS.get(answer[0], ()) and all(type(text) is str for text in texts)


def _parsed(data: Any) -> Any:
    if type(data) is not bytes:
        return None
    try:
        return _decode(data.decode("ascii"))
    except (ValueError, RecursionError):
        return None


def _checked(answer: Any, *, last: bool) -> list[Any]:
    if type(answer) is list and answer and answer[0] == "part" and last and _is_result(answer):
        return answer
    return answer if in_form(answer) else MALFORMED


def _is_result(answer: Sequence[Any]) -> bool:
    """Whether this is names, rows of so many values, and perhaps types; tags become bytes."""
    if len(answer) not in (3, 4):
        return False
    for names in (answer[1], answer[-1] if len(answer) == 4 else []):
        if type(names) is not list or not all(type(name) is str for name in names):
            return False
    if len(answer) == 4 and len(answer[3]) != len(answer[1]):
        return False
    return type(answer[2]) is list and _are_rows(answer[2], len(answer[1]))


def _are_rows(rows: list[Any], width: int) -> bool:
    if not rows:
        return True
    if set(map(type, rows)) != _ROWS or set(map(len, rows)) != {width}:
        return False
    kinds = set(map(type, chain.from_iterable(rows)))
    if not kinds <= _SENT:
        return False
    if dict in kinds and not _untagged(rows):
        return False
    if int in kinds:
        return all(v in INTEGERS for v in chain.from_iterable(rows) if type(v) is int)
    return True


def _untagged(rows: list[list[Any]]) -> bool:
    """Put bytes where tags are; whether each was one."""
    for row in rows:
        for at, value in enumerate(row):
            if type(value) is dict:
                text = value.get("b")
                if type(text) is not str or len(value) != 1:
                    return False
                try:
                    row[at] = base64.b64decode(text, validate=True)
                except (binascii.Error, ValueError):
                    return False
    return True
