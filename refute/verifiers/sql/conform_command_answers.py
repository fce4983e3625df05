"""Answers of a program that speaks the protocol of docs/engines.md, read strictly.

Whatever a simple program leaves out is allowed; what could be misread is not. A line that makes it
unclear which statement it answers ends the program; a result that contradicts itself is "unfit".
"""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

from refute.oracles.sql.driver import MESSAGE
from refute.oracles.sql.engines.ending import SLOW
from refute.oracles.sql.engines.values import INTEGERS
from refute.sandbox.link import Ended

KNOWN = frozenset(("id", "columns", "rows", "more", "error", "affected", "time_s"))
ABILITIES = ("connections", "restart", "load", "timeout", "reset")
MOST_VALUES = 5_000_000  # of one result
_PLAIN = frozenset((type(None), str, float))
_STATE = re.compile(r"[0-9A-Z]{5}")
_DIGITS = re.compile(r"-?[0-9]{1,4000}")


class Unfit(Exception):
    """A result that is none."""


class Hello:
    """What a program says of itself; one that does not know the question says nothing."""

    def __init__(self, message: dict[str, Any]) -> None:
        said = {} if "error" in message else message
        texts = (said.get("name", ""), said.get("version", ""))
        name, version = (text[:100] if type(text) is str else "" for text in texts)
        self.version = f"{name} {version}".strip()
        can = said.get("can", [])
        self.can = frozenset(a for a in ABILITIES if type(can) is list and a in can)
        self.has_ids = "id" in message


class Reading:
    """The answer to one statement, which comes in one or more messages."""

    def __init__(self) -> None:
        self._names: list[str] | None = None
        self._types: list[str] = []
        self._rows: list[list[Any]] = []
        self._values = 0
        self._affected: list[int] = []
        self._problem = ""
        self.answer: list[Any] = []

    def take(self, message: dict[str, Any]) -> bool:
        """Read a message; whether it is the last one. Raises Ended for what is no answer."""
        check_known(message)
        try:
            if "error" in message:
                self.answer = _error(message["error"])
            else:
                self._add(message)
        except Unfit as error:
            self._problem = self._problem or str(error)
        if message.get("more") is True and "error" not in message:
            return False
        if self._problem:
            self.answer = ["unfit", self._problem]
        elif not self.answer:
            self.answer = self._result()
        return True

    def _result(self) -> list[Any]:
        if self._names is None:
            return ["done", *self._affected]
        if any(self._types):
            return ["rows", self._names, self._rows, self._types]
        return ["rows", self._names, self._rows]

    def _add(self, message: dict[str, Any]) -> None:
        if "columns" in message:
            if self._names is not None:
                raise Unfit("columns that come twice in one result")
            self._names, self._types = _columns(message["columns"])
        affected = message.get("affected")
        if affected is not None:
            if type(affected) is not int or affected < 0:
                raise Unfit(f"a number of affected rows that is none: {affected!r}"[:200])
            self._affected = [affected]
        rows = message.get("rows", [])
        if type(rows) is not list or not all(type(row) is list for row in rows):
            raise Unfit("rows that are no list of lists")
        if self._names is None and "rows" in message:
            if not rows:
                raise Unfit("a result without rows that does not say its columns")
            self._names = [""] * len(rows[0])
        width = len(self._names or ())
        wrong = next((len(row) for row in rows if len(row) != width), -1)
        if wrong >= 0:
            raise Unfit(f"a row of {wrong} values for {width} columns")
        self._values += max(1, width) * len(rows)
        if self._values > MOST_VALUES:
            self._rows = []
            raise Unfit(f"a result of more than {MOST_VALUES} values is too large")
        self._rows += rows if _are_plain(rows) else [list(map(_value, row)) for row in rows]


def check_known(message: dict[str, Any]) -> None:
    """Raise Ended for a message with keys that mean nothing."""
    unknown = [key for key in message if key not in KNOWN and not key.startswith("x_")]
    if unknown:
        raise Ended("protocol", f"an answer with {unknown[0][:50]!r}, which is none of its keys")
    if message.get("more", False) not in (True, False) or type(message.get("more", 1)) is float:
        raise Ended("protocol", f"an answer whose `more` is {message['more']!r}"[:200])


def _columns(given: Any) -> tuple[list[str], list[str]]:
    """Names and types of columns; each is a name, or an object with both."""
    if type(given) is not list:
        raise Unfit("columns that are no list")
    names, types = [], []
    for column in given:
        named = {"name": column} if type(column) is str else column
        if type(named) is not dict or not named.keys() <= {"name", "type"}:
            raise Unfit(f"a column that is neither a name nor name and type: {column!r}"[:200])
        name, kind = named.get("name", ""), named.get("type", "")
        if type(name) is not str or type(kind) is not str:
            raise Unfit(f"a column whose name or type is no text: {column!r}"[:200])
        names.append(name)
        types.append(kind)
    return names, types


def _are_plain(rows: Sequence[Sequence[Any]]) -> bool:
    """Whether all values mean themselves."""
    kinds = set(map(type, chain.from_iterable(rows)))
    if kinds <= _PLAIN:
        return True
    values = chain.from_iterable(rows)
    return kinds <= _PLAIN | {int} and all(v in INTEGERS for v in values if type(v) is int)


def _value(given: Any) -> Any:
    """A value from its JSON. Raises Unfit."""
    if type(given) is bool:
        return int(given)
    if type(given) is int:
        return given if given in INTEGERS else str(given)
    if given is None or type(given) in (str, float):
        return given
    if type(given) is dict and len(given) == 1:
        [(tag, text)] = given.items()
        if tag in _TAGS and type(text) is str:
            try:
                return _TAGS[tag](text)
            except (ValueError, binascii.Error) as error:
                raise Unfit(f"a value that is no {tag}: {text!r}"[:200]) from error
    raise Unfit(f"a value that is none of the protocol's: {given!r}"[:200])


def _integer(text: str) -> int | str:
    if not _DIGITS.fullmatch(text):
        raise ValueError(text)
    number = int(text)
    return number if number in INTEGERS else str(number)


def _real(text: str) -> float:
    if text != text.strip() or "_" in text:
        raise ValueError(text)
    number = float(text)
    if math.isinf(number) and "n" not in text.lower():
        raise ValueError(text)
    return number


def _blob(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


def _text(text: str) -> str:
    return _blob(text).decode("utf-8", "surrogateescape")


_TAGS: dict[str, Callable[[str], Any]] = {
    "int": _integer,
    "real": _real,
    "blob": _blob,
    "text": _text,
}


def _error(given: Any) -> list[Any]:
    """An error's answer: a message, or an object with more. Raises Unfit."""
    named = {"message": given} if type(given) is str else given
    if type(named) is not dict:
        raise Unfit(f"an error that is neither a text nor an object: {given!r}"[:200])
    message, kind = named.get("message", ""), named.get("type", "Error")
    state, position = named.get("sqlstate", "") or "", named.get("position")
    if type(message) is not str or type(kind) is not str:
        raise Unfit(f"an error whose message or type is no text: {given!r}"[:200])
    if type(state) is not str or (state and not _STATE.fullmatch(state)):
        raise Unfit(f"an SQLSTATE that is none: {state!r}"[:200])
    if named.get("timeout") is True:
        return ["lost", f"{SLOW}: {message}"[:MESSAGE]]
    text = message[:MESSAGE] + (f" (at {position})" if type(position) is int else "")
    if named.get("internal") is True:
        return ["crash", kind[:100], text]
    return ["error", kind[:100], text, *([state] if state else [])]
