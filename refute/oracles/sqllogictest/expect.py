"""Whether what an engine answered is what a record expects.

Answers have the driver's form (`refute.oracles.sql.driver`). Besides what is listed or hashed in
the file, queries with the same label must have the same result; that is also asked of skipped
queries, whose results the file knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from refute.oracles.sqllogictest.reader import QueryRecord, StatementRecord
from refute.oracles.sqllogictest.render import digest, joined

SLOW = "did not answer in time"  # how an engine is lost that hangs
KINDS = ("values", "columns", "label", "error", "no error", "no rows", "unfit", "crash", "hang")
SHOWN = 6  # values of a result that are shown, from the first difference on
WIDEST = 60

Labels = dict[str, str]


class Mismatch(NamedTuple):
    """What the record expects and what came instead, each on one line.

    kind: one of KINDS.
    """

    expected: str
    got: str
    kind: str = ""


def judge(record: StatementRecord | QueryRecord, answer: Any, labels: Labels) -> Mismatch | None:
    """None when the record passes. labels: results by label so far, of this file; it is kept up."""
    kind = answer[0]
    if type(record) is StatementRecord:
        if kind == "error":
            return None if record.fails else Mismatch("no error", _said(answer), "error")
        if kind == "rows" or kind == "done":
            return Mismatch("an error", "no error", "no error") if record.fails else None
        expected = "an error" if record.fails else "no error"
        return Mismatch(expected, _said(answer), _kind(answer))
    assert type(record) is QueryRecord
    if kind != "rows":
        return Mismatch(_wanted(record), _said(answer), _kind(answer))
    rows: Sequence[Sequence[Any]] = answer[2]
    if len(answer[1]) != len(record.types):
        return Mismatch(_columns(len(record.types)), _columns(len(answer[1])), "columns")
    return _compare(record, joined(record.types, rows, record.sort), labels)


def observe_skipped(record: QueryRecord, labels: Labels) -> Mismatch | None:
    """Compare the expected result of a skipped query with that of its label."""
    if not record.label or not record.expects:
        return None
    found = record.digest or digest("\n".join(record.values or ()))
    return _same_label(record, found, labels)


def _columns(number: int) -> str:
    return f"{number} column{'' if number == 1 else 's'}"


def begins_well(record: StatementRecord | QueryRecord, answer: Any) -> bool:
    """Whether a record that failed could have passed, had it been longer: SQL or values missing."""
    if type(record) is QueryRecord and record.values is not None and answer[0] == "rows":
        if len(answer[1]) != len(record.types):
            return False
        got = joined(record.types, answer[2], record.sort)
        return got.startswith("\n".join(record.values))
    return bool(answer[0] == "error")


def _compare(record: QueryRecord, got: str, labels: Labels) -> Mismatch | None:
    """got: the values' texts, one on each line; no text is empty."""
    found = ""
    if record.digest or record.label:
        found = digest(got)
    if record.values is not None:
        if "\n".join(record.values) != got:
            return _difference(record.values, _lines(got))
    elif record.number >= 0:
        number = got.count("\n") + 1 if got else 0
        if record.digest != found or record.number != number:
            shown = f"{number} values hashing to {found}"
            got = f"{shown} ({_listed(_lines(got), 0)})"
            return Mismatch(_wanted(record), got, "values")
    return _same_label(record, found, labels) if record.label else None


def _lines(text: str) -> list[str]:
    return text.split("\n") if text else []


def _same_label(record: QueryRecord, found: str, labels: Labels) -> Mismatch | None:
    first = labels.setdefault(record.label, found)
    if first == found:
        return None
    return Mismatch(f"the result of label {record.label} before, {first}", found, "label")


def _difference(expected: list[str], got: list[str]) -> Mismatch:
    """Both from the first value that differs on."""
    pairs = zip(expected, got, strict=False)
    at = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(expected), len(got)))
    return Mismatch(_listed(expected, at), _listed(got, at), "values")


def _listed(values: Sequence[str], at: int) -> str:
    """The values from `at` on, shortened, with their number."""
    number = f"{len(values)} value{'' if len(values) == 1 else 's'}"
    if not values:
        return "no values"
    if at >= len(values):
        return f"{number} and no more"
    shown = [v if len(v) <= WIDEST else f"{v[: WIDEST - 1]}…" for v in values[at : at + SHOWN]]
    before = "… " if at else ""
    after = " …" if len(values) > at + SHOWN else ""
    return f"{number}: {before}{' | '.join(shown)}{after}"


def _wanted(record: QueryRecord) -> str:
    if record.values is not None:
        return _listed(record.values, 0)
    if record.number >= 0:
        return f"{record.number} values hashing to {record.digest}"
    return "a result"


def _kind(answer: Any) -> str:
    """What an answer is in which there are no rows, as the kind of a mismatch."""
    match answer[0]:
        case "lost":
            return "hang" if SLOW in answer[1] else "crash"
        case "done":
            return "no rows"
    return str(answer[0])  # error, crash, unfit


def _said(answer: Any) -> str:
    """An answer that is no result set, for people."""
    match answer[0]:
        case "error":
            return f"error {answer[1].rpartition('.')[2]}: {answer[2]}".replace("\n", " ")
        case "crash":
            return f"the engine failed with {answer[1]}: {answer[2]}".replace("\n", " ")
        case "unfit":
            return str(answer[1])
        case "lost":
            return f"the engine {answer[1]}"
        case "done":
            return "no result set"
    return "a result set"


def fingerprint(types: str, answer: Any) -> str:
    """Equal for equal answers, as far as a file can tell them apart; "" for one that is none.

    types: of the columns as the record has them; without, or for another number of columns, values
    are taken as texts, and 1.0 is 1. The order of the rows is left out.
    """
    if answer[0] != "rows":
        return str(answer[0]) if answer[0] in ("done", "error") else ""
    columns = len(answer[1])
    rows: Sequence[Sequence[Any]] = answer[2]
    if len(types) != columns or types.strip("TIR"):
        types = "T" * columns
        rows = [[int(v) if type(v) is float and v.is_integer() else v for v in r] for r in rows]
    return f"{columns} {digest(joined(types, rows, 'rowsort'))}"
