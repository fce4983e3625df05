"""A failure as it was met, and what tells it from others before anybody has looked into it."""

from __future__ import annotations

import dataclasses
import re
import zlib
from collections.abc import Sequence

from refute.oracles.sql.partial.question import Answer

SAID = 160  # characters of a reason

_NUMBERS = re.compile(r"\b\d[\w.]*|\b0x[0-9a-f]+", re.IGNORECASE)
_QUOTED = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`")
_NAMES = re.compile(r"\b(?:[a-z]{1,2}\d+(?:\.[a-z]\w*)?|[a-z]\.[a-z]\w?)\b")


@dataclasses.dataclass(frozen=True)
class Failure:
    """A question that the engine's answers broke, as it was met.

    setup, query: in SQLite's dialect; asked_setup, asked: as the engine was asked. seed: of the
    case. program: its number; place: of the query in it. kind: see `kind_of`. own: whether setup
    and query are in the engine's own dialect, as a script has them.
    """

    oracle: str
    setup: tuple[str, ...]
    query: str
    seed: int
    program: int
    kind: str
    why: str
    expected: str
    observed: str
    asked_setup: tuple[str, ...]
    asked: tuple[str, ...]
    place: int = 0
    own: bool = False


def kind_of(answers: Sequence[Answer]) -> str:
    """How an engine broke: a smaller case must break in the same way to be the same defect."""
    for answer in answers:
        if answer[0] in ("lost", "crash", "unfit"):
            return f"{answer[0]}: {plain_reason(str(answer[-1]))}"
    return "error" if any(answer[0] == "error" for answer in answers) else "wrong"


def reason_of(answer: Answer) -> str:
    """A refusal's message, with what changes from query to query left out."""
    return plain_reason(str(answer[2]))


def plain_reason(text: str) -> str:
    """The first line of a message without its values, and with one name for all that are made."""
    line = text.split("\n", 1)[0][:SAID]
    return _NAMES.sub("…", _NUMBERS.sub("#", _QUOTED.sub("'…'", line)))


def seed_of(seed: int, number: int, place: int) -> int:
    """The seed of a case."""
    return zlib.crc32(f"{seed}/{number}/{place}".encode())
