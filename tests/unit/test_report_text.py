"""The text report: the verdict first, the case complete, a refutation on one screen."""

from __future__ import annotations

import dataclasses

import pytest
import report_samples as samples

from refute.record import Coverage, Run
from refute.report.text import Look, text
from refute.report.trace import trace_lines
from refute.report.visible import squeezed, visible

SCREEN = 45


@pytest.mark.parametrize("run", samples.every_run(), ids=lambda r: f"{r.command} {r.decision}")
def test_the_verdict_is_the_first_word(run: Run) -> None:
    words = {
        "accepted": "ACCEPTED" if run.command == "gate" else "ESTABLISHED",
        "refuted": "REFUTED",
        "not established": "NOT ESTABLISHED",
        "nothing to judge": "NOTHING TO JUDGE",
    }
    assert text(run).startswith(words[run.decision] + "  ")


def test_a_refutation_shows_the_whole_case_and_how_to_replay_it() -> None:
    run = samples.gate_refuted()
    digest = run.results[1].claim.digest()
    shown = text(run, Look(files={digest: ".refute/witnesses/rename.json"}))
    for part in (
        "rename is atomic   claims.py:7",
        "1  step 1  x = 1",
        "3  step 3  x = 3",
        "after write 7",
        "/a and /b both exist",
        "/a or /b",
        "refute replay .refute/witnesses/rename.json",
        "from the ledger",
        "pre-existing",
        "all sequences of 2 operations",
        "64-bit fingerprints do not collide",
        "1 of 2 changed units covered",
        "uncovered store.py:40 Store.swap: raise survived",
        "1 of 1 known-wrong variants refuted",
        "canary    failed, as it must",
        "added     swap is fair (claims.py:30)",
        "mutants of changed lines",
        "advisory: base and policy were chosen locally",
        f"seed {2**62 + 1}",
        "1,200 cases · 3 discarded",
    ):
        assert " ".join(part.split()) in " ".join(shown.split()), part  # lines may be wrapped


def test_a_refutation_fits_one_screen() -> None:
    many = tuple(samples.survived(f"claim {i}") for i in range(60))
    broken = samples.refuted(steps=400)
    run = dataclasses.replace(samples.gate_refuted(), results=(*many, broken))
    lines = text(run).splitlines()
    assert len(lines) <= SCREEN
    assert max(map(len, lines)) <= 120
    assert any("388 more steps" in line for line in lines)
    assert any("53 more, in the JSON" in line for line in lines)


def test_a_trace_that_is_cut_says_how_to_see_all_of_it() -> None:
    run = Run("check", "refuted", 1, results=(samples.refuted("long", 400),))
    (line,) = [line for line in text(run).splitlines() if "388 more steps" in line]
    assert line.endswith("388 more steps, in the witness file; refute replay shows all")
    (line,) = [v for v in text(run, Look(all_shown="so")).splitlines() if "more steps" in v]
    assert line.endswith("388 more steps, so")


def test_everything_can_be_shown() -> None:
    results = samples.refuted("long", 400), samples.refuted("short", 2)
    files = {r.claim.digest(): f"case-{r.claim.name}.json" for r in results}
    shown = text(Run("check", "refuted", 1, results=results), Look(files=files, whole=True))
    assert all(f"step {n} " in shown for n in range(1, 401)) and "more steps" not in shown
    blocks = shown.split("\n\n")
    assert [b.split()[0] for b in blocks if "claims.py:7" in b] == ["short", "long"]
    assert shown.count("refute replay case-long.json") == 1


def test_long_values_are_cut_in_short_traces_only() -> None:
    case = samples.case(2, observed=" ".join(map(str, range(400))))
    short, whole = trace_lines(case), trace_lines(case, steps_shown=None)
    assert "399" in whole[-2] and short[-2].strip() == "…" and len(short) < len(whole)


def test_the_smallest_of_several_counterexamples_is_shown() -> None:
    run = Run(
        "check", "refuted", 1, results=(samples.refuted("big", 9), samples.refuted("small", 2))
    )
    assert text(run).split("\n\n")[1].startswith("small   claims.py:7")


def test_why_names_what_the_table_of_refuted_claims_does_not() -> None:
    open_one = samples.unknown("open", "the solver gave up")
    results = (samples.refuted("big", 9), samples.refuted("small", 2), open_one)
    reasons = tuple(f"{r.claim.name}: {r.unmet}" for r in results)
    shown = text(Run("check", "refuted", 1, reasons=reasons, results=results))
    assert "the claim is REFUTED" not in shown
    assert "Why\n  - open: the solver gave up\n" in shown


def test_a_remark_that_is_cut_says_so() -> None:
    long = samples.unknown("open", "because " * 60 + "of that")
    for results in ((long,), (samples.refuted(), long)):
        shown = text(Run("prove", "refuted", 1, results=results)).split("Claims\n")[1]
        assert "…\n" in shown and "of that" not in shown


def test_a_canary_that_did_not_fail_is_shouted() -> None:
    run = dataclasses.replace(samples.gate_accepted(), canary=samples.survived(role="canary"))
    assert "did NOT fail" in text(run)


def test_a_control_that_was_not_refuted_is_named() -> None:
    control = samples.survived(role="control", control="changes/bad.patch")
    run = dataclasses.replace(samples.gate_accepted(), controls=(control,))
    assert "0 of 1 known-wrong" in text(run)
    assert "not refuted: changes/bad.patch" in text(run)


def test_refuted_by_exhaustion_says_so() -> None:
    run = Run("check", "refuted", 1, results=(samples.unreachable(),))
    assert "288 cases; confirmed by second-search" in text(run)


def test_a_missed_need_and_a_declining_engine_are_named() -> None:
    result = samples.survived(unmet="5 cases tried, 10 needed", declined={"smt": "no integers"})
    shown = text(Run("check", "not established", 3, results=(result,)))
    assert "need SURVIVED(cases=10) is not met: 5 cases tried, 10 needed" in shown
    assert "smt declined: no integers" in shown


def test_flaky_is_said() -> None:
    broken = samples.refuted()
    evidence = dataclasses.replace(broken.evidence, witness=samples.witness(broke=1))
    run = Run("check", "refuted", 1, results=(dataclasses.replace(broken, evidence=evidence),))
    assert "flaky: broke in 1 of 6 replays" in text(run)


def test_hostile_text_cannot_reach_the_terminal() -> None:
    shown = text(samples.hostile())
    assert all(c.isprintable() or c == "\n" for c in shown)
    assert r"\x1b[2J\x00" in shown
    shown.encode("utf-8")


def test_colours_only_when_asked() -> None:
    run = samples.gate_refuted()
    assert "\x1b[" not in text(run)
    assert text(run, Look(colour=True)).startswith("\x1b[1;31mREFUTED\x1b[0m")


def test_traces_align_what_changed_and_break_long_lines() -> None:
    lines = trace_lines(samples.case(2, observed="word " * 60), width=60)
    assert lines[0] == "  1  step 1  x = 1"
    assert max(map(len, lines)) <= 60
    assert sum(line.startswith("observed") for line in lines) == 1


def test_visible_escapes_exactly_what_does_not_print() -> None:
    assert visible("a\tb\x1b\ud800\U000e0001é") == r"a\tb\x1b\ud800\U000e0001é"


def test_claims_that_were_not_judged_are_not_called_established() -> None:
    shown = text(samples.gate_accepted())
    assert shown.startswith("ACCEPTED  gate main..topic: 3 claims established\n")
    assert "not run   1 claim that the change does not reach" in shown
    far = samples.unknown("far", "not run", role="unaffected", pre_existing=True)
    old = samples.unknown("old", "too hard", pre_existing=True)
    assert "no claim is affected" in text(Run("gate", "accepted", 0, results=(far,)))
    both = text(Run("gate", "accepted", 0, results=(samples.survived(), old)))
    assert "1 claim established, 1 not established before either" in both


def test_what_neighbours_share_is_said_once() -> None:
    results = tuple(samples.unknown(f"claim {i}", "the search ended early") for i in range(4))
    shown = text(Run("check", "not established", 3, results=results))
    assert shown.count("the search ended early") == 1
    assert shown.count("UNKNOWN") == 4


def test_long_runs_are_counted_and_short_ones_kept() -> None:
    assert squeezed("b'" + "y" * 700 + "'") == "b'700×y'"
    assert squeezed("aaaa " + "-" * 50) == "aaaa " + "-" * 50


@pytest.mark.parametrize("unit", ["y", "abc"])
@pytest.mark.parametrize("end", ["…", "..."])
def test_a_run_that_was_cut_off_is_not_counted(unit: str, end: str) -> None:
    shown = squeezed("b'" + (unit * 700)[:400] + end)
    assert "×" not in shown
    assert shown.startswith("b'" + (unit * 9)[:8])
    assert shown.endswith(end)


def test_what_is_exempt_is_not_called_covered() -> None:
    units = [Coverage(n, "a.py", 1, s) for n, s in (("f", "covered"), ("g", "exempt"))]
    shown = text(Run("gate", "accepted", 0, coverage=tuple(units)))
    assert "coverage  1 of 2 changed units covered, 1 exempt: g\n" in shown


def test_every_refuted_claim_says_where_its_case_is() -> None:
    results = samples.refuted(steps=2), samples.refuted("swap is fair"), samples.survived()
    files = {r.claim.digest(): f"case-{i}.json" for i, r in enumerate(results)}
    shown = text(Run("check", "refuted", 1, results=results), Look(files=files))
    assert shown.count("refute replay case-0.json") == 1
    assert shown.count("refute replay case-1.json") == 1
    assert "case-2.json" not in shown
