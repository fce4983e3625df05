"""Changes that try to speak for themselves: each is caught, and says by what."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "unit"))
from scratch_repo import CLAIMS, CONTROL, LIB, Scratch, Tables

from refute.claim import Claim, Verdict
from refute.evidence import Finding
from refute.gate.additive import not_additive
from refute.record import Run
from refute.site import Site

WRONG = LIB.replace("sum(prices)", "sum(prices[:2])")


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scratch:
    monkeypatch.setenv("REFUTE_KEY_FILE", str(tmp_path / "key"))
    return Scratch(tmp_path / "repo")


def events(run: Run) -> list[tuple[str, str]]:
    return [(e.kind, e.thing) for e in run.spec_events if e.kind != "added"]


def refuted(run: Run) -> set[str]:
    return {r.claim.name for r in run.results if r.evidence.verdict is Verdict.REFUTED}


def test_a_claim_weakened_along_with_the_code_does_not_help(repo: Scratch) -> None:
    weaker = CLAIMS.replace("[[[5, 5, 5]], 15]", "[[[5, 5, 5]], 10]")
    run = repo.gate({"lib.py": WRONG, "claims.py": weaker})
    assert refuted(run) == {"total"} and run.exit_code == 1  # base's claim judged it
    assert ("changed", "total") in events(run)


def test_a_weakened_need_is_a_spec_change(repo: Scratch) -> None:
    run = repo.gate({"claims.py": CLAIMS.replace("EXHAUSTED(rows=3)", "EXHAUSTED(rows=1)")})
    assert run.exit_code == 3 and ("changed", "clamp") in events(run)


def test_a_removed_claim_is_a_spec_change(repo: Scratch) -> None:
    run = repo.gate({"claims.py": CLAIMS[: CLAIMS.index('claim("total"')]})
    assert run.exit_code == 3 and ("removed", "total") in events(run)


def test_removed_claims_module_still_judges(repo: Scratch) -> None:
    run = repo.gate({"claims.py": None, "lib.py": WRONG})
    assert refuted(run) == {"total"}
    assert {("removed", "clamp"), ("removed", "total"), ("removed", "claims.py")} <= set(
        events(run)
    )


def test_emptied_covers_are_a_spec_change(repo: Scratch) -> None:
    run = repo.gate({"claims.py": CLAIMS.replace('covers=["lib.py"])\n', "covers=[])\n")})
    assert run.exit_code == 3 and ("changed", "total") in events(run)


@pytest.mark.parametrize(
    "added",
    [
        "import os\nos.environ['X'] = '1'\n",
        "from refute import claim as claim\nimport refute.plain\nrefute.plain.same = print\n",
        "def table(subject, rows):\n    return None\n",
        "if True:\n    pass\n",
        "import lib\n",
        "class Patch:\n    print('x')\n",
        "def late(x=print('x')):\n    return x\n",
        "@print\ndef late():\n    return 1\n",
        'def evil():\n    return ()\n\n\nclaim("z", table("lib:total", []), covers=evil())\n',
        'claim("z", table("lib:total", [exec("1")]))\n',
        "for x in ():\n    pass\n",
    ],
)
def test_code_added_to_the_claims_is_a_spec_change(added: str) -> None:
    line, why = not_additive(CLAIMS.encode(), (CLAIMS + added).encode(), {"claims"})
    assert why and line > CLAIMS.count("\n")


@pytest.mark.parametrize(
    "added",
    [
        'claim("new", table("lib:total", [[[[1]], 1]]), covers=["lib.py"])\n',
        "import math\nfrom refute.specs.domains import Ints\n",
        "def prop(x, total):\n    return total([x]) == x\n",
        "class Model:\n    def f(self):\n        return print('later')\n",
        '"""A remark."""\n',
        'same = claim("new", table("lib:total", [[[[x]], x] for x in range(3)]))\n',
    ],
)
def test_claims_may_be_added(added: str) -> None:
    assert not_additive(CLAIMS.encode(), (CLAIMS + added).encode(), {"claims"}) == (0, "")


def test_monkeypatching_in_the_claims_changes_nothing_and_is_reported(repo: Scratch) -> None:
    patch = "import refute.plain\nrefute.plain.same = lambda a, b: True\n"
    run = repo.gate({"claims.py": CLAIMS + patch, "lib.py": WRONG})
    assert refuted(run) == {"total"} and ("changed", "claims.py") in events(run)


def test_a_claims_module_that_exits_is_reported(repo: Scratch) -> None:
    run = repo.gate({"claims.py": CLAIMS + "raise SystemExit(0)\n"})
    assert run.exit_code == 3
    assert any("cannot be read" in thing for _, thing in events(run))


def test_excluding_the_file_takes_a_policy_change(repo: Scratch) -> None:
    table = '[tool.refute]\nexclude = ["extra.py", "pyproject.toml"]\n'
    run = repo.gate({"pyproject.toml": table, "extra.py": "def f():\n    return 1\n"})
    assert run.exit_code == 3 and events(run) == [("policy", "pyproject.toml")]
    assert "f" in {c.unit for c in run.coverage if c.status == "uncovered"}


def test_the_exemption_list_may_only_shrink(repo: Scratch) -> None:
    repo.commit({"refute-exempt.txt": "lib.py:old\nlib.py:older\n"})
    grown = repo.gate(
        {
            "refute-exempt.txt": "lib.py:old\nlib.py:f\n",
            "lib.py": LIB + "\n\ndef f():\n    return 1\n",
        }
    )
    assert grown.exit_code == 3 and events(grown) == [("exemptions", "refute-exempt.txt")]
    assert {c.unit: c.status for c in grown.coverage} == {"f": "uncovered"}
    shrunk = repo.gate({"refute-exempt.txt": "lib.py:old\n", "lib.py": LIB})
    assert events(shrunk) == [] and shrunk.decision == "accepted"


def test_controls_cannot_be_taken_away(repo: Scratch) -> None:
    gone = repo.gate({"controls/no_low.patch": None})
    assert gone.exit_code == 3 and events(gone) == [("removed", "controls/no_low.patch")]
    other = repo.gate({"controls/no_low.patch": CONTROL.replace("min(LIMIT, x)", "x")})
    assert events(other) == [("changed", "controls/no_low.patch")]


def test_a_control_that_does_not_apply_or_is_not_refuted_fails(repo: Scratch) -> None:
    harmless = CONTROL.replace("+    return min(LIMIT, x)", "+    return max(0, min(x, LIMIT))")
    repo.commit({"controls/no_low.patch": harmless})
    change = {"lib.py": LIB.replace("sum(prices)", "sum(list(prices))")}
    run = repo.gate(change)
    assert run.exit_code == 3 and "was not refuted" in run.controls[0].unmet
    repo.commit(
        {"lib.py": LIB, "controls/no_low.patch": CONTROL.replace("max(0, min", "max(1, min")}
    )
    stale = repo.gate(change)
    assert stale.exit_code == 3 and "no longer applies" in stale.controls[0].unmet


def test_shadowing_a_library_changes_nothing_and_is_uncovered(repo: Scratch) -> None:
    lie = "def same(*_):\n    return True\n"
    run = repo.gate(
        {"lib.py": WRONG, "z3.py": "x = 1\n", "refute/plain.py": lie, "json.py": "x = 1\n"}
    )
    assert refuted(run) == {"total"}
    shadow = repo.gate({"lib.py": LIB})
    uncovered = {c.file for c in shadow.coverage if c.status == "uncovered"}
    assert uncovered == {"z3.py", "refute/plain.py", "json.py"}


def test_files_that_python_or_pytest_run_by_themselves_do_not_run(repo: Scratch) -> None:
    patch = "import lib\nlib.total = sum\n"
    run = repo.gate(
        {
            "lib.py": WRONG,
            "sitecustomize.py": patch,
            "conftest.py": patch,
            "usercustomize.py": patch,
        }
    )
    assert refuted(run) == {"total"}


def test_an_ignored_file_hides_nothing(repo: Scratch) -> None:
    # `build/` is ignored; a module there that a subject imports is code like any other
    text = LIB.replace("return sum(prices)", "return added(prices)")
    change = {
        "lib.py": "from build.adding import added\n" + text,
        "build/adding.py": "def added(x):\n    return sum(x)\n",
    }
    run = repo.gate(change)
    assert run.decision == "accepted", run.reasons
    assert {c.file for c in run.coverage} == {"lib.py", "build/adding.py"}
    repo.git("add", "lib.py")
    repo.git("commit", "--quiet", "-m", "without the ignored file")
    committed = repo.gate(base="HEAD^", head="HEAD")
    assert committed.exit_code != 0  # what lands lacks the module, so the subject does not load


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_index_flags_hide_nothing(repo: Scratch, flag: str) -> None:
    repo.git("update-index", flag, "lib.py")
    run = repo.gate({"lib.py": WRONG})
    assert refuted(run) == {"total"}


def test_attributes_and_filters_do_not_run(repo: Scratch, tmp_path: Path) -> None:
    trace = tmp_path / "ran"
    repo.commit({".gitattributes": "*.py filter=evil diff=evil\n"})
    for key in ("filter.evil.clean", "filter.evil.smudge", "diff.evil.textconv", "core.fsmonitor"):
        repo.git("config", key, f"touch {trace}; cat")
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    repo.git("config", "core.hooksPath", str(hooks))
    repo.write({"lib.py": WRONG})
    trace.unlink(missing_ok=True)
    run = repo.gate()
    assert refuted(run) == {"total"} and not trace.exists()


def test_a_replaced_base_object_is_not_followed(repo: Scratch) -> None:
    base = repo.git("rev-parse", "HEAD")
    weaker = repo.commit({"claims.py": CLAIMS[: CLAIMS.index('claim("total"')]})
    repo.git("reset", "--quiet", "--hard", base)
    repo.git("replace", base, weaker)
    run = repo.gate({"lib.py": WRONG}, base=base)
    assert refuted(run) == {"total"}


def test_deleting_the_subject_is_not_accepted(repo: Scratch) -> None:
    run = repo.gate({"lib.py": None})
    assert run.exit_code in (1, 3)
    assert all(r.unmet and not r.pre_existing for r in run.results)


def test_detecting_the_harness_only_changes_the_own_verdict(repo: Scratch) -> None:
    sly = LIB.replace(
        "    return sum(prices)",
        "    import sys\n    if any('refute' in name for name in sys.modules):\n"
        "        return sum(prices)\n    return 0",
    )
    run = repo.gate({"lib.py": sly})
    # the code under test may answer right when watched; then it is right where it was judged
    assert run.canary is not None and not run.canary.unmet
    assert {c.unit for c in run.coverage} == {"total"}


def test_a_new_spec_module_that_shadows_a_judge_is_reported(repo: Scratch) -> None:
    claims = CLAIMS.replace('"""What', 'from judge import rows\n"""What', 1)
    repo.commit({"claims.py": claims, "judge.py": "rows = 1\n"})
    run = repo.gate({"judge/__init__.py": "rows = 2\n"})
    assert run.exit_code == 3 and ("changed", "judge/__init__.py") in events(run)


def test_a_changed_judge_is_a_spec_change(repo: Scratch) -> None:
    claims = CLAIMS.replace('"""What', 'from judge import rows\n"""What', 1)
    repo.commit({"claims.py": claims, "judge.py": "rows = 1\n"})
    commented = repo.gate({"judge.py": "# one\nrows = 1\n"})
    assert events(commented) == []
    changed = repo.gate({"judge.py": "rows = 2\n"})
    assert changed.exit_code == 3 and events(changed) == [("changed", "judge.py")]
    assert changed.coverage == ()


def test_a_link_out_of_the_tree_brings_nothing(repo: Scratch, tmp_path: Path) -> None:
    (tmp_path / "outside.py").write_text("def total(x):\n    return sum(x)\n")
    repo.write(
        {
            "lib.py": LIB.replace(
                "return sum(prices)", "from out import total as t\n    return t(prices)"
            )
        }
    )
    (repo.root / "out.py").symlink_to(tmp_path / "outside.py")
    run = repo.gate()
    assert refuted(run) == {"total"}
    assert any("leaves the tree" in text for text in run.not_done)


def test_a_broken_harness_is_not_green(repo: Scratch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("refute.gate.canary.plain.same", lambda *_: True)
    run = repo.gate({"README.md": "x\n"})
    assert run.exit_code == 3 and "harness is broken" in run.reasons[0]
    assert run.results == ()


def test_a_small_budget_is_no_excuse(repo: Scratch, monkeypatch: pytest.MonkeyPatch) -> None:
    def spent(self: Tables, claim: Claim, site: Site) -> Finding:
        return Finding("tables", "1", Verdict.UNKNOWN, "the budget was spent")

    monkeypatch.setattr(Tables, "_run", spent)
    run = repo.gate({"lib.py": LIB.replace("sum(prices)", "sum(list(prices))")})
    assert run.exit_code == 3
    assert all(r.unmet and not r.pre_existing for r in run.results)
