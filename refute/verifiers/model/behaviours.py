"""Temporal properties and refinements under a budget: plain for a moment, then native.

As `exploring`: what is small is judged before a C compiler would have started, larger graphs are
built and taken apart by the native engine in a worker of its own, and where that is not possible
the plain engine goes on where it was, and the evidence says why.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from typing import Any

from refute.budget import Budget, Clock
from refute.errors import RefuteError
from refute.evidence import Finding
from refute.frozen import frozen
from refute.plain import Plain
from refute.sandbox import Handle, Limits, Worker, open_worker
from refute.specs.machine.ir import MachineIR
from refute.specs.machine.statement import ALL
from refute.verifiers import Progress
from refute.verifiers.model.choice import Choice
from refute.verifiers.model.exploring import MAX_CORES, NATIVE, PLAIN
from refute.verifiers.model.native.forms import Unsuited
from refute.verifiers.patience import patience
from refute.verifiers.registry import load

LIVENESS = "refute.verifiers.model.liveness:open_liveness"
NATIVE_LIVENESS = "refute.verifiers.model.native.liveness:open_native_liveness"
BUILDER = "refute.verifiers.model.native.graph_building:GraphBuilder"
SLICE_S = 0.5
PLAIN_FIRST_S = 1.0  # after which the native engine is asked, if the search was plain
SHARE = 0.9  # of the budget; the rest is for replays
GRAPH_SHARE = 0.75  # of the budget, after which a graph is judged as far as it was built

Report = Mapping[str, Plain]


class Unfit(str):
    """Why the native engine cannot go on that may do better with more room."""

    __slots__ = ()


@frozen
class Judged:
    """hits: traces by property. undecided: why others are open. said: by property, how it was
    judged, where the native engine did it or did not. cpu_s: of workers that are gone.
    interrupted: the user asked to stop."""

    hits: Mapping[str, Plain]
    undecided: Mapping[str, str]
    said: Mapping[str, str] = dataclasses.field(default_factory=dict)
    cpu_s: float = 0.0
    interrupted: bool = False


class Behaviours:
    """Judges what a machine says of behaviours. worker: where the plain engine runs."""

    def __init__(
        self,
        worker: Worker,
        ir: MachineIR,
        budget: Budget,
        clock: Clock,
        progress: Progress,
        spent_cpu_s: float = 0.0,
        kept: bool = False,
    ) -> None:
        """spent_cpu_s: of the budget, by the search's own worker, which had all cores.

        kept: the search has a checkpoint, which this has not.
        """
        self.worker = worker
        self.data = ir.to_plain()
        self.names = [t.name for t in ir.temporals] + [r.name for r in ir.refinements]
        self.budget = budget
        self.clock = clock
        self.progress = progress
        self.spent_cpu_s = spent_cpu_s / min(MAX_CORES, os.cpu_count() or 1)
        self.kept = kept
        self.interrupted = False
        self.native_cpu_s = 0.0

    def run(self, choice: Choice, searched_by: str) -> Judged:
        """Judge all of them. searched_by: the engine that searched the states."""
        judged = self._run(choice, searched_by)
        spent_s, interrupted = self.native_cpu_s, self.interrupted
        return dataclasses.replace(judged, cpu_s=spent_s, interrupted=interrupted)

    def _run(self, choice: Choice, searched_by: str) -> Judged:
        first = {"plain": None, "native": 0.0}.get(choice.engine, PLAIN_FIRST_S)
        if first is not None and searched_by == NATIVE:
            first = 0.0
        made = self.worker.create(LIVENESS, self.data) if first != 0.0 else None
        counts: Report = {}
        ended = ""
        if made is not None and made.kind == "returned":
            counts, ended = self._advance(self.worker, made.value, first)
        why = ""
        if first is not None and not counts.get("finished") and not ended:
            native = self._native()
            if isinstance(native, Judged):
                return native
            why = native
        if made is None:
            made = self.worker.create(LIVENESS, self.data)
        if made.kind != "returned":
            return self._open(f"it could not start ({made.error or made.kind})", why)
        if not counts.get("finished") and not ended:
            counts, ended = self._advance(self.worker, made.value, None)
        return self._judged(self.worker, made.value, counts, ended, PLAIN, why)

    def _advance(self, worker: Worker, handle: Handle, seconds: float | None) -> tuple[Report, str]:
        """Go on until all is judged, something ended it ("" if not), or these seconds are over.

        Ctrl-C ends it after the slice in hand.
        """
        counts: Report = {}
        began = self.clock.spent
        with patience() as signals:
            while not counts.get("finished") and not counts.get("unfit"):
                if seconds is not None and self.clock.spent - began >= seconds:
                    break
                outcome = worker.invoke(handle, "advance", SLICE_S, timeout_s=self.clock.left + 5.0)
                if outcome.kind != "returned" or type(outcome.value) is not dict:
                    return counts, outcome.error or outcome.kind
                counts = outcome.value
                self.progress(f"temporal properties: {_counted(counts)}")
                self.interrupted = signals.asked
                ended = self._ended(worker, counts)
                if ended:
                    return counts, ended
                if worker is not self.worker and self._over(worker, GRAPH_SHARE):
                    worker.invoke(handle, "cut", "the budget ended")
        return counts, ""

    def _ended(self, worker: Worker, counts: Report) -> str:
        """Why the work cannot go on; empty when it can, or is finished."""
        if counts.get("full"):
            return "memory ended"
        if counts["finished"] or counts.get("unfit"):
            return ""
        if self.interrupted:
            return "interrupted"
        return "the budget ended" if self._over(worker, SHARE) else ""

    def _over(self, worker: Worker, share: float) -> bool:
        """Whether so much of the budget was spent."""
        cpu_s = self.spent_cpu_s + self.native_cpu_s + self.worker.cpu_s
        cpu_s += worker.cpu_s if worker is not self.worker else 0.0
        budget = self.budget
        return cpu_s > share * budget.cpu_s or self.clock.spent > min(
            share * budget.wall_s, budget.wall_s - 1
        )

    def _judged(
        self, worker: Worker, handle: Handle, counts: Report, ended: str, engine: str, why: str
    ) -> Judged:
        """What an engine found, and why the rest is open."""
        report = worker.invoke(handle, "report", timeout_s=self.clock.left + 5.0)
        if report.kind != "returned" or type(report.value) is not dict:
            return self._open(ended or report.kind, why)
        found: Report = report.value
        ended = ended or found.get("ended", "")
        stopped = self._early(f" after {_counted(counts)}", ended)
        if found.get("disagrees"):
            stopped = f"a bug of refute: the engines disagree, {found['disagrees']}"
            ended = stopped
        if ended and why:
            stopped = f"{stopped} (the native engine did not run: {why})"
        left = [name for name in self.names if name not in found.get("judged", ())] if ended else []
        undecided = {**dict.fromkeys(left, stopped), **found["reasons"]}
        said = {}
        if engine == NATIVE:
            said = {name: _looked_at(found["products"].get(name), counts) for name in self.names}
            said[ALL] = f"behaviours by the native engine: {counts.get('pairs', 0)} pairs"
        elif why:
            said = dict.fromkeys([ALL, *self.names], f"behaviours not by the native engine: {why}")
        return Judged(found["hits"], undecided, said)

    def _open(self, ended: str, why: str) -> Judged:
        stopped = self._early("", ended)
        if why:
            stopped = f"{stopped} (the native engine did not run: {why})"
        return Judged({}, dict.fromkeys(self.names, stopped))

    def _early(self, far: str, why: str) -> str:
        """What to say of properties that were not decided. far: how far it came."""
        said = f"the search for behaviours ended early{far}: {why}"
        anew = " (a checkpoint keeps the search of states only: this begins anew, so give it more)"
        return said + (anew if self.kept else "")

    def _native(self) -> Judged | str:
        """What the native engine finds, or why the plain one has to judge."""
        found: Judged | str = Unfit()
        try:
            builder: Any = load(BUILDER)  # its imports are paid for by large machines only
            while isinstance(found, Unfit):
                patience_s = max(1.0, self.clock.left / 2)
                with builder.libraries(self.data, patience_s) as paths:
                    files = [path.name for path in paths]
                    limits = Limits.from_budget(self.budget)
                    with open_worker(paths[0].parent, files, (".",), limits) as worker:
                        found = self._in_worker(worker, files)
                        self.native_cpu_s += worker.cpu_s
        except Unsuited as why:
            return str(found) if found else str(why)
        except RefuteError as error:
            return error.message
        return found

    def _in_worker(self, worker: Worker, files: list[str]) -> Judged | str:
        made = worker.create(NATIVE_LIVENESS, self.data, files, self.budget.memory)
        if made.kind != "returned":
            return f"it could not start ({made.error or made.kind} {made.message})"
        counts, ended = self._advance(worker, made.value, None)
        if not worker.alive:
            return f"it ended by itself ({ended})"
        if counts.get("unfit"):
            return Unfit(f"after {_counted(counts)} it met what it cannot hold or compute")
        return self._judged(worker, made.value, counts, ended, NATIVE, "")


def with_behaviours(finding: Finding, said: str) -> Finding:
    """The finding, with how a property of behaviours was judged in its scope."""
    if not said or finding.scope is None:
        return finding
    scope = dataclasses.replace(finding.scope, text=f"{finding.scope.text}; {said}")
    return dataclasses.replace(finding, scope=scope)


def _counted(counts: Report) -> str:
    found = f"{counts.get('distinct', 0)} distinct states, {counts.get('generated', 0)} generated"
    pairs = counts.get("pairs", 0)
    return f"{found}, {pairs} pairs with an automaton" if pairs else found


def _looked_at(product: Plain, counts: Report) -> str:
    """How much of the graph the native engine looked at for one property."""
    if not product:
        return f"behaviours by the native engine: {counts.get('edges', 0)} steps"
    pairs, edges = product
    return f"behaviours by the native engine: {pairs} pairs with an automaton, {edges} edges"
