"""Commands of the shell that a file runs with `system`, when the user allows it.

They run as the user, where refute runs, as in sqllogictest-rs. A command is a group of processes:
what is left of it when it took too long, or of one in the background when the file ends, is ended.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from typing import NamedTuple

SHELL = "bash"


class Ended(NamedTuple):
    """What came of a command. code: as shells say it; None when it did not end in time."""

    code: int | None
    out: str
    error: str


class Shell:
    """Runs commands, and ends those in the background when it is closed."""

    def __init__(self) -> None:
        self._beside: list[subprocess.Popen[bytes]] = []

    def run(self, command: str, timeout_s: float) -> Ended:
        """Run a command to its end; one with `&` behind it goes on in the background."""
        command = command.strip()
        if command.endswith("&"):
            self._beside.append(_started(command.rstrip("&"), subprocess.DEVNULL))
            return Ended(0, "", "")
        process = _started(command, subprocess.PIPE)
        try:
            out, error = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            return Ended(None, "", "")
        finally:
            _end(process)
        return Ended(process.returncode, _text(out), _text(error))

    def close(self) -> None:
        """End what is in the background."""
        while self._beside:
            _end(self._beside.pop())


def _started(command: str, to: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        (SHELL, "-c", command),
        stdin=subprocess.DEVNULL,
        stdout=to,
        stderr=to,
        start_new_session=True,
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    """End all of a command's processes, and close what it wrote to."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
