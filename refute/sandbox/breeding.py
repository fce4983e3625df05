"""Breeding: the loop of a zygote, which forks supervisors and never runs code of a tree.

Requests come as JSON on a socket that keeps their boundaries, with the descriptors that a new
supervisor is to have. Between them it loads what later workers will want. The loop ends when its
owner closes the other end.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import importlib
import json
import os
import select
import signal
import socket
from collections.abc import Sequence
from typing import Any

_LARGEST = 2**20
_MOST_FDS = 250
_HIGH = 300  # descriptors that came are moved from here up, out of the way of those wanted


def breed(fd: int) -> tuple[int, int]:
    """Serve requests; returns in every fork, with its control and wire descriptors."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()  # what is loaded stays; a fork collects again
    owner = socket.socket(fileno=fd)
    later: list[str] = []
    while True:
        if later and not select.select([owner], [], [], 0)[0]:
            _load(later.pop(0))
            continue
        data, fds, _, _ = socket.recv_fds(owner, _LARGEST, _MOST_FDS)
        if not data:
            os._exit(0)
        request = json.loads(data)
        about = request["about"]
        if request["what"] == "preload":
            for name in about["first"]:
                _load(name)
            later += about["later"]
        elif request["what"] == "reap":
            _answer(owner, request, _reaped(about))
        else:
            gc.freeze()  # a collection in a fork then leaves these pages shared
            pid = os.fork()
            if pid == 0:
                gc.enable()
                owner.close()
                return _adopt(fds, about)
            descriptor = os.pidfd_open(pid)
            _answer(owner, request, {"pid": pid}, [descriptor])
            for number in (*fds, descriptor):
                os.close(number)


def _answer(
    owner: socket.socket, request: dict[str, Any], answer: dict[str, Any], fds: Sequence[int] = ()
) -> None:
    data = json.dumps({"number": request["number"], **answer})
    with contextlib.suppress(OSError):  # the owner is gone; the next request says so
        socket.send_fds(owner, [data.encode("ascii")], list(fds))


def _load(name: str) -> None:
    with contextlib.suppress(Exception):  # the worker that needs it says what is wrong
        importlib.import_module(name)


def _reaped(pid: int) -> dict[str, Any]:
    _, status, usage = os.wait4(pid, 0)
    used = usage.ru_utime + usage.ru_stime
    return {"code": os.waitstatus_to_exitcode(status), "cpu_s": used}


def _adopt(fds: Sequence[int], numbers: Sequence[int]) -> tuple[int, int]:
    """Be a process like one that was spawned: a session, standard streams, inherited numbers."""
    os.setsid()
    high = [fcntl.fcntl(fd, fcntl.F_DUPFD, _HIGH) for fd in fds]
    for fd in fds:
        os.close(fd)
    control, wire, output, *extra = high
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(output)
    for fd, number in zip(extra, numbers, strict=True):
        os.dup2(fd, number)
        os.close(fd)
    return control, wire
