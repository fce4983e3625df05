"""Globs over the paths of a tree, with one meaning everywhere they are written.

`*` and `?` stop at `/`, `**` does not; `dir/` and the plain name of a directory stand for
everything below it. `fnmatch` lets `*` cross `/`, which would make `src/*.py` cover more than its
author sees.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable


def matches(path: str, globs: Iterable[str]) -> bool:
    """Whether a path relative to the tree matches one of the globs."""
    return any(_pattern(glob).fullmatch(path) for glob in globs)


@functools.lru_cache(maxsize=4096)
def _pattern(glob: str) -> re.Pattern[str]:
    text = glob.removeprefix("./")
    if text.endswith("/"):
        text += "**"
    out, i = "", 0
    while i < len(text):
        piece, i = _piece(text, i)
        out += piece
    below = "" if any(c in text for c in "*?[") else "(?:/.*)?"
    return re.compile(out + below, re.DOTALL)


def _piece(text: str, i: int) -> tuple[str, int]:
    """The regular expression of what stands at `i`, and where the next piece starts."""
    if text.startswith("**/", i):
        return "(?:.*/)?", i + 3
    if text.startswith("**", i):
        return ".*", i + 2
    if text[i] == "*":
        return "[^/]*", i + 1
    if text[i] == "?":
        return "[^/]", i + 1
    end = text.find("]", i + 2) if text[i] == "[" else -1
    if end > 0:
        return _one_of(text[i + 1 : end]), end + 1
    return re.escape(text[i]), i + 1


def _one_of(inside: str) -> str:
    """`[abc]`, `[a-z]` and `[!abc]` as a regular expression; a reversed range matches nothing."""
    negated = inside.startswith("!")
    members = re.sub(r"([\\^\[\]&~|])", r"\\\1", inside[negated:])
    try:
        re.compile(f"[{members}]")
    except re.error:
        return "(?!)"
    return f"[{'^/' if negated else ''}{members}]"
