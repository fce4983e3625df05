"""An engine in a process of its own, as sqllogictest files are run on it.

The engine may die, hang or answer nonsense at any statement. Then a fresh process repeats what went
before (what only reads is left out), the statements in question go one by one until the one to
blame is found, its record fails, and the file goes on. That is bounded: an engine that keeps dying
is given up. An engine that dies once and not again is unstable, which is told.
"""

from __future__ import annotations

import abc
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from refute.budget import GIB
from refute.errors import UsageError
from refute.oracles.sql.driver import PAUSE_S
from refute.sandbox import Handle, Outcome, Worker
from refute.verifiers.sql.conform_engine import EngineLost, cannot
from refute.verifiers.sql.conform_packed import unpacked, unpacked_rows

LOSSES = 10  # how often a file's engine may be lost before it is given up
START_S = 30.0  # seconds for importing the engine and connecting
LIFE_S = 24 * 3600.0  # of a worker; each statement has its own limit
MEMORY = 2 * GIB  # bytes
SPARE_S = 1.0  # for the answer to come over the wire
MOST_VALUES = 5_000_000  # of one result, however many parts it has

SLOW = "did not answer in time"
SESSION = "refute.oracles.sql.engines.session:Made"
_HAS_NOT = {
    "connections": "second connection to one database",
    "restart": "way to open the same database again",
    "load": "way to open a database by its name",
    "kill": "way to end one statement",
}
GIVE_DATABASE = (
    "give the function a parameter `database`, the path of a database file that it opens or makes"
)
_FORGETS = re.compile(
    r"\s*(?:SELECT|VALUES|EXPLAIN)\b(?!.*\b(?:nextval|setval|INTO)\b)", re.I | re.S
)


class EngineMissing(UsageError):
    """The engine's reference names nothing that can be loaded."""


class Step(NamedTuple):
    """What was done in a session, to be done again in another. name: a connection or database."""

    what: str
    name: str = ""
    sql: str = ""


class Lossy(abc.ABC):
    """An engine that can be lost at any statement. name: for messages. timeout_s: for a statement.

    A kind of engine says how a process is opened, asked, told and closed.
    """

    unstable = ""
    version = ""
    isolation = ""
    next_step = GIVE_DATABASE  # for an engine that cannot do what a file asks

    def __init__(self, name: str, timeout_s: float) -> None:
        self.can: frozenset[str] = frozenset()
        self.name = name
        self.timeout_s = timeout_s
        self._hash_seed = 0
        self._losses = 0
        self._done: list[Step] = []
        self._shares = False

    @abc.abstractmethod
    def open(self) -> None:
        """Close what is open, and begin with an empty database. Raises EngineLost, UsageError."""

    @abc.abstractmethod
    def ask(self, statements: Sequence[str], connection: str, timeout_s: float) -> list[Any] | str:
        """The answers to the first statements, at least one; or how the engine was lost."""

    @abc.abstractmethod
    def tell(self, method: str, *args: str) -> str:
        """`share`, `reconnect` or `renew`; how the engine was lost over it, else empty."""

    @abc.abstractmethod
    def close(self) -> None:
        """End its process."""

    def start(self, hash_seed: int) -> None:
        """Begin with an empty database in a fresh process. Raises EngineLost or UsageError."""
        self._hash_seed = hash_seed
        self.forget()
        self.open()

    def forget(self) -> None:
        """Repeat nothing of what was done so far, and hold no earlier loss against the engine."""
        self._losses = 0
        self._done = []
        self._shares = False

    def answers(self, statements: Sequence[str]) -> Iterator[Sequence[Any]]:
        """One answer for each statement, in the driver's form or ["lost", how it ended]."""
        todo = list(statements)
        singly = 0  # so many of the next statements are sent alone
        while todo:
            given = self.ask(todo[:1] if singly else todo, "", self.timeout_s)
            if type(given) is list:
                for statement, answer in zip(todo, given, strict=False):
                    self._note("", statement)
                    yield answer
                if singly == 1:  # all alone, and none ended it
                    self.unstable = f"{self.name} ended once, and not when the same was repeated"
                singly = max(0, singly - len(given))
                todo = todo[len(given) :]
                continue
            self._lose(str(given))
            if singly or len(todo) == 1:
                singly = 0
                yield ["lost", given]
                todo = todo[1:]
            else:
                singly = len(todo)

    def answer_on(self, connection: str, sql: str, timeout_s: float | None = None) -> Sequence[Any]:
        """As `answers`, for one statement on a named connection. Raises EngineCannot, too."""
        if connection:
            self._check("connections")
        self._share()
        given = self.ask([sql], connection, self.timeout_s if timeout_s is None else timeout_s)
        if type(given) is not list:
            self._lose(str(given))
            return ["lost", given]
        self._note(connection, sql)
        answer: Sequence[Any] = given[0]
        return answer

    def reconnect(self, connection: str) -> None:
        """Open a connection again. Raises EngineLost or EngineCannot."""
        self._check("connections")
        self._change(Step("reconnect", connection))

    def restart(self, database: str = "") -> None:
        """Close all connections; go on in the same database, or the one of that name."""
        self._check("load" if database else "restart")
        self._change(Step("renew", database))

    def _note(self, connection: str, sql: str) -> None:
        """Remember a statement that may have changed something."""
        if not _FORGETS.match(sql):
            self._done.append(Step("run", connection, sql))

    def _lose(self, how: str) -> None:
        """Start again where the engine was lost. Raises EngineLost when that was too often."""
        self._losses += 1
        if self._losses > LOSSES:
            raise EngineLost(f"{self.name} {how}; it was lost {self._losses} times")
        self.open()
        if self._shares:
            self.tell("share")
        done = list(self._done)
        while done:
            number, how = self._repeated(done)
            if how:
                self.unstable = f"{self.name} {how} where it had answered before"
                raise EngineLost(self.unstable)
            done = done[number:]

    def _repeated(self, steps: Sequence[Step]) -> tuple[int, str]:
        """Do again what was done: how many steps of it, and how the engine was lost over them."""
        first = steps[0]
        if first.what != "run":
            return 1, self.tell(first.what, first.name)
        end = next((n for n, step in enumerate(steps) if step[:2] != first[:2]), len(steps))
        given = self.ask([step.sql for step in steps[:end]], first.name, self.timeout_s)
        return (len(given), "") if type(given) is list else (0, str(given))

    def _check(self, what: str) -> None:
        if what not in self.can:
            raise cannot(self.name, _HAS_NOT[what], self.next_step)

    def _share(self) -> None:
        if not self._shares:
            self._shares = True
            self._change(Step("share"))

    def _change(self, step: Step) -> None:
        """Have the session do something that has no answer."""
        self._share()
        if how := self.tell(step.what, *([step.name] if step.what != "share" else [])):
            self._lose(how)
            raise EngineLost(f"{self.name} {how}, asked to open a connection")
        if step.what != "share":
            self._done.append(step)


class InWorker(Lossy):
    """An engine behind a session in sandbox workers; "module:function" where no other is named.

    open_worker: takes a hash seed. session: what is created in the worker, from `given`.
    """

    absent: tuple[str, ...] = ("ModuleNotFoundError", "AttributeError")  # when it cannot be loaded

    def __init__(
        self,
        open_worker: Callable[[int], Worker],
        name: str,
        timeout_s: float,
        session: str = SESSION,
        given: tuple[Any, ...] | None = None,
    ) -> None:
        super().__init__(name, timeout_s)
        self._cpu_s = 0.0
        self.open_worker = open_worker
        self._session_of = session
        self._given = (name,) if given is None else given
        self._worker: Worker | None = None
        self._session: Any = None
        self._renews = False  # whether the session can begin anew, so that none need be made

    @property
    def cpu_s(self) -> float:
        """CPU seconds of its workers so far."""
        return self._cpu_s + (self._worker.cpu_s if self._worker is not None else 0.0)

    def again(self) -> None:
        """Begin with an empty database in the worker that is there, if it is of any use."""
        self.forget()
        if self._worker is not None and self._worker.alive:
            if self._invoke("emptied", START_S).value is True:
                return
            self._invoke("leave", START_S)
            outcome = self._made()
            if outcome.kind == "returned" and type(outcome.value) is Handle:
                self._session = outcome.value
                return
        self.open()

    def open(self) -> None:
        """A fresh worker with a session. Raises EngineLost or EngineMissing."""
        self.close()
        self._worker = self.open_worker(self._hash_seed)
        self.isolation = self._worker.isolation
        outcome = self._made()
        if outcome.kind == "returned" and type(outcome.value) is Handle:
            self._session = outcome.value
            self._note_facts()
            return
        if outcome.error in self.absent:
            raise self.missing(outcome)
        raise EngineLost(f"{self.name} gave no connection: it {ended(outcome)}")

    def close(self) -> None:
        """End the worker."""
        if self._worker is not None:
            self._worker.close()
            self._cpu_s += self._worker.cpu_s
            self._worker = None

    def ask(self, statements: Sequence[str], connection: str, timeout_s: float) -> list[Any] | str:
        """The answers to the first statements, at least one; or how the engine was lost."""
        patience = timeout_s + PAUSE_S + SPARE_S
        outcome = self._invoke("answer", patience, list(statements), connection, timeout_s)
        if outcome.kind != "returned":
            return ended(outcome)
        given = unpacked(outcome.value, len(statements))
        if given is None:
            return "answered nonsense"
        if given[-1][0] == "part":
            return self._completed(given, timeout_s)
        return given

    def tell(self, method: str, *args: str) -> str:
        """Call a method of the session; how the engine was lost over it, else empty."""
        outcome = self._invoke(method, START_S, *args)
        return "" if outcome.kind == "returned" else ended(outcome)

    def missing(self, outcome: Outcome) -> EngineMissing:
        """The error for an engine that is not there."""
        return EngineMissing(
            f"engine {self.name} cannot be loaded: {outcome.message}",
            thing="engine",
            value=self.name,
            possible=("sqlite", "sqlite:PATH, with a slash or a dot", "module:function"),
            next_step="name a function without arguments that returns a DB-API connection; its "
            "module is looked for from the current directory and the project's roots",
        )

    def _made(self) -> Outcome:
        assert self._worker is not None
        return self._worker.create(self._session_of, *self._given, timeout_s=START_S)

    def _invoke(self, method: str, timeout_s: float, *args: Any) -> Outcome:
        assert self._worker is not None
        return self._worker.invoke(self._session, method, *args, timeout_s=timeout_s)

    def _note_facts(self) -> None:
        """What the session says of itself; it decides nothing but what can be asked of it."""
        outcome = self._invoke("facts", START_S)
        said = outcome.value if outcome.kind == "returned" else None
        if type(said) is dict:
            can, version = said.get("can"), said.get("version")
            self.can = frozenset(what for what in _HAS_NOT if type(can) is list and what in can)
            self.version = version[:200] if type(version) is str else ""
            self._renews = said.get("again") is True

    def _completed(self, given: list[Any], timeout_s: float) -> list[Any] | str:
        """The answers with all rows of the last one, which came in parts."""
        _, names, rows, *types = given.pop()
        done = False
        while not done:
            outcome = self._invoke("more", timeout_s + SPARE_S)
            if outcome.kind != "returned":
                return ended(outcome)
            more = unpacked_rows(outcome.value, len(names))
            if more is None or max(1, len(names)) * len(rows) > MOST_VALUES:
                return "answered nonsense"
            rows += more[0]
            done = more[1]
        return [*given, ["rows", names, rows, *types]]


def ended(outcome: Outcome) -> str:
    """How a call ended that gave no answers, after "the engine"."""
    match outcome.kind:
        case "raised":
            return f"failed with {outcome.error}: {outcome.message}"[:300]
        case "died":
            return f"ended its process ({outcome.detail})"
        case "timeout":
            return f"{SLOW} ({outcome.detail})"
        case "returned":
            return "answered nonsense"
    return f"broke the protocol ({outcome.detail})"
