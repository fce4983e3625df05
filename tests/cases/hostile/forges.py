"""Finds the harness in its own process and answers in its stead."""

import os
import signal
import sys
from typing import Any


def _harness() -> tuple[Any, dict[str, Any]]:
    """The caller object and the request, from the frames below."""
    frame = sys._getframe()
    while frame is not None:
        here = frame.f_locals
        if "request" in here and "self" in here:
            return here["self"], here["request"]
        frame = frame.f_back
    raise LookupError("no harness found")


def _reply(nonce: str, value: Any) -> dict[str, Any]:
    return {"nonce": nonce, "kind": "returned", "value": value, "mutated": False}


def answer_twice() -> str:
    caller, request = _harness()
    caller.wire.send(_reply(request["nonce"], "forged"), [])
    return "honest"


def answer_ahead() -> str:
    caller, _ = _harness()
    for nonce in ("", "0" * 16, "1" * 16):
        caller.wire.send(_reply(nonce, "forged"), [])
    return "honest"


def _raw(data: bytes) -> None:
    caller, _ = _harness()
    os.write(caller.wire._fd, data)


def garbage() -> None:
    _raw(b"\xff" * 4096)


def huge_lengths() -> None:
    _raw(b"\x7f\xff\xff\xff\x00\x00\x00\x00")


def half_a_frame() -> None:
    _raw(b"\x00\x00\x00\x10\x00\x00\x00\x00{")
    os._exit(0)


def not_json() -> None:
    _raw(b"\x00\x00\x00\x04\x00\x00\x00\x00nope")


def not_an_object() -> None:
    _raw(b"\x00\x00\x00\x02\x00\x00\x00\x00[]")


def nested() -> None:
    _raw((200_000).to_bytes(4) + bytes(4) + b"[" * 200_000)


def bad_fields(reply: dict[str, Any]) -> None:
    caller, request = _harness()
    caller.wire.send({"nonce": request["nonce"], **reply}, [])


def ask_for_nothing() -> None:
    caller, request = _harness()
    asked = {"nonce": request["nonce"], "remote": 99, "method": "x", "args": []}
    caller.wire.send(asked, [])


def alarm_later() -> int:
    def ring(number: int, frame: Any) -> None:
        raise RuntimeError("in the harness")

    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    return 1
