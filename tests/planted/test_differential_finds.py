"""Every planted defect of an object is found with its shortest sequence; sound ones are spared."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Any

import pytest

from refute.claim import Statement, Verdict
from refute.evidence import Evidence
from refute.specs.domains import Ints
from refute.specs.reference import AgreesWith

Judge = Callable[..., Evidence]
QUEUE = {"put": {"x": Ints(0, 1)}, "get": {}}


def queue(subject: str, reference: str = "Reference", **options: Any) -> Statement:
    options = {"depth": 4, "longest": 6, **options}
    return AgreesWith(f"queues:{subject}", f"queues:{reference}", QUEUE, **options)


@pytest.mark.parametrize(
    ("statement", "shortest", "observed"),
    [
        (queue("Stack"), [["put", 0], ["put", 1], ["get"]], "the subject returned 1"),
        (queue("Forgets", observe=[("all",)]), [["put", 0], ["put", 0]], "all(): the subject"),
        (queue("WrongErrno"), [["put", 0]] * 4, "[Errno 122]"),
        (queue("WrongType"), [["get"]], "raised KeyError"),
        (queue("Small"), [["put", 0]] * 3, "[Errno 28]"),
        (
            queue("SmallAndDirty", may_refuse=["ENOSPC"], observe=[("all",)]),
            [["put", 0]] * 3,
            "all(): the subject returned []",
        ),
        (queue("Exits"), [["put", 0], ["put", 0], ["get"]], "ended its process"),
        (queue("CannotBeMade"), [["put", 0]], "raised RuntimeError: no"),
        (queue("Missing"), [["put", 0]], "cannot be loaded"),
        (queue("Sound", observe=[("facts",)]), [["put", 0]], "'version': 2"),
        (queue("Sound", setup=[("put", 7), ("put", 8)], observe=[("all",)]), [["put", 0]], "all()"),
        (
            AgreesWith(
                "queues:Counter",
                "queues:LimitedCounter",
                {"add": {"n": Ints(1, 2)}},
                device={"block_count": 1, "block_size": 512},
                depth=3,
            ),
            [["add", 2], ["add", 2], ["add", 1]],
            "add(1): the subject returned 5",
        ),
    ],
    ids=lambda value: value.text[:40] if isinstance(value, Statement) else "",
)
def test_a_defect_is_found_with_its_shortest_sequence(
    judged: Judge, statement: Statement, shortest: object, observed: str
) -> None:
    evidence = judged(statement)
    assert evidence.verdict is Verdict.REFUTED, evidence.reason
    assert evidence.witness is not None
    assert observed in evidence.witness.counterexample.observed
    assert len(evidence.witness.counterexample.inputs["case"]) == len(shortest)  # type: ignore[arg-type]
    assert evidence.witness.counterexample.inputs["before"] == []


STACK = """
import json, sys
objects = []
for line in sys.stdin:
    asked = json.loads(line)
    answer = {"id": asked["id"]}
    if "create" in asked:
        assert asked["create"] == "subject"
        objects.append([])
        answer["handle"] = len(objects) - 1
    elif asked["invoke"] == "put":
        objects[asked["on"]].append(asked["args"][0])
        answer["return"] = len(objects[asked["on"]])
    elif objects[asked["on"]]:
        answer["return"] = objects[asked["on"]].pop(WHERE)
    else:
        answer["raise"] = {"type": "IndexError", "message": ""}
    print(json.dumps(answer), flush=True)
"""


def command(where: str) -> Statement:
    program = f"python3 -c {shlex.quote(STACK.replace('WHERE', where))}"
    options: Any = {"depth": 3, "longest": 3}
    return AgreesWith(f"cmd:{program}", "queues:Reference", QUEUE, **options)


def test_objects_of_a_strict_command_are_judged(judged: Judge) -> None:
    """It is asked for nothing but "subject" and the operations, and dies of any other request."""
    evidence = judged(command("-1"))
    assert evidence.verdict is Verdict.REFUTED, evidence.reason
    assert evidence.witness is not None
    assert evidence.witness.counterexample.inputs["case"] == [["put", 0], ["put", 1], ["get"]]
    sound = judged(command("0"), cases=60)
    assert sound.verdict is Verdict.EXHAUSTED, sound.reason


def test_state_shared_between_objects_is_part_of_the_counterexample(judged: Judge) -> None:
    evidence = judged(queue("Leaks"))
    assert evidence.verdict is Verdict.REFUTED, evidence.reason
    assert evidence.witness is not None
    assert len(evidence.witness.counterexample.inputs["before"]) == 1


@pytest.mark.parametrize(
    "statement",
    [
        queue("Reference"),
        queue(
            "Sound",
            ignore={"facts": ["version"]},
            unordered=["all"],
            observe=[("all",), ("facts",)],
        ),
        queue("Sound", ignore={"facts": {"version": {"kind": "queue"}}}, observe=[("facts",)]),
        queue("Small", may_refuse=["ENOSPC"], observe=[("all",)]),
        queue("WrongErrno", "Lenient"),
    ],
    ids=lambda value: value.text[:40],
)  # fmt: skip
def test_sound_objects_are_spared(judged: Judge, statement: Statement) -> None:
    evidence = judged(statement, cases=150)
    assert evidence.verdict is Verdict.EXHAUSTED, evidence.reason
    assert evidence.tried == 150
    assert evidence.scope.depths == {"depth": 4}
    assert evidence.distribution.startswith("120 of all sequences to depth 4, 30 sampled")


def test_fewer_cases_than_sequences_do_not_exhaust(judged: Judge) -> None:
    evidence = judged(queue("Reference"), cases=60)
    assert evidence.verdict is Verdict.SURVIVED, evidence.reason
    assert evidence.distribution.startswith("12 of all sequences to depth 2, 48 sampled")


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        (queue("Odd"), "returned a value of type builtins.object"),
        (queue("Reference", "Odd"), "returned a value of type builtins.object"),
        (queue("Reference", "Missing"), "queues:Missing raised AttributeError"),
        (AgreesWith("nowhere:A", "queues:Reference", QUEUE), "cannot be loaded"),
    ],
    ids=lambda value: value.text[:40] if isinstance(value, Statement) else "",
)
def test_what_cannot_be_compared_is_unknown(
    judged: Judge, statement: Statement, reason: str
) -> None:
    evidence = judged(statement)
    assert evidence.verdict is Verdict.UNKNOWN
    assert reason in evidence.reason
