"""Machines with Sorts of any size, as formulas, are what they are with two members of each.

The formulas are those of every size; that there are two members, and what these are called, is an
equation beside them. So what the quantifiers mean is compared with the plain engine.
"""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from open_machines import FITS, built, numbered  # type: ignore[import-not-found]
from symbolic_machines import difference  # type: ignore[import-not-found]

from refute.verifiers.symbolic import executing

LOOPS = [
    "for x in Node:\n    self.near[x].add(self.one)\n    if self.no in self.near[x]:\n"
    "        self.light[x] = Light.GREEN",
    "for x in self.s:\n    y = self.light[x]\n    when(y == Light.RED or x == self.one)\n"
    "    if x == self.one:\n        self.near[x] = self.s\n    else:\n"
    "        self.light[x] = Light.GREEN",
    "for x in Node:\n    assert self.light[x] == Light.RED or x in self.s\n"
    "    self.light[x] = Light.GREEN if x == self.one else Light.RED",
]
PROCESS = """
@process
def run(self, x: Node) -> Steps[Self]:
    y = any_of(Node)
    self.s.add(y)
    self = yield
    while self.one != x:
        when(y in self.s)
        self.s.discard(y)
        z = any_of([Light.RED, Light.GREEN])
        self = yield
        self.light[y] = z
        self = yield
"""


def compared(directory: Path, body: str) -> tuple[int, str]:
    text = f"@action\ndef act(self) -> None:\n{textwrap.indent(body, '    ')}\n"
    wide = built(directory, body if "@process" in body else text).ir
    found: tuple[int, str] = difference(numbered(wide, {"Node": 2, "Pos": 2}), 3, 2.0, wide)
    return found


@pytest.mark.parametrize("body", [*FITS[::4], *LOOPS, PROCESS])
def test_any_number_of_members_means_the_same_for_two(body: str, tmp_path: Path) -> None:
    states, wrong = compared(tmp_path, body)
    assert not wrong
    assert states == 3


def test_a_loop_whose_rounds_are_not_all_taken_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executing, "pointwise", lambda loop, kinds: ())
    assert any(compared(tmp_path, body)[1] for body in LOOPS)
