"""Every planted defect of a function is found, with its least input, and nothing slips through."""

from __future__ import annotations

import shlex
from collections.abc import Callable

import pytest

from refute.claim import Statement, Verdict
from refute.evidence import Evidence
from refute.specs.domains import Bytes, Ints, Lists, OneOf, Text
from refute.specs.function import Equals, Holds

Judge = Callable[..., Evidence]
NUMBERS = {"x": Ints(0, 60)}
LISTS = {"v": Lists(Ints(0, 9), max=6)}


def about(subject: str, prop: str = "doubles", **options: str) -> Statement:
    return Holds(f"subjects:{subject}", f"specs:{prop}", NUMBERS, **options)  # type: ignore[arg-type]


def case_of(evidence: Evidence) -> object:
    assert evidence.verdict is Verdict.REFUTED, evidence.reason
    assert evidence.witness is not None
    return evidence.witness.counterexample.inputs["case"]


@pytest.mark.parametrize(
    ("statement", "least", "observed"),
    [
        (about("wrong_above"), {"x": 42}, "returned False"),
        (about("wrong_above", "doubles_loudly"), {"x": 42}, "42 is not doubled"),
        (about("raises_above"), {"x": 42}, "raised ValueError: too large: 42"),
        (about("leaves_above"), {"x": 42}, "SystemExit"),
        (about("exits_above"), {"x": 42}, "ended its process"),
        (about("exits_above", "swallows_everything"), {"x": 42}, "ended its process"),
        (about("double", "first_item"), {"x": 0}, "TypeError"),
        (about("missing"), {"x": 0}, "cannot be loaded"),
        (
            Holds("subjects:drops_seven", "specs:round_trip", {"x": Bytes(max=40)},
                  {"decode": "subjects:decode"}, name="encode"),
            {"x": b"\x07"},
            "returned False",
        ),
        (Holds("subjects:drops_twins", "specs:permutes", LISTS), {"v": [0, 0]}, "returned False"),
        (Equals("subjects:drops_twins", "specs:in_order", LISTS), {"v": [0, 0]}, "returned [0]"),
        (Equals("subjects:float_above", "specs:twice", NUMBERS), {"x": 42}, "returned 84.0"),
        (Equals("subjects:raises_above", "specs:twice", NUMBERS), {"x": 42}, "raised ValueError"),
        (Equals("subjects:double", "specs:too_large", NUMBERS), {"x": 42}, "returned 84"),
        (Equals("subjects:exits_above", "specs:twice", NUMBERS), {"x": 42}, "ended its process"),
        (
            Equals("subjects:nan_at_zero", "specs:same_number", {"x": OneOf(1.0, 0.0)}),
            {"x": 0.0},
            "returned nan",
        ),
    ],
    ids=lambda value: value.text[:50] if isinstance(value, Statement) else "",
)  # fmt: skip
def test_a_defect_is_found_with_its_least_input(
    judged: Judge, statement: Statement, least: object, observed: str
) -> None:
    evidence = judged(statement)
    assert case_of(evidence) == least
    assert evidence.witness is not None
    assert not evidence.witness.flaky
    assert observed in evidence.witness.counterexample.observed
    assert evidence.witness.counterexample.inputs["before"] == []


def test_a_subject_that_hangs_is_refuted(judged: Judge) -> None:
    evidence = judged(about("hangs_above"), wall_s=6.0)
    assert evidence.verdict is Verdict.REFUTED, evidence.reason
    assert evidence.witness is not None
    assert "did not answer in time" in evidence.witness.counterexample.observed


def test_state_that_a_subject_carries_is_part_of_the_counterexample(judged: Judge) -> None:
    evidence = judged(Equals("subjects:wrong_later", "specs:twice", {"x": Ints(0, 20)}))
    assert evidence.verdict is Verdict.REFUTED, evidence.reason
    assert evidence.witness is not None
    assert len(evidence.witness.counterexample.inputs["before"]) == 3
    assert "after 3 other cases" in evidence.witness.counterexample.observed


def test_a_flaky_subject_is_refuted_as_flaky(judged: Judge) -> None:
    evidence = judged(about("flaky"))
    assert evidence.verdict is Verdict.REFUTED, evidence.reason
    assert evidence.disputes == ()


def test_a_subject_that_is_wrong_under_some_hash_seeds_is_refuted(judged: Judge) -> None:
    seeds = judged(about("by_hash"))
    assert seeds.verdict in (Verdict.REFUTED, Verdict.EXHAUSTED)


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        (about("double", "never_asks"), "vacuous: no case ever asked"),
        (about("double", "returns_none"), "returned NoneType, not True or False"),
        (about("double", "has_a_typo"), "NameError at specs.py:"),
        (about("double", "fails_before_asking"), "specs.py:"),
        (about("double", "gone"), "cannot be used"),
        (about("double", "wants_more"), "has a parameter 'y'"),
        (about("double", assume="specs:never"), "vacuous: all 61 cases were discarded"),
        (about("double", assume="specs:maybe"), "not True or False"),
        (about("equal_above"), "Equal, which is not plain data"),
        (Equals("subjects:token", "specs:twice", NUMBERS), "not plain data"),
        (Equals("subjects:double", "specs:stranger", NUMBERS), "not plain data"),
        (Equals("subjects:double", "specs:gone", NUMBERS), "specs:gone cannot be loaded"),
        (Equals("elsewhere:double", "specs:twice", NUMBERS), "cannot be loaded"),
        (
            Holds("subjects:token", "specs:hands_it_on", NUMBERS),
            "was given a value of type builtins.object",
        ),
    ],
    ids=lambda value: value.text[:60] if isinstance(value, Statement) else "",
)
def test_what_cannot_be_judged_is_unknown_with_the_reason(
    judged: Judge, statement: Statement, reason: str
) -> None:
    evidence = judged(statement)
    assert evidence.verdict is Verdict.UNKNOWN
    assert reason in evidence.reason


DOUBLING = r"""
while read -r line; do
  id=${line#*\"id\":}; id=${id%%[,\}]*}
  x=${line#*\"args\":*[}; x=${x%%]*}
  if [ $x -gt 41 ]; then WRONG; fi
  echo "{\"id\": $id, \"return\": $((2 * x))}"
done
"""


@pytest.mark.parametrize(
    ("wrong", "observed"),
    [
        ("x=$((x + 1))", "returned False"),
        (
            r'echo "{\"id\": $id, \"raise\": {\"type\": \"E\", \"message\": \"m\"}}"; continue',
            "raised E: m",
        ),
        ("id=$((id + 1))", "broke the protocol"),
        ("echo nonsense", "broke the protocol"),
        ("exit 3", "ended its process"),
    ],
)
def test_a_command_in_any_language_is_judged(judged: Judge, wrong: str, observed: str) -> None:
    subject = f"cmd:sh -c {shlex.quote(DOUBLING.replace('WRONG', wrong))}"
    evidence = judged(Holds(subject, "specs:doubles", NUMBERS, name="double"))
    assert case_of(evidence) == {"x": 42}
    assert evidence.witness is not None
    assert observed in evidence.witness.counterexample.observed


def test_a_command_that_cannot_be_started_is_unknown(judged: Judge) -> None:
    evidence = judged(Equals("cmd:no-such-program", "specs:twice", NUMBERS, name="double"))
    assert evidence.verdict is Verdict.UNKNOWN
    assert "cannot be started: no-such-program: No such file" in evidence.reason


def test_sampling_reaches_into_text(judged: Judge) -> None:
    evidence = judged(Holds("subjects:parse", "specs:is_json", {"text": Text()}), cases=60)
    assert evidence.verdict is Verdict.SURVIVED, evidence.reason
