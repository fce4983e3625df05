"""The driver: runs SQL on a DB-API 2.0 connection, in the worker where the engine lives.

It only carries: statements in, what came of each out, as plain data. Whatever is compared, sorted,
rendered or hashed is the parent's work, because the engine shares this process and could patch
anything here. All that gains it is another answer, which it could have given anyway.

One result for each statement:

    ["rows", [column name, …], [[value, …], …]]   values: None, int, float, str, bytes;
                                                   a fourth item, where the engine tells them, is
                                                   the list of its own names of the columns' types
    ["done"]                                       no result set; a second item, where the driver
                                                   says it, is the number of rows affected
    ["error", type name, message]                  an exception that PEP 249 knows: an SQL error;
                                                   a fourth text is its SQLSTATE, where it has one
    ["crash", type name, message]                  any other exception: a bug of the engine
    ["unfit", why]                                 an answer that is none of these

A crash is kept apart from an error because a test that expects an error must not pass on an
engine that fell over. The exceptions of PEP 249 have a base class `Error`, known by that name.
"""

from __future__ import annotations

import contextlib
import importlib
import time
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

PAUSE_S = 0.25  # `run` comes back after so long, with the results that are there
MOST_VALUES = 50_000  # of one result; the wire takes so many blobs
MOST_TEXT = 4_000_000  # bytes of one result's text on the wire
FULL = 0.25  # of both, in earlier results, ends an answer
MESSAGE = 500

_INTEGERS = range(-(2**63), 2**63)
_KINDS = frozenset({type(None), int, float, str, bytes})
_import, _monotonic = importlib.import_module, time.monotonic
_BaseException, _getattr, _setattr, _isinstance = BaseException, getattr, setattr, isinstance
_NO_ROWS = (str, bytes, bytearray, Mapping, Set)  # fall apart into letters, keys, or any order


def function_of(factory: str) -> Any:
    """What "module:function" names, its module imported. Raises whatever that raises."""
    module, _, name = factory.partition(":")
    made: Any = _import(module)
    for part in name.split("."):
        made = _getattr(made, part)
    return made


class Session:
    """One connection of the engine that `factory`, "module:function", makes."""

    def __init__(self, factory: str) -> None:
        made = function_of(factory)
        self._make = made
        self._connection: Any = made()
        commit_each(self._connection)

    def restart(self, statements: Sequence[str]) -> list[list[Any]]:
        """As `run`, on a new connection; the one before is closed."""
        with contextlib.suppress(_BaseException):  # it is of no use any more
            self._connection.close()
        self._connection = self._make()
        commit_each(self._connection)
        return self.run(statements)

    def run(self, statements: Sequence[str]) -> list[list[Any]]:
        """The results of the first statements, at least one; ask again for those left over.

        It comes back early when time or size of one answer is used up, so that the parent can wait
        for each answer with the patience for little more than one statement.
        """
        results: list[list[Any]] = []
        full = 0.0
        until = _monotonic() + PAUSE_S
        for statement in statements:
            result, part = self._run(statement)
            results.append(result)
            full += part
            if full > FULL or _monotonic() > until:
                break
        return results

    def _run(self, statement: str) -> tuple[list[Any], float]:
        """One result, and which part of the largest it is."""
        try:
            cursor = self._connection.cursor()
            cursor.execute(statement)
            if cursor.description is None:
                result, part = done(cursor), 0.0
            else:
                names = [str(column[0]) for column in cursor.description]
                result, part = _rows(names, cursor.fetchall())
            cursor.close()
            return result, part
        except _BaseException as error:  # an engine that exits has not answered
            return failed(error), 0.0


def done(cursor: Any) -> list[Any]:
    """The answer without a result set, with the number of rows affected where PEP 249 has it."""
    affected = _getattr(cursor, "rowcount", -1)
    return ["done", affected] if type(affected) is int and affected >= 0 else ["done"]


def commit_each(connection: Any) -> None:
    """Have every statement commit by itself, where the driver would begin transactions unasked.

    PEP 249 leaves this to extensions: `autocommit`, or the older `isolation_level` of sqlite3.
    """
    for name, value in (("autocommit", True), ("isolation_level", None)):
        if hasattr(connection, name):
            try:
                _setattr(connection, name, value)
            except Exception:  # some drivers have a method by that name, or cannot
                continue
            return


def _rows(names: list[str], fetched: Iterable[Iterable[Any]]) -> tuple[list[Any], float]:
    """The rows as plain data and their part of the largest result; or why they are unfit."""
    rows = []
    for row in fetched:
        if type(row) is not tuple and _isinstance(row, _NO_ROWS):
            return ["unfit", f"a row that is a {type(row).__qualname__}"], 0.0
        rows.append(list(row))
    size, values = 0, 0
    for row in rows:
        if len(row) != len(names):
            return ["unfit", f"a row of {len(row)} values for {len(names)} columns"], 0.0
        values += len(row)
        for value in row:
            kind = type(value)
            if kind not in _KINDS:
                return ["unfit", f"a value of type {kind.__module__}.{kind.__qualname__}"], 0.0
            if kind is int and value not in _INTEGERS:
                return ["unfit", "an integer of more than 64 bits"], 0.0
            if kind is str:
                size += len(value) if value.isascii() else 12 * len(value)
            elif kind is bytes:
                size += len(value)
    part = max(values / MOST_VALUES, size / MOST_TEXT)
    if part > 1:
        return ["unfit", f"a result of {values} values and {size} bytes is too large"], 0.0
    return ["rows", names, rows], part


def failed(error: BaseException) -> list[Any]:
    """The answer for what an engine raised."""
    kind = type(error)
    known = any(base.__name__ == "Error" for base in kind.__mro__)
    try:
        message = str(error)[:MESSAGE]
    except _BaseException:  # an engine's exception may define anything
        message = ""
    answer = ["error" if known else "crash", f"{kind.__module__}.{kind.__qualname__}", message]
    state = _sqlstate(error) if known else ""
    return [*answer, state] if state else answer


def _sqlstate(error: BaseException) -> str:
    """The SQLSTATE, where an exception carries it as psycopg's do (PEP 249 has no place for it)."""
    for name in ("sqlstate", "pgcode"):
        try:
            state = _getattr(error, name, None)
        except _BaseException:
            continue
        if type(state) is str and len(state) == 5:
            return state
    return ""
