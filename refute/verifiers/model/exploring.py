"""One search of a machine: plain for a moment, then native when there is more to see.

A small machine is finished by the plain engine before a C compiler would have started. A larger one
is compiled and searched in a worker of its own, which holds nothing of the judged tree; when that
is not possible, or the native engine meets what it cannot hold, the plain search goes on where it
was, and the report says why.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from refute.budget import Budget, Clock
from refute.errors import RefuteError, UsageError
from refute.plain import Plain
from refute.sandbox import Handle, Limits, Outcome, Worker, open_worker
from refute.verifiers import Progress
from refute.verifiers.model.certificate import Certificate
from refute.verifiers.model.checkpoint import Checkpoint
from refute.verifiers.model.choice import Choice
from refute.verifiers.model.native.forms import Unsuited
from refute.verifiers.model.pace import Pace
from refute.verifiers.model.resuming import PATIENCE_S, Kept
from refute.verifiers.model.second import usable_cores
from refute.verifiers.model.symmetric import searched_states
from refute.verifiers.patience import patience
from refute.verifiers.registry import load

PLAIN = "plain"
NATIVE = "native"
OPEN_PLAIN_WALKS = "refute.verifiers.model.walks:open_walks"
OPEN_WALKS = "refute.verifiers.model.native.walks:open_walks"
OPEN_HASHED = "refute.verifiers.model.native.hashed:open_hashed"
OPEN_ORBITS = "refute.verifiers.model.native.orbits:open_orbits"
OPEN_NATIVE = "refute.verifiers.model.native.search:open_native"
BUILDER = "refute.verifiers.model.native.building:Builder"
SLICE_S = 0.5
LEAST_SLICE_S = 0.05
PLAIN_FIRST_S = 0.3  # of searching, after which the native engine is asked
SEARCH_SHARE = 0.6  # of the budget; the rest is for the second engine and replays
MAX_CORES = 64  # as in search.c
UNHELD = (
    "what it cannot hold (a value without room in a packed state, a step with more than 64 "
    "choices, or a state with more successors than its table has slots)"
)

Report = Mapping[str, Plain]


def counted(counts: Report) -> str:
    """How much was searched, in words."""
    if "walks" in counts:
        return f"{counts['walks']} random walks, {counts['steps']} steps"
    return (
        f"{searched_states(counts)}, {counts.get('generated', 0)} generated, "
        f"depth {counts.get('depth', 0)}"
    )


def collisions(report: Report) -> tuple[str, ...]:
    """What a search that kept hashes only rests on: n states collide by a chance of n²/2⁶⁵."""
    count = report["distinct"] + report["outside"]
    chance = count * count / 2**65
    said = (
        f"no two of {count} states have the same 64-bit hash (chance of a collision {chance:.0e})"
    )
    return (said,)


def walked(counts: Report, depth: int) -> str:
    """How much of a machine random walks saw, in words."""
    return (
        f"{counts.get('walks', 0)} random walks of at most {depth} steps, "
        f"{counts.get('steps', 0)} steps in all, are no search of all states"
    )


class Unfit(str):
    """Why a search cannot go on that may do better with more room."""

    __slots__ = ()


class Exploration:
    """A search under a budget. worker: where the plain engine runs.

    checkpoint: where it is kept; both workers have its descriptors. certificate: where a native
    search leaves its states, if a report of it says so. interrupted: the user asked it to stop.
    """

    def __init__(
        self,
        worker: Worker,
        data: Plain,
        budget: Budget,
        clock: Clock,
        progress: Progress,
        checkpoint: Checkpoint | None = None,
        certificate: Certificate | None = None,
        certify: Callable[[Report], bool] = lambda _: False,
    ) -> None:
        self.worker = worker
        self.data = data
        self.budget = budget
        self.clock = clock
        self.progress = progress
        self.native_cpu_s = 0.0
        self.checkpoint = checkpoint
        self.certificate = certificate
        self.certify = certify
        self.interrupted = False
        self.resumed = 0  # states that came from a checkpoint
        self.cores = min(MAX_CORES, usable_cores())
        self._pace = Pace()

    def run(self, search: str, choice: Choice) -> tuple[Report, str]:
        """The report of the search, and why it is not complete ("" when it is).

        search: the plain engine, as `module:function`. The report's "engine" says which one ran,
        "native" why it was not the native one.
        """
        if choice.walks:
            return self._walks(choice)
        began_as = self.checkpoint.engine if self.checkpoint else ""
        if self.checkpoint and choice.engine not in ("auto", began_as or choice.engine):
            raise self.checkpoint.refused(f"of a search by the {began_as} engine")
        if choice.engine == NATIVE or began_as == NATIVE:
            found = self._native(choice)
            return found if isinstance(found, tuple) else ({}, f"the native engine: {found}")
        made = self.worker.create(search, self.data, timeout_s=self.clock.left or 1.0)
        if made.kind != "returned":
            why = f"{made.kind}: {made.error} {made.message or made.detail}"
            room = f" in {self.budget.memory / 2**20:,.0f} MiB" if made.kind == "died" else ""
            return {}, f"the search could not start{room} ({why})"
        kept = self._kept(self.worker, made.value, PLAIN)
        first = PLAIN_FIRST_S if choice.engine == "auto" and not began_as else None
        counts, stopped = self._advance(self.worker, made.value, first, None if first else kept)
        why = ""
        if not counts.get("finished") and not stopped:
            try:
                native = self._native(choice)
            except KeyboardInterrupt:  # while it was compiled; this engine has found something
                self.interrupted = True
                native, stopped = "", self._over(counts, self.worker)
            if isinstance(native, tuple):
                return native
            why = native
            if not stopped:
                counts, stopped = self._advance(self.worker, made.value, None, kept)
        report, stopped = self._report(self.worker, made.value, counts, stopped)
        if stopped and why:
            stopped = f"{stopped} (the native engine did not run: {why})"
        more = {"engine": PLAIN, "native": why, "cpu_s": self.native_cpu_s}
        return {**report, **more, "resumed": self.resumed}, stopped

    def _walks(self, choice: Choice) -> tuple[Report, str]:
        """As `run`, of random walks, which both engines take alike."""
        plan = (self.budget.seed, choice.walks, choice.depth)
        made = self.worker.create(OPEN_PLAIN_WALKS, self.data, *plan)
        if choice.engine == NATIVE or made.kind != "returned":
            found = self._native(choice)
            return found if isinstance(found, tuple) else ({}, f"the native engine: {found}")
        first = PLAIN_FIRST_S if choice.engine == "auto" else None
        counts, stopped = self._advance(self.worker, made.value, first)
        why = ""
        if not counts.get("finished") and not stopped:
            try:
                native = self._native(choice)
            except KeyboardInterrupt:  # while it was compiled, as above
                self.interrupted, native = True, ""
            if isinstance(native, tuple):
                return native
            why = native
            if not self.interrupted:
                counts, stopped = self._advance(self.worker, made.value, None)
        report, _ = self._report(self.worker, made.value, counts, stopped)
        more = {"engine": PLAIN, "native": why, "cpu_s": self.native_cpu_s}
        return {**report, **more}, walked(counts, choice.depth)

    def _kept(
        self, worker: Worker, handle: Handle, engine: str, program: Plain = ""
    ) -> Kept | None:
        """The search with its checkpoint, as it goes on from there. Raises UsageError."""
        if self.checkpoint is None:
            return None
        kept = Kept(self.checkpoint, worker, handle, engine, program, self.clock)
        self.resumed = int(kept.began_at.get("distinct", 0))
        return kept

    def _advance(
        self,
        worker: Worker,
        handle: Handle,
        seconds: float | None,
        kept: Kept | None = None,
    ) -> tuple[Report, str]:
        """Search until it is complete, the budget or memory ended, or these seconds are over.

        Ctrl-C ends it after the slice in hand.
        """
        counts: Report = {}
        stopped = ""
        began = self.clock.spent
        with patience() as signals:
            while not counts.get("finished") and not counts.get("unfit") and not stopped:
                spent = self.clock.spent - began
                if seconds is not None and spent >= seconds:
                    break
                left_s = SEARCH_SHARE * self.budget.cpu_s - self._used(worker)
                slice_s = min(SLICE_S, max(left_s, LEAST_SLICE_S))
                slice_s = slice_s if seconds is None else min(slice_s, seconds - spent)
                outcome = worker.invoke(handle, "advance", slice_s, timeout_s=self.clock.left + 5.0)
                if outcome.kind != "returned" or type(outcome.value) is not dict:
                    return counts, f"the search ended after {counted(counts)}: {_ended(outcome)}"
                counts = outcome.value
                self.progress(self._pace.line(counts, self.clock.spent))
                self.interrupted = signals.asked
                stopped = self._over(counts, worker)
                if kept is not None:
                    kept.keep(counts, bool(stopped))
        return counts, stopped and stopped + (kept.said() if kept else "")

    def _over(self, counts: Report, worker: Worker) -> str:
        left = f"after {counted(counts)}, {counts['left']} to expand"
        if self.interrupted and not counts["finished"]:
            return f"interrupted {left}"
        if counts.get("unnumbered"):
            return f"a native search can number 4 billion states, and ended {left}"
        if counts.get("full"):
            used = f" at {counts['memory'] / 2**20:,.0f} MiB" if "memory" in counts else ""
            return f"memory ended{used} {left}"
        over = (
            self._used(worker) > SEARCH_SHARE * self.budget.cpu_s
            or self.clock.spent > SEARCH_SHARE * self.budget.wall_s
        )
        share = f"the search's {SEARCH_SHARE:.0%} of the budget ended"
        return f"{share} {left}" if over and not counts["finished"] else ""

    def _used(self, worker: Worker) -> float:
        """CPU seconds so far; those of a native search for each of its cores."""
        native_s = 0.0 if worker is self.worker else worker.cpu_s / self.cores
        return self.worker.cpu_s + native_s

    def _report(
        self, worker: Worker, handle: Handle, counts: Report, stopped: str
    ) -> tuple[Report, str]:
        if not worker.alive:
            return counts, stopped
        outcome = worker.invoke(handle, "report", timeout_s=self.clock.left + 5.0)
        if outcome.kind != "returned" or type(outcome.value) is not dict:
            return counts, f"the search's report was lost: {_ended(outcome)}"
        grown = str(outcome.value.get("grown") or "") if stopped else ""
        return outcome.value, f"{stopped}; {grown}" if grown else stopped

    def _native(self, choice: Choice) -> tuple[Report, str] | str:
        """The report of the native search, or why the plain engine has to search.

        A search that met what it had no room for is begun again with more.
        """
        found: tuple[Report, str] | str = Unfit()
        try:
            builder: Any = load(BUILDER)  # its imports are paid for by large machines only
            hashed = choice.hashed and not choice.walks
            if self.checkpoint is not None and self.checkpoint.engine == NATIVE:
                builder.wanted = str(self.checkpoint.program)
            while isinstance(found, Unfit):
                left_s = SEARCH_SHARE * self.budget.wall_s - self.clock.spent
                if choice.engine != NATIVE:
                    left_s /= 2  # the plain engine may have to go on
                patience_s = max(1.0, left_s)
                with (
                    builder.library(self.data, hashed, patience_s, choice.symmetry) as library,
                    self._worker(library) as worker,
                ):
                    found = self._searched(worker, library.name, choice, builder.program)
                    self.native_cpu_s += worker.cpu_s
        except Unsuited as why:
            return str(found) if found else str(why)
        except UsageError:
            raise
        except RefuteError as error:
            return error.message
        if isinstance(found, str):
            return found
        return {**found[0], "cpu_s": self.native_cpu_s}, found[1]

    @contextlib.contextmanager
    def _worker(self, library: Path) -> Iterator[Worker]:
        limits = Limits.from_budget(self.budget)
        limits = dataclasses.replace(
            limits, processes=limits.processes + MAX_CORES, cpu_s=limits.cpu_s * self.cores
        )
        fds: tuple[int, ...] = ()
        if self.checkpoint is not None:
            limits, fds = with_files(limits), self.checkpoint.fds
        if self.certificate is not None:
            limits, fds = with_files(limits), (*fds, self.certificate.fd)
        with open_worker(library.parent, (library.name,), (".",), limits, fds=fds) as worker:
            yield worker

    def _searched(
        self, worker: Worker, name: str, choice: Choice, program: str
    ) -> tuple[Report, str] | str:
        given = (self.data, name, self.budget.memory, self.cores)
        if choice.walks:
            plan = (self.budget.seed, choice.walks, choice.depth)
            made = worker.create(OPEN_WALKS, *given, *plan)
        elif choice.symmetry:
            made = worker.create(OPEN_ORBITS, *given, choice.hashed)
        else:
            made = worker.create(OPEN_HASHED if choice.hashed else OPEN_NATIVE, *given)
        if made.kind != "returned":
            return f"it could not start ({_ended(made)})"
        kept = None if choice.walks else self._kept(worker, made.value, NATIVE, program)
        counts, stopped = self._advance(worker, made.value, None, kept)
        if not worker.alive:
            return f"it ended by itself ({stopped})"
        if counts.get("unfit"):
            if self.checkpoint is not None:
                self.checkpoint.forget()
            return Unfit(f"after {counted(counts)} it met {UNHELD}")
        report, stopped = self._report(worker, made.value, counts, stopped)
        if choice.walks and not counts.get("full"):
            stopped = walked(counts, choice.depth)
        whole = not stopped and not choice.symmetry  # one state of each orbit is no closed set
        if self.certificate is not None and whole and self.certify(report):
            self.certificate.take(worker, made.value, self.clock)
        if report.get("disagrees"):
            stopped = f"a bug of refute: the engines disagree, {report['disagrees']}"
        return {**report, "engine": NATIVE, "native": "", "resumed": self.resumed}, stopped


def with_files(limits: Limits) -> Limits:
    """Limits of a worker that writes a checkpoint, whose files are no larger than its memory.

    What is searched ends by itself when the budget is used; the last checkpoint comes after that.
    """
    size = max(limits.file_size, limits.memory)
    return dataclasses.replace(limits, file_size=size, cpu_s=limits.cpu_s + PATIENCE_S)


def _ended(outcome: Outcome) -> str:
    return " ".join(
        p for p in (outcome.error or outcome.kind, outcome.message, outcome.detail) if p
    )
