"""A search in a worker and its checkpoint: written now and then, and gone on from."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from refute import plain
from refute.budget import Clock
from refute.errors import UsageError
from refute.plain import Plain
from refute.sandbox import Handle, Outcome, Worker
from refute.specs.machine.symmetry import Symmetry
from refute.verifiers.model.checkpoint import Checkpoint, directory_for
from refute.verifiers.model.choice import Choice

KEEPERS = {
    "plain": "refute.verifiers.model.keeping:open_keeper",
    "native": "refute.verifiers.model.native.keeping:open_keeper",
}
PATIENCE_S = 600.0  # for reading or writing one, besides what is left of the budget


@contextlib.contextmanager
def checkpoint_of(
    choice: Choice,
    subject: str,
    constants: Mapping[str, int],
    data: Plain,
    symmetry: Symmetry | None = None,
) -> Iterator[Checkpoint | None]:
    """The checkpoint of the search of this machine, if one is wanted. Raises UsageError.

    symmetry: the permutations that it is searched up to; None for all of its states.
    """
    if not choice.checkpoint or choice.walks:
        yield None
        return
    directory = directory_for(Path(choice.checkpoint), subject, constants)
    about: dict[str, Plain] = {
        "machine": subject,
        "constants": dict(constants),
        "spec": plain.digest(data),
    }
    if symmetry is not None:
        groups = [[f"{a.kind}({a.i})" for a in group] for group in symmetry.classes]
        about["symmetry"] = {"text": symmetry.text, "classes": groups}
    with Checkpoint(directory, {**about, "how": choice.kept()}, choice.every_s) as found:
        yield found


class Kept:
    """A search that goes on from its checkpoint, if there is one of it. Raises UsageError.

    engine, program: who searches; program tells one of an engine's programs from another.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        worker: Worker,
        search: Handle,
        engine: str,
        program: Plain,
        clock: Clock,
    ) -> None:
        self.checkpoint = checkpoint
        self.worker = worker
        self.engine = engine
        self.program = program
        self.clock = clock
        made = worker.create(KEEPERS[engine], search, list(checkpoint.fds))
        if made.kind != "returned":
            raise checkpoint.refused(f"not usable: {_said(made)}")
        self.keeper = made.value
        self.began_at: Mapping[str, Plain] = {}
        if checkpoint.saved is not None:
            self._restore()

    def _restore(self) -> None:
        if (self.checkpoint.engine, self.checkpoint.program) != (self.engine, self.program):
            raise self.checkpoint.refused("of a search by another engine or compiled program")
        saved = self.checkpoint.saved
        outcome = self.worker.invoke(self.keeper, "restore", saved, timeout_s=self._time())
        if outcome.kind == "raised":
            raise self.checkpoint.refused(f"damaged: {outcome.message}")
        if outcome.kind != "returned":
            raise self.checkpoint.refused(f"not readable: {_said(outcome)}")
        if outcome.value is not True:
            raise UsageError(
                f"the checkpoint in {self.checkpoint.directory} needs more memory",
                thing="--memory",
                next_step="give as much as when it was written, or more",
            )
        self.began_at = self.checkpoint.counts

    def keep(self, counts: Mapping[str, Plain], last: bool) -> None:
        """Write a checkpoint when it is time, or when this is the last chance."""
        if counts.get("finished") or counts.get("unfit"):
            return
        if not last and not self.checkpoint.due():
            return
        began = time.monotonic()
        outcome = self.worker.invoke(self.keeper, "save", timeout_s=self._time())
        took_s = time.monotonic() - began
        if outcome.kind == "returned" and outcome.value is not None:
            found = outcome.value
            self.checkpoint.commit(self.engine, self.program, found, counts, took_s)
            return
        self.checkpoint.put_off(took_s)
        if outcome.kind != "returned":
            self.checkpoint.problem = _said(outcome)

    def said(self) -> str:
        """What to say of it when the search is cut."""
        problem = self.checkpoint.problem
        if problem:
            return f" (the checkpoint could not be written: {problem})"
        if self.checkpoint.saved is None:
            return ""
        return f" (goes on from {self.checkpoint.directory} with the same command)"

    def _time(self) -> float:
        return self.clock.left + PATIENCE_S


def _said(outcome: Outcome) -> str:
    return " ".join(
        p for p in (outcome.error or outcome.kind, outcome.message, outcome.detail) if p
    )
