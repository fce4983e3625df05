"""An engine that is asked in its own dialect: statements of SQLite's are written for it first.

Loaded by name when `--transpile` is given, because writing needs sqlglot. What cannot be written
is answered in the engine's place with ["inexpressible", construct]: neither passed nor failed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from refute.oracles.sql.differences_errors import UNSUPPORTED, says, unsupported_what
from refute.oracles.sql.transpile.targets import target_of
from refute.oracles.sql.transpile.translator import Translation, Translator
from refute.verifiers.sql.conform_engine import Engine
from refute.verifiers.sql.conform_excuses import INEXPRESSIBLE

_HEAD = re.compile(
    r"\s*(\w+)(?:\s+(?:OR\s+\w+|INTO|FROM|TABLE|VIEW|INDEX|UNIQUE)\b)*\s*(\w*)", re.I
)
_READS = ("SELECT", "VALUES", "WITH")


class Transpiling:
    """An engine behind a translator. dialect: a name that `target_of` knows."""

    def __init__(self, engine: Engine, dialect: str) -> None:
        self._engine = engine
        self._target = target_of(dialect)
        self._translator: Translator | None = None
        self._seen: set[tuple[str, str]] = set()
        self.asked: tuple[str, ...] = ()

    @property
    def unstable(self) -> str:
        """Why the engine's answers are not the same each time."""
        return self._engine.unstable

    @property
    def can(self) -> frozenset[str]:
        """What the engine has, once it was started."""
        return self._engine.can

    @property
    def version(self) -> str:
        """What the engine says it is."""
        return str(getattr(self._engine, "version", ""))

    @property
    def cpu_s(self) -> float:
        """CPU seconds of the engine's workers, where it has some."""
        return float(getattr(self._engine, "cpu_s", 0.0))

    @property
    def isolation(self) -> str:
        """How the engine is kept apart."""
        return str(getattr(self._engine, "isolation", ""))

    def start(self, hash_seed: int) -> None:
        """Begin with an empty database, here and in the mirror. Raises EngineLost."""
        self._engine.start(hash_seed)
        self._begin()

    def again(self) -> None:
        """As `start`, in a worker that is there."""
        self._engine.again()  # type: ignore[attr-defined]
        self._begin()

    def answers(self, statements: Sequence[str]) -> Iterator[Sequence[Any]]:
        """One answer for each statement; `asked` is what the engine was asked for the last one.

        Statements go together up to the first of its kind on a table, so that it is known whether
        the engine has such statements before the next one is written.
        """
        batch: list[str] = []
        for statement in statements:
            batch.append(statement)
            if self._is_first(statement):
                yield from self._batch(batch)
                batch = []
        if batch:
            yield from self._batch(batch)

    def answer_on(self, connection: str, sql: str, timeout_s: float | None = None) -> Sequence[Any]:
        """The answer to a statement as it stands: extended files are in the engine's dialect."""
        return self._engine.answer_on(connection, sql, timeout_s)

    def reconnect(self, connection: str) -> None:
        """Close a connection and open it again."""
        self._engine.reconnect(connection)

    def restart(self, database: str = "") -> None:
        """Close all connections and go on."""
        self._engine.restart(database)

    def close(self) -> None:
        """Let the engine and the mirror go."""
        if self._translator is not None:
            self._translator.close()
            self._translator = None
        self._engine.close()

    def _begin(self) -> None:
        if self._translator is not None:
            self._translator.close()
        self._translator = Translator(self._target)
        self._seen.clear()
        for _ in self._engine.answers(self._target.begins) if self._target.begins else ():
            pass  # what an engine has no word for, its tables cannot be made of either

    def _is_first(self, statement: str) -> bool:
        found = _HEAD.match(statement)
        key = (found[1].upper(), found[2].lower()) if found else ("", "")
        if key[0] in _READS or key in self._seen:
            return False
        self._seen.add(key)
        return True

    def _batch(self, statements: Sequence[str]) -> Iterator[Sequence[Any]]:
        assert self._translator is not None
        written = [self._translator.translate(statement) for statement in statements]
        texts = [text for translation in written for text in translation.texts]
        answers = self._engine.answers(texts) if texts else iter(())
        for statement, translation in zip(statements, written, strict=True):
            self.asked = translation.texts
            if translation.construct:
                yield [INEXPRESSIBLE, translation.construct]
                continue
            answer = self._answer_of(translation, answers)
            self._note(statement, answer)
            yield answer

    def _answer_of(
        self, translation: Translation, answers: Iterator[Sequence[Any]]
    ) -> Sequence[Any]:
        """The last answer to a record's statements, or the first that is no success."""
        found: Sequence[Any] = ("done",)
        for _ in translation.texts:
            answer = next(answers)
            if found[0] in ("done", "rows"):
                found = answer
        return found

    def _note(self, statement: str, answer: Sequence[Any]) -> None:
        """Tell the translator of a change that the engine says it cannot make."""
        assert self._translator is not None
        if answer[0] == "error" and says(answer, "unsupported", UNSUPPORTED):
            self._translator.refused(statement, unsupported_what(answer))
