"""Temporal properties and refinements on the native graph: seconds, memory, pairs and edges.

    python benchmarks/bench_liveness.py [NAME …]

Models of the library at their published sizes and at larger ones; counts of states and verdicts are
asserted, and exit 1 says that one is wrong. Each has a process of its own. Compilation is measured
apart. Where the graph is small enough, the plain engine judges it too.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time

from refute.budget import GIB
from refute.machine import Formula, Model, action, eventually, fair, leads_to, temporal, when
from refute.specs.library.allocator import SchedulingAllocator
from refute.specs.library.async_termination import AsyncTerminationDetection
from refute.specs.library.atomic_commitment import AtomicCommitment
from refute.specs.library.ewd840 import EWD840
from refute.specs.library.simple_regular import Place, SimpleRegular
from refute.specs.library.transaction_commit import RM, Phase
from refute.specs.library.two_phase_commit import TM, Abort, Commit, TwoPhase
from refute.verifiers.model.liveness import Liveness
from refute.verifiers.model.native.here import native_liveness

BAR_S = 60.0  # CPU seconds for any of them
PLAIN = 10_000  # states up to which the plain engine is measured too


class Deciding(TwoPhase):
    """Two-phase commit in which who is told decides."""

    @action(fair="weak")
    def rm_rcv_commit(self, rm: RM) -> None:
        """A resource manager is told to commit."""
        when(Commit() in self.msgs)
        self.phase[rm] = Phase.COMMITTED

    @action(fair="weak")
    def rm_rcv_abort(self, rm: RM) -> None:
        """A resource manager is told to abort."""
        when(Abort() in self.msgs)
        self.phase[rm] = Phase.ABORTED

    @temporal
    def decides(self, rm: RM) -> Formula:
        """Once the manager has decided, so does everybody."""
        return leads_to(
            lambda: self.tm != TM.INIT,
            lambda: self.phase[rm] in (Phase.COMMITTED, Phase.ABORTED),
        )


class Hesitating(Deciding):
    """Planted: nothing makes a resource manager abort."""

    @action
    def rm_rcv_abort(self, rm: RM) -> None:
        """A resource manager is told to abort."""
        when(Abort() in self.msgs)
        self.phase[rm] = Phase.ABORTED


class Ending(SimpleRegular):
    """Simple regular registers whose processes go on."""

    @fair("weak")
    def going_on(self, after: SimpleRegular) -> bool:
        """Some process takes a step."""
        return self.pc != after.pc

    @temporal
    def ends(self) -> Formula:
        """All processes end."""
        return eventually(lambda: all(p == Place.DONE for p in self.pc.values()))


CASES: dict[str, tuple[Model, int, frozenset[str]]] = {
    "EWD840(3)": (EWD840.build(N=3), 302, frozenset()),
    "EWD840(6)": (EWD840.build(N=6), 36_990, frozenset()),
    "EWD840(8)": (EWD840.build(N=8), 786_942, frozenset()),
    "Termination(4)": (AsyncTerminationDetection.build(N=4), 4_097, frozenset()),
    "Termination(6)": (AsyncTerminationDetection.build(N=6), 262_145, frozenset()),
    "Allocator(3,2)": (SchedulingAllocator.build(), 1_690, frozenset()),
    "Allocator(4,3)": (SchedulingAllocator.build(Client=4, Resource=3), 1_048_232, frozenset()),
    "ACP_SB(3)": (AtomicCommitment.build(P=3), 54_944, frozenset()),
    "ACP_SB(4)": (AtomicCommitment.build(P=4), 2_092_064, frozenset()),
    "TwoPhase(7)": (TwoPhase.build(RM=7), 296_448, frozenset()),
    "TwoPhase(8)": (TwoPhase.build(RM=8), 1_745_408, frozenset()),
    "TwoPhase(9)": (TwoPhase.build(RM=9), 10_340_352, frozenset()),
    "Deciding(7)": (Deciding.build(RM=7), 296_448, frozenset()),
    "Deciding(8)": (Deciding.build(RM=8), 1_745_408, frozenset()),
    "Hesitating(8)": (Hesitating.build(RM=8), 1_745_408, frozenset({"decides"})),
    "Ending(8)": (Ending.build(N=8), 277_726, frozenset()),
    "Ending(9)": (Ending.build(N=9), 1_330_669, frozenset()),
}


def cpu() -> float:
    """CPU seconds of this process so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def plainly(model: Model, broken: frozenset[str]) -> str:
    """The plain engine's CPU seconds, its verdicts asserted."""
    before = cpu()
    liveness = Liveness(model.ir)
    while not liveness.advance(60.0)["finished"]:
        pass
    assert set(liveness.hits) == broken and not liveness.reasons
    return f"{cpu() - before:8.2f} s plain"


def measured(name: str) -> int:
    """Print one line; 1 when something is not as it should be."""
    model, distinct, broken = CASES[name]
    started = time.perf_counter()
    native = native_liveness(model.ir, memory=2 * GIB)
    compiling = time.perf_counter() - started
    before = cpu()
    while not (counts := native.advance(60.0))["finished"] and not counts["full"]:
        pass
    spent = cpu() - before
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    right = counts["distinct"] == distinct and set(native.hits) == broken and spent < BAR_S
    right &= counts["finished"] is True and not native.reasons and not native.disagrees
    line = f"{name:17} {distinct:>9} states {counts['edges']:>9} steps {counts['pairs']:>9} pairs"
    line += f" {spent:6.2f} s {memory:>5} MB, compiled in {compiling:4.1f} s"
    line += plainly(model, broken) if distinct < PLAIN else ""
    print(line if right else f"{line}  WRONG: {sorted(native.hits)} {counts}", flush=True)
    return int(not right)


def main(names: list[str]) -> int:
    """Measure each in a process of its own; one name alone right here."""
    if len(names) == 1:
        return measured(names[0])
    command = [sys.executable, __file__]
    codes = [subprocess.run([*command, n], check=False).returncode for n in names or CASES]
    return int(any(codes))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
