"""Faults: an exception as data, read without running more of the subject than `str`.

Only names, line numbers and the message leave; source lines do not, since the parent has the tree.
"""

from __future__ import annotations

import builtins
import types
from typing import Any

MESSAGE = 2000
FRAMES = 8

_type_attribute = type.__getattribute__
_BUILTINS = dict(vars(builtins))  # as they were before any code of the tree was loaded


def describe(error: BaseException, tree: str) -> dict[str, Any]:
    """The exception's type, message, errno and the innermost frames below `tree`."""
    return {
        "error": error_name(type(error)),
        "message": _message(error),
        "errno": _errno(error),
        "detail": "\n".join(_frames(error.__traceback__, tree)),
    }


def error_name(kind: type) -> str:
    """`ValueError` for a builtin, `module.Name` for others, also for one that only claims to be."""
    try:
        module = _type_attribute(kind, "__module__")
        name = _type_attribute(kind, "__qualname__")
    except BaseException:  # a metaclass may define these as anything
        return "unknown"
    if type(module) is not str or type(name) is not str:
        return "unknown"
    if module == "builtins":
        return name if _BUILTINS.get(name) is kind else f"{name} (not the builtin)"
    return f"{module}.{name}"


def _message(error: BaseException) -> str:
    try:
        text = str(error)
        return str.__str__(text)[:MESSAGE]
    except BaseException as second:  # a subject's __str__ may raise anything
        return f"(its message raised {error_name(type(second))})"


def _errno(error: BaseException) -> int | None:
    if not isinstance(error, OSError):
        return None
    try:
        number = error.errno
    except BaseException:  # a subclass may define it as a property that raises
        return None
    return number if type(number) is int else None


def _frames(trace: types.TracebackType | None, tree: str) -> list[str]:
    lines: list[str] = []
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename.startswith(f"{tree}/"):
            place = code.co_filename[len(tree) + 1 :]
            lines.append(f"{place}:{trace.tb_lineno} in {code.co_qualname}")
        trace = trace.tb_next
    return lines[-FRAMES:]
