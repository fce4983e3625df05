"""An SQL engine in a sandbox worker, as many small databases one after the other.

A new connection is a new database, in the same worker for as long as that lives. When the worker
is lost over several statements, they go one by one in a fresh worker, so that the one to blame is
found.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from refute.oracles.sql.driver import PAUSE_S
from refute.sandbox import Handle, Outcome, Worker
from refute.verifiers.sql.conform_packed import in_form

SESSION = "refute.oracles.sql.driver:Session"
Answer = list[Any]


class EngineSession:
    """Connections of the engine behind `factory`, "module:function".

    worker: gives the worker to use, a fresh one when the last was lost. patience_s: wall seconds
    that one statement may take.
    """

    def __init__(self, worker: Callable[[], Worker], factory: str, patience_s: float) -> None:
        self._worker = worker
        self._factory = factory
        self._patience_s = patience_s + PAUSE_S
        self._used: Worker | None = None
        self._handle: Handle | None = None
        self._done: list[str] = []

    @property
    def open(self) -> bool:
        """Whether there is a database to go on with."""
        return self._used is not None and self._used.alive and self._handle is not None

    def start(self, statements: Sequence[str]) -> tuple[list[Answer], Outcome | None]:
        """Begin with an empty database; then as `go_on`."""
        self._done = []
        return self._all(statements, restart=True)

    def go_on(self, statements: Sequence[str]) -> tuple[list[Answer], Outcome | None]:
        """The answers to the statements, in order; fewer when the engine was lost, and how."""
        return self._all(statements, restart=False)

    def _all(
        self, statements: Sequence[str], *, restart: bool
    ) -> tuple[list[Answer], Outcome | None]:
        answers, lost = self._sent(statements, restart=restart, singly=False)
        if lost is not None and lost.kind != "raised" and len(statements) > 1:
            again, lost = self._sent([*self._done, *statements], restart=True, singly=True)
            answers = again[len(self._done) :]
        self._done += statements[: len(answers)]
        return answers, lost

    def _sent(
        self, statements: Sequence[str], *, restart: bool, singly: bool
    ) -> tuple[list[Answer], Outcome | None]:
        answers: list[Answer] = []
        todo = list(statements)
        while todo or restart:
            outcome = self._asked(todo[:1] if singly else todo, restart)
            restart = False
            given = outcome.value
            if outcome.kind != "returned":
                self._handle = None
                return answers, outcome
            if type(given) is not list or (todo and not given) or len(given) > len(todo):
                self._handle = None
                return answers, Outcome("protocol", detail="the driver answered nonsense")
            answers += [a if in_form(a) else ["unfit", "a malformed answer"] for a in given]
            todo = todo[len(given) :]
        return answers, None

    def _asked(self, statements: Sequence[str], restart: bool) -> Outcome:
        worker = self._worker()
        if worker is not self._used or self._handle is None:
            self._used = worker
            made = worker.create(SESSION, self._factory, timeout_s=self._patience_s)
            if made.kind != "returned" or type(made.value) is not Handle:
                return made if made.kind != "returned" else Outcome("protocol", detail="no session")
            self._handle = made.value
            restart = False
        method = "restart" if restart else "run"
        return worker.invoke(self._handle, method, list(statements), timeout_s=self._patience_s)
