"""How long the gate takes: an unaffected change in a small and a large repository, a rename bug.

    python benchmarks/bench_gate.py [--large 10000] [--repeat 5]

Times are wall seconds of `refute gate` as a process, start-up included, the best of the repeats.
The bars: 0.5 s for the unaffected change of a small repository, 10 s for the refutation of the
rename bug with an empty ledger.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

EXAMPLE = Path(__file__).parent.parent / "examples" / "journalfs"
SHOWN = (".py", ".patch", ".toml", ".md")
IDENTITY = ("-c", "user.name=bench", "-c", "user.email=bench@example.org")


def main() -> None:
    """Measure and print one line for each figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", type=int, default=10_000, metavar="FILES")
    parser.add_argument("--repeat", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="refute-bench-") as name:
        place = Path(name)
        os.environ["REFUTE_KEY_FILE"] = str(place / "key")
        small = repository(place / "small", 0)
        (small / "README.md").write_text("changed\n")
        seconds, code = best(small, given.repeat)
        report("unaffected change, small repository", seconds, code, bar=0.5)
        large = repository(place / "large", given.large)
        (large / "README.md").write_text("changed\n")
        seconds, code = best(large, max(1, given.repeat // 2))
        report(f"unaffected change, {given.large} more files", seconds, code)
        wrong = repository(place / "wrong", 0)
        git(wrong, "apply", str(EXAMPLE / "changes" / "01-rename-two-transactions.patch"))
        seconds, code = best(wrong, 1)
        report("rename bug, empty ledger", seconds, code, bar=10.0)


def repository(place: Path, more: int) -> Path:
    """The example as a repository of its own, with `more` further modules."""
    for path in EXAMPLE.rglob("*"):
        if path.suffix in SHOWN and "__pycache__" not in path.parts:
            target = place / path.relative_to(EXAMPLE)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    for number in range(more):
        target = place / f"pkg{number // 100}" / f"m{number}.py"
        target.parent.mkdir(exist_ok=True)
        target.write_text(f"def f{number}(x):\n    return x + {number}\n")
    (place / "README.md").write_text("A filesystem.\n")
    git(place, "init", "--quiet", "--initial-branch=main", "--template=")
    git(place, "add", "-A")
    git(place, "commit", "--quiet", "-m", "base")
    return place


def git(place: Path, *arguments: str) -> None:
    """Run one git command there."""
    subprocess.run(["git", *IDENTITY, *arguments], cwd=place, check=True)


def best(place: Path, repeat: int) -> tuple[float, int]:
    """(seconds, exit code) of the fastest gate; the first run fills the ledger and counts too."""
    seconds, code = float("inf"), -1
    command = [str(Path(sys.executable).with_name("refute")), "gate"]
    for _ in range(repeat):
        started = time.monotonic()
        done = subprocess.run(command, cwd=place, capture_output=True, check=False)
        seconds, code = min(seconds, time.monotonic() - started), done.returncode
    return seconds, code


def report(what: str, seconds: float, code: int, bar: float | None = None) -> None:
    """One line: what, seconds, exit code, and the bar where there is one."""
    said = "" if bar is None else f"  bar {bar:g} s: {'met' if seconds <= bar else 'MISSED'}"
    print(f"{what:45} {seconds:7.2f} s  exit {code}{said}", flush=True)


if __name__ == "__main__":
    main()
