"""The limits of one step, while the class itself runs it.

The language says that a `while` of more than `MOST_ROUNDS` and helpers more than `MOST_CALLS` deep
are exceptions of the step. Python knows no such limits: without them the replay of a `while` that
never ends would not end either. They are counted by a trace function, which the class does not
notice, and only where a case says that its last step or predicate raises.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import sys
import sysconfig
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from refute.specs.machine.errors import MOST_CALLS, MOST_ROUNDS, Endless

_PACKAGE = Path(__file__).resolve().parents[2]
_OWN = (f"{_PACKAGE}/", sysconfig.get_path("stdlib") + "/", "<frozen")
_LIBRARY = f"{_PACKAGE}/specs/library/"


@contextlib.contextmanager
def limited() -> Iterator[None]:
    """Within, code that is not Python's or refute's raises Endless or RecursionError."""
    before = sys.gettrace()
    sys.settrace(_Count().call)
    try:
        yield
    finally:
        sys.settrace(before)


class _Count:
    """The rounds so far of each call that has not ended, by the lines that they go to."""

    def __init__(self) -> None:
        self.inside: list[Counter[int]] = []

    def call(self, frame: FrameType, event: str, arg: object) -> Any:
        """Told of each call; returns what is told of the frame's lines, if that matters."""
        file = frame.f_code.co_filename
        if file.startswith(_OWN) and not file.startswith(_LIBRARY):
            return None
        self.inside.append(Counter())
        if len(self.inside) > MOST_CALLS:
            raise RecursionError(f"helpers are more than {MOST_CALLS} calls deep")
        return functools.partial(self.line, _heads(file))

    def line(self, heads: dict[int, int], frame: FrameType, event: str, arg: object) -> Any:
        """Told of each line that a frame goes to, and of its end."""
        if event == "return":
            self.inside.pop()
        elif event == "line" and frame.f_lineno in heads:
            rounds = self.inside[-1]
            rounds[frame.f_lineno] += 1
            if rounds[frame.f_lineno] > heads[frame.f_lineno]:
                raise Endless(f"line {frame.f_lineno}: more than {MOST_ROUNDS} rounds")
        return functools.partial(self.line, heads)


@functools.cache
def _heads(file: str) -> dict[int, int]:
    """Lines that each round of a `while` of the file goes to, and how often they may be."""
    try:
        tree = ast.parse(Path(file).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return {}
    return dict(_head(node) for node in ast.walk(tree) if isinstance(node, ast.While))


def _head(node: ast.While) -> tuple[int, int]:
    """A test is asked once more than there are rounds.

    A constant one has no code: the first statement inside stands for it.
    """
    first: ast.stmt = node
    while isinstance(first, ast.While) and isinstance(first.test, ast.Constant):
        first = first.body[0]
    if isinstance(first, ast.While):
        return first.test.lineno, MOST_ROUNDS + 1
    return first.lineno, MOST_ROUNDS
