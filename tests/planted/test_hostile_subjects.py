"""Hostile subjects change nothing but their own outcome.

Each attack is a function in tests/cases/hostile. After each one the parent must still work, and
neither descriptors nor processes of this process may be left over. All of it holds for workers that
were spawned and for those that a zygote forked.
"""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from refute import plain
from refute.sandbox import Limits, Outcome, Worker, open_worker
from refute.sandbox.link import Link
from refute.sandbox.processes import children, descendants
from refute.sandbox.zygote import prepare, release, zygote_of

CASES = Path(__file__).parents[1] / "cases" / "hostile"
LIMITS = Limits(cpu_s=5.0, wall_s=10.0, memory=2**29)


def hostile(limits: Limits = LIMITS, **options: object) -> Worker:
    return open_worker(CASES, None, [".", "shadow"], limits, **options)  # type: ignore[arg-type]


def open_descriptors() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


@pytest.fixture(scope="module", params=["spawned", "forked"], autouse=True)
def start(request: pytest.FixtureRequest) -> Iterator[str]:
    if request.param == "forked":
        prepare()
    yield request.param
    release()


@pytest.fixture
def others() -> set[int]:
    """The processes below this one that are no workers."""
    return descendants(os.getpid())


@pytest.fixture(autouse=True)
def nothing_is_left(start: str) -> Iterator[None]:
    before = open_descriptors(), sorted(children(os.getpid()))
    yield
    assert (open_descriptors(), sorted(children(os.getpid()))) == before


@pytest.fixture
def worker() -> Iterator[Worker]:
    with hostile() as opened:
        yield opened


@pytest.fixture
def jailed() -> Iterator[Worker]:
    """A worker whose attacks would be dangerous without namespaces."""
    with hostile() as opened:
        if not opened.isolation.startswith("namespaces: user"):
            pytest.skip(f"needs namespaces, got {opened.isolation}")
        yield opened


def sound_after(worker: Worker) -> bool:
    """Whether the same worker still answers, and rightly."""
    return worker.call("sound:add", 1, 2).value == 3


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


# hanging and overusing


@pytest.mark.parametrize("attack", ["spin", "sleep", "stop_itself"])
def test_a_hang_is_a_timeout(worker: Worker, attack: str) -> None:
    outcome = worker.call(f"hangs:{attack}", timeout_s=0.1)
    assert outcome.kind == "timeout"
    assert worker.call("sound:add", 1, 2) == outcome  # dead is dead
    assert not worker.alive


def test_processor_time_is_limited() -> None:
    with hostile(Limits(cpu_s=1.0)) as worker:
        outcome = worker.call("eats:processor", timeout_s=30)
        assert outcome.kind == "timeout"
        assert "CPU seconds" in outcome.detail
        assert 1.0 <= worker.cpu_s < 5
        assert worker.call("eats:processor").kind == "timeout"


def test_processor_time_of_many_short_calls_adds_up() -> None:
    with hostile(Limits(cpu_s=0.3)) as worker:
        outcomes = [worker.call("eats:processor_for", 0.01).kind for _ in range(100)]
    assert outcomes[0] == "returned"
    assert outcomes[-1] == "timeout"


def test_memory_is_limited(worker: Worker) -> None:
    assert worker.call("eats:memory").error == "MemoryError"
    assert sound_after(worker)
    assert worker.call("eats:memory_bit_by_bit").error == "MemoryError"


def test_disk_is_limited(jailed: Worker) -> None:
    assert jailed.call("eats:disk", "/tmp/big").errno == 27  # EFBIG
    assert jailed.call("eats:disk", "/tree/big").errno == 30  # EROFS


def test_a_fork_bomb_is_limited_and_cleared(others: set[int], jailed: Worker) -> None:
    outcome = jailed.call("forks:bomb")
    made, errno = outcome.value
    assert made < LIMITS.processes
    assert errno == 11
    pids = descendants(os.getpid()) - others
    assert len(pids) > made
    jailed.close()
    assert not any(map(alive, pids))


@pytest.mark.parametrize("isolation", ["auto", "unprivileged", "process"])
def test_processes_left_behind_are_killed(others: set[int], isolation: str) -> None:
    with hostile(isolation=isolation) as worker:
        assert worker.call("forks:leave_one_behind").kind == "returned"
        pids = descendants(os.getpid()) - others
    assert len(pids) >= 3
    assert not any(map(alive, pids))


def test_the_parent_counts_processes_where_the_kernel_does_not() -> None:
    with hostile(isolation="process") as worker:
        outcome = worker.call("forks:sleeping_children", 40)
        assert outcome.kind == "died"
        assert "processes at once" in outcome.detail


# leaving


@pytest.mark.parametrize(
    ("attack", "detail"),
    [
        ("exit_zero", "exit status 0"),
        ("abort", "SIGABRT"),
        ("kill_itself", "SIGKILL"),
        ("close_everything", "exit status"),
    ],
)
def test_ending_the_process_is_not_returning(worker: Worker, attack: str, detail: str) -> None:
    outcome = worker.call(f"leaves:{attack}")
    assert outcome.kind == "died"
    assert detail in outcome.detail


def test_ending_a_fresh_process_leaves_the_worker(worker: Worker) -> None:
    outcome = worker.call("leaves:exit_zero", fresh=True)
    assert (outcome.kind, outcome.detail) == ("died", "exit status 0")
    assert worker.call("leaves:abort", fresh=True).detail == "killed by SIGABRT"
    assert worker.alive
    assert sound_after(worker)


# printing


def test_megabytes_of_output_are_read_and_forgotten(worker: Worker) -> None:
    outcome = worker.call("prints:megabytes", 20)
    assert outcome.value == 20
    assert LIMITS.output < len(outcome.stdout) < LIMITS.output + 100
    assert outcome.stdout.endswith("more bytes")
    assert worker.call("sound:add", 1, 2).stdout == ""


def test_printing_is_no_answer(worker: Worker) -> None:
    outcome = worker.call("prints:look_like_an_answer")
    assert outcome.value == 7
    assert "nonce" in outcome.stdout


# patching and lying


def test_patching_the_library_changes_no_answer(worker: Worker) -> None:
    assert sound_after(worker)  # loads it, since importing is among what breaks
    outcome = worker.call("patches:attack")
    assert (outcome.kind, outcome.value) == ("returned", 1.5)
    assert worker.call("patches:after").value == 2.5
    assert sound_after(worker)


@pytest.mark.parametrize(
    ("attack", "type_name"),
    [
        ("equal", "returns.Equal"),
        ("integer", "returns.Integer"),
        ("function", "builtins.function"),
        ("nameless", "unknown"),
    ],
)
def test_what_is_no_plain_data_is_opaque(worker: Worker, attack: str, type_name: str) -> None:
    value = worker.call(f"returns:{attack}").value
    assert value == plain.Opaque(type_name) or value.type_name == type_name
    for other in (41, 42, value, True):
        assert not plain.same(value, other)


def test_an_object_equal_to_all_equals_nothing_inside_a_list(worker: Worker) -> None:
    value = worker.call("returns:equal_inside").value
    assert value[0] == 1
    assert not plain.same(value, [1, 2])
    assert not plain.same(value, value)


def test_nan_arrives_as_nan(worker: Worker) -> None:
    value = worker.call("returns:nan").value
    assert plain.same(value, float("nan"))
    assert not plain.same(value, 0.0)


@pytest.mark.parametrize("attack", ["deep", "cyclic"])
def test_bottomless_values_end_in_opaque(worker: Worker, attack: str) -> None:
    assert worker.call(f"returns:{attack}").kind == "returned"
    assert sound_after(worker)


@pytest.mark.parametrize("attack", ["many_bytes", "long_texts"])
def test_enormous_values_are_refused(worker: Worker, attack: str) -> None:
    outcome = worker.call(f"returns:{attack}")
    assert outcome.kind == "protocol"
    assert "too large" in outcome.detail


def test_mutated_arguments_stay_in_the_worker(worker: Worker) -> None:
    numbers, names = [1, 2, 3], {"a": [1]}
    outcome = worker.call("mutates:attack", numbers, names)
    assert (outcome.value, outcome.mutated) == (4, True)
    assert (numbers, names) == ([1, 2, 3], {"a": [1]})
    assert not worker.call("mutates:honest", numbers, names).mutated


# raising


@pytest.mark.parametrize(
    ("attack", "error"),
    [
        ("system_exit", "SystemExit"),
        ("builtin_exit", "SystemExit"),
        ("keyboard_interrupt", "KeyboardInterrupt"),
        ("generator_exit", "GeneratorExit"),
        ("base", "raises.Base"),
        ("mute", "raises.Mute"),
        ("odd", "raises.Odd"),
        ("surrogate", "ValueError"),
        ("recursion", "RecursionError"),
    ],
)
def test_whatever_is_raised_is_an_outcome(worker: Worker, attack: str, error: str) -> None:
    outcome = worker.call(f"raises:{attack}")
    assert (outcome.kind, outcome.error) == ("raised", error)
    assert f"in {attack}" in outcome.detail
    assert outcome.loaded
    outcome.message.encode()
    assert sound_after(worker)


def test_a_crash_of_the_interpreter_is_an_outcome(worker: Worker) -> None:
    outcome = worker.call("raises:unlimited_recursion", timeout_s=10)
    assert outcome.kind in ("died", "raised")
    assert outcome.kind == "raised" or "SIGSEGV" in outcome.detail


# forging


def test_a_forged_answer_is_the_forgers_own_outcome_and_no_other(worker: Worker) -> None:
    assert worker.call("forges:answer_twice").value == "forged"
    following = worker.call("sound:add", 1, 2)
    assert following.kind == "protocol"
    with hostile() as other:
        assert sound_after(other)


@pytest.mark.parametrize(
    "attack",
    [
        "answer_ahead",
        "garbage",
        "huge_lengths",
        "not_json",
        "not_an_object",
        "nested",
        "ask_for_nothing",
    ],
)
def test_what_is_no_answer_ends_the_worker(worker: Worker, attack: str) -> None:
    outcome = worker.call(f"forges:{attack}", timeout_s=5)
    assert outcome.kind == "protocol"
    assert worker.call("sound:add", 1, 2).kind == "protocol"


@pytest.mark.parametrize(
    "reply",
    [
        {},
        {"kind": "returned"},
        {"kind": "returned", "value": 1, "mutated": "yes"},
        {"kind": "returned", "value": {"!int": "zz"}, "mutated": False},
        {"kind": "returned", "value": {"!blob": 3}, "mutated": False},
        {"kind": "returned", "value": {"!unknown": 3}, "mutated": False},
        {"kind": "established", "value": 1, "mutated": False},
        {"kind": ["returned"], "value": 1, "mutated": False},
        {"kind": "raised", "error": 1, "message": "", "detail": "", "errno": 1, "loaded": True},
        {"kind": "died", "detail": "not fresh"},
        {"remote": "0", "method": "x", "args": []},
    ],
)
def test_malformed_answers_are_refused(worker: Worker, reply: dict[str, object]) -> None:
    assert worker.call("forges:bad_fields", reply).kind == "protocol"


def test_half_an_answer_is_none(worker: Worker) -> None:
    assert worker.call("forges:half_a_frame").kind == "died"


def test_an_alarm_that_rings_in_the_harness_ends_that_worker_only(worker: Worker) -> None:
    assert worker.call("forges:alarm_later").value == 1
    time.sleep(0.1)
    outcome = worker.call("sound:add", 1, 2)
    assert outcome.kind == "died" or outcome.value == 3


# reaching out


def refused(outcome: Outcome) -> bool:
    return outcome.kind == "raised" and outcome.errno is not None


def test_files_outside_do_not_exist(jailed: Worker, tmp_path: Path) -> None:
    key = tmp_path / "ledger-key-that-no-worker-sees"
    key.write_text("secret")
    for path in (str(key), "/etc/passwd", str(Path.home() / ".bashrc"), str(CASES / "hangs.py")):
        assert jailed.call("reaches:read", path).error == "FileNotFoundError"
    assert jailed.call("reaches:see", key.name).value == []
    assert jailed.call("reaches:read", "/tree/sound.py").kind == "returned"


def test_files_written_stay_in_the_worker(jailed: Worker) -> None:
    name = f"/tmp/written-by-a-subject-{os.getpid()}"
    assert jailed.call("reaches:write", name).value == name
    assert not Path(name).exists()
    for path in ("/tree/x", "/x", "/usr/lib/x", str(Path(plain.__file__).with_name("x.py"))):
        assert refused(jailed.call("reaches:write", path)), path
    assert not (CASES / "x").exists()


def test_the_environment_is_fixed(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFUTE_TEST_SECRET", "1")
    with hostile() as later:
        value = later.call("reaches:environment").value
    assert value == worker.call("reaches:environment").value
    assert "REFUTE_TEST_SECRET" not in value
    assert value["PYTHONHASHSEED"] == "0"


def test_there_is_no_network(jailed: Worker) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert refused(jailed.call("reaches:connect", "127.0.0.1", port))
    with socket.socket(socket.AF_UNIX) as local:
        name = f"refute-test-{os.getpid()}"
        local.bind("\0" + name)
        local.listen()
        assert refused(jailed.call("reaches:connect_abstract", name))
    assert jailed.call("reaches:interfaces").value == []


def test_only_the_workers_own_processes_can_be_seen_or_killed(jailed: Worker) -> None:
    assert jailed.call("reaches:visible_processes").value == 2
    assert jailed.call("reaches:look_into_init").value == []
    assert jailed.call("reaches:become_root").value == 65534
    assert jailed.call("reaches:new_user_namespace").value != 0
    assert jailed.call("reaches:kill_everything").kind in ("returned", "died")
    assert jailed.call("reaches:kill_group").kind == "died"


def test_the_worker_has_only_its_own_descriptors(worker: Worker) -> None:
    with Path(__file__).open("rb"):
        seen = worker.call("reaches:descriptors").value
    # Three standard ones, the wire, and the directory that is being listed.
    assert seen[:3] == [0, 1, 2]
    assert len(seen) == 5


# shadowing


def test_files_of_the_tree_shadow_nothing_of_the_judge(worker: Worker) -> None:
    outcome = worker.call("shadows:attack")
    assert outcome.value == ["tree", "tree", "json", True]
    genuine = worker.call("refute.plain:dumps", {"a": 1.5})
    assert genuine.value == '{"a":1.5}'
    # A module of refute that is loaded only now takes its imports from where refute's own come
    # from, although the tree's file of that name is loaded already, and stays so for the subject.
    assert worker.call("shadows:what_the_judge_imports").value == "hypothesis has no WHO"
    assert worker.call("shadows:attack").value == outcome.value


# the parent is interrupted


def test_an_interrupted_parent_kills_the_worker(others: set[int]) -> None:
    def ring(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGALRM, ring)
    try:
        with hostile() as worker:
            pids = descendants(os.getpid()) - others
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            with pytest.raises(KeyboardInterrupt):
                worker.call("hangs:sleep")
            assert not any(map(alive, pids))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


def test_an_interrupted_start_leaves_nothing(
    others: set[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    def ring(link: Link, deadline: float) -> None:
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr(Link, "told", ring)
    with pytest.raises(KeyboardInterrupt):
        hostile()
    assert not descendants(os.getpid()) - others


# zygotes


def test_workers_of_a_zygote_share_neither_state_nor_randomness(start: str) -> None:
    drawn = []
    for _ in range(2):
        with hostile() as worker:
            assert worker.call("sound:counted").value == 1
            drawn.append(worker.call("sound:random_number").value)
    assert drawn[0] != drawn[1]
    assert (zygote_of(0) is not None) is (start == "forked")
