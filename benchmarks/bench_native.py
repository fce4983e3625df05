"""The native model checker: states per second, bytes per state, two cores.

    python benchmarks/bench_native.py [RM …]

Sizes of two-phase commit whose counts are asserted, by default 7 to 10. Rates of one core are per
CPU second of the search. The hand-written packed search of `bench_native.c` runs in turns with the
native one, so that both meet the same noise; bars stand beside the figures. Exit 1 when a bar is
missed. TLC's 38,000 distinct states per CPU second on N=8 were measured on a machine of this size.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from refute.budget import GIB
from refute.specs.library.two_phase_commit import TwoPhase
from refute.verifiers.model.native.compiler import compiler
from refute.verifiers.model.native.here import native_search

HERE = Path(__file__).parent
COUNTS = {7: 296_448, 8: 1_745_408, 9: 10_340_352, 10: 61_515_776}
RATE = 2_000_000  # distinct states per second, one core, N=8
TLC = 38_000
BYTES = 24
TWO_CORES = 1.6
PAIRS = 5


def cpu() -> float:
    """CPU seconds of this process so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def searched(size: int, cores: int) -> tuple[float, float, dict[str, int]]:
    """CPU seconds, wall seconds and counts of a complete search, its counts asserted."""
    search = native_search(TwoPhase.build(RM=size).ir, memory=8 * GIB, cores=cores)
    before, started = cpu(), time.perf_counter()
    while not search.statistics()["finished"] and not search.statistics()["full"]:
        search.advance(5.0)
    spent, wall = cpu() - before, time.perf_counter() - started
    found = search.library.counts()
    assert found["distinct"] == COUNTS.get(size, found["distinct"]), found
    return spent, wall, found


def by_hand(directory: Path, size: int) -> float:
    """CPU seconds of the hand-written search."""
    program = directory / f"hand{size}"
    if not program.exists():
        source = str(HERE / "bench_native.c")
        subprocess.run([*compiler(), "-O2", f"-DN={size}", "-o", str(program), source], check=True)
    command = [str(program), str(COUNTS[size])]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    assert int(out[0]) == COUNTS[size]
    return float(out[2])


def shown(what: str, figure: str, bar: str = "", met: bool = True) -> bool:
    """Print one line; whether its bar was met."""
    print(f"{what:58} {figure:>24}   {f'bar {bar}' if bar else '':18} {'' if met else 'MISSED'}")
    return met


def one_core(directory: Path) -> bool:
    """Rates on N=8, in turns with the hand-written search."""
    ours, theirs = [], []
    for _ in range(PAIRS):
        theirs.append(COUNTS[8] / by_hand(directory, 8))
        spent, _, found = searched(8, 1)
        ours.append(COUNTS[8] / spent)
    rate, hand = statistics.median(ours), statistics.median(theirs)
    used = (found["table"] + found["rows"]) / found["distinct"]
    met = [
        shown("N=8, distinct states per CPU second", f"{rate:,.0f}", f"{RATE:,}", rate >= RATE),
        shown("  times TLC", f"{rate / TLC:.0f}", "40", rate >= 40 * TLC),
        shown("  by the hand-written packed search", f"{hand:,.0f}"),
        shown(
            "  table, queue and parents, bytes per state", f"{used:.1f}", f"{BYTES}", used <= BYTES
        ),
    ]
    return all(met)


def two_cores(size: int) -> bool:
    """Wall clock and CPU of one and two cores, in turns."""
    ratios, extra = [], []
    for _ in range(PAIRS):
        alone, shared = searched(size, 1), searched(size, 2)
        ratios.append(alone[1] / shared[1])
        extra.append(shared[0] / alone[0])
    ratio, more = statistics.median(ratios), statistics.median(extra)
    shown("  CPU seconds of two cores against one", f"{more:.2f}")
    what = f"N={size}, two cores against one, wall clock"
    return shown(what, f"{ratio:.2f}", f"{TWO_CORES}", ratio >= TWO_CORES)


def main(sizes: list[int]) -> int:
    """Measure everything."""
    met = []
    with tempfile.TemporaryDirectory() as directory:
        met.append(one_core(Path(directory)))
        met.append(two_cores(8))
        for size in sizes:
            spent, wall, found = searched(size, os.cpu_count() or 1)
            figure = f"{wall:.1f} s, {spent:.1f} CPU s"
            shown(f"N={size}, {found['distinct']:,} states on all cores", figure)
            shown("  memory", f"{found['memory'] / GIB:.2f} GiB", "8 GiB", not found["full"])
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main([int(a) for a in sys.argv[1:]] or [7, 8, 9, 10]))
