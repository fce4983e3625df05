"""A server behind a URL as an engine: a database of its own for every file, dropped afterwards.

The driver runs in a worker that may use the network, without namespaces, since the engine is
outside anyway; the worker still bounds what a driver may use and ends with what hangs. Databases
are made and dropped by a keeper (`refute.oracles.sql.engines.keeper`), which outlives us: none is
left behind by Ctrl-C, by a crash of this process, or by one of the server that is over in time.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import select
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from refute.errors import UsageError
from refute.sandbox import Limits, Outcome, open_worker
from refute.verifiers.sql.conform_engine import EngineLost
from refute.verifiers.sql.conform_names import scheme_of, shown
from refute.verifiers.sql.conform_run import Choice
from refute.verifiers.sql.conform_worker import (
    LIFE_S,
    MEMORY,
    START_S,
    EngineMissing,
    InWorker,
    ended,
)

ANSWER_S = 90.0  # of the keeper; a server that crashed has a third of it to come back
THREADS = 32
_KEEPER = "refute.oracles.sql.engines.keeper"


class EngineUnreachable(UsageError):
    """A server that cannot be reached, or does not let us make databases."""


class Driver(NamedTuple):
    """What a scheme needs. variables: of the environment that count, or what they begin with."""

    module: str
    session: str
    install: str
    variables: str

    def environment(self) -> dict[str, str]:
        """The variables that are set."""
        return {k: v for k, v in os.environ.items() if k.startswith(self.variables)}


_POSTGRESQL = Driver("refute.oracles.sql.engines.postgresql", "PostgreSQL", "psycopg[binary]", "PG")
_MYSQL = Driver("refute.oracles.sql.engines.mysql", "MySQL", "pymysql", "MYSQL_PWD")
DRIVERS = {
    "postgresql": _POSTGRESQL,
    "postgres": _POSTGRESQL,
    "mysql": _MYSQL,
    "mariadb": _MYSQL,
}


def open_engine(choice: Choice) -> InServer:
    """The engine of a choice whose engine is a URL."""
    return InServer(choice)


class InServer(InWorker):
    """An engine that is a server."""

    next_step = "a server has no databases by name; run the file on another engine"

    def __init__(self, choice: Choice) -> None:
        self._url = choice.engine
        self._driver = DRIVERS[scheme_of(choice.engine)]
        self._database = ""
        self._reached = False
        limits = Limits(cpu_s=LIFE_S, wall_s=LIFE_S, memory=MEMORY, processes=THREADS)
        super().__init__(
            lambda seed: open_worker(
                choice.tree, (), (), limits, hash_seed=seed, isolation="process"
            ),
            shown(choice.engine),
            choice.timeout_s,
            f"{self._driver.module}:{self._driver.session}",
        )

    def open(self) -> None:
        """A database, and a worker with a session in it. Raises EngineLost, UsageError."""
        self.close()
        try:
            database = keeper_of(self._url, self._driver).create()
        except EngineUnreachable as error:
            if self._reached:  # what is known by now is kept
                raise EngineLost(error.message) from error
            raise
        self._reached = True
        self._given = (self._url, self._driver.environment(), database)
        try:
            super().open()
        finally:
            self._database = database

    def close(self) -> None:
        """End the worker and drop the database."""
        super().close()
        if self._database:
            database, self._database = self._database, ""
            with contextlib.suppress(UsageError):  # a server that is gone
                keeper_of(self._url, self._driver).drop(database)

    def again(self) -> None:
        """Begin with an empty database."""
        self.forget()
        alive = self._worker is not None and self._worker.alive
        if not alive or self._invoke("emptied", START_S).value is not True:
            self.open()

    def missing(self, outcome: Outcome) -> EngineMissing:
        """The error for a driver that is not there."""
        return _missing(self.name, self._driver, ended(outcome))


class Keeper:
    """A keeper's process, as this one holds it. Raises UsageError when the server is of no use."""

    def __init__(self, url: str, driver: Driver) -> None:
        self._name = shown(url)
        self._driver = driver
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", _KEEPER],
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._buffer = b""
        self._number = 0
        self.names: list[str] = []
        self.dead = False
        try:
            given = {"module": driver.module, "url": url, "environment": driver.environment()}
            answer = self._asked(given)
            if "error" in answer:
                raise self._refused(answer)
        except BaseException:
            self.close()
            raise
        self.version = str(answer["version"])

    def create(self) -> str:
        """The name of a new and empty database. Raises EngineLost, EngineUnreachable."""
        answer = self._asked({"create": True})
        if "error" in answer:
            raise self._refused(answer)
        self.names.append(str(answer["name"]))
        return self.names[-1]

    def adopt(self, names: Sequence[str]) -> None:
        """Drop these, which another keeper made that is dead, now or at the end."""
        for name in names:
            self.names.append(name)
            self._asked({"adopt": name})
            self.drop(name)

    def drop(self, name: str) -> None:
        """Drop a database that was made here; one that cannot be is dropped at the end."""
        with contextlib.suppress(EngineLost):
            if "error" not in self._asked({"drop": name}) and name in self.names:
                self.names.remove(name)

    def close(self) -> None:
        """Have it drop what is left, and end."""
        assert self._process.stdin is not None and self._process.stdout is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        self._process.stdout.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(ANSWER_S)

    def forget(self) -> None:
        """Let go of it in a process that was forked from its owner."""
        assert self._process.stdin is not None and self._process.stdout is not None
        os.close(self._process.stdin.fileno())
        os.close(self._process.stdout.fileno())
        self._process.returncode = 0

    def _asked(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request; one that nobody waited for, after an interrupt, is left."""
        assert self._process.stdin is not None
        self._number += 1
        try:
            line = json.dumps({"id": self._number, **request})
            self._process.stdin.write(line.encode("ascii") + b"\n")
            self._process.stdin.flush()
            while True:
                answer: dict[str, Any] = json.loads(self._line())
                if answer["id"] == self._number:
                    return answer
        except OSError as error:
            raise self._died() from error

    def _died(self) -> EngineLost:
        self.dead = True
        return EngineLost(f"{self._name}: the keeper of its databases ended")

    def _line(self) -> bytes:
        assert self._process.stdout is not None
        reading = self._process.stdout.fileno()
        while b"\n" not in self._buffer:
            if not select.select([reading], [], [], ANSWER_S)[0]:
                raise EngineLost(f"{self._name} did not make or drop a database in time")
            data = os.read(reading, 2**16)
            if not data:
                raise self._died()
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def _refused(self, answer: dict[str, Any]) -> UsageError:
        message = str(answer["message"]).strip()
        if answer["missing"]:
            return _missing(self._name, self._driver, message)
        return EngineUnreachable(
            f"{self._name}: {message}",
            thing="--engine",
            value=self._name,
            next_step="name a server that runs, and a user who may make databases there; the "
            "password stands in the URL, or in PGPASSWORD or MYSQL_PWD",
        )


_keepers: dict[str, Keeper] = {}


def keeper_of(url: str, driver: Driver) -> Keeper:
    """The keeper of a server, started once in each process, and again if it died."""
    found = _keepers.get(url)
    if found is None or found.dead:
        _keepers[url] = made = Keeper(url, driver)
        if found is not None:
            found.close()
            made.adopt(found.names)
    return _keepers[url]


def _missing(name: str, driver: Driver, message: str) -> EngineMissing:
    return EngineMissing(
        f"engine {name} needs a driver: {message}",
        thing="--engine",
        value=name,
        next_step=f"pip install '{driver.install}'",
    )


def close_keepers() -> None:
    """Have all keepers drop what is left, and end."""
    while _keepers:
        _keepers.popitem()[1].close()


def _forget() -> None:
    while _keepers:
        _keepers.popitem()[1].forget()


atexit.register(close_keepers)
os.register_at_fork(after_in_child=_forget)
