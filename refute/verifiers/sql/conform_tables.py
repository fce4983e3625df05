"""Which tables statements touch, read off their words: cheap, for any dialect, rather too many.

It only says which statements are worth an experiment, or that one may have to do with another.
"""

from __future__ import annotations

import functools
import re

_STRINGS = re.compile(r"'(?:[^']|'')*'|--[^\n]*|/\*.*?\*/", re.DOTALL)
_NAME = re.compile(r"\"((?:[^\"]|\"\")+)\"|`([^`]+)`|\[([^\]]+)\]|([^\W\d]\w*)")
_WORD = r"(?:\"[^\"]+\"|`[^`]+`|\[[^\]]+\]|\w+)"
_TARGET = re.compile(
    r"\b(?:INTO|UPDATE(?:\s+OR\s+\w+)?|FROM|TABLE|VIEW|INDEX|TRIGGER|SEQUENCE|SCHEMA|TYPE|ON)\s+"
    rf"(?:ONLY\s+|IF\s+(?:NOT\s+)?EXISTS\s+)*(?P<name>(?:{_WORD}\s*\.\s*)?{_WORD})",
    re.IGNORECASE,
)
_ALL = re.compile(
    r"\s*(?:BEGIN|START|COMMIT|END|ROLLBACK|SAVEPOINT|RELEASE|PRAGMA|SET|ATTACH|DETACH|USE)\b",
    re.IGNORECASE,
)
_MAKES = re.compile(r"\s*CREATE\s+(?:\w+\s+)*?(?:VIEW|TRIGGER)\b", re.IGNORECASE)
_SPREADS = re.compile(r"\s*CREATE\s+(?:UNIQUE\s+INDEX|INDEX|\w*\s*TRIGGER)\b", re.IGNORECASE)


@functools.lru_cache(maxsize=4096)
def names_of(sql: str) -> tuple[str, ...]:
    """All names and keywords of a text in lower case, in order; of `a.b` both."""
    plain = _STRINGS.sub(" ", sql)
    return tuple(next(n for n in found if n).lower() for found in _NAME.findall(plain))


@functools.lru_cache(maxsize=4096)
def targets_of(sql: str) -> tuple[str, frozenset[str]]:
    """The table, view or index that a statement is about, "" for none; and all it may change."""
    plain = _STRINGS.sub(" ", sql)
    found = [names[-1] for match in _TARGET.finditer(plain) if (names := names_of(match["name"]))]
    if not found:
        return "", frozenset()
    return found[0], frozenset(found if _SPREADS.match(sql) else found[:1])


def controls(sql: str) -> bool:
    """Whether a statement concerns no table, but all of them: a transaction's, or a setting."""
    return _ALL.match(sql) is not None


class Tables:
    """What the statements of a file touch, and what is made from what."""

    def __init__(self) -> None:
        self._about: dict[int, set[str]] = {}
        self._reached: dict[int, set[str]] = {}
        self._all: set[int] = set()
        self._made: list[tuple[set[str], set[str]]] = []  # views and triggers: names, of what

    def learn(self, at: int, sql: str) -> None:
        """Note a statement that may write; in the order of the file."""
        names = set(names_of(sql))
        about, targets = targets_of(sql)
        for reach in (self._about, self._reached):
            for reached in reach.values():
                if not names.isdisjoint(reached):
                    reached |= targets
        self._about[at] = self._with_made({about} - {""})
        self._reached[at] = self._with_made(set(targets))
        if _MAKES.match(sql):
            self._made.append((set(targets), names))
        if controls(sql):
            self._all.add(at)

    def _with_made(self, names: set[str]) -> set[str]:
        """The names, and those of views and triggers that were made from them."""
        for made, of in self._made:
            if not of.isdisjoint(names):
                names |= made
        return names

    def may_matter(self, at: int, sql: str) -> bool:
        """Whether an experiment is worth its while: the statement that was learnt may matter."""
        return at in self._all or not self._reached[at].isdisjoint(names_of(sql))

    def share_a_name(self, at: int, sql: str) -> bool:
        """Whether the other one names what the statement is about, or what was made from it."""
        return not self._about[at].isdisjoint(names_of(sql))
