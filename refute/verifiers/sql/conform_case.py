"""One failed record as a counterexample: the file, the line, and what has to go before it.

A record fails after everything that the file runs before it. The witness is made smaller where
that is honest: an earlier statement may be left out only if SQLite still gives the expected result
without it, since the expectation was written for a database that had it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from refute.budget import Clock
from refute.claim import Claim
from refute.errors import RefuteError, UnreadableInput
from refute.fuzz.shrinking import minimise, shorter_or_simpler
from refute.globs import matches
from refute.oracles.sql.sqlite import SQLite
from refute.oracles.sqllogictest.expect import SLOW, judge
from refute.oracles.sqllogictest.reader import read
from refute.plain import Plain
from refute.replay import Counterexample, Playback, Step
from refute.sandbox import Limits, open_worker
from refute.site import Site
from refute.verifiers.sql.conform_file import (
    READS_ONLY,
    EngineLost,
    Failure,
    FileRun,
    Run,
    Runnable,
    selected,
)
from refute.verifiers.sql.conform_worker import LIFE_S, MEMORY, InWorker

REDUCE_S = 5.0  # wall seconds; they decide how small a witness gets, never a verdict
TRIES = 400
SHOWN = 12  # statements of a trace

Before = list[int] | None


def test_files(claim: Claim, site: Site) -> Iterator[tuple[str, bytes]]:
    """Path and content of the claim's files, from the tree of the specs. Raises UnreadableInput."""
    for path in _paths(claim, site):
        try:
            yield path, (site.spec_tree / path).read_bytes()
        except OSError as error:
            raise UnreadableInput(f"{path} cannot be read: {error.strerror}") from error


def engine_of(claim: Claim, site: Site) -> InWorker:
    """The claim's engine from the tree of the subject, where none of the claim's files exists."""
    globs = claim.statement.spec_files
    files = [path for path in site.subject_closure(claim).files if not matches(path, globs)]
    limits = Limits(cpu_s=LIFE_S, wall_s=LIFE_S, memory=MEMORY)
    return InWorker(
        lambda hash_seed: open_worker(
            site.subject_tree, files, site.roots, limits, hash_seed=hash_seed
        ),
        claim.subject,
        claim.statement.params["timeout_s"],
    )


def reduced(claim: Claim, site: Site, path: str, failure: Failure, wall_s: float) -> Before:
    """Lines of the few records that must go before a failed one; None: all, or none were found."""
    if SLOW in failure.got:
        return None
    return _Reduction(claim, site, path, failure.line, wall_s).before()


def proposed(
    engine: str, claim: Claim, site: Site, path: str, failure: Failure, before: Before
) -> Counterexample:
    """The failure as a counterexample. before: lines of what goes before it; None for all."""
    records = {record.line: record for record in _records(claim, site, path)}
    kept = [line for line in records if line < failure.line] if before is None else before
    return Counterexample(
        engine=engine,
        inputs={"file": path, "line": failure.line, "sql": failure.sql, "before": before},
        steps=(*_steps([records[line].sql for line in kept]), Step(failure.sql)),
        observed=failure.got,
        expected=failure.expected,
        point=f"{path}:{failure.line}",
    )


class ConformReplayer:
    """Plays failed records of one claim's files."""

    def __init__(self, claim: Claim, site: Site) -> None:
        self._claim = claim
        self._site = site

    def play(self, counterexample: Counterexample, hash_seed: int) -> Playback:
        """Run what goes before the record and then the record, in a fresh worker."""
        try:
            case: Plain = counterexample.inputs
            path, line, sql, before = (case[k] for k in ("file", "line", "sql", "before"))
            records = _records(self._claim, self._site, path)
        except (KeyError, TypeError, RefuteError) as error:
            return Playback(False, error=f"not a record of the claim's files: {error}")
        record = next((r for r in records if r.line == line and r.sql == sql), None)
        if record is None:
            return Playback(False, error=f"{path}:{line} is not this record any more")
        engine = engine_of(self._claim, self._site)
        try:
            if before is None:
                return self._whole(engine, path, record, hash_seed)
            kept = [r for r in records if r.line in before and r.line < line]
            if not _sqlite_passes(kept, record):
                return Playback(False, error="what was left out matters: SQLite fails without it")
            engine.start(hash_seed)
            got = after(engine, kept, record)
            seen = None if got is None else dataclasses.replace(counterexample, observed=got)
            return Playback(got is not None, output=got, seen=seen)
        except (EngineLost, RefuteError) as error:
            return Playback(False, error=str(error))
        finally:
            engine.close()

    def _whole(self, engine: InWorker, path: str, record: Runnable, hash_seed: int) -> Playback:
        """Run the file up to the record, and look whether that one failed."""
        data = (self._site.spec_tree / path).read_bytes()
        run = Run(engine, self._claim.statement.params["name"])
        result = FileRun(run, path, hash_seed).all_of(data, until=record.line)
        if result.interrupted:
            raise KeyboardInterrupt
        failed = next((f for f in result.failures if f.line == record.line), None)
        if failed is None and (result.lost or result.error):
            return Playback(False, error=result.lost or result.error)
        return Playback(failed is not None, output=failed.got if failed else None)


def after(engine: InWorker, before: Sequence[Runnable], record: Runnable) -> str | None:
    """What a started engine answers to the record after these, if wrong. Raises EngineLost."""
    answers = list(engine.answers([r.sql for r in (*before, record)]))
    mismatch = judge(record, answers[-1], {})
    return None if mismatch is None else mismatch.got


class _Reduction:
    """Looks for few records before a failing one that still make it fail."""

    def __init__(self, claim: Claim, site: Site, path: str, line: int, wall_s: float) -> None:
        records = _records(claim, site, path)
        self._record = next(r for r in records if r.line == line)
        self._before = {r.line: r for r in records if r.line < line}
        self._engine = engine_of(claim, site)
        self._clock = Clock(min(REDUCE_S, wall_s))

    def before(self) -> Before:
        """Lines of the records that have to go before; None for all of them."""
        writing = [line for line, r in self._before.items() if not READS_ONLY.match(r.sql)]
        try:
            if not self._fails_after(writing):
                return None
            return list(minimise(writing, _without_some, self._first_failing, TRIES))
        finally:
            self._engine.close()

    def _first_failing(self, batch: Sequence[list[int]]) -> int | None:
        tried = (i for i, lines in enumerate(batch) if self._fails_after(lines))
        return next(tried, None)

    def _fails_after(self, lines: Sequence[int]) -> bool:
        """Whether the engine still fails, and SQLite still gives what is expected."""
        kept = [self._before[line] for line in lines]
        if self._clock.over or not _sqlite_passes(kept, self._record):
            return False
        try:
            self._engine.again()
            return after(self._engine, kept, self._record) is not None
        except (EngineLost, RefuteError):
            return False


def _without_some(lines: Sequence[int]) -> Iterator[list[int]]:
    return (list(kept) for kept in shorter_or_simpler(lines, lambda _: iter(())))


def _sqlite_passes(before: Sequence[Runnable], record: Runnable) -> bool:
    database = SQLite()
    try:
        for earlier in before:
            database.answer(earlier.sql)
        return judge(record, database.answer(record.sql), {}) is None
    finally:
        database.close()


def _paths(claim: Claim, site: Site) -> list[str]:
    globs = claim.statement.spec_files
    return [path for path in site.spec_closure(claim).files if matches(path, globs)]


def _records(claim: Claim, site: Site, path: str) -> list[Runnable]:
    """The records of one of the claim's files that its engine runs. Raises UnreadableInput."""
    if path not in _paths(claim, site):
        raise UnreadableInput(f"{path} is not one of the claim's files", thing="file", value=path)
    pairs = selected(
        read((site.spec_tree / path).read_bytes(), path), claim.statement.params["name"]
    )
    return [record for record, runs in pairs if runs]  # type: ignore[misc]


def _steps(statements: Sequence[str]) -> list[Step]:
    """The statements as steps, those in the middle only counted when they are many."""
    if len(statements) <= SHOWN:
        return [Step(sql) for sql in statements]
    half = SHOWN // 2
    between = Step(f"… {len(statements) - 2 * half} more statements")
    return [*map(Step, statements[:half]), between, *map(Step, statements[-half:])]
