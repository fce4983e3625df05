"""Failures by their cause: which of them show one defect, and which are worth a closer look.

Reducing a failure takes seconds, and an engine with one defect fails in every second program. So a
failure whose statements use all that a cause needs, under the same oracle and in the same way, is
taken for that cause without a look; but at times one is looked at all the same (the first, second,
fourth, eighth …), since another defect may hide behind it. What is reduced is grouped by the
constructs of the reduced case (`fuzz_causes_shape`), whichever oracle saw it; a cause keeps the
different cases that it was met as, and says how often and under which oracles.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import Any

from refute.verifiers.sql.fuzz_causes_shape import (
    key_of,
    needed,
    one,
    shape_of,
    title,
    words_in,
)
from refute.verifiers.sql.fuzz_failure import Failure
from refute.verifiers.sql.fuzz_plan import Finding

STALE = 8  # looks in a row without a new cause, after which few are looked at
MOST_FORMS = 12  # reduced cases of one cause that are kept to compare others with
MOST_ALSO = 20  # programs of one cause that are told


@dataclasses.dataclass
class Cause:
    """Findings with one cause.

    met: failures that it explains. passed_over: those of them that nobody looked at. oracles: that
    broke. forms: reduced cases that it was met as, after the first. also: the programs in which it
    was met again.
    """

    finding: Finding
    times: int = 1
    met: int = 0
    passed_over: int = 0
    oracles: list[str] = dataclasses.field(default_factory=list)
    forms: list[Finding] = dataclasses.field(default_factory=list)
    also: list[str] = dataclasses.field(default_factory=list)

    @property
    def shown(self) -> Finding:
        """The finding with how often, where and under which oracles the cause was met."""
        return dataclasses.replace(
            self.finding,
            times=self.times + self.passed_over,
            oracles=tuple(self.oracles),
            also=tuple(self.also),
        )

    @property
    def all(self) -> tuple[Finding, ...]:
        """All its cases that are kept."""
        return (self.finding, *self.forms)

    def meets(self, oracle: str, finding: Finding) -> None:
        """Note where it was met again."""
        if oracle not in self.oracles:
            self.oracles.append(oracle)
        where = f"{finding.seed}/{finding.program} ({oracle})"
        if where not in self.also and len(self.also) < MOST_ALSO:
            self.also.append(where)


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

    def take(self, finding: Finding, oracle: str = "", like: str = "") -> Finding | None:
        """A finding that was looked into: itself, with its cause, if that is a new one.

        oracle: that broke first, where the finding is another's. like: the key of the cause that it
        shows, as the engine's answers tell.
        """
        oracle = oracle or finding.oracle
        key = (oracle, finding.kind)
        finding = dataclasses.replace(
            finding, cause=key_of(shape_of(finding), finding.oracle), title=title(finding)
        )
        cause = self._of(finding, like)
        if cause is not None:
            cause.times += finding.times
            cause.meets(oracle, finding)
            shapes = [(form.oracle, shape_of(form)) for form in cause.all]
            new = (finding.oracle, shape_of(finding)) not in shapes
            if new and len(cause.forms) < MOST_FORMS:
                cause.forms.append(finding)
            self._stale[key] += 1
            return None
        self._stale[key] = 0
        oracles = list(dict.fromkeys((finding.oracle, oracle)))
        self.all.append(Cause(finding, finding.times, oracles=oracles))
        return self.all[-1].shown

    def gave_nothing(self, failure: Failure) -> None:
        """A failure that was looked into did not come again."""
        self._stale[failure.oracle, failure.kind] += 1

    @property
    def findings(self) -> tuple[Finding, ...]:
        """One of each cause, with how often it was met."""
        return tuple(cause.shown for cause in self.all)

    @property
    def forms(self) -> tuple[Finding, ...]:
        """The cases of all causes, each with the key of its cause."""
        return tuple(
            dataclasses.replace(form, cause=cause.finding.cause, first_setup=(), first_query="")
            for cause in self.all
            for form in cause.all
        )

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "causes": [
                {
                    "finding": c.finding.to_json(),
                    "times": c.times,
                    "met": c.met,
                    "passed_over": c.passed_over,
                    "oracles": c.oracles,
                    "forms": [form.to_json() for form in c.forms],
                    "also": c.also,
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
        for one_of in data["causes"]:
            times, met, passed_over = (int(one_of[n]) for n in ("times", "met", "passed_over"))
            cause = Cause(Finding.from_json(one_of["finding"]), times, met, passed_over)
            cause.oracles, cause.also = list(one_of["oracles"]), list(one_of["also"])
            cause.forms = list(map(Finding.from_json, one_of["forms"]))
            made.all.append(cause)
        for name in ("stale", "skipped"):
            counted = getattr(made, f"_{name}")
            for oracle, kind, count in data[name]:
                counted[oracle, kind] = int(count)
        return made

    def _of(self, finding: Finding, like: str) -> Cause | None:
        """The cause that a reduced case shows."""
        for cause in self.all:
            if any(one(form, finding) for form in cause.all):
                return cause
        return next((cause for cause in self.all if like and cause.finding.cause == like), None)

    def _explains(self, failure: Failure) -> Cause | None:
        """A cause all of whose constructs the failure has, under the same oracle."""
        own = words_in(failure.setup, failure.query)
        for cause in self.all:
            for form in cause.all:
                same = failure.oracle in (form.oracle, *cause.oracles)
                same = same and form.kind == failure.kind
                if same and needed(shape_of(form)) <= own:
                    return cause
        return None


def _is_power(number: int) -> bool:
    return number & (number - 1) == 0
