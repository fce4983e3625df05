"""Engines with one planted defect or several, and runs on the queries that show them."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator, Sequence
from typing import Any

from measured_oracles import Engine, breaks, kept
from planted_results import CLASSES, Class
from sqlglot import exp

from refute.fuzz.sql.text import Node, look
from refute.oracles.sql.partial.question import Case
from refute.oracles.sql.partial.written import text_of, tree_of
from refute.verifiers.sql.conform_run import Choice
from refute.verifiers.sql.fuzz_oracles import ORACLES, made
from refute.verifiers.sql.fuzz_plan import Finding, FuzzRun, Plan
from refute.verifiers.sql.fuzz_run import fuzz
from refute.verifiers.sql.fuzz_seeds import SeedScript


class Planted:
    """An engine with defects, in the process that asks it, so that a new one costs little."""

    version = ""

    def __init__(self, planted: Class) -> None:
        self._planted = planted
        self._engine: Engine | None = None

    def start(self, hash_seed: int) -> None:
        """Begin with an empty database."""
        self.close()
        self._engine = Engine(self._planted, ())

    def again(self) -> None:
        """Begin with an empty database."""
        self.start(0)

    def answers(self, statements: Sequence[str]) -> Iterator[Sequence[Any]]:
        """One answer for each statement."""
        for sql in statements:
            yield self._answer(sql)

    def _answer(self, sql: str) -> Sequence[Any]:
        assert self._engine is not None
        if not isinstance(look(sql), exp.Query) and self._planted.setup is not None:
            sql = self._planted.setup(sql)
        answer = self._engine.ask(sql)
        if not isinstance(look(sql), exp.Query):
            self._engine.setup.append(sql)
        return answer

    def close(self) -> None:
        """Let the database go."""
        if self._engine is not None:
            self._engine.close()
            self._engine = None


@dataclasses.dataclass(frozen=True)
class Defects(Choice):
    """The choice of an engine with these defects; several must all change queries."""

    names: tuple[str, ...] = ()

    def open(self) -> Any:
        """The engine."""
        parts = [CLASSES[name] for name in self.names]
        nodes = tuple(node for part in parts for node in part.nodes)
        several = Class("several", "several", nodes, query=functools.partial(_change, parts))
        return Planted(parts[0] if len(parts) == 1 else several)


def _change(parts: Sequence[Class], tree: Node, setup: Sequence[str]) -> bool:
    kinds = {type(node) for node in tree.walk()}
    changed = False
    for part in parts:
        if part.query is not None and part.applies(kinds):
            changed = part.query(tree, setup) or changed
    return changed


def run_with(*names: str, most: int = 6, oracles: Sequence[str] = ()) -> FuzzRun:
    """What a run finds in an engine with these defects, begun from queries that show them."""
    cases = [case for name in names for case in kept()[name][:most]]
    return run_on([(*case.setup, text_of(case.query)) for case in cases], *names, oracles=oracles)


def run_on(scripts: Sequence[tuple[str, ...]], *names: str, oracles: Sequence[str] = ()) -> FuzzRun:
    """What a run finds in an engine with these defects, begun from scripts."""
    seeds = tuple(SeedScript("given", script) for script in scripts)
    choice = Defects("planted", "planted", 5.0, names=names)
    return fuzz(Plan(choice, tuple(oracles or ORACLES), programs=0, seeds=seeds))


def shows(finding: Finding, name: str) -> bool:
    """Whether an engine with this one defect alone fails as the finding says."""
    engine = Engine(CLASSES[name], finding.setup)
    case = Case(finding.setup, tree_of(finding.query), 0)
    try:
        return breaks(made(finding.oracle), case, engine)
    finally:
        engine.close()
