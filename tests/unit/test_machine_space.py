"""Questions about a machine's states from Python."""

from __future__ import annotations

import pytest

from refute.errors import UsageError
from refute.specs.library.transaction_commit import RM, Phase, TCommit


def test_states_steps_and_predecessors() -> None:
    space = TCommit.build(RM=2).space()
    states = space.states()
    (start,) = space.initial()
    assert states[0] == start and len(set(states)) == len(states) == 12
    assert str(start) == "phase = {RM0: Phase.WORKING, RM1: Phase.WORKING}"
    steps = space.enabled(start)
    assert [str(s) for s in steps] == ["prepare(RM0)", "prepare(RM1)", "abort(RM0)", "abort(RM1)"]
    assert steps[0].params == (RM(0),)
    assert steps[0].after["phase"][RM(0)] == Phase.PREPARED
    before = space.predecessors(steps[0].after)
    assert [(state, str(step)) for state, step in before] == [(start, "prepare(RM0)")]
    done = [s for s in states if s.holds("decided")]
    assert {step.name for s in done for step in space.enabled(s)} == set()


def test_what_is_not_there() -> None:
    (start,) = TCommit.build(RM=1).space().initial()
    with pytest.raises(KeyError):
        start["nothing"]
    with pytest.raises(UsageError, match="no predicate"):
        start.holds("nothing")
