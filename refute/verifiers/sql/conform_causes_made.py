"""A cause as reports have it, made of the failures that were found to be one."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from refute.verifiers.sql.conform_causes_groups import Group, Item
from refute.verifiers.sql.conform_causes_title import kind_of, title_of, told
from refute.verifiers.sql.conform_reduce_script import test_text

PLACES = 5


@dataclasses.dataclass
class Cause:
    """Failures that have one cause, as far as is known.

    number: as `Failure.cause` has it, from 1. count: of its failures, `reduced` of them reduced to
    this, `located` of them with a smallest wrong part that shows it, and `by_signature` of them put
    here because they use the same constructs. places: of the first ones, path:line. script: the
    smallest one that fails, as the text of a test file; "" where none was found. statements: those
    of the script. expected, got: of its last statement. verified: whether the script failed twice
    more on fresh databases. oracle: whether SQLite says what is expected there; else the file does,
    and note says why. follow: its failures that may follow from earlier ones.
    """

    number: int
    title: str
    kind: str
    count: int = 0
    reduced: int = 0
    by_signature: int = 0
    located: int = 0
    files: int = 0
    places: list[str] = dataclasses.field(default_factory=list)
    script: str = ""
    statements: tuple[str, ...] = ()
    expected: str = ""
    got: str = ""
    verified: bool = False
    oracle: bool = False
    note: str = ""
    follow: int = 0


def cause_of(number: int, group: Group) -> Cause:
    """The cause of a group's failures, which get its number."""
    items = [*group.items, *group.located, *group.assigned]
    for item in items:
        item.failure.cause = number
    best = group.best
    failed = group.item.failure.expected, group.item.failure.got
    expected, got = told(best.difference)
    if not best.oracle:
        expected, got = failed
    items.sort(key=lambda i: (i.file.path, i.failure.line))
    return Cause(
        number=number,
        title=title_of(best, group.shape.words, _told(items, failed)),
        kind=kind_of(best.difference),
        count=len(items),
        reduced=len(group.items),
        located=len(group.located),
        by_signature=len(group.assigned),
        files=len({item.file.path for item in items}),
        places=[item.place for item in items[:PLACES]],
        script=test_text(best, group.item.place),
        statements=best.script.statements,
        expected=expected,
        got=got,
        verified=group.verified,
        oracle=best.oracle,
        note=best.note,
        follow=_follow(items),
    )


def cause_of_words(number: int, items: list[Item]) -> Cause:
    """Errors of the same words, none of which was reduced: that is all that is known of them."""
    for item in items:
        item.failure.cause = number
    items.sort(key=lambda i: (i.file.path, i.failure.line))
    first = items[0].failure
    words = frozenset.intersection(*(item.signature[3] for item in items))
    return Cause(
        number=number,
        title=f"{', '.join([*sorted(words)[:PLACES], 'not reduced'])}: {first.got}",
        kind=first.kind,
        count=len(items),
        by_signature=len(items),
        files=len({item.file.path for item in items}),
        places=[item.place for item in items[:PLACES]],
        expected=first.expected,
        got=first.got,
        follow=_follow(items),
    )


def _told(items: Sequence[Item], failed: tuple[str, str]) -> tuple[str, str]:
    """What a failure says, if it is true of all: they may not all expect an error."""
    alike = {item.failure.expected.startswith(("an error", "the error")) for item in items}
    return failed if len(alike) == 1 else ("", "")


def _follow(items: Sequence[Item]) -> int:
    return sum(bool(item.failure.may_follow) for item in items)


def rank(group: Group) -> tuple[bool, int]:
    """Most failures first, but last what may come of other failures only."""
    items = [*group.items, *group.located, *group.assigned]
    return _follow(items) == len(items), -len(items)
