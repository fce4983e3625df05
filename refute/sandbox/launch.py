"""Launch: start a worker's supervisor and hand it its configuration.

The supervisor starts as a bare interpreter (`-S -s -P`, no site, no user's directories) with an
environment of a few fixed variables. `-I` would do that too, but it also ignores PYTHONHASHSEED.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from refute.errors import SandboxError
from refute.sandbox.layout import layout
from refute.sandbox.limits import Limits
from refute.sandbox.link import Codec, Excerpt, Link

Isolation = Literal["auto", "unprivileged", "process"]
START_S = 30.0
_BOOTSTRAP = str(Path(__file__).with_name("bootstrap.py"))


class Started(NamedTuple):
    """A running supervisor: its process, the link to its worker, and what it said of itself."""

    process: subprocess.Popen[bytes]
    link: Link
    output: Excerpt
    ready: dict[str, Any]
    ends: tuple[socket.socket, socket.socket]


def launch(
    tree: Path,
    files: Iterable[str] | None,
    roots: Sequence[str],
    limits: Limits,
    codec: Codec,
    *,
    hash_seed: int,
    fds: Sequence[int],
    command: str | None,
    isolation: Isolation,
) -> Started:
    """Start a worker and wait until it is ready. Raises SandboxError."""
    shape = layout(command is not None)
    config = {
        "tree": os.path.realpath(tree),
        "scratch": f"{tempfile.gettempdir()}/refute-{secrets.token_hex(8)}",
        "files": None if files is None else sorted(set(files)),
        "roots": list(roots),
        "fds": list(fds),
        "command": command,
        "isolation": isolation,
        "root": os.geteuid() == 0 and isolation != "unprivileged",
        "binds": shape.binds,
        "links": shape.links,
        "path": shape.path,
        "cpu_s": limits.cpu_s,
        "memory": limits.memory,
        "file_size": limits.file_size,
        "processes": limits.processes,
    }
    control, their_control = socket.socketpair()
    wire, their_wire = socket.socketpair()
    with their_control, their_wire:
        process = _spawn(their_control.fileno(), their_wire.fileno(), fds, hash_seed)
    assert process.stdout is not None
    output = Excerpt(process.stdout.fileno(), limits.output)
    link = Link(wire, control, output, process.stdout.fileno(), codec)
    started = Started(process, link, output, {}, (wire, control))
    with contextlib.suppress(OSError):  # it may be gone already; what it printed says why
        control.setblocking(True)
        control.sendall(json.dumps(config).encode("ascii") + b"\n")
        control.setblocking(False)
    ready = link.told(time.monotonic() + START_S)
    if ready is None or "error" in ready:
        output.drain()
        why = output.take() if ready is None else ready["error"]
        stop(started)
        raise SandboxError(
            f"a worker could not be started: {why.strip() or 'it did not answer'}",
            thing="worker",
            value=str(tree),
            next_step="run `refute doctor` to see what isolation this machine allows",
        )
    return started._replace(ready=ready)


def _spawn(control: int, wire: int, fds: Sequence[int], seed: int) -> subprocess.Popen[bytes]:
    package = layout(False).package
    arguments = [sys.executable, "-S", "-s", "-P", _BOOTSTRAP, str(control), str(wire)]
    return subprocess.Popen(
        [*arguments, package],
        env=_environment(seed),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        pass_fds=[control, wire, *fds],
        start_new_session=True,
        bufsize=0,
    )


def _environment(hash_seed: int) -> dict[str, str]:
    return {
        "HOME": "/tmp",
        "LC_ALL": "C.UTF-8",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "PATH": layout(True).programs,
        "PYTHONHASHSEED": str(hash_seed),
        "TZ": "UTC",
    }


def stop(started: Started, patience_s: float = 5.0) -> float:
    """End the supervisor and all it started; the CPU seconds all of them used."""
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
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    control.close()
    if process.stdout is not None:
        process.stdout.close()
    return usage.ru_utime + usage.ru_stime
