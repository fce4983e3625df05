"""The prover's semantics is CPython's: on random functions, loops abstracted or unrolled.

Its own test is the last part: defects planted into the semantics are noticed by the comparison.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from typing import Any

import pytest
from prover_programs import (
    PARAMETERS,
    Case,
    Writer,
    disagreement,
    execute,
    random_case,
    run_plainly,
)
from prover_wide_programs import WideWriter

from refute.verifiers.contracts import (
    comparison,
    expressions,
    havoc,
    inlining,
    integers,
    loops,
    subscripts,
)
from refute.verifiers.contracts.run import Mode, Refused
from refute.verifiers.contracts.values import merge

WIDE_SEEDS = (47, 108, 110, 111, 113, 114, 126, 128, 141)
UNROLL = Mode(unroll=5, infer=False)
ABSTRACT = Mode()
SEEDS = (0, 1, 2, 3, 5, 6, 7, 8, 9)  # each a second or two; others take longer


def disagreements(source: str, cases: list[Case], mode: Mode) -> list[str]:
    """How the function differs from what CPython does on the cases, one line for each."""
    exact = bool(mode.unroll)
    found = []
    for case in cases:
        sizes = {"xs": len(case["xs"]), "data": len(case["data"])}
        verified = execute(source, mode, sizes if exact else None)
        found.append(disagreement(verified, case, run_plainly(source, case), exact))
    return [f for f in found if f]


@pytest.mark.parametrize("mode", [UNROLL, ABSTRACT], ids=["unrolled", "abstracted"])
@pytest.mark.parametrize("seed", SEEDS)
def test_random_functions_do_what_cpython_does(seed: int, mode: Mode) -> None:
    source = Writer(seed).function()
    rng = random.Random(seed)
    cases = [random_case(rng, rng.randint(0, 3)) for _ in range(2)]
    try:
        assert disagreements(source, cases, mode) == []
    except Refused as refusal:
        assert "is not supported, at f.py:" in str(refusal)


@pytest.mark.parametrize("mode", [UNROLL, ABSTRACT], ids=["unrolled", "abstracted"])
@pytest.mark.parametrize("seed", WIDE_SEEDS)
def test_wider_random_functions_do_what_cpython_does(seed: int, mode: Mode) -> None:
    source = WideWriter(seed).function()
    rng = random.Random(seed)
    cases = [random_case(rng, rng.randint(0, 3)) for _ in range(2)]
    assert disagreements(source, cases, mode) == []


def function(body: str) -> str:
    """A function with the parameters of the random ones."""
    head = ", ".join(f"{name}: {kind}" for name, kind in PARAMETERS.items())
    lines = "\n".join("    " + line for line in body.strip().splitlines())
    return f"def f({head}):\n{lines}\n"


def one(**given: Any) -> Case:
    """A case with these values."""
    case: Case = {"a": 0, "b": 0, "xs": [], "o": None, "flag": False, "data": b"", "pair": (0, 0)}
    return {**case, **given}


BODIES = {
    "filter": "return [x + 1 for x in xs if x > a]",
    "filter that may raise": "return [a // x for x in xs if x != 1]",
    "alias in a loop": "ys = xs\nfor x in list(xs):\n    ys.append(x)\nreturn len(xs)",
    "rebinding in a loop": "ys = xs\nfor x in list(xs):\n    ys = ys + [x]\nreturn ys",
    "negative steps": "return [i for i in range(5, a, -2)]",
    "else of a loop": "for x in xs:\n    if x == a:\n        break\nelse:\n    return -1\nreturn b",
    "handlers in a loop": (
        "n = 0\nfor x in xs:\n    try:\n        n += a // x\n"
        "    except ZeroDivisionError:\n        n += 100\n        continue\n    n += 1\nreturn n"
    ),
    "optional index": "xs[o] += a\nreturn xs[o]",
    "several lists": "ys = xs if flag else [1, 2]\nys += ys[:1]\nreturn len(xs)",
    "walrus": "if (n := len(xs)) > 1 and xs[n - 1] == a:\n    return n\nreturn -n",
    "an end before an exception": (
        "try:\n    return all(xs[i] > 0 for i in range(len(xs) + 1))\n"
        "except IndexError:\n    return 5"
    ),
    "an iterator looks late": (
        "n = 0\nfor i, x in enumerate(xs):\n    xs[-1] = 9\n    n += x\nreturn n"
    ),
    "mod of negatives": "return (a % -3, a // -3, (-a) % 5, divmod(a, b or 7))",
}
INPUTS = [
    {"a": 3, "b": -2, "xs": [3, 0, 5]},
    {"a": -4, "b": 0, "xs": [1], "o": -2},
    {"xs": [], "o": 1},
]


@pytest.mark.parametrize("mode", [UNROLL, ABSTRACT], ids=["unrolled", "abstracted"])
@pytest.mark.parametrize("name", BODIES)
def test_a_function_does_what_cpython_does(name: str, mode: Mode) -> None:
    cases = [one(**given) for given in INPUTS]
    assert disagreements(function(BODIES[name]), cases, mode) == []


def test_a_name_without_a_value_is_another_error_in_a_comprehension() -> None:
    body = "if flag:\n    m = 1\ntry:\n    return any(x < m for x in xs)\n"
    body += "except UnboundLocalError:\n    return 1\nexcept NameError:\n    return 2"
    assert disagreements(function(body), [one(xs=[3])], ABSTRACT) == []


PLANTED: list[tuple[str, Any, str, Callable[..., Any], str, Case, Mode]] = [
    (
        "division rounds towards zero",
        integers,
        "divide",
        lambda context, left, right: left / right,
        "return a // b",
        one(a=7, b=-2),
        UNROLL,
    ),
    (
        "negative indices count from the front",
        subscripts,
        "place_in",
        lambda run, state, seq, index, node, text="": index,
        "return xs[a]",
        one(a=-2, xs=[1, 2]),
        UNROLL,
    ),
    (
        "a loop changes nothing",
        loops,
        "changes",
        lambda run, entry, shape: havoc.Changed(),
        "for x in xs:\n    a = a + 1\nreturn a",
        one(xs=[1, 2]),
        ABSTRACT,
    ),
    (
        "an append is lost",
        inlining,
        "_in_caller",
        lambda before, callee, value: dataclasses.replace(
            callee, env={**before.env, inlining.RESULT: value}, heap=before.heap
        ),
        "helper(xs)\nreturn len(xs)",
        one(),
        UNROLL,
    ),
    (
        "`or` gives a bool",
        expressions,
        "merge",
        lambda condition, then, other: merge(condition, then, then),
        "return a or b",
        one(a=3, b=4),
        UNROLL,
    ),
    (
        "lists of unequal length may be equal",
        comparison,
        "equal_seqs",
        lambda run, state, left, right: True,
        "return xs == [1]",
        one(xs=[2, 3]),
        UNROLL,
    ),
]


@pytest.mark.parametrize(
    ("module", "name", "wrong", "body", "case", "mode"),
    [planted[1:] for planted in PLANTED],
    ids=[planted[0] for planted in PLANTED],
)
def test_a_defect_planted_into_the_semantics_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
    module: Any,
    name: str,
    wrong: Callable[..., Any],
    body: str,
    case: Case,
    mode: Mode,
) -> None:
    source = function(body) + "\n\ndef helper(zs: list[int]):\n    zs.append(1)\n"
    assert disagreements(source, [case], mode) == []
    with monkeypatch.context() as patch:
        patch.setattr(module, name, wrong)
        exact = bool(mode.unroll)
        sizes = {"xs": len(case["xs"]), "data": len(case["data"])} if exact else None
        verified = execute(source, mode, sizes)
    assert disagreement(verified, case, run_plainly(source, case), exact)
