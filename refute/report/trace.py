"""A counterexample as lines: the steps, where the crash falls, what was seen and what is allowed.

A trace shows each action and only what it changed. Long traces are cut in the middle, because the
two ends carry the meaning, and the line there says how to see all of it.
"""

from __future__ import annotations

import textwrap

from refute.replay import Counterexample, Step
from refute.report.visible import shortened, squeezed, visible, visible_lines

STEPS_SHOWN = 12
LINES_SHOWN = 6
CHANGE_LINES = 3
LABEL = 11
ALL_SHOWN = "in the witness file; refute replay shows all"


def trace_lines(
    case: Counterexample,
    *,
    width: int = 100,
    steps_shown: int | None = STEPS_SHOWN,
    all_shown: str = ALL_SHOWN,
) -> list[str]:
    """The counterexample as lines of at most about `width` characters, without indentation.

    steps_shown: of a longer trace both ends; None for all of it, with nothing cut. all_shown: what
    to say of the steps left out.
    """
    whole = steps_shown is None
    lines = _numbered(case.steps, width, steps_shown, all_shown)
    lines += _labelled("where", case.point, width, whole)
    lines += _labelled("observed", case.observed, width, whole)
    lines += _labelled("allowed", case.expected, width, whole)
    return lines


def _numbered(steps: tuple[Step, ...], width: int, shown: int | None, all_shown: str) -> list[str]:
    if shown is None or len(steps) <= shown:
        return _aligned(list(enumerate(steps, 1)), width, shown is None)
    head, tail = shown - shown // 2, shown // 2
    numbered = list(enumerate(steps, 1))
    left_out = len(steps) - head - tail
    return [
        *_aligned(numbered[:head], width),
        f"     … {left_out} more steps, {all_shown}",
        *_aligned(numbered[-tail:], width),
    ]


def _aligned(numbered: list[tuple[int, Step]], width: int, whole: bool = False) -> list[str]:
    texts = [squeezed(visible(step.text)) for _, step in numbered]
    column = min(max((len(t) for t in texts), default=0), 40)
    lines = []
    for (number, step), text in zip(numbered, texts, strict=True):
        changes = [f"{visible(k)} = {squeezed(visible(v))}" for k, v in step.changes.items()]
        head = f"{number:>3}  {text if whole else shortened(text, width)}"
        lines += _step(head, column + 5, changes, width, whole)
    return lines


def _step(head: str, column: int, changes: list[str], width: int, whole: bool) -> list[str]:
    joined = ", ".join(changes)
    if not changes:
        return [head]
    if column + 2 + len(joined) <= width and len(head) <= column:
        return [f"{head:<{column}}  {joined}"]
    lines = [head]
    for change in changes:
        wrapped = textwrap.wrap(change, max(20, width - 11), subsequent_indent="  ")
        if len(wrapped) > CHANGE_LINES and not whole:
            wrapped = [*wrapped[: CHANGE_LINES - 1], "  …"]
        lines += [f"       {line}" for line in wrapped]
    return lines


def _labelled(label: str, text: str, width: int, whole: bool) -> list[str]:
    if not text:
        return []
    wrapped: list[str] = []
    for line in visible_lines(text):
        wrapped += textwrap.wrap(squeezed(line), max(20, width - LABEL), drop_whitespace=False) or [
            ""
        ]
    if len(wrapped) > LINES_SHOWN and not whole:
        wrapped = [*wrapped[:LINES_SHOWN], "…"]
    return [f"{label if i == 0 else '':<{LABEL}}{line}".rstrip() for i, line in enumerate(wrapped)]
