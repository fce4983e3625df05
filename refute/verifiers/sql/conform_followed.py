"""What the records of a file were, in the order they were run, for `conform_follow`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

from refute.oracles.sqllogictest.extended.program import Place
from refute.oracles.sqllogictest.reader import QueryRecord, StatementRecord, read
from refute.verifiers.sql.conform_chosen import Narrowed
from refute.verifiers.sql.conform_file import FileResult, Run, Runnable, selected
from refute.verifiers.sql.conform_follow import Step, follow


def mark(run: Run, result: FileResult, data: bytes) -> None:
    """Mark the failures of a file in SQLite's dialect that follow from others, or may."""
    last = result.failures[-1].line
    pairs = list(selected(read(data, result.path), run.name))
    if run.chosen is not None:
        pairs = Narrowed(pairs, run.chosen).kept
    run_before = (record for record, runs in pairs if runs and record.line <= last)
    records: list[Runnable] = list(run_before)  # type: ignore[arg-type]
    failures = {failure.line: failure for failure in result.failures}
    steps = {r.line: _step(r) for r in records}
    for line, failure in failures.items():
        if line in steps:
            step = steps[line]
            step.failed, step.got, step.answer = failure.kind, failure.got, failure.answer
    _note_excused(result, {record.line: record for record in records}, steps)
    follow(list(steps.values()))
    for line, failure in failures.items():
        if line in steps:
            failure.follows, failure.may_follow = steps[line].follows, steps[line].may_follow


def mark_script(
    result: FileResult, trace: Sequence[tuple[int, Place, str]], numbers: Sequence[int]
) -> None:
    """As `mark`, for a file in an extended dialect.

    trace: number, place and text of what was run. numbers: of the failures. Lines are told within
    one file, so what follows from a statement of another one stays unmarked.
    """
    excused = set(chain.from_iterable(result.inexpressible.values()))
    failed = dict(zip(numbers, result.failures, strict=False))
    steps: list[Step] = []
    last: dict[int, int] = {}  # number of a record → its last try
    for number, place, sql in trace:
        last[number] = len(steps)
        kind = "error" if place.line in excused else ""
        steps.append(Step(place.line, sql, path=place.path, failed=kind))
    for number, failure in failed.items():
        if number in last:
            step = steps[last[number]]
            step.failed, step.got, step.answer = failure.kind, failure.got, failure.answer
    follow(steps)
    for number, failure in failed.items():
        if number in last:
            step = steps[last[number]]
            failure.follows, failure.may_follow = step.follows, step.may_follow


def _note_excused(
    result: FileResult, records: Mapping[int, Runnable], steps: Mapping[int, Step]
) -> None:
    """Statements that are no failures, and yet did not do what the file says, have effects too."""
    for line in chain.from_iterable(result.inexpressible.values()):
        if line in steps:
            steps[line].failed = "error"
    for line in chain.from_iterable(result.differences.values()):
        record = records.get(line)
        if type(record) is StatementRecord:
            steps[line].failed = "no error" if record.fails else "error"


def _step(record: Runnable) -> Step:
    types = record.types if type(record) is QueryRecord else ""
    return Step(record.line, record.sql, types)
