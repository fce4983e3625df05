"""AgreesWith: what it says as data, where its sequences come from, and how an object answers."""

from __future__ import annotations

import errno
import json
import sys
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from refute.budget import Budget
from refute.claim import Claim, claim
from refute.errors import IllegalClaim
from refute.fuzz.sequences import (
    all_sequences,
    instances,
    number_of_instances,
    number_of_sequences,
    sampled_sequences,
    simpler_sequence,
)
from refute.specs.domains import Ints, Records, Text
from refute.specs.reference import AgreesWith, operations_of
from refute.specs.sequences import MemoryDevice, fresh, play
from refute.verifiers.differential import sources

QUEUE = {"put": {"x": Ints(0, 1)}, "get": {}}
OPERATIONS = {name: Records(args) for name, args in QUEUE.items()}
CASES = Path(__file__).parents[1] / "cases" / "functions"


@pytest.fixture
def queues(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(CASES))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)


def test_a_statement_survives_the_trip_through_sorted_json() -> None:
    operations = {"z": {"b": Ints(), "a": Text(max=1)}, "a": {}}
    stated = claim("it", AgreesWith("m:A", "s:A", operations, observe=[("z", 1, "")]))
    back = Claim.from_json(json.loads(json.dumps(stated.to_json(), sort_keys=True)))
    assert back == stated
    taken = operations_of(back.statement)
    assert list(taken) == ["z", "a"]
    assert list(taken["z"].of) == ["b", "a"]
    assert back.statement.spec == ("s:A",)


def test_ready_references_need_nothing_of_the_tree() -> None:
    stated = AgreesWith("m:A", "directory", QUEUE)
    assert stated.params["reference"] == "refute.oracles.directory:Directory"
    assert stated.spec == ()


@pytest.mark.parametrize(
    "options",
    [
        {"operations": {}},
        {"operations": {"put": {"x": 3}}},
        {"subject": "nothing"},
        {"reference": "nothing"},
        {"depth": 0},
        {"depth": 3, "longest": 2},
        {"errors": "roughly"},
        {"may_refuse": ["ENOSENSE"]},
        {"device": {"blocks": 3}},
        {"setup": [()]},
        {"observe": [(1,)]},
        {"ignore": {"stat": "ino"}},
    ],
    ids=str,
)
def test_meaningless_statements_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(IllegalClaim):
        AgreesWith(**{"subject": "m:A", "reference": "s:A", "operations": QUEUE, **options})


def test_all_sequences_are_as_many_as_counted_and_short_ones_come_first() -> None:
    assert instances(OPERATIONS) == [["put", 0], ["put", 1], ["get"]]
    assert number_of_instances(OPERATIONS) == 3
    sequences = list(all_sequences(OPERATIONS, 3))
    assert len(sequences) == number_of_sequences(3, 3) == 3 + 9 + 27
    assert len({json.dumps(s) for s in sequences}) == len(sequences)
    assert [len(s) for s in sequences] == sorted(len(s) for s in sequences)


def test_unbounded_arguments_have_no_end_of_instances() -> None:
    assert instances({"put": Records({"x": Ints()})}) is None
    assert number_of_instances({"put": Records({"x": Ints()})}) is None


def test_samples_repeat_with_the_seed_and_keep_their_lengths() -> None:
    first = list(islice(sampled_sequences(OPERATIONS, 3, 6, seed=1), 50))
    assert first == list(islice(sampled_sequences(OPERATIONS, 3, 6, seed=1), 50))
    assert first != list(islice(sampled_sequences(OPERATIONS, 3, 6, seed=2), 50))
    assert {len(s) for s in first} == {3, 4, 5, 6}


def test_simpler_sequences_leave_out_operations_or_simplify_arguments() -> None:
    simpler = list(simpler_sequence(OPERATIONS, [["put", 1], ["get"]]))
    assert [["get"]] in simpler
    assert [["put", 1]] in simpler
    assert [["put", 0], ["get"]] in simpler
    assert [] not in simpler


@pytest.mark.parametrize(
    ("cases", "depth", "complete", "names"),
    [
        (100, 3, True, ["of all sequences to depth 3", "sampled sequences of up to 5"]),
        (50, 4, False, ["of all sequences to depth 2", "sampled sequences of up to 5"]),
        (5, 2, False, ["sampled sequences of up to 5"]),
    ],
)
def test_a_budget_decides_how_deep_all_sequences_go(
    cases: int, depth: int, complete: bool, names: list[str]
) -> None:
    if cases == 5:
        names = ["sampled sequences of up to 5"]
    found = sources(OPERATIONS, depth, 5, Budget(cases=cases))
    assert [s.name for s in found] == names
    assert any(s.complete for s in found) == complete


@pytest.mark.usefixtures("queues")
def test_an_object_is_made_anew_for_each_sequence() -> None:
    job = ([["put", 5], ["all"]], [])
    assert (
        play("queues:Reference", None, "", [job, job])
        == [['["returned", 1]', '["returned", [5]]']] * 2
    )


@pytest.mark.usefixtures("queues")
def test_operations_left_out_are_not_done() -> None:
    [answers] = play("queues:Reference", None, "", [([["put", 5], ["put", 6], ["all"]], [0])])
    assert answers == ["", '["returned", 1]', '["returned", [6]]']


@pytest.mark.usefixtures("queues")
def test_errors_and_unknown_methods_are_answers() -> None:
    [answers] = play("queues:Lenient", None, "", [([["get"], ["fly"], *[["put", 1]] * 4], [])])
    told = [json.loads(text) for text in answers]
    assert told[0][:2] == ["raised", "IndexError"]
    assert told[1][:2] == ["raised", "AttributeError"]
    assert told[5][1:4] == ["OSError", "[Errno 28] full", errno.ENOSPC]
    assert told[5][5] == [errno.EDQUOT]


@pytest.mark.usefixtures("queues")
def test_a_subject_over_a_device_is_formatted_and_mounted() -> None:
    made = fresh("queues:Counter", {"block_count": 2, "block_size": 8})
    assert [made.add(3), made.add(4)] == [3, 7]


def test_the_device_in_memory_keeps_its_contract() -> None:
    device = MemoryDevice(2, 8)
    assert device.write(1, b"12345678") == 8
    device.flush()
    assert (device.read(0), device.read(1)) == (bytes(8), b"12345678")
    for attempt in (lambda: device.read(2), lambda: device.write(0, b""), lambda: device.read(-1)):
        with pytest.raises(OSError):
            attempt()
