"""Searches up to permutations beside searches of all states: counts asserted, CPU seconds of each.

    python benchmarks/bench_symmetry.py [RM …]

Two-phase commit of these sizes, by default 8 and 9, Paxos, Voting and Raft, by the native engine on
one core; compiling is not counted. The states of the orbits must be as many as the other search
finds, of two-phase commit the published number; for ten resource managers only orbits are searched.
"""

from __future__ import annotations

import resource
import sys

from refute.budget import GIB
from refute.machine import Model
from refute.specs.library.paxos import Paxos
from refute.specs.library.raft import Raft
from refute.specs.library.two_phase_commit import TwoPhase
from refute.specs.library.voting import Voting
from refute.verifiers.model.native.forms import ROOMS, with_room
from refute.verifiers.model.native.here import native_orbits, native_search
from refute.verifiers.model.native.search import NativeSearch

COUNTS = {7: 296_448, 8: 1_745_408, 9: 10_340_352, 10: 61_515_776}
OTHERS = [Paxos.build(), Paxos.build(MaxBallot=2), Voting.build(MaxBallot=2), Raft.build()]


def cpu() -> float:
    """CPU seconds of this process so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def searched(search: NativeSearch) -> tuple[float, dict[str, int]]:
    """CPU seconds of a complete search, and what it counted."""
    before = cpu()
    while not (found := search.advance(5.0))["finished"]:
        assert not found["full"] and not found["unfit"], found
    return cpu() - before, found


def compared(model: Model, expected: int = 0) -> None:
    """Print one line."""
    with with_room(ROOMS[1]):
        all_s, every = searched(native_search(model.ir, memory=8 * GIB))
        orbits_s, orbits = searched(native_orbits(model.ir))
    assert orbits["whole"] == every["distinct"] == (expected or every["distinct"]), orbits
    fewer, faster = every["distinct"] / orbits["distinct"], all_s / orbits_s
    print(
        f"{model!r:46} {every['distinct']:>11,} states {all_s:8.2f} s"
        f"  {orbits['distinct']:>8,} orbits {orbits_s:6.2f} s"
        f"  {fewer:8,.1f} times fewer, {faster:6,.1f} times faster",
        flush=True,
    )


def main(sizes: list[int]) -> int:
    """Measure everything."""
    for size in sizes:
        compared(TwoPhase.build(RM=size), COUNTS.get(size, 0))
    seconds, orbits = searched(native_orbits(TwoPhase.build(RM=10).ir))
    assert orbits["whole"] == COUNTS[10], orbits
    print(f"TwoPhase.build(RM=10): {orbits['distinct']:,} orbits in {seconds:.2f} s", flush=True)
    for model in OTHERS:
        compared(model)
    return 0


if __name__ == "__main__":
    sys.exit(main([int(a) for a in sys.argv[1:]] or [8, 9]))
