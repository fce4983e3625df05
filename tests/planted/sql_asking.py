"""Asks an oracle about generated queries of an engine in this process.

An engine is a function from statements to answers in the driver's form. Its database is new for
each program, and whenever a question has changed it.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from refute.fuzz.sql.grammar import Grammar
from refute.fuzz.sql.program import program
from refute.fuzz.sql.queries import PRODUCTIONS
from refute.fuzz.sql.schema import Shape
from refute.fuzz.sql.text import write
from refute.oracles.sql.partial.question import Answer, Case, Judged, Oracle
from refute.oracles.sql.partial.written import text_of, tree_of
from refute.oracles.sql.sqlite import SQLite
from refute.specs.sql import FEATURES

SHAPE = Shape(frozenset(FEATURES), 3, 8)
GRAMMAR = Grammar(PRODUCTIONS, SHAPE.features)

Engine = Callable[[SQLite, Sequence[str]], Sequence[Answer]]


@dataclasses.dataclass
class Asked:
    """How often each status came out, and the first broken question with its statements."""

    counts: Counter[str] = dataclasses.field(default_factory=Counter)
    broken: tuple[Case, Sequence[str], Judged] | None = None


def sound(database: SQLite, statements: Sequence[str]) -> Sequence[Answer]:
    """SQLite as it is."""
    return database.run(statements)


def generated(seed: int, programs: int) -> Iterator[Case]:
    """Cases of so many programs."""
    for number in range(programs):
        made = program(seed, number, SHAPE, GRAMMAR)
        setup = tuple(map(write, made.setup))
        for place, query in enumerate(made.queries):
            yield Case(setup, query, seed=number * 1000 + place)


def given(setup: Sequence[str], query: str, times: int = 1) -> Iterator[Case]:
    """One case, with as many seeds as there are times."""
    for seed in range(times):
        yield Case(tuple(setup), tree_of(query), seed)


def ask(oracle: Oracle, cases: Iterator[Case], engine: Engine = sound) -> Asked:
    """Ask all of an oracle's questions about the cases."""
    asked = Asked()
    setup: tuple[str, ...] | None = None
    database = SQLite()
    for case in cases:
        if case.setup != setup:
            setup = case.setup
            database.close()
            database = SQLite()
            database.run(setup)
        for question in oracle.questions(case):
            statements = [_text(statement) for statement in question.statements]
            judged = question.judge(engine(database, statements))
            database.run([_text(statement) for statement in question.undo])
            if question.changes:
                setup = None
            asked.counts[judged.status] += 1
            if judged.status == "broken" and asked.broken is None:
                asked.broken = case, statements, judged
    database.close()
    return asked


def _text(statement: Any) -> str:
    return statement if isinstance(statement, str) else text_of(statement)
