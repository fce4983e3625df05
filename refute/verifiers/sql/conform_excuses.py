"""What is no failure although the record did not pass: excused, not expressible, not supported.

Costs nothing while records pass: all this is asked once one did not, and what it needs is loaded
then. The classes are described in `refute.oracles.sql.differences`.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any, Protocol

from refute.oracles.sql.sqlite import SQLite
from refute.oracles.sqllogictest.reader import QueryRecord, StatementRecord
from refute.oracles.sqllogictest.render import digest
from refute.verifiers.sql.conform_arbiter import Arbiter
from refute.verifiers.sql.conform_names import PACKAGES, SERVERS, name_of, scheme_of

INEXPRESSIBLE = "inexpressible"  # first of an answer: nothing was asked, since nothing could be
CLAIMED = "unsupported: "  # begins a construct that the engine itself says it has not
_BY_ORDER = ("row-order", "ties")  # classes of the same rows in another order

Record = StatementRecord | QueryRecord
Lines = dict[str, list[int]]


class Results(Protocol):
    """What a file's result keeps about records that are no failures."""

    run: int
    differences: Lines
    inexpressible: Lines


class Excuses:
    """The classes of expected difference of one run. engine: as `DIFFERENCES` names it, or "".

    off: classes that are switched off.
    """

    def __init__(self, engine: str, transpiled: bool, off: frozenset[str]) -> None:
        self.engine = engine
        self._given = (engine, transpiled, off)
        self._explainer: Any = None

    def of(
        self,
        record: Record,
        answer: Sequence[Any],
        database: SQLite,
        behind: SQLite | None = None,
    ) -> tuple[str, str]:
        """The class that excuses an answer, and else what keeps the record from being run.

        behind: the database without the statements that were refused, if there are any.
        """
        if self._explainer is None:
            module = importlib.import_module("refute.oracles.sql.differences_explain")
            self._explainer = module.Explainer(*self._given)
        found: tuple[str, str] = self._explainer.explain(record, answer, database, behind)
        return found


def kind_of(engine: str) -> str:
    """Which engine the classes take one for, given as for `--engine`.

    "" for code under test: neither its name nor what it says of itself gets it another's classes.
    """
    known = engine in PACKAGES or scheme_of(engine) in SERVERS
    return name_of(engine) if known else ""


def claimed(result: Results) -> int:
    """How many records were left out on the engine's own word."""
    left_out = result.inexpressible.items()
    return sum(len(lines) for name, lines in left_out if name.startswith(CLAIMED))


def _is_sorted_label(record: Record) -> bool:
    """Whether nothing but an earlier query with its label says what is right, in any order.

    Where its rows are those of SQLite, the earlier query had others.
    """
    return type(record) is QueryRecord and not record.expects and record.sort != "nosort"


def excused(
    excuses: Excuses | None,
    result: Results,
    labels: dict[str, str],
    record: Record,
    answer: Sequence[Any],
    arbiter: Arbiter,
) -> bool:
    """Whether a record that did not pass is no failure; then it is noted what it is instead.

    arbiter: has SQLite as it was before the record. A label keeps the result that the file
    expects, since the engine's is another one.
    """
    if answer[0] == INEXPRESSIBLE:
        name, construct = "", str(answer[1])
    elif excuses is None or answer[0] == "skipped":
        return False
    else:
        database = arbiter.before(record)
        name, construct = excuses.of(record, answer, database, arbiter.behind)
        if name in _BY_ORDER and _is_sorted_label(record):
            name = ""
        if (name or construct) and answer[0] == "error" and type(record) is StatementRecord:
            arbiter.leave_out(record)
    if construct:
        result.run -= 1
        result.inexpressible.setdefault(construct, []).append(record.line)
    elif name:
        result.differences.setdefault(name, []).append(record.line)
    else:
        return False
    if type(record) is QueryRecord and record.label and record.expects:
        expected = record.digest or digest("\n".join(record.values or ()))
        labels[record.label] = expected
    return True
