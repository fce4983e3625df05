"""Only a replay makes a witness, and it says how often the case broke the claim."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence

import pytest

from refute.errors import IllegalEvidence, UnreadableInput
from refute.replay import Counterexample, Playback, Replayed, Step, Witness, replay

CASE = Counterexample(
    "engine", {"x": (1, b"\0")}, (Step("f(1)", {"x": "2"}),), observed="2", expected="1", point="p"
)


class Script:
    """Plays what it was told, in turn, and then the last again; remembers the hash seeds."""

    def __init__(self, *plays: Playback) -> None:
        self.plays = itertools.chain(plays, itertools.repeat(plays[-1]))
        self.seeds: list[int] = []

    def play(self, counterexample: Counterexample, hash_seed: int) -> Playback:
        self.seeds.append(hash_seed)
        return next(self.plays)


def played(*plays: Playback) -> Replayed:
    return replay(CASE, Script(*plays))


def test_a_case_that_always_breaks_is_a_witness() -> None:
    script = Script(Playback(True, "2"))
    done = replay(CASE, script)
    assert done.witness is not None
    assert not done.witness.flaky
    assert (done.broke, done.runs) == (2, 2)
    assert script.seeds == [0, 1]
    assert done.reason == ""


def test_a_case_that_sometimes_breaks_is_a_flaky_witness() -> None:
    done = played(Playback(True, "2"), Playback(False, "1"))
    assert done.witness is not None
    assert done.witness.flaky
    assert (done.broke, done.runs) == (1, 6)
    assert not done.engine_wrong


def test_a_case_that_breaks_late_is_found_by_the_extra_runs() -> None:
    done = played(*[Playback(False, "1")] * 4, Playback(True, "2"))
    assert done.witness is not None
    assert (done.broke, done.runs) == (2, 6)


def test_the_engine_is_wrong_if_the_subject_never_varies() -> None:
    done = played(Playback(False, "1"))
    assert done.witness is None
    assert done.engine_wrong
    assert "the engine is wrong" in done.reason
    assert done.runs == 6


def test_the_engine_is_not_blamed_for_a_subject_that_varies() -> None:
    done = played(*(Playback(False, n) for n in range(6)))
    assert done.witness is None
    assert not done.engine_wrong
    assert "varies" in done.reason


def test_outputs_that_are_not_plain_data_can_be_compared() -> None:
    assert played(Playback(False, object())).deterministic


def test_a_case_that_cannot_be_played_says_nothing() -> None:
    script = Script(Playback(True, error="no such function"))
    done = replay(CASE, script)
    assert done.witness is None
    assert not done.engine_wrong
    assert done.reason == "the case could not be replayed: no such function"
    assert script.seeds == [0, 1]


def test_runs_that_failed_do_not_count() -> None:
    done = played(Playback(False, error="lost"), Playback(True, "2"))
    assert done.witness is not None
    assert (done.broke, done.runs) == (5, 5)


@pytest.mark.parametrize("token", [None, object(), "mint"])
def test_nobody_else_makes_a_witness(token: object) -> None:
    with pytest.raises(IllegalEvidence, match="made by replaying"):
        Witness(token, CASE, 2, 2)


def test_a_counterexample_survives_the_trip_through_json() -> None:
    assert Counterexample.from_json(json.loads(json.dumps(CASE.to_json()))) == CASE


@pytest.mark.parametrize(
    "change",
    [{"engine": None}, {"inputs": {"!spell": 1}}, {"steps": [1]}, {"steps": None}, {"steps": [{}]}],
    ids=str,
)
def test_what_is_no_counterexample_is_refused(change: dict[str, object]) -> None:
    data = {**CASE.to_json(), **change}
    if change == {"engine": None}:
        del data["engine"]
    with pytest.raises(UnreadableInput):
        Counterexample.from_json(data)


def test_a_witness_read_back_is_only_a_counterexample() -> None:
    made = played(Playback(True)).witness
    assert made is not None
    data = made.to_json()
    assert set(data) == {"counterexample", "broke", "runs"}
    assert Counterexample.from_json(data["counterexample"]) == CASE  # type: ignore[arg-type]


def test_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    script = Script(Playback(False, "1"))
    replay(CASE, script)
    seeds: Sequence[int] = script.seeds
    assert list(seeds) == [0, 1, 2, 3, 4, 5]
