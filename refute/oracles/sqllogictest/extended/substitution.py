"""Variables in SQL, as the `subst` crate has them that sqllogictest-rs uses.

`$name`, `${name}` and `${name:default}`, where the default may hold variables, too. A backslash
takes the meaning from `$`, `\\`, `{`, `}` and `:`; before anything else it is an error, as there.
"""

from __future__ import annotations

import re
from collections.abc import Callable

Lookup = Callable[[str], str | None]

_NAME = re.compile(r"[A-Za-z0-9_]+")
_SPECIAL = "$\\{}:"


class NotSubstituted(Exception):
    """A variable without a value, or a text that cannot be read; worded as sqllogictest-rs does."""


def substituted(text: str, lookup: Lookup) -> str:
    """The text with the values of its variables. Raises NotSubstituted."""
    done, _ = _until(text, 0, lookup, inner=False)
    return done


def _until(text: str, at: int, lookup: Lookup, *, inner: bool) -> tuple[str, int]:
    """What the text is from `at` on, up to its end, or for a default up to its `}`."""
    found: list[str] = []
    while at < len(text):
        character = text[at]
        if character == "\\":
            found.append(_escaped(text, at))
            at += 2
        elif character == "$":
            value, at = _variable(text, at + 1, lookup)
            found.append(value)
        elif inner and character == "}":
            return "".join(found), at + 1
        else:
            found.append(character)
            at += 1
    if inner:
        raise NotSubstituted("substitution failed: Missing closing brace")
    return "".join(found), at


def _escaped(text: str, at: int) -> str:
    after = text[at + 1 : at + 2]
    if after not in _SPECIAL or not after:
        raise NotSubstituted(f"substitution failed: Invalid escape sequence: \\{after}")
    return after


def _variable(text: str, at: int, lookup: Lookup) -> tuple[str, int]:
    """The value of the variable whose `$` stands before `at`, and where the text goes on."""
    braced = text[at : at + 1] == "{"
    name = _NAME.match(text, at + braced)
    if name is None:
        raise NotSubstituted("substitution failed: Missing variable name")
    at, value = name.end(), lookup(name[0])
    default = None
    if braced and text[at : at + 1] == ":":
        default, at = _default(text, at + 1, lookup, needed=value is None)
    elif braced and text[at : at + 1] == "}":
        at += 1
    elif braced:
        raise NotSubstituted(f"substitution failed: Unexpected character: {text[at : at + 1]!r}")
    value = default if value is None else value
    if value is None:
        raise NotSubstituted(f"substitution failed: No such variable: ${name[0]}")
    return value, at


def _default(text: str, at: int, lookup: Lookup, *, needed: bool) -> tuple[str, int]:
    """The default that begins at `at`; variables in it need a value only if it is needed."""
    return _until(text, at, lookup if needed else lambda _: "", inner=True)
