"""Regular expressions as files for Rust's `regex` have them, for Python's `re`.

The two agree on nearly all that is used in practice. What is spelled otherwise is translated; what
Python cannot have, such as `\\p{Greek}`, is refused.
"""

from __future__ import annotations

import re
import warnings
from functools import cache

_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": r"\x00-\x7F",
    "blank": r"\t ",
    "cntrl": r"\x00-\x1F\x7F",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\t\n\v\f\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
_POSIX = re.compile(r"\[:([a-z]+):\]")
_END = re.compile(r"(?<!\\)((?:\\\\)*)\\z")
_WIDE = re.compile(r"\\x\{([0-9A-Fa-f]{1,6})\}")


@cache
def pattern_of(text: str) -> tuple[re.Pattern[str] | None, str]:
    """The pattern, or why there is none."""
    found = _POSIX.sub(lambda m: _CLASSES.get(m[1], m[0]), text)
    found = _END.sub(r"\1\\Z", found)
    found = _WIDE.sub(lambda m: f"\\U{int(m[1], 16):08x}", found)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", FutureWarning)  # sets in sets, which Rust has
            return re.compile(found), ""
    except (re.error, FutureWarning, OverflowError, RecursionError) as error:
        return None, str(error)
