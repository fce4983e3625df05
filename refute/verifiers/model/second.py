"""The second engine: the tree walk of the IR, in a worker of its own, beside the first engine.

Every small search is repeated, whatever came out of it, so the tree walk begins together with the
search and stops where a machine is no longer small; beyond, it goes on only for a verdict that
rests on the search being complete. On one core it would only be in the way, and begins afterwards.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from refute.budget import Budget, Clock
from refute.errors import RefuteError
from refute.plain import Plain
from refute.sandbox import Handle, Limits, Outcome, Worker, open_worker
from refute.sandbox.spares import spare
from refute.verifiers import Progress
from refute.verifiers.patience import patience

CONFIRM = "refute.verifiers.model.confirm:open_confirm"
ALWAYS_SECOND = 500  # distinct states up to which the second engine repeats every search
SLICE_S = 0.5
AHEAD_SLICE_S = 0.1
CPU_SHARE = 0.9  # of the budget

Report = Mapping[str, Plain]


class Second:
    """A search by the tree walk; a context manager that ends it."""

    def __init__(self, data: Plain, budget: Budget, ahead: bool) -> None:
        """ahead: whether to begin at once, where there is a core for it."""
        self._data = data
        self._budget = budget
        self._worker: Worker | None = None
        self._made: Handle | None = None
        self._counts: Report = {}
        self._failed = False
        self.interrupted = False  # the user asked it to stop
        self._stopped = False
        self._thread: threading.Thread | None = None
        if ahead and usable_cores() > 1:
            self._thread = threading.Thread(target=self._go_ahead, daemon=True)
            self._thread.start()

    def confirmed(self, clock: Clock, progress: Progress) -> Report:
        """The counts of the complete search; empty if it did not finish within the budget."""
        if self._thread is not None:
            self._thread.join(max(clock.left, 0.0))
            if self._thread.is_alive():
                self._stop()
        with patience() as signals:
            while not self._failed and not self._counts.get("finished"):
                if signals.asked:
                    self.interrupted = True
                    return {}
                if self.cpu_s > CPU_SHARE * self._budget.cpu_s or clock.left < 1:
                    return {}
                self._advance(SLICE_S)
                progress(f"second engine: {self._counts.get('distinct', 0)} states")
        return {} if self._failed else self._counts

    @property
    def cpu_s(self) -> float:
        """CPU seconds of its worker so far."""
        return self._worker.cpu_s if self._worker is not None else 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop()
        if self._worker is not None:
            self._worker.close()

    def _stop(self) -> None:
        self._stopped = True
        if self._thread is None or not self._thread.is_alive():
            return
        self._failed = True
        while self._thread.is_alive():  # its worker may only now be there
            if self._worker is not None:
                self._worker.kill()
            self._thread.join(0.05)

    def _go_ahead(self) -> None:
        while not self._stopped and not self._failed and not self._counts.get("finished"):
            self._advance(AHEAD_SLICE_S)
            if self._counts.get("distinct", 0) > ALWAYS_SECOND:
                break

    def _advance(self, seconds: float) -> None:
        """Search on for about so long, or note that it cannot."""
        try:
            outcome = self._asked(seconds)
        except RefuteError:
            outcome = None
        if outcome is None or outcome.kind != "returned" or type(outcome.value) is not dict:
            self._failed = True
        else:
            self._counts = outcome.value

    def _asked(self, seconds: float) -> Outcome:
        if self._worker is None:
            self._worker = open_blank(Limits.from_budget(self._budget))
        if self._made is None:
            made = self._worker.create(CONFIRM, self._data)
            if made.kind != "returned":
                return made
            self._made = made.value
        return self._worker.invoke(self._made, "advance", seconds)


def open_blank(limits: Limits, fds: Sequence[int] = ()) -> Worker:
    """A worker that holds nothing of any tree. Raises SandboxError."""
    ready = None if fds else spare(limits)
    return ready or open_worker(Path(os.sep), (), (".",), limits, fds=fds)


def usable_cores() -> int:
    """How many cores this process may run on."""
    usable = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else ()
    return len(usable) or os.cpu_count() or 1
