"""The second opinion on a large native search: all its states, judged to be closed by all cores.

The tree walk, which repeats small searches, would take hours for a million states. That a set of
states is closed can be judged a part at a time, needs no table, and uses nothing of the search.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from types import TracebackType
from typing import Self

from refute.budget import Budget, Clock
from refute.plain import Plain
from refute.sandbox import Handle, Limits, Outcome, Worker
from refute.verifiers import Progress
from refute.verifiers.model.second import CPU_SHARE, open_blank, usable_cores
from refute.verifiers.patience import patience

OPEN = "refute.verifiers.model.closed:open_closed"
CERTIFY = "refute.verifiers.model.native.certifying:certify"
BY = "closure of the native engine's states under the plain engine's steps"
PART = 1_000  # states that a worker judges at a time
TELL_S = 0.5
SPARE_S = 1.0  # of the clock, left to what comes afterwards

Report = Mapping[str, Plain]


class Certificate:
    """A file in memory for the states of a search; a context manager that lets go of it.

    said: how far the judgement came, when it did not end. cpu_s: what its workers used.
    """

    def __init__(self) -> None:
        self.fd = os.memfd_create("refute-states")
        self.about: Plain = None
        self.said = ""
        self.interrupted = False
        self.cpu_s = 0.0
        self._found: list[Report] = []
        self._parts: Iterator[int] = iter(())
        self._lock = threading.Lock()
        self._over = False

    def take(self, worker: Worker, search: Handle, clock: Clock) -> None:
        """Have a native search that is over write its states."""
        outcome = worker.call(CERTIFY, search, self.fd, timeout_s=clock.left + 5.0)
        if outcome.kind == "returned" and type(outcome.value) is dict:
            self.about = outcome.value

    def confirmed(self, data: Plain, budget: Budget, clock: Clock, progress: Progress) -> Report:
        """The counts of the plain engine; empty if it did not finish within the budget.

        "disagrees" in it: why the set is not closed.
        """
        count = int(self.about["count"])
        self._parts = iter(range(0, count, PART))
        workers = min(usable_cores(), 1 + count // PART)
        with ThreadPoolExecutor(workers) as pool, patience() as signals:
            running = [pool.submit(self._judge, data, budget, count) for _ in range(workers)]
            while wait(running, TELL_S).not_done:
                done = self._sum("distinct")
                progress(f"second engine: {done:,} of {count:,} states")
                self.interrupted = signals.asked
                if signals.asked or clock.left < SPARE_S:
                    self._over = True
        for found in self._found:
            if "disagrees" in found:
                return found
        done = self._sum("distinct")
        if done < count or any(future.exception() for future in running):
            self.said = f"it judged {done:,} of {count:,} states"
            return {}
        return {
            "distinct": done,
            "generated": self._sum("generated"),
            "reached": sorted({name for found in self._found for name in found["reached"]}),
            "fired": sorted({name for found in self._found for name in found["fired"]}),
            "by": BY,
        }

    def _sum(self, name: str) -> int:
        with self._lock:
            return sum(int(found.get(name, 0)) for found in self._found)

    def _judge(self, data: Plain, budget: Budget, count: int) -> None:
        """Judge parts until there are none, or time is up; runs in a thread. Raises RefuteError."""
        limits = Limits.from_budget(budget)
        with open_blank(limits, (self.fd,)) as worker:
            made = worker.create(OPEN, data, self.fd, self.about)
            while made.kind == "returned" and not self._over:
                with self._lock:
                    first = next(self._parts, None)
                if first is None or worker.cpu_s > CPU_SHARE * budget.cpu_s:
                    break
                last = min(first + PART, count)
                outcome = worker.invoke(made.value, "check", first, last)
                if not self._took(outcome):
                    break
            with self._lock:
                self.cpu_s += worker.cpu_s

    def _took(self, outcome: Outcome) -> bool:
        """Whether a part was judged and there may be another."""
        if outcome.kind != "returned" or type(outcome.value) is not dict:
            self._over = True
            return False
        with self._lock:
            self._found.append(outcome.value)
        self._over = self._over or "disagrees" in outcome.value
        return True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self.fd)
