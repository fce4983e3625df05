"""How long `refute prove` takes from the shell: one small function proved, one refuted.

    python benchmarks/bench_prove.py [--repeat 7]

Wall and CPU seconds of whole processes with all their workers, medians; each run is paired with a
bare `python -c "import z3"`, which is the least a proof can cost. The bar: 2 s for one function.
Under load compare CPU seconds: the wall clock counts who else is running.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

BAR_S = 2.0
MODULE = """
from icontract import ensure, require

BLOCK = 512


@require(lambda size: size >= 0)
@ensure(lambda size, result: result * BLOCK >= size)
@ensure(lambda size, result: (result - 1) * BLOCK < size)
def right(size: int) -> int:
    return (size + BLOCK - 1) // BLOCK


@require(lambda size: size >= 0)
@ensure(lambda size, result: result * BLOCK >= size)
def wrong(size: int) -> int:
    return size // BLOCK
"""


def main() -> None:
    """Measure and print one line for each figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=7)
    given = parser.parse_args()
    refute = str(Path(sys.executable).with_name("refute"))
    with tempfile.TemporaryDirectory(prefix="refute-bench-") as name:
        place = Path(name)
        (place / "m.py").write_text(MODULE, encoding="utf-8")
        for function, code in (("right", 0), ("wrong", 1)):
            command = [refute, "prove", f"m.py:{function}"]
            floor = [sys.executable, "-c", "import z3"]
            pairs = [
                (cost(floor, place, 0), cost(command, place, code)) for _ in range(given.repeat)
            ]
            report(f"prove, one {function} function", [own for _, own in pairs], BAR_S)
            report("beside it, import z3", [bare for bare, _ in pairs], None)


def cost(command: Sequence[str], place: Path, code: int) -> tuple[float, float]:
    """(wall, CPU) seconds of a process and all it waited for. Exits where it ends otherwise."""
    before, started = os.times(), time.perf_counter()
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    wall, after = time.perf_counter() - started, os.times()
    if done.returncode != code:
        sys.exit(f"{command} ended with {done.returncode}, not {code}\n{done.stdout}{done.stderr}")
    used = after.children_user - before.children_user
    return wall, used + after.children_system - before.children_system


def report(what: str, costs: Sequence[tuple[float, float]], bar: float | None) -> None:
    """Print the medians, beside the bar."""
    wall, cpu = (statistics.median(part) for part in zip(*costs, strict=True))
    beside = f"   bar {bar:g} s: {'met' if wall <= bar else 'MISSED'}" if bar else ""
    print(f"{what:<32} {wall:6.2f} s wall {cpu:6.2f} s CPU{beside}", flush=True)


if __name__ == "__main__":
    main()
