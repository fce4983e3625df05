"""Calls of a function under contract, beside the subject: many cases in one request.

What comes back is the answer and the arguments as the call left them, because an `ensure` may
speak of a list that was changed. A hostile subject can forge all of it, which gains it nothing:
whatever comes from its process is what it answered.

A case that takes too long is given up here, the writing of a long result included, so that one loop
over 2**64 steps does not cost the whole request; the parent has its own clock for code that does
not let go.
"""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from types import FrameType
from typing import Any

from refute import plain
from refute.plain import Plain
from refute.sandbox.faults import describe
from refute.specs.answers import resolve

SLOW = "slow"
_WRAPPERS = 50  # decorators at most that are taken off


class _TooLong(BaseException):
    """The case used more CPU time than one of many may."""


def call_each(
    target: str, rows: Sequence[tuple[Sequence[Plain], Mapping[str, Plain]]], cpu_s: float
) -> list[str]:
    """One answer for each (args, kwargs), as text that `refute.plain.loads` reads.

    ["returned", value, args, kwargs] with the arguments as they are afterwards,
    ["raised", type, message, place], ["slow"], or ["unloaded", type, message, place] where there is
    no such function. cpu_s: what each may take; 0 for no limit.
    """
    try:
        function = resolve(target)
    except BaseException as error:  # whatever a module raises while it is loaded
        return [_failure("unloaded", error)] * len(rows)
    if not cpu_s:
        return [_answer(function, args, kwargs, 0) for args, kwargs in rows]
    before = signal.signal(signal.SIGVTALRM, _give_up)
    try:
        return [_answer(function, args, kwargs, cpu_s) for args, kwargs in rows]
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def call_bare(target: str, args: Sequence[Plain], kwargs: Mapping[str, Plain]) -> str:
    """The answer of the function without the decorators that say what they wrap; for people."""
    function = resolve(target)
    for _ in range(_WRAPPERS):
        function = getattr(function, "__wrapped__", function)
    return _answer(function, args, kwargs, 0)


def _give_up(_: int, __: FrameType | None) -> None:
    raise _TooLong


def _answer(
    function: Callable[..., Any], args: Sequence[Plain], kwargs: Mapping[str, Plain], cpu_s: float
) -> str:
    given = dict(kwargs)
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, cpu_s)
        try:
            value = function(*args, **given)
            answer = ["returned", value, list(args), given]
            return json.dumps(plain.encode(answer, opaque=True))
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    except _TooLong:
        return json.dumps([SLOW])
    except BaseException as error:  # SystemExit is an answer too
        return _failure("raised", error)


def _failure(kind: str, error: BaseException) -> str:
    told = describe(error, str(sys.path[0]))
    answer: list[Plain] = [kind, told["error"], told["message"], told["detail"]]
    return json.dumps(plain.encode(answer))
