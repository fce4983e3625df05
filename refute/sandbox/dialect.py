"""Dialects: how a question to a worker is written, and how its answer is read.

Python workers get frames with a random nonce; commands get JSON lines with an id. Reading is
strict: whatever is not an answer to the question that was asked is "protocol".
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from refute import plain
from refute.errors import SandboxError
from refute.plain import Plain
from refute.sandbox.link import Codec, Ended
from refute.sandbox.outcome import Handle, Outcome, Remote
from refute.sandbox.wire import Frames, WireError, pack

MESSAGE = 2000
DETAIL = 4000
MAX_LINE = 8 * 2**20


class Question(NamedTuple):
    """One request. op: "call", "create" or "invoke"; target: what to call; on: whose method."""

    op: str
    target: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    on: Handle | None = None
    fresh: bool = False


class Asked(NamedTuple):
    """A call of a remote object that the worker makes while it answers."""

    number: int
    method: str
    args: tuple[Plain, ...]


class Dialect(Protocol):
    """Writes questions and reads answers."""

    def new_codec(self) -> Codec:
        """What cuts this dialect's messages out of a stream."""

    def write(self, question: Question, remotes: list[Remote], worker: int) -> bytes:
        """The bytes of a question; remote arguments are appended to `remotes`."""

    def read(self, message: Any, worker: int) -> Outcome | Asked:
        """What a message says. Raises Ended when it is no answer to the last question."""

    def write_answer(self, value: Plain = None, error: BaseException | None = None) -> bytes:
        """The bytes of the answer to an `Asked`."""


class PythonDialect:
    """Frames with a nonce."""

    def __init__(self) -> None:
        self._nonce = ""
        self._question: Question | None = None

    def new_codec(self) -> Codec:
        """Frames."""
        return Frames()

    def write(self, question: Question, remotes: list[Remote], worker: int) -> bytes:
        """The frame of a question, under a fresh nonce. Raises NotPlainData."""
        self._nonce = secrets.token_hex(8)
        self._question = question
        blobs: list[bytes] = []

        def argument(value: Any) -> list[Any]:
            if type(value) is Handle:
                return ["handle", number_of(value, worker)]
            if type(value) is Remote:
                remotes.append(value)
                attributes = plain.encode(dict(value.attributes))
                shown = {"callable": value.callable, "attributes": attributes}
                return ["remote", {"number": len(remotes) - 1, **shown}]
            return ["value", plain.encode(value, blobs=blobs)]

        header = {
            "nonce": self._nonce,
            "op": question.op,
            "target": question.target,
            "handle": None if question.on is None else number_of(question.on, worker),
            "args": [argument(a) for a in question.args],
            "kwargs": {k: argument(v) for k, v in question.kwargs.items()},
            "fresh": question.fresh,
        }
        return pack(header, blobs)

    def read(self, message: tuple[dict[str, Any], list[bytes]], worker: int) -> Outcome | Asked:
        """The outcome, or what the worker asks meanwhile. Raises Ended."""
        header, blobs = message
        if header.get("nonce") != self._nonce:
            raise Ended("protocol", "an answer to another question")
        try:
            if "remote" in header:
                args = plain.decode(header["args"], blobs)
                return Asked(_typed(header, "remote", int), _typed(header, "method", str), (*args,))
            return self._outcome(header, blobs, worker)
        except Ended:
            raise
        except Exception as error:  # hostile data may trip the reading in any way
            raise Ended("protocol", f"not an answer: {error}"[:MESSAGE]) from error

    def _outcome(self, header: dict[str, Any], blobs: list[bytes], worker: int) -> Outcome:
        question = self._question
        assert question is not None
        match header["kind"]:
            case "returned" if question.op == "create":
                handle = Handle(worker, _typed(header, "handle", int))
                return Outcome("returned", handle, mutated=_typed(header, "mutated", bool))
            case "returned":
                value = plain.decode(header["value"], blobs)
                return Outcome("returned", value, mutated=_typed(header, "mutated", bool))
            case "raised":
                errno = header["errno"]
                return Outcome(
                    "raised",
                    error=_text(header, "error")[:MESSAGE],
                    message=_text(header, "message")[:MESSAGE],
                    errno=errno if type(errno) is int else None,
                    detail=_text(header, "detail")[-DETAIL:],
                    loaded=_typed(header, "loaded", bool),
                )
            case "died" if question.fresh:
                return Outcome("died", detail=_text(header, "detail")[:MESSAGE])
            case "timeout" if question.fresh:
                return Outcome("timeout", detail=_text(header, "detail")[:MESSAGE])
            case "oversize":
                raise Ended("protocol", f"the value is too large: {_text(header, 'detail')}")
        raise Ended("protocol", "an answer of no known kind")

    def write_answer(self, value: Plain = None, error: BaseException | None = None) -> bytes:
        """The frame that answers an `Asked`: a value, an OSError, or another trouble's text."""
        blobs: list[bytes] = []
        if isinstance(error, OSError):
            body: dict[str, Any] = {"errno": error.errno, "message": error.strerror or ""}
        elif error is not None:
            body = {"message": f"{type(error).__name__}: {error}"}
        else:
            body = {"value": plain.encode(value, blobs=blobs)}
        return pack({"nonce": self._nonce, **body}, blobs)


def _typed(header: Mapping[str, Any], name: str, kind: type) -> Any:
    value = header[name]
    if type(value) is not kind:
        raise TypeError(f"{name} is {type(value).__name__}, not {kind.__name__}")
    return value


def _text(header: Mapping[str, Any], name: str) -> str:
    """A text that can be written anywhere: lone surrogates become question marks."""
    text: str = _typed(header, name, str)
    return text.encode("utf-8", errors="replace").decode("utf-8")


def number_of(handle: Handle, worker: int) -> int:
    """The handle's number. Raises SandboxError for a handle of another worker."""
    if handle.worker != worker:
        raise SandboxError(
            "a handle belongs to another worker",
            thing="handle",
            value=handle.number,
            next_step="create the object in this worker",
        )
    return handle.number


class Lines:
    """Cuts a stream into JSON lines."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> None:
        """Bytes as they arrived."""
        self._buffer += data

    @property
    def pending(self) -> bool:
        """Whether bytes are left that no message has taken."""
        return bool(self._buffer)

    def take(self) -> Any:
        """The next line's JSON, or None. Raises WireError."""
        end = self._buffer.find(b"\n")
        if end > MAX_LINE or (end < 0 and len(self._buffer) > MAX_LINE):
            raise WireError(f"a line of over {MAX_LINE} bytes")
        if end < 0:
            return None
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        try:
            message = json.loads(line.decode("utf-8"))
        except (ValueError, RecursionError) as error:
            raise WireError(f"a line that is not JSON: {line[:80]!r}") from error
        if type(message) is not dict:
            raise WireError(f"a line that is not a JSON object: {line[:80]!r}")
        return message


class CommandDialect:
    """JSON lines with an id; see refute.sandbox.command."""

    def __init__(self) -> None:
        self._id = 0
        self._question: Question | None = None

    def new_codec(self) -> Codec:
        """Lines."""
        return Lines()

    def write(self, question: Question, remotes: Sequence[Remote], worker: int) -> bytes:
        """The line of a question. Raises SandboxError for what a command cannot take."""
        if question.fresh or any(type(a) is Remote for a in question.args):
            raise SandboxError(
                "a command takes no remote objects and no fresh calls",
                thing="argument",
                possible=("plain values", "handles"),
                next_step="judge a Python subject, or pass plain data",
            )
        self._id += 1
        self._question = question

        def argument(value: Any) -> Any:
            if type(value) is Handle:
                return {"!handle": number_of(value, worker)}
            return plain.encode(value)

        line: dict[str, Any] = {"id": self._id}
        if question.on is not None:
            line["on"] = number_of(question.on, worker)
        line[question.op] = question.target
        line["args"] = [argument(a) for a in question.args]
        if question.kwargs:
            line["kwargs"] = {k: argument(v) for k, v in question.kwargs.items()}
        return json.dumps(line, allow_nan=False).encode("ascii") + b"\n"

    def read(self, message: dict[str, Any], worker: int) -> Outcome | Asked:
        """The outcome that a line tells. Raises Ended."""
        if message.get("id") != self._id or type(message["id"]) is not int:
            raise Ended("protocol", f"an answer with id {message.get('id')!r}, not {self._id}")
        try:
            return self._outcome(message, worker)
        except Exception as error:  # hostile data may trip the reading in any way
            raise Ended("protocol", f"not an answer: {error}"[:MESSAGE]) from error

    def _outcome(self, message: dict[str, Any], worker: int) -> Outcome:
        assert self._question is not None
        if "raise" in message:
            raised = message["raise"]
            errno = raised.get("errno")
            return Outcome(
                "raised",
                error=_text(raised, "type")[:MESSAGE],
                message=_text({"message": "", **raised}, "message")[:MESSAGE],
                errno=errno if type(errno) is int else None,
            )
        if self._question.op == "create":
            return Outcome("returned", Handle(worker, _typed(message, "handle", int)))
        return Outcome("returned", plain.decode(message["return"]))

    def write_answer(self, value: Plain = None, error: BaseException | None = None) -> bytes:
        """Commands ask nothing."""
        raise Ended("protocol", "a command asked for a remote object")
