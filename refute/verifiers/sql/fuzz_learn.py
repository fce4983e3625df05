"""Features that an engine has: asked for at the start, and watched while the run goes on.

A smallest statement of each feature is asked first; what is refused is not generated. Later, a
feature whose statements are nearly all refused is dropped as well, at most one in a round, since
features come together and only one of them may be to blame. Rounds are of a fixed number of
programs, and what a round shows counts from the round after the next: so what is generated depends
on the engine's answers alone, and not on which process was faster.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from typing import Any

from refute.fuzz.sql.features import PROBE_SETUP, PROBES, TABLE_PROBES, features_in, supported
from refute.fuzz.sql.text import Node
from refute.oracles.sql.partial.question import Answer, Case
from refute.oracles.sql.partial.written import tree_of
from refute.specs.sql import FEATURES
from refute.verifiers.sql.fuzz_asking import Desk
from refute.verifiers.sql.fuzz_database import UNWRITTEN
from refute.verifiers.sql.fuzz_dialect_profile import left_out, probe_of
from refute.verifiers.sql.fuzz_failure import Failure, reason_of
from refute.verifiers.sql.fuzz_writing import Refused

ENDS = "it ends the engine"
ROUND = 16  # programs
LEAST = 8  # statements of a feature, before it is dropped
NEARLY_ALL = 0.9  # of them refused
DEADLY = 4  # queries that ended the engine, before a feature is dropped for it
RARE = 2  # a feature is to blame if one in so many of its measured queries did
PLACE = -1000  # of the first probe among the queries


@dataclasses.dataclass(frozen=True)
class Probe:
    """Ask what an engine has, of these features."""

    features: frozenset[str]


@dataclasses.dataclass
class Probed:
    """refused: feature → why. failures: that the probes met."""

    refused: dict[str, str]
    failures: list[Failure]


@dataclasses.dataclass
class Uses:
    """Statements that were measured: how many had each feature, and of how many it was refused.

    ended: how many queries with it ended the engine, of all queries; "" counts them together.
    """

    asked: Counter[str] = dataclasses.field(default_factory=Counter)
    refused: Counter[str] = dataclasses.field(default_factory=Counter)
    ended: Counter[str] = dataclasses.field(default_factory=Counter)

    def note(self, tree: Node, *, refused: bool) -> None:
        """Take one statement."""
        found = features_in(tree)
        self.asked.update(found)
        if refused:
            self.refused.update(found)

    def note_end(self, tree: Node) -> None:
        """Take a query that ended the engine."""
        self.ended.update(features_in(tree))
        self.ended[""] += 1

    def add(self, other: Uses) -> None:
        """Take another part of the run."""
        self.ended.update(other.ended)
        self.asked.update(other.asked)
        self.refused.update(other.refused)


def probed(desk: Desk, features: Set[str]) -> Probed:
    """What comes of the probes. Raises EngineLost, UsageError."""
    refused = {n: why for n, why in left_out(desk.dialect).items() if n in features}
    desk.begin(PROBE_SETUP)
    wanted = [name for name in FEATURES if name in features and name not in refused]
    cases = []
    for place, name in enumerate(n for n in wanted if n in PROBES):
        tree = tree_of(probe_of(desk.dialect, name, PROBES[name]))
        why = _refusal(desk, [tree])
        if why:
            refused[name] = why
        if not why or why == ENDS:
            cases.append((PLACE - place, Case(desk.setup, tree, place, desk.dialect)))
    for case in cases:
        desk.losses = 0  # each is a failure by itself
        desk.ask([case])
    failures = list(desk.failures)
    for name in (n for n in wanted if n in TABLE_PROBES):
        desk.losses = 0
        desk.begin(PROBE_SETUP)
        given = probe_of(desk.dialect, name, TABLE_PROBES[name])
        texts = [given] if isinstance(given, str) else list(given)
        why = _refusal(desk, list(map(tree_of, texts)))
        if why:
            refused[name] = why
    return Probed(refused, failures)


def _refusal(desk: Desk, trees: Sequence[Node]) -> str:
    """Why the last of the statements is not for this engine; empty when it is."""
    texts = []
    for tree in trees:
        text = desk.written(tree)
        if isinstance(text, Refused):
            return f"{UNWRITTEN}{text.construct}"
        texts.append(text)
    answers: list[Answer] = list(desk.engine.answers(texts))
    if answers[-1][0] == "lost":
        return ENDS
    return reason_of(answers[-1]) if answers[-1][0] == "error" else ""


class Learner:
    """Which features each round of programs may use."""

    def __init__(self, features: Set[str], refused: Mapping[str, str]) -> None:
        self.refused = dict(refused)
        self._chosen = [name for name in FEATURES if name in features]
        first = frozenset(supported(self._chosen, list(refused)))
        self._rounds = [first, first]
        self._all = Uses()

    def features(self, unit: int) -> frozenset[str]:
        """What the unit of this number in the run may use."""
        return self._rounds[unit // ROUND]

    def dropped(self, unit: int) -> tuple[str, ...]:
        """Features that it may not use any more, though the probes were taken."""
        return tuple(sorted(self._rounds[0] - self.features(unit)))

    def ready(self, unit: int) -> bool:
        """Whether it is known what that unit may use."""
        return unit // ROUND < len(self._rounds)

    def take(self, unit: int, uses: Uses) -> None:
        """Take what a unit showed; units come in the order of their numbers."""
        self._all.add(uses)
        if (unit + 1) % ROUND:
            return
        left = self._rounds[-1]
        worst, why = self._worst(), ""
        if worst:
            why = f"{self._all.refused[worst]} of {self._all.asked[worst]} statements were refused"
        else:
            worst = self._deadly()
            why = f"{self._all.ended[worst]} queries with it ended the engine"
        if worst:
            self.refused[worst] = why
            names = [name for name in FEATURES if name in left]
            left = frozenset(supported(names, [worst]))
            self._all = Uses()
        self._rounds.append(left)

    def _deadly(self) -> str:
        """The rarest feature of nearly all queries that end the engine; "" where these are few.

        What it ends over is found by then, and costs a process each time.
        """
        uses, left = self._all, self._rounds[-1]
        if uses.ended[""] < DEADLY:
            return ""
        found = [
            (uses.asked[name], name)
            for name in FEATURES
            if name in left and uses.ended[name] >= NEARLY_ALL * uses.ended[""]
        ]
        rarest, name = min(found, default=(0, ""))
        return name if uses.ended[name] * RARE >= rarest else ""

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "chosen": self._chosen,
            "refused": self.refused,
            "rounds": [sorted(features) for features in self._rounds],
            "asked": dict(self._all.asked),
            "refusals": dict(self._all.refused),
            "ended": dict(self._all.ended),
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Learner:
        """From plain data. Raises TypeError, KeyError or ValueError for what is none."""
        made = Learner(frozenset(data["chosen"]), data["refused"])
        made._rounds = [frozenset(features) for features in data["rounds"]]
        made._all = Uses(*(Counter(data[name]) for name in ("asked", "refusals", "ended")))
        return made

    def _worst(self) -> str:
        """The feature that is refused nearly always and most often; "" where there is none."""
        uses, left = self._all, self._rounds[-1]
        found = [
            (uses.refused[name], name)
            for name in FEATURES
            if name in left
            and uses.asked[name] >= LEAST
            and uses.refused[name] >= NEARLY_ALL * uses.asked[name]
        ]
        return max(found)[1] if found else ""
