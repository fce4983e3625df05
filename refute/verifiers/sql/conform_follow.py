"""Failures that only follow from an earlier one, shown by an experiment where that is possible.

A statement that fails on the engine leaves its database behind what the file expects, and records
after it fail although the engine may do them right. Whether one does is not guessed: the embedded
SQLite runs the file without the statement. If it then gives the engine's very answer, and gives
another with it, the statement explains the failure, which `follows` from its line. An error is the
engine's if it names what SQLite misses: another error, such as of the syntax, would be there
whatever went before. Where several statements are needed, the first that is needed is named.

What cannot be shown so, since the statement ran where it should have failed, or since SQLite does
not agree, `may_follow` from it if both name the same table. The cost is bounded: so many failed
statements, statements run and seconds; what is beyond is not tested, and may follow at most.
"""

from __future__ import annotations

import dataclasses
import re
import time
from collections.abc import Iterator, Sequence
from typing import Any

from refute.oracles.sql.sqlite import SQLite
from refute.oracles.sqllogictest.expect import fingerprint
from refute.verifiers.sql.conform_chosen import READS_ONLY
from refute.verifiers.sql.conform_tables import Tables, controls, names_of

_PLAIN_INDEX = re.compile(r"\s*CREATE\s+INDEX\b", re.IGNORECASE)
_INDEXED_BY = re.compile(r"\bINDEXED\s+BY\b", re.IGNORECASE)
ROOTS = 12  # failed statements that are left out, or put back, alone
NEWEST = 3  # of them are the latest ones, the others the first
KEPT = 24  # databases without one statement
STEPS = 2_000_000  # of SQLite's machine for one statement
RUNS = 300_000  # statements that SQLite runs for one file
CPU_S = 10.0  # bounds the experiments of one file; they decide no verdict

EFFECTLESS = ("error", "crash", "hang")  # kinds of failure of a statement that then did nothing
_MISSING = re.compile(
    r"no such (?:table|column|index|view|trigger|savepoint|collation sequence): (?P<a>\S+)"
    r"|table (?P<b>\S+) has no column named (?P<c>\S+)"
    r"|(?:table|view|index|there is already an? \w+ named) (?P<d>\S+) already exists"
)
_SAME = {  # words of SQLite's error → what an engine's error for the same has
    "UNIQUE constraint failed": r"unique|duplicate|primary key",
    "FOREIGN KEY constraint failed": r"foreign",
    "NOT NULL constraint failed": r"null",
    "CHECK constraint failed": r"check",
    "transaction": r"transaction",
}
_OTHER = re.compile(r"syntax|parse|not supported|unsupported|not implemented", re.IGNORECASE)


@dataclasses.dataclass
class Step:
    """A statement that the file runs. types: of its columns, "" for none.

    path: of the file that it stands in, if that is an included one. failed: kind of its failure, ""
    when it passed. got, answer: as of the failure.
    """

    line: int
    sql: str
    types: str = ""
    path: str = ""
    failed: str = ""
    got: str = ""
    answer: str = ""
    follows: int = 0
    may_follow: int = 0

    @property
    def writes(self) -> bool:
        """Whether it may change the database."""
        return not READS_ONLY.match(self.sql)


def follow(steps: Sequence[Step]) -> None:
    """Mark the failed ones among the steps of a file that follow from others, or may."""
    if any(step.failed and step.writes for step in steps):
        _Experiment(steps).mark()


class _Experiment:
    """SQLite with and without the statements that failed, step by step."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = steps
        self._until = time.thread_time() + CPU_S
        self._runs = 0
        self._tables = Tables()
        self._roots: list[int] = []  # failed statements that no other explains
        self._suspects: list[int] = []  # all failed statements that write
        self._whole = _Branch(self, frozenset())
        self._bare = _Branch(self, frozenset())  # without all roots
        self._alone: dict[int, _Branch] = {}  # without one of them
        self._needed: dict[int, _Branch] = {}  # without all but one of them

    def mark(self) -> None:
        """Go through the steps."""
        try:
            for at, step in enumerate(self._steps):
                if step.writes:
                    self._tables.learn(at, step.sql)
                if step.failed:
                    self._examine(at, step)
        finally:
            turns = (*self._alone.values(), *self._needed.values())
            for branch in (self._whole, self._bare, *turns):
                branch.close()

    def spend(self) -> bool:
        """Count one statement of SQLite's; False when there have been enough."""
        self._runs += 1
        return self._runs <= RUNS and time.thread_time() < self._until

    def skipped(self, at: int) -> bool:
        """Whether the engine was left as if the statement had not been there."""
        return self._steps[at].failed in EFFECTLESS

    def sql(self, at: int) -> str:
        """The text of a step."""
        return self._steps[at].sql

    def writing(self, start: int, end: int) -> Iterator[int]:
        """The steps from one to another that may change the database."""
        return (at for at in range(start, end) if self._steps[at].writes)

    def _examine(self, at: int, step: Step) -> None:
        named = [root for root in self._roots if self._may_explain(root, step)]
        shown, cleared = self._shown(at, step, named) if named else (-1, False)
        if shown >= 0:
            step.follows = self._line(shown, step)
        else:
            suspects = [s for s in self._suspects if not (cleared and s in self._roots)]
            near = [
                s
                for s in suspects
                if self._tables.share_a_name(s, step.sql) and not self._is_idle(s, step)
            ]
            if near:
                step.may_follow = self._line(near[0], step)
        if not step.writes:
            return
        self._suspects.append(at)
        if shown < 0 and self.skipped(at):
            self._roots.append(at)
            for branch in (self._bare, *self._needed.values()):
                branch.leave_out(at)

    def _may_explain(self, root: int, step: Step) -> bool:
        return self._tables.may_matter(root, step.sql) and not self._is_idle(root, step)

    def _is_idle(self, at: int, step: Step) -> bool:
        """Whether a statement makes an index that holds no rows together and that is not named."""
        if not _PLAIN_INDEX.match(self._steps[at].sql):
            return False
        return bool(READS_ONLY.match(step.sql)) and not _INDEXED_BY.search(step.sql)

    def _line(self, at: int, step: Step) -> int:
        """The line of another step; 0 if that one is in another file, where it would mislead."""
        other = self._steps[at]
        return other.line if other.path == step.path else 0

    def _shown(self, at: int, step: Step, named: Sequence[int]) -> tuple[int, bool]:
        """The earlier statement without which SQLite gives the engine's answer; -1 for none.

        And whether all of them are cleared, because SQLite's answer is the same without them.
        """
        whole = self._whole.answer(at)
        bare = self._bare.answer(at)
        if whole is None or bare is None or "unfit" in (whole[0], bare[0]):
            return -1, False
        if whole[0] == "error" and step.failed != "no error":
            return -1, False  # SQLite does not share what the file expects
        if _alike(step, whole, bare):
            return -1, True
        if not _is(step, bare):
            return -1, False
        if len(self._roots) == 1:
            return named[0], False
        return self._one_of(at, step, named), False

    def _one_of(self, at: int, step: Step, named: Sequence[int]) -> int:
        """Which of the statements explains the failure alone; else the first that is needed."""
        newest = list(reversed(named[ROOTS - NEWEST :]))[:NEWEST]
        for root in (*newest, *named[: ROOTS - NEWEST]):
            if self._gives(self._without(root), at, step):
                return root
        for root in named[:ROOTS]:
            if root not in self._needed:
                self._needed[root] = _Branch(self, frozenset(self._roots) - {root})
            if not self._gives(self._needed[root], at, step):
                return root
        return named[0]

    def _without(self, root: int) -> _Branch:
        """The database without one statement; of those that were made, not all are kept."""
        branch = self._alone.pop(root, None) or _Branch(self, frozenset((root,)))
        self._alone[root] = branch
        if len(self._alone) > KEPT:
            self._alone.pop(next(iter(self._alone))).close()
        return branch

    def _gives(self, branch: _Branch, at: int, step: Step) -> bool:
        answer = branch.answer(at)
        return answer is not None and _is(step, answer)


class _Branch:
    """A database of SQLite's in which some of the file's statements are left out."""

    def __init__(self, experiment: _Experiment, without: frozenset[int]) -> None:
        self._experiment = experiment
        self._without = without
        self._database: SQLite | None = None
        self._at = 0
        self._ended = False

    def leave_out(self, at: int) -> None:
        """Leave one more statement out, which was not run for good yet."""
        assert at >= self._at
        self._without |= {at}

    def answer(self, at: int) -> Sequence[Any] | None:
        """The answer to a step after those before it; its effect is undone. None: too expensive."""
        if self._database is None:
            self._database = SQLite(STEPS)
        for earlier in self._experiment.writing(self._at, at):
            if self._ended or not self._experiment.spend():
                self._ended = True
                return None
            if earlier not in self._without:
                self._database.answer(self._experiment.sql(earlier))
        self._at = at
        if self._ended or not self._experiment.spend():
            return None
        sql = self._experiment.sql(at)
        if READS_ONLY.match(sql):
            return self._database.answer(sql)
        return self._tried(self._database, sql)

    def close(self) -> None:
        """Let the database go."""
        if self._database is not None:
            self._database.close()

    def _tried(self, database: SQLite, sql: str) -> Sequence[Any] | None:
        if controls(sql) or database.answer("SAVEPOINT refute_follow")[0] != "done":
            return None
        answer = database.answer(sql)
        undone = database.answer("ROLLBACK TO refute_follow")[0] == "done"
        if not (undone and database.answer("RELEASE refute_follow")[0] == "done"):
            self._ended = True  # the statement ended the transaction that was to be undone
            return None
        return answer


def _alike(step: Step, answer: Sequence[Any], other: Sequence[Any]) -> bool:
    """Whether SQLite answered the same twice."""
    if answer[0] == "error":
        return list(answer[:3]) == list(other[:3])
    return fingerprint(step.types, answer) == fingerprint(step.types, other)


def _is(step: Step, answer: Sequence[Any]) -> bool:
    """Whether SQLite's answer is the one that the engine gave to the step."""
    if step.failed == "error":
        return answer[0] == "error" and _same_error(step.got, str(answer[2]))
    return bool(step.answer) and fingerprint(step.types, answer) == step.answer


def _same_error(got: str, sqlite: str) -> bool:
    """Whether the engine's error is for want of what SQLite misses."""
    if sqlite and sqlite in got:
        return True
    if _OTHER.search(got):
        return False
    missing = _MISSING.search(sqlite)
    if missing:
        names = names_of(" ".join(name for name in missing.groups() if name))
        return bool(names) and names[-1] in names_of(got)
    return any(
        words in sqlite and re.search(pattern, got, re.IGNORECASE)
        for words, pattern in _SAME.items()
    )
