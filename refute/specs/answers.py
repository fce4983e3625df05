"""Answers of a subject: made in its worker, and met by a property in another.

`call_each` runs beside the subject and calls it once for each row of arguments, so that many cases
cost one round trip. A hostile subject can forge what this function returns, which gains it nothing:
the answers are compared elsewhere, and whatever comes from its process is its answer.
"""

from __future__ import annotations

import builtins
import importlib
import json
import sys
from collections.abc import Callable, Sequence
from typing import Any

from refute import plain
from refute.plain import Plain
from refute.sandbox.faults import describe

SHOWN = 300


class SubjectRaised(Exception):
    """The subject raised. type_name: "ValueError", or "module.Name" where it is not a builtin.

    Also an instance of the named type, where that is a plain exception of the standard library.
    """

    def __init__(self, subject: str, type_name: str, message: str, errno: int | None) -> None:
        self.subject = subject
        self.type_name = type_name
        self.message = message
        self.errno = errno

    def __str__(self) -> str:
        return f"{self.subject} raised {self.type_name}: {self.message}"[:SHOWN]


class SubjectLost(BaseException):
    """The subject's worker is gone; the parent knows why. Not for properties to catch."""


def raised(subject: str, type_name: str, message: str, errno: int | None) -> SubjectRaised:
    """The exception to raise in a property for one that the subject raised."""
    kind = _mixed(type_name) or SubjectRaised
    return kind(subject, type_name, message, errno)


def _mixed(type_name: str) -> type[SubjectRaised] | None:
    original = _standard(type_name)
    if original is None:
        return None
    try:
        return type(original.__name__, (SubjectRaised, original), {})
    except TypeError:  # a layout that cannot be combined with another exception's
        return None


def _standard(type_name: str) -> type[Exception] | None:
    module, _, name = type_name.rpartition(".")
    if not module:
        found = getattr(builtins, name, None)
    elif module.partition(".")[0] in sys.stdlib_module_names:
        try:
            found = getattr(importlib.import_module(module), name, None)
        except ImportError:
            return None
    else:
        return None
    return found if isinstance(found, type) and issubclass(found, Exception) else None


def resolve(reference: str) -> Any:
    """The object called `module:qualname`. Raises ImportError or AttributeError."""
    module, _, qualname = reference.partition(":")
    found: Any = importlib.import_module(module)
    for name in qualname.split("."):
        found = getattr(found, name)
    return found


def load(reference: str) -> None:
    """Import the subject, so that no call pays for it. Raises what `resolve` raises."""
    resolve(reference)


def call_each(target: str, rows: Sequence[Sequence[Plain]]) -> list[str]:
    """One answer for each row of arguments, in order, as text that `refute.plain.loads` reads.

    What an answer is, `call` says. Each value becomes text at once, because a subject may go on
    changing what it returned. Raises what `resolve` raises.
    """
    function = resolve(target)
    return [answer_text(call(function, row)) for row in rows]


def call(function: Callable[..., Any], args: Sequence[Plain]) -> list[Plain]:
    """What one call gave: ["returned", value], or ["raised", type, message, errno, place, also].

    also: errno values that the exception says would do as well, in an attribute `also`; a
    reference lists there what its specification leaves open.
    """
    try:
        return ["returned", function(*args)]
    except BaseException as error:  # SystemExit is an answer too
        told = describe(error, str(sys.path[0]))
        return ["raised", *(told[k] for k in ("error", "message", "errno", "detail")), _also(error)]


def _also(error: BaseException) -> list[int]:
    try:
        return [n for n in getattr(error, "also", ()) if type(n) is int]
    except Exception:  # an attribute of that name may be anything
        return []


def answer_text(answer: list[Plain]) -> str:
    """An answer as text; values that are not plain data are `Opaque` in it."""
    return json.dumps(plain.encode(answer, opaque=True))
