"""Launch: start a worker's supervisor and hand it its configuration.

The supervisor starts as a bare interpreter (`-S -s -P`, no site, no user's directories) with an
environment of a few fixed variables. `-I` would do that too, but it also ignores PYTHONHASHSEED.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, NamedTuple

from refute.errors import SandboxError
from refute.sandbox.layout import layout
from refute.sandbox.limits import Limits
from refute.sandbox.link import Codec, Excerpt, Link

Isolation = Literal["auto", "unprivileged", "process"]
START_S = 30.0
_BOOTSTRAP = str(Path(__file__).with_name("bootstrap.py"))


class Order(NamedTuple):
    """What kind of worker is wanted; see `open_worker`."""

    tree: Path
    files: tuple[str, ...] | None
    roots: tuple[str, ...]
    limits: Limits
    hash_seed: int
    fds: tuple[int, ...]
    command: str | None
    isolation: Isolation


class Started(NamedTuple):
    """A running supervisor: its process, the link to its worker, and what it said of itself."""

    process: subprocess.Popen[bytes]
    link: Link
    output: Excerpt
    ready: dict[str, Any]
    ends: tuple[socket.socket, socket.socket]
    scratch: str


def launch(order: Order, new_codec: Callable[[], Codec]) -> Started:
    """Start a worker and wait until it is ready. Raises SandboxError.

    Where the kernel refuses namespaces, a second start does without them and says why.
    """
    started = _start(order, new_codec(), "not asked for")
    if "refused" in started.ready and order.isolation == "auto":
        stop(started)
        plain = order._replace(isolation="process")
        started = _start(plain, new_codec(), started.ready["refused"])
    if "subject" in started.ready:
        return started
    started.output.drain()
    why = started.ready.get("refused") or started.ready.get("error") or started.output.take()
    stop(started)
    raise _not_started(order, why)


def _not_started(order: Order, why: str) -> SandboxError:
    return SandboxError(
        f"a worker could not be started: {why.strip() or 'it did not answer'}",
        thing="worker",
        value=str(order.tree),
        next_step="run `refute doctor` to see what isolation this machine allows",
    )


def _start(order: Order, codec: Codec, why: str) -> Started:
    control, their_control = socket.socketpair()
    wire, their_wire = socket.socketpair()
    try:
        with their_control, their_wire:
            process = _spawn(their_control.fileno(), their_wire.fileno(), order)
    except OSError as error:
        wire.close()
        control.close()
        raise _not_started(order, str(error)) from error
    assert process.stdout is not None
    output = Excerpt(process.stdout.fileno(), order.limits.output)
    link = Link(wire, control, output, process.stdout.fileno(), codec)
    scratch = f"{tempfile.gettempdir()}/refute-{secrets.token_hex(8)}"
    config = {**_config(order), "why": why, "scratch": scratch}
    started = Started(process, link, output, {}, (wire, control), scratch)
    try:
        ready = _introduce(started, config)
    except BaseException:  # an interrupt, above all
        stop(started)
        raise
    return started._replace(ready=ready)


def _introduce(started: Started, config: dict[str, Any]) -> dict[str, Any]:
    """Send the configuration; what the supervisor says to it, nothing when it is gone."""
    _, control = started.ends
    with contextlib.suppress(OSError):  # it may be gone already; what it printed says why
        control.setblocking(True)
        control.sendall(json.dumps(config).encode("ascii") + b"\n")
        control.setblocking(False)
    return started.link.told(time.monotonic() + START_S) or {}


def _config(order: Order) -> dict[str, Any]:
    shape = layout(order.command is not None)
    return {
        "tree": os.path.realpath(order.tree),
        "files": order.files,
        "roots": order.roots,
        "fds": order.fds,
        "command": order.command,
        "isolation": order.isolation,
        "binds": shape.binds,
        "links": shape.links,
        "path": shape.path,
        "package": shape.package,
        "cpu_s": order.limits.cpu_s,
        "memory": order.limits.memory,
        "file_size": order.limits.file_size,
        "processes": order.limits.processes,
    }


def _spawn(control: int, wire: int, order: Order) -> subprocess.Popen[bytes]:
    package = layout(False).package
    arguments = [sys.executable, "-S", "-s", "-P", _BOOTSTRAP, str(control), str(wire)]
    return subprocess.Popen(
        [*arguments, package],
        env=_environment(order.hash_seed),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        pass_fds=[control, wire, *order.fds],
        start_new_session=True,
        bufsize=0,
    )


def _environment(hash_seed: int) -> dict[str, str]:
    # Some interpreters find their own library only through this; the subject does not get it.
    loader = {k: v for k, v in os.environ.items() if k == "LD_LIBRARY_PATH"}
    return {
        **loader,
        "HOME": "/tmp",
        "LC_ALL": "C.UTF-8",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "PATH": layout(True).programs,
        "PYTHONHASHSEED": str(hash_seed),
        "TZ": "UTC",
    }


def stop(started: Started, patience_s: float = 5.0) -> float:
    """End the supervisor and all it started; the CPU seconds all of them used.

    The supervisor ends when its control socket does, and takes the rest along. Only where a
    subject shares our uid can it have killed or stopped the supervisor; then we do what is left.
    """
    process = started.process
    wire, control = started.ends
    wire.close()
    with contextlib.suppress(OSError):  # the supervisor may be gone already
        control.shutdown(socket.SHUT_WR)
    deadline = time.monotonic() + patience_s
    while started.link.told(deadline) is not None:
        pass
    if time.monotonic() >= deadline:
        process.kill()
    seconds = _wait(process)
    if process.returncode != 0 and started.ready.get("subject"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(started.ready["subject"], signal.SIGKILL)
    if started.ready.get("tree") == started.scratch:
        shutil.rmtree(started.scratch, ignore_errors=True)
    control.close()
    if process.stdout is not None:
        process.stdout.close()
    return seconds


def _wait(process: subprocess.Popen[bytes]) -> float:
    """Reap the supervisor; the CPU seconds of it and all it waited for."""
    try:
        _, status, usage = os.wait4(process.pid, 0)
    except ChildProcessError:  # the embedding program reaps every child itself
        process.returncode = 0
        return 0.0
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime
