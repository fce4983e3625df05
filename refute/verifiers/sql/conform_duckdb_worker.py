"""An engine as DuckDB's files need it: texts for values, databases by path, many at once."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from refute.sandbox import Limits, open_worker
from refute.verifiers.sql.conform_packed import unpacked
from refute.verifiers.sql.conform_worker import LIFE_S, MEMORY, START_S, InWorker, Step, ended
from refute.verifiers.sql.conform_worker import SESSION as MADE

SESSION = "refute.oracles.sql.duckdb_session:Texts"
FACTORIES = {"duckdb": ("duckdb:connect",)}
"""Engine by name → the function that makes its connections."""
LIMITS = Limits(cpu_s=LIFE_S, wall_s=LIFE_S, memory=MEMORY, processes=64, file_size=128 * 2**20)


class TextWorker(InWorker):
    """An engine in a worker whose answers are texts with types; see its session."""

    @classmethod
    def of(
        cls, engine: InWorker, root: str, data: Callable[[], tuple[str, ...]]
    ) -> TextWorker | None:
        """The engine that this one is, with the other session; None for what is no factory.

        data: files below the root, which an engine sees whose own code is in no tree.
        """
        made = engine._session_of == MADE
        given = engine._given if made else FACTORIES.get(engine.name)
        if given is None:
            return None
        if made:
            return cls(engine.open_worker, engine.name, engine.timeout_s, SESSION, given)
        files = data()
        return cls(
            lambda seed: open_worker(Path(root), files, (), LIMITS, hash_seed=seed),
            engine.name,
            engine.timeout_s,
            SESSION,
            given,
        )

    def directory(self, path: str) -> None:
        """Make a directory where the engine sees it."""
        self._change(Step("directory", path))

    def load(self, path: str, readonly: bool, version: str) -> Sequence[Any]:
        """Go on in the database at this path; "done" or an error. Raises EngineCannot."""
        self._check("load")
        return self._said("load", json.dumps([path, readonly, version]))

    def reopen(self, *, extensions: bool) -> Sequence[Any]:
        """Open the same database again; "done" or an error. Raises EngineCannot."""
        self._check("restart")
        return self._said("reopen", "extensions" if extensions else "")

    def unzip(self, source: str, target: str) -> Sequence[Any]:
        """Unpack a file that the engine sees; "done" or an error."""
        return self._said("unzip", json.dumps([source, target]))

    def extension(self, name: str) -> Sequence[Any]:
        """Load an extension, now and whenever a database is opened."""
        return self._said("extension", name)

    def together(self, rounds: Sequence[Sequence[str]]) -> list[Sequence[Any]]:
        """The answers to lists of statements that are run at once, the first round's first."""
        self._check("connections")
        number = sum(map(len, rounds))
        patience = START_S + self.timeout_s * max(map(len, rounds), default=0)
        outcome = self._invoke("together", patience, [list(sqls) for sqls in rounds])
        given = unpacked(outcome.value, number) if outcome.kind == "returned" else None
        if given is None or len(given) != number:
            how = ended(outcome)
            self._lose(how)
            return [["lost", how]] * number
        for sqls in rounds:
            for sql in sqls:
                self._note("", sql)
        return list(given)

    def _said(self, method: str, word: str) -> Sequence[Any]:
        """The answer of the session to one of its methods, repeated when it is lost later."""
        self._share()
        outcome = self._invoke(method, START_S, word)
        given = unpacked(outcome.value, 1) if outcome.kind == "returned" else None
        if given is None:
            how = ended(outcome)
            self._lose(how)
            return ["lost", how]
        self._done.append(Step(method, word))
        return given[0]
