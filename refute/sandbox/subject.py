"""Subject: the process in which the tree's code runs, from its fork until it takes requests."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import sys
from typing import Any, NoReturn

from refute.sandbox import fallback, jail
from refute.sandbox.command import execute
from refute.sandbox.inside import serve

HIGHEST_FD = 2**16
STACK = 8 * 2**20
OPEN_FILES = 256
# From this version RLIMIT_NPROC counts per user namespace; before, per user of the whole machine,
# where other workers would use up this one's share.
COUNTS_BY_NAMESPACE = (5, 14)


def become_subject(
    config: dict[str, Any], wire: int, answer: int, privileged: bool | None
) -> NoReturn:
    """Set this process up and serve; tells `answer` how isolated it is, or "!" and the trouble.

    privileged: how the jail was entered, None when there is none.
    """
    try:
        os.setsid()
        if privileged is None:
            isolation, counted = fallback.settle(config), False
        else:
            counted = jail.settle(privileged)
            isolation = "user, net, mount, pid, ipc" if counted else "net, mount, pid, ipc"
        _limit(config, counted, shared=privileged is False)
        os.chdir(config["tree"])
    except OSError as error:
        os.write(answer, f"!{error}".encode())
        os._exit(1)
    _volunteer()
    os.write(answer, isolation.encode())
    os.umask(0o022)
    os.environ.pop("LD_LIBRARY_PATH", None)
    close_others({0, 1, 2, wire, *config["fds"]})
    if config["command"] is not None:
        execute(config["command"], config["tree"], wire)
    roots = [os.path.normpath(f"{config['tree']}/{root}") for root in config["roots"]]
    sys.path[:] = [*roots, *config["path"]]
    sys.argv[:] = ["worker"]
    sys.dont_write_bytecode = True
    signal.signal(signal.SIGINT, signal.default_int_handler)
    serve(wire, config["tree"])


def _volunteer() -> None:
    """When the machine runs out of memory, let it be this process that is killed."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "wb") as file:
        file.write(b"1000")


def _limit(config: dict[str, Any], counted: bool, shared: bool) -> None:
    """Set the limits. shared: supervisor and init are in the same user namespace."""
    # The parent keeps the limit exactly. This one is for when the parent is gone or busy: it
    # counts in sampled ticks, which on a loaded machine run up to a third too fast.
    cpu = 2 * int(config["cpu_s"]) + 2
    hard_stack = resource.getrlimit(resource.RLIMIT_STACK)[1]
    stack = STACK if hard_stack == resource.RLIM_INFINITY else min(STACK, hard_stack)
    # Runtimes of other languages reserve far more addresses than they use.
    memory = resource.RLIMIT_AS if config["command"] is None else resource.RLIMIT_DATA
    limits = {
        resource.RLIMIT_CPU: (cpu, cpu + 1),
        resource.RLIMIT_CORE: (0, 0),
        resource.RLIMIT_FSIZE: (config["file_size"],) * 2,
        resource.RLIMIT_NOFILE: (OPEN_FILES,) * 2,
        resource.RLIMIT_STACK: (stack, hard_stack),
        memory: (config["memory"],) * 2,
    }
    if counted and _kernel_version() >= COUNTS_BY_NAMESPACE:
        limits[resource.RLIMIT_NPROC] = (config["processes"] + (2 if shared else 0),) * 2
    for limit, values in limits.items():
        resource.setrlimit(limit, values)


def _kernel_version() -> tuple[int, ...]:
    major, minor = os.uname().release.split(".")[:2]
    return int(major), int("".join(c for c in minor if c.isdigit()) or 0)


def close_others(kept: set[int]) -> None:
    """Close every descriptor but those `kept`."""
    low = 0
    for fd in [*sorted(kept), HIGHEST_FD]:
        if low < fd:  # an empty range closes every descriptor in some versions of Python
            os.closerange(low, fd)
        low = fd + 1
