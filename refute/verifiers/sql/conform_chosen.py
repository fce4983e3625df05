"""Which records of a file are checked, when not all of them are to be.

A record gives what the file says it gives only after the statements before it. So those still run,
as do queries that may change something; they are counted as setup and are not checked, and one
that does not do what the file says of it is told, since the records that were chosen may fail for
that alone. Queries that only read are left out, and so is everything after the last chosen record.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from refute.errors import UsageError
from refute.frozen import frozen
from refute.oracles.sqllogictest.reader import QueryRecord, Record

if TYPE_CHECKING:
    from refute.verifiers.sql.conform_file import FileResult

_NO_LINES = ((0, 0),)  # of any record
READS_ONLY = re.compile(r"\s*(?:SELECT|VALUES|EXPLAIN)\b", re.IGNORECASE)


@frozen
class Chosen:
    """Records of a file that are checked; without any of these, all.

    lines: pairs of first and last line; a record is meant by any of its lines. pattern: a regular
    expression that is searched for in a record's SQL, letters of either case. tags: the file is
    run only if it has one of them; no_tags: not if it has one of these.
    """

    lines: tuple[tuple[int, int], ...] = ()
    pattern: str = ""
    tags: tuple[str, ...] = ()
    no_tags: tuple[str, ...] = ()

    @property
    def narrows(self) -> bool:
        """Whether records are chosen, and not files alone."""
        return bool(self.lines or self.pattern)

    def takes(self, tags: Iterable[str]) -> bool:
        """Whether a file with these tags is run."""
        has = set(tags)
        return not has.intersection(self.no_tags) and (
            not self.tags or not has.isdisjoint(self.tags)
        )

    def within(self, data: bytes) -> Chosen:
        """The same for a file with this content: lines behind its end mean none of its records."""
        last = data.count(b"\n") + (not data.endswith(b"\n"))
        inside = tuple(pair for pair in self.lines if pair[0] <= last)
        if inside == self.lines:
            return self
        return Chosen(inside or _NO_LINES, self.pattern, self.tags, self.no_tags)

    def picks(self, line: int, end: int, sql: str) -> bool:
        """Whether a record is chosen. line: its first. end: the first line of the next one."""
        if self.lines and not any(low < end and line <= high for low, high in self.lines):
            return False
        return not self.pattern or _compiled(self.pattern).search(sql) is not None


class Narrowed:
    """A file's records without those that do not run.

    known: the records with whether the engine runs them. kept: those of them that are chosen, and
    those before the last of these that must run.
    """

    def __init__(self, known: Sequence[tuple[Record, bool]], chosen: Chosen) -> None:
        taken = known if chosen.takes(()) else ()
        ends = [*(record.line for record, _ in taken[1:]), 2**62]
        picked = [
            chosen.picks(pair[0].line, end, getattr(pair[0], "sql", ""))
            for pair, end in zip(taken, ends, strict=False)
        ]
        last = max((i for i, pick in enumerate(picked) if pick), default=-1)
        self.kept: list[tuple[Record, bool]] = []
        self._setup: set[int] = set()
        self._unchosen = len(known)
        for (record, runs), pick in zip(taken[: last + 1], picked, strict=False):
            if pick or (runs and not _only_reads(record)):
                self.kept.append((record, runs))
                self._unchosen -= 1
                if not pick:
                    self._setup.add(record.line)

    def set_apart(self, result: FileResult) -> None:
        """Take what was run and not checked out of the result's counts and failures."""
        result.unchosen = self._unchosen
        ran = [record for record, runs in self.kept if runs][: result.run]
        setup = [record for record in ran if record.line in self._setup]
        result.setup = len(setup)
        result.run -= len(setup)
        result.unchecked -= sum(type(r) is QueryRecord and not r.expects for r in setup)
        failed = [failure for failure in result.failures if failure.line in self._setup]
        result.failures = [f for f in result.failures if f.line not in self._setup]
        result.setup_failed = [
            f"{result.path}:{f.line}: expected {f.expected}, got {f.got}" for f in failed
        ]


def _only_reads(record: Record) -> bool:
    return type(record) is QueryRecord and READS_ONLY.match(record.sql) is not None


def pattern_of(text: str) -> str:
    """A pattern of --record. Raises UsageError when it is no regular expression."""
    try:
        _compiled(text)
    except re.error as error:
        raise UsageError(
            f"--record {text}: no regular expression: {error}",
            thing="--record",
            value=text,
            next_step="escape characters that have a meaning there, as in '\\(' or '\\*'",
        ) from error
    return text


def merged_lines(pairs: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """The pairs in order, without one that lies in another."""
    kept: list[tuple[int, int]] = []
    for pair in sorted(set(pairs), key=lambda p: (p[0], -p[1])):
        at = bisect.bisect(kept, pair)
        if not at or kept[at - 1][1] < pair[1]:
            kept.append(pair)
    return tuple(kept)


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)
