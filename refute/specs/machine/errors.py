"""What can go wrong while a machine's own code runs; engines turn each into a verdict."""

from __future__ import annotations

import sys


class Disabled(Exception):
    """A false `when`, or an `any_of` of nothing: the whole atomic step is undone."""


class IllDefined(Exception):
    """A step or predicate that has no meaning in some state."""


class OutOfRange(ValueError):
    """A value outside the declared type was written."""


class Endless(RuntimeError):
    """A `while` of one step that went round more often than `MOST_ROUNDS`."""


MOST_ROUNDS = 10_000  # of a `while` inside one step
MOST_CALLS = 200  # of a helper inside itself

_FEW = 20  # calls that fit into Python's own limit, however they are evaluated
_FRAMES = 20_000  # of Python, for MOST_CALLS of an expression that is walked as a tree


def check_depth(depth: int) -> None:
    """Raise RecursionError when a helper is inside itself too often; until then there is room."""
    if depth > MOST_CALLS:
        raise RecursionError(f"a helper calls itself {MOST_CALLS} times over")
    if depth == _FEW:
        sys.setrecursionlimit(max(sys.getrecursionlimit(), _FRAMES))


class NotAPlace(TypeError):
    """A mutating method was called on a value that was not read from a variable."""
