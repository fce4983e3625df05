"""`cmd:PROGRAM ARGUMENTS`: an engine in any language, as docs/engines.md describes its protocol.

A program that answers with the `id` of each request is sent many statements at once. One that
leaves it out is sent one after the other, since only their order tells answers apart.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

from refute.errors import UsageError
from refute.sandbox import Limits
from refute.sandbox.link import Ended
from refute.sandbox.outcome import Outcome
from refute.verifiers.sql.conform_command_answers import Hello, Reading, check_known
from refute.verifiers.sql.conform_command_program import Program
from refute.verifiers.sql.conform_engine import EngineLost
from refute.verifiers.sql.conform_names import COMMAND
from refute.verifiers.sql.conform_run import Choice
from refute.verifiers.sql.conform_worker import LIFE_S, MEMORY, SPARE_S, START_S, Lossy, ended

PROTOCOL = 1
THREADS = 256
FILE = 2**28  # bytes of a file that it may write
ENDING_S = 2.0  # for a program that ends a slow statement itself
_CHANGES = {"reconnect": "reconnect", "renew": "restart"}


def open_engine(choice: Choice) -> InCommand:
    """The engine of a choice whose engine begins with `cmd:`. Raises UsageError."""
    return InCommand(choice)


class InCommand(Lossy):
    """An engine that is a program."""

    next_step = "have the program say in `can` that it can, or run the file on another engine"

    def __init__(self, choice: Choice) -> None:
        super().__init__(choice.engine, choice.timeout_s)
        try:
            self._words = shlex.split(choice.engine[len(COMMAND) :])
        except ValueError as error:
            raise UsageError(
                f"engine {choice.engine} cannot be read: {error}",
                thing="--engine",
                value=choice.engine,
                next_step="quote its words as a shell does",
            ) from error
        self._here = choice.tree
        self._limits = Limits(
            cpu_s=LIFE_S, wall_s=LIFE_S, memory=MEMORY, processes=THREADS, file_size=FILE
        )
        self._program: Program | None = None
        self._number = 0
        self._hello = Hello({})
        self._cpu_s = 0.0
        self._lost = ""

    @property
    def cpu_s(self) -> float:
        """CPU seconds of its programs so far."""
        return self._cpu_s + (self._program.cpu_s if self._program is not None else 0.0)

    def open(self) -> None:
        """A fresh program, and what it says of itself. Raises EngineLost, UsageError."""
        self.close()
        self._program = Program(self._words, self._here.resolve(), self._limits)
        self.isolation = self._program.isolation
        self._hello = Hello({})
        self._lost = ""
        said: list[dict[str, Any]] = []
        try:
            self._converse([{"hello": {"protocol": PROTOCOL}}], START_S, said.append)
        except Ended as error:
            how = ended(Outcome(error.kind, detail=error.detail))
            raise EngineLost(f"{self.name} did not begin: it {how}") from error
        self._hello = Hello(said[0])
        self.version = self._hello.version
        self.can = self._hello.can | ({"kill"} if "timeout" in self._hello.can else set())

    def again(self) -> None:
        """Begin with an empty database, in the program that runs if it can."""
        self.forget()
        alive = self._program is not None and self._program.alive
        if not alive or "reset" not in self._hello.can or self._asked({"reset": True}):
            self.open()

    def close(self) -> None:
        """End the program."""
        if self._program is not None:
            self._program.close()
            self._cpu_s += self._program.cpu_s
            self._program = None

    def ask(self, statements: Sequence[str], connection: str, timeout_s: float) -> list[Any] | str:
        """The answers to the first statements, or how the program was lost."""
        if self._lost:
            return self._lost
        begun: dict[str, Any] = {"connection": connection} if connection else {}
        patience = timeout_s + SPARE_S
        if "timeout" in self._hello.can:
            begun["timeout"] = timeout_s
            patience += ENDING_S
        if not self._hello.has_ids:
            statements = statements[:1]
        answers: list[Any] = []
        reading = Reading()

        def take(message: dict[str, Any]) -> bool:
            nonlocal reading
            if not reading.take(message):
                return False
            answers.append(reading.answer)
            reading = Reading()
            return True

        try:
            self._converse([{"execute": sql, **begun} for sql in statements], patience, take)
        except Ended as error:
            self._lost = ended(Outcome(error.kind, detail=error.detail))
            return answers or self._lost
        return answers

    def tell(self, method: str, *args: str) -> str:
        """Open connections again; how the program was lost over it, else empty."""
        if method == "share":
            return ""
        return self._asked({_CHANGES[method]: args[0]})

    def _asked(self, request: dict[str, Any]) -> str:
        """Have it do something that has no result; how it was lost over it, or what it refused."""
        said: list[dict[str, Any]] = []
        try:
            self._converse([request], START_S, said.append)
        except Ended as error:
            self._lost = ended(Outcome(error.kind, detail=error.detail))
            return self._lost
        if "error" in said[0]:
            return f"refused it: {said[0]['error']!r}"[:300]
        return ""

    def _converse(self, requests: Sequence[dict[str, Any]], patience_s: float, take: Any) -> None:
        """Send requests, each with an id, and have `take` read the answers. Raises Ended."""
        assert self._program is not None
        first = self._number + 1
        self._number += len(requests)
        numbered = [{"id": n, **request} for n, request in enumerate(requests, first)]

        def checked(at: int, message: dict[str, Any]) -> bool:
            number = message.get("id", None if self._hello.has_ids else first + at)
            if type(number) is not int or number != first + at:
                raise Ended("protocol", f"an answer with id {number!r}, not {first + at}"[:200])
            if "hello" not in requests[at]:
                check_known(message)
            return take(message) is not False

        self._program.converse(numbered, patience_s, checked)
