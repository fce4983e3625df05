"""Where a loop hint stands: which loop it belongs to, and the value it had an iteration ago.

`decreases(n)` says that a measure falls from each iteration of its loop to the next. At run time it
sees only calls from the same place, and a loop that is entered anew may start higher than it
ended. So the place is looked up in the source: a loop inside another one is compared only if the
outer loop has a hint before it, which tells that the inner loop begins again. Otherwise only the
lower bound is checked; an alarm that is false would refute correct code.
"""

from __future__ import annotations

import ast
import functools
import linecache
import threading
from types import FrameType
from typing import NamedTuple

HINTS = ("invariant", "decreases")
Loop = ast.While | ast.For | ast.AsyncFor


class Place(NamedTuple):
    """The innermost loop around a hint, by its first and last line; compares: see above."""

    first: int
    last: int
    compares: bool


class Entry(NamedTuple):
    """What a frame's hints have said so far: line of `decreases` → its loop's line, its value."""

    frame: FrameType
    values: dict[int, tuple[int, int]]


_running = threading.local()


def last_measure(frame: FrameType, value: int) -> int | None:
    """The measure of the iteration before, None where there is none to compare with; keeps this."""
    place = _place(frame.f_code.co_filename, frame.f_lineno)
    if not place.compares:
        return None
    values = _entry(frame).values
    _begin_inner(values, place)
    before = values.get(frame.f_lineno)
    values[frame.f_lineno] = place.first, value
    return None if before is None else before[1]


def iteration_begins(frame: FrameType) -> None:
    """A hint without a measure: the loops inside this one begin again."""
    stack: list[Entry] = getattr(_running, "stack", [])
    if stack and stack[-1].frame is frame:
        _begin_inner(stack[-1].values, _place(frame.f_code.co_filename, frame.f_lineno))


def _begin_inner(values: dict[int, tuple[int, int]], place: Place) -> None:
    for line in [k for k, (first, _) in values.items() if place.first < first <= place.last]:
        del values[line]


def _entry(frame: FrameType) -> Entry:
    """The frame's entry on top of the stack; those of frames that have returned are dropped."""
    stack: list[Entry] | None = getattr(_running, "stack", None)
    if stack is None:
        stack = _running.stack = []
    if not stack or stack[-1].frame is not frame:
        callers: set[FrameType] = set()
        caller: FrameType | None = frame
        while caller is not None:
            callers.add(caller)
            caller = caller.f_back
        while stack and stack[-1].frame not in callers:
            stack.pop()
        if not stack or stack[-1].frame is not frame:
            stack.append(Entry(frame, {}))
    return stack[-1]


@functools.lru_cache(maxsize=1024)
def _place(file: str, line: int) -> Place:
    module = _module(file)
    loops = _loops_around(module, line) if module is not None else []
    if not loops:
        return Place(line, line, compares=False)
    inner = loops[-1]
    alone = len(loops) == 1 or _has_hint_before(loops[-2], inner)
    return Place(inner.lineno, inner.end_lineno or inner.lineno, compares=alone)


@functools.lru_cache(maxsize=16)
def _module(file: str) -> ast.Module | None:
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError, RecursionError):
        return None


def _loops_around(node: ast.AST, line: int) -> list[Loop]:
    """The loops of the function at a line, outermost first."""
    found: list[Loop] = []
    for child in ast.iter_child_nodes(node):
        first, last = getattr(child, "lineno", line), getattr(child, "end_lineno", None) or line
        if not first <= line <= last:
            continue
        inside = _loops_around(child, line)
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            return inside
        found += [child, *inside] if isinstance(child, Loop) else inside
    return found


def _has_hint_before(outer: Loop, inner: Loop) -> bool:
    for statement in outer.body:
        if statement.lineno >= inner.lineno:
            return False
        value = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(value, ast.Call) and ast.unparse(value.func).rpartition(".")[2] in HINTS:
            return True
    return False
