"""A program that speaks JSON lines: cmd:PROGRAM ARGUMENTS."""

from __future__ import annotations

import base64
import itertools
import json
import shlex
import subprocess
from typing import Any


class Error(Exception):
    """What the program answers as an error."""


def value_of(value: Any) -> Any:
    """A value out of an answer."""
    if not isinstance(value, dict):
        return value
    ((kind, text),) = value.items()
    if kind in ("int", "real"):
        return int(text) if kind == "int" else float(text)
    data = base64.b64decode(text)
    return data if kind == "blob" else data.decode("utf-8", "backslashreplace")


def opened(engine: str) -> Any:
    """The program, started."""
    words = shlex.split(engine.partition(":")[2])
    program = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    numbers = itertools.count(1)
    assert program.stdin is not None and program.stdout is not None
    wire_in, wire_out = program.stdin, program.stdout

    def exchanged(request: dict[str, Any]) -> dict[str, Any]:
        print(json.dumps({"id": next(numbers), **request}), file=wire_in, flush=True)
        whole: dict[str, Any] = json.loads(wire_out.readline())
        part = whole
        while part.get("more"):
            part = json.loads(wire_out.readline())
            whole["rows"] += part["rows"]
        return whole

    def ask(sql: str) -> Any:
        answer = exchanged({"execute": sql})
        if "error" in answer:
            error = answer["error"]
            told = error if isinstance(error, str) else error.get("message", "")
            if not isinstance(error, str) and error.get("internal"):
                raise RuntimeError(told)
            raise Error(told)
        if "rows" not in answer and "columns" not in answer:
            return None
        return [list(map(value_of, row)) for row in answer.get("rows", [])]

    exchanged({"hello": {"protocol": 1}})
    return ask
