"""Crash states per second on journalfs, on one core, everything counted; and time to a refutation.

Counted are the CPU seconds of this process and of all workers: recording, building and
fingerprinting images, recovery, views, the structure check, judging, faults, repeats. A state is
one (sequence, crash) pair that was judged; equal images are recovered once, so both figures are
printed. Run with `python benchmarks/bench_crash.py`; bars: 1,000 states/s, and the first refutation
of a rename in two transactions within 10 s.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from refute.budget import Budget
from refute.claim import Claim, Verdict, Where
from refute.site import Site
from refute.specs.crash import PROPERTIES, CrashConsistent
from refute.verifiers.crash.engine import CrashExplorer

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "journalfs"
RENAME = EXAMPLE / "changes" / "01-rename-two-transactions.patch"


def main() -> None:
    """Print the figures."""
    exhaustive()
    refutation()


def exhaustive() -> None:
    """All properties of the sound filesystem at the default bounds."""
    findings, wall_s = explore(EXAMPLE)
    assert all(f.verdict is Verdict.EXHAUSTED for f in findings), [f.reason for f in findings]
    counts = findings[0].statistics
    cpu_s = sum(f.cost.cpu_s for f in findings)
    print(f"sequences {counts['sequences']}, with faults {counts['faults']}")
    for name in ("states", "images"):
        print(f"{name}: {counts[name]}, {counts[name] / cpu_s:,.0f} per CPU second")
    for name, took in counts["stages"].items():
        rates = [f"{took[k] / max(took['cpu_s'], 0.01):,.0f} {k}/s" for k in ("states", "images")]
        print(f"  {name}: {took['cpu_s']} CPU s, {rates[0]}, {rates[1]}")
    print(f"cost: {cpu_s:.1f} CPU s, {wall_s:.1f} s")


def refutation() -> None:
    """The rename that is two transactions."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "journalfs"
        shutil.copytree(EXAMPLE, tree)
        subprocess.run(["patch", "-p1", "-s", "-i", RENAME], cwd=tree, check=True)
        seen: list[float] = []
        started = time.monotonic()

        def progress(text: str) -> None:
            if "seems broken" in text:
                seen.append(time.monotonic() - started)

        findings, wall_s = explore(tree, progress)
        broken = [p for p, f in zip(PROPERTIES, findings, strict=True) if f.counterexamples]
        print(f"rename in two steps: seen after {seen[0]:.1f} s, reported after {wall_s:.1f} s")
        cpu_s = sum(f.cost.cpu_s for f in findings)
        print(f"refuted: {', '.join(broken)}; cost {cpu_s:.1f} CPU s")


def explore(tree: Path, progress=lambda _: None):  # type: ignore[no-untyped-def]
    """The findings for all properties, and the wall-clock seconds."""
    claims = [
        Claim(p, CrashConsistent("journalfs:JournalFS", p, structure="fsck:problems"), Where("", 1))
        for p in PROPERTIES
    ]
    started = time.monotonic()
    budget = Budget(cpu_s=300, wall_s=600)
    findings = CrashExplorer().run(claims, budget, Site(tree, tree), progress)
    return findings, time.monotonic() - started


if __name__ == "__main__":
    main()
