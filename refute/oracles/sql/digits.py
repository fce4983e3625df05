"""Digits: the text that a float is made into, whose last digits are no part of SQL.

SQLite shows 15 digits of a float up to release 3.42, and 17 since; other engines show as many as
tell it from all others. So numerals of that length in a text are compared as the numbers they stand
for, to 15 digits, whether they are written with an exponent or without, and a zero has no sign.
"""

from __future__ import annotations

import re
from typing import Any

LONG = 15  # digits that are the same everywhere
_NUMERAL = re.compile(r"\d+\.\d+(?:e[+-]?\d{1,3})?", re.IGNORECASE)
_SURROGATES = re.compile("[\ud800-\udfff]")
_ZERO = re.compile(r"-(?=0\.0(?!\d))")


def has_numerals(value: Any) -> bool:
    """Whether a text or a blob has a numeral that releases may write otherwise."""
    if type(value) is bytes:
        value = value.decode("latin-1")
    if type(value) is not str:
        return False
    if "-0.0" in value:
        return True
    return any(sum(c.isdigit() for c in found) >= LONG for found in _NUMERAL.findall(value))


def is_no_text(value: Any) -> bool:
    """Whether it is a text that was made from bytes that are no UTF-8."""
    return type(value) is str and not value.isascii() and bool(_SURROGATES.search(value))


def with_15_digits(value: Any) -> Any:
    """The value with its long numerals in one form, if it is a text or a blob."""
    if type(value) is bytes:
        text = value.decode("latin-1")
        return _NUMERAL.sub(_shortened, _ZERO.sub("", text)).encode("latin-1")
    if type(value) is str:
        return _NUMERAL.sub(_shortened, _ZERO.sub("", value))
    return value


def _shortened(match: re.Match[str]) -> str:
    return f"{float(match[0]):.{LONG}g}"
