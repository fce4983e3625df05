"""Which oracle sees which class of wrong results, in how many queries.

The queries are kept in a file (`tests/cases/sql/oracle_queries.json`), drawn from the generator by
`benchmarks/bench_oracles.py --draw`, so that the figures change with the oracles only: for each
class the first `QUERIES` generated queries which that class answers wrongly, or databases in which
it stores something wrong. Each oracle asks its questions about them, of an engine with that class
planted.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from planted_results import CLASSES, Answer, Class, kinds_of, wrong_text

from refute.fuzz.sql.text import Node, look, read, write
from refute.oracles.sql.partial.question import Case, Oracle, Question
from refute.verifiers.sql.fuzz_oracles import ORACLES, opened

FILE = Path(__file__).parents[1] / "cases" / "sql" / "oracle_queries.json"
QUERIES = 6
STEPS = 2_000_000
SOUND = Class("", "nothing")


class Engine:
    """SQLite with one class of wrong results, answering in the driver's form."""

    def __init__(self, planted: Class, setup: Sequence[str]) -> None:
        self.planted = planted
        self.setup = list(setup)
        self.start()

    def start(self) -> None:
        """Begin with a new database."""
        self._database = sqlite3.connect(":memory:", isolation_level=None)
        change = self.planted.setup
        for sql in self.setup:
            self._run(sql if change is None else change(sql))

    def ask(self, sql: str) -> Answer:
        """The answer of the engine."""
        tree = look(sql)
        if tree is not None and self.planted.answer is not None:
            other = self.planted.answer(tree)
            if other is not None:
                return other
        found = self._run(wrong_text(self.planted, sql, self.setup))
        if found[0] == "error":
            found = self._run(sql)
        if found[0] == "rows" and tree is not None and self.planted.rows is not None:
            found[2] = self.planted.rows(tree, found[2])
        return found

    def _run(self, sql: str) -> Answer:
        left = [STEPS // 1000]

        def over() -> int:
            left[0] -= 1
            return int(left[0] < 0)

        self._database.set_progress_handler(over, 1000)
        try:
            cursor = self._database.execute(sql)
            if cursor.description is None:
                return ["done"]
            names = [column[0] for column in cursor.description]
            return ["rows", names, [list(row) for row in cursor.fetchall()]]
        except (sqlite3.Error, sqlite3.Warning) as error:
            return ["error", f"sqlite3.{type(error).__name__}", str(error)]

    def close(self) -> None:
        """Let the database go."""
        self._database.close()


@dataclasses.dataclass
class Seen:
    """Of one class: how many queries there were, and in how many each oracle saw it."""

    queries: int
    by: dict[str, int]


@functools.cache
def kept() -> dict[str, tuple[Case, ...]]:
    """The kept queries of each class."""
    data = json.loads(FILE.read_text(encoding="utf-8"))
    found: list[Case] = []
    for number, program in enumerate(data["programs"]):
        setup = tuple(program["setup"])
        for place, text in enumerate(program["queries"]):
            tree = look(text)
            assert tree is not None
            found.append(Case(setup, tree, seed=1000 * number + place))
    return {name: tuple(found[i] for i in places) for name, places in data["shown"].items()}


def shows(planted: Class, setup: Sequence[str], text: str, sound: Engine) -> bool:
    """Whether the class gives other rows for a query, or stores others. sound: SQLite itself."""
    tree = look(text)
    assert tree is not None
    if planted.answer is not None:
        return not planted.nodes or planted.answer(tree) is not None
    if planted.setup is not None:
        return _stores(planted, setup, text, sound)
    if not planted.applies(kinds_of(tree)):
        return False
    other = wrong_text(planted, text, setup)
    if planted.query is not None and other == text:
        return False
    right, wrong = sound.ask(text), sound.ask(other)
    if planted.rows is not None and wrong[0] == "rows":
        wrong = [*wrong[:2], planted.rows(tree, wrong[2])]
    if "error" in (right[0], wrong[0]):
        return False
    ordered = tree.args.get("order") is not None
    return _comparable([right], ordered) != _comparable([wrong], ordered)


def table_queries(setup: Sequence[str]) -> list[Node]:
    """Queries that show all there is in each table that the setup leaves."""
    engine = Engine(SOUND, setup)
    found = engine.ask("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid")
    engine.close()
    trees = [read(f'SELECT * FROM "{row[0]}"') for row in found[2]]
    return [tree for tree in trees if tree is not None]


def _stores(planted: Class, setup: Sequence[str], text: str, sound: Engine) -> bool:
    assert planted.setup is not None
    if all(planted.setup(sql) == sql for sql in setup):
        return False
    engine = Engine(planted, setup)
    queries = [text, *(write(query) for query in table_queries(setup))]
    answers = [[each.ask(sql) for sql in queries] for each in (sound, engine)]
    engine.close()
    return _comparable(answers[0], False) != _comparable(answers[1], False)


def _comparable(answers: Sequence[Answer], ordered: bool) -> list[Any]:
    rows = [list(map(repr, a[2])) for a in answers if a[0] == "rows"]
    return rows if ordered else list(map(sorted, rows))


def measured(
    names: Iterable[str] | None = None, most: int = QUERIES, oracles: Sequence[Oracle] | None = None
) -> dict[str, Seen]:
    """What each oracle sees of the classes."""
    chosen = list(opened(ORACLES)) if oracles is None else list(oracles)
    found = {}
    for name in CLASSES if names is None else names:
        seen = Seen(0, {oracle.name: 0 for oracle in chosen})
        for case in kept()[name][:most]:
            seen.queries += 1
            engine = Engine(CLASSES[name], case.setup)
            for oracle in chosen:
                seen.by[oracle.name] += breaks(oracle, case, engine)
            engine.close()
        found[name] = seen
    return found


def breaks(oracle: Oracle, case: Case, engine: Engine) -> bool:
    """Whether an oracle sees something wrong in what the engine answers about a query."""
    queries = [case.query]
    if engine.planted.setup is not None:
        queries = [*table_queries(case.setup), *queries]
    for query in queries:
        for question in oracle.questions(dataclasses.replace(case, query=query)):
            if _answered(question, engine) == "broken":
                return True
    return False


def _answered(question: Question, engine: Engine) -> str:
    answers = [engine.ask(_text(s)) for s in question.statements]
    status = question.judge(answers).status
    for statement in question.undo:
        engine.ask(_text(statement))
    if question.changes:
        engine.close()
        engine.start()
    return status


def _text(statement: Any) -> str:
    return statement if isinstance(statement, str) else write(statement)


def table(found: dict[str, Seen]) -> list[str]:
    """The table, as Markdown."""
    names = list(ORACLES)
    lines = [
        f"| planted | queries | {' | '.join(f'`{n}`' for n in names)} |",
        f"|---|{'---:|' * (len(names) + 1)}",
    ]
    for name, seen in found.items():
        counts = [str(seen.by[n] or "·") for n in names]
        lines.append(f"| {CLASSES[name].says} | {seen.queries} | {' | '.join(counts)} |")
    return lines
