"""Launch: start a worker's supervisor and hand it its configuration.

The supervisor starts as a bare interpreter (`-S -s -P`, no site, no user's directories) with an
environment of a few fixed variables, or as a fork of one (`refute.sandbox.zygote`). `-I` would do
that too, but it also ignores PYTHONHASHSEED.
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
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, NamedTuple

from refute.errors import SandboxError
from refute.sandbox.layout import layout
from refute.sandbox.limits import Limits
from refute.sandbox.link import Codec, Excerpt, Link
from refute.sandbox.zygote import (
    INTERPRETER,
    PACKAGE,
    Forked,
    Gone,
    Spawned,
    drop,
    environment,
    zygote_of,
)

Isolation = Literal["auto", "unprivileged", "process"]
START_S = 30.0


class Order(NamedTuple):
    """What kind of worker is wanted; see `open_worker`.

    shows: directories that are seen at their own paths, read-only, besides those of the layout.
    """

    tree: Path
    files: tuple[str, ...] | None
    roots: tuple[str, ...]
    limits: Limits
    hash_seed: int
    fds: tuple[int, ...]
    command: str | None
    isolation: Isolation
    shows: tuple[str, ...] = ()


class Started(NamedTuple):
    """A running supervisor, the link to its worker, and what it said of itself."""

    supervisor: Spawned | Forked
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
            supervisor = _supervisor(their_control.fileno(), their_wire.fileno(), order)
    except OSError as error:
        wire.close()
        control.close()
        raise _not_started(order, str(error)) from error
    output = Excerpt(supervisor.output, order.limits.output)
    link = Link(wire, control, output, supervisor.output, codec)
    scratch = f"{tempfile.gettempdir()}/refute-{secrets.token_hex(8)}"
    config = {**_config(order), "why": why, "scratch": scratch}
    started = Started(supervisor, link, output, {}, (wire, control), scratch)
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
        "binds": [*shape.binds, *((path, os.path.realpath(path)) for path in order.shows)],
        "links": shape.links,
        "path": shape.path,
        "package": shape.package,
        "cpu_s": order.limits.cpu_s,
        "memory": order.limits.memory,
        "file_size": order.limits.file_size,
        "processes": order.limits.processes,
    }


def _supervisor(control: int, wire: int, order: Order) -> Spawned | Forked:
    """A new supervisor, forked where its hash seed has a zygote. Raises OSError."""
    zygote = zygote_of(order.hash_seed) if order.command is None else None
    if zygote is None:
        return _spawn(control, wire, order)
    reading, writing = os.pipe()
    try:
        pid, descriptor = zygote.fork(control, wire, writing, order.fds)
    except Gone:
        os.close(reading)
        drop(order.hash_seed)
        return _spawn(control, wire, order)
    finally:
        os.close(writing)
    return Forked(zygote, pid, descriptor, reading)


def _spawn(control: int, wire: int, order: Order) -> Spawned:
    arguments = [*INTERPRETER, str(control), str(wire), PACKAGE]
    reading, writing = os.pipe()
    try:
        process = subprocess.Popen(
            arguments,
            env=environment(order.hash_seed),
            stdin=subprocess.DEVNULL,
            stdout=writing,
            stderr=writing,
            pass_fds=[control, wire, *order.fds],
            start_new_session=True,
        )
    except BaseException:
        os.close(reading)
        raise
    finally:
        os.close(writing)
    return Spawned(process, reading)


def stop(started: Started, patience_s: float = 5.0) -> float:
    """End the supervisor and all it started; the CPU seconds all of them used.

    The supervisor ends when its control socket does, and takes the rest along. Only where a
    subject shares our uid can it have killed or stopped the supervisor; then we do what is left.
    """
    wire, control = started.ends
    wire.close()
    with contextlib.suppress(OSError):  # the supervisor may be gone already
        control.shutdown(socket.SHUT_WR)
    deadline = time.monotonic() + patience_s
    while started.link.told(deadline) is not None:
        pass
    if time.monotonic() >= deadline:
        started.supervisor.kill()
    code, seconds = started.supervisor.reap()
    if code != 0 and started.ready.get("subject"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(started.ready["subject"], signal.SIGKILL)
    if started.ready.get("tree") == started.scratch:
        shutil.rmtree(started.scratch, ignore_errors=True)
    control.close()
    os.close(started.supervisor.output)
    return seconds
