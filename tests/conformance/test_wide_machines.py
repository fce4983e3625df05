"""Random machines over the whole language mean the same in C, in the plain engine and by tree walk.

`benchmarks/bench_machines.py` goes on from here to 100,000.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from random_batches import BATCH, judged

from refute.verifiers.model.native import bunches

SEEDS = 96


@pytest.mark.parametrize("first", range(0, SEEDS, BATCH))
def test_random_machines_over_the_whole_language(first: int, tmp_path: Path) -> None:
    counts, wrong = judged(tmp_path, range(first, first + BATCH))
    assert not wrong
    assert counts["compared"] >= BATCH * 3 // 4, counts


def test_a_wrong_operation_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(bunches.KEPT, "|", bunches.LEFT | bunches.BOTH)
    _, wrong = judged(tmp_path, range(BATCH))
    assert wrong
