"""Processes: what /proc says of a worker's processes: their CPU seconds, their descent."""

from __future__ import annotations

import os
import signal
import time

_TICKS = os.sysconf("SC_CLK_TCK")
_FREEZE_ROUNDS = 50


def cpu_seconds(pids: list[int]) -> float:
    """CPU seconds that `pids` and their descendants have used, ended and reaped ones included."""
    ticks = 0
    seen: set[int] = set()
    todo = list(pids)
    while todo:
        pid = todo.pop()
        if pid not in seen:
            seen.add(pid)
            ticks += _ticks(pid)
            todo += children(pid)
    return ticks / _TICKS


def _ticks(pid: int) -> int:
    """User and system ticks of a process and of the children it has waited for (proc(5))."""
    fields = _read(f"/proc/{pid}/stat").rpartition(") ")[2].split()
    return sum(map(int, fields[11:15])) if len(fields) > 15 else 0


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


def kill_descendants() -> None:
    """Kill all that descends from this process, which must be their subreaper.

    They are stopped first until no new one appears, because killing one by one loses the race
    against a subject that forks.
    """
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
        while _reap_one():
            pass
        time.sleep(0.001)


def _reap_one() -> bool:
    try:
        return os.waitpid(-1, os.WNOHANG)[0] != 0
    except ChildProcessError:
        return False


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
