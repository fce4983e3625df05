"""Large machines: many starting values, few traces for many steps, long steps."""

from __future__ import annotations

import dataclasses
import itertools
import os
from pathlib import Path
from typing import Annotated, Any

import pytest

from refute.machine import Machine, Range, Var, action, var
from refute.specs.library.chang_roberts import ChangRoberts
from refute.specs.library.ewd840 import EWD840, SyncTermination
from refute.specs.library.inner_fifo import InnerFIFO
from refute.specs.library.transaction_commit import TCommit
from refute.specs.library.two_phase_commit import TwoPhase
from refute.specs.machine.meaning import Meaning
from refute.specs.machine.values import unpack_value
from refute.verifiers.model import search
from refute.verifiers.model.confirm import Confirm
from refute.verifiers.model.keeping import Keeper
from refute.verifiers.model.reduced import ReducedSearch
from refute.verifiers.model.search import Search
from refute.verifiers.model.walks import Walks


class Turns(Machine):
    n: Var[Annotated[int, Range(0, 2)]] = var(0)

    @action
    def step(self) -> None:
        self.n = (self.n + 1) % 3


def finished(search: Search) -> dict[str, Any]:
    assert search.advance(60.0)["finished"]
    report: dict[str, Any] = search.report()
    return report


@pytest.mark.parametrize("kind", [Search, ReducedSearch])
def test_many_starts_are_a_part_of_the_search(
    kind: type[Search], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the end it makes no difference when they were looked at."""
    ir = (EWD840.build(N=3) if kind is Search else TCommit.build(RM=3)).ir
    whole = finished(kind(ir))
    monkeypatch.setattr(search, "AT_ONCE", 0)
    later = kind(ir)
    counts = later.statistics()
    assert (counts["distinct"], counts["depth"], counts["finished"]) == (0, 0, False)
    assert finished(later) == whole and whole["distinct"] > 10


def test_walks_begin_when_all_starts_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    ir = EWD840.build(N=3).ir
    whole = finished(Walks(ir, 1, 20, 30))
    monkeypatch.setattr(search, "AT_ONCE", 0)
    assert finished(Walks(ir, 1, 20, 30)) == whole


def test_nothing_is_kept_before_all_starts_are_known(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ir = EWD840.build(N=3).ir
    monkeypatch.setattr(search, "AT_ONCE", 5)
    fds = [os.open(tmp_path / str(n), os.O_CREAT | os.O_RDWR) for n in range(6)]
    begun = Search(ir)
    keeper = Keeper(begun, fds)
    assert keeper.save() is None
    begun.advance(0.0)
    begun._start(1_000)
    saved = keeper.save()
    again = Search(ir)
    assert Keeper(again, fds).restore(saved)
    assert finished(again) == finished(Search(ir))
    for fd in fds:
        os.close(fd)


def test_one_start_is_found_as_among_all() -> None:
    meaning = Meaning(InnerFIFO.build(Message=2).ir)
    assert all(meaning.start(w.variables) == w for w in meaning.starts())
    assert meaning.start(()) is None
    meaning = Meaning(SyncTermination.build(N=2).ir)
    every = [[unpack_value(v) for v in variable.initial] for variable in meaning.ir.variables]
    rows = list(itertools.product(*every))
    found = [row for row in rows if meaning.start(row) is not None]
    assert found == [w.variables for w in meaning.starts()] and 0 < len(found) < len(rows)


def test_few_traces_take_every_step() -> None:
    counted = []
    for ir in (TwoPhase.build(RM=3).ir, ChangRoberts.build(N=3).ir):
        made = Search(ir)
        traces = finished(made)["fired"]
        taken = [{step["do"] for step in trace["case"]["steps"]} for trace in traces]
        assert set().union(*taken) >= set(made.fired)
        counted.append((len(traces), len(made.fired)))
    assert all(0 < few <= many for few, many in counted) and counted[0][0] < counted[0][1], counted


def test_a_step_may_have_thousands_of_statements() -> None:
    """More than Python has room for calls in one another."""
    ir = Turns.build().ir
    (action,) = ir.actions
    long = dataclasses.replace(action, body=action.body * 3_001)
    ir = dataclasses.replace(ir, actions=(long,))
    counts = Confirm(ir).advance(60.0)
    assert counts["finished"] and counts["distinct"] == finished(Search(ir))["distinct"] == 3
