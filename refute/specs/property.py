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

import copy
import inspect
import os
import types
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from refute import plain
from refute.errors import NotPlainData
from refute.plain import Plain
from refute.specs.answers import SHOWN, SubjectLost, SubjectRaised, raised, resolve

Relay = Callable[..., Plain]

OWN_FAULTS = (NameError, ImportError, SyntaxError, NotImplementedError, NotPlainData)


def judge(
    prop: str,
    assume: str | None,
    subjects: Sequence[str],
    cases: Sequence[Mapping[str, Plain]],
    relay: Relay,
    ahead: bool = False,
) -> list[tuple[str, str]]:
    """One verdict for each case: ("held" | "broken" | "discarded" | "unfit" | "lost", why).

    subjects: the names by which the property may ask for subjects, the judged one first.
    relay("ask", case, subject, args, kwargs) and relay("each", [(case, subject, args), …]) give
    answers: ("returned", value), ("raised", type, message, errno) or ("lost",).
    ahead: the properties first run up to their first question, and these are asked together. Only
    for properties that ask once: for them the subject is asked in the same order as otherwise.
    Stops after a lost subject, and after the first case that is unfit to be judged.
    """
    try:
        judge_ = _Judge(_Function(prop), _Function(assume) if assume else None, subjects, relay)
    except Exception as error:
        return [("unfit", f"{prop} cannot be used: {type(error).__name__}: {error}")]
    verdicts: list[tuple[str, str]] = []
    known = judge_.ask_ahead(cases) if ahead else {}
    for index, case in enumerate(cases):
        verdicts.append(judge_.one(index, case, known.get(index)))
        if verdicts[-1][0] in ("lost", "unfit"):
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


class _Judge:
    """Runs a property, and the assumption before it, on cases."""

    def __init__(
        self, prop: _Function, assume: _Function | None, subjects: Sequence[str], relay: Relay
    ) -> None:
        self.prop = prop
        self.assume = assume
        self.subjects = subjects
        self.relay = relay

    def one(self, index: int, case: Mapping[str, Plain], known: _Known | None) -> tuple[str, str]:
        """The verdict on one case; `known` is the answer to its first question, if asked."""
        calls = _Calls(index, self.relay, known)
        try:
            if self.assume is not None and not self.assume.truth(case, {}):
                return "discarded", ""
            held = self.prop.truth(case, calls.stand_ins(self.subjects))
            return ("held", "") if held else ("broken", self.prop.false)
        except SubjectLost:
            return "lost", ""
        except _Unfit as error:
            return "unfit", str(error)
        except SubjectRaised as error:
            return "broken", str(error)
        except AssertionError as error:
            return "broken", f"assertion failed at {place(error)}{_message(error)}"
        except OWN_FAULTS as error:
            return "unfit", _blame(self.prop, error)
        except Exception as error:
            return ("broken" if calls.made else "unfit"), _blame(self.prop, error)

    def ask_ahead(self, cases: Sequence[Mapping[str, Plain]]) -> dict[int, _Known]:
        """The first question of each case that has one, and its answer."""
        questions = []
        for index, case in enumerate(cases):
            question = self._first_question(index, copy.deepcopy(case))
            if question is not None:
                questions.append((index, *question))
        if not questions:
            return {}
        answers = self.relay("each", questions)
        asked = zip(questions, answers, strict=True)
        return {index: _Known(name, args, answer) for (index, name, args), answer in asked}

    def _first_question(
        self, index: int, case: Mapping[str, Plain]
    ) -> tuple[str, list[Plain]] | None:
        calls = _Calls(index, self.relay, None, stop=True)
        try:
            if self.assume is None or self.assume.truth(case, {}):
                self.prop.truth(case, calls.stand_ins(self.subjects))
        except Exception:  # it will be raised again, and judged, in `one`
            return None
        except _Asking as asking:
            return asking.name, asking.positional
        return None


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


class _Asking(BaseException):
    """Ends a property at its first question, when that is all that is wanted of it."""

    def __init__(self, name: str, positional: list[Plain]) -> None:
        self.name = name
        self.positional = positional


class _Known(NamedTuple):
    """A question that was asked ahead, and its answer."""

    name: str
    args: list[Plain]
    answer: Plain


class _Calls:
    """The stand-ins for the subjects in one case, and how often they were asked."""

    def __init__(self, index: int, relay: Relay, known: _Known | None, stop: bool = False) -> None:
        self.index = index
        self.relay = relay
        self.known = known
        self.stop = stop
        self.made = 0

    def stand_ins(self, names: Sequence[str]) -> dict[str, Callable[..., Plain]]:
        """Functions that have the parent ask, by the subjects' names."""
        made = {name: self._stand_in(name) for name in names}
        return {"subject": made[names[0]], **made}

    def _stand_in(self, name: str) -> Callable[..., Plain]:
        def ask(*args: Plain, **kwargs: Plain) -> Plain:
            self.made += 1
            answer = self._answer(name, list(args), kwargs)
            if answer[0] == "returned":
                return answer[1]
            if answer[0] == "raised":
                raise raised(name, *answer[1:])
            raise SubjectLost

        ask.__name__ = ask.__qualname__ = name
        return ask

    def _answer(self, name: str, args: list[Plain], kwargs: dict[str, Plain]) -> Plain:
        if self.stop and not kwargs:
            raise _Asking(name, copy.deepcopy(args))
        known, self.known = self.known, None
        if known is None:
            return self.relay("ask", self.index, name, args, kwargs)
        if name != known.name or not plain.same(args, known.args):
            raise _Unfit(f"the property asks {name} for other values when it runs again")
        return known.answer
