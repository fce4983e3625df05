"""Holds and Equals: what they say as data, and what running a property on a case means."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from refute.claim import Claim, claim
from refute.errors import IllegalClaim
from refute.fuzz.strategies import inputs
from refute.specs.answers import SubjectRaised, call_each, raised
from refute.specs.domains import Bytes, Ints, Text
from refute.specs.function import Equals, Holds, given_of
from refute.specs.property import assumed, judge

CASES = Path(__file__).parents[1] / "cases" / "functions"


@pytest.fixture
def specs(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.syspath_prepend(str(CASES))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return "specs"


def test_a_statement_names_all_judged_code_and_all_specs() -> None:
    stated = Holds(
        "codec:encode",
        "claims:round_trip",
        given={"x": Bytes(max=4)},
        subjects={"decode": "codec:decode"},
        assume="claims:valid",
    )
    assert stated.kind == "holds"
    assert stated.judged == ("codec:encode", "codec:decode")
    assert stated.spec == ("claims:round_trip", "claims:valid")
    assert stated.text == (
        "round_trip holds for codec:encode for all x in Bytes(max=4) where valid"
    )


def test_the_order_of_inputs_survives_the_trip_through_sorted_json() -> None:
    stated = claim("it", Equals("m:f", "s:f", {"z": Ints(), "a": Text(max=1)}))
    text = json.dumps(stated.to_json(), sort_keys=True)
    back = Claim.from_json(json.loads(text))
    assert back == stated
    assert list(given_of(back.statement).of) == ["z", "a"]


@pytest.mark.parametrize(
    "make",
    [
        lambda: Holds("nothing", "s:p", {}),
        lambda: Holds("m:f", "nothing", {}),
        lambda: Holds("m:f", "s:p", {"x": 3}),  # type: ignore[dict-item]
        lambda: Holds("m:f", "s:p", {"f": Ints()}),
        lambda: Holds("m:f", "s:p", {"subject": Ints()}),
        lambda: Holds("m:f", "s:p", {}, assume="nothing"),
        lambda: Holds("m:f", "s:p", {}, subjects={"f": "m:g"}),
        lambda: Holds("m:f", "s:p", {}, subjects={"not a name": "m:g"}),
        lambda: Holds("cmd:./a", "s:p", {}, subjects={"g": "m:g"}),
        lambda: Holds("m:f", "s:p", {}, subjects={"g": "cmd:./a"}),
    ],
)
def test_meaningless_statements_are_refused(make: Any) -> None:
    with pytest.raises(IllegalClaim):
        make()


def test_the_inputs_of_a_claim_serve_ordinary_tests() -> None:
    stated = claim("it", Holds("m:f", "s:p", {"x": Ints(0, 3)}))
    assert str(inputs(stated)).startswith("fixed_dictionaries")


def answering(*answers: object) -> Any:
    left = iter(answers)
    return lambda kind, *asked: next(left)


def verdict(prop: str, case: dict[str, object], *answers: object, assume: str | None = None) -> Any:
    [given] = judge(prop, assume, ["subject"], [case], answering(*answers))
    return given


@pytest.mark.usefixtures("specs")
@pytest.mark.parametrize(
    ("prop", "answer", "status", "why"),
    [
        ("specs:doubles", ("returned", 6), "held", ""),
        ("specs:doubles", ("returned", 7), "broken", "returned False"),
        (
            "specs:doubles",
            ("raised", "KeyError", "k", None),
            "broken",
            "subject raised KeyError: k",
        ),
        ("specs:doubles", ("lost",), "lost", ""),
        ("specs:swallows_everything", ("returned", 1), "held", ""),
        ("specs:doubles_loudly", ("returned", 7), "broken", "3 is not doubled"),
        ("specs:doubles_or_raises", ("raised", "ValueError", "", None), "held", ""),
        ("specs:doubles_or_raises", ("raised", "KeyError", "", None), "broken", "KeyError"),
        ("specs:first_item", ("returned", []), "broken", "IndexError at"),
        ("specs:returns_none", ("returned", 1), "unfit", "returned NoneType, not True or False"),
        ("specs:has_a_typo", ("returned", 1), "unfit", "NameError at"),
        ("specs:fails_before_asking", ("returned", 1), "unfit", "IndexError at"),
        ("specs:wants_more", ("returned", 1), "unfit", "has a parameter 'y'"),
        ("specs:missing", ("returned", 1), "unfit", "cannot be used: AttributeError"),
        ("nowhere:missing", ("returned", 1), "unfit", "cannot be used: ModuleNotFoundError"),
    ],
)
def test_what_becomes_of_a_case(prop: str, answer: object, status: str, why: str) -> None:
    given = verdict(prop, {"x": 3}, answer)
    assert given[0] == status
    assert why in given[1]


@pytest.mark.usefixtures("specs")
def test_spec_errors_name_file_and_line() -> None:
    for prop in ("specs:has_a_typo", "specs:returns_none", "specs:fails_before_asking"):
        assert ".py:" in verdict(prop, {"x": 3}, ("returned", 1))[1]


@pytest.mark.usefixtures("specs")
def test_assumptions_discard() -> None:
    assert verdict("specs:doubles", {"x": 0}, assume="specs:positive")[0] == "discarded"
    assert verdict("specs:doubles", {"x": 1}, ("returned", 2), assume="specs:positive")[0] == "held"
    assert verdict("specs:doubles", {"x": 1}, assume="specs:maybe")[0] == "unfit"
    assert [v for v, _ in assumed("specs:positive", [{"x": 1}, {"x": 0}])] == ["held", "discarded"]
    assert assumed("specs:gone", [{"x": 1}])[0][0] == "unfit"


@pytest.mark.usefixtures("specs")
def test_questions_asked_ahead_are_asked_in_order_and_once() -> None:
    asked: list[object] = []

    def relay(kind: str, *question: Any) -> object:
        assert kind == "each"
        asked.extend((name, args) for _, name, args in question[0])
        return [("returned", 2 * args[0]) for _, _, args in question[0]]

    cases = [{"x": n} for n in range(4)]
    verdicts = judge("specs:doubles", "specs:positive", ["subject"], cases, relay, True)
    assert [v for v, _ in verdicts] == ["discarded", "held", "held", "held"]
    assert asked == [("subject", [1]), ("subject", [2]), ("subject", [3])]


@pytest.mark.usefixtures("specs")
def test_a_second_question_is_asked_when_its_turn_comes() -> None:
    def relay(kind: str, *question: Any) -> object:
        if kind == "each":
            return [("returned", args[0] + b"!") for _, _, args in question[0]]
        return ("returned", question[2][0][:-1])

    cases = [{"x": b"a"}, {"x": b"b"}]
    verdicts = judge("specs:round_trip", None, ["encode", "decode"], cases, relay, True)
    assert [v for v, _ in verdicts] == ["held", "held"]


@pytest.mark.parametrize(
    ("type_name", "kind"),
    [
        ("ValueError", ValueError),
        ("FileNotFoundError", OSError),
        ("UnicodeDecodeError", ValueError),
        ("KeyError", LookupError),
        ("json.decoder.JSONDecodeError", ValueError),
        ("codec.CodecError", SubjectRaised),
        ("SystemExit", SubjectRaised),
        ("print", SubjectRaised),
    ],
)
def test_subjects_exceptions_can_be_caught_by_their_type(type_name: str, kind: type) -> None:
    error = raised("decode", type_name, "bad input", 2)
    assert isinstance(error, kind)
    assert (error.type_name, error.message, error.errno) == (type_name, "bad input", 2)
    assert str(error) == f"decode raised {type_name}: bad input"
    with pytest.raises(SubjectRaised):
        raise error


@pytest.mark.usefixtures("specs")
def test_answers_are_taken_down_before_the_subject_goes_on() -> None:
    texts = call_each("subjects:shared", [[1], [2]])
    assert [json.loads(text) for text in texts] == [["returned", [1]], ["returned", [2]]]


@pytest.mark.usefixtures("specs")
def test_answers_say_what_was_raised() -> None:
    [text] = call_each("subjects:raises_above", [[50]])
    told = json.loads(text)
    assert told[:3] == ["raised", "ValueError", "too large: 50"]
    [text] = call_each("subjects:leaves_above", [[50]])
    assert json.loads(text)[1] == "SystemExit"
