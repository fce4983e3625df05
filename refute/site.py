"""Site: where a claim is judged. The subject comes from one tree, its judges from another.

In a gate the subject tree is the head and the spec tree is the base, so a change cannot bring its
own judge. A worker's filesystem holds only the import closure of what it runs, plus the non-Python
files that the claim's `covers` names: an undeclared input does not exist for it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from refute import sandbox
from refute.claim import Claim, is_command
from refute.closure import Closure, closure_of
from refute.frozen import frozen

if TYPE_CHECKING:  # machines have sites in workers too, which open none
    from refute.sandbox import Limits, Worker


@frozen
class Site:
    """subject_tree, spec_tree: directories. roots: import roots relative to them."""

    subject_tree: Path
    spec_tree: Path
    roots: tuple[str, ...] = (".", "src")

    def subject_closure(self, claim: Claim) -> Closure:
        """The files the judged code depends on; all covered files for a command."""
        references = tuple(r for r in claim.statement.judged if not is_command(r))
        return closure_of(self.subject_tree, self.roots, references, claim.covers)

    def spec_closure(self, claim: Claim) -> Closure:
        """The files that judge: what the judging code depends on, and files that are no code."""
        statement = claim.statement
        return closure_of(self.spec_tree, self.roots, statement.spec, statement.spec_files)

    def subject_worker(
        self, claim: Claim, limits: Limits, hash_seed: int = 0, fds: tuple[int, ...] = ()
    ) -> Worker:
        """A fresh worker that can import the subject, or is its command, and has nothing more."""
        closure = self.subject_closure(claim)
        command = claim.subject.removeprefix("cmd:") if is_command(claim.subject) else None
        return sandbox.open_worker(
            self.subject_tree,
            closure.files,
            self.roots,
            limits,
            hash_seed=hash_seed,
            fds=fds,
            command=command,
        )

    def spec_worker(
        self, claim: Claim, limits: Limits, hash_seed: int = 0, fds: tuple[int, ...] = ()
    ) -> Worker:
        """A fresh worker that can import the judging code, never the head's subject."""
        closure = self.spec_closure(claim)
        return sandbox.open_worker(
            self.spec_tree, closure.files, self.roots, limits, hash_seed=hash_seed, fds=fds
        )
