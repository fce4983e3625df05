"""Distinct states per second of the model checker's plain engine, on one core.

    python benchmarks/bench_model.py [RM …]

Bar: 3,000 distinct states per second on two-phase commit with five resource managers. Measured
here are the compiled search with all properties judged, and the tree walk that confirms it.
"""

from __future__ import annotations

import sys
import time

from refute.specs.library.dining_philosophers import DiningPhilosophers
from refute.specs.library.two_phase_commit import TwoPhase
from refute.specs.machine.model import Model
from refute.verifiers.model.confirm import Confirm
from refute.verifiers.model.search import Search

BAR = 3_000
PATIENCE_S = 120.0


def measured(engine: Search | Confirm) -> tuple[int, int, float]:
    """Distinct, generated and seconds of a complete search."""
    started = time.perf_counter()
    counts = engine.advance(PATIENCE_S)
    return counts["distinct"], counts["generated"], time.perf_counter() - started


def line(name: str, model: Model, engine: Search | Confirm) -> float:
    """Print one measurement; returns distinct states per second."""
    distinct, generated, seconds = measured(engine)
    rate = distinct / seconds
    print(
        f"{model!r:34} {name:10} {distinct:>8} distinct {generated:>9} generated "
        f"{seconds:7.2f} s {rate:>9.0f} distinct/s"
    )
    return rate


def main(sizes: list[int]) -> int:
    """Measure; exit 1 when the bar on RM=5 is missed."""
    line("compiled", model := DiningPhilosophers.build(NP=5), Search(model.ir))
    rates = {}
    for size in sizes:
        model = TwoPhase.build(RM=size)
        rates[size] = line("compiled", model, Search(model.ir))
        if size <= 4:
            line("tree walk", model, Confirm(model.ir))
    reached = rates.get(5, BAR) >= BAR
    print(f"bar of {BAR} distinct/s on RM=5: {'reached' if reached else 'MISSED'}")
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main([int(a) for a in sys.argv[1:]] or [3, 4, 5]))
