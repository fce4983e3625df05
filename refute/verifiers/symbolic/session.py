"""Where solving happens: a job in a thread of a worker, which says at any time how far it is.

Z3 works outside Python's lock, so the worker answers while a query runs: whoever asked for the job
sees the depth, may stop at any time, and kills the worker to end it. What was found so far is then
already known.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Any

from refute.plain import Plain
from refute.specs.machine.ir import MachineIR
from refute.verifiers.symbolic.proving import Proof
from refute.verifiers.symbolic.rechecking import Recheck
from refute.verifiers.symbolic.searching import Search
from refute.verifiers.symbolic.solving import limit_memory

JOBS: Mapping[str, Any] = {"search": Search, "prove": Proof, "recheck": Recheck}


class Session:
    """A job that runs. order: what is to be done, as the job's class says, and its limits."""

    def __init__(self, data: Plain, order: Mapping[str, Plain]) -> None:
        limit_memory(int(order["memory"]))
        self._job = JOBS[str(order["job"])](MachineIR.from_plain(data), order)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._done = False
        self._failed = ""
        self._thread.start()

    def advance(self, seconds: float) -> dict[str, Plain]:
        """Wait so long, or until the job is done; what it has found by then.

        "done", "stopped": why it ended early, and what the job's own report holds.
        """
        self._thread.join(seconds)
        done = self._done  # before the report, which is then that of the end
        report: dict[str, Plain] = {**self._job.report(), "done": done}
        if self._failed:
            report["stopped"] = self._failed
        return report

    def _run(self) -> None:
        try:
            self._job.run()
        except MemoryError:
            self._failed = "the solver's memory ended"
        except Exception as error:  # a bug of refute, or of Z3: nothing is established by it
            self._failed = f"the symbolic engine failed: {type(error).__name__}: {error}"
        self._done = True


def open_session(data: Plain, order: Mapping[str, Plain]) -> Session:
    """A job on the machine given as plain data; runs in a worker."""
    return Session(data, order)


def deadline(order: Mapping[str, Plain]) -> float:
    """When a job's time is over, of `time.monotonic`."""
    return time.monotonic() + float(order["wall_s"])
