"""Failures by their cause: which of them show one defect, and which are worth a closer look.

Reducing a failure takes seconds, and an engine with one defect fails in every second program. So a
failure whose statements use all that a cause needs, under the same oracle and in the same way, is
taken for that cause without a look; but at times one is looked at all the same (the first, second,
fourth, eighth …), since another defect may hide behind it. What is reduced is grouped by the
constructs of the reduced case (`conform_causes_shape` tells when two shapes are one).
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from refute.verifiers.sql.conform_causes_shape import Shape
from refute.verifiers.sql.conform_causes_title import uses_of
from refute.verifiers.sql.conform_causes_words import Words, words_of, words_of_all
from refute.verifiers.sql.fuzz_failure import Failure, plain_reason
from refute.verifiers.sql.fuzz_plan import Finding

_MADE = re.compile(
    r"\s*CREATE\s+(?:UNIQUE\s+|TEMP\s+)?(INDEX|VIEW|TRIGGER|VIRTUAL)\b", re.IGNORECASE
)
TITLE = 160  # characters
ENDS = frozenset({"lost", "crash"})
STALE = 8  # looks in a row without a new cause, after which few are looked at
_COMMON = "NULL NOT OR WHERE ON = != < > <= >= + - * text float DISTINCT UNION join subquery"
_PLAIN = (
    "empty text",
    "large number",
    "IS NULL",
    "setup NULL",
    "setup PRIMARY KEY",
    "setup UNIQUE",
)
_QUIET = frozenset((*_COMMON.split(), *_PLAIN))  # in most statements; an engine ends over others
_AGGREGATES = frozenset({"SUM()", "MIN()", "MAX()", "AVG()", "COUNT()", "COUNT(*)", "TOTAL()"})


@dataclasses.dataclass
class Cause:
    """Findings with one cause.

    met: failures that it explains. passed_over: those of them that nobody looked at.
    """

    finding: Finding
    shape: Shape
    times: int = 1
    met: int = 0
    passed_over: int = 0

    @property
    def shown(self) -> Finding:
        """The finding with how often the cause was met."""
        return dataclasses.replace(self.finding, times=self.times + self.passed_over)


class Causes:
    """The causes of a run, in the order in which they were met."""

    def __init__(self) -> None:
        self.all: list[Cause] = []
        self._stale: Counter[tuple[str, str]] = Counter()
        self._skipped: Counter[tuple[str, str]] = Counter()

    def wants(self, failure: Failure) -> bool:
        """Whether to look into a failure; one that is not is counted here."""
        cause = self._explains(failure)
        key = (failure.oracle, failure.kind)
        if cause is not None:
            cause.met += 1
            wanted = _is_power(cause.met)
            cause.passed_over += not wanted
            return wanted
        if self._stale[key] < STALE:
            return True
        self._skipped[key] += 1
        return _is_power(self._skipped[key])

    def take(self, finding: Finding) -> Finding | None:
        """A finding that was looked into: itself, with its cause, if that is a new one."""
        shape = shape_of(finding)
        key_of_it = key_of(shape, finding.oracle)
        finding = dataclasses.replace(finding, cause=key_of_it, title=title(finding))
        key = (finding.oracle, finding.kind)
        for cause in self.all:
            if cause.finding.oracle == finding.oracle and _one(cause.shape, shape):
                cause.times += finding.times
                self._stale[key] += 1
                return None
        self._stale[key] = 0
        self.all.append(Cause(finding, shape, finding.times))
        return finding

    def gave_nothing(self, failure: Failure) -> None:
        """A failure that was looked into did not come again."""
        self._stale[failure.oracle, failure.kind] += 1

    @property
    def findings(self) -> tuple[Finding, ...]:
        """One of each cause, with how often it was met."""
        return tuple(cause.shown for cause in self.all)

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "causes": [
                {
                    "finding": c.finding.to_json(),
                    "times": c.times,
                    "met": c.met,
                    "passed_over": c.passed_over,
                }
                for c in self.all
            ],
            "stale": [[*key, count] for key, count in sorted(self._stale.items())],
            "skipped": [[*key, count] for key, count in sorted(self._skipped.items())],
        }

    @staticmethod
    def from_json(data: Any) -> Causes:
        """From plain data. Raises TypeError, KeyError or ValueError for what is none."""
        made = Causes()
        for one in data["causes"]:
            finding = Finding.from_json(one["finding"])
            counts = (int(one[name]) for name in ("times", "met", "passed_over"))
            made.all.append(Cause(finding, shape_of(finding), *counts))
        for name in ("stale", "skipped"):
            counted = getattr(made, f"_{name}")
            for oracle, kind, count in data[name]:
                counted[oracle, kind] = int(count)
        return made

    def _explains(self, failure: Failure) -> Cause | None:
        """A cause all of whose constructs the failure has, under the same oracle."""
        own = _words(failure.setup, failure.query)
        for cause in self.all:
            finding = cause.finding
            same = (finding.oracle, finding.kind) == (failure.oracle, failure.kind)
            needed = cause.shape.words
            if cause.shape.kind in ENDS:  # a crash reduces less well, and costs more
                needed = needed - _QUIET or needed
            if same and needed <= own:
                return cause
        return None


def shape_of(finding: Finding) -> Shape:
    """The shape of a reduced case."""
    message = finding.kind if finding.kind not in ("wrong", "error") else ""
    words = _words(finding.setup, finding.query)
    return Shape(finding.kind.partition(":")[0], message, words, _how(finding))


def key_of(shape: Shape, oracle: str) -> str:
    """A name for a cause that is the same in every run: twelve digits."""
    parts = (oracle, shape.kind, shape.message, shape.wrong, *sorted(shape.plain))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]


def title(finding: Finding) -> str:
    """One line for people, such as "LEFT JOIN, NULL: 1 row instead of 2"."""
    uses = uses_of(words_of(finding.query) | words_of_all(finding.setup))
    why = finding.why if finding.kind in ("wrong", "error") else finding.observed or finding.kind
    return ": ".join(filter(None, (uses, why)))[:TITLE]


def _how(finding: Finding) -> str:
    """How the answer is wrong, without its numbers."""
    return plain_reason(finding.why) if finding.kind == "wrong" else ""


def _words(setup: Sequence[str], query: str) -> Words:
    """The constructs of a case, with those that its indexes, views and triggers are made of."""
    found = set(words_of(query) | words_of_all(setup))
    for sql in setup:
        made = _MADE.match(sql)
        if made is not None:
            found |= {f"{made[1].lower()} {word}" for word in words_of(sql)}
    return frozenset(found)


def _one(some: Shape, other: Shape) -> bool:
    """Whether two reduced cases show one cause, as far as their shapes tell."""
    if some.covers(other) or other.covers(some):
        return True
    if (some.kind, some.message, some.wrong) != (other.kind, other.message, other.wrong):
        return False
    if some.kind in ENDS:
        mine, its = some.words - _QUIET, other.words - _QUIET
        return bool(mine and its) and (mine <= its or its <= mine)
    return _grouped(some.plain) == _grouped(other.plain) != {"aggregate"}


def _grouped(words: Words) -> Words:
    """The constructs with one word for all aggregates."""
    return frozenset("aggregate" if word in _AGGREGATES else word for word in words)


def _is_power(number: int) -> bool:
    return number & (number - 1) == 0
