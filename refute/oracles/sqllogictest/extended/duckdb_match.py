"""Whether an answer is what a record of DuckDB's dialect expects, as DuckDB's runner compares.

Values are compared as the text that DuckDB itself makes of them. Where the texts differ, numbers
are equal as values of the column's type, FLOAT and DOUBLE within one percent (ApproxEqual of
src/common/types.cpp), and a boolean is `1` or `true`. What is stricter than test/sqlite/
result_helper.cpp: values that are listed are compared also where the query has a label or the
result is longer than `hash-threshold`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Any, NamedTuple

from refute.oracles.sqllogictest.expect import Labels, Mismatch
from refute.oracles.sqllogictest.extended.match import said, shown
from refute.oracles.sqllogictest.extended.program import Either, Fails, Query, Returns, Succeeds
from refute.oracles.sqllogictest.render import digest

MATCHES, MATCHES_NOT = "<REGEX>:", "<!REGEX>:"
FILE = "<FILE>:"
ALWAYS_FAIL = ("differs from original result!", "INTERNAL")
"""Parts of messages that no test can expect: the engine found itself broken."""

SHOWN = 6
_HASHED = re.compile(r"(\d+) values hashing to ([0-9a-z]{32})")
_DECIMAL = re.compile(r"DECIMAL\(\d+,\s?(\d+)\)")
_FLOATS = frozenset(("FLOAT", "DOUBLE"))
_INTEGERS = frozenset(
    (
        *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "BIGNUM"),
        *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"),
    )
)
_TOLERANCE, _SMALLEST = 0.01, 1e-8

Replace = Callable[[str], str]


class Table(NamedTuple):
    """A result as texts. types: DuckDB's names of the columns' types. values: row after row."""

    types: list[str]
    values: list[str]

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return len(self.values) // len(self.types) if self.types else 0


def table(answer: Sequence[Any], sort: str) -> Table:
    """The result in an answer, whose values are texts or None, sorted as the record says."""
    types = list(answer[3]) if len(answer) > 3 else _guessed(answer[2], len(answer[1]))
    rows = [[_text(v, kind) for v, kind in zip(r, types, strict=True)] for r in answer[2]]
    if sort == "rowsort":
        rows.sort()
    values = [value for row in rows for value in row]
    return Table(types, sorted(values) if sort == "valuesort" else values)


def lines_of(record: Query, answer: Sequence[Any], old: Sequence[str]) -> list[str]:
    """The lines that a file would have for this result. old: those that it has, for their layout.

    Rows stand on a line each, with tabs, unless the old lines have a value each.
    """
    got = table(answer, record.sort)
    columns = len(got.types)
    by_value = record.sort == "valuesort" or (
        len(old) > 1 and columns > 1 and not any("\t" in line for line in old)
    )
    if by_value or columns < 2:
        return got.values
    starts = range(0, len(got.values), columns)
    return ["\t".join(got.values[at : at + columns]) for at in starts]


def judge_query(
    record: Query, answer: Sequence[Any], wanted: Sequence[str] | None, labels: Labels
) -> Mismatch | None:
    """None when the record passes. wanted: the lines it lists, with what they stand for put in."""
    assert isinstance(record.expects, Returns)
    if answer[0] == "done":
        answer = ("rows", ["Success"], [], ["BOOLEAN"])
    if answer[0] != "rows":
        return Mismatch(_wanted(wanted), said(answer), _kind(answer))
    got = table(answer, record.sort)
    mismatch = None
    hashed = _HASHED.fullmatch(wanted[0]) if wanted and len(wanted) == 1 else None
    if len(got.types) != len(record.types):
        expected = f"{len(record.types)} column{'' if len(record.types) == 1 else 's'}"
        return Mismatch(expected, f"{len(got.types)}: {_listed(got.values, 0)}", "columns")
    if hashed:
        found = f"{len(got.values)} values hashing to {digest(_joined(got))}"
        if found != hashed[0]:
            mismatch = Mismatch(hashed[0], f"{found} ({_listed(got.values, 0)})", "values")
    elif wanted is not None:
        mismatch = _compare(got, wanted)
    if mismatch is None and record.label:
        mismatch = _same_label(record.label, got, labels)
    return mismatch


def judge_statement(
    expects: Succeeds | Fails | Either,
    answer: Sequence[Any],
    replace: Replace,
    always_fail: Sequence[str] = ALWAYS_FAIL,
) -> Mismatch | None:
    """None when a statement did what is expected of it. replace: puts values in for variables."""
    kind = answer[0]
    if kind in ("rows", "done"):
        return Mismatch(_error(expects), "no error", "no error") if type(expects) is Fails else None
    if kind != "error" or type(expects) is Succeeds:
        expected = "no error" if type(expects) is Succeeds else "an error"
        return Mismatch(expected, said(answer), _kind(answer))
    message = str(answer[2])
    fails = expects.fails if type(expects) is Either else expects
    assert type(fails) is Fails
    internal = next((part for part in always_fail if part in message), "")
    if internal:
        return Mismatch(f"no error with {internal!r}", said(answer), "crash")
    if fits(message, fails.part, replace):
        return None
    return Mismatch(_error(expects), said(answer), "error")


def fits(message: str, part: str, replace: Replace) -> bool:
    """Whether an error's message is the one that is expected. Raises re.error."""
    if not part or part in message or replace(part) in message:
        return True
    return _pattern(replace(part), message)


def regular(wanted: Sequence[str]) -> None:
    """Raises re.error for what is no regular expression, among lines or tab-separated values."""
    for line in wanted:
        for value in line.split("\t"):
            if value.startswith((MATCHES, MATCHES_NOT)):
                re.compile(value.partition(":")[2])


def _compare(got: Table, wanted: Sequence[str]) -> Mismatch | None:
    """The first value that differs, or the number of rows."""
    columns, rows = len(got.types), got.rows
    by_row = columns > 1 and (len(wanted) == rows or all("\t" in line for line in wanted))
    expected = list(wanted)
    if by_row and wanted:
        split = [[value for value in line.split("\t") if value] or [line] for line in wanted]
        wrong = next((row for row in split if len(row) != columns), None)
        if wrong is not None:
            problem = f"a line of {len(wrong)} values for {columns} columns: {' | '.join(wrong)}"
            return Mismatch(shown(problem), _listed(got.values, 0), "columns")
        expected = [value for row in split for value in row]
    for at, (have, want) in enumerate(zip(got.values, expected, strict=False)):
        if not same(got.types[at % columns], have, want):
            return Mismatch(_listed(expected, at), _listed(got.values, at), "values")
    if len(expected) != len(got.values):
        at = min(len(expected), len(got.values))
        return Mismatch(_listed(expected, at), _listed(got.values, at), "values")
    return None


def same(kind: str, have: str, want: str) -> bool:
    """Whether a value is the expected one. kind: DuckDB's name of the column's type."""
    if have == want or _pattern(want, have):
        return True
    if kind == "BOOLEAN":
        found = _BOOLEANS.get(want.lower())
        return found is not None and found == _BOOLEANS.get(have.lower())
    if "NULL" in (have, want):
        return False
    if kind in _FLOATS:
        return _close(have, want)
    if kind in _INTEGERS or kind.startswith("DECIMAL"):
        scale = _DECIMAL.fullmatch(kind)
        left, right = (_number(text, int(scale[1]) if scale else 0) for text in (have, want))
        return left is not None and left == right
    return False


_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


def _pattern(wanted: str, text: str) -> bool:
    """Whether `wanted` is a pattern that the whole text has, or has not."""
    for mark, matches in ((MATCHES, True), (MATCHES_NOT, False)):
        if wanted.startswith(mark):
            pattern = wanted[len(mark) :]
            return (re.fullmatch(pattern, text, re.DOTALL) is not None) is matches
    return False


def _close(have: str, want: str) -> bool:
    try:
        left, right = float(have), float(want)
    except ValueError:
        return False
    if math.isnan(left) or math.isnan(right):
        return math.isnan(left) and math.isnan(right)
    if math.isinf(left) or math.isinf(right):
        return left == right
    return abs(left - right) <= abs(right) * _TOLERANCE + _SMALLEST


def _number(text: str, scale: int) -> Decimal | None:
    """The text as a whole number, or as a decimal with so many digits after the point."""
    try:
        number = Decimal(text.strip())
        return number.quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP)
    except InvalidOperation:
        return None


def _text(value: Any, kind: str) -> str:
    """A value as the runner writes it."""
    if value is None:
        return "NULL"
    if kind == "BOOLEAN":
        return {"true": "1", "false": "0"}.get(str(value), str(value))
    text = value if type(value) is str else _plain(value)
    return text.replace("\0", "\\0") or "(empty)"


def _plain(value: Any) -> str:
    """A value of an engine that is not DuckDB, as DuckDB would write it."""
    if type(value) is bytes:
        return "".join(
            chr(b) if 0x20 <= b < 0x7F and chr(b) not in "\\'\"" else f"\\x{b:02X}" for b in value
        )
    return str(value)


def _guessed(rows: Sequence[Sequence[Any]], columns: int) -> list[str]:
    """The types of columns, by their values, of an engine that does not say them."""
    found = []
    for column in range(columns):
        kinds = {type(row[column]) for row in rows} - {type(None)}
        if not kinds or kinds - {int, float}:
            found.append("VARCHAR")
        else:
            found.append("DOUBLE" if float in kinds else "BIGINT")
    return found


def _joined(got: Table) -> str:
    return "\n".join(got.values)


def _same_label(label: str, got: Table, labels: Labels) -> Mismatch | None:
    found = f"{len(got.values)} values hashing to {digest(_joined(got))}"
    first = labels.setdefault(label, found)
    if first == found:
        return None
    shown_values = f"{found} ({_listed(got.values, 0)})"
    return Mismatch(f"the result of label {label} before, {first}", shown_values, "label")


def _listed(values: Sequence[str], at: int) -> str:
    """The values from `at` on, shortened, with their number."""
    number = f"{len(values)} value{'' if len(values) == 1 else 's'}"
    if not values:
        return "no values"
    if at >= len(values):
        return f"{number} and no more"
    some = [shown(value) for value in values[at : at + SHOWN]]
    after = " …" if len(values) > at + SHOWN else ""
    return f"{number}: {'… ' if at else ''}{' | '.join(some)}{after}"


def _wanted(wanted: Sequence[str] | None) -> str:
    return "a result" if wanted is None else shown(_listed(wanted, 0).replace("\t", " | "))


def _error(expects: Succeeds | Fails | Either) -> str:
    if type(expects) is Either:
        return f"no error, or {_error(expects.fails)}"
    part = expects.part if type(expects) is Fails else ""
    return f"an error with {shown(part)}" if part else "an error"


def _kind(answer: Sequence[Any]) -> str:
    """Of a mismatch: what came instead of a result."""
    kinds = {"lost": "crash", "error": "error", "unfit": "unfit", "done": "no rows"}
    if answer[0] == "lost" and "in time" in str(answer[1]):
        return "hang"
    return kinds.get(answer[0], "crash")
