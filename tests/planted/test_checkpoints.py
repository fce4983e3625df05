"""Searches that are cut at any moment end as others do; harmed checkpoints are noticed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from refute.budget import Budget
from refute.check import check
from refute.claim import Verdict
from refute.errors import UsageError
from refute.evidence import Evidence
from refute.plain import Plain
from refute.specs.library.chang_roberts import ChangRoberts
from refute.specs.library.ewd840 import EWD840
from refute.specs.library.inner_fifo import InnerFIFO
from refute.specs.library.paxos import Paxos
from refute.specs.library.two_phase_commit import TwoPhase
from refute.specs.machine.ir import MachineIR
from refute.verifiers.model import behaviours, checkpoint, streams
from refute.verifiers.model.checkpoint import Checkpoint
from refute.verifiers.model.choice import Choice
from refute.verifiers.model.engine import ModelChecker
from refute.verifiers.model.keeping import Keeper, open_keeper
from refute.verifiers.model.native.compiler import QUICK
from refute.verifiers.model.native.here import native_orbits, native_search
from refute.verifiers.model.native.keeping import Keeper as NativeKeeper
from refute.verifiers.model.orbits import Orbits
from refute.verifiers.model.reduced import ReducedSearch
from refute.verifiers.model.search import Search
from refute.verifiers.model.streams import Damaged

ABOUT = {"spec": "s", "constants": {"N": 1}, "how": {"hashed": False}}
FILES = ("states", "links", "values", "outside", "turn0", "turn1", "head")


class Kept:
    """A search of one kind, and its checkpoint in a directory."""

    def __init__(self, kind: str, ir: MachineIR, place: Path, cores: int = 1) -> None:
        self.checkpoint = Checkpoint(place, ABOUT, 60.0)
        self.keeper: Keeper | NativeKeeper
        self.search: Any = begun(kind, ir, cores)
        if kind in ("plain", "orbits"):
            self.keeper = open_keeper(self.search, self.checkpoint.fds)
        else:
            self.keeper = NativeKeeper(self.search, self.checkpoint.fds)
        if self.checkpoint.saved is not None:
            assert self.keeper.restore(self.checkpoint.saved)

    def save(self, commit: bool = True) -> None:
        saved = self.keeper.save()
        assert saved is not None
        if commit:
            self.checkpoint.commit("e", "", saved, self.search.statistics(), 0.0)
            assert not self.checkpoint.problem

    def close(self) -> None:
        with self.checkpoint:
            pass


def finished(search: Any) -> dict[str, Plain]:
    found: dict[str, Plain] = search.advance(60.0)
    assert found["finished"]
    report: dict[str, Plain] = search.report()
    return {n: v for n, v in report.items() if n not in ("bytes", "memory")}


def begun(kind: str, ir: MachineIR, cores: int = 1) -> Any:
    """A search of one kind that has not begun."""
    if kind in ("plain", "orbits"):
        return ReducedSearch(ir) if kind == "orbits" else Search(ir)
    made = native_orbits if "orbits" in kind else native_search
    return made(ir, cores=cores, flags=QUICK, hashed="hashed" in kind)


def once(kind: str, ir: MachineIR) -> dict[str, Plain]:
    return finished(begun(kind, ir))


KINDS = ["plain", "native", "hashed", "orbits", "native orbits", "hashed orbits"]
MODELS = [TwoPhase.build(RM=4), Paxos.build(), InnerFIFO.build()]  # one word, more, a constraint


RUNS = [("plain", ChangRoberts.build(N=5)), ("plain", MODELS[0]), ("plain", MODELS[2])]
RUNS += [("native", MODELS[0]), ("native", MODELS[2]), ("hashed", MODELS[1])]
RUNS += [("orbits", MODELS[2]), ("native orbits", TwoPhase.build(RM=8))]
RUNS += [("hashed orbits", MODELS[1])]


@pytest.mark.parametrize(("kind", "model"), RUNS, ids=repr)
def test_a_search_in_pieces_ends_as_a_whole_one(kind: str, model: Any, tmp_path: Path) -> None:
    sizes = []
    for _ in range(4):
        part = Kept(kind, model.ir, tmp_path / "k")
        before = part.search.statistics()["distinct"]
        for _ in range(1 if "orbits" in kind else 4):
            assert not part.search.advance(0.0)["finished"]
            part.save()
        assert part.search.statistics()["distinct"] > before
        sizes.append(part.search.statistics()["distinct"])
        part.search.advance(0.0)
        part.save(commit=False)  # as if the run was killed before it could say that this counts
        part.close()
    last = Kept(kind, model.ir, tmp_path / "k")
    assert last.search.statistics()["distinct"] == sizes[-1] > sizes[0] > 0
    assert finished(last.search) == once(kind, model.ir)
    last.close()


def test_a_parallel_search_in_pieces_has_the_same_counts(tmp_path: Path) -> None:
    ir = TwoPhase.build(RM=6).ir
    for cores in (2, 2, 1, 2):
        part = Kept("native", ir, tmp_path / "k", cores)
        for _ in range(8):
            part.search.advance(0.0)
        part.save()
        part.close()
    last = Kept("native", ir, tmp_path / "k", 2)
    assert 1000 < last.search.statistics()["distinct"] < 50_816
    found, whole = finished(last.search), once("native", ir)
    for report in (found, whole):
        for name, trace in report.pop("hits").items():
            report[name] = len(trace["steps"])
        report["fired"] = sorted(len(trace["steps"]) for trace in report["fired"])
    assert found == whole
    last.close()


HARMED = {"plain": MODELS[2], "native": MODELS[2], "hashed": MODELS[1], "orbits": MODELS[2]}
HARMED |= {"native orbits": MODELS[2], "hashed orbits": MODELS[1]}


def kept_once(kind: str, place: Path) -> None:
    part = Kept(kind, HARMED[kind].ir, place)
    for _ in range(2 if "orbits" in kind else 20):
        part.search.advance(0.0)
    part.save()
    part.close()


def flipped(data: bytes) -> bytes:
    at = len(data) // 2
    return data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("harm", [flipped, lambda data: data[:-1]], ids=["changed", "cut"])
def test_every_harmed_file_is_noticed(
    kind: str, harm: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    whole = tmp_path / "k"
    kept_once(kind, whole)
    harmed = 0
    for name in FILES:
        if not (whole / name).stat().st_size:
            continue
        place = tmp_path / name
        shutil.copytree(whole, place)
        (place / name).write_bytes(harm((place / name).read_bytes()))
        with pytest.raises((Damaged, UsageError), match=r"saved|head is not what was written"):
            Kept(kind, HARMED[kind].ir, place)
        harmed += 1
    assert harmed >= 3


def test_a_state_that_is_there_twice_is_noticed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Even with digests that are right, as from a program that wrote nonsense."""
    monkeypatch.setattr(streams.Stream, "load", lambda *_: None)
    part = Kept("native", MODELS[0].ir, tmp_path / "k")
    part.search.advance(0.0)
    part.save()
    part.close()
    with pytest.raises(Damaged, match="twice"):
        Kept("native", MODELS[0].ir, tmp_path / "k")


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("spec", "t", "another specification"),
        ("constants", {"N": 2}, "other constants"),
        ("how", {"hashed": True}, "other options"),
    ],
)
def test_a_checkpoint_of_something_else_is_refused(
    name: str, value: Plain, said: str, tmp_path: Path
) -> None:
    kept_once("plain", tmp_path / "k")
    with pytest.raises(UsageError, match=said):
        Checkpoint(tmp_path / "k", {**ABOUT, name: value}, 60.0)


PERMUTED = {"text": "P", "classes": [["P(0)", "P(1)"]]}
OTHERS = {"text": "Q", "classes": [["Q(0)", "Q(1)"]]}


@pytest.mark.parametrize(
    ("then", "now", "said"),
    [
        (PERMUTED, None, "up to permutations of P, and this one is of all states"),
        (None, PERMUTED, "of all states, and this one is up to permutations"),
        (PERMUTED, OTHERS, "of a search up to other permutations"),
    ],
)
def test_a_checkpoint_up_to_other_permutations_is_refused(
    then: Plain, now: Plain, said: str, tmp_path: Path
) -> None:
    with Checkpoint(tmp_path / "k", {**ABOUT, "symmetry": then}, 60.0) as made:
        made.commit("e", "", None, {}, 0.0)
    with pytest.raises(UsageError, match=said):
        Checkpoint(tmp_path / "k", {**ABOUT, "symmetry": now}, 60.0)


def test_other_representatives_of_orbits_are_noticed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As a Python with other hashes might choose them: orbits would be searched twice."""
    kept_once("orbits", tmp_path / "k")
    colour = Orbits._colour
    monkeypatch.setattr(Orbits, "_colour", lambda *given: -colour(*given))
    with pytest.raises(Damaged, match="represented by other states"):
        Kept("orbits", HARMED["orbits"].ir, tmp_path / "k")


@pytest.mark.parametrize(
    ("function", "said"),
    [("version", "another version of refute"), ("computer", "another kind of computer")],
)
def test_a_checkpoint_from_elsewhere_is_refused(
    function: str, said: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kept_once("plain", tmp_path / "k")
    monkeypatch.setattr(checkpoint, function, lambda: "other")
    with pytest.raises(UsageError, match=said):
        Checkpoint(tmp_path / "k", ABOUT, 60.0)


def test_a_directory_belongs_to_one_run_and_one_user(tmp_path: Path) -> None:
    first = Checkpoint(tmp_path / "k", ABOUT, 60.0)
    with pytest.raises(UsageError, match="in use by another run"):
        Checkpoint(tmp_path / "k", ABOUT, 60.0)
    with first:
        pass
    (tmp_path / "k").chmod(0o777)
    with pytest.raises(UsageError, match="others may write"):
        Checkpoint(tmp_path / "k", ABOUT, 60.0)
    with pytest.raises(UsageError, match="not usable"):
        Checkpoint(Path("/dev/null/k"), ABOUT, 60.0)


@pytest.mark.parametrize("kind", KINDS)
def test_a_full_disk_leaves_the_checkpoint_before(
    kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    part = Kept(kind, MODELS[2].ir, tmp_path / "k")
    part.search.advance(0.0)
    part.save()
    before = part.search.statistics()["distinct"]
    part.search.advance(0.0)
    pwrite, calls = os.pwrite, iter([1, 2])

    def full(fd: int, data: Any, at: int) -> int:
        if next(calls, None) is None:
            raise OSError(28, "No space left on device")
        return pwrite(fd, data[: len(data) // 2 + 1], at)

    with monkeypatch.context() as patch, pytest.raises(OSError, match="No space"):
        patch.setattr(os, "pwrite", full)
        part.keeper.save()
    part.close()
    again = Kept(kind, MODELS[2].ir, tmp_path / "k")
    assert again.search.statistics()["distinct"] == before
    assert finished(again.search) == once(kind, MODELS[2].ir)
    again.close()


MODEL = TwoPhase.build(RM=7)


def judged(
    place: Path,
    seconds: float,
    engine: str = "native",
    found: Any = None,
    model: Any = MODEL,
    symmetry: bool = False,
) -> Evidence:
    (claim,) = [c for c in model.claims() if c.statement.params["prop"] == "agreement"]
    choice = Choice(engine, symmetry=symmetry, checkpoint=str(place), every_s=0.05)
    checker = ModelChecker(choice)
    budget = Budget(cpu_s=seconds, wall_s=60.0)
    (evidence,) = check(claim, budget, model.site(), engines=lambda _: (checker,), found=found)
    return evidence


def test_a_budget_that_ends_is_no_loss(tmp_path: Path) -> None:
    """The plain engine, by its CPU time; then the other engine is refused, and then it ends."""
    cut = judged(tmp_path, 0.7, "plain")
    assert cut.verdict is Verdict.UNKNOWN
    assert "goes on from" in cut.reason and "60% of the budget ended" in cut.reason
    assert 100 < cut.tried < 296_448
    with pytest.raises(UsageError, match="of a search by the plain engine"):
        judged(tmp_path, 60.0)
    more = judged(tmp_path, 1.2, "plain")
    assert more.tried > cut.tried and f"({cut.tried} of them from a checkpoint)" in more.scope.text


def test_orbits_are_gone_on_from_and_are_no_states(tmp_path: Path) -> None:
    model = TwoPhase.build(RM=9)
    cut = judged(tmp_path, 0.7, "plain", model=model, symmetry=True)
    assert cut.verdict is Verdict.UNKNOWN and "goes on from" in cut.reason
    with pytest.raises(UsageError, match="up to permutations of RM, and this one is of all"):
        judged(tmp_path, 1.0, "plain", model=model)
    more = judged(tmp_path, 1.2, "plain", model=model, symmetry=True)
    assert cut.tried < more.tried < 2262
    assert f"{more.tried} orbits ({cut.tried} of them from a checkpoint)" in more.scope.text
    (place,) = tmp_path.iterdir()
    assert '"text":"RM"' in (place / "head").read_text().replace(" ", "")


def test_what_follows_a_search_begins_anew_and_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(behaviours, "SHARE", 0.0)
    model = EWD840.build(N=3)
    (claim,) = [c for c in model.claims() if c.statement.params["prop"] == "detects"]
    checker = ModelChecker(Choice("plain", checkpoint=str(tmp_path), every_s=0.0))
    (evidence,) = check(claim, Budget(), model.site(), engines=lambda _: (checker,))
    assert evidence.verdict is Verdict.UNKNOWN
    assert "a checkpoint keeps the search of states only: this begins anew" in evidence.reason
    assert any(tmp_path.iterdir())


def test_an_interrupt_keeps_what_is_known(tmp_path: Path) -> None:
    known: dict[str, Evidence] = {}

    def interrupt() -> None:
        while not any(tmp_path.glob("*/head")):
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        judged(tmp_path, 300.0, "plain", lambda claim, e: known.update({claim.name: e}))
    thread.join()
    (evidence,) = known.values()
    assert evidence.verdict is Verdict.UNKNOWN
    assert evidence.reason.startswith("interrupted after") and "goes on from" in evidence.reason
    assert evidence.tried > 100
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_killed_run_is_gone_on_from(tmp_path: Path) -> None:
    file = sys.modules[TwoPhase.__module__].__file__
    command = [sys.executable, "-m", "refute.cli.main", "check", f"{file}:agreement"]
    command += ["--set", "RM=7", "--engine", "plain", "--budget", "5m"]
    command += ["--checkpoint", str(tmp_path), "--checkpoint-every", "50ms"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, text=True) as process:
        while not any(tmp_path.glob("*/head")):
            time.sleep(0.01)
        process.kill()
    (place,) = tmp_path.iterdir()
    head = (place / "head").read_text()
    assert "distinct" in head
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        while (place / "head").read_text() == head:
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        said, _ = process.communicate()
    assert process.returncode == 3
    assert "interrupted: this is what was known by then" in said
    assert "of them from a checkpoint" in " ".join(said.split())


def test_nothing_is_left_of_a_search_that_ended(tmp_path: Path) -> None:
    evidence = judged(tmp_path, 60.0, "plain", model=TwoPhase.build(RM=4))
    assert evidence.verdict is Verdict.EXHAUSTED
    assert evidence.statistics["distinct"] == 1568
    assert list(tmp_path.iterdir()) == []
