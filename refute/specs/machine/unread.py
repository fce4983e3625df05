"""Errors that reading a file of machines raised, told as data, with the line of the file.

Where an error came out of refute's or Python's own code, the last line of anybody else's code on
the way is named: what stands there was too much for it. A spec can ask for anything, so that memory
and the depth of calls run out here first.
"""

from __future__ import annotations

import sys
import sysconfig
import traceback
from pathlib import Path

from refute.plain import Plain

_ROOT = str(Path(__file__).resolve().parents[2]) + "/"
_LIBRARY = sysconfig.get_path("stdlib") + "/"
_OWN = (_ROOT, _LIBRARY, "<frozen")


def unread(error: Exception) -> dict[str, Plain]:
    """The error as the data of an UnreadableInput: `spec.py:7: ValueError: …`."""
    place = _place(error)
    message, next_step = _words(error)
    told = f"{place}: {message}" if place else message
    return {"kind": "UnreadableInput", "message": told, "thing": place, "next": next_step}


def _place(error: Exception) -> str:
    if isinstance(error, SyntaxError) and error.filename:
        return f"{Path(error.filename).name}:{error.lineno or 0}"
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [frame for frame in frames if not frame.filename.startswith(_OWN)]
    last = (theirs or frames)[-1:]
    return f"{Path(last[0].filename).name}:{last[0].lineno}" if last else ""


def _words(error: Exception) -> tuple[str, str]:
    if isinstance(error, MemoryError):
        return "memory ran out while this was read", "make types, sizes and tables smaller"
    if isinstance(error, RecursionError):
        depth = sys.getrecursionlimit()
        return (
            f"reading this takes calls more than {depth} deep",
            "break up what is nested so deep; a type that contains itself has no bound",
        )
    words = error.msg if isinstance(error, SyntaxError) else _text(error)
    return f"{type(error).__name__}: {words}", ""


def _text(error: Exception) -> str:
    try:
        return str(error)
    except Exception as second:  # a class of the file, with a __str__ of its own
        return f"(its text raises {type(second).__name__})"
