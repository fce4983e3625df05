"""journalfs itself under the brute-force explorer: nothing may be found, and enough looked at."""

from __future__ import annotations

import pathlib

import pytest
from journalfs_bruteforce import ALPHABET, SETUPS, load, sequences

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "journalfs"


@pytest.fixture(scope="module")
def explorer():
    return load(EXAMPLE)


def test_every_crash_after_one_operation_in_every_setup(explorer) -> None:
    before = explorer.states
    for sequence in sequences(1, 0):
        explorer.run(sequence, nested=len(sequence) < 5)
    assert explorer.states - before > 20_000
    assert explorer.violations == {}


def test_every_fault_at_every_device_call(explorer) -> None:
    for setup in SETUPS[:2]:
        for operation in ALPHABET[::3]:
            explorer.run_faults((*setup, operation, ("fsync", "/"), ("sync",), ("create", "/e")))
    assert explorer.violations == {}


def test_crashes_in_random_sequences(explorer) -> None:
    for sequence in sequences(0, 12, seed=7):
        if len(sequence) > 5:
            explorer.run(sequence, nested=False)
    assert explorer.violations == {}
