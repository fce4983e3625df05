"""A DB-API engine in a sandbox worker, as sqllogictest files are run on it.

The engine may die, hang or answer nonsense at any statement. Then a fresh worker repeats what went
before (what only reads is left out), the statements in question go one by one until the one to
blame is found, its record fails, and the file goes on. That is bounded: an engine that keeps dying
is given up. An engine that dies once and not again is unstable, which is told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from refute.budget import GIB
from refute.errors import UsageError
from refute.oracles.sql.driver import PAUSE_S
from refute.oracles.sqllogictest.expect import SLOW
from refute.sandbox import Handle, Outcome, Worker
from refute.verifiers.sql.conform_file import READS_ONLY, EngineLost, cannot

LOSSES = 10  # how often a file's engine may be lost before it is given up
START_S = 30.0  # seconds for importing the engine and connecting
LIFE_S = 24 * 3600.0  # of a worker; each statement has its own limit
MEMORY = 2 * GIB  # bytes
SPARE_S = 1.0  # for the answer to come over the wire

SESSION = "refute.oracles.sql.driver:Session"
_TYPES = frozenset({type(None), int, float, str, bytes})
_TEXTS = {"error": (2, 3), "crash": (2,), "unfit": (1,), "done": (0,)}
_HAS_NOT = {
    "connections": "second connection to one database",
    "restart": "way to open the same database again",
    "load": "way to open a database by its name",
}
_GIVE_DATABASE = (
    "give the function a parameter `database`, the path of a database file that it opens or makes"
)


class EngineMissing(UsageError):
    """The engine's reference names nothing that can be loaded."""


class Step(NamedTuple):
    """What was done in a session, to be done again in another. name: a connection or database."""

    what: str
    name: str = ""
    sql: str = ""


class InWorker:
    """An engine behind `factory`, "module:function", in workers that `open_worker` starts.

    open_worker: takes a hash seed. timeout_s: wall seconds for one statement.
    """

    def __init__(
        self, open_worker: Callable[[int], Worker], factory: str, timeout_s: float
    ) -> None:
        self.unstable = ""
        self.can: frozenset[str] = frozenset()
        self.isolation = ""
        self._cpu_s = 0.0
        self._open_worker = open_worker
        self._factory = factory
        self._timeout_s = timeout_s
        self._hash_seed = 0
        self._losses = 0
        self._worker: Worker | None = None
        self._session: Any = None
        self._outcome = Outcome("died")
        self._done: list[Step] = []
        self._shares = False

    @property
    def cpu_s(self) -> float:
        """CPU seconds of its workers so far."""
        return self._cpu_s + (self._worker.cpu_s if self._worker is not None else 0.0)

    def start(self, hash_seed: int) -> None:
        """Begin with an empty database in a fresh worker. Raises EngineLost or EngineMissing."""
        self._hash_seed = hash_seed
        self._losses = 0
        self._done = []
        self._shares = False
        self._connect()

    def again(self) -> None:
        """Begin with an empty database in the worker that is there, if it is of any use."""
        self._done = []
        self._shares = False
        if self._worker is None or not self._worker.alive or not self._session_made():
            self._connect()

    def answers(self, statements: Sequence[str]) -> Iterator[Sequence[Any]]:
        """One answer for each statement, in the driver's form or ["lost", how it ended]."""
        todo = list(statements)
        singly = 0  # so many of the next statements are sent alone
        while todo:
            given = self._ask(todo[:1] if singly else todo)
            if type(given) is list:
                for statement, answer in zip(todo, given, strict=False):
                    if not READS_ONLY.match(statement):
                        self._done.append(Step("run", "", statement))
                    yield answer
                if singly == 1:  # all alone, and none ended it
                    self._note_unstable()
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
        given = self._ask([sql], connection, timeout_s)
        if type(given) is not list:
            self._lose(str(given))
            return ["lost", given]
        if not READS_ONLY.match(sql):
            self._done.append(Step("run", connection, sql))
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

    def close(self) -> None:
        """End the worker."""
        if self._worker is not None:
            self._worker.close()
            self._cpu_s += self._worker.cpu_s
            self._worker = None

    def _note_unstable(self) -> None:
        self.unstable = f"{self._factory} ended once, and not when the same was repeated"

    def _lose(self, how: str) -> None:
        """Start again where the engine was lost. Raises EngineLost when that was too often."""
        self._losses += 1
        if self._losses > LOSSES:
            raise EngineLost(f"{self._factory} {how}; it was lost {self._losses} times")
        self._connect()
        if self._shares:
            self._tell("share")
        for step in self._done:
            given = self._repeated(step)
            if given:
                self.unstable = f"{self._factory} {given} where it had answered before"
                raise EngineLost(self.unstable)

    def _repeated(self, step: Step) -> str:
        """Do again what was done; how the engine was lost over it, else empty."""
        if step.what != "run":
            return self._tell(step.what, step.name)
        given = self._ask([step.sql], step.name)
        return "" if type(given) is list else str(given)

    def _check(self, what: str) -> None:
        if what not in self.can:
            raise cannot(self._factory, _HAS_NOT[what], _GIVE_DATABASE)

    def _share(self) -> None:
        if not self._shares:
            self._shares = True
            self._change(Step("share"))

    def _change(self, step: Step) -> None:
        """Have the session do something that has no answer."""
        self._share()
        if how := self._tell(step.what, *([step.name] if step.what != "share" else [])):
            self._lose(how)
            raise EngineLost(f"{self._factory} {how}, asked to open a connection")
        if step.what != "share":
            self._done.append(step)

    def _tell(self, method: str, *args: str) -> str:
        """Call a method of the session; how the engine was lost over it, else empty."""
        assert self._worker is not None
        outcome = self._worker.invoke(self._session, method, *args, timeout_s=START_S)
        return "" if outcome.kind == "returned" else ended(outcome)

    def _connect(self) -> None:
        self.close()
        self._worker = self._open_worker(self._hash_seed)
        self.isolation = self._worker.isolation
        outcome = self._worker.create(SESSION, self._factory, timeout_s=START_S)
        if outcome.kind == "returned" and type(outcome.value) is Handle:
            self._session = outcome.value
            self.can = self._asked_can()
            return
        how = ended(outcome)
        if outcome.error in ("ModuleNotFoundError", "AttributeError"):
            raise EngineMissing(
                f"engine {self._factory} cannot be loaded: {outcome.message}",
                thing="engine",
                value=self._factory,
                possible=("sqlite", "module:function"),
                next_step="name a function without arguments that returns a DB-API connection; its "
                "module is looked for from the current directory and the project's roots",
            )
        raise EngineLost(f"{self._factory} gave no connection: it {how}")

    def _session_made(self) -> bool:
        """Have the engine give a connection; `_outcome` says what became of it."""
        assert self._worker is not None
        self._outcome = self._worker.create(SESSION, self._factory, timeout_s=START_S)
        if self._outcome.kind != "returned" or type(self._outcome.value) is not Handle:
            return False
        self._session = self._outcome.value
        return True

    def _asked_can(self) -> frozenset[str]:
        """What the session says it can; nothing else is believed."""
        assert self._worker is not None
        outcome = self._worker.invoke(self._session, "can", timeout_s=START_S)
        said = outcome.value if outcome.kind == "returned" and type(outcome.value) is list else []
        return frozenset(what for what in _HAS_NOT if what in said)

    def _ask(
        self, statements: Sequence[str], connection: str = "", timeout_s: float | None = None
    ) -> list[Any] | str:
        """The answers to the first statements, at least one; or how the engine was lost."""
        assert self._worker is not None
        patience = (self._timeout_s if timeout_s is None else timeout_s) + PAUSE_S + SPARE_S
        args = (list(statements), connection) if connection else (list(statements),)
        outcome = self._worker.invoke(self._session, "run", *args, timeout_s=patience)
        if outcome.kind != "returned":
            return ended(outcome)
        given = outcome.value
        if type(given) is not list or not 0 < len(given) <= len(statements):
            return "answered nonsense"
        return [answer if in_form(answer) else ["unfit", "a malformed answer"] for answer in given]


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


def in_form(answer: Any) -> bool:
    """Whether the answer has the driver's form; the engine could have patched the driver."""
    if type(answer) is not list or not answer or type(answer[0]) is not str:
        return False
    if answer[0] == "rows" and len(answer) == 3:
        _, names, rows = answer
        return (
            type(names) is list
            and type(rows) is list
            and all(type(name) is str for name in names)
            and all(
                type(row) is list and len(row) == len(names) and _TYPES.issuperset(map(type, row))
                for row in rows
            )
        )
    texts = answer[1:]
    return len(texts) in _TEXTS.get(answer[0], ()) and all(type(text) is str for text in texts)
