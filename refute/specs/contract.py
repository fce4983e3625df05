"""Contracts: what a function promises for all inputs, written with icontract's decorators.

    @require(lambda blocks: blocks > 0)                  # from icontract
    @ensure(lambda blocks, result: result * 8 >= blocks)
    def bytes_for(blocks: int) -> int: ...

    claim("the bitmap is large enough", MeetsContract("bitmap:bytes_for"), need=PROVED())

The claim says: for all arguments of the annotated types that satisfy every `require`, the function
returns (it raises nothing but what `raises=` or `:raises X:` in its docstring names), the result is
of the annotated type as type checkers see it (a bool is an int), and every `ensure` holds of the
arguments as they are after the call, of `result` and of `OLD`. Arguments are separate objects, and
whether the result is one of them is not looked at. A condition that raises, where an earlier one
has not ruled the case out, makes the case unfit to be judged.

The contract is read from the tree that judges, in a gate the base, and never from decorators that
the judged function carries. Loop hints belong to the body: `invariant` and `decreases` are what a
proof of a loop needs, and here they are plain assertions that the running function checks.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from types import FrameType

from refute.claim import Statement, check_reference, is_command
from refute.errors import IllegalClaim
from refute.specs.contract_loops import iteration_begins, last_measure

__all__ = ["HintBroken", "MeetsContract", "decreases", "invariant"]

KIND = "contract"
_EXCEPTION = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*\Z")


class HintBroken(AssertionError):
    """A loop invariant that does not hold, or a measure that does not fall; names file:line."""


def invariant(condition: bool) -> None:
    """The condition holds here in every iteration; put it at the top of the loop's body.

    Raises HintBroken, an AssertionError, when it does not.
    """
    frame = sys._getframe(1)
    if not condition:
        raise HintBroken(f"{_place(frame)}: the loop invariant does not hold")
    iteration_begins(frame)


def decreases(measure: int) -> None:
    """The measure is at least 0 here and less than an iteration ago, so the loop comes to an end.

    Put it at the top of the loop's body. In a loop inside another one the comparison is made only
    where the outer loop has a hint of its own before the inner one. Raises HintBroken, an
    AssertionError, and TypeError for anything but an int.
    """
    frame = sys._getframe(1)
    if not isinstance(measure, int):
        raise TypeError(f"{_place(frame)}: a measure is an int, not {type(measure).__name__}")
    if measure < 0:
        raise HintBroken(f"{_place(frame)}: the measure is {measure}, less than 0")
    before = last_measure(frame, measure)
    if before is not None and measure >= before:
        raise HintBroken(f"{_place(frame)}: the measure is {measure} after {before}")


def _place(frame: FrameType) -> str:
    return f"{os.path.relpath(frame.f_code.co_filename)}:{frame.f_lineno}"


def MeetsContract(subject: str, raises: Sequence[str] = ()) -> Statement:
    """The function meets the contract above it, for all inputs.

    subject: `module:function`. raises: names of exceptions that it may raise, with their
    subclasses, besides those in its docstring; `ValueError`, or `module.Name` for one's own.
    Raises IllegalClaim.
    """
    check_reference(subject, "subject")
    if is_command(subject):
        raise IllegalClaim(
            f"{subject!r} is a command, and a contract stands above a Python function",
            thing="subject",
            value=subject,
            next_step="name it as module:function",
        )
    names = (raises,) if isinstance(raises, str) else tuple(raises)
    wrong = [n for n in names if type(n) is not str or not _EXCEPTION.match(n)]
    if wrong:
        raise IllegalClaim(
            f"{wrong[0]!r} does not name an exception",
            thing="raises",
            value=wrong[0],
            possible=('"ValueError"', '"package.errors.NotFound"'),
            next_step="give names as strings",
        )
    allowed = f", or raises {' or '.join(names)}" if names else ""
    return Statement(
        kind=KIND,
        text=f"{subject} meets its contract{allowed}",
        subject=subject,
        params={"raises": list(names)},
        spec=(subject,),
    )
