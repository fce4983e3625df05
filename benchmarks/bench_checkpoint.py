"""Checkpoints of a native search: what writing and reading them costs, and how large they are.

    python benchmarks/bench_checkpoint.py [RM]

Two-phase commit with 9 resource managers by default, one core, its count asserted. A search without
checkpoints and one that writes 20 of them run in turns; medians of CPU seconds, which the machine's
other work disturbs least, and what going on from the last one takes. Of real runs, which write at
most every 60 seconds, the cost is that of what is new, whatever its pieces.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

from refute.budget import GIB
from refute.specs.library.two_phase_commit import TwoPhase
from refute.verifiers.model.checkpoint import Checkpoint
from refute.verifiers.model.native.here import native_search
from refute.verifiers.model.native.keeping import Keeper

COUNTS = {6: 50_816, 7: 296_448, 8: 1_745_408, 9: 10_340_352, 10: 61_515_776}
WRITTEN = 20
PAIRS = 3


def searched(size: int, place: Path | None) -> tuple[float, float, int]:
    """CPU seconds of a search, of writing its checkpoints, and their bytes."""
    search = native_search(TwoPhase.build(RM=size).ir, memory=8 * GIB)
    writing, size_of = 0.0, 0
    began = time.process_time()
    if place is None:
        while not search.advance(5.0)["finished"]:
            pass
    else:
        with Checkpoint(place, {"spec": str(size)}, 60.0) as checkpoint:
            keeper = Keeper(search, checkpoint.fds)
            due = COUNTS[size] // WRITTEN
            while not search.advance(0.02)["finished"]:
                if search.library.counts()["distinct"] < due:
                    continue
                due += COUNTS[size] // WRITTEN
                before = time.process_time()
                checkpoint.commit("native", "", keeper.save(), {}, 0.0)
                assert not checkpoint.problem
                writing += time.process_time() - before
        size_of = sum(path.stat().st_size for path in place.iterdir())
    spent = time.process_time() - began
    assert search.library.counts()["distinct"] == COUNTS[size]
    return spent, writing, size_of


def restored(size: int, place: Path) -> float:
    """CPU seconds of reading the last checkpoint back."""
    search = native_search(TwoPhase.build(RM=size).ir, memory=8 * GIB)
    with Checkpoint(place, {"spec": str(size)}, 60.0) as checkpoint:
        began = time.process_time()
        assert Keeper(search, checkpoint.fds).restore(checkpoint.saved)
        spent = time.process_time() - began
        assert search.advance(0.0)["distinct"] > 0.9 * COUNTS[size]
    return spent


def main(arguments: list[str]) -> int:
    """Print the figures."""
    size = int(arguments[0]) if arguments else 9
    without, writing, reading = [], [], []
    held = 0
    for _ in range(PAIRS):
        without.append(searched(size, None)[0])
        with tempfile.TemporaryDirectory() as directory:
            _, spent, held = searched(size, Path(directory, "kept"))
            writing.append(spent)
            reading.append(restored(size, Path(directory, "kept")))
    search_s, write_s, read_s = map(statistics.median, (without, writing, reading))
    print(f"two-phase commit N={size}: {COUNTS[size]:,} states, {search_s:.2f} CPU s")
    print(f"writing {WRITTEN} checkpoints: {write_s:.2f} CPU s, {write_s / search_s:.1%} of it")
    print(f"reading the last one: {read_s:.2f} CPU s; {held / COUNTS[size]:.1f} bytes per state")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
