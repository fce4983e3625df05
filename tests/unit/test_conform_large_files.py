"""Large sqllogictest files: what running one keeps in memory does not grow with its records."""

from __future__ import annotations

import tracemalloc

import pytest

from refute.verifiers.sql import conform_file
from refute.verifiers.sql.conform_file import Embedded, FileResult, Run, run_file

START = b"statement ok\nCREATE TABLE t(a INTEGER)\n\nstatement ok\nINSERT INTO t VALUES(1)\n\n"
ONE = b"query I rowsort\nSELECT a+%d FROM t WHERE a<%d\n----\n%d\n\n"
WRONG = b"query I nosort\nSELECT a FROM t\n----\n2\n\n"


def script(records: int) -> bytes:
    return START + b"".join(ONE % (n, n + 5, n + 1) for n in range(records)) + WRONG


def ran(data: bytes) -> FileResult:
    return run_file(Run(Embedded(5.0), "sqlite"), "f.test", data, 0)


def test_read_twice_or_kept_the_result_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    data = script(300) + b"halt\n\nquery I nosort\nSELECT 1\n----\n2\n"
    kept = ran(data)
    monkeypatch.setattr(conform_file, "KEPT", 0)
    anew = ran(data)
    assert (anew.run, anew.failures) == (kept.run, kept.failures)
    assert kept.run == 303
    assert [failure.line for failure in kept.failures] == [
        data.count(b"\n", 0, data.index(WRONG)) + 1
    ]


@pytest.mark.parametrize("end", [b"", b"queri I nosort\nSELECT 1\n----\n1\n"])
def test_nothing_runs_of_a_large_file_with_an_error(
    end: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conform_file, "KEPT", 0)
    result = ran(script(50) + end)
    assert bool(result.error) == bool(end)
    assert result.run == (0 if end else 53)


def test_memory_is_that_of_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conform_file, "KEPT", 0)
    data = script(6_000)
    tracemalloc.start()
    try:
        assert ran(data).run == 6_003
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 5 * len(data)  # kept, the records alone take more
