"""Crashes between any two steps: what they break is found, and the trace replays on the class."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Self

import pytest

from refute.errors import Unsupported
from refute.machine import (
    Formula,
    Machine,
    Model,
    Steps,
    Var,
    action,
    eventually_always,
    infinitely_often,
    recover,
    temporal,
    var,
)
from refute.specs.library.redo_log import Page, RedoLog
from refute.specs.library.write_ahead_log import WriteAheadLog
from refute.specs.machine.play import Play
from refute.verifiers.model.confirm import Confirm
from refute.verifiers.model.lasso import not_a_witness
from refute.verifiers.model.liveness import Liveness
from refute.verifiers.model.search import Search
from refute.verifiers.model.walking import walked

FILE = Path(__file__).parents[1] / "cases" / "machines" / "crash_machines.py"


@pytest.fixture(scope="module")
def machines() -> Iterator[ModuleType]:
    spec = importlib.util.spec_from_file_location("crash_machines", FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["crash_machines"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["crash_machines"]


def searched(model: Model) -> Search:
    search, second = Search(model.ir), Confirm(model.ir)
    first, other = search.advance(20.0), second.advance(20.0)
    assert search.finished
    assert (first["distinct"], first["generated"]) == (other["distinct"], other["generated"])
    return search


def test_a_crash_between_two_writes_is_found(machines: ModuleType) -> None:
    search = searched(machines.InPlace.build())
    hits: Any = search.report()["hits"]
    assert set(hits) == {"atomic"}
    steps = [s["do"] for s in hits["atomic"]["case"]["steps"]]
    assert steps == ["writer", "crash"]
    played = Play(machines.InPlace, {}, hits["atomic"]["case"]).judge()
    assert played["broke"] is True
    assert played["states"] == walked(search.ir.to_plain(), [hits["atomic"]["case"]])[0]["states"]
    without = {**hits["atomic"]["case"], "steps": hits["atomic"]["case"]["steps"][:-1]}
    assert Play(machines.InPlace, {}, without).judge()["broke"] is False


def test_recovery_is_in_the_same_step(machines: ModuleType) -> None:
    search = searched(machines.Forgets.build())
    assert search.hits == {} and search.report()["silent"] == []


class NoRedo(WriteAheadLog):
    """Planted: recovery forgets to write again what was committed."""

    @recover
    def redo(self) -> None:
        self.committed = False


def test_the_log_is_right_and_without_redo_it_is_not() -> None:
    search = searched(WriteAheadLog.build())
    assert set(search.hits) == {"ends"}
    hits: Any = searched(NoRedo.build()).report()["hits"]
    assert set(hits) == {"ends", "atomic", "durable"}
    for name in ("atomic", "durable"):
        assert Play(NoRedo, {}, hits[name]["case"]).judge()["broke"] is True


def test_crashes_are_inherited() -> None:
    assert issubclass(NoRedo, Machine) and NoRedo.build().ir.crashes


class Hasty(RedoLog):
    """The log is given up before the pages are written again."""

    @recover
    def redo(self) -> Steps[Self]:
        if self.committed:
            self.committed = False
            self = yield
            for p in Page:
                self.page[p] = self.logged[p]
                self = yield


def test_a_crash_in_the_middle_of_a_recovery_is_found() -> None:
    search = searched(Hasty.build())
    hits: Any = search.report()["hits"]
    case = hits["atomic"]["case"]
    done = [step["do"] for step in case["steps"]]
    assert done.count("crash") == 2 and done[-1] == "redo"
    assert Play(Hasty, {}, case).judge()["broke"]
    for fewer in range(1, len(done)):
        assert not Play(Hasty, {}, {**case, "steps": case["steps"][:fewer]}).judge()["broke"]


def test_the_redo_log_is_right_whenever_a_recovery_has_ended() -> None:
    search = searched(RedoLog.build(Page=3))
    assert set(search.report()["hits"]) == {"torn"}
    assert search.report()["silent"] == []


class Returns(Machine, crashes=True):
    """Sound: a crash leaves it down, and a recovery that is treated fairly brings it up."""

    up: Var[bool] = var(False, volatile=True)
    tried: Var[bool] = var(False)

    @recover(fair="weak")
    def come_up(self) -> Steps[Self]:
        self.up = True
        self = yield

    @action
    def start(self) -> None:
        self.up = True
        self.tried = True

    @temporal
    def comes_back(self) -> Formula:
        """It is up again and again, or was never brought up by anybody and never crashed."""
        return infinitely_often(lambda: self.up) | eventually_always(lambda: not self.tried)


class Stays(Returns):
    """Planted: nothing says that the recovery goes on."""

    @recover
    def come_up(self) -> Steps[Self]:
        self.up = True
        self = yield


class Halfway(Returns):
    """Planted: whenever it was half done, the next crash came; which is fair."""

    @recover(fair="weak")
    def come_up(self) -> Steps[Self]:
        self.tried = not self.tried
        self = yield
        self.up = True


def judged(model: Model) -> Liveness:
    liveness = Liveness(model.ir)
    while not liveness.advance(5.0)["finished"]:
        pass
    return liveness


def test_a_recovery_that_is_fair_ends_unless_crashes_go_on() -> None:
    assert judged(Returns.build()).hits == {}
    for machine, steps in ((Stays, ["start", "crash"]), (Halfway, ["crash", "come_up"])):
        liveness = judged(machine.build())
        trace: Any = liveness.hits["comes_back"]
        assert [s["do"] for s in trace["case"]["steps"]][: len(steps)] == steps
        assert not_a_witness(liveness.ir.to_plain(), trace["case"]) == ""
        assert Play(machine, {}, trace["case"]).judge()["broke"] is True
        assert "crash" not in trace["why"]


class Atomic(Machine, crashes=True):
    up: Var[bool] = var(False)

    @recover(fair="weak")
    def come_up(self) -> None:
        self.up = True


def test_a_recovery_without_steps_is_neither_fair_nor_unfair() -> None:
    with pytest.raises(Unsupported, match="the fairness of come_up, which is a part of the crash"):
        Atomic.build()
