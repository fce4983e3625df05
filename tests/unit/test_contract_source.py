"""Reading contracts: what is above a function, under any name, and what must be refused."""

from __future__ import annotations

import textwrap

import pytest

from refute.closure import parse
from refute.errors import Unsupported
from refute.specs.contract_source import Contract, contracts_in, read_contract

PLAIN = """
import icontract

@icontract.require(lambda xs: len(xs) > 0)
@icontract.snapshot(lambda xs: xs[:], name="before")
@icontract.ensure(lambda xs, result, OLD: result in OLD.before, "one of them")
def largest(xs: list[int], *, strict: bool = False) -> int:
    '''The largest.

    :raises ValueError, KeyError: when it must
    '''
    return max(xs)
"""


def read(source: str, name: str = "f") -> Contract:
    return read_contract(textwrap.dedent(source), "m.py", name)


def refused(source: str, name: str = "f") -> str:
    with pytest.raises(Unsupported) as caught:
        read(source, name)
    return caught.value.message


def test_everything_that_a_contract_says() -> None:
    contract = read(PLAIN, "largest")
    assert (contract.qualname, contract.path, contract.line) == ("largest", "m.py", 7)
    assert [(p.name, p.keyword_only) for p in contract.parameters] == [
        ("xs", False),
        ("strict", True),
    ]
    assert [(c.text, c.parameters, c.line) for c in contract.requires] == [
        ("len(xs) > 0", ("xs",), 4)
    ]
    (ensure,) = contract.ensures
    assert ensure.parameters == ("xs", "result", "OLD")
    assert (ensure.text, ensure.description) == ("result in OLD.before", "one of them")
    assert [(s.name, s.parameters, s.line) for s in contract.snapshots] == [("before", ("xs",), 5)]
    assert contract.raises == ("ValueError", "KeyError")
    assert contract.decorators == ()


@pytest.mark.parametrize(
    ("header", "mark"),
    [
        ("import icontract", "icontract.require"),
        ("import icontract as ic", "ic.require"),
        ("from icontract import require", "require"),
        ("from icontract import require as pre", "pre"),
        ("from icontract import *", "require"),
    ],
)
def test_any_name_of_the_library(header: str, mark: str) -> None:
    contract = read(f"{header}\n@{mark}(lambda x: x > 0)\ndef f(x: int) -> int:\n    return x\n")
    assert [c.text for c in contract.requires] == ["x > 0"]


def test_a_contract_may_have_a_name_of_its_own() -> None:
    contract = read("""
        from icontract import require
        positive = require(lambda x: x > 0)
        @positive
        def f(x: int) -> int:
            return x
    """)
    assert [(c.text, c.line) for c in contract.requires] == [("x > 0", 3)]


def test_a_named_condition_is_a_call_of_it() -> None:
    contract = read("""
        from icontract import require, ensure
        def ordered(xs, strict=False, *, lo=0):
            return sorted(xs) == xs
        small = lambda result: result < 9
        @require(ordered)
        @ensure(small)
        def f(xs: list[int], lo: int) -> int:
            return 1
    """)
    assert [c.text for c in contract.requires] == ["ordered(xs, lo=lo)"]
    assert [c.text for c in contract.ensures] == ["small(result)"]


def test_conditions_come_in_the_order_in_which_icontract_checks_them() -> None:
    contract = read("""
        from icontract import require
        @require(lambda x: x > 1)
        @require(lambda x: x > 0)
        def f(x: int) -> int:
            return x
    """)
    assert [c.text for c in contract.requires] == ["x > 0", "x > 1"]


HEAD = "from icontract import require, ensure, snapshot\nimport icontract, other\n"
BODY = "\ndef f(x: int) -> int:\n    return x\n"


@pytest.mark.parametrize(
    ("above", "line", "words"),
    [
        ("@require(other.condition)", 3, "other.condition"),
        ("@require(lambda y: y)", 3, "'y'"),
        ("@require(lambda result: result)", 3, "'result'"),
        ("@require(lambda x, y=2: y)", 3, "default"),
        ("@require(lambda *a: a)", 3, "'a'"),
        ("@require(lambda x: x, enabled=False)", 3, "only when False"),
        ("@require", 3, "require"),
        ("@require()", 3, "without a condition"),
        ("@require(*[lambda x: x])", 3, "arguments"),
        ("@other.require(lambda x: x)", 3, "other.require"),
        ("@icontract.invariant(lambda x: x)", 3, "invariant"),
        ("@ensure(lambda OLD: OLD.y)", 3, "OLD.y has no snapshot"),
        ("@snapshot(lambda x: x)\n@ensure(lambda OLD: len(vars(OLD)))", 4, "as a whole"),
        ("@snapshot(lambda x: x)\n@snapshot(lambda x: -x)", 4, "two snapshots"),
        ("@snapshot(lambda: 1)", 3, "without a plain name"),
        ("@(lambda f: require(lambda x: x)(f))", 3, "the decorator"),
    ],
)
def test_what_cannot_be_read_is_refused_at_its_place(above: str, line: int, words: str) -> None:
    said = refused(HEAD + above + BODY)
    assert said.startswith(f"m.py:{line}: ")
    assert words in said


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("def g(): pass", "no function 'f'"),
        ("def f(): pass\ndef f(): pass", "defined 2 times"),
        ("class f: pass", "a class"),
        ("async def f(): pass", "a coroutine"),
        ("def f():\n    yield 1", "a generator"),
        ("if 1:\n    def f(): pass", "inside of another statement"),
        ("def f(*rest): pass", "*rest"),
        ("def f(", "cannot be read|cannot be parsed|can be parsed"),
    ],
)
def test_functions_that_are_refused(source: str, words: str) -> None:
    said = refused(source)
    assert any(w in said for w in words.split("|"))


def test_a_method_is_refused_and_not_forgotten() -> None:
    source = HEAD + "class A:\n    @require(lambda x: x)\n    def f(self, x: int): return x\n"
    module = parse(source.encode())
    assert module is not None
    assert contracts_in(module) == [("A.f", 5)]
    assert "a method" in refused(source, "A.f")


def test_a_shadowed_mark_is_no_contract_and_is_not_ignored() -> None:
    source = "from icontract import require\ndef require(c): return lambda f: f\n"
    assert "cannot be read" in refused(f"{source}@require(lambda x: x){BODY}")
