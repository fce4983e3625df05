"""Worker: a process in which code of a judged tree may run, as the parent holds it.

The parent makes the pipes, keeps the clock, counts, and decides; the worker only computes. Nothing
that comes back is executed or unpickled, and each answer must carry the nonce of the question that
was asked last. A worker that does not answer, or answers anything else, is killed with everything
it started, and that is an outcome like any other.
"""

from __future__ import annotations

import contextlib
import itertools
import time
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from refute.errors import SandboxError
from refute.plain import Plain
from refute.sandbox.dialect import Asked, CommandDialect, Dialect, PythonDialect, Question
from refute.sandbox.launch import Isolation, Order, Started, launch, stop
from refute.sandbox.limits import Limits
from refute.sandbox.link import Ended
from refute.sandbox.outcome import Handle, Outcome, Remote
from refute.sandbox.processes import use, waited_s
from refute.sandbox.wire import WireError

_numbers = itertools.count(1)
_open: weakref.WeakSet[Worker] = weakref.WeakSet()
_stopping = False
_INTERRUPTED = "the worker was not needed any more: the run ended"


@contextlib.contextmanager
def stopped_workers() -> Iterator[None]:
    """Kill all workers of this process, and refuse new ones until the context ends.

    For when other threads wait for workers whose answers nobody needs: their calls raise.
    """
    global _stopping
    _stopping = True
    try:
        for worker in list(_open):
            worker.kill()
        yield
    finally:
        _stopping = False


def open_worker(
    tree: Path,
    files: Iterable[str] | None,
    roots: Sequence[str],
    limits: Limits,
    *,
    hash_seed: int = 0,
    fds: Sequence[int] = (),
    command: str | None = None,
    isolation: Isolation = "auto",
) -> Worker:
    """Start a worker for the code in `tree`. Raises SandboxError.

    files: paths relative to `tree` which alone exist in the worker (under /tree, read-only); None
    for the whole tree. roots: import roots relative to the tree, searched before anything
    installed. fds: descriptors it inherits at the same numbers; harness code gets the number as an
    ordinary argument. command: a program that speaks JSON lines, see `refute.sandbox.command`.
    isolation: "auto" takes what the kernel allows and `Worker.isolation` says what that was; the
    other values are for tests.
    """
    if _stopping:
        raise SandboxError(_INTERRUPTED, thing="worker")
    dialect: Dialect = PythonDialect() if command is None else CommandDialect()
    order = Order(
        tree=tree,
        files=None if files is None else tuple(sorted(set(files))),
        roots=tuple(roots),
        limits=limits,
        hash_seed=hash_seed,
        fds=tuple(fds),
        command=command,
        isolation=isolation,
    )
    started = launch(order, dialect.new_codec)
    return Worker(started, dialect, limits)


class Worker:
    """A running worker; a context manager that kills it, and all it started, at the end."""

    def __init__(self, started: Started, dialect: Dialect, limits: Limits) -> None:
        self.isolation: str = started.ready["isolation"]
        self._number = next(_numbers)
        self._started = started
        self._dialect = dialect
        self._limits = limits
        self._remotes: list[Remote] = []
        self._pids = [p for p in (started.ready["subject"], started.ready["init"]) if p]
        self._cpu_s = 0.0
        self._waited = [0.0, 0.0]  # for a CPU: before this call, and so far
        self._end: Outcome | None = None
        self._closed = False
        self._asking = False
        self._killed = False
        _open.add(self)
        if _stopping:
            self.kill()

    def call(
        self,
        target: str,
        *args: Any,
        timeout_s: float | None = None,
        kwargs: Mapping[str, Any] | None = None,
        fresh: bool = False,
    ) -> Outcome:
        """Call `target`, "module:qualname" (or a command's own name for it), with copies of `args`.

        Modules of `refute` are the harness's own; all others come from the tree first. Arguments
        are plain data, a `Handle` or a `Remote`. timeout_s: wall seconds, by default the limit's.
        fresh: the call runs in a forked child of the worker, so that nothing it changes in memory
        remains for later calls; the target's module is imported before the fork.
        """
        return self._ask(Question("call", target, args, kwargs or {}, fresh=fresh), timeout_s)

    def create(self, target: str, *args: Any, timeout_s: float | None = None) -> Outcome:
        """As `call`, but the result stays in the worker and the value is a `Handle` to it."""
        return self._ask(Question("create", target, args, {}), timeout_s)

    def invoke(
        self, handle: Handle, method: str, *args: Any, timeout_s: float | None = None
    ) -> Outcome:
        """Call a method of an object that lives in the worker."""
        return self._ask(Question("invoke", method, args, {}, on=handle), timeout_s)

    @property
    def alive(self) -> bool:
        """Whether the worker can still answer."""
        return self._end is None and not self._closed

    @property
    def cpu_s(self) -> float:
        """CPU seconds that the worker and all it started have used, as the kernel counted them."""
        if not self._closed:
            self._cpu_s = max(self._cpu_s, use(self._pids).cpu_s)
        return self._cpu_s

    def close(self) -> None:
        """Kill the worker and everything it started."""
        if not self._closed:
            self._closed = True
            self._cpu_s = max(self._cpu_s, stop(self._started))

    def kill(self) -> None:
        """Kill the supervisor, and so all of the worker, from any thread; `close` is still due.

        A call that waits for it raises SandboxError: its end is not the subject's doing.
        """
        self._killed = True
        self._started.supervisor.kill()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _ask(self, question: Question, timeout_s: float | None) -> Outcome:
        if self._killed:
            raise SandboxError(_INTERRUPTED, thing="worker")
        if self._end is not None:
            return self._end
        self._check_free()
        deadline = time.monotonic() + (self._limits.wall_s if timeout_s is None else timeout_s)
        self._waited = [self._wait_s()] * 2
        data = self._write(question)
        self._asking = True
        try:
            outcome = self._converse(data, deadline)
        except Ended as ended:
            outcome = self._bury(ended)
            if self._killed:
                raise SandboxError(_INTERRUPTED, thing="worker") from None
        except BaseException:
            self.close()
            raise
        finally:
            self._asking = False
        return outcome

    def _write(self, question: Question) -> bytes:
        try:
            return self._dialect.write(question, self._remotes, self._number)
        except WireError as error:
            raise SandboxError(
                f"the arguments are too large for one call: {error}",
                thing="arguments",
                value=question.target,
                next_step="pass less at a time, or a file descriptor (`fds`)",
            ) from error

    def _check_free(self) -> None:
        if self._closed or self._asking:
            raise SandboxError(
                "the worker is closed" if self._closed else "the worker is answering already",
                thing="worker",
                next_step="open another worker",
            )

    def _converse(self, data: bytes, deadline: float) -> Outcome:
        link = self._started.link
        link.check_silence()
        while True:
            message = link.exchange(data, deadline, self._check_use)
            said = self._dialect.read(message, self._number)
            if type(said) is Outcome:
                self._started.output.drain()
                return _with_output(said, self._started.output.take())
            assert type(said) is Asked
            data = self._serve(said)

    def _serve(self, asked: Asked) -> bytes:
        """Have the handler answer what a remote object was asked in the worker."""
        if not 0 <= asked.number < len(self._remotes):
            raise Ended("protocol", "a remote object that was never passed")
        try:
            value = self._remotes[asked.number].handler(asked.method, asked.args)
            return self._dialect.write_answer(value)
        except Exception as error:  # it belongs to whoever called, and is raised there
            return self._dialect.write_answer(error=error)

    def _wait_s(self) -> float:
        return waited_s(self._pids) if self._limits.starved_s else 0.0

    def _check_use(self) -> float:
        """The seconds of this call in which others had the CPU, as far as they are made up for.

        Raises Ended when the worker has used more than it may.
        """
        cpu_s, processes = use(self._pids)
        self._cpu_s = max(self._cpu_s, cpu_s)
        if cpu_s > self._limits.cpu_s:
            raise Ended("timeout", f"{cpu_s:.1f} CPU seconds used")
        if processes - len(self._pids) >= self._limits.processes:
            raise Ended("died", f"killed for having {processes} processes at once")
        self._waited[1] = max(self._waited[1], self._wait_s())
        return min(self._limits.starved_s, self._waited[1] - self._waited[0])

    def _bury(self, ended: Ended) -> Outcome:
        """Kill what is left and remember how it ended, for whoever calls again."""
        kind, detail = ended.kind, ended.detail
        self.close()
        if kind == "died" and detail.endswith("SIGXCPU"):
            kind, detail = "timeout", f"{self._cpu_s:.1f} CPU seconds used; {detail}"
        text = self._started.output.take()
        waited = self._waited[1] - self._waited[0]
        starved = kind == "timeout" and waited > self._limits.starved_s > 0
        self._end = Outcome(kind, detail=detail, stdout=text, starved=starved)
        return self._end


def _with_output(outcome: Outcome, text: str) -> Outcome:
    if not text:
        return outcome
    fields: dict[str, Plain] = {**outcome.__dict__, "stdout": text}
    return Outcome(**fields)
