"""Recordings: what a sequence of operations made the subject do to its device.

Each operation is a call of its own from the parent, so the parent knows which device calls belong
to which operation. Many sequences share a worker; a subject that carries something from one mount
to the next is found because a share of the recordings is repeated in workers of their own.
"""

from __future__ import annotations

import dataclasses
import errno
from collections.abc import Callable, Sequence

from refute import plain
from refute.fuzz.operations import Operation, Operations
from refute.oracles.device import Event, Fault, RecordingDevice
from refute.plain import Plain
from refute.sandbox import Handle, Outcome, Remote, Worker
from refute.specs.crash import Configuration
from refute.verifiers.crash.cases import Case
from refute.verifiers.crash.model import HARNESS, UNMOUNT
from refute.verifiers.crash.states import Crash

CALL_TIMEOUT_S = 10.0
ASIDE = -2  # the operation of device calls made while free space is asked for


@dataclasses.dataclass(frozen=True)
class Base:
    """Where sequences start. operations made it from an empty system; state: the model's after.

    prior: the case whose crash image this is, if any; earlier: the states besides `state` that a
    crash before the next sync may still give.
    """

    name: str
    operations: Operations
    blocks: tuple[bytes, ...]
    fingerprint: int
    state: int
    prior: Case | None = None
    earlier: tuple[int, ...] = ()


@dataclasses.dataclass(frozen=True)
class Result:
    """How a call of the subject ended: with a value, an OSError, or broken (anything else)."""

    value: Plain = None
    error: int = 0
    broken: str = ""

    def text(self) -> str:
        """For people, on one line."""
        if self.broken:
            return self.broken
        return error_text(self.error) if self.error else _short(self.value)


def error_text(number: int) -> str:
    """The name of an errno."""
    return errno.errorcode.get(number, f"errno {number}")


def _short(value: Plain) -> str:
    if value is None:
        return "ok"
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


@dataclasses.dataclass(frozen=True)
class Run:
    """One recording. mounted: how the mount went. results: of the operations, as far as they went.

    marks: for each operation the number of events before it, then the number of all. calls: the
    device calls as (kind, operation): the reads if they were asked for, else the others. live: the
    view at the end without a crash, or why there is none. space: what the subject said of its free
    space before and after the watched operation. struck_op: the operation that met the fault.
    """

    base: Base
    operations: Operations
    mounted: Result
    results: tuple[Result, ...]
    events: tuple[Event, ...]
    marks: tuple[int, ...]
    calls: tuple[tuple[str, int], ...]
    live: Result
    space: tuple[Plain, Plain] = (None, None)
    fault: Fault | None = None
    struck_op: int | None = None
    blocks: tuple[bytes, ...] = ()
    watch: int = -1

    def digest(self) -> str:
        """Of everything the subject did."""
        events = [(e.kind, e.block, e.data, e.op, e.fault) for e in self.events]
        results = [(r.value, r.error, r.broken) for r in (self.mounted, *self.results)]
        return plain.digest_any([events, results])

    def prefix_digest(self) -> str:
        """Of what happened before the last operation."""
        events = [(e.kind, e.block, e.data, e.op) for e in self.events[: self.last_mark]]
        return plain.digest_any(events)

    @property
    def struck(self) -> bool:
        """Whether the fault was met."""
        return self.struck_op is not None

    @property
    def last_mark(self) -> int:
        """The number of events before the last operation (all but the mount's: 0 without one)."""
        return self.marks[min(len(self.operations), len(self.marks)) - 1] if self.operations else 0


def case_of(run: Run, prop: str, crash: Crash | None, again: Crash | None = None) -> Case:
    """The case of a property and a recording, with its crashes."""
    return Case(
        property=prop,
        setup=run.base.operations,
        operations=run.operations,
        fault=run.fault,
        crash=crash,
        again=again,
        watch=run.watch if run.fault is not None else None,
        prior=run.base.prior,
    )


@dataclasses.dataclass
class _Done:
    """What was done so far in a recording."""

    results: list[Result] = dataclasses.field(default_factory=list)
    marks: list[int] = dataclasses.field(default_factory=list)
    space: list[Plain] = dataclasses.field(default_factory=lambda: [None, None])


class Recorder:
    """Runs sequences on the subject. open_worker: gives a fresh worker for it."""

    def __init__(
        self, subject: str, configuration: Configuration, open_worker: Callable[[], Worker]
    ) -> None:
        self._subject = subject
        self._configuration = configuration
        self._open = open_worker
        self._worker: Worker | None = None
        self._payloads: dict[bytes, bytes] = {}
        self._uses = 0
        self.most_uses = 500
        self.cpu_s = 0.0
        self.isolation = ""

    @property
    def method(self) -> str:
        """The subject's view method; empty for a filesystem, which is walked."""
        return "" if self._configuration.filesystem else self._configuration.view

    def spent(self) -> float:
        """CPU seconds of the workers so far."""
        return self.cpu_s + (self._worker.cpu_s if self._worker is not None else 0.0)

    def worker(self) -> Worker:
        """The worker in use, a new one when there is none."""
        if self._worker is None:
            self._worker = self._open()
            self._uses = 0
            self.isolation = self._worker.isolation
        return self._worker

    def close(self) -> None:
        """End the worker in use."""
        if self._worker is not None:
            self._worker.close()
            self.cpu_s += self._worker.cpu_s
            self._worker = None

    def format(self, blank: Sequence[bytes]) -> tuple[Result, tuple[bytes, ...]]:
        """The image of an empty system."""
        device = RecordingDevice(blank, self._configuration.block_size)
        outcome = self.worker().call(
            f"{HARNESS}:make",
            self._subject,
            Remote(device.handle),
            device.block_size,
            len(blank),
            timeout_s=CALL_TIMEOUT_S,
        )
        return self._result(outcome), tuple(device.blocks)

    def record(
        self,
        base: Base,
        operations: Operations,
        fault: Fault | None = None,
        watch: int | None = None,
        reads: bool = False,
    ) -> Run:
        """Mount `base` and do the operations, with an optional fault, and look at the result.

        watch: the operation around which free space is asked for; by default the last one. reads:
        whether reads go to the parent's device too, which is slower.
        """
        device = RecordingDevice(base.blocks, self._configuration.block_size, fault)
        reads = reads or (fault is not None and fault.reads)
        watch = len(operations) - 1 if watch is None else watch
        handle, mounted = self.mount(device, reads)
        done = _Done()
        for index, operation in enumerate(operations):
            if handle is None or (done.results and done.results[-1].broken):
                break
            handle = self._one(handle, device, operation, index, watch == index, reads, done)
        events, calls = (
            self._interned(device.events),
            tuple(device.reads if reads else device.changes),
        )
        blocks = tuple(device.blocks)
        results = tuple(done.results)
        ended = [r for r in (mounted, *results) if r.broken]
        live = Result(error=mounted.error or (results[-1].error if results else 0))
        if handle is not None and not ended:
            device.op = len(operations)
            live = self.view(handle)
        self._retire(bool(ended))
        return Run(
            base=base,
            operations=operations,
            mounted=mounted,
            results=results,
            events=events,
            marks=(*done.marks, len(events)),
            calls=calls,
            live=live,
            space=(done.space[0], done.space[1]),
            fault=fault,
            struck_op=device.struck,
            blocks=blocks,
            watch=watch,
        )

    def _one(
        self,
        handle: Handle,
        device: RecordingDevice,
        operation: Operation,
        index: int,
        watched: bool,
        reads: bool,
        done: _Done,
    ) -> Handle | None:
        """Do one operation; the handle afterwards, another one after an unmount."""
        if watched:
            device.op = ASIDE
            done.space[0] = self._space(handle)
        device.op = index
        done.marks.append(len(device.events))
        result = self.operate(handle, operation)
        after: Handle | None = handle
        if operation == UNMOUNT and result == Result():
            after, result = self.mount(device, reads)
        done.results.append(result)
        if watched and after is not None and not result.broken:
            device.op = ASIDE
            done.space[1] = self._space(after)
        return after

    def mount(self, device: RecordingDevice, reads: bool) -> tuple[Handle | None, Result]:
        """The subject mounted on the device, or None and why not; reads as in `record`."""
        outcome = self.worker().create(
            f"{HARNESS}:mount",
            self._subject,
            Remote(device.handle),
            device.block_size,
            len(device.blocks),
            b"" if reads else b"".join(device.blocks),
            timeout_s=CALL_TIMEOUT_S,
        )
        result = self._result(outcome)
        if result.error or result.broken:
            return None, result
        return outcome.value, Result()

    def operate(self, handle: Handle, operation: Operation) -> Result:
        """One operation of the mounted subject."""
        return self._result(
            self.worker().invoke(handle, operation[0], *operation[1:], timeout_s=CALL_TIMEOUT_S)
        )

    def view(self, handle: Handle) -> Result:
        """The view of the mounted subject."""
        return self._result(
            self.worker().call(f"{HARNESS}:view", handle, self.method, timeout_s=CALL_TIMEOUT_S)
        )

    def free_blocks(self, handle: Handle, method: str) -> int | None:
        """`free_blocks` of what the method returns, if there is such a thing."""
        found = self._space(handle)
        value = found.get("free_blocks") if isinstance(found, dict) and method else None
        return value if type(value) is int else None

    def _space(self, handle: Handle) -> Plain:
        name = self._configuration.space
        if not name:
            return None
        outcome = self.worker().call(f"{HARNESS}:space", handle, name, timeout_s=CALL_TIMEOUT_S)
        result = self._result(outcome)
        return result.text() if result.broken or result.error else result.value

    def _result(self, outcome: Outcome) -> Result:
        if outcome.kind == "returned":
            return Result(outcome.value)
        if outcome.kind == "raised" and outcome.errno is not None:
            return Result(error=outcome.errno)
        if outcome.kind == "raised":
            return Result(broken=f"{outcome.error}: {outcome.message}"[:160])
        return Result(broken=f"{outcome.kind}: {outcome.message or outcome.detail}"[:160])

    def _interned(self, events: Sequence[Event]) -> tuple[Event, ...]:
        payloads = self._payloads
        return tuple(
            dataclasses.replace(e, data=payloads.setdefault(e.data, e.data)) for e in events
        )

    def _retire(self, broken: bool) -> None:
        self._uses += 1
        if broken or self._uses >= self.most_uses:
            self.close()
