"""A step that goes round a loop, where only some ways through it yield: as a process, as a part,
and as a process that crashes end, whose places are variables."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest
from test_temporal_meanings import loaded  # type: ignore[import-not-found]

from refute.errors import Unsupported

ROUNDS = """
from __future__ import annotations
from typing import Annotated, Self
from refute.machine import *

P = Annotated[int, Range(0, 1)]

class Alone(Machine):
    log: Var[Annotated[Seq[Annotated[int, Range(0, 9)]], Upto(2)]] = var(())
    @process
    def walk(self, p: P) -> Steps[Self]:
        acc = 0
        for i in range(3):
            if any_of([True, False]):
                acc += i
                self = yield
            else:
                k = any_of({0, 1})
                if k == 0:
                    continue
                for j in (p, 1):
                    if j == 1 and i > 0:
                        self = yield
                        acc += k
                    elif acc > 2:
                        break
        when(len(self.log) < 2)
        self.log.append(acc)

class Whole(Machine):
    left: Part[Alone] = part(Alone)

class Falling(Alone, crashes=True):
    @action
    def wait(self) -> None:
        when(len(self.log) == 2)
"""
SELF_CALL = """
from __future__ import annotations
from typing import Annotated
from refute.machine import *

class M(Machine):
    n: Var[Annotated[int, Range(0, 9)]] = var(0)
    @action
    def go(self) -> None:
        self.n = self.total(2)
    def total(self, top: int) -> int:
        def below(k: int) -> int:
            return 0 if k <= 0 else k + below(k - 1)
        return below(top)
"""


def counts(machine: type) -> tuple[int, int]:
    """States, and steps from them."""
    space = machine.build().space()  # type: ignore[attr-defined]
    states = list(space.states())
    return len(states), sum(len(list(space.enabled(s))) for s in states)


@pytest.fixture
def rounds(tmp_path: Path) -> ModuleType:
    return loaded(tmp_path, "machines_with_rounds", ROUNDS)


def test_parts_take_the_steps_of_processes(rounds: ModuleType) -> None:
    found = counts(rounds.Alone)
    assert found[0] > 100
    assert counts(rounds.Whole) == found


def test_a_crash_ends_processes_in_a_loop(rounds: ModuleType) -> None:
    logs = {s["log"] for s in rounds.Alone.build().space().states()}
    assert {s["log"] for s in rounds.Falling.build().space().states()} == logs


def test_a_nested_function_that_calls_itself_is_refused_by_line(tmp_path: Path) -> None:
    with pytest.raises(Unsupported, match="calls itself") as caught:
        loaded(tmp_path, "machine_with_nested_recursion", SELF_CALL).M.build()
    assert caught.value.thing.endswith(".py:12")
    assert caught.value.next_step


PARTIAL = """
from __future__ import annotations
import enum
from refute.machine import *

class E(enum.Enum):
    A = 1
    B = 2
    C = 3

class M(Machine):
    n: Var[bool] = var(False)
    @action
    def go(self, e: E) -> None:
        known = {E.A: True, E.B: False}
        self.n = known[E.A]
"""


def test_a_dict_that_is_no_map_is_refused_by_line(tmp_path: Path) -> None:
    with pytest.raises(Unsupported, match="a dict of fewer entries than E has values") as caught:
        loaded(tmp_path, "machine_with_a_partial_dict", PARTIAL).M.build()
    assert caught.value.thing.endswith(".py:15")
    assert caught.value.next_step
