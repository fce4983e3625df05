"""Link: the parent's ends of a worker's sockets and pipes, and the clock while it waits.

Everything is non-blocking and one `poll` watches all of it: a worker that does not read, prints
without end, sends garbage or sends nothing costs the parent time up to the deadline, never more.
"""

from __future__ import annotations

import json
import os
import select
import socket
import time
from collections.abc import Callable
from typing import Any, Protocol

from refute.sandbox.outcome import Kind
from refute.sandbox.processes import ending
from refute.sandbox.wire import WireError

_CHUNK = 2**18
_TICK_S = 0.1
_EXIT_S = 2.0


class Ended(Exception):
    """The worker is of no more use: which kind of outcome that is, and why."""

    def __init__(self, kind: Kind, detail: str) -> None:
        super().__init__(detail)
        self.kind: Kind = kind
        self.detail = detail


class Codec(Protocol):
    """Cuts what arrives into messages."""

    def feed(self, data: bytes) -> None:
        """Bytes as they arrived."""

    def take(self) -> Any:
        """The next message, or None. Raises WireError."""

    @property
    def pending(self) -> bool:
        """Whether bytes are left that no message has taken."""


class Excerpt:
    """The first bytes of what a worker printed; the rest is read and forgotten."""

    def __init__(self, fd: int, limit: int) -> None:
        self._fd = fd
        self._limit = limit
        self._kept = bytearray()
        self._dropped = 0
        os.set_blocking(fd, False)

    def drain(self, rounds: int = 16) -> bool:
        """Read what is there; False once no writer is left. Bounded: a writer may be faster."""
        for _ in range(rounds):
            try:
                data = os.read(self._fd, _CHUNK)
            except BlockingIOError:
                return True
            if not data:
                return False
            room = self._limit - len(self._kept)
            self._kept += data[:room]
            self._dropped += max(0, len(data) - room)
        return True

    def take(self) -> str:
        """The text since the last call, with a note of how much more there was."""
        text = self._kept.decode("utf-8", errors="replace")
        if self._dropped:
            text += f"\n… {self._dropped} more bytes"
        self._kept.clear()
        self._dropped = 0
        return text


class Link:
    """The wire, the control socket and the output of one worker."""

    def __init__(
        self,
        wire: socket.socket,
        control: socket.socket,
        output: Excerpt,
        output_fd: int,
        codec: Codec,
    ) -> None:
        self._wire = wire
        self._control = control
        self._output = output
        self._output_fd = output_fd
        self._codec = codec
        self._told = bytearray()
        self._next_check = 0.0
        self._later_s = 0.0
        self._poll = select.poll()
        wire.setblocking(False)
        control.setblocking(False)
        self._poll.register(wire, select.POLLIN)
        self._poll.register(control, select.POLLIN)
        self._poll.register(output_fd, select.POLLIN)

    def check_silence(self) -> None:
        """Raise Ended when the worker said something that nobody asked for, or is gone."""
        try:
            data = self._wire.recv(_CHUNK)
        except BlockingIOError:
            data = None
        except OSError as error:
            raise Ended("died", str(error)) from error
        if data or self._codec.pending:
            said = f": {data[:80]!r}" if data else ""
            raise Ended("protocol", f"an answer came before its question{said}")
        if data == b"":
            raise Ended("died", self.exit_detail())

    def ready(self) -> Any:
        """A message that has come already, or None. Raises Ended."""
        return self._take()

    def exchange(self, data: bytes, deadline: float, patience: Callable[[], float]) -> Any:
        """Send `data` and wait for one message until `deadline` (monotonic seconds).

        patience: called every so often, whatever comes; returns by how many seconds the deadline
        is later than it was said to be; may raise Ended. Raises Ended.
        """
        self._later_s = 0.0
        left = self._send(memoryview(data))
        self._poll.modify(self._wire, select.POLLIN | (select.POLLOUT if left else 0))
        while True:
            message = self._take()
            if message is not None:
                if left:
                    raise Ended("protocol", "an answer came before all of its question was read")
                return message
            wait = deadline + self._later_s - time.monotonic()
            if wait <= 0 and time.monotonic() >= deadline + self._checked(patience):
                raise Ended("timeout", "no answer before the wall-clock limit")
            left = self._step(min(max(wait, 0.0), _TICK_S), left, patience)

    def _checked(self, patience: Callable[[], float]) -> float:
        self._next_check = time.monotonic() + _TICK_S
        self._later_s = patience()
        return self._later_s

    def _step(self, wait_s: float, left: memoryview, patience: Callable[[], float]) -> memoryview:
        events = dict(self._poll.poll(wait_s * 1000 + 1))
        if self._output_fd in events and not self._output.drain():
            self._poll.unregister(self._output_fd)
        had_left = bool(left)
        if had_left and events.get(self._wire.fileno(), 0) & select.POLLOUT:
            left = self._send(left)
        if events.get(self._wire.fileno(), 0) & ~select.POLLOUT:
            self._receive()
        elif self._control.fileno() in events:
            raise Ended("died", self.exit_detail())
        if had_left and not left:
            self._poll.modify(self._wire, select.POLLIN)
        if time.monotonic() >= self._next_check:
            self._checked(patience)
        return left

    def _send(self, left: memoryview) -> memoryview:
        try:
            while left:
                left = left[self._wire.send(left) :]
        except BlockingIOError:
            pass
        except OSError as error:
            raise Ended("died", self.exit_detail()) from error
        return left

    def _receive(self) -> None:
        try:
            data = self._wire.recv(_CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            raise Ended("died", self.exit_detail())
        self._codec.feed(data)

    def _take(self) -> Any:
        try:
            return self._codec.take()
        except WireError as error:
            raise Ended("protocol", str(error)) from error

    def exit_detail(self) -> str:
        """How the process ended, as the supervisor tells it, in words."""
        told = self.told(time.monotonic() + _EXIT_S)
        self._output.drain()
        code = told.get("exit") if told else None
        if type(code) is not int:
            return "the worker closed its end"
        return ending(code)

    def told(self, deadline: float) -> dict[str, Any] | None:
        """The supervisor's next message, or None when it is gone or does not speak in time."""
        while b"\n" not in self._told:
            poll = select.poll()
            poll.register(self._control, select.POLLIN)
            if not poll.poll(max(0.0, deadline - time.monotonic()) * 1000 + 1):
                return None
            try:
                data = self._control.recv(4096)
            except OSError:
                return None
            if not data:
                return None
            self._told += data
        line, _, rest = bytes(self._told).partition(b"\n")
        self._told = bytearray(rest)
        message: dict[str, Any] = json.loads(line)
        return message
