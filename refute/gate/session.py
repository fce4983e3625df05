"""What one run of the gate works with, and what it knows so far.

`Session` is made once per run; `Findings` grows as questions are answered, so that an interrupted
run can still be reported.
"""

from __future__ import annotations

import dataclasses
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from refute import plain
from refute.budget import Budget, Clock
from refute.change.difference import FileChange
from refute.change.git import Repository
from refute.change.trees import Tree
from refute.check import EnginesFor
from refute.claim import Claim, Verdict
from refute.closure import closure_of, freeze, thaw
from refute.config import Config
from refute.describe import claim_files, claims_closure, describe, from_data, to_data
from refute.evidence import Cost, Evidence, cpu_seconds
from refute.ledger.store import Ledger
from refute.record import ClaimResult, Coverage, SpecEvent
from refute.site import Site
from refute.verifiers import Progress

LEAST_WALL_S = 1.0
CPU_SHARE = 0.75


@dataclasses.dataclass
class Session:
    """One judged change. base_dir, head_dir: clean exports; work: directory for further trees.

    ignored: paths of a worktree that the base's ignore files ignore.
    """

    repository: Repository
    base: Tree
    head: Tree
    base_dir: Path
    head_dir: Path
    work: Path
    config: Config
    ledger: Ledger
    engines: EnginesFor
    budget: Budget
    clock: Clock
    progress: Progress
    changes: tuple[FileChange, ...] = ()
    claims: tuple[Claim, ...] = ()
    new_claims: tuple[Claim, ...] = ()
    ignored: frozenset[str] = frozenset()

    @property
    def head_site(self) -> Site:
        """Head's code judged by base's specs."""
        return Site(self.head_dir, self.base_dir, self.config.roots)

    @property
    def base_site(self) -> Site:
        """Base's code judged by base's specs."""
        return Site(self.base_dir, self.base_dir, self.config.roots)

    @property
    def new_site(self) -> Site:
        """Head's code judged by specs that came with it, for new claims only."""
        return Site(self.head_dir, self.head_dir, self.config.roots)

    def site_of(self, claim: Claim) -> Site:
        """Where a claim of the base, or a new one, is judged."""
        return self.new_site if claim in self.new_claims else self.head_site

    def part(self, name: str, wall_s: float, claims: Sequence[Claim] = ()) -> Budget:
        """A budget of so many seconds, with the cases that these claims need.

        CPU seconds are fewer than wall seconds, so that on a machine that is not loaded they end a
        search, and what was found until then counts; the wall clock's end is UNKNOWN.
        """
        wall_s = max(LEAST_WALL_S, wall_s)
        cases = max([self.budget.cases, *(c.need.cases for c in claims)])
        part = self.budget.part(name)
        return dataclasses.replace(part, cases=cases, wall_s=wall_s, cpu_s=wall_s * CPU_SHARE)

    def tree(self, name: str) -> Path:
        """A new directory for a tree, frozen once its maker has filled it."""
        return Path(tempfile.mkdtemp(prefix=f"{name}-", dir=self.work))

    def read_claims(self, tree: Path) -> tuple[Claim, ...]:
        """The claims of an exported tree, remembered under the digest of what loading reads."""
        files = claim_files(tree, self.config.claims)
        roots = self.config.roots
        closure = claims_closure(tree, roots, files)
        own = closure_of(tree, roots, (), files)
        key = plain.digest(
            [closure.digest, own.digest, list(files), list(roots), self.ledger.surroundings()]
        )
        data = self.ledger.fact("claims", key)
        if type(data) is list:
            return from_data(data)
        self.progress(f"reading claims: {', '.join(files)}")
        claims = describe(tree, roots, files)
        self.ledger.put_fact("claims", key, to_data(claims))
        return claims

    def close(self) -> None:
        """Forget what was remembered of the exports."""
        for tree in (self.base_dir, self.head_dir):
            thaw(tree)


@dataclasses.dataclass
class Findings:
    """What the run has found so far.

    asked: the claims that the change reaches, and new ones. ran_out: names of those that more
    budget might have decided.
    """

    results: list[ClaimResult] = dataclasses.field(default_factory=list)
    controls: list[ClaimResult] = dataclasses.field(default_factory=list)
    coverage: list[Coverage] = dataclasses.field(default_factory=list)
    events: list[SpecEvent] = dataclasses.field(default_factory=list)
    not_done: list[str] = dataclasses.field(default_factory=list)
    asked: list[Claim] = dataclasses.field(default_factory=list)
    ran_out: set[str] = dataclasses.field(default_factory=set)
    canary: ClaimResult | None = None
    interrupted: bool = False

    @property
    def refuted(self) -> bool:
        """Whether a claim was refuted on the head's code."""
        return any(r.evidence.verdict is Verdict.REFUTED for r in self.results)


def result_of(
    claim: Claim, evidence: Evidence, role: str = "claim", *, pre_existing: bool = False
) -> ClaimResult:
    """A claim and its evidence as one line of the run."""
    return ClaimResult(claim, evidence, evidence.unmet(claim.need), role, pre_existing)


def total_cost(findings: Findings, started: float) -> Cost:
    """CPU seconds of all new evidence, wall seconds since the start."""
    cpu_s = cpu_seconds(r.evidence for r in (*findings.results, *findings.controls))
    return Cost(cpu_s, time.monotonic() - started)


def frozen(tree: Path) -> Path:
    """The directory, with the promise that it no longer changes."""
    freeze(tree)
    return tree
