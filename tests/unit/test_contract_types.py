"""Types out of annotations: what they admit, how their values are carried, what is refused."""

from __future__ import annotations

import ast
import random

import pytest

from refute.closure import parse
from refute.errors import Unsupported
from refute.fuzz.samples import sampler
from refute.plain import Plain
from refute.specs.contract_names import names_of
from refute.specs.contract_types import Type, build, carried, carrier, read_type
from refute.verifiers.contracts.candidates import Drawer

MODULE = """
from __future__ import annotations
import typing as t
from typing import Annotated, List, Literal, Optional, Sequence, Union
from collections.abc import Mapping
from elsewhere import Other

Block = int
Rows = list[tuple[Block, "Optional[str]"]]
Twice = int
Twice = str


class Mine:
    pass
"""


def read(text: str) -> Type:
    module = parse(MODULE.encode())
    assert module is not None
    return read_type(ast.parse(text, mode="eval").body, names_of(module), "m.py")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("int", "int"),
        ("None", "None"),
        ("Block", "int"),
        ("'Block'", "int"),
        ("Rows", "list[tuple[int, str | None]]"),
        ("int | None", "int | None"),
        ("Optional[Union[int, str]]", "int | str | None"),
        ("t.Optional[bytes]", "bytes | None"),
        ("List[bool]", "list[bool]"),
        ("tuple[int, ...]", "tuple[int, ...]"),
        ("tuple[()]", "tuple[()]"),
        ("Sequence[float]", "list[float] | tuple[float, ...]"),
        ("Mapping[str, set[int]]", "dict[str, set[int]]"),
        ("frozenset[int]", "frozenset[int]"),
        ("Literal['a', 1, None]", "Literal['a', 1, None]"),
        ("Annotated[int, 'anything']", "int"),
        ("int | int", "int"),
    ],
)
def test_annotations_that_are_understood(text: str, shown: str) -> None:
    assert str(read(text)) == shown


@pytest.mark.parametrize(
    "text",
    [
        "list",
        "Mine",
        "Other",
        "Twice",
        "object",
        "t.Any",
        "complex",
        "list[Mine]",
        "Callable",
        "dict[int]",
        "list[int, int]",
        "f()",
        "'('",
        "elsewhere.Optional[int]",
        "Literal[f()]",
    ],
)
def test_all_others_are_refused_at_their_place(text: str) -> None:
    with pytest.raises(Unsupported, match=r"m.py:1: the type .* is not supported"):
        read(text)


@pytest.mark.parametrize(
    ("text", "value", "exactly", "loosely"),
    [
        ("int", True, False, True),
        ("int", 2**80, True, True),
        ("int", 1.0, False, False),
        ("float", 1, False, True),
        ("bool", 1, False, False),
        ("list[int]", [1, True], False, True),
        ("list[int]", (1,), False, False),
        ("tuple[int, ...]", (1, 2), True, True),
        ("tuple[int, str]", (1,), False, False),
        ("Optional[str]", None, True, True),
        ("Literal[1]", True, False, False),
        ("dict[str, int]", {"a": None}, False, False),
        ("frozenset[int]", {1}, False, False),
    ],
)
def test_inputs_are_exact_and_results_as_type_checkers_see_them(
    text: str, value: Plain, exactly: bool, loosely: bool
) -> None:
    kind = read(text)
    assert (kind.admits(value), kind.admits(value, loosely=True)) == (exactly, loosely)


def test_a_result_of_a_protocol_may_be_anything_that_behaves_so() -> None:
    module = parse(MODULE.encode())
    assert module is not None
    annotation = ast.parse("Sequence[int]", mode="eval").body
    with pytest.raises(Unsupported):
        read_type(annotation, names_of(module), "m.py", concrete=True)


NESTED = "list[tuple[int, ...] | frozenset[bytes] | dict[str, tuple[bool, float | None]]]"


@pytest.mark.parametrize("text", ["int", "set[int]", "Sequence[Literal['a', 2]]", NESTED])
def test_carried_values_become_values_of_the_type_and_back(text: str) -> None:
    kind = read(text)
    draw, rng = sampler(carried(kind)), random.Random(7)
    for _ in range(50):
        value = draw(rng)
        made = build(kind, value)
        assert kind.admits(made)
        assert build(kind, carrier(kind, made)) == made or made != made  # NaN


@pytest.mark.parametrize("text", ["int", "str", "bytes", "Sequence[Literal['a', 2]]", NESTED])
def test_candidates_are_of_their_types(text: str) -> None:
    types = {"x": read(text), "y": read("list[int]")}
    drawer = Drawer(types, [3, "word", b"\1"], seed=5)
    again = Drawer(types, [3, "word", b"\1"], seed=5)
    for _ in range(60):
        case = drawer.case()
        varied = drawer.varied(case)
        assert types["x"].admits(case["x"]) and types["y"].admits(varied["y"])
        assert types["x"].admits(varied["x"])
        assert repr(again.case()) == repr(case)
        again.varied(case)
