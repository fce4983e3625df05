"""What has no bound is named where a search is cut."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Self

import pytest

from refute.machine import (
    Bag,
    Machine,
    Map,
    Range,
    Seq,
    Steps,
    Upto,
    Var,
    action,
    constraint,
    process,
    var,
    when,
)
from refute.specs.machine import types as t
from refute.verifiers.model.growing import measure
from refute.verifiers.model.native.compiler import QUICK
from refute.verifiers.model.native.here import native_search
from refute.verifiers.model.search import Search


class Counts(Machine):
    """One number has no end; the others have."""

    n: Var[int] = var(0)
    small: Var[int] = var(0)
    rows: Var[Map[bool, Annotated[Seq[bool], Upto(9)]]] = var(each=())
    round: Var[Annotated[int, Range(0, 99)]] = var(0)

    @action
    def count(self) -> None:
        self.n += 1
        self.round = self.n % 100

    @action
    def little(self) -> None:
        when(self.small < 3)
        self.small += 1


class Held(Counts):
    """A constraint will end it, late."""

    @constraint
    def few(self) -> bool:
        return self.n < 10**6


class Ends(Counts):
    """A constraint ends it."""

    @constraint
    def few(self) -> bool:
        return self.n < 20


class Sends(Machine):
    """What was sent is never taken."""

    sent: Var[Bag[bool]] = var(Bag())

    @action
    def send(self, b: bool) -> None:
        self.sent.add(b)


class Local(Machine):
    """A local counts."""

    even: Var[bool] = var(True)

    @process
    def run(self) -> Steps[Self]:
        k = 0
        while True:
            self.even = k % 2 == 0
            k += 1
            self = yield


CASES = {Counts: "n (int) has", Held: "", Sends: "sent (Bag[bool]) has", Local: "k of run ("}


@pytest.mark.parametrize("machine", CASES)
def test_what_grew(machine: type[Machine]) -> None:
    search = Search(machine.build().ir)
    while len(search.states) < 200:
        search.advance(0.0)
    said = str(search.report()["grown"])
    assert said.startswith(CASES[machine]) and bool(said) == bool(CASES[machine])


def test_the_native_engine_says_so_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    search = native_search(Counts.build().ir, flags=QUICK)
    search.advance(0.02)
    assert str(search.report()["grown"]).startswith("n (int) has grown to ")


def test_a_search_that_ends_names_nothing() -> None:
    search = Search(Ends.build().ir)
    search.advance(5.0)
    assert search.finished and "grown" not in search.report()


def test_the_largest_place_counts() -> None:
    numbers = t.SeqOf(t.Int(None, None), 3)
    assert measure(t.MapOf(t.Bool(), numbers), ((1, -7), (2,))) == 7
    assert measure(t.SeqOf(t.Bool(), None), (True,) * 5) == 5
    assert measure(t.Union((t.Nothing(), t.Int(0, None))), None) == 0
    assert measure(t.Tuple((t.Int(0, 9), t.Int(0, None))), (9, 3)) == 3
    assert measure(t.SetOf(t.Int(0, 50)), frozenset(range(50))) == 0
