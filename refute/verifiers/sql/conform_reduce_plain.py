"""What is done where SQLite is no oracle, and what is done once more in fresh workers.

Where SQLite itself does not give what the file expects, or what went before ended otherwise there,
or the file is in another dialect, nothing says what another query should give. So statements are
left out and nothing else, and the engine must give the very answer that it gave.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from refute.fuzz.sql.script_reduction import named
from refute.oracles.sql.sqlite import SQLite
from refute.verifiers.sql.conform_file import READS_ONLY, Engine, EngineLost
from refute.verifiers.sql.conform_reduce import OVER, Interrupted, Reduced, Stop
from refute.verifiers.sql.conform_reduce_trial import (
    STEPS,
    Runnable,
    Trials,
    begin_again,
    passes,
    unexpected,
)

NOT_SQLITE = "SQLite itself does not give what the file expects, so only statements were left out"
NOT_ALIKE = "only statements were left out, since nothing smaller could be compared with SQLite"
NOT_ASKED = "only statements were left out, as in all files that are not in SQLite's dialect"


def failed_again(engine: Engine, reduced: Reduced) -> bool:
    """Whether the script fails in the same way in two fresh workers. Raises EngineLost."""
    script = reduced.script
    for hash_seed in (0, 1):
        engine.start(hash_seed)
        if not reduced.oracle:
            if plain_answer(list(engine.answers(script.statements))[-1]) != reduced.seen:
                return False
            continue
        trials = Trials(engine, 1)
        try:
            found = trials.fresh(script)
        finally:
            trials.close()
        if found is None or not found.like(reduced.difference):
            return False
    return True


def plain_answer(answer: Sequence[Any]) -> list[Any]:
    """An answer as lists, with the names of its columns."""
    if answer[0] != "rows":
        return list(answer)
    names = [c if isinstance(c, str) else c[0] for c in answer[1]]
    return ["rows", names, [list(row) for row in answer[2]]]


class WithoutOracle:
    """Leaves out statements as long as the engine gives the very answer that the file refuses.

    record: None where only the SQL is known; kind is that of its failure.
    """

    def __init__(
        self,
        engine: Engine,
        before: Sequence[str],
        sql: str,
        record: Runnable | None,
        stop: Stop,
        limit: int,
        kind: str = "values",
    ) -> None:
        self._kind = kind
        self._engine = engine
        self._before = [text for text in before if not READS_ONLY.match(text)]
        self._sql = sql
        self._record = record
        self._stop = stop
        self._left = limit

    def run(self) -> Reduced | None:
        """The fewest statements found; None where the failure does not come again."""
        setup = self._before
        seen = self._answer(setup)
        if seen is None or (self._record is not None and passes(self._record, seen)):
            return None
        guess = [setup[place] for place in named(setup, self._sql)]
        for other in ([], guess):
            if len(other) < len(setup) and self._same(other, seen):
                setup = other
                break
        run = len(setup)
        while run and self._left > 0:
            end = len(setup)
            while end > 0 and self._left > 0:
                start = max(0, end - run)
                other = setup[:start] + setup[end:]
                if self._same(other, seen):
                    setup = other
                end = start
            run //= 2
        return self._made(setup, seen)

    def _made(self, setup: Sequence[str], seen: list[Any]) -> Reduced:
        verified = self._same(setup, seen)
        script, found = unexpected((*setup, self._sql), self._record, seen, self._kind)
        return Reduced(script, found, False, verified, 0, seen=seen, note=self._note())

    def _note(self) -> str:
        """Why there is no oracle."""
        if self._record is None:
            return NOT_ASKED
        database = SQLite(STEPS)
        try:
            for sql in self._before:
                database.answer(sql)
            right = passes(self._record, database.answer(self._sql))
        finally:
            database.close()
        return NOT_ALIKE if right else NOT_SQLITE

    def _same(self, setup: Sequence[str], seen: list[Any]) -> bool:
        answer = self._answer(setup)
        return answer is not None and repr(answer) == repr(seen)

    def _answer(self, setup: Sequence[str]) -> list[Any] | None:
        if self._stop():
            raise Interrupted(OVER)
        self._left -= 1
        begin_again(self._engine)
        try:
            answers = list(self._engine.answers([*setup, self._sql]))
        except EngineLost:
            return None
        return plain_answer(answers[-1])
