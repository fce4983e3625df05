"""What it means for a property to hold on one case. Runs beside the specs, away from the subject.

`judge` is called in a worker that has the specs and not the subject. The subjects that it hands to
the property are stand-ins which ask the parent, and the parent asks the worker where the subject
lives. So a subject can neither see the property nor touch its verdict.

Who is to blame when a property raises something? Before it has asked the subject, the property is.
Afterwards the answers are the only thing that differs from a case where it worked, so the case is
broken (an index error on a list that came back empty is a refutation). A missing name, a failed
import or an argument that is not plain data is the property's own in any case.
"""

from __future__ import annotations

import builtins
import importlib
import inspect
import os
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from refute.errors import NotPlainData
from refute.plain import Plain

Relay = Callable[..., Plain]

OWN_FAULTS = (NameError, ImportError, SyntaxError, NotImplementedError, NotPlainData)
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


def judge(
    prop: str,
    assume: str | None,
    subjects: Sequence[str],
    cases: Sequence[Mapping[str, Plain]],
    relay: Relay,
) -> list[tuple[str, str]]:
    """One verdict for each case: ("held" | "broken" | "discarded" | "unfit" | "lost", why).

    subjects: the names by which the property may ask for subjects, the judged one first.
    relay(case, subject, args, kwargs): ("returned", value), ("raised", type, message, errno) or
    ("lost",). Stops after a lost subject, and after the first case that is unfit to be judged.
    """
    try:
        property_ = _Function(prop)
        condition = _Function(assume) if assume is not None else None
    except Exception as error:
        return [("unfit", f"{prop} cannot be used: {type(error).__name__}: {error}")]
    verdicts: list[tuple[str, str]] = []
    for index, case in enumerate(cases):
        verdict = _judge_one(property_, condition, subjects, index, case, relay)
        verdicts.append(verdict)
        if verdict[0] in ("lost", "unfit"):
            break
    return verdicts


def assumed(assume: str, cases: Sequence[Mapping[str, Plain]]) -> list[tuple[str, str]]:
    """For each case "held", or "discarded" where the assumption is False; stops at "unfit"."""
    try:
        condition = _Function(assume)
    except Exception as error:
        return [("unfit", f"{assume} cannot be used: {type(error).__name__}: {error}")]
    verdicts: list[tuple[str, str]] = []
    for case in cases:
        try:
            verdicts.append(("held" if condition.truth(case, {}) else "discarded", ""))
        except _Unfit as error:
            return [*verdicts, ("unfit", str(error))]
        except Exception as error:
            return [*verdicts, ("unfit", _blame(condition, error))]
    return verdicts


def _judge_one(
    prop: _Function,
    condition: _Function | None,
    subjects: Sequence[str],
    index: int,
    case: Mapping[str, Plain],
    relay: Relay,
) -> tuple[str, str]:
    calls = _Calls(index, relay)
    try:
        if condition is not None and not condition.truth(case, {}):
            return "discarded", ""
        standing = {name: calls.stand_in(name) for name in subjects}
        standing["subject"] = standing[subjects[0]]
        return ("held", "") if prop.truth(case, standing) else ("broken", prop.false)
    except SubjectLost:
        return "lost", ""
    except _Unfit as error:
        return "unfit", str(error)
    except SubjectRaised as error:
        return "broken", str(error)
    except AssertionError as error:
        return "broken", f"assertion failed at {place(error)}{_message(error)}"
    except OWN_FAULTS as error:
        return "unfit", _blame(prop, error)
    except Exception as error:
        return ("broken" if calls.made else "unfit"), _blame(prop, error)


def _blame(prop: _Function, error: Exception) -> str:
    return f"{prop.name} raised {type(error).__name__} at {place(error)}{_message(error)}"


def _message(error: Exception) -> str:
    text = str(error)[:SHOWN]
    return f": {text}" if text else ""


def place(error: BaseException) -> str:
    """`file:line` of the innermost frame outside this package, relative to the directory."""
    found = "?"
    trace: types.TracebackType | None = error.__traceback__
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if not file.startswith(_OWN):
            found = f"{os.path.relpath(file)}:{trace.tb_lineno}"
        trace = trace.tb_next
    return found


_OWN = str(Path(__file__).resolve().parent.parent)


class _Unfit(Exception):
    """The property or the assumption cannot be used as one."""


class _Function:
    """A property or an assumption, and which of the offered values its parameters take."""

    def __init__(self, reference: str) -> None:
        self.name = reference
        self.function = resolve(reference)
        code = getattr(self.function, "__code__", None)
        where = f"{os.path.relpath(code.co_filename)}:{code.co_firstlineno}" if code else reference
        self.false = f"{reference} returned False ({where})"
        self.where = where
        parameters = inspect.signature(self.function).parameters.values()
        self.everything = any(p.kind is p.VAR_KEYWORD for p in parameters)
        self.names = [p.name for p in parameters if p.kind is not p.VAR_KEYWORD]
        self.required = {p.name for p in parameters if p.default is p.empty}

    def truth(self, case: Mapping[str, Plain], subjects: Mapping[str, Any]) -> bool:
        """What the function says of the case. Raises whatever it raises, and _Unfit."""
        offered = {**case, **subjects}
        names = list(offered) if self.everything else self.names
        missing = [n for n in names if n not in offered and n in self.required]
        if missing:
            raise _Unfit(
                f"{self.name} ({self.where}) has a parameter {missing[0]!r}, "
                f"which is none of {', '.join(sorted(offered))}"
            )
        answer = self.function(**{n: offered[n] for n in names if n in offered})
        if type(answer) is not bool:
            kind = type(answer).__name__
            raise _Unfit(f"{self.name} ({self.where}) returned {kind}, not True or False")
        return answer


class _Calls:
    """The stand-ins for the subjects in one case, and how often they were asked."""

    def __init__(self, index: int, relay: Relay) -> None:
        self.index = index
        self.relay = relay
        self.made = 0

    def stand_in(self, name: str) -> Callable[..., Plain]:
        """A function that has the parent ask the subject called `name`."""

        def ask(*args: Plain, **kwargs: Plain) -> Plain:
            self.made += 1
            answer = self.relay(self.index, name, list(args), kwargs)
            if answer[0] == "returned":
                return answer[1]
            if answer[0] == "raised":
                raise raised(name, *answer[1:])
            raise SubjectLost

        ask.__name__ = ask.__qualname__ = name
        return ask
