"""Jobs of the solver's worker, as the parent sees them: progress, limits, Ctrl-C, and the end.

Nothing is solved here: z3 is loaded in the worker alone. A worker that dies, or is killed because
it took too much, leaves what it last said, and the way it ended is the reason why no more is known.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from refute.budget import Budget, Clock
from refute.plain import Plain
from refute.sandbox import Limits, Outcome
from refute.verifiers import Progress
from refute.verifiers.model.second import open_blank
from refute.verifiers.patience import patience

SESSION = "refute.verifiers.symbolic.session:open_session"
SLICE_S = 0.25
THREADS = 16  # that Z3 may start, besides the limit of processes
START_S = 30.0  # for a worker to load Z3 and read the machine
GRACE_S = 5.0  # for an answer that should come at once

Report = Mapping[str, Plain]


@dataclasses.dataclass
class Errand:
    """One worker for one job after the other. cpu_s, isolation: of all workers so far."""

    budget: Budget
    clock: Clock
    progress: Progress
    session: str = SESSION
    cpu_s: float = 0.0
    isolation: str = ""
    interrupted: bool = False

    def run(self, data: Plain, order: Report) -> Report:
        """The report of a job; its "stopped" says why it ended early. Raises SandboxError.

        order: as the job wants it, without its limits; see `session`.
        """
        report: Report = {"stopped": "it was not begun"}
        limits = Limits.from_budget(self.budget)
        limits = dataclasses.replace(limits, processes=limits.processes + THREADS)
        full = {"memory": self.budget.memory, "seed": self.budget.seed, **order}
        with open_blank(limits) as worker, patience() as signals:
            self.isolation = worker.isolation
            made = worker.create(self.session, data, full, timeout_s=START_S + self.clock.left)
            if made.kind != "returned":
                report = {"stopped": f"the solver could not start: {ended(made)}"}
            while made.kind == "returned":
                outcome = worker.invoke(made.value, "advance", SLICE_S, timeout_s=GRACE_S + SLICE_S)
                if outcome.kind != "returned" or type(outcome.value) is not dict:
                    report = {**report, "stopped": f"the solver's worker {ended(outcome)}"}
                    break
                report = outcome.value
                self.progress(f"symbolic: {report.get('doing', '')}")
                self.interrupted = self.interrupted or signals.asked
                if report["done"]:
                    break
                if self.interrupted or self.clock.over:
                    why = "interrupted" if self.interrupted else "its time ended"
                    report = {**report, "stopped": f"{why} at {report.get('doing', 'the start')}"}
                    break
            self.cpu_s += worker.cpu_s
        return report


def ended(outcome: Outcome) -> str:
    """How a worker ended, in words."""
    parts = (outcome.kind, outcome.error, outcome.message, outcome.detail)
    return " ".join(part for part in parts if part)
