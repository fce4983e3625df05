"""ORDER BY, DISTINCT and LIMIT: the last steps of a query.

NULL comes first unless NULLS LAST says otherwise; rows that are equal under all terms keep the
order in which they came.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from sqlglot import exp

from minidb.collation import Fold, identity, sort_key
from minidb.errors import OperationalError
from minidb.scope import Builder, Row, Scope
from minidb.syntax import bare
from minidb.values import Value, looks_numeric

Keyed = tuple[Row, Row]


@dataclass(frozen=True)
class Term:
    """One term of ORDER BY: what its text is compared by, and its direction."""

    fold: Fold
    descending: bool
    nulls_first: bool


def term_of(node: exp.Expr, fold: Fold) -> Term:
    """The term that an Ordered node describes."""
    return Term(fold, bool(node.args.get("desc")), bool(node.args.get("nulls_first")))


def position_of(node: exp.Expr) -> int | None:
    """The number of a result column, where ORDER BY or GROUP BY names it by number."""
    node = bare(node)
    if isinstance(node, exp.Neg):
        inner = position_of(node.this)
        return None if inner is None else -inner
    is_number = isinstance(node, exp.Literal) and not node.args["is_string"]
    return int(node.name) if is_number and node.name.isdigit() else None


def without_collate(node: exp.Expr) -> tuple[exp.Expr, str | None]:
    """The expression below an outermost COLLATE, and its name."""
    node = bare(node)
    if isinstance(node, exp.Collate):
        return bare(without_collate(node.this)[0]), node.expression.name.upper()
    return node, None


def checked_position(number: int, columns: int, clause: str) -> int:
    """The index of a result column given by number; OperationalError if there is none."""
    if not 1 <= number <= columns:
        raise OperationalError(f"{clause} term out of range - should be between 1 and {columns}")
    return number - 1


def in_order(rows: Iterable[Keyed], terms: list[Term]) -> list[Keyed]:
    """The rows, each with its keys, sorted by the terms."""
    found = list(rows)
    for place, term in reversed(list(enumerate(terms))):
        found.sort(key=_key(place, term), reverse=term.descending)
    return found


def _key(place: int, term: Term) -> Callable[[Keyed], tuple[int, int | float | str | bytes]]:
    fold = term.fold
    null = (0, 0) if term.nulls_first is not term.descending else (9, 0)

    def key(row: Keyed) -> tuple[int, int | float | str | bytes]:
        value = row[1][place]
        return null if value is None else sort_key(value, fold)

    return key


def distinct(rows: Iterable[Keyed], folds: list[Fold]) -> Iterator[Keyed]:
    """The rows without those that equal an earlier one; NULL equals NULL here."""
    seen: set[Row] = set()
    for row in rows:
        mark = marked(row[0], folds)
        if mark not in seen:
            seen.add(mark)
            yield row


def marked(row: Row, folds: list[Fold]) -> Row:
    """A hashable stand-in that is equal for rows that are duplicates."""
    return tuple(identity(value, fold) for value, fold in zip(row, folds, strict=True))


def limits(
    builder: Builder, node: exp.Expr, parent: Scope | None
) -> Callable[[], tuple[int | None, int]]:
    """What reads LIMIT and OFFSET when the query runs: the number of rows, None for all, and how
    many to skip.
    """
    limit, offset = node.args.get("limit"), node.args.get("offset")
    if limit is not None and not isinstance(limit, exp.Limit):
        raise OperationalError(f"syntax error near {limit.sql('sqlite')}")
    outside = Scope(None)
    count = builder.code(limit.expression, outside).evaluate if limit is not None else None
    skip = builder.code(offset.expression, outside).evaluate if offset is not None else None

    def read() -> tuple[int | None, int]:
        rows = _whole(count()) if count else -1
        return (None if rows < 0 else rows), max(0, _whole(skip()) if skip else 0)

    return read


def _whole(value: Value) -> int:
    number = looks_numeric(value) if isinstance(value, str) else value
    if isinstance(number, float) and number == int(number):
        number = int(number)
    if not isinstance(number, int):
        raise OperationalError("datatype mismatch")
    return number


def cut(rows: Iterator[Row], limit: tuple[int | None, int]) -> Iterator[Row]:
    """The rows between OFFSET and LIMIT."""
    count, skip = limit
    return islice(rows, skip, None if count is None else skip + count)
