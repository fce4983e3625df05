"""What a worker does with an ordinary subject: calls, objects, remote objects, fresh calls."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from refute.errors import NotPlainData, SandboxError, UsageError
from refute.plain import Opaque, Record
from refute.sandbox import Handle, Limits, Outcome, Remote, Worker, open_worker
from refute.sandbox.zygote import Zygote, prepare, release, zygote_of

LIMITS = Limits(wall_s=10.0, output=1000)
SUBJECT = """
import dataclasses, os, sys
from typing import Any

STATE = []

@dataclasses.dataclass
class Point:
    x: int
    y: float

class Stack:
    def __init__(self, items, device=None):
        self.items, self.device = list(items), device
    def push(self, item):
        self.items.append(item)
        return len(self.items)
    def save(self, data):
        return self.device.write(self.device.size, data)
    @classmethod
    def empty(cls):
        return cls([])

def echo(*args, **kwargs):
    return [list(args), kwargs]
def point(): return Point(1, 2.0)
def size(stack): return len(stack.items)
def remember(x):
    STATE.append(x)
    return len(STATE)
def fail(): raise OSError(28, "no space")
def apply(function, x): return function(x)
def apply_late(): return STATE[0](1)
def ask_wrongly(device): return device.write(lambda: 1)
def seen(value): return repr(value)
def order(): return list({"a", "b", "c", "d", "e"})
def read_fd(fd): return os.pread(fd, 100, 0)
def where(): return [os.getcwd(), __file__, sys.argv, sys.dont_write_bytecode]
def listing(path): return sorted(os.listdir(path))
def claims():
    from refute import claim, Claim
    import refute.sandbox
    return [callable(claim), Claim.__name__, refute.sandbox.Limits.__name__]
print("loaded")
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tree")
    (root / "src" / "package").mkdir(parents=True)
    (root / "src" / "package" / "__init__.py").write_text("from package.inner import NAME\n")
    (root / "src" / "package" / "inner.py").write_text("NAME = 'inner'\ndef name(): return NAME\n")
    (root / "subject.py").write_text(SUBJECT)
    (root / "broken.py").write_text("raise ValueError('while loading')\n")
    (root / "undeclared.txt").write_text("undeclared")
    (root / "tool").write_text("#!/bin/sh\n")
    (root / "tool").chmod(0o700)
    (root / "link").symlink_to("/etc/hostname")
    return root


@pytest.fixture(scope="module")
def worker(tree: Path) -> Iterator[Worker]:
    files = ["subject.py", "broken.py", "src/package/__init__.py", "src/package/inner.py"]
    with open_worker(tree, files, [".", "src"], LIMITS) as opened:
        yield opened


def test_arguments_and_values_come_back_equal(worker: Worker) -> None:
    args = (1, 2**80, 0.5, "é", b"\x00" * 300_000, None, True, [1, (2, {3})], {"a": {1: 2}})
    outcome = worker.call("subject:echo", *args, kwargs={"k": b"v"})
    assert outcome.kind == "returned"
    assert outcome.value == [list(args), {"k": b"v"}]
    assert not outcome.mutated


def test_dicts_are_seen_in_their_order_on_both_sides(worker: Worker) -> None:
    value = {3: "a", 1: {"z": 0, "b": 0}, 2: {(9,): 0, (8,): 0}}
    assert worker.call("subject:seen", value).value == repr(value)
    assert repr(worker.call("subject:echo", value).value) == repr([[value], {}])


def test_a_dataclass_comes_back_as_a_record(worker: Worker) -> None:
    value = worker.call("subject:point").value
    assert value == Record("subject.Point", (("x", 1), ("y", 2.0)))


def test_an_exception_comes_back_with_errno_and_place(worker: Worker) -> None:
    outcome = worker.call("subject:fail")
    assert (outcome.kind, outcome.error, outcome.errno) == ("raised", "OSError", 28)
    assert outcome.detail.startswith("subject.py:")
    assert outcome.detail.endswith("in fail")


@pytest.mark.parametrize(
    ("target", "error"),
    [
        ("missing:f", "ModuleNotFoundError"),
        ("subject:missing", "AttributeError"),
        ("broken:f", "ValueError"),
    ],
)
def test_what_cannot_be_loaded_was_not_called(worker: Worker, target: str, error: str) -> None:
    for fresh in (False, True):
        outcome = worker.call(target, fresh=fresh)
        assert (outcome.kind, outcome.error, outcome.loaded) == ("raised", error, False)


def test_packages_below_a_root_are_found(worker: Worker) -> None:
    assert worker.call("package.inner:name").value == "inner"


def test_objects_live_in_the_worker(worker: Worker) -> None:
    made = worker.create("subject:Stack", [1, 2])
    assert type(made.value) is Handle
    assert worker.invoke(made.value, "push", 3).value == 3
    assert worker.call("subject:size", made.value).value == 3
    assert worker.create("subject:Stack.empty").kind == "returned"
    assert worker.create("subject:fail").error == "OSError"


def test_a_handle_of_another_worker_is_refused(worker: Worker) -> None:
    with pytest.raises(SandboxError, match="another worker"):
        worker.invoke(Handle(-1, 0), "push", 1)


def test_a_remote_object_is_answered_by_the_parent(worker: Worker) -> None:
    asked = []

    def handler(method: str, args: tuple[object, ...]) -> object:
        asked.append((method, args))
        return len(asked)

    device = Remote(handler, attributes={"size": 7})
    made = worker.create("subject:Stack", [], device)
    assert worker.invoke(made.value, "save", b"data").value == 1
    assert worker.invoke(made.value, "save", b"more").value == 2
    assert asked == [("write", (7, b"data")), ("write", (7, b"more"))]


def test_a_remote_function_is_called_with_its_arguments(worker: Worker) -> None:
    double = Remote(lambda method, args: [method, args[0] * 2], callable=True)
    assert worker.call("subject:apply", double, 4).value == ["", 8]
    assert worker.call("subject:apply", double, 4, fresh=True).value == ["", 8]


def test_errors_of_a_handler_are_raised_in_the_worker(worker: Worker) -> None:
    def full(method: str, args: tuple[object, ...]) -> object:
        raise OSError(28, "full")

    def wrong(method: str, args: tuple[object, ...]) -> object:
        raise KeyError("bug")

    outcome = worker.call("subject:apply", Remote(full, callable=True), 1)
    assert (outcome.kind, outcome.error, outcome.errno) == ("raised", "OSError", 28)
    outcome = worker.call("subject:apply", Remote(wrong, callable=True), 1)
    assert (outcome.error, outcome.message) == ("RuntimeError", "KeyError: 'bug'")
    no_data = Remote(lambda method, args: object(), callable=True)
    assert worker.call("subject:apply", no_data, 1).error == "RuntimeError"
    outcome = worker.call("subject:ask_wrongly", Remote(full))
    assert outcome.error == "refute.errors.NotPlainData"


def test_a_handler_cannot_ask_its_own_worker(worker: Worker) -> None:
    again = Remote(lambda method, args: worker.call("subject:point").value, callable=True)
    outcome = worker.call("subject:apply", again, 1)
    assert "answering already" in outcome.message


def test_state_stays_between_calls_and_vanishes_after_fresh_ones(worker: Worker) -> None:
    assert worker.call("subject:remember", 1, fresh=True).value == 1
    assert worker.call("subject:remember", 1, fresh=True).value == 1
    assert worker.call("subject:remember", 1).value == 1
    assert worker.call("subject:remember", 1, fresh=True).value == 2
    assert worker.call("subject:remember", 1).value == 2


def test_what_is_printed_is_kept_apart(tree: Path) -> None:
    with open_worker(tree, ["subject.py"], ["."], LIMITS) as worker:
        assert worker.call("subject:point").stdout == "loaded\n"
        assert worker.call("subject:point").stdout == ""


def test_only_the_declared_files_exist(worker: Worker, tree: Path) -> None:
    assert worker.call("subject:listing", ".").value == ["broken.py", "src", "subject.py"]
    where = worker.call("subject:where").value
    assert where[2:] == [["worker"], True]
    with open_worker(tree, None, ["."], LIMITS) as whole:
        assert "undeclared.txt" in whole.call("subject:listing", ".").value


def test_programs_stay_programs_and_links_stay_links(tree: Path) -> None:
    with open_worker(tree, ["subject.py", "tool", "link"], ["."], LIMITS) as worker:
        assert worker.call("os:access", "tool", os.X_OK).value
        assert worker.call("os:readlink", "link").value == "/etc/hostname"


@pytest.mark.parametrize("files", [["../outside"], ["/etc/passwd"], ["missing.py"], ["src"]])
def test_a_file_that_is_not_in_the_tree_is_an_error(tree: Path, files: list[str]) -> None:
    with pytest.raises(SandboxError, match="could not be started") as caught:
        open_worker(tree, files, ["."], LIMITS)
    assert files[0].rpartition("/")[2] in str(caught.value)


def test_a_directory_behind_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.py").write_text("")
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "inside").symlink_to(tmp_path / "outside")
    with pytest.raises(SandboxError, match="symbolic link"):
        open_worker(tree, ["inside/secret.py"], ["."], LIMITS)


def test_the_hash_seed_is_the_given_one(tree: Path) -> None:
    orders = []
    for seed in (1, 1, 2, 3):
        with open_worker(tree, ["subject.py"], ["."], LIMITS, hash_seed=seed) as worker:
            orders.append(tuple(worker.call("subject:order").value))
    assert orders[0] == orders[1]
    assert len(set(orders)) > 1


def test_descriptors_are_inherited_at_their_numbers(tree: Path) -> None:
    fd = os.memfd_create("image")
    try:
        os.write(fd, b"image")
        with open_worker(tree, ["subject.py"], ["."], LIMITS, fds=(fd,)) as worker:
            assert worker.call("subject:read_fd", fd).value == b"image"
            assert worker.call("subject:read_fd", fd, fresh=True).value == b"image"
    finally:
        os.close(fd)


def test_the_judges_package_is_whole_in_a_worker(worker: Worker) -> None:
    assert worker.call("subject:claims").value == [True, "Claim", "Limits"]
    assert worker.call("refute.plain:type_name", 1).value == "builtins.int"


def test_arguments_must_be_plain_and_fit(worker: Worker) -> None:
    with pytest.raises(NotPlainData):
        worker.call("subject:echo", object())
    with pytest.raises(SandboxError, match="too large"):
        worker.call("subject:echo", bytes(65 * 2**20))
    assert worker.call("subject:point").kind == "returned"


def test_a_closed_worker_says_so(tree: Path) -> None:
    worker = open_worker(tree, ["subject.py"], ["."], LIMITS)
    worker.call("subject:point")
    assert worker.cpu_s >= 0
    worker.close()
    worker.close()
    assert not worker.alive
    assert worker.cpu_s > 0
    with pytest.raises(SandboxError, match="closed"):
        worker.call("subject:point")


def test_limits_must_be_positive() -> None:
    with pytest.raises(UsageError, match="processes"):
        Limits(processes=0)


def test_an_opaque_value_names_its_type(worker: Worker) -> None:
    outcome = worker.call("subject:Stack", [])
    assert type(outcome) is Outcome
    assert type(outcome.value) is Opaque
    assert outcome.value.type_name == "subject.Stack"


def test_an_exception_that_only_claims_to_be_a_builtin_is_not_called_one(tmp_path: Path) -> None:
    source = (
        'def f():\n    raise type("ValueError", (Exception,), {"__module__": "builtins"})("b")\n'
    )
    (tmp_path / "lying.py").write_text(source)
    with open_worker(tmp_path, None, ["."], Limits()) as worker:
        assert worker.call("lying:f").error == "ValueError (not the builtin)"
        assert worker.call("lying:g").error == "AttributeError"


@pytest.mark.parametrize(("made_up", "kind"), [(30.0, "returned"), (0.3, "timeout")])
def test_time_in_which_others_had_the_cpu_is_made_up_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made_up: float, kind: str
) -> None:
    (tmp_path / "subject.py").write_text("import time\ndef nap(s): time.sleep(s)\n")
    waited = iter(range(10**6))
    monkeypatch.setattr("refute.sandbox.worker.waited_s", lambda _: float(next(waited)))
    limits = Limits(wall_s=0.2, starved_s=made_up)
    with open_worker(tmp_path, None, (".",), limits) as worker:
        outcome = worker.call("subject:nap", 0.8)
    assert (outcome.kind, outcome.starved) == (kind, kind == "timeout")


def test_a_call_that_sleeps_is_not_starved(tmp_path: Path) -> None:
    (tmp_path / "subject.py").write_text("import time\ndef nap(s): time.sleep(s)\n")
    limits = Limits(wall_s=0.3, starved_s=20.0)
    with open_worker(tmp_path, None, (".",), limits) as worker:
        outcome = worker.call("subject:nap", 60)
    assert (outcome.kind, outcome.starved) == ("timeout", False)


# zygotes: see also tests/planted/test_hostile_subjects.py


@pytest.fixture
def zygote() -> Iterator[Zygote]:
    prepare(("refute.no.such.module",), later=("refute.specs.machine.loading", "refute.nor.this"))
    made = zygote_of(0)
    assert made is not None
    yield made
    release()


def test_a_forked_worker_is_as_one_that_was_spawned(tree: Path, zygote: Zygote) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"inherited")
    os.close(writing)
    said = []
    for seed in (0, 7):  # forked, spawned
        with open_worker(tree, ["subject.py"], [".", "src"], LIMITS, hash_seed=seed) as worker:
            calls = [worker.call("subject:where"), worker.call("subject:claims")]
            said.append(([c.value for c in calls], calls[0].stdout, worker.isolation))
        assert worker.cpu_s > 0
    assert said[0] == said[1]
    with open_worker(tree, None, ["."], LIMITS, fds=(reading,)) as worker:
        assert worker.call("builtins:len", "ab").value == 2
        assert worker.call("os:read", reading, 100).value == b"inherited"
    os.close(reading)


def test_a_zygote_loads_what_is_wanted_first_and_the_rest_between_forks(tree: Path) -> None:
    first, later = "refute.specs.machine.bits", "refute.specs.machine.intervals"

    def loaded(name: str) -> bool:
        with open_worker(tree, None, ["."], LIMITS) as worker:
            return worker.call("sys:modules.__contains__", name).value is True

    prepare((first,), later=(later,))
    try:
        assert loaded(first)
        assert any(loaded(later) for _ in range(20))
    finally:
        release()


def test_a_zygote_that_was_killed_is_replaced_by_spawning(tree: Path, zygote: Zygote) -> None:
    zygote.close()
    with open_worker(tree, None, ["."], LIMITS) as worker:
        assert worker.call("subject:echo", 1).value == [[1], {}]
    assert zygote_of(0) is None


def test_a_worker_outlives_its_zygote(tree: Path, zygote: Zygote) -> None:
    with open_worker(tree, None, ["."], LIMITS) as worker:
        zygote.close()
        assert worker.call("subject:echo", 1).value == [[1], {}]


def test_an_answer_that_an_interrupt_left_behind_is_not_the_next_one(
    tree: Path, zygote: Zygote
) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        zygote._send("fork", [], [theirs.fileno()] * 3)
    with open_worker(tree, None, ["."], LIMITS) as worker:
        assert worker.call("subject:echo", 1).value == [[1], {}]
