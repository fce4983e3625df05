"""Commands as subjects: programs that speak JSON lines."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from refute.errors import SandboxError
from refute.sandbox import Limits, Outcome, Remote, Worker, open_worker

LIMITS = Limits(wall_s=10.0)
PROGRAM = """#!PYTHON
import json, sys
objects = []
for line in sys.stdin:
    asked = json.loads(line)
    answer = {"id": asked["id"]}
    name = asked.get("call")
    if "create" in asked:
        objects.append(asked["args"])
        answer["handle"] = len(objects) - 1
    elif "invoke" in asked:
        objects[asked["on"]].extend(asked["args"])
        answer["return"] = len(objects[asked["on"]])
    elif name == "echo":
        answer["return"] = asked["args"] + [asked.get("kwargs", {})]
    elif name == "size":
        answer["return"] = len(objects[asked["args"][0]["!handle"]])
    elif name == "fail":
        print("trouble", file=sys.stderr, flush=True)
        answer["raise"] = {"type": "Full", "message": "no space", "errno": 28}
    elif name == "other_id":
        answer = {"id": asked["id"] + 1, "return": 1}
    elif name == "text_id":
        answer = {"id": str(asked["id"]), "return": 1}
    elif name == "true_id":
        answer = {"id": True, "return": 1}
    elif name == "chatter":
        print("hello", flush=True)
        continue
    elif name == "nothing":
        pass
    elif name == "bad_raise":
        answer["raise"] = "no"
    elif name == "twice":
        answer["return"] = 1
        print(json.dumps(answer), flush=True)
    elif name == "leave":
        sys.exit(3)
    elif name == "hang":
        continue
    elif name == "endless":
        while True:
            sys.stdout.write(" " * 2**20)
    elif name == "argv":
        answer["return"] = sys.argv[1:]
    print(json.dumps(answer), flush=True)
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tree")
    program = root / "program"
    program.write_text(PROGRAM.replace("PYTHON", str(Path(sys.executable).resolve())))
    program.chmod(0o755)
    return root


def started(tree: Path, command: str = "program") -> Worker:
    return open_worker(tree, ["program"], ["."], LIMITS, command=command)


def asked(tree: Path, name: str, timeout_s: float = 10.0) -> Outcome:
    with started(tree) as worker:
        return worker.call(name, timeout_s=timeout_s)


def test_calls_objects_and_errors(tree: Path) -> None:
    with started(tree, "program one 'two three'") as worker:
        value = worker.call("echo", 1, b"\x00", (2.5, None), kwargs={"k": [1]}).value
        assert value == [1, b"\x00", (2.5, None), {"k": [1]}]
        assert worker.call("argv").value == ["one", "two three"]
        stack = worker.create("Stack", 1).value
        assert worker.invoke(stack, "push", 2).value == 2
        assert worker.call("size", stack).value == 2
        outcome = worker.call("fail")
        assert (outcome.kind, outcome.error, outcome.errno) == ("raised", "Full", 28)
        assert outcome.stdout == "trouble\n"
        assert worker.isolation


def test_a_program_found_on_the_path_runs_a_file_of_the_tree(tree: Path) -> None:
    with started(tree, f"{Path(sys.executable).resolve().name} program x") as worker:
        assert worker.call("argv").value == ["x"]


@pytest.mark.parametrize(
    "name", ["other_id", "text_id", "chatter", "nothing", "bad_raise", "endless"]
)
def test_what_is_no_answer_is_protocol(tree: Path, name: str) -> None:
    assert asked(tree, name).kind == "protocol"


def test_true_is_not_one(tree: Path) -> None:
    assert asked(tree, "true_id").kind == "protocol"


def test_an_answer_too_many_is_found_at_the_next_call(tree: Path) -> None:
    with started(tree) as worker:
        assert worker.call("twice").value == 1
        assert worker.call("argv").kind == "protocol"


def test_leaving_and_hanging(tree: Path) -> None:
    assert asked(tree, "hang", timeout_s=0.2).kind == "timeout"
    outcome = asked(tree, "leave")
    assert (outcome.kind, outcome.detail) == ("died", "exit status 3")


def test_a_command_that_does_not_exist_dies_and_says_why(tree: Path) -> None:
    with started(tree, "no-such-program") as worker:
        outcome = worker.call("echo")
    assert (outcome.kind, outcome.detail) == ("died", "exit status 127")
    assert "no-such-program" in outcome.stdout


def test_remote_objects_and_fresh_calls_are_refused(tree: Path) -> None:
    with started(tree) as worker:
        with pytest.raises(SandboxError, match="no remote objects"):
            worker.call("echo", Remote(lambda method, args: None))
        with pytest.raises(SandboxError, match="fresh"):
            worker.call("echo", fresh=True)
