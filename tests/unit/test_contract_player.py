"""Playing cases of contracts: what is broken, held, discarded, or not to be judged."""

from __future__ import annotations

from pathlib import Path

import pytest

from refute.budget import Budget
from refute.claim import Claim, Where
from refute.errors import Unsupported
from refute.plain import Plain
from refute.site import Site
from refute.specs.contract import MeetsContract
from refute.specs.contract_reading import reading_of
from refute.verifiers.contracts.player import ContractPlayer, Tally, case_size
from refute.verifiers.playing import Judgement

BASE = Path(__file__).parents[1] / "cases" / "contract_players"
RIGHT = Site(BASE, BASE, (".",))
WRONG = Site(BASE / "head", BASE, (".",))
BUDGET = Budget(cases=100, wall_s=30.0)


def play(
    name: str,
    *cases: Plain,
    site: Site = RIGHT,
    raises: tuple[str, ...] = (),
    tally: Tally | None = None,
) -> list[Judgement]:
    claim = Claim(name, MeetsContract(f"promises:{name}", raises), Where("promises.py", 1))
    reading = reading_of(claim, site)
    with ContractPlayer(claim, site, BUDGET, reading, tally=tally) as player:
        return player.play(list(cases))


def statuses(judged: list[Judgement]) -> list[str]:
    return [judgement.status for judgement in judged]


def test_requires_discard_and_ensures_hold() -> None:
    judged = play("double", {"x": 3}, {"x": -1}, {"x": 2**70})
    assert statuses(judged) == ["held", "discarded", "held"]


def test_the_contract_of_the_specs_judges_the_other_tree() -> None:
    judged = play("double", {"x": 1}, {"x": 41}, {"x": 2}, site=WRONG)
    assert statuses(judged) == ["held", "broken"]
    assert judged[1].observed == "double returned 1681"
    assert judged[1].expected == "ensure result == x + x (promises.py:19)"
    assert [step.text for step in judged[1].steps] == ["given", "double(41) returned 1681"]


def test_changed_arguments_and_old_values() -> None:
    cases = [{"xs": [1] * n, "x": 2} for n in range(7)]
    assert statuses(play("push", *cases)) == ["held"] * 7
    judged = play("push", *cases, site=WRONG)
    assert judged[-1].status == "broken"
    assert judged[-1].steps[-1].text == "afterwards"


def test_arguments_are_separate_objects() -> None:
    same = [1]
    judged = play("push", {"xs": same, "x": 1}, {"xs": same, "x": 1})
    assert statuses(judged) == ["held", "held"]
    assert same == [1]


def test_exceptions_of_the_docstring_and_their_subclasses() -> None:
    tally = Tally()
    assert statuses(play("some", {"xs": []}, {"xs": [3]}, tally=tally)) == ["held", "held"]
    assert tally.returned == 1
    assert statuses(play("some", {"xs": []}, site=WRONG)) == ["held"]


def test_exceptions_of_the_claim() -> None:
    case = {"names": ["a"], "name": "b"}
    assert statuses(play("find", case)) == ["broken"]
    for allowed in ("NotFound", "promises.NotFound", "LookupError"):
        assert statuses(play("find", case, raises=(allowed,))) == ["held"]
    assert statuses(play("find", case, raises=("KeyError",))) == ["broken"]


def test_a_result_of_another_type_is_broken() -> None:
    judged = play("some", {"xs": [1, 2, 3, 4]}, site=WRONG)
    assert judged[0].status == "broken"
    assert judged[0].expected == "a result of type int"
    assert "of type list[int]" in judged[0].observed


def test_a_result_that_is_not_plain_may_be_of_the_type_and_is_not_judged() -> None:
    (judged,) = play("signed", {"x": 1, "flag": True}, site=WRONG)  # an object
    assert judged.status == "unfit" and "not plain data" in judged.observed
    (judged,) = play("minus", {"a": 5, "b": 5}, site=WRONG)  # a member of an IntEnum
    assert judged.status == "unfit" and "promises.Small" in judged.observed


def test_a_precondition_of_the_heads_own_is_an_exception_like_any_other() -> None:
    judged = play("guarded", {"xs": [1, 2]}, {"xs": [1, 2, 3]}, site=WRONG)
    assert statuses(judged) == ["held", "broken"]
    assert "ViolationError" in judged[1].observed
    assert judged[1].observed.endswith("without its decorators it returned True")


def test_a_precondition_that_raises_is_not_judged_unless_another_one_is_false() -> None:
    assert statuses(play("guarded", {"xs": []}, {"xs": [1]})) == ["discarded", "held"]
    (judged,) = play("first_is_positive", {"xs": []})
    assert judged.status == "unfit"
    assert judged.observed.startswith("require xs[0] > 0 (promises.py:47) raised IndexError")


def test_a_postcondition_that_cannot_be_evaluated_on_the_answer_is_broken() -> None:
    judged = play("counted", {"xs": [1]}, site=WRONG)
    assert judged[0].status == "broken" and "IndexError" in judged[0].expected


def test_a_name_that_does_not_exist_is_the_contracts_own_fault() -> None:
    (judged,) = play("unknown_name", {"x": 1}, site=WRONG)
    assert judged.status == "unfit" and "NameError" in judged.observed
    (judged,) = play("unknown_name", {"x": 1})  # here it is what a caller gets
    assert judged.status == "broken" and "raised NameError" in judged.observed


def test_time_memory_and_stack_are_not_what_a_contract_is_about() -> None:
    tally = Tally()
    assert statuses(play("count", {"n": 2**40}, {"n": 3}, tally=tally)) == ["discarded", "held"]
    assert statuses(play("zeros", {"n": 2**62}, tally=tally)) == ["discarded"]
    assert statuses(play("zeros", {"n": 2**70}, tally=tally)) == ["discarded"]
    assert statuses(play("deep", {"n": 5000}, tally=tally)) == ["discarded"]
    assert len(tally.given_up) == 4 and tally.returned == 1


def test_what_is_as_large_as_what_was_given_up_is_not_tried() -> None:
    tally = Tally(given_up=[10**6] * 3)
    judged = play("count", {"n": 10**6}, {"n": 7}, tally=tally)
    assert statuses(judged) == ["discarded", "held"]
    assert (tally.skipped, tally.returned) == (1, 1)


def test_a_tiny_case_without_an_end_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("pair", "contracts.player"):  # a tiny case is asked again, by the latter
        monkeypatch.setattr(f"refute.verifiers.{module}.CALL_S", 1.0)
    judged = play("count", {"n": 4}, {"n": 5}, site=WRONG)
    assert statuses(judged) == ["held", "broken"]
    assert judged[1].slow and judged[1].expected == "the function returns"
    assert statuses(play("deep", {"n": 7}, site=WRONG)) == ["broken"]


def test_a_function_that_is_gone_is_broken_and_a_missing_library_is_not_its_fault(
    tmp_path: Path,
) -> None:
    everything = ("Exception",)
    (judged,) = play("first_is_positive", {"xs": [1]}, site=WRONG, raises=everything)
    assert judged.status == "broken" and "cannot be loaded: AttributeError" in judged.observed
    (tmp_path / "promises.py").write_text("import no_such_library\n", encoding="utf-8")
    site = Site(tmp_path, BASE, (".",))
    (judged,) = play("double", {"x": 1}, site=site, raises=everything)
    assert judged.status == "unfit" and "no_such_library" in judged.observed


def test_leaving_the_process_is_no_answer() -> None:
    assert statuses(play("zeros", {"n": 2}, {"n": 3}, site=WRONG)) == ["held", "broken"]


def test_parameters_that_changed_places_are_called_by_name_too() -> None:
    judged = play("minus", {"a": 5, "b": 3}, site=WRONG)
    assert statuses(judged) == ["broken"]


def test_keyword_only_parameters() -> None:
    assert statuses(play("signed", {"x": 4, "flag": False})) == ["held"]


def test_identity_of_objects_is_refused() -> None:
    with pytest.raises(Unsupported, match=r"promises.py:\d+: identity of objects"):
        play("identical", {"x": 1})


def test_sizes() -> None:
    assert case_size({"a": -3, "b": [1, 2], "c": "xyz", "d": None}) == 11
    assert case_size({"long_name": (True, float("inf")), "x": {"ab": 2}}) == 8


def test_a_small_budget_does_not_make_a_slow_import_a_function_without_an_end(
    tmp_path: Path,
) -> None:
    text = "import time\n\nfrom icontract import ensure\n\ntime.sleep(1.2)\n\n\n"
    text += "@ensure(lambda x, result: result == x)\ndef same(x: int) -> int:\n    return x\n"
    (tmp_path / "late.py").write_text(text)
    site = Site(tmp_path, tmp_path, (".",))
    claim = Claim("same", MeetsContract("late:same"), Where("late.py", 1))
    share = Budget(cases=100, wall_s=0.5)
    with ContractPlayer(claim, site, share, reading_of(claim, site)) as player:
        assert statuses(player.play([{"x": 0}])) == ["held"]
