"""The engine for `Conforms`: runs every record of the claim's files, and proposes those that fail.

The files are finite and all of them is run, so what passes is EXHAUSTED over their records. A file
that cannot be read, an engine that was given up, or a budget that ended leaves records that were
not run: that is UNKNOWN.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from refute.budget import Budget
from refute.claim import Claim, Verdict, is_command
from refute.errors import RefuteError
from refute.evidence import Cost, Finding, Scope
from refute.oracles.sql.sqlite import VERSION
from refute.replay import Counterexample, Replayer
from refute.site import Site
from refute.specs.conformance import KIND
from refute.verifiers import Progress
from refute.verifiers.one_by_one import OneByOne
from refute.verifiers.sql.conform_case import (
    ConformReplayer,
    engine_of,
    proposed,
    reduced,
    test_files,
)
from refute.verifiers.sql.conform_file import Failure, FileResult, Run, run_file

PROPOSED = 3  # failures that are offered for replay


class Conformance(OneByOne):
    """Runs sqllogictest files."""

    kind = KIND
    name = "sqllogictest"
    version = f"1 (SQLite {VERSION})"
    cost = 10

    def _unfit(self, claim: Claim) -> str:
        """Why this engine does not take a claim of its kind; empty when it does."""
        return "takes module:function, no command" if is_command(claim.subject) else ""

    def replayer(self, claim: Claim, site: Site, budget: Budget) -> Replayer:
        """Runs a file up to a record in a fresh worker."""
        return ConformReplayer(claim, site)

    def _run(self, claim: Claim, budget: Budget, site: Site, progress: Progress) -> Finding:
        started = time.thread_time()
        clock = budget.clock()
        engine = engine_of(claim, site)
        records = 0

        def ran(more: int) -> None:
            nonlocal records
            records += more
            progress(f"{claim.name}: {records:,} records")

        run = Run(
            engine=engine,
            name=claim.statement.params["name"],
            stop=lambda: clock.over or time.thread_time() - started + engine.cpu_s > budget.cpu_s,
            progress=ran,
        )
        results: list[FileResult] = []
        problem = ""
        try:
            for path, data in test_files(claim, site):
                results.append(run_file(run, path, data, confirm=0))
                if results[-1].interrupted:
                    raise KeyboardInterrupt
                if results[-1].cut or len(_failed(results)) >= PROPOSED:
                    break
            cases = self._proposed(claim, site, _failed(results)[:PROPOSED], clock.left)
        except RefuteError as error:
            problem, cases = error.message, ()
        finally:
            engine.close()
        reason = _reason(results, problem)
        cost = Cost(time.thread_time() - started + engine.cpu_s, clock.spent)
        return Finding(
            engine=self.name,
            version=self.version,
            verdict=Verdict.UNKNOWN if reason else Verdict.EXHAUSTED,
            reason=reason,
            scope=_scope(results),
            tried=sum(r.run for r in results),
            counterexamples=cases,
            exhausted=not reason,
            isolation=engine.isolation,
            cost=cost,
            statistics={
                "skipped": sum(r.skipped for r in results),
                "without expectation": sum(r.unchecked for r in results),
            },
        )

    def _proposed(
        self, claim: Claim, site: Site, failed: Sequence[tuple[str, Failure]], wall_s: float
    ) -> tuple[Counterexample, ...]:
        """The failures as they were seen, and before them the first one made smaller."""
        cases = [proposed(self.name, claim, site, path, failure, None) for path, failure in failed]
        if failed and wall_s > 0:
            path, first = failed[0]
            before = reduced(claim, site, path, first, wall_s)
            if before is not None:
                cases.insert(0, proposed(self.name, claim, site, path, first, before))
        return tuple(cases)


def _failed(results: Sequence[FileResult]) -> list[tuple[str, Failure]]:
    return [(result.path, failure) for result in results for failure in result.failures]


def _reason(results: Sequence[FileResult], problem: str) -> str:
    """Why it is not established that every record passes; empty when it is."""
    failed = _failed(results)
    if failed:
        path, first = failed[0]
        return f"{path}:{first.line}: expected {first.expected}, got {first.got}"
    for result in results:
        problem = problem or result.error or result.lost or result.unstable
        if result.cut:
            problem = problem or f"the budget ended in {result.path} after {result.run} records"
    if not problem and not results:
        problem = "the claim's files match nothing"
    if not problem and not sum(result.run for result in results):
        problem = "no record was run: all were skipped, or the files have none"
    return problem


def _scope(results: Sequence[FileResult]) -> Scope:
    records = sum(result.run for result in results)
    files = [result.path for result in results]
    text = f"{records} records of {len(files)} file{'' if len(files) == 1 else 's'}"
    return Scope(text=text, bounds={"files": files, "records": records})
