"""A cause in words: what its smallest script uses, and how the answer is wrong."""

from __future__ import annotations

import re
from collections import Counter

from refute.verifiers.sql.conform_causes_words import Words
from refute.verifiers.sql.conform_reduce import SLOW, Reduced
from refute.verifiers.sql.conform_reduce_trial import Difference

_SHOWN = 8  # values
_MESSAGE = 120  # characters of an error in a title
_PLACE = re.compile(r"\s*\n\s*LINE \d+:.*", re.DOTALL)  # PostgreSQL and DuckDB quote the statement
_SETUP = "setup "
_ONE = re.compile(r"1 (?:line|value): (.*)", re.DOTALL)
_LAST = ("WHERE", "subquery", "join", "text", "float", "NULL", "IS NULL")


def title_of(reduced: Reduced, words: Words, failed: tuple[str, str] = ("", "")) -> str:
    """One line such as "LEFT JOIN, NULL: rows are missing".

    failed: what was expected and what came, as the failure says it; it tells more than the script
    where nothing but the file says what is right.
    """
    said = _short(_said(reduced.difference), _MESSAGE)
    if not reduced.oracle:
        said = _told_by_file(reduced.difference, said, *failed)
    uses = uses_of(words)
    if uses or " instead of " in said:  # which begins with a value
        return f"{uses}: {said}" if uses else said
    return said[:1].upper() + said[1:]


def uses_of(words: Words) -> str:
    """The constructs of the statement, then in parentheses those of what goes before it."""
    plain = sorted((w for w in words if not w.startswith(_SETUP)), key=_order)
    before = sorted(w.removeprefix(_SETUP) for w in words if w.startswith(_SETUP))
    after = ", ".join("NOT NULL" if word == "NOT" else word for word in before)
    if not plain:
        return f"setup with {after}" if after else ""
    return ", ".join(plain) + (f" (setup: {after})" if after else "")


def _order(word: str) -> tuple[bool, str]:
    return word in _LAST, word


def _told_by_file(found: Difference, said: str, expected: str, got: str) -> str:
    """How the answer is wrong by what the failure says."""
    if found.kind == "error" and expected.startswith(("an error ", "the error ")):
        return said.replace("error ", "another error than expected: ", 1)
    values = [_ONE.match(text) for text in (got, expected)]
    if said == "another result" and all(values):
        return " instead of ".join(_short(value[1]) for value in values if value is not None)
    return said


def _said(found: Difference) -> str:
    match found.kind:
        case "values":
            return _values(found)
        case "error":
            return f"error {_message(found)}"
        case "no error":
            return f"no error where SQLite says {found.said!r}" if found.said else "no error"
        case "crash":
            return f"the engine fails with {_message(found)}"
        case "lost":
            return f"the engine {found.said}"
        case "no rows":
            return "no result set"
    return found.said or found.kind


def _message(found: Difference) -> str:
    """What the engine says, on one line, without the statement that it quotes."""
    said = _PLACE.sub("", found.said or found.message).removeprefix("ERROR:")
    return " ".join(said.split())


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


def _short(value: str, most: int = 30) -> str:
    return value if len(value) <= most else f"{value[: most - 1]}…"


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
