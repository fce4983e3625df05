"""Running files of DuckDB's dialect: what their directives mean.

As DuckDB's runner does, where docs/conform.md does not say otherwise. An engine in a worker answers
with DuckDB's own texts (`conform_duckdb_worker`); any other with the values of its driver, and is
asked one statement after the other where a concurrent loop wants them at once.
"""

from __future__ import annotations

import contextlib
import gzip
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from refute.errors import Unsupported
from refute.oracles.sqllogictest.expect import Mismatch
from refute.oracles.sqllogictest.extended.duckdb_lists import expanded
from refute.oracles.sqllogictest.extended.duckdb_nodes import (
    Continue,
    Each,
    Guarded,
    Load,
    Messages,
    Reconnect,
    Require,
    RequireEnvironment,
    ResetLabel,
    Restart,
    Seed,
    Tags,
    TestEnvironment,
    Unzip,
    Variable,
)
from refute.oracles.sqllogictest.extended.match import said
from refute.oracles.sqllogictest.extended.program import (
    Control,
    Include,
    Node,
    Place,
    Query,
    Record,
    Sleep,
    Statement,
)
from refute.verifiers.sql.conform_duckdb_records import Records
from refute.verifiers.sql.conform_duckdb_require import Malformed, unmet
from refute.verifiers.sql.conform_script import Ended

_VARIABLE = re.compile(r"<variable:(?:(\w+):)?(\w+)>")
_NAMED = re.compile(r"\{|__")  # what could stand for something else is in a text with one of these


class _Round(Exception):
    """The rest of this round of a loop is left out."""


class DuckDBRun(Records):
    """One run of one file of DuckDB's dialect."""

    def handlers(self) -> dict[type[Node], Callable[[Any], None]]:
        """What is done at each type of node."""
        return super().handlers() | {
            Each: self.each,
            Continue: self.leave_out,
            Guarded: self.guarded,
            Require: self.require,
            RequireEnvironment: self.require_environment,
            TestEnvironment: self.test_environment,
            Variable: self.variable,
            Load: self.load,
            Restart: self.restart,
            Reconnect: self.reconnect,
            Unzip: self.unzip,
            Tags: self.nothing,
            Messages: self.messages,
            Seed: self.seed,
            ResetLabel: self.reset_label,
        }

    # Loops.

    def each(self, node: Each) -> None:
        """Run the body once for each value, or all rounds at once."""
        values = self._values(node)
        if node.parallel:
            self._together(node, values)
            return
        for value in values:
            self.bound[node.name] = value
            with contextlib.suppress(_Round):
                self.nodes(node.body)
        self.bound.pop(node.name, None)

    def leave_out(self, node: Continue) -> None:
        """End this round of the innermost loop."""
        if self.runs(node.conditions):
            raise _Round

    def guarded(self, node: Guarded) -> None:
        """Do what stands behind the conditions."""
        if self.runs(node.conditions):
            self.nodes([node.node])

    def _values(self, node: Each) -> Sequence[str]:
        """The values of a loop, with the members of lists that the engine holds."""
        if not any(value.startswith("<variable:") for value in node.values):
            return node.values
        values: list[str] = []
        for value in node.values:
            asked = _VARIABLE.fullmatch(value)
            if asked is None:
                values.append(value)
                continue
            sql = f"SELECT CAST(unnest(getvariable('{asked[2]}')) AS VARCHAR)"
            answer = self.engine.answer_on(asked[1] or "", sql)
            if answer[0] != "rows" or not answer[2]:
                raise Unsupported(f"{node.place}: {value} is no list with values")
            values += [str(row[0]) for row in answer[2]]
        return expanded(values)

    def _together(self, node: Each, values: Sequence[str]) -> None:
        """Run all rounds at once, then judge them in order."""
        rounds: list[list[tuple[Record, dict[str, str]]]] = []
        for value in values:
            self.bound[node.name] = value
            rounds.append(list(self._flat(node.body)))
        self.bound.pop(node.name, None)
        outer = dict(self.bound)
        answers = iter(self._asked_at_once(rounds))
        for steps in rounds:
            for record, bound in steps:
                self.bound = dict(bound)
                self._judge_later(record, answers)
        self.bound = outer

    def _judge_later(self, record: Record, answers: Iterator[Sequence[Any]]) -> None:
        """As `record`, for one that was run already, unless it was left out."""
        if not self._left_out(record) and self.runs(record.conditions):
            self.come = next(answers)
        self.record(record)
        self.come = None

    def _left_out(self, record: Record) -> bool:
        """Whether a record is not among those that are to be run."""
        narrowed = self.narrowed
        return narrowed is not None and not narrowed.picks(record) and narrowed.leaves_out(record)

    def _flat(self, nodes: Sequence[Node]) -> Iterator[tuple[Record, dict[str, str]]]:
        """The records of one round of a concurrent loop, with what the loops stand at."""
        for node in nodes:
            if isinstance(node, Each) and not node.parallel:
                for value in self._values(node):
                    self.bound[node.name] = value
                    yield from self._flat(node.body)
                self.bound.pop(node.name, None)
            elif isinstance(node, Include):
                yield from self._flat(node.body)
            elif isinstance(node, (Statement, Query)) and not node.connection:
                yield node, dict(self.bound)
            elif not isinstance(node, Sleep):
                what = "a named connection" if isinstance(node, Record) else type(node).__name__
                raise Unsupported(f"{node.place}: {what} in a concurrent loop")

    def _asked_at_once(
        self, rounds: Sequence[Sequence[tuple[Record, dict[str, str]]]]
    ) -> Sequence[Sequence[Any]]:
        """The answers to all rounds, the first one's first; turn by turn where they must be."""
        serial = self.serial  # a text is put together again when its answer is judged
        written: list[list[str]] = []
        for steps in rounds:
            written.append([])
            for record, bound in steps:
                self.bound, before = dict(bound), self.bound
                if not self._left_out(record) and self.runs(record.conditions):
                    written[-1].append(self.text(getattr(record, "sql", "")))
                self.bound = before
        self.serial = serial
        if self.texts is not None:
            return self.texts.together(written)
        answers: list[list[Sequence[Any]]] = [[] for _ in written]
        for turn in range(max(map(len, written), default=0)):
            for at, sqls in enumerate(written):
                if turn < len(sqls):
                    answers[at].append(self.engine.answer_on(f"round {at}", sqls[turn]))
        return [answer for answered in answers for answer in answered]

    # Other directives.

    def control(self, node: Control) -> None:
        """Modes change what DuckDB's runner prints; results are compared in all of them."""

    def require(self, node: Require) -> None:
        """Leave the rest out unless the engine has what is required."""
        try:
            why = unmet(node.words, lambda sql: self.engine.answer_on("", sql), self._extension)
        except Malformed as error:
            raise Unsupported(f"{node.place}: {error}") from None
        if why:
            self.leave(f"require {' '.join(node.words)}: {why}")

    def _extension(self, name: str) -> Sequence[Any]:
        if self.texts is not None:
            return self.texts.extension(name)
        return self.engine.answer_on("", f"LOAD {name}")

    def require_environment(self, node: RequireEnvironment) -> None:
        """Leave the rest out unless the environment has the variable."""
        value = self.environment(node.name)
        wanted = f"require-env {node.name}{'' if node.value is None else f' {node.value}'}"
        if value is None or node.value not in (None, value):
            self.leave(f"{wanted}: {'it is not set' if value is None else f'it is {value!r}'}")
        assert value is not None
        self.variables[node.name] = value

    def test_environment(self, node: TestEnvironment) -> None:
        """Note a variable with its value."""
        value = self.environment(node.name)
        self.variables[node.name] = node.value if value is None else value

    def variable(self, node: Variable) -> None:
        """Note a variable with its value, which the engine may hold."""
        asked = _VARIABLE.fullmatch(node.value)
        if asked is None:
            self.variables[node.name] = node.value
            return
        sql = f"SELECT CAST(getvariable('{asked[2]}') AS VARCHAR)"
        answer = self.engine.answer_on(asked[1] or "", sql)
        if answer[0] != "rows" or not answer[2] or answer[2][0][0] is None:
            raise Unsupported(f"{node.place}: {node.value} has no value")
        self.variables[node.name] = str(answer[2][0][0])

    def messages(self, node: Messages) -> None:
        """Note parts of messages that end the file, or always fail."""
        if node.ignored:
            self.ignored = node.parts
        else:
            self.always_fail = node.parts

    def seed(self, node: Seed) -> None:
        """Seed the engine's random numbers."""
        answer = self.engine.answer_on("", f"SELECT setseed({node.value})")
        if answer[0] not in ("rows", "done"):
            raise Unsupported(f"{node.place}: the seed cannot be set: {said(answer)}")

    def reset_label(self, node: ResetLabel) -> None:
        """Forget a label's result."""
        if self.labels.pop(node.label, None) is None:
            raise Unsupported(f"{node.place}: no result of label {node.label} so far")

    def load(self, node: Load) -> None:
        """Go on in another database."""
        path = self.text(node.database)
        if self.texts is None:
            self.engine.restart(path or "memory")
            return
        self._must(node.place, f"load {path}", self.texts.load(path, node.readonly, node.version))

    def restart(self, node: Restart) -> None:
        """Open the same database again."""
        if self.texts is None:
            self.engine.restart()
            return
        self._must(node.place, "restart", self.texts.reopen(extensions=node.extensions))

    def reconnect(self, node: Reconnect) -> None:
        """Open the default connection again."""
        self.engine.reconnect("")

    def unzip(self, node: Unzip) -> None:
        """Unpack a file where the engine sees it."""
        name = self.text(node.source)
        target = Path(self.text(node.target) or f"{self.test_folder()}/{Path(name).stem}")
        if self.texts is not None:
            answer = self.texts.unzip(name, str(target))
            if answer[0] != "done":
                raise Unsupported(f"{node.place}: {name} cannot be unpacked: {said(answer)}")
            return
        source = Path(self.root, name)
        try:
            target.write_bytes(gzip.decompress(source.read_bytes()))
        except (OSError, EOFError) as error:
            problem = f"{node.place}: {source} cannot be unpacked: {error}"
            raise Unsupported(problem) from None

    def _must(self, place: Place, what: str, answer: Sequence[Any]) -> None:
        """Note a failure, and end the file, when a database could not be opened."""
        if answer[0] == "done":
            return
        failed = Statement(place, sql=what)
        self.failed(failed, Mismatch("no error", said(answer), "error"))
        self.result.not_run = self._rest() - 1
        raise Ended
