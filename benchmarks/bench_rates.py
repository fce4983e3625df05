"""The library's models at sizes that can be timed: distinct states per CPU second, natively.

    python benchmarks/bench_rates.py [NAME …]

Sizes are larger than the published ones, so their counts are our own: asserted, so that a figure is
always of the same search. Beside the rates stand multiples of TLC's: of its own rate where it was
measured on an idle machine of this size (44, 24 and 38 thousand distinct states per CPU second),
and elsewhere of 49 and 24 thousand, its fastest and slowest. TLC's work is per generated state, so
those rates are told too: on these three models it generates 231, 95 and 403 thousand per CPU
second. Nothing is asserted of rates: the machine's noise is larger than the margins.
"""

from __future__ import annotations

import resource
import statistics
import sys

from refute.budget import GIB
from refute.machine import Model
from refute.specs.library.all_reduce import OneShotAllReduce
from refute.specs.library.allocator import SchedulingAllocator, SimpleAllocator
from refute.specs.library.async_termination import AsyncTerminationDetection
from refute.specs.library.atomic_commitment import AtomicCommitment
from refute.specs.library.chang_roberts import ChangRoberts
from refute.specs.library.dining_philosophers import DiningPhilosophers
from refute.specs.library.ewd840 import EWD840
from refute.specs.library.inner_fifo import InnerFIFO
from refute.specs.library.paxos import Paxos
from refute.specs.library.prisoners import Prisoners
from refute.specs.library.raft import Raft
from refute.specs.library.simple_regular import SimpleRegular
from refute.specs.library.transaction_commit import TCommit
from refute.specs.library.two_phase_commit import TwoPhase
from refute.verifiers.model.native.forms import ROOMS, with_room
from refute.verifiers.model.native.here import native_search
from refute.verifiers.model.native.search import NativeSearch

RUNS = 3
RANGE = (24_000, 49_000)
MODELS: list[tuple[Model, int, int]] = [  # distinct states, TLC's rate if known
    (TwoPhase.build(RM=8), 1_745_408, 38_000),
    (SimpleRegular.build(N=9), 1_330_669, 44_000),
    (AtomicCommitment.build(P=4), 2_092_064, 24_000),
    (TCommit.build(RM=11), 179_194, 0),
    (DiningPhilosophers.build(NP=16), 131_075, 0),
    (ChangRoberts.build(N=7), 333_161, 0),
    (Prisoners.build(Other=9), 157_462, 0),
    (EWD840.build(N=8), 786_942, 0),
    (SimpleAllocator.build(Client=4, Resource=3), 110_592, 0),
    (SchedulingAllocator.build(Client=3, Resource=4), 504_994, 0),
    (InnerFIFO.build(Message=7), 179_368, 0),
    (Paxos.build(MaxBallot=2), 185_369, 0),
    (AsyncTerminationDetection.build(N=6), 262_145, 0),
    (Raft.build(), 328_707, 0),
    (OneShotAllReduce.build(N=5), 539_246, 0),
]


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def searched(model: Model) -> tuple[NativeSearch, float]:
    """A complete search with the least room that is enough, and its CPU seconds."""
    for room in ROOMS:
        with with_room(room):
            search = native_search(model.ir, memory=4 * GIB)
        before = _cpu()
        while not any(search.statistics()[n] for n in ("finished", "full", "unfit")):
            search.library.advance(5.0)
        if not search.statistics()["unfit"]:
            break
    return search, _cpu() - before


def measured(model: Model, distinct: int, tlc: int) -> bool:
    """Print one line; whether the search was complete and its count the known one."""
    rates, found = [], {}
    for _ in range(RUNS):
        search, seconds = searched(model)
        found = search.library.counts()
        rates.append(found["distinct"] / seconds)
    rate = statistics.median(rates)
    generated = rate * found["generated"] / found["distinct"]
    times = [rate / tlc] if tlc else [rate / known for known in RANGE[::-1]]
    told = " to ".join(f"{t:.0f}" for t in times)
    line = f"{model!r:52} {found['distinct']:>9,} {rate:>11,.0f}/s {generated:>12,.0f}/s  × {told}"
    right = bool(found["finished"]) and distinct == found["distinct"]
    print(line if right else f"{line}  WRONG: {found}", flush=True)
    return right


def main(names: list[str]) -> int:
    """Measure; exit 1 when a count is another one."""
    chosen = [m for m in MODELS if not names or m[0].ir.name in names]
    print(f"{'model':52} {'distinct':>9} {'distinct':>13} {'generated':>14}  times TLC")
    wrong = [row[0] for row in chosen if not measured(*row)]
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
