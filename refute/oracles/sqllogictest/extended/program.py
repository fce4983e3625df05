"""The syntax of extended sqllogictest files: nodes in the order of the file, each with its place.

Nodes say what the file says and nothing of how it is run, so that an interpreter, a reducer and an
update of the file share them. A dialect adds nodes of its own by deriving from `Node` (or from
`Record`, when an engine is asked something); an interpreter refuses a node it does not know.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

from refute.oracles.sqllogictest.reader import Conditions


class Place(NamedTuple):
    """Where a node begins. path: of the file that it stands in, which may be an included one."""

    path: str
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


class Sign(NamedTuple):
    """A line that only one dialect has. what: the words that show it."""

    line: int
    what: str


@dataclasses.dataclass(frozen=True)
class Node:
    """Anything that a file says."""

    place: Place


@dataclasses.dataclass(frozen=True)
class Retry:
    """How often something is tried, and the seconds between two tries."""

    attempts: int
    backoff_s: float


@dataclasses.dataclass(frozen=True)
class Succeeds:
    """A statement has to succeed. rows: so many it must affect or return; -1: not said."""

    rows: int = -1


@dataclasses.dataclass(frozen=True)
class Fails:
    """A statement or query has to fail.

    At most one of these is given. pattern: a regular expression that the message must contain.
    message: the whole message. part: a text that the message must contain. state: the SQLSTATE.
    """

    pattern: str = ""
    message: str | None = None
    part: str = ""
    state: str = ""


@dataclasses.dataclass(frozen=True)
class Either:
    """A statement may succeed, or fail as `fails` says (DuckDB's `statement maybe`)."""

    fails: Fails = Fails()


@dataclasses.dataclass(frozen=True)
class Returns:
    """A query has to return these lines, as the file has them; None when it lists none."""

    lines: tuple[str, ...] | None = None


@dataclasses.dataclass(frozen=True)
class Record(Node):
    """Something that is done and judged, for the engines that `conditions` let through.

    connection: its name; empty for the default one. retry: None when it is tried once.
    """

    conditions: Conditions = ()
    connection: str = ""
    retry: Retry | None = None


@dataclasses.dataclass(frozen=True)
class Statement(Record):
    """SQL whose result does not matter, only whether it succeeds."""

    sql: str = ""
    expects: Succeeds | Fails | Either = Succeeds()


@dataclasses.dataclass(frozen=True)
class Query(Record):
    """SQL with a result. types: a letter for each column, empty when not said.

    sort: one of `reader.SORTS`; empty for the file's. label: empty for none. names: of the columns;
    empty when not said.
    """

    sql: str = ""
    types: str = ""
    sort: str = ""
    label: str = ""
    expects: Returns | Fails = Returns()
    names: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Let(Record):
    """SQL that returns one row, whose values become those of variables."""

    names: tuple[str, ...] = ()
    sql: str = ""


@dataclasses.dataclass(frozen=True)
class System(Record):
    """A command of the shell that must succeed. stdout: what it must write; None: anything."""

    command: str = ""
    stdout: str | None = None


@dataclasses.dataclass(frozen=True)
class Control(Node):
    """From here on, `name` (sortmode, resultmode, substitution, …) is `value`."""

    name: str
    value: str


@dataclasses.dataclass(frozen=True)
class HashThreshold(Node):
    """Results of more values than `number` are hashed in the file; 0 for none."""

    number: int


@dataclasses.dataclass(frozen=True)
class Sleep(Node):
    """Wait so long."""

    seconds: float


@dataclasses.dataclass(frozen=True)
class Subtest(Node):
    """A name for what follows."""

    name: str


@dataclasses.dataclass(frozen=True)
class Halt(Node):
    """Here the file ends, for the engines that `conditions` let through."""

    conditions: Conditions = ()


@dataclasses.dataclass(frozen=True)
class Include(Node):
    """What other files say, in the order of their names. pattern: as the file has it."""

    pattern: str
    body: tuple[Node, ...]


@dataclasses.dataclass(frozen=True)
class Loop(Node):
    """The body once for each of the values, which stand for the name in it."""

    name: str
    values: tuple[str, ...]
    body: tuple[Node, ...]


@dataclasses.dataclass(frozen=True)
class Program:
    """A whole file. dialect: a key of `dialects.READERS`.

    reads: other files that it is made of, each with its SHA-256. tags: those of the file.
    """

    path: str
    dialect: str
    nodes: tuple[Node, ...]
    reads: tuple[tuple[str, str], ...] = ()
    tags: tuple[str, ...] = ()
