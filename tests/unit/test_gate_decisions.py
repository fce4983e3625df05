"""The gate's decisions on honest changes: what is accepted, refuted, charged and left alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from scratch_repo import CLAIMS, LIB, Scratch

from refute.claim import Verdict
from refute.errors import GitError, UsageError
from refute.gate.flow import gate
from refute.record import Run


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scratch:
    monkeypatch.setenv("REFUTE_KEY_FILE", str(tmp_path / "key"))
    return Scratch(tmp_path / "repo")


def verdicts(run: Run) -> dict[str, Verdict]:
    return {r.claim.name: r.evidence.verdict for r in run.results}


def covered(run: Run) -> dict[str, str]:
    return {c.unit: c.status for c in run.coverage}


def test_a_document_reaches_no_claim(repo: Scratch) -> None:
    run = repo.gate({"README.md": "Prices and totals.\n"})
    assert (run.decision, run.exit_code) == ("accepted", 0)
    assert all(r.pre_existing and "does not reach" in r.unmet for r in run.results)
    assert run.canary is not None and run.canary.evidence.verdict is Verdict.REFUTED


def test_a_right_change_is_accepted_and_its_function_knocked_out(repo: Scratch) -> None:
    run = repo.gate({"lib.py": LIB.replace("max(0, min(LIMIT, x))", "min(LIMIT, max(0, x))")})
    assert (run.decision, run.exit_code) == ("accepted", 0), run.reasons
    assert verdicts(run) == {"clamp": Verdict.EXHAUSTED, "total": Verdict.EXHAUSTED}
    assert [c.evidence.verdict for c in run.controls] == [Verdict.REFUTED]
    assert covered(run) == {"clamp": "covered"}
    assert run.mode == "advisory" and "--policy" in run.mode_reason


def test_the_second_gate_takes_evidence_from_the_ledger(repo: Scratch) -> None:
    change = {"lib.py": LIB.replace("sum(prices)", "sum(list(prices))")}
    assert not any(r.evidence.from_ledger for r in repo.gate(change).results)
    again = repo.gate()
    assert again.decision == "accepted"
    assert all(r.evidence.from_ledger for r in again.results)
    assert all(r.evidence.inputs["subject"] for r in again.results)


def test_a_wrong_change_is_refuted_and_its_witness_replayed_next_time(repo: Scratch) -> None:
    change = {"lib.py": LIB.replace("sum(prices)", "sum(prices[:2])")}
    run = repo.gate(change)
    assert (run.decision, run.exit_code) == ("refuted", 1)
    assert run.coverage == () and any("refuted already" in text for text in run.not_done)
    again = repo.gate()
    (refuted,) = [r for r in again.results if r.evidence.verdict is Verdict.REFUTED]
    assert refuted.claim.name == "total"
    assert "known counterexample" in refuted.evidence.reason


def test_refuted_on_the_base_too_is_charged_and_says_so(repo: Scratch) -> None:
    broken = LIB.replace("sum(prices)", "sum(prices[:2])")
    repo.commit({"lib.py": broken})
    run = repo.gate({"lib.py": broken.replace("LIMIT = 100", "LIMIT = 10 * 10")})
    assert run.exit_code == 1
    assert any("on the base" in reason for reason in run.reasons)


def test_comments_and_formatting_need_no_cover(repo: Scratch) -> None:
    run = repo.gate(
        {"lib.py": LIB.replace("    return sum(prices)", "    # all\n    return (sum(prices))")}
    )
    assert run.decision == "accepted" and run.coverage == ()
    assert run.changed == ("lib.py (syntax unchanged)",)


def test_uncovered_code_is_not_established(repo: Scratch) -> None:
    run = repo.gate({"lib.py": LIB + "\n\ndef twice(x: int) -> int:\n    return 2 * x\n"})
    assert (run.decision, run.exit_code) == ("not established", 3)
    assert covered(run) == {"twice": "uncovered"}
    assert any("no spec, no code: lib.py:twice" in reason for reason in run.reasons)


def test_a_function_whose_constant_survives_is_uncovered(repo: Scratch) -> None:
    # `raise` is noticed, a constant is not: the claim never looks at what `log` gives back
    text = LIB.replace("return sum(prices)", "log(prices)\n    return sum(prices)")
    run = repo.gate({"lib.py": text + "\n\ndef log(x: list) -> str:\n    return repr(x)\n"})
    assert covered(run) == {"total": "covered", "log": "uncovered"}


def test_a_constant_is_knocked_out(repo: Scratch) -> None:
    run = repo.gate({"lib.py": LIB.replace("LIMIT = 100", "LIMIT = 10 ** 2")})
    assert run.decision == "accepted", run.reasons
    assert covered(run) == {"LIMIT": "covered"}


def test_a_file_nobody_imports_is_uncovered(repo: Scratch) -> None:
    run = repo.gate({"extra.py": "def f() -> int:\n    return 1\n", "data.bin": "x"})
    assert covered(run) == {"f": "uncovered", "data.bin": "uncovered"}
    assert run.exit_code == 3


def test_ignored_files_nobody_imports_are_nothing_to_judge(repo: Scratch) -> None:
    run = repo.gate({"build/lib.py": "x = 1\n"}, head="worktree")
    assert (run.decision, run.exit_code) == ("nothing to judge", 3)


def test_an_empty_difference_is_nothing_to_judge(repo: Scratch) -> None:
    run = repo.gate(base="HEAD", head="HEAD")
    assert (run.decision, run.exit_code) == ("nothing to judge", 3)
    assert run.canary is None


def test_exempt_units_need_no_claim(repo: Scratch) -> None:
    more = LIB + "\n\ndef old(x: int) -> int:\n    return x\n"
    repo.commit({"lib.py": more, "refute-exempt.txt": "# old code\nlib.py:old\n"})
    run = repo.gate({"lib.py": more.replace("return x\n", "return x + 0\n")})
    assert run.decision == "accepted", run.reasons
    assert covered(run) == {"old": "exempt"}


def test_a_new_claim_is_reported_and_counts(repo: Scratch) -> None:
    run = repo.gate(
        {
            "lib.py": LIB + "\n\ndef twice(x: int) -> int:\n    return 2 * x\n",
            "claims.py": CLAIMS + 'claim("twice", table("lib:twice", [[[2], 4], [[0], 0]]))\n',
        }
    )
    assert run.decision == "accepted", run.reasons
    assert [(e.kind, e.thing, e.detail) for e in run.spec_events] == [
        ("added", "twice", "spec written with the change")
    ]
    assert covered(run) == {"twice": "covered"}
    assert [r.role for r in run.results if r.claim.name == "twice"] == ["new"]


def test_a_new_claim_that_no_knockout_refutes_is_vacuous(repo: Scratch) -> None:
    # the row expects None, and a call that raises gives none either: nothing can break it
    repo.commit({"lib.py": LIB + "\n\ndef idle(x: int) -> None:\n    pass\n"})
    run = repo.gate({"claims.py": CLAIMS + 'claim("idle", table("lib:idle", [[[1], None]]))\n'})
    (new,) = [r for r in run.results if r.role == "new"]
    assert new.evidence.verdict is Verdict.EXHAUSTED and "vacuous" in new.unmet
    assert run.exit_code == 3


def test_a_repository_without_claims_establishes_nothing(tmp_path: Path) -> None:
    bare = Scratch(tmp_path / "bare", {"README.md": "x\n"})
    run = bare.gate({"README.md": "y\n"})
    assert run.exit_code == 3
    assert any("no claims" in reason for reason in run.reasons)


def test_unknown_on_the_base_too_is_not_charged(repo: Scratch) -> None:
    need = CLAIMS.replace("need=EXHAUSTED(rows=3)", "need=EXHAUSTED(rows=4)")
    repo.commit({"claims.py": need})
    run = repo.gate({"lib.py": LIB.replace("sum(prices)", "sum(list(prices))")})
    (clamp,) = [r for r in run.results if r.claim.name == "clamp"]
    assert clamp.unmet and clamp.pre_existing
    assert run.decision == "accepted", run.reasons


def test_interrupted_runs_report_what_is_known(
    repo: Scratch, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("refute.gate.flow.judge_controls", interrupted)
    run = repo.gate({"lib.py": LIB.replace("sum(prices)", "sum(list(prices))")})
    assert run.interrupted and run.exit_code == 3
    assert verdicts(run) == {"clamp": Verdict.EXHAUSTED, "total": Verdict.EXHAUSTED}


def test_bases_without_a_name(repo: Scratch) -> None:
    first = repo.git("rev-parse", "HEAD")
    second = repo.commit({"README.md": "second\n"})
    assert first[:12] in repo.gate().base  # clean, on the default branch: first parent
    repo.git("checkout", "--quiet", "-b", "work")
    repo.commit({"README.md": "third\n"})
    repo.commit({"README.md": "fourth\n"})
    assert repo.gate().base == second[:12]  # merge base with main


def test_unusable_input_is_a_clear_error(repo: Scratch, tmp_path: Path) -> None:
    with pytest.raises(GitError, match="names no commit"):
        repo.gate(base="nowhere")
    with pytest.raises(GitError, match="not a git repository"):
        (tmp_path / "plain").mkdir()
        gate(tmp_path / "plain")
    with pytest.raises(UsageError, match="unknown key 'exclud'"):
        repo.commit({"pyproject.toml": '[tool.refute]\nexclud = ["x"]\n'})
        repo.gate({"README.md": "x\n"})
