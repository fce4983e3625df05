"""Crash states: the recording device, the enumeration, and what an image becomes."""

from __future__ import annotations

import errno
import itertools

import pytest

from refute.errors import IllegalClaim
from refute.oracles.device import Event, Fault, Fingerprints, RecordingDevice, blank, torn
from refute.specs.crash import Configuration, CrashConsistent
from refute.verifiers.crash.cases import Case
from refute.verifiers.crash.states import LEVELS, Crash, crashes, image, open_writes, possible

SIZE = 1024


def block(letter: str) -> bytes:
    return letter.encode() * SIZE


def log(text: str) -> list[Event]:
    """`1A 2B F 1C`: writes of a letter to a block, and flushes; `F!` failed."""
    events = []
    for word in text.split():
        if word[0] == "F":
            events.append(Event("flush", -1, b"", 0, "EIO" if "!" in word else ""))
        else:
            events.append(Event("write", int(word[0]), block(word[1]), 0))
    return events


@pytest.mark.parametrize("text", ["1A 2B F 1C", "1A F! 2B F 3C", "F 1A 1B 2C F 3D 4E", ""])
@pytest.mark.parametrize("flushes", [True, False])
def test_only_what_the_device_may_lose_is_replayed(text: str, flushes: bool) -> None:
    events = log(text)
    for level in LEVELS:
        assert all(possible(events, c, flushes) for c in crashes(events, 0, level, 4, flushes))
    assert not possible(events, Crash(len(events) + 1), flushes)


def test_a_crash_of_other_code_that_loses_durable_writes_is_not_possible() -> None:
    for crash in (Crash(4, frozenset({0})), Crash(4, torn=(1, 1)), Crash(1, frozenset({3}))):
        assert not possible(log("1A 2B F 1C"), crash, True)
    assert possible(log("1A 2B F 1C"), Crash(4, frozenset({0})), False)


def test_the_device_records_and_answers() -> None:
    device = RecordingDevice(blank(4, SIZE), SIZE)
    device.op = 3
    assert device.handle("write", (1, block("A"))) == SIZE
    assert device.handle("flush", ()) is None
    assert device.handle("read", (1,)) == block("A")
    assert [(e.kind, e.block, e.op) for e in device.events] == [("write", 1, 3), ("flush", -1, 3)]


@pytest.mark.parametrize(
    "call",
    [("read", (9,)), ("read", ("0",)), ("write", (0, b"short")), ("write", (True, b"")), ("x", ())],
)
def test_the_device_refuses_what_means_nothing(call: tuple[str, tuple[object, ...]]) -> None:
    device = RecordingDevice(blank(2, SIZE), SIZE)
    with pytest.raises(OSError) as caught:
        device.handle(*call)
    assert caught.value.errno == errno.EINVAL
    assert device.events == []


def test_faults_strike_once_and_say_what_they_did() -> None:
    device = RecordingDevice(blank(2, SIZE), SIZE, Fault(1, "short"))
    assert device.write(0, block("A")) == SIZE
    assert device.write(1, block("B")) == 512
    assert device.blocks[1] == block("B")[:512] + bytes(512)
    assert device.struck == -1
    device = RecordingDevice(blank(2, SIZE), SIZE, Fault(0, "ENOSPC"))
    with pytest.raises(OSError) as caught:
        device.write(0, block("A"))
    assert caught.value.errno == errno.ENOSPC
    assert device.blocks[0] == bytes(SIZE)


def test_flushes_close_an_epoch_and_failed_ones_leave_it_open() -> None:
    assert open_writes(log("1A 2B F 1C"), 4, True) == [3]
    assert open_writes(log("1A 2B F! 1C F 2D"), 6, True) == [0, 1, 5]
    assert open_writes(log("1A F 2B"), 3, False) == [0, 2]


def test_an_image_is_what_was_kept_in_order() -> None:
    base = blank(4, SIZE)
    events = log("1A 2B 1C")
    assert image(base, events, Crash(3)) == {1: block("C"), 2: block("B")}
    assert image(base, events, Crash(3, frozenset({2}))) == {1: block("A"), 2: block("B")}
    half = image(base, events, Crash(3, torn=(2, 0b10)))
    assert half[1] == block("A")[:512] + block("C")[512:]


def test_torn_mixes_sectors() -> None:
    assert torn(block("A"), block("B"), 0b01) == block("B")[:512] + block("A")[512:]


@pytest.mark.parametrize("text", ["1A 2B 3C", "1A F 2B 3C", "1A 2B F 3C 1D", "1A 1B 2C 3D"])
def test_all_levels_together_give_every_subset(text: str) -> None:
    """Against the definition: any subset of the open writes at any point, found by brute force."""
    base, events = blank(5, SIZE), log(text)
    expected: set[tuple[bytes, ...]] = set()
    for point in range(1, len(events) + 1):
        waiting = open_writes(events, point, True)
        for count in range(len(waiting) + 1):
            for lost in itertools.combinations(waiting, count):
                delta = image(base, events, Crash(point, frozenset(lost)))
                expected.add(tuple(delta.get(n, b) for n, b in enumerate(base)))
    got = set()
    for level in LEVELS:
        for crash in crashes(events, 0, level, subsets=9):
            delta = image(base, events, crash)
            if crash.torn is None:
                got.add(tuple(delta.get(n, b) for n, b in enumerate(base)))
    untouched = {tuple(base)}  # a crash before the first write belongs to shorter recordings
    assert got - untouched == expected - untouched


def test_a_state_falls_at_the_first_point_where_it_can_be() -> None:
    events = log("1A 2B 3C F")
    kept_second = [c for c in crashes(events, 0, "single", 6) if c.lost == frozenset({0})]
    assert min(c.point for c in kept_second) == 2


def test_states_of_earlier_operations_are_left_to_them() -> None:
    events = log("1A 2B F 3C 4D")
    points = [c.point for level in LEVELS for c in crashes(events, 3, level, 6)]
    assert points and min(points) > 3


def test_pinned_counts() -> None:
    """A change that quietly looks at less fails here."""
    events = log("1A 2B 3C 4D F 1E 2F 3G F")
    counts = {level: len(list(crashes(events, 0, level, 6))) for level in LEVELS}
    assert counts == {"prefixes": 8, "single": 30, "pairs": 32, "subsets": 0}


def test_without_flushes_everything_stays_open() -> None:
    events = log("1A F 2B F")
    lost = {c.lost for level in LEVELS for c in crashes(events, 0, level, 6, flushes=False)}
    assert frozenset({0, 2}) in lost


def test_fingerprints_follow_changes() -> None:
    prints = Fingerprints()
    base = blank(4, SIZE)
    start = prints.image(base)
    changed = [base[0], block("A"), base[2], block("B")]
    delta = {1: block("A"), 3: block("B")}
    assert prints.changed(base, start, delta) == prints.image(changed) != start
    assert prints.image([block("A"), block("B")]) != prints.image([block("B"), block("A")])


def test_cases_travel_as_plain_data() -> None:
    inner = Case("atomicity", (), (("sync",),), crash=Crash(3, frozenset({1}), (2, 1)))
    case = Case(
        "recovery",
        (("create", "/a"),),
        (("write", "/a", 0, b"x"),),
        fault=Fault(2, "short"),
        crash=Crash(5),
        again=Crash(1),
        first=inner,
        watch=0,
        prior=inner,
    )
    assert Case.from_plain(case.to_plain()) == case


@pytest.mark.parametrize(
    "options",
    [
        {"property": "nonsense"},
        {"depth": 0},
        {"block_size": 1000},
        {"durability": "maybe"},
        {"persistence": "paper"},
        {"model": "spec:Model"},
        {"structure": "no reference"},
        {"refusals": ["EWHATEVER"]},
        {"names": "ab"},
        {"unknown": 1},
        {"operations": [["_private"]]},
        {"model": "spec:Model", "operations": [("put",)], "property": "structure"},
    ],
    ids=str,
)
def test_meaningless_statements_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(IllegalClaim):
        CrashConsistent("system:System", **options)  # type: ignore[arg-type]


def test_a_statement_carries_its_configuration() -> None:
    statement = CrashConsistent(
        "system:System", "fsync", model="spec:Model", operations=[["put", b"x"]], depth=3
    )
    configuration = Configuration.of(statement)
    assert configuration.operations == (("put", b"x"),)
    assert (configuration.depth, configuration.filesystem) == (3, False)
    assert statement.spec == ("spec:Model",)
    assert statement.from_json(statement.to_json()) == statement
