"""Programs: databases and their queries, the same for a seed and a number everywhere."""

from __future__ import annotations

from refute.fuzz.sql.grammar import Grammar
from refute.fuzz.sql.program import Program, program
from refute.fuzz.sql.queries import PRODUCTIONS
from refute.fuzz.sql.schema import Shape
from refute.fuzz.sql.text import write
from refute.specs.sql import FEATURES

ALL = Shape(frozenset(FEATURES), 3, 8)
GRAMMAR = Grammar(PRODUCTIONS, ALL.features)


def texts(of: Program) -> list[str]:
    return [write(tree) for tree in (*of.setup, *of.queries)]


def test_a_program_comes_from_its_seed_and_number_alone() -> None:
    first = [texts(program(1, number, ALL, GRAMMAR, 5)) for number in range(6)]
    again = [texts(program(1, number, ALL, GRAMMAR, 5)) for number in reversed(range(6))]
    assert first == again[::-1]
    assert first != [texts(program(2, number, ALL, GRAMMAR, 5)) for number in range(6)]
    assert len({tuple(program) for program in first}) == 6
