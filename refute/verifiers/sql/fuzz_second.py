"""The second SQLite's opinion of a difference: the engine's, or one between releases of SQLite?

It is asked about findings of the oracle `sqlite` before they are told, in a worker of its own.
Where it agrees with the embedded SQLite, the finding says so. Where it does not, nothing is held
against the engine: releases of SQLite differ there, which is counted.
"""

from __future__ import annotations

import dataclasses
import importlib.util
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from refute.oracles.sql.compare import STEPS, compare
from refute.oracles.sql.partial.question import Case, Oracle
from refute.oracles.sql.partial.written import text_of
from refute.oracles.sql.sqlite import VERSION, SQLite
from refute.oracles.sql.windows import exact
from refute.sandbox import Limits, open_worker
from refute.verifiers.sql.conform_engine import EngineLost
from refute.verifiers.sql.conform_worker import LIFE_S, MEMORY, InWorker

PACKAGE = "apsw"
FACTORY = "refute.oracles.sql.second_sqlite:connect"
TIMEOUT_S = 10.0

Answer = Sequence[Any]


@dataclasses.dataclass(frozen=True)
class Opinion:
    """says: "agrees" with the embedded SQLite; "differs" from it; "missing" where there is none.

    text: for people, as in "SQLite 3.54.1 agrees". engine: it "differs", and answers as the engine.
    """

    says: Literal["agrees", "differs", "missing"]
    text: str
    engine: bool = False


class SecondSQLite:
    """The SQLite of `apsw`, opened when it is first asked, and kept."""

    def __init__(self, timeout_s: float = TIMEOUT_S) -> None:
        self.installed = importlib.util.find_spec(PACKAGE) is not None
        self._timeout_s = timeout_s
        self._engine: InWorker | None = None
        self._version = ""

    def opinion(self, setup: Sequence[str], query: str, left: Answer | None = None) -> Opinion:
        """What it says of a query after a setup, both in SQLite's dialect.

        left: the engine's answer in the driver's form, if it speaks that dialect, too.
        """
        if not self.installed:
            return Opinion("missing", f"no second SQLite to ask (pip install {PACKAGE})")
        database = SQLite(STEPS)
        right = database.run([*setup, query])
        database.close()
        if right[-1][0] == "unfit":  # and the other would not come to an end either
            return Opinion("missing", f"SQLite {VERSION} gave no answer")
        other = self._answers([*setup, query])
        if other is None:
            return Opinion("missing", f"{self._name()} gave no answer")
        if _agree(setup, query, right, other):
            return Opinion("agrees", f"{self._name()} agrees")
        engine = left is not None and _alike(left, other[-1])
        too = "and answers as the engine" if engine else "so releases of SQLite differ"
        return Opinion("differs", f"{self._name()} differs from {VERSION}, {too}", engine)

    def judged(self, oracle: Oracle, case: Case, asked: Sequence[str]) -> Opinion:
        """What it says of a question of an oracle whose judge knows SQLite's answer.

        asked: the statements that the engine was asked. It "agrees" where it answers them as the
        oracle wants it, and "differs" where it breaks the question as the engine did.
        """
        if not self.installed:
            return Opinion("missing", f"no second SQLite to ask (pip install {PACKAGE})")
        for question in oracle.questions(case):
            statements = [s if isinstance(s, str) else text_of(s) for s in question.statements]
            if statements != list(asked):
                continue
            answers = self._answers([*case.setup, *statements])
            status = question.judge(answers[len(case.setup) :]).status if answers else "open"
            if status == "held":
                return Opinion("agrees", f"{self._name()} agrees")
            if status == "broken":
                return Opinion("differs", f"{self._name()} answers as the engine", engine=True)
        return Opinion("missing", f"{self._name()} says nothing about it")

    def close(self) -> None:
        """End its worker."""
        if self._engine is not None:
            self._engine.close()
            self._engine = None

    def _name(self) -> str:
        return f"SQLite {self._version}" if self._version else f"{PACKAGE}'s SQLite"

    def _answers(self, statements: Sequence[str]) -> list[Answer] | None:
        """One answer for each statement on an empty database; None where it was lost."""
        try:
            return self._asked(statements)
        except EngineLost:
            self.close()
            return None

    def _asked(self, statements: Sequence[str]) -> list[Answer] | None:
        if self._engine is None:
            limits = Limits(cpu_s=LIFE_S, wall_s=LIFE_S, memory=MEMORY)
            self._engine = InWorker(
                lambda seed: open_worker(Path(), (), (), limits, hash_seed=seed),
                FACTORY,
                self._timeout_s,
            )
            self._engine.start(0)
            [answer] = self._engine.answers(["SELECT sqlite_version()"])
            self._version = str(answer[2][0][0]) if answer[0] == "rows" else ""
        else:
            self._engine.again()
        answers = list(self._engine.answers(statements))
        lost = any(answer[0] in ("lost", "crash", "unfit") for answer in answers)
        return None if lost or len(answers) < len(statements) else answers


def _agree(
    setup: Sequence[str], query: str, right: Sequence[Answer], other: Sequence[Answer]
) -> bool:
    """Whether both releases say the same, of the setup and of the query."""
    for ours, theirs in zip(right[:-1], other[:-1], strict=True):
        if (ours[0] == "error") != (theirs[0] == "error"):
            return False
    ours, theirs = right[-1], other[-1]
    if "error" in (ours[0], theirs[0]):
        return bool(ours[0] == theirs[0])
    return compare(setup, query, ours, theirs).status != "different"


def _alike(left: Answer, other: Answer) -> bool:
    """Whether two answers are the same but for their order."""
    if left[0] != "rows" or other[0] != "rows":
        return bool(left[0] == other[0])
    return Counter(map(exact, left[2])) == Counter(map(exact, other[2]))
