"""Searches and proofs by formulas, each beside its bar.

    python benchmarks/bench_symbolic.py [bounded|proofs|bugs …]

bounded: all that two-phase commit with ten resource managers states, to depth 12. Beside it the
same machine written for Z3 by hand, searched with its general solver for a minute, as a measure of
what the encoding and the solver's settings bring.
proofs: the main property of each of seven protocols, for every size, on one core. "found lemmas":
of the module, every other invariant is taken away first. "own lemmas": those of the module are
kept. bugs: the one-line bugs of `tests/cases/machines/open_defects.py`, of every size, each refuted
with a trace at a small size that replays.

Bars are of CPU seconds, as they are of one core that does nothing else. Exit 1 when an outcome is
not the one that is expected, or a bar is missed.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import z3

from refute.frozen import frozen

ROOT = Path(__file__).parents[1]
LIBRARY = ROOT / "refute" / "specs" / "library"
BOUNDED_S, PROOF_S, AUTOMATIC_S = 30.0, 120.0, 600.0
MANAGERS, DEPTH = 10, 12


@frozen
class Protocol:
    """module of the library; main: the property that is proved; found: with lemmas that are."""

    module: str
    main: str
    sorts: tuple[str, ...]
    found: bool


SEVEN = (
    Protocol("two_phase_commit", "agreement", ("RM",), True),
    Protocol("token_ring", "mutual_exclusion", ("Node",), True),
    Protocol("lock_service", "exclusive", ("Client",), True),
    Protocol("ricart_agrawala", "mutual_exclusion", ("Node",), True),
    Protocol("ring_election", "one_leader", ("Node", "Id"), True),
    Protocol("sharded_store", "one_owner", ("Node", "Key", "Value"), True),
    Protocol("toy_consensus", "agreement", ("Node", "Value", "Quorum"), False),
)


@frozen
class Run:
    """One command: its JSON document, seconds of the clock and of the CPU."""

    document: Any
    wall_s: float
    cpu_s: float

    def verdicts(self) -> dict[str, str]:
        """By the claim's own name."""
        rows = self.document.get("results", ())
        return {r["claim"]["name"].partition(").")[2]: r["verdict"] for r in rows}


def checked(target: str, *options: str) -> Run:
    """`refute check` of a file, on one core."""
    core = {min(os.sched_getaffinity(0))}
    with tempfile.TemporaryDirectory() as directory:
        out = Path(directory) / "out.json"
        program = Path(sys.executable).parent / "refute"
        command = [str(program), "check", target, "--json", str(out), *options]
        began, before = time.monotonic(), _cpu()
        subprocess.run(
            command,
            check=False,
            capture_output=True,
            preexec_fn=lambda: os.sched_setaffinity(0, core),
        )
        wall_s, cpu_s = time.monotonic() - began, _cpu() - before
        document = json.loads(out.read_text()) if out.is_file() else {}
    return Run(document, wall_s, cpu_s)


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _loaded(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    spec.loader.exec_module(module)
    return module


def told(name: str, run: Run, bar_s: float, right: bool) -> bool:
    """Print one line; whether the outcome is right and the bar is kept."""
    kept = run.cpu_s < bar_s
    words = "" if right else f"  WRONG: {run.verdicts()}"
    words += "" if kept else "  BAR MISSED"
    print(
        f"{name:44} {run.cpu_s:7.1f} CPU s (bar {bar_s:g}), {run.wall_s:.1f} s{words}", flush=True
    )
    return right and kept


def bounded() -> bool:
    """Two-phase commit, searched to a depth; beside it the same by hand."""
    options = ("--set", f"RM={MANAGERS}", "--engine", "symbolic", "--depth", str(DEPTH))
    run = checked(str(LIBRARY / "two_phase_commit.py"), *options, "--induct", "0")
    depths = [
        row["evidence"]["scope"]["depths"].get("steps")
        for row in run.document.get("results", ())
        if row["claim"]["name"].endswith(".agreement")
    ]
    verdicts = run.verdicts()
    right = depths == [DEPTH] and "REFUTED" not in verdicts.values()
    print(f"  verdicts: {verdicts}; depth: {depths}")
    kept = told(f"TwoPhase RM={MANAGERS} to depth {DEPTH}, all claims", run, BOUNDED_S, right)
    depth, cpu_s, wall_s = by_hand(2 * BOUNDED_S)
    print(f"  by hand, agreement alone: depth {depth}, {cpu_s:.1f} CPU s, {wall_s:.1f} s")
    return kept


def by_hand(most_s: float) -> tuple[int, float, float]:
    """How deep the same machine is searched when it is written for Z3 directly; CPU, and clock."""
    sys.path.insert(0, str(ROOT / "tests" / "conformance"))
    hand = _loaded(ROOT / "tests" / "conformance" / "by_hand.py")
    machine = hand.two_phase(hand.Domain("RM", MANAGERS))
    states = [machine.state()]
    solver = z3.Solver()
    solver.add(machine.start(states[0]))
    began, before, reached = time.monotonic(), time.process_time(), -1
    for depth in range(DEPTH + 1):
        if depth:
            states.append(machine.state())
            solver.add(machine.step(*states[-2:]))
        left_s = most_s - (time.monotonic() - began)
        solver.set("timeout", max(1, int(1000 * left_s)))
        solver.push()
        solver.add(z3.Not(machine.says["agreement"](states[-1])))
        answer = solver.check()
        solver.pop()
        if answer != z3.unsat:
            break
        solver.add(machine.says["agreement"](states[-1]))
        reached = depth
    return reached, time.process_time() - before, time.monotonic() - began


def stripped(source: str, main: str) -> str:
    """A module whose other invariants are plain methods."""
    made, count = re.subn(rf"    @invariant\n(?=    def (?!{main}\b))", "", source)
    return made if count or source.count("@invariant") == 1 else ""


def proofs() -> bool:
    """The seven, for every size."""
    kept = True
    for one in SEVEN:
        text = (LIBRARY / f"{one.module}.py").read_text()
        with tempfile.TemporaryDirectory() as directory:
            file = Path(directory) / f"{one.module}.py"
            file.write_text(stripped(text, one.main) if one.found else text)
            sizes = [part for sort in one.sorts for part in ("--set", f"{sort}=any")]
            bar_s = AUTOMATIC_S if one.found else PROOF_S
            run = checked(f"{file}:{one.main}", *sizes, "--budget", f"{bar_s:g}s")
        way = "found lemmas" if one.found else "own lemmas"
        right = run.verdicts() == {one.main: "PROVED"}
        kept &= told(f"{one.module}.{one.main}, {way}", run, PROOF_S, right)
    return kept


def bugs() -> bool:
    """Each refuted, with sizes at which it shows."""
    cases = _loaded(ROOT / "tests" / "cases" / "machines" / "open_defects.py")
    kept = True
    for defect in cases.DEFECTS:
        with tempfile.TemporaryDirectory() as directory:
            file = defect.written(Path(directory))
            sizes = [part for sort, _ in defect.sizes for part in ("--set", f"{sort}=any")]
            run = checked(f"{file}:{defect.prop}", *sizes)
        evidence = [row["evidence"] for row in run.document.get("results", ())]
        case = (evidence[0].get("witness") or {}).get("counterexample") if evidence else None
        right = run.verdicts() == {defect.prop: "REFUTED"} and case is not None
        where = evidence[0]["scope"]["text"] if right else ""
        kept &= told(f"{defect}: {where}", run, PROOF_S, right)
    return kept


def main(names: list[str]) -> int:
    """Measure what is named; 1 when something is not as it should be."""
    parts = {"bounded": bounded, "proofs": proofs, "bugs": bugs}
    wrong = [name for name, part in parts.items() if name in (names or parts) and not part()]
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
