"""Random machines mean the same as formulas and in the plain engine: what each state may become,
what raises, where the machine begins and what its predicates say.

Models of the formulas are enumerated, so that a step too many is noticed like one that is missing.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import typed_machines  # type: ignore[import-not-found]
import wide_machines  # type: ignore[import-not-found]
from symbolic_machines import difference  # type: ignore[import-not-found]
from test_machine_meanings import executed  # type: ignore[import-not-found]

from refute.errors import Unsupported
from refute.specs.machine.ir import Expr, MachineIR
from refute.verifiers.symbolic import choosing, executing
from refute.verifiers.symbolic.executing import Execution, Way
from refute.verifiers.symbolic.forms import Outside, Sym
from refute.verifiers.symbolic.pointwise import element_type

STATES = 5  # of each machine that are compared
CPU_S = 0.7  # for each machine
CASES = Path(__file__).parents[1] / "cases" / "machines"


@contextmanager
def built(file: Path, machine: str = "M") -> Iterator[MachineIR]:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    try:
        yield executed(file.stem, spec).__dict__[machine].build().ir
    finally:
        sys.modules.pop(file.stem, None)


def compared(directory: Path, kind: str, seeds: range) -> tuple[int, dict[int, str]]:
    """How many states of the machines were compared, and by seed what differs."""
    source = {"typed": typed_machines.source, "wide": wide_machines.source}[kind]
    states, wrong = 0, {}
    for seed in seeds:
        file = directory / f"symbolic_{kind}_{seed}.py"
        file.write_text(source(seed))
        try:
            with built(file) as ir:
                count, found = difference(ir, STATES, CPU_S)
        except (Unsupported, Outside):
            continue
        states += count
        wrong.update({seed: found} if found else {})
    return states, wrong


@pytest.mark.parametrize(("kind", "first"), [("typed", 0), ("typed", 5), ("wide", 0), ("wide", 8)])
def test_random_machines_mean_the_same(kind: str, first: int, tmp_path: Path) -> None:
    seeds = range(first, first + (5 if kind == "typed" else 8))
    states, wrong = compared(tmp_path, kind, seeds)
    assert not wrong
    assert states > len(seeds)


@pytest.mark.parametrize(
    ("name", "machine"),
    [
        ("matches", "Matches"),
        ("own_values", "Tables"),
        ("writing", "Writing"),
        ("natural", "Rows"),
        ("optional_numbers", "OptionalNumbers"),
    ],
)
def test_written_machines_mean_the_same(name: str, machine: str) -> None:
    with built(CASES / f"{name}.py", machine) as ir:
        states, wrong = difference(ir, 8, 2 * CPU_S)
    assert not wrong
    assert states > 2


def kept_paths(way: Way, test: object) -> Way:
    """A `when` that changes nothing."""
    return way


def merged(test: object, then: dict[str, object], orelse: dict[str, object]) -> dict[str, object]:
    """The values of the wrong branch."""
    return {**then, **orelse}


def anything(execution: Execution, source: Expr, name: str, way: Way) -> tuple[Sym, Way]:
    """A choice that need not be in its source."""
    return execution.unknown(element_type(source.type), name), way


@pytest.mark.parametrize(
    ("where", "name", "wrong"),
    [
        (Way, "narrowed", kept_paths),
        (executing, "_values", merged),
        (executing, "fits", lambda value, kind: True),
        (choosing, "_member", anything),
    ],
)
def test_a_wrong_encoding_is_noticed(
    where: object, name: str, wrong: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(where, name, wrong)
    kinds = (("typed", range(4)), ("wide", range(8)))
    assert any(compared(tmp_path, kind, seeds)[1] for kind, seeds in kinds)
