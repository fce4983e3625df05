"""LIKE and GLOB as regular expressions, translated once per pattern.

LIKE folds the letters A to Z and nothing else; GLOB folds nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache

from minidb.collation import lower_ascii
from minidb.errors import OperationalError


@lru_cache(maxsize=256)
def like(pattern: str, escape: str | None) -> re.Pattern[str]:
    """The expression that lower-case text has to match in full."""
    if escape is not None and len(escape) != 1:
        raise OperationalError("ESCAPE expression must be a single character")
    parts, rest = [], iter(pattern)
    for letter in rest:
        if letter == escape:
            following = next(rest, None)
            if following is None:
                return re.compile(r"(?!)")
            parts.append(re.escape(lower_ascii(following)))
        else:
            wild = {"%": ".*", "_": "."}
            parts.append(wild.get(letter) or re.escape(lower_ascii(letter)))
    return re.compile("".join(parts), re.DOTALL)


@lru_cache(maxsize=256)
def glob(pattern: str) -> re.Pattern[str]:
    """The expression that text has to match in full: `*`, `?`, `[a-z]` and `[^a-z]`."""
    parts, at = [], 0
    while at < len(pattern):
        letter = pattern[at]
        at += 1
        if letter in "*?":
            parts.append(".*" if letter == "*" else ".")
        elif letter == "[":
            found, at = _set(pattern, at)
            parts.append(found)
        else:
            parts.append(re.escape(letter))
    return re.compile("".join(parts), re.DOTALL)


def _set(pattern: str, at: int) -> tuple[str, int]:
    """The set that begins behind its bracket, and where it ends; unclosed, it matches nothing."""
    start = at + 1 if pattern[at : at + 1] == "^" else at
    end = pattern.find("]", start + 1)
    if end < 0:
        return "(?!)", len(pattern)
    inside = re.sub(r"([\\\[\]&~|^])", r"\\\1", pattern[start:end])
    return f"[{'^' if start > at else ''}{inside}]", end + 1
