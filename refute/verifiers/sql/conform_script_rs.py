"""Running files of sqllogictest-rs: what their directives and variables mean."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from refute.errors import UsageError
from refute.oracles.sqllogictest.expect import Mismatch
from refute.oracles.sqllogictest.extended.match import (
    judge_error,
    judge_statement,
    kind_of,
    said,
    shown,
)
from refute.oracles.sqllogictest.extended.program import (
    Control,
    Fails,
    Let,
    Node,
    Program,
    Query,
    Record,
    Statement,
    System,
)
from refute.oracles.sqllogictest.extended.rs_rows import Modes, judge_query
from refute.oracles.sqllogictest.extended.rs_text import texts_of
from refute.oracles.sqllogictest.extended.substitution import NotSubstituted, substituted
from refute.verifiers.sql.conform_file import CHUNK, Run
from refute.verifiers.sql.conform_script import ScriptRun, records_of
from refute.verifiers.sql.conform_script_system import Shell
from refute.verifiers.sql.conform_task import ENVIRONMENT

SUBSTITUTION = "substitution"  # the type of an error that is the file's and not the engine's
ALIASES = {"postgresql": ("postgres",), "mariadb": ("mysql",)}
"""What sqllogictest-rs calls engines that go by another name here."""

_DATABASE = ("SELECT current_database()", "SELECT database()")
_SPECIAL = re.compile(r"\$\{?__(?:TEST_DIR|NOW|DATABASE)__\}?")


class RsRun(ScriptRun):
    """One run of one file of sqllogictest-rs."""

    def __init__(self, run: Run, program: Program, hash_seed: int) -> None:
        super().__init__(run, program, hash_seed)
        self.modes = Modes(
            strict=run.rules.strict,
            as_datafusion=run.name == "datafusion",
            spelled=run.name in ("datafusion", "duckdb"),
        )
        self.substitutes = False
        self._shell = Shell()
        # On one connection statements can be sent many at once, as in `conform_file`.
        self._alone = not any(record.connection for record in records_of(program.nodes))
        self._ahead: Iterator[Sequence[Any]] = iter(())
        self._sent = 0  # records from the current one on whose answers are `_ahead`
        own = (run.name, *ALIASES.get(run.name, ()), *run.rules.labels)
        self._names = frozenset(name.lower() for name in own)

    def names(self) -> frozenset[str]:
        """What the engine is called, and the labels that were given."""
        return self._names

    def nodes(self, nodes: Sequence[Node]) -> None:
        """Run them one after the other; the statements of records that can be are sent ahead."""
        for at, node in enumerate(nodes):
            if self._alone and not self._sent and self._goes_ahead(node):
                self._send(nodes[at : at + CHUNK])
            super().nodes((node,))

    def _goes_ahead(self, node: Node) -> bool:
        """Whether the record's text is known and nothing but itself decides when it is run."""
        plain = isinstance(node, Statement | Query) and node.retry is None
        return plain and not self.substitutes and self.narrowed is None

    def _send(self, nodes: Sequence[Node]) -> None:
        """Send the statements of the next records, up to one that has to wait."""
        left = self.until - self.number
        statements: list[str] = []
        for node in nodes:
            if left <= 0 or not self._goes_ahead(node):
                break
            assert isinstance(node, Statement | Query)
            left -= 1
            if self.runs(node.conditions):
                statements.append(node.sql)
        self._sent = len(statements)
        self._ahead = iter(self.engine.answers(statements))

    def ask(self, connection: str, sql: str) -> Sequence[Any]:
        """The engine's answer, which may have been sent for ahead."""
        if not self._alone:
            return self.engine.answer_on(connection, sql)
        if self._sent:
            self._sent -= 1
            return next(self._ahead)
        return next(iter(self.engine.answers([sql])))

    def control(self, node: Control) -> None:
        """Note what holds from here on."""
        match node.name:
            case "sortmode":
                self.modes = self.modes._replace(sort=node.value)
            case "resultmode":
                self.modes = self.modes._replace(by_value=node.value == "valuewise")
            case _:
                self.substitutes = node.value == "on"

    def once(self, record: Record) -> Mismatch | None:
        """Run and judge a record once."""
        if isinstance(record, System):
            return self._system(record)
        assert isinstance(record, Statement | Query | Let)
        try:
            sql = self.written(record.sql)
        except NotSubstituted as error:
            return _unsubstituted(record, error)
        answer = self.answer(record, sql)
        if isinstance(record, Let):
            return self._let(record, answer)
        if isinstance(record, Statement):
            return judge_statement(record.expects, answer, sql)
        if isinstance(record.expects, Fails):
            return judge_error(record.expects, answer)
        return judge_query(record, answer, self.modes)

    def written(self, sql: str) -> str:
        """The text with variables in their places. Raises NotSubstituted."""
        return substituted(sql, self._variable) if self.substitutes else sql

    def _variable(self, name: str) -> str | None:
        """The value of a variable: of `let`, a special one, or one of the environment."""
        special: dict[str, Callable[[], str | None]] = {
            "__TEST_DIR__": self.test_directory,
            "__NOW__": lambda: str(time.time_ns()),
            "__DATABASE__": self._database,
        }
        if name in self.variables:
            return self.variables[name]
        return special[name]() if name in special else self.environment(name)

    def _database(self) -> str | None:
        """The name of the database in use; None where the engine has no word for it."""
        for sql in _DATABASE:
            answer = self.ask("", sql)
            if answer[0] == "rows" and len(answer[2]) == 1:
                return str(answer[2][0][0])
        return None

    def _let(self, record: Let, answer: Sequence[Any]) -> Mismatch | None:
        """Keep the values of the only row."""
        wanted = f"1 row of {len(record.names)} for {', '.join(record.names)}"
        if answer[0] != "rows":
            return Mismatch(wanted, said(answer), kind_of(answer))
        rows = texts_of(answer)
        if len(rows) != 1 or len(answer[1]) != len(record.names):
            return Mismatch(wanted, f"{len(rows)} rows of {len(answer[1])}", "values")
        self.variables.update(zip(record.names, rows[0], strict=True))
        return None

    def check(self) -> None:
        """Refuse commands that would run and are not allowed. Raises UsageError."""
        if self.run.rules.allow_system:
            return
        for record in records_of(self.program.nodes):
            if isinstance(record, System) and self.runs(record.conditions):
                raise UsageError(
                    f"{record.place}: `system` runs a command on this machine, which is allowed "
                    f"with --allow-system: {shown(record.command)}",
                    thing="--allow-system",
                    value=record.command,
                    next_step="read what the file runs; then give --allow-system",
                )

    def close(self) -> None:
        """End what the file left in the background."""
        self._shell.close()

    def _system(self, record: System) -> Mismatch | None:
        """Run a command of the shell and judge it."""
        self.result.reads[ENVIRONMENT] = "what a command finds"
        command = record.command
        if self.substitutes:  # the shell knows the environment's variables itself
            for name in _SPECIAL.findall(command):
                command = command.replace(name, self._variable(name.strip("${}")) or "")
        wanted = "a command that succeeds"
        if record.stdout is not None:
            wanted = f"the output {shown(record.stdout) or '(none)'}"
        ended = self._shell.run(command, self.run.rules.timeout_s)
        if ended.code is None:
            return Mismatch(wanted, "a command that did not end in time", "hang")
        if ended.code:
            got = f"exit code {ended.code}, {shown(ended.error) or 'nothing on stderr'}"
            return Mismatch(wanted, got, "error")
        if record.stdout is None or ended.out.strip() == record.stdout:
            return None
        return Mismatch(wanted, f"the output {shown(ended.out) or '(none)'}", "values")


def _unsubstituted(record: Statement | Query | Let, error: NotSubstituted) -> Mismatch | None:
    """A variable that is not there is an error that a file may expect, if it says which."""
    answer = ("error", SUBSTITUTION, str(error))
    expects = None if isinstance(record, Let) else record.expects
    if isinstance(expects, Fails) and (expects.pattern or expects.message is not None):
        return judge_error(expects, answer)
    return Mismatch("a value for each variable", said(answer), "error")
