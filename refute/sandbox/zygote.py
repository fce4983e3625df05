"""Zygotes: interpreters that have loaded refute's own modules, and fork workers when asked.

Most of a worker's start is Python reading what every worker needs. A zygote reads it once, before
any code of a tree is near, and each worker is a fork of it that goes on as `bootstrap` does: it
becomes a supervisor, makes its own jail, and shares nothing with other workers but pages that none
of them can write to. A hash seed is fixed when an interpreter starts, so there is a zygote for each
one wanted; workers of other seeds, and commands, are spawned as ever. So is everything where a
process never calls `prepare`, or its zygote is gone.

Forks of one zygote have the same layout of addresses. What depends on those shows up as a
difference between hash seeds, under which every witness is replayed.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

_BOOTSTRAP = str(Path(__file__).with_name("bootstrap.py"))
PACKAGE = str(Path(__file__).parent.parent)
ANSWER_S = 30.0
INTERPRETER = (sys.executable, "-S", "-s", "-P", _BOOTSTRAP)
_LARGEST = 2**16


class Spawned:
    """A supervisor that is a child of this process. output: what its worker prints."""

    def __init__(self, process: subprocess.Popen[bytes], output: int) -> None:
        self._process = process
        self.output = output

    def kill(self) -> None:
        """Kill it, from any thread."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()

    def reap(self) -> tuple[int, float]:
        """Wait for it; its exit code, and the CPU seconds of it and all it waited for."""
        try:
            _, status, usage = os.wait4(self._process.pid, 0)
        except ChildProcessError:  # the embedding program reaps every child itself
            self._process.returncode = 0
            return 0, 0.0
        self._process.returncode = os.waitstatus_to_exitcode(status)
        return self._process.returncode, usage.ru_utime + usage.ru_stime


class Forked:
    """A supervisor that is a child of a zygote, held by a descriptor so that its pid is no other's.

    output: what its worker prints.
    """

    def __init__(self, zygote: Zygote, pid: int, descriptor: int, output: int) -> None:
        self._zygote = zygote
        self._pid = pid
        self._descriptor = descriptor
        self.output = output

    def kill(self) -> None:
        """Kill it, from any thread."""
        with contextlib.suppress(OSError):
            signal.pidfd_send_signal(self._descriptor, signal.SIGKILL)

    def reap(self) -> tuple[int, float]:
        """Wait for it; its exit code, and the CPU seconds of it and all it waited for."""
        poll = select.poll()
        poll.register(self._descriptor, select.POLLIN)
        poll.poll()
        os.close(self._descriptor)
        self._descriptor = -1
        return self._zygote.reaped(self._pid)


class Gone(Exception):
    """The zygote does not answer any more."""


class Zygote:
    """One zygote, as this process holds it; may be used from several threads."""

    def __init__(self, hash_seed: int) -> None:
        self._lock = threading.Lock()
        self._asked = 0
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.settimeout(ANSWER_S)
        with theirs:
            self._process = subprocess.Popen(
                [*INTERPRETER, "zygote", str(theirs.fileno()), PACKAGE],
                env=environment(hash_seed),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )

    def preload(self, first: Sequence[str], later: Sequence[str]) -> None:
        """Have it import these modules of refute; does not wait for that. Raises Gone.

        first: before it forks. later: while it has nothing else to do.
        """
        with self._lock:
            self._send("preload", {"first": list(first), "later": list(later)})

    def fork(self, control: int, wire: int, output: int, fds: Sequence[int]) -> tuple[int, int]:
        """The pid of a new supervisor, and a descriptor of it; see `launch`. Raises Gone."""
        with self._lock:
            self._send("fork", list(fds), [control, wire, output, *fds])
            answer, received = self._receive()
        if not received:
            raise Gone
        return int(answer["pid"]), received[0]

    def reaped(self, pid: int) -> tuple[int, float]:
        """The exit code of a supervisor that has ended, and its CPU seconds."""
        try:
            with self._lock:
                self._send("reap", pid)
                answer, _ = self._receive()
        except Gone:
            return 0, 0.0
        return int(answer["code"]), float(answer["cpu_s"])

    def close(self) -> None:
        """End it, whatever it is loading; workers that it forked go on."""
        self._socket.close()
        self._process.kill()
        self._process.wait()

    def forget(self) -> None:
        """Let go of it in a process that was forked from its owner."""
        self._socket.close()
        self._process.returncode = 0

    def _send(self, what: str, about: object, fds: Sequence[int] = ()) -> None:
        self._asked += 1
        data = json.dumps({"number": self._asked, "what": what, "about": about})
        try:
            socket.send_fds(self._socket, [data.encode("ascii")], list(fds))
        except OSError as error:
            raise Gone from error

    def _receive(self) -> tuple[dict[str, float], list[int]]:
        """The answer to the last request; one that nobody waited for, after an interrupt, is left.

        Its supervisor ends by itself, as the other end of its control socket is closed.
        """
        while True:
            try:
                data, fds, _, _ = socket.recv_fds(self._socket, _LARGEST, 1)
            except OSError as error:
                raise Gone from error
            if not data:
                raise Gone
            answer: dict[str, float] = json.loads(data)
            if answer["number"] == self._asked:
                return answer, fds
            for number in fds:
                os.close(number)


_zygotes: dict[int, Zygote] = {}
_first: list[str] = []
_later: list[str] = []


def prepare(
    first: Sequence[str] = (), hash_seeds: Sequence[int] = (0,), later: Sequence[str] = ()
) -> None:
    """From now on, fork this process's workers of these hash seeds.

    first: modules of refute that the first worker will want; later: others. Returns before they
    are loaded.
    """
    if not hasattr(signal, "pidfd_send_signal") or not hasattr(os, "pidfd_open"):
        return  # neither Linux 5.3 nor later
    _first.extend(first)
    _later.extend(later)
    for seed in hash_seeds:
        if seed not in _zygotes:
            with contextlib.suppress(OSError, Gone):
                _zygotes[seed] = Zygote(seed)
                _zygotes[seed].preload(_first, _later)


def prepare_also(hash_seed: int) -> None:
    """As `prepare`, with the same modules, in a process that prepared another hash seed."""
    if _zygotes:
        prepare((), (hash_seed,))


def zygote_of(hash_seed: int) -> Zygote | None:
    """The zygote for workers with this hash seed, if one was prepared."""
    return _zygotes.get(hash_seed)


def drop(hash_seed: int) -> None:
    """Spawn workers of this hash seed from now on; its zygote does not answer."""
    gone = _zygotes.pop(hash_seed, None)
    if gone is not None:
        gone.close()


def environment(hash_seed: int) -> dict[str, str]:
    """The environment of workers: a few fixed variables, nothing of this process's own."""
    # Some interpreters find their own library only through this; the subject does not get it.
    loader = {k: v for k, v in os.environ.items() if k == "LD_LIBRARY_PATH"}
    return {
        **loader,
        "HOME": "/tmp",
        "LC_ALL": "C.UTF-8",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "PATH": f"{Path(os.path.realpath(sys.executable)).parent}:/usr/local/bin:/usr/bin:/bin",
        "PYTHONHASHSEED": str(hash_seed),
        "TZ": "UTC",
    }


def release() -> None:
    """Close all zygotes: workers are spawned again."""
    while _zygotes:
        _zygotes.popitem()[1].close()


def _forget() -> None:
    while _zygotes:
        _zygotes.popitem()[1].forget()


atexit.register(release)
os.register_at_fork(after_in_child=_forget)
