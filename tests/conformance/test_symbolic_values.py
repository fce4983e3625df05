"""Z3 sees in an expression what the tree walk sees in it."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import open_expressions
import pytest
import wide_machines
from symbolic_values import Comparison, asked, compare, compare_open, nodes
from test_machine_meanings import executed

from refute.errors import RefuteError, Unsupported
from refute.verifiers.symbolic import arithmetic, evaluating, operating

EVERY = Path(__file__).parent.parent / "cases" / "machines" / "every_operation.py"
STATES = 1
WIDE = 10
OPEN = 5  # machines; each in two sizes


def loaded(file: Path) -> Any:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    return executed(file.stem, spec)


def written(directory: Path, name: str, text: str) -> Any:
    file = directory / f"{name}.py"
    file.write_text(text)
    return loaded(file).M


def every_operation() -> Comparison:
    told, ir = Comparison(), loaded(EVERY).Every.build().ir
    expressions = list(dict.fromkeys(asked(ir, inside=True)))
    for seed in range(STATES):
        compare(ir, expressions, seed, told)
    return told


def test_every_operation() -> None:
    told = every_operation()
    assert not told.wrong
    assert set(told.outside) <= {"a range whose ends are not among a few numbers"}
    assert told.compared > 150
    assert told.undecided < told.compared // 50


def test_every_operation_is_in_that_machine() -> None:
    ir = loaded(EVERY).Every.build().ir
    found = {part.op for _, expr in asked(ir) for part in nodes(expr)}
    table = {*operating.OPERATIONS, *evaluating._SPECIAL}
    assert table - found <= {"const", "read", "next", "local", "again", "fail", "keys", "not"}


def test_a_remainder_as_z3_has_it_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arithmetic, "_quotient", lambda op, x, y, _: x / y if op == "//" else x % y)
    assert any(found.startswith(("//", "%")) for found in every_operation().wrong)


@pytest.mark.parametrize("first", range(0, WIDE, 5))
def test_random_machines(first: int, tmp_path: Path) -> None:
    told = Comparison()
    for seed in range(first, first + 5):
        try:
            ir = written(tmp_path, f"values_{seed}", wide_machines.source(seed)).build().ir
        except Unsupported:
            continue
        expressions = list(asked(ir))
        for state in range(3):
            compare(ir, expressions, state, told)
    assert not told.wrong
    assert told.compared > 50


def opened(directory: Path, seeds: range) -> Comparison:
    told = Comparison()
    for seed in seeds:
        machine = written(directory, f"open_{seed}", open_expressions.source(seed))
        try:
            every = machine.build(A="any", B="any", N="any").ir
        except RefuteError:
            continue
        for members in (1, 2):
            small = machine.build(A=members, B=members, N=members).ir
            compare_open(small, every, members, seed + members, told)
    return told


def test_predicates_over_sorts_of_any_size(tmp_path: Path) -> None:
    told = opened(tmp_path, range(OPEN))
    assert not told.wrong
    assert told.compared > 30


def test_an_order_the_wrong_way_round_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = operating.OPERATIONS["<"]
    swapped = lambda expr, values, ctx: right(expr, values[::-1], ctx)  # noqa: E731
    monkeypatch.setitem(operating.OPERATIONS, "<", swapped)
    assert opened(tmp_path, range(OPEN)).wrong
