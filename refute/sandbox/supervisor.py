"""Supervisor: makes the jail, starts the subject's process, and ends everything with it.

Without namespaces it falls back to a plain process in its own session, reaps as a subreaper what
the subject leaves behind, and says why, so that evidence can show how weak the isolation was.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import sys
from typing import Any, NoReturn

from refute.sandbox import jail, kernel
from refute.sandbox.command import execute
from refute.sandbox.inside import serve
from refute.sandbox.materialise import copy_files, remove_files
from refute.sandbox.processes import kill_descendants

INFINITY = resource.RLIM_INFINITY
STACK = 8 * 2**20
HIGHEST_FD = 2**16
NAMESPACES = "user, net, mount, pid, ipc"


def supervise(config: dict[str, Any], control: int, wire: int) -> NoReturn:
    """Start the worker that `config` describes and wait until it, or the parent, is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    kept = [wire, *config["fds"]]
    try:
        init, isolation = _isolate(config, kept)
    except (OSError, ValueError) as error:
        _tell(control, {"error": str(error)})
        os._exit(1)
    wakeup = _watch_children()
    worker = os.fork()
    if worker == 0:
        _become_worker(config, wire, jailed=init is not None)
    os.close(wire)
    _tell(control, {"isolation": isolation, "worker": worker, "init": init, "tree": config["tree"]})
    status = _wait(control, wakeup, worker)
    _end(init, worker, config)
    if status is not None:
        _tell(control, {"exit": os.waitstatus_to_exitcode(status)})
    os._exit(0)


def _isolate(config: dict[str, Any], kept: list[int]) -> tuple[int | None, str]:
    """Enter a jail, or fall back; the init's pid, and the isolation in words."""
    why = "not asked for"
    if config["isolation"] != "process":
        if config["isolation"] == "unprivileged" and os.geteuid() == 0:
            _drop_root()
        try:
            return _jail(config)
        except OSError as error:
            why = str(error)
            if config["isolation"] != "auto":
                raise
    return None, _fall_back(config, why)


def _drop_root() -> None:
    """Become an ordinary user, to try on a machine of root's what others meet."""
    os.setgroups([])
    os.setresgid(jail.NOBODY, jail.NOBODY, jail.NOBODY)
    os.setresuid(jail.NOBODY, jail.NOBODY, jail.NOBODY)
    kernel.prctl(kernel.PR_SET_DUMPABLE, 1)


def _jail(config: dict[str, Any]) -> tuple[int, str]:
    jail.enter_namespaces()
    jail.build_root(config)
    reading, writing = os.pipe()
    init = os.fork()
    if init == 0:
        _become_init(config, writing)
    os.close(writing)
    answer = os.read(reading, 1000).decode()
    os.close(reading)
    if answer not in ("proc", "no proc"):
        raise OSError(f"the root could not be finished: {answer}")
    config["tree"] = jail.TREE
    missing = "" if answer == "proc" else " (without /proc)"
    return init, f"namespaces: {NAMESPACES}{missing}"


def _become_init(config: dict[str, Any], answer: int) -> NoReturn:
    """Be the first process of the pid namespace: reap orphans, and take all along when killed."""
    try:
        kernel.prctl(kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
        has_proc = jail.finish_root(config)
        kernel.drop_capabilities()
        kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
        os.write(answer, b"proc" if has_proc else b"no proc")
    except OSError as error:
        os.write(answer, str(error).encode())
        os._exit(1)
    os.closerange(0, HIGHEST_FD)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    while True:
        signal.sigwait({signal.SIGCHLD})
        _reap()


def _reap() -> dict[int, int]:
    """Wait for every child that has ended; their statuses by pid."""
    ended: dict[int, int] = {}
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended
        if pid == 0:
            return ended
        ended[pid] = status


def _fall_back(config: dict[str, Any], why: str) -> str:
    if sys.platform == "linux":
        kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    if config["files"] is not None:
        copy = config["scratch"]
        os.mkdir(copy, 0o700)
        copy_files(config["tree"], config["files"], copy)
        config["tree"] = copy
    return f"process only (no namespaces: {why}; files outside the closure are visible)"


def _watch_children() -> int:
    """A descriptor that becomes readable when a child ends."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    return reading


def _become_worker(config: dict[str, Any], wire: int, jailed: bool) -> NoReturn:
    """The subject's process, from its fork to its end."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.setsid()
    if jailed:
        jail.become_nobody()
    elif sys.platform == "linux":
        kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    _limit(config, jailed)
    _close_others({0, 1, 2, wire, *config["fds"]})
    os.chdir(config["tree"])
    if config["command"]:
        execute(config["command"], config["tree"], wire)
    roots = [os.path.normpath(os.path.join(config["tree"], root)) for root in config["roots"]]
    sys.path[:] = [*roots, *config["path"]]
    sys.argv[:] = ["worker"]
    sys.dont_write_bytecode = True
    serve(wire, roots, config["tree"])
    os._exit(0)


def _limit(config: dict[str, Any], jailed: bool) -> None:
    cpu = max(1, int(config["cpu_s"] + 0.999))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (config["file_size"],) * 2)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
    if jailed:  # elsewhere the limit would count all processes of this user
        extra = 0 if config["root"] else 2  # supervisor and init share the namespace
        resource.setrlimit(resource.RLIMIT_NPROC, (config["processes"] + extra,) * 2)
    hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
    resource.setrlimit(resource.RLIMIT_STACK, (STACK if hard == INFINITY else hard, hard))
    resource.setrlimit(resource.RLIMIT_AS, (config["memory"],) * 2)


def _close_others(kept: set[int]) -> None:
    low = 0
    for fd in [*sorted(kept), HIGHEST_FD]:
        if low < fd:  # an empty range closes every descriptor in some versions
            os.closerange(low, fd)
        low = fd + 1


def _wait(control: int, wakeup: int, worker: int) -> int | None:
    """The worker's wait status, or None when the parent closed its end first."""
    poll = select.poll()
    poll.register(control, select.POLLIN)
    poll.register(wakeup, select.POLLIN)
    while True:
        for fd, _ in poll.poll():
            if fd == control:
                return None
            os.read(wakeup, 4096)
            ended = _reap()
            if worker in ended:
                return ended[worker]


def _end(init: int | None, worker: int, config: dict[str, Any]) -> None:
    """Kill all that is left of the worker, wait for it, and remove its copy of the tree."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if init is not None:
        os.kill(init, signal.SIGKILL)
    else:
        kill_descendants()
    while True:
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            break
    if config["tree"] == config["scratch"]:
        remove_files(config["scratch"])


def _tell(control: int, message: dict[str, Any]) -> None:
    try:
        os.write(control, json.dumps(message).encode() + b"\n")
    except OSError:
        os._exit(0)  # the parent is gone, and with it whoever wanted to know
