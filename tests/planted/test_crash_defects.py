"""Every planted defect of the key-value store is found, as what it is, and replays."""

from __future__ import annotations

import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

from refute.claim import Verdict
from refute.replay import Counterexample, replay
from refute.verifiers.crash.cases import Case
from refute.verifiers.crash.engine import CrashExplorer
from refute.verifiers.crash.states import Crash

CASES = Path(__file__).parents[1] / "cases" / "crash"
crash_store = SimpleNamespace(**runpy.run_path(str(CASES / "harness.py")))
DEFECTS = runpy.run_path(str(CASES / "defects.py"))["DEFECTS"]


@pytest.mark.parametrize(("name", "prop", "old", "new"), DEFECTS, ids=[d[0] for d in DEFECTS])
def test_a_defect_is_found(tmp_path: Path, name: str, prop: str, old: str, new: str) -> None:
    where = crash_store.site(tmp_path, old, new)
    asked = crash_store.claims(prop)
    finding = crash_store.explore(where, asked)[prop]
    assert finding.verdict is Verdict.UNKNOWN, "an engine proposes, replay refutes"
    assert len(finding.counterexamples) == 1, finding.reason
    case = finding.counterexamples[0]
    assert len(case.steps) + 4 <= 15
    assert case.observed and case.expected and case.point
    copy = Counterexample.from_json(case.to_json())
    replayer = CrashExplorer().replayer(asked[0], where, crash_store.BUDGET)
    assert replayer.play(copy, hash_seed=1).broke


def test_the_smallest_sequence_is_given(tmp_path: Path) -> None:
    defect = next(d for d in DEFECTS if d[0].startswith("checksum"))
    where = crash_store.site(tmp_path, defect[2], defect[3])
    finding = crash_store.explore(where, crash_store.claims("atomicity"))["atomicity"]
    case = Case.from_plain(finding.counterexamples[0].inputs)
    assert case.operations == (crash_store.OPERATIONS[0],)
    assert "put" in finding.counterexamples[0].point


def test_a_candidate_that_does_not_break_the_claim_makes_no_witness(tmp_path: Path) -> None:
    """A lying engine: it names a crash of a sound store."""
    where = crash_store.site(tmp_path)
    asked = crash_store.claims("atomicity")[0]
    case = Case("atomicity", (), (crash_store.OPERATIONS[0],), crash=Crash(2))
    lie = Counterexample("liar", case.to_plain())
    replayed = replay(lie, CrashExplorer().replayer(asked, where, crash_store.BUDGET))
    assert replayed.witness is None
    assert replayed.engine_wrong


def test_nonsense_instead_of_a_case_is_an_error_of_the_replay(tmp_path: Path) -> None:
    where = crash_store.site(tmp_path)
    replayer = CrashExplorer().replayer(
        crash_store.claims("atomicity")[0], where, crash_store.BUDGET
    )
    played = replayer.play(Counterexample("liar", {"nonsense": 1}), 0)
    assert not played.broke and played.error


def test_a_system_that_cannot_be_made_is_refuted(tmp_path: Path) -> None:
    where = crash_store.site(
        tmp_path, "        store = Store(device)\n", "        raise OSError(5, 'no')\n"
    )
    findings = crash_store.explore(where, crash_store.claims("atomicity", "fsync"))
    for finding in findings.values():
        assert len(finding.counterexamples) == 1, finding.reason
        assert "format failed" in finding.counterexamples[0].observed


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ("import errno\n", "import nothing_of_that_name\n", "loaded"),
        ("    def mount(cls", "    def no_mount(cls", "loaded"),
    ],
)
def test_what_cannot_be_loaded_is_unknown(tmp_path: Path, old: str, new: str, word: str) -> None:
    where = crash_store.site(tmp_path, old, new)
    finding = crash_store.explore(where, crash_store.claims("atomicity"))["atomicity"]
    assert finding.verdict is Verdict.UNKNOWN
    assert word in finding.reason and not finding.counterexamples


def test_a_broken_spec_accuses_nobody(tmp_path: Path) -> None:
    where = crash_store.site(tmp_path)
    (tmp_path / "store_spec.py").write_text("class Model:\n    def view(self): return 1 / 0\n")
    finding = crash_store.explore(where, crash_store.claims("atomicity"))["atomicity"]
    assert finding.verdict is Verdict.UNKNOWN
    assert "model" in finding.reason and not finding.counterexamples


def test_a_recovery_that_dies_is_refuted(tmp_path: Path) -> None:
    old = "        bodies = [self.device.read(BODIES + n) for n in range(len(targets))]\n"
    new = old + "        if number == 1:\n            import os\n\n            os._exit(0)\n"
    where = crash_store.site(tmp_path, old, new)
    asked = crash_store.claims("atomicity", depth=1, operations=crash_store.OPERATIONS[:1])
    finding = crash_store.explore(where, asked)["atomicity"]
    assert len(finding.counterexamples) == 1, finding.reason
    assert "died" in finding.counterexamples[0].observed
