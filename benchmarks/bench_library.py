"""The published specifications: counts asserted, temporal properties and refinements judged.

    python benchmarks/bench_library.py [NAME …]

Counts are those of tlaplus/Examples' manifests. Measured are the plain engine, and the search for
behaviours that judges temporal properties and refinements (it builds the graph once more).
"""

from __future__ import annotations

import sys
import time

from refute.machine import Model
from refute.specs.library.allocator import SchedulingAllocator, SimpleAllocator
from refute.specs.library.async_termination import AsyncTerminationDetection
from refute.specs.library.atomic_commitment import AtomicCommitment
from refute.specs.library.chang_roberts import ChangRoberts
from refute.specs.library.dining_philosophers import DiningPhilosophers
from refute.specs.library.ewd840 import EWD840
from refute.specs.library.inner_fifo import InnerFIFO
from refute.specs.library.paxos import Paxos
from refute.specs.library.prisoners import Prisoners
from refute.specs.library.simple_regular import SimpleRegular
from refute.specs.library.transaction_commit import TCommit
from refute.specs.library.two_phase_commit import TwoPhase
from refute.specs.library.voting import Voting
from refute.verifiers.model.liveness import Liveness
from refute.verifiers.model.search import Search

PATIENCE_S = 600.0
PUBLISHED = [
    (TCommit.build(RM=3), 34, 94),
    (DiningPhilosophers.build(NP=5), 67, 336),
    (ChangRoberts.build(N=3), 137, 227),
    (Prisoners.build(), 214, 860),
    (TwoPhase.build(RM=3), 288, 1146),
    (EWD840.build(N=3), 302, 2001),
    (SimpleAllocator.build(), 400, 1633),
    (SchedulingAllocator.build(), 1690, 5854),
    (InnerFIFO.build(), 3864, 9660),
    (Paxos.build(), 3921, 23563),
    (AsyncTerminationDetection.build(N=4), 4097, 53271),
    (Voting.build(MaxBallot=2), 6752, 41017),
    (AtomicCommitment.build(P=3), 54944, 218352),
    (SimpleRegular.build(N=8), 277726, 1454776),
]


def measured(model: Model, distinct: int, generated: int) -> bool:
    """Print one line; whether the counts are the published ones and all properties hold."""
    started = time.perf_counter()
    search = Search(model.ir)
    counts = search.advance(PATIENCE_S)
    seconds = time.perf_counter() - started
    right = (counts["distinct"], counts["generated"]) == (distinct, generated)
    right &= set(search.hits) == {p.name for p in model.ir.of_kind("reachable")}
    line = f"{model!r:46} {distinct:>7} {generated:>8} {seconds:7.2f} s"
    stated = [*model.ir.temporals, *model.ir.refinements]
    if stated:
        started = time.perf_counter()
        liveness = Liveness(model.ir)
        while not liveness.advance(PATIENCE_S)["finished"]:
            pass
        right &= not liveness.hits and not liveness.reasons
        line += f"  {len(stated)} over behaviours in {time.perf_counter() - started:6.2f} s"
    print(line if right else f"{line}  WRONG: {counts}", flush=True)
    return right


def main(names: list[str]) -> int:
    """Measure; exit 1 when a count or a verdict is not the published one."""
    chosen = [m for m in PUBLISHED if not names or m[0].ir.name in names]
    wrong = [row[0] for row in chosen if not measured(*row)]
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
