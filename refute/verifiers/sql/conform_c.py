"""Running a file as SQLite's C runner does, for its verdict: `--dialect c`.

Its errors are the failures, at the lines that it prints, and its last line is part of the result.
What it lets pass passes here; the default dialect is the one that looks closer.
"""

from __future__ import annotations

import dataclasses
import time

from refute.oracles.sql.capi import Unreachable
from refute.oracles.sql.sqlite_c import CSQLite
from refute.oracles.sqllogictest.c_runner import Complaint, CRunner
from refute.verifiers.sql.conform_file import CHUNK, Failure, FileResult, Run


def run_c(run: Run, path: str, data: bytes, confirm: int) -> FileResult:
    """Run a file; its first `confirm` failures are looked for in a second run."""
    started = time.monotonic()
    try:
        result = _once(run, path, data)
        if result.failures and confirm and not result.cut:
            again = _once(dataclasses.replace(run, progress=lambda _: None), path, data)
            seen = {(failure.line, failure.got) for failure in again.failures}
            for failure in result.failures[:confirm]:
                known = (failure.line, failure.got) in seen
                failure.confirmed = True if known else None if again.cut else False
            if again.says != result.says and not again.cut:
                result.unstable = f"first {result.says} Then {again.says}"
    except Unreachable as error:
        result = FileResult(path, error=f"{path}: cannot be run in the dialect c: {error}")
    result.wall_s = time.monotonic() - started
    return result


def _once(run: Run, path: str, data: bytes) -> FileResult:
    result = FileResult(path)
    runner = CRunner(data, CSQLite(run.rules.timeout_s))
    told = 0
    try:
        while runner.step():
            done = runner.run + runner.skipped
            if done - told >= CHUNK:
                run.progress(done - told)
                told = done
                result.cut = run.stop()
                if result.cut:
                    break
    except KeyboardInterrupt:
        result.cut = result.interrupted = True
    if result.cut:
        runner.close()
    run.progress(runner.run + runner.skipped - told)
    result.run, result.skipped = runner.run, runner.skipped
    result.failures = [_failure(complaint) for complaint in runner.complaints]
    result.by_release = runner.by_release
    counted = f"{len(runner.complaints)} errors out of {runner.run} tests in {path}"
    result.says = "" if result.cut else f"{counted} - {runner.skipped} skipped."
    return result


def _failure(complaint: Complaint) -> Failure:
    got = f"{complaint.message}: {complaint.got}" if complaint.got else complaint.message
    expected = complaint.expected or "no complaint of the C runner"
    return Failure(complaint.line, complaint.sql, expected, got, kind=complaint.kind)
