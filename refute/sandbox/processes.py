"""Processes: what /proc says of a worker's processes: their descent and what they use."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from typing import NamedTuple

_TICKS = os.sysconf("SC_CLK_TCK")
_FREEZE_ROUNDS = 50


class Use(NamedTuple):
    """What processes use: CPU seconds so far, and how many there are."""

    cpu_s: float
    processes: int


def use(pids: list[int]) -> Use:
    """The use of `pids` and their descendants; what has ended counts once it was reaped."""
    seen = set(pids).union(*map(descendants, pids))
    return Use(sum(map(_ticks, seen)) / _TICKS, len(seen))


def _ticks(pid: int) -> int:
    """User and system ticks of a process and of the children it has waited for (proc(5))."""
    fields = _read(f"/proc/{pid}/stat").rpartition(") ")[2].split()
    return sum(map(int, fields[11:15])) if len(fields) > 15 else 0


def waited_s(pids: list[int]) -> float:
    """Seconds that one of `pids` or their descendants was ready to run and did not; the longest.

    0 where the kernel keeps no such count (sched-stats(rst) says what the fields are).
    """
    seen = set(pids).union(*map(descendants, pids))
    return max((_waited_ns(pid) for pid in seen), default=0) / 1e9


def _waited_ns(pid: int) -> int:
    fields = _read(f"/proc/{pid}/schedstat").split()
    return int(fields[1]) if len(fields) > 1 else 0


def children(pid: int) -> list[int]:
    """The pids of the children of all threads of `pid`; empty where the kernel does not say."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return []
    texts = [_read(f"/proc/{pid}/task/{thread}/children") for thread in threads]
    return [int(word) for text in texts for word in text.split()]


def descendants(pid: int) -> set[int]:
    """The pids of all that came from `pid` and still descend from it."""
    found: set[int] = set()
    todo = children(pid)
    while todo:
        child = todo.pop()
        if child not in found:
            found.add(child)
            todo += children(child)
    return found


def kill_descendants(group: int) -> None:
    """Kill the process group, and all that descends from this process, which must adopt orphans.

    They are stopped first until no new one appears, because killing one by one loses the race
    against a subject that forks.
    """
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)
    me = os.getpid()
    known: set[int] = set()
    for _ in range(_FREEZE_ROUNDS):
        new = descendants(me) - known
        if not new:
            break
        known |= new
        _signal(new, signal.SIGSTOP)
    while left := descendants(me):
        _signal(left, signal.SIGKILL)
        reap()
        time.sleep(0.001)


def reap() -> dict[int, int]:
    """Wait for every child that has ended; their wait statuses by pid."""
    ended: dict[int, int] = {}
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended
        if pid == 0:
            return ended
        ended[pid] = status


def ending(code: int) -> str:
    """An exit code as `os.waitstatus_to_exitcode` gives it, in words."""
    if code >= 0:
        return f"exit status {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:  # real-time signals have no name
        return f"killed by signal {-code}"


def _signal(pids: set[int], number: int) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except (ProcessLookupError, PermissionError):
            continue  # it ended in between


def _read(path: str) -> str:
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
