"""The aggregate functions: each sees the rows of one group in turn and has one result.

What NULL contributes differs: COUNT(x), SUM, AVG, MIN, MAX and GROUP_CONCAT do not see it; over no
rows SUM is NULL and TOTAL is 0.0 (https://sqlite.org/lang_aggfunc.html).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from minidb.collation import Fold, order
from minidb.errors import OperationalError
from minidb.values import Value, fits, looks_numeric, real, to_real, to_text


class Accumulator:
    """What an aggregate knows of the rows it has seen."""

    def step(self, values: tuple[Value, ...]) -> bool:
        """See one row; whether the group's other columns should now be those of this row."""
        raise NotImplementedError

    def result(self) -> Value:
        """The aggregate over what was seen."""
        raise NotImplementedError


class CountRows(Accumulator):
    """`count(*)`."""

    def __init__(self, fold: Fold) -> None:
        self.seen = 0

    def step(self, values: tuple[Value, ...]) -> bool:
        """Every row counts."""
        self.seen += 1
        return True

    def result(self) -> Value:
        """How many rows there were."""
        return self.seen


class Count(CountRows):
    """`count(x)`."""

    def step(self, values: tuple[Value, ...]) -> bool:
        """A row counts unless x is NULL."""
        if values[0] is not None:
            self.seen += 1
        return True


class Sum(Accumulator):
    """`sum(x)`: integer while all are integers, else real. Too large an integer is an error."""

    def __init__(self, fold: Fold) -> None:
        self.seen, self.whole, self.real = 0, 0, 0.0
        self.inexact = self.overflow = False

    def step(self, values: tuple[Value, ...]) -> bool:
        """Add what is not NULL."""
        value = values[0]
        if value is None:
            return True
        self.seen += 1
        number = looks_numeric(value) if isinstance(value, str) else value
        self.real += to_real(value)
        if not isinstance(number, int):
            self.inexact = True
        elif not (self.inexact or self.overflow):
            self.whole += number
            self.overflow = not fits(self.whole)
        return True

    def result(self) -> Value:
        """NULL if there was nothing to add."""
        if not self.seen:
            return None
        if self.overflow:
            raise OperationalError("integer overflow")
        return real(self.real) if self.inexact else self.whole


class Average(Sum):
    """`avg(x)`: always real."""

    def result(self) -> Value:
        """NULL if there was nothing."""
        return real(self.real / self.seen) if self.seen else None


class Total(Sum):
    """`total(x)`: a sum that is always real and never NULL."""

    def result(self) -> Value:
        """0.0 if there was nothing to add."""
        return real(self.real)


class Maximum(Accumulator):
    """`max(x)`; its row, the first of several, is where the group's other columns come from."""

    direction = 1

    def __init__(self, fold: Fold) -> None:
        self.fold = fold
        self.best: Value = None

    def step(self, values: tuple[Value, ...]) -> bool:
        """Keep what is larger than all before."""
        value = values[0]
        if value is None:
            return self.best is None
        if self.best is not None and self.direction * order(value, self.best, self.fold) <= 0:
            return False
        self.best = value
        return True

    def result(self) -> Value:
        """NULL if there was nothing but NULL."""
        return self.best


class Minimum(Maximum):
    """`min(x)`, likewise."""

    direction = -1


class Concatenation(Accumulator):
    """`group_concat(x[, separator])`, in the order of the rows."""

    def __init__(self, fold: Fold) -> None:
        self.parts: list[str] = []

    def step(self, values: tuple[Value, ...]) -> bool:
        """Append what is not NULL, and before it the row's separator unless it is the first."""
        value, *separators = values
        if value is None:
            return True
        if self.parts:
            mark = separators[0] if separators else ","
            self.parts.append("" if mark is None else to_text(mark))
        self.parts.append(to_text(value))
        return True

    def result(self) -> Value:
        """NULL if there was nothing."""
        return "".join(self.parts) if self.parts else None


@dataclass(frozen=True)
class Aggregate:
    """One function; `chooses` if its row decides where bare columns come from."""

    start: Callable[[Fold], Accumulator]
    least: int
    most: int
    chooses: bool = False


AGGREGATES = {
    "avg": Aggregate(Average, 1, 1),
    "count": Aggregate(Count, 1, 1),
    "group_concat": Aggregate(Concatenation, 1, 2),
    "max": Aggregate(Maximum, 1, 1, chooses=True),
    "min": Aggregate(Minimum, 1, 1, chooses=True),
    "sum": Aggregate(Sum, 1, 1),
    "total": Aggregate(Total, 1, 1),
}
