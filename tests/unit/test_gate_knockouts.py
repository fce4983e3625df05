"""Knock-outs: what a unit is replaced by, and that nothing else of its file changes."""

from __future__ import annotations

import ast

import pytest

from refute.change.units import all_units, changed_units
from refute.gate.mutants import RAISE, Unsplittable, knockouts


def replaced(source: str, name: str) -> list[list[str]]:
    """For each knock-out of a unit, the lines that are not those of the source, per variant."""
    (unit,) = [u for u in changed_units("x.py", None, source.encode()) if u.qualname == name][-1:]
    found = []
    for knockout in knockouts(unit, source.encode()):
        variants = []
        for text in knockout.sources:
            ast.parse(text)
            new = [line for line in text.decode().split("\n") if line not in source.split("\n")]
            variants.append("\n".join(new).strip())
        found.append(variants)
    return found


@pytest.mark.parametrize(
    ("signature", "body", "constants"),
    [
        ("def f(x) -> int:", "return x", ["return 0", "return 1"]),
        ("def f(x) -> int:", "return 0", ["return 1"]),
        ("def f(x) -> bool:", "return not x", ["return False", "return True"]),
        ("def f(x) -> str:", "return x", ['return ""', 'return "refute"']),
        ("def f(x) -> 'list[int]':", "return x", ["return []", "return [None]"]),
        ("def f(x) -> int | None:", "return x", ["return None", "return 0", "return 1"]),
        ("def f(x) -> Optional[int]:", "return x", ["return None", "return 0", "return 1"]),
        ("def f(x) -> tuple[int, str]:", "return x", ['return (0, "",)', 'return (1, "refute",)']),
        ("def f(x) -> tuple[int, ...]:", "return x", ["return ()", "return (None,)"]),
        ("def f(x) -> typing.Mapping[str, int]:", "return x", ["return {}", "return {None: None}"]),
        ("def f(x) -> Annotated[float, 'm']:", "return x", ["return 0.0", "return 1.0"]),
        ("def f(x) -> Thing:", "return x", ["return None"]),
        ("def f(self) -> Self:", "return g(self)", ["return self", "return None"]),
        ("def f(x) -> None:", "g(x)", ["return None"]),
        ("def f(x):", "g(x)", ["return None"]),
        ("def f(x):", "return x == 1", ["return False", "return True"]),
        ("def f(x):", "return [x]", ["return []", "return [None]"]),
        ("def f(x):", "return -1", ["return 0", "return 1"]),
        ("async def f(x) -> int:", "return await x", ["return 0", "return 1"]),
        ("def __init__(self, x):", "self.x = x", ["return None"]),
    ],
)
def test_functions_raise_and_then_return_a_constant_of_their_type(
    signature: str, body: str, constants: list[str]
) -> None:
    source = f"y = 1\n\n{signature}\n    '''Text.'''\n    {body}\n\nz = 2\n"
    name = signature.removeprefix("async ").removeprefix("def ").partition("(")[0]
    assert replaced(source, name) == [[RAISE], constants]


@pytest.mark.parametrize(
    "body", ["pass", "...", "return", "return None", "raise NotImplementedError"]
)
def test_a_function_that_does_nothing_is_only_made_to_raise(body: str) -> None:
    assert replaced(f"def f():\n    {body}\n", "f") == [[RAISE]]


def test_generators_stay_generators() -> None:
    assert replaced("def f(n):\n    for i in n:\n        yield i\n", "f") == [
        [RAISE + "; yield"],
        ["return; yield"],
    ]


def test_one_liners_decorators_nested_functions_and_accessors() -> None:
    assert replaced("def f(x): return x + 1\n", "f")[0] == [f"def f(x): {RAISE}"]
    source = "@d(\n  1)\ndef f(x) -> int:\n    def g():\n        return x\n    return g()\n"
    assert replaced(source, "f")[1] == ["return 0", "return 1"]
    accessors = (
        "class C:\n    @property\n    def p(self) -> int:\n        return 1\n\n"
        "    @p.setter\n    def p(self, v) -> None:\n        self.v = v\n"
    )
    assert replaced(accessors, "C.p") == [[RAISE], ["return None"]]  # the setter, the last one
    assert (
        b"self.v"
        in knockouts(all_units("x.py", accessors.encode())[1], accessors.encode())[0].sources[0]
    )


@pytest.mark.parametrize(
    ("source", "name", "expected"),
    [
        ("X = 5\n", "X", [["X = 0"], ["X = None"]]),
        ("X: str = 'a'\n", "X", [['X: str = ""'], ["X: str = None"]]),
        ("X = g()\n", "X", [["X = None"]]),
        ("class C:\n    a: int = 0\n", "C.a", [["a: int = 1"], ["a: int = None"]]),
        ("class E(ValueError):\n    pass\n", "E", [["class E:"], ["E = None"]]),
        ("@dataclass\nclass D:  x = 1\n", "D", [["class D: x = 1"], ["D = None"]]),
        ("class P(Protocol):\n    pass\n", "P", [["P = None"]]),
        ("class C:\n    pass\n", "C", [["C = None"]]),
        ("import a.b as c, d\n", "c", [["c = d = None"]]),
        ("for i in g():\n    h(i)\n", "<statement for i in g():>", [["pass"]]),
    ],
)
def test_other_units(source: str, name: str, expected: list[list[str]]) -> None:
    assert replaced(source, name) == expected


def test_only_the_unit_changes_whatever_the_encoding_and_line_ends() -> None:
    source = (
        "# coding: latin-1\r\nname = 'ü'\r\ndef f() -> str:\r\n    return 'ñ' + name\r\n# ü\r\n"
    )
    raw = source.encode("latin-1")
    (unit,) = [u for u in all_units("x.py", raw) if u.qualname == "f"]
    text = knockouts(unit, raw)[0].sources[0].decode("latin-1")
    assert text == f"# coding: latin-1\nname = 'ü'\ndef f() -> str:\n    {RAISE}\n# ü\n"


def test_a_unit_that_is_not_there_is_refused() -> None:
    (unit,) = all_units("x.py", b"def f():\n    pass\n")
    with pytest.raises(Unsplittable, match="not in the file"):
        knockouts(unit, b"def g():\n    pass\n")
    with pytest.raises(Unsplittable, match="cannot be parsed"):
        knockouts(unit, b"def (")
