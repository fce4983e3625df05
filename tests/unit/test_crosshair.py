"""CrossHair's part in the worker, run here on functions of this file: what it reports, and how."""

from __future__ import annotations

import importlib.util
import sys
import types
from pathlib import Path

import pytest

from refute.errors import Unsupported
from refute.plain import Plain

if importlib.util.find_spec("crosshair") is None:
    pytest.skip("needs crosshair-tool", allow_module_level=True)

from refute.specs import contract as hints
from refute.verifiers.contracts.crosshair_inside import namespace, propose

SOURCE = """
from icontract import ensure, require

LIMIT = 10

def small(x):
    return x < LIMIT

@require(small)
@ensure(lambda x, result: result > x)
def after(x: int) -> int:
    '''The next one.

    :raises KeyError: for -3.
    '''
    if x == -3:
        raise KeyError(x)
    return x + 1 if x != -77 else x

@ensure(lambda result: result)
def untyped(x):
    return True
"""


@pytest.fixture
def order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Plain]:
    """What to do with the function `after` of a module made from SOURCE."""
    monkeypatch.setattr(hints, "last_measure", vars(hints)["last_measure"])
    (tmp_path / "numbers_after.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "numbers_after", raising=False)
    return {
        "subject": "numbers_after:after",
        "source": SOURCE,
        "path": "numbers_after.py",
        "qualname": "after",
        "raises": [],
        "cpu_s": 5.0,
        "paths": 50,
        "suspects": 2,
    }


def test_each_path_is_reported_and_a_broken_one_suspected(order: dict[str, Plain]) -> None:
    seen: list[tuple[Plain, bool]] = []
    counts = propose(order, lambda case, suspected: seen.append((case, suspected)))
    assert counts["paths"] == len(seen)
    assert [case for case, suspected in seen if suspected] == [{"x": -77}]
    assert ({"x": -3}, False) in seen  # the docstring allows this exception
    assert all(case["x"] < 10 for case, _ in seen)


def test_the_conditions_are_those_of_the_given_source(order: dict[str, Plain]) -> None:
    order["source"] = SOURCE.replace("LIMIT = 10", "LIMIT = -70")
    seen: list[Plain] = []
    propose(order, lambda case, _: seen.append(case))
    assert seen and all(case["x"] < -70 for case in seen)


def test_a_parameter_without_a_type_is_refused_with_its_place(order: dict[str, Plain]) -> None:
    order |= {"subject": "numbers_after:untyped", "qualname": "untyped"}
    with pytest.raises(Unsupported, match=r"numbers_after\.py:\d+: the parameter 'x'"):
        propose(order, lambda *_: None)


def test_a_source_that_cannot_run_beside_the_subject_leaves_the_module(tmp_path: Path) -> None:
    module = types.ModuleType("broken_beside")
    (tmp_path / "broken_beside.py").write_text("x = 1\n")
    module.__file__ = str(tmp_path / "broken_beside.py")
    assert namespace(module, "import no_such_module_at_all\n") is vars(module)
    assert namespace(module, "x = 2\n")["x"] == 2
