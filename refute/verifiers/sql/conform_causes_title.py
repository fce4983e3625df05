"""A cause in words: what its smallest script uses, and how the answer is wrong."""

from __future__ import annotations

from collections import Counter

from refute.verifiers.sql.conform_causes_words import Words
from refute.verifiers.sql.conform_reduce import SLOW, Reduced
from refute.verifiers.sql.conform_reduce_trial import Difference

_SHOWN = 8  # values
_LAST = ("WHERE", "subquery", "join", "text", "float", "NULL", "IS NULL")


def title_of(reduced: Reduced, words: Words) -> str:
    """One line such as "LEFT JOIN, NULL: rows are missing"."""
    found = reduced.difference
    said = _said(found)
    if not reduced.oracle:
        said = f"{said}; {reduced.note}"
    uses = ", ".join(sorted(words, key=_order))
    return f"{uses}: {said}" if uses else said[:1].upper() + said[1:]


def _order(word: str) -> tuple[bool, bool, str]:
    return word.startswith("setup "), word in _LAST, word


def _said(found: Difference) -> str:
    match found.kind:
        case "values":
            return _values(found)
        case "error":
            return f"error {found.said or found.message}"
        case "no error":
            return f"no error where SQLite says {found.said!r}" if found.said else "no error"
        case "crash":
            return f"the engine fails with {found.said or found.message}"
        case "lost":
            return f"the engine {found.said}"
        case "no rows":
            return "no result set"
    return found.said or found.kind


def outcome(found: Difference) -> str:
    """How an answer is wrong, without its values."""
    if found.kind != "values":
        return found.kind
    said = _values(found)
    if " instead of " not in said:
        return said
    return " instead of ".join("NULL" if v == "NULL" else "a value" for v in _pair(found))


def _values(found: Difference) -> str:
    """How the values differ."""
    width = max(1, len(found.types))
    expected, got = (_rows(values, width) for values in (found.expected, found.got))
    if expected == got:
        return "rows in another order" if expected else "another result"
    missing, more = expected - got, got - expected
    if not more:
        return "rows are missing"
    if not missing:
        return "too many rows"
    if len(found.expected) == len(found.got):
        return " instead of ".join(map(_short, _pair(found)))
    return "other rows"


def _rows(values: tuple[str, ...], width: int) -> Counter[tuple[str, ...]]:
    return Counter(values[at : at + width] for at in range(0, len(values), width))


def _pair(found: Difference) -> tuple[str, str]:
    """The first value that differs: what came, and what is expected."""
    pairs = zip(found.got, found.expected, strict=True)
    return next((a, b) for a, b in pairs if a != b)


def _short(value: str) -> str:
    return value if len(value) <= 30 else f"{value[:29]}…"


def kind_of(found: Difference) -> str:
    """The kind as failures have it."""
    if found.kind != "lost":
        return found.kind
    return "hang" if SLOW in found.said else "crash"


def told(found: Difference) -> tuple[str, str]:
    """What was expected, and what came instead, each on one line."""
    if found.kind == "values":
        return _listed(found.expected), _listed(found.got)
    if found.kind == "no error":
        return f"an error{f' ({found.said})' if found.said else ''}", "none"
    wanted = _listed(found.expected) if found.types else "an error" if found.fails else "success"
    return wanted, _said(found)


def _listed(values: tuple[str, ...]) -> str:
    shown = " | ".join(map(_short, values[:_SHOWN])) or "no values"
    return f"{shown} …" if len(values) > _SHOWN else shown
