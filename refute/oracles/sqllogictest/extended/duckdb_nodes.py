"""What DuckDB's files say besides records: the nodes that only its dialect has.

Source: DuckDB's runner, test/sqlite/sqllogic_test_runner.cpp and sqllogic_command.cpp, and the
pages "sqllogictest" of its documentation.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

from refute.oracles.sqllogictest.extended.program import Loop, Node
from refute.oracles.sqllogictest.reader import Conditions

SKIPPED = "mode"
"""Kind of a condition that holds for no engine; what stands beside it is the reason."""


class Comparison(NamedTuple):
    """A condition on the value of a loop, as in `skipif i>=2`."""

    name: str
    operator: str
    value: str


def comparison(text: str) -> Comparison | None:
    """The condition on a loop that the text is; None for the name of an engine."""
    for operator in ("<>", ">=", ">", "<=", "<", "="):
        name, found, value = text.partition(operator)
        if found:
            return Comparison(name.strip(), operator, value.strip())
    return None


@dataclasses.dataclass(frozen=True)
class Each(Loop):
    """`loop` or `foreach`; parallel: `concurrentloop` or `concurrentforeach`.

    name: of one variable, or of several with commas between them, and then values have as many.
    A value `<variable:name>` stands for the members of a list that the engine holds.
    """

    parallel: bool = False


@dataclasses.dataclass(frozen=True)
class Continue(Node):
    """The rest of this round of the innermost loop is left out."""

    conditions: Conditions = ()


@dataclasses.dataclass(frozen=True)
class Guarded(Node):
    """A node for the engines that `conditions` let through."""

    conditions: Conditions
    node: Node

    @property
    def body(self) -> tuple[Node, ...]:
        """The node, as the only one within."""
        return (self.node,)


@dataclasses.dataclass(frozen=True)
class Require(Node):
    """What must be there for the rest of the file: an extension, a platform, a build."""

    words: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class RequireEnvironment(Node):
    """A variable of the environment that must be set; value: to this, None for anything."""

    name: str
    value: str | None


@dataclasses.dataclass(frozen=True)
class TestEnvironment(Node):
    """A variable with a value that is used unless the environment has another."""

    name: str
    value: str


@dataclasses.dataclass(frozen=True)
class Variable(Node):
    """`set variable`: from here on `{name}` is the value."""

    name: str
    value: str


@dataclasses.dataclass(frozen=True)
class Load(Node):
    """The database is the file at `database` from here on, anew unless it is only read.

    database: empty for one in memory. version: of the file's format; empty for the engine's own.
    """

    database: str
    readonly: bool
    version: str


@dataclasses.dataclass(frozen=True)
class Restart(Node):
    """The database is closed and opened again. extensions: those that were loaded are again."""

    extensions: bool


@dataclasses.dataclass(frozen=True)
class Reconnect(Node):
    """The default connection is closed and opened again."""


@dataclasses.dataclass(frozen=True)
class Unzip(Node):
    """A gzip file is unpacked. target: empty for the test directory."""

    source: str
    target: str


@dataclasses.dataclass(frozen=True)
class Tags(Node):
    """Words by which files are chosen."""

    words: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Messages(Node):
    """Parts of error messages. ignored: an error with one ends the file; else it always fails."""

    ignored: bool
    parts: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Seed(Node):
    """The seed of the engine's random numbers."""

    value: str


@dataclasses.dataclass(frozen=True)
class ResetLabel(Node):
    """The result of this label is forgotten."""

    label: str
