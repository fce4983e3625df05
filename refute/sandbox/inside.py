"""Inside: the loop in the subject's process that takes requests and gives answers.

The subject lives in this process, so it can reach everything here: find these frames, patch these
names, forge an answer. That gains it nothing, because all it can change is its own outcome, which
is what it decides anyway by what it returns. What must not happen is that an honest subject which
patches `json` or `os.write` for its own reasons breaks the answers; so this module keeps its own
references to the functions it uses from before any code of the tree was loaded.
"""

from __future__ import annotations

import builtins
import importlib
import os
import signal
import sys
from _thread import allocate_lock
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from refute import plain
from refute.sandbox.faults import describe
from refute.sandbox.processes import ending
from refute.sandbox.wire import Frames, WireError, pack

FRESH_DONE = 91
_CHUNK = 2**18
_CONTAINERS = (list, dict, set, tuple, bytearray)

_read, _write, _exit, _fork, _waitpid = os.read, os.write, os._exit, os.fork, os.waitpid
_exit_code = os.waitstatus_to_exitcode
_import = importlib.import_module
_encode, _decode = plain.encode, plain.decode
_printed = (sys.stdout, sys.stderr)
_BaseException, _getattr, _isinstance = BaseException, getattr, isinstance


class Wire:
    """The worker's end of the wire."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._frames = Frames()

    def receive(self) -> tuple[dict[str, Any], list[bytes]]:
        """The next frame from the parent; ends the process when the parent is gone."""
        while (frame := self._frames.take()) is None:
            data = _read(self._fd, _CHUNK)
            if not data:
                _exit(0)
            self._frames.feed(data)
        return frame

    def send(self, header: dict[str, Any], blobs: list[bytes]) -> None:
        """Send one frame."""
        left = memoryview(pack(header, blobs))
        while left:
            left = left[_write(self._fd, left) :]


class Caller:
    """Answers requests: finds targets, keeps created objects, stands in for remote ones."""

    def __init__(self, wire: Wire, tree: str) -> None:
        self.wire = wire
        self.nonce = ""
        self._tree = tree
        self._objects: list[Any] = []
        self._turn = allocate_lock()

    def answer(self, request: dict[str, Any], blobs: list[bytes]) -> None:
        """Do what `request` asks and send one reply."""
        self.nonce = request["nonce"]
        if request["fresh"]:
            self._answer_fresh(request, blobs)
        else:
            self._send(*self._perform(request, blobs))
        self.nonce = ""

    def _answer_fresh(self, request: dict[str, Any], blobs: list[bytes]) -> None:
        """Answer from a forked child, whose changes to memory vanish with it."""
        try:
            self._find(request)
        except _BaseException as error:
            self._send({"kind": "raised", "loaded": False, **describe(error, self._tree)}, [])
            return
        _flush()
        child = _fork()
        if child == 0:
            self._send(*self._perform(request, blobs))
            _exit(FRESH_DONE)
        code = _exit_code(_waitpid(child, 0)[1])
        if code != FRESH_DONE:
            kind = "timeout" if code == -signal.SIGXCPU else "died"
            self._send({"kind": kind, "detail": ending(code)}, [])

    def _perform(
        self, request: dict[str, Any], blobs: list[bytes]
    ) -> tuple[dict[str, Any], list[bytes]]:
        loaded = False
        try:
            function = self._find(request)
            loaded = True
            args = [self._argument(a, blobs) for a in request["args"]]
            kwargs = {k: self._argument(a, blobs) for k, a in request["kwargs"].items()}
            value = function(*args, **kwargs)
        except _BaseException as error:
            return {"kind": "raised", "loaded": loaded, **describe(error, self._tree)}, []
        finally:
            _flush()
        reply = {"kind": "returned", "mutated": _mutated([*args, *kwargs.values()], request, blobs)}
        if request["op"] == "create":
            self._objects.append(value)
            return {**reply, "handle": len(self._objects) - 1}, []
        data, out = _encode_any(value)
        return {**reply, "value": data}, out

    def _find(self, request: dict[str, Any]) -> Callable[..., Any]:
        if request["op"] == "invoke":
            found = _getattr(self._objects[request["handle"]], request["target"])
        else:
            module, _, qualname = request["target"].partition(":")
            found = _import(module)
            for name in qualname.split("."):
                found = _getattr(found, name)
        result: Callable[..., Any] = found
        return result

    def _argument(self, argument: list[Any], blobs: list[bytes]) -> Any:
        tag, data = argument
        if tag == "handle":
            return self._objects[data]
        if tag == "remote":
            kind = RemoteFunction if data["callable"] else RemoteObject
            return kind(self, data["number"], _decode(data["attributes"]))
        return _decode(data, blobs)

    def ask(self, number: int, method: str, args: tuple[Any, ...]) -> Any:
        """Have the parent answer a call of a remote object; its OSError is raised here."""
        if not self.nonce:
            raise RuntimeError("a remote object answers only while the parent waits for this call")
        blobs: list[bytes] = []
        asked = {"remote": number, "method": method, "args": _encode(list(args), blobs=blobs)}
        with self._turn:  # the subject may have threads
            self.wire.send({"nonce": self.nonce, **asked}, blobs)
            answer, blobs = self.wire.receive()
        if "errno" in answer:
            raise OSError(answer["errno"], answer["message"])
        if "message" in answer:
            raise RuntimeError(answer["message"])
        return _decode(answer["value"], blobs)

    def _send(self, reply: dict[str, Any], blobs: list[bytes]) -> None:
        try:
            self.wire.send({"nonce": self.nonce, **reply}, blobs)
        except WireError as error:
            self.wire.send({"nonce": self.nonce, "kind": "oversize", "detail": str(error)}, [])


class RemoteObject:
    """Stands for an object of the parent's: attributes are here, methods are asked for."""

    def __init__(self, caller: Caller, number: int, attributes: Mapping[str, Any]) -> None:
        self.__dict__.update(attributes)
        self.__dict__["_ask"] = lambda method, args: caller.ask(number, method, args)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args: self._ask(name, args)


class RemoteFunction(RemoteObject):
    """Stands for a function of the parent's."""

    def __call__(self, *args: Any) -> Any:
        """Have the parent answer."""
        return self._ask("", args)


def _mutated(values: list[Any], request: dict[str, Any], blobs: list[bytes]) -> bool:
    """Whether the arguments no longer read as they came."""
    sent = [*request["args"], *request["kwargs"].values()]
    pairs = [(v, data) for v, (tag, data) in zip(values, sent, strict=True) if tag == "value"]
    if not any(type(value) in _CONTAINERS for value, _ in pairs):
        return False
    data, after = _encode_any([value for value, _ in pairs])
    return data != [data for _, data in pairs] or after != blobs


def _encode_any(value: Any) -> tuple[Any, list[bytes]]:
    """`value` as data and blobs; opaque when looking at it raises something."""
    blobs: list[bytes] = []
    try:
        return _encode(value, opaque=True, blobs=blobs), blobs
    except _BaseException:  # a type may define anything about itself
        return {"!opaque": "unknown"}, []


def _flush() -> None:
    for stream in _printed:
        try:
            stream.flush()
        except Exception:  # the subject closed it; then there is nothing to flush
            continue


def serve(fd: int, tree: str) -> NoReturn:
    """Answer requests from `fd` until the parent is gone."""
    vars(builtins)["exit"] = sys.exit
    wire = Wire(fd)
    caller = Caller(wire, tree)
    while True:
        caller.answer(*wire.receive())
