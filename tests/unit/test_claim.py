"""Claims are plain data that say one thing each; meaningless ones are refused when stated."""

from __future__ import annotations

import json

import pytest

from refute import EXHAUSTED, PROVED, SURVIVED, Claim, Need, Verdict, claim
from refute.claim import Statement, Where, check_reference, collecting, is_command
from refute.errors import IllegalClaim

STATEMENT = Statement("holds", "it holds", "m:f", {"n": (1, b"x")}, spec=("s:p",))


def test_calling_a_grade_makes_a_need() -> None:
    need = EXHAUSTED(RM=3, depth=2)
    assert need.grade is Verdict.EXHAUSTED
    assert need.bounds == (("RM", 3), ("depth", 2))
    assert str(need) == "EXHAUSTED(RM=3, depth=2)"
    assert str(SURVIVED(cases=10)) == "SURVIVED(cases=10)"


@pytest.mark.parametrize("grade", [Verdict.UNKNOWN, Verdict.REFUTED])
def test_nobody_can_need_what_establishes_nothing(grade: Verdict) -> None:
    with pytest.raises(IllegalClaim, match="cannot need"):
        grade()


@pytest.mark.parametrize("options", [{"cases": 0}, {"cases": True}, {"max_discard_rate": 1.5}])
def test_needs_must_mean_something(options: dict[str, float]) -> None:
    with pytest.raises(IllegalClaim):
        Need(**options)  # type: ignore[arg-type]


def test_grades_are_ordered_by_strength() -> None:
    order = [Verdict.PROVED, Verdict.EXHAUSTED, Verdict.SURVIVED, Verdict.UNKNOWN]
    assert [v.strength for v in order] == [3, 2, 1, 0]
    assert Verdict.REFUTED.strength == 0


@pytest.mark.parametrize("reference", ["m:f", "a.b_c:D.e", "cmd:./prog -x"])
def test_references(reference: str) -> None:
    assert check_reference(reference, "subject") == reference
    assert is_command(reference) == reference.startswith("cmd:")


@pytest.mark.parametrize("reference", ["", "m", "m:", ":f", "m:f()", "m f:g", "m:f\n", "1m:f", 3])
def test_what_names_nothing_is_refused(reference: object) -> None:
    with pytest.raises(IllegalClaim, match="names nothing"):
        check_reference(reference, "subject")  # type: ignore[arg-type]


def test_statements_hold_only_plain_data() -> None:
    with pytest.raises(TypeError, match="plain data"):
        Statement("holds", "t", "m:f", {"f": print})
    with pytest.raises(IllegalClaim, match="lower-case"):
        Statement("Holds!", "t", "m:f")


def test_judged_code_is_the_subject_and_the_named_subjects() -> None:
    pairs = [["encode", "m:f"], ["decode", "m:g"]]
    assert Statement("holds", "t", "m:f", {"subjects": pairs}).judged == ("m:f", "m:g")
    assert STATEMENT.judged == ("m:f",)


def test_a_claim_survives_the_trip_through_json() -> None:
    stated = claim(
        "it", STATEMENT, covers=["a/*.py"], need=PROVED(allow=["A"], n=1), controls=["c.patch"]
    )
    back = Claim.from_json(json.loads(json.dumps(stated.to_json())))
    assert back == stated
    assert back.digest() == stated.digest()


@pytest.mark.parametrize("data", [{}, {"name": 1}, {"name": "x", "statement": None}, {"name": []}])
def test_what_is_no_claim_is_refused(data: dict[str, object]) -> None:
    with pytest.raises(IllegalClaim, match="not the data of a claim"):
        Claim.from_json(data)


def test_a_moved_claim_is_the_same_claim() -> None:
    here = Claim("it", STATEMENT, Where("a.py", 1))
    there = Claim("it", STATEMENT, Where("b.py", 9))
    other = Claim("it", STATEMENT, Where("a.py", 1), need=SURVIVED(cases=2))
    assert here.digest() == there.digest()
    assert here.digest() != other.digest()


def test_the_place_is_the_line_of_the_call() -> None:
    stated = claim("it", STATEMENT)
    assert stated.where.file == __file__
    assert stated.where.line > 1


@pytest.mark.parametrize("name", ["", " x", "a\nb"])
def test_a_name_is_one_line(name: str) -> None:
    with pytest.raises(IllegalClaim, match="name"):
        claim(name, STATEMENT)


def test_common_slips_are_named() -> None:
    with pytest.raises(IllegalClaim, match="needs a Statement"):
        claim("it", "m:f")  # type: ignore[arg-type]
    with pytest.raises(IllegalClaim, match="list of strings"):
        claim("it", STATEMENT, covers="a.py")
    with pytest.raises(IllegalClaim, match="must be strings"):
        claim("it", STATEMENT, controls=[1])  # type: ignore[list-item]


def test_collecting_takes_what_is_stated_inside() -> None:
    with collecting() as outer:
        first = claim("first", STATEMENT)
        with collecting() as inner:
            second = claim("second", STATEMENT)
        third = claim("third", STATEMENT)
    claim("after", STATEMENT)
    assert outer == [first, third]
    assert inner == [second]
