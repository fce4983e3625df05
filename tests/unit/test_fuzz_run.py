"""The run of the SQL fuzzer: the same on any number of processes, and honest about what it did."""

from __future__ import annotations

import dataclasses

import pytest

from refute.errors import UsageError
from refute.verifiers.sql.conform_run import Choice
from refute.verifiers.sql.fuzz_run import Counts, Plan, fuzz

PLAN = Plan(Choice("sqlite", "sqlite", 10.0), ("sqlite", "crash"), programs=4, queries=15)


def told(counts: Counts) -> dict[str, object]:
    """Counts without the time they took."""
    return dataclasses.replace(counts, cpu_s=0.0).to_json()


def test_as_many_queries_are_asked_as_were_planned() -> None:
    run = fuzz(PLAN)
    assert run.stopped == "programs" and not run.findings and run.next == 4
    assert run.counts.queries >= 60 and run.counts.compared > 0.8 * run.counts.queries


def test_the_number_of_processes_changes_nothing() -> None:
    one, two = fuzz(PLAN), fuzz(dataclasses.replace(PLAN, jobs=2))
    assert told(one.counts) == told(two.counts)


def test_counts_come_back_from_plain_data() -> None:
    counts = fuzz(PLAN).counts
    assert Counts.from_json(counts.to_json()) == counts


def test_an_oracle_that_is_not_there() -> None:
    with pytest.raises(UsageError) as caught:
        fuzz(dataclasses.replace(PLAN, oracles=("truth",)))
    assert "norec" in caught.value.possible
