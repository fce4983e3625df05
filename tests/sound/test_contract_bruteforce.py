"""The tables of tests/cases/contracts agree with brute force on CPython, which knows no refute.

Without this a table could only repeat what the prover says: no function that may be proved breaks
its contract on a small input, and every one that must be refuted does on an input that is shown.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from contract_bruteforce import broken, load, small_inputs

CASES = Path(__file__).parents[1] / "cases" / "contracts"
FILES = [p for p in sorted(CASES.glob("*.py")) if not p.name.startswith(("prover_", "crosshair_"))]
# Brute force could not end, or has no finite list of small values, for these.
BEYOND = {"never_ends", "ends_except_for_five", "eats_memory", "of_a_float", "without_annotation"}


def table(path: Path, name: str) -> dict[str, object]:
    """The table of that name in the file, which is not imported; empty when it has none."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            return dict(ast.literal_eval(node.value))
    return {}


ALL = [(path, name) for path in FILES for name in table(path, "EXPECTED")]


def test_the_corpus_is_large_and_every_contract_is_expected() -> None:
    assert len(ALL) >= 60
    for path in FILES:
        functions = {n for n in ast.parse(path.read_text()).body if isinstance(n, ast.FunctionDef)}
        with_contract = {f.name for f in functions if f.decorator_list}
        assert with_contract == set(table(path, "EXPECTED")), path.name


@pytest.mark.parametrize(("path", "name"), ALL, ids=[name for _, name in ALL])
def test_brute_force_agrees(path: Path, name: str) -> None:
    verdicts = str(table(path, "EXPECTED")[name]).split("|")
    witness = table(path, "WITNESSES").get(name)
    if name in BEYOND:
        assert "PROVED" not in verdicts or name in table(path, "ASSUMPTIONS")
        return
    function = getattr(load(path), name)
    cases = [witness] if witness else small_inputs(function)
    if verdicts == ["REFUTED"]:
        assert any(broken(function, case) for case in cases)
        return
    judged = [broken(function, case) for case in cases]
    assert not any(judged)
    assert len(judged) > 5
    vacuous = set(judged) == {None}
    assert vacuous == (table(path, "REASONS").get(name) == "vacuous")
