"""GROUP BY and aggregates: rows become groups, each with its aggregates and one row for the rest.

A bare column of a group is taken from its first row, or, where there is a min() or max(), from the
row that has it (https://sqlite.org/lang_select.html#bareagg). Groups come out in the order of
their keys. Without GROUP BY there is one group, also over no rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from minidb.calls import Use
from minidb.collation import sort_key
from minidb.joins import Stage
from minidb.ordering import marked
from minidb.scope import Code, Row, Scope
from minidb.values import Value


class Group:
    """The rows of one group so far."""

    def __init__(self, uses: list[Use], frame: list[Row], key: Row) -> None:
        self.key = key
        self.frame = list(frame)
        self.accumulators = [use.start() for use in uses]
        self.seen: list[set[Value]] = [set() for _ in uses]
        self.rows = 0

    def step(self, uses: list[Use], frame: list[Row]) -> None:
        """See the row in the frame."""
        chosen = self.rows == 0
        for use, accumulator, seen in zip(uses, self.accumulators, self.seen, strict=True):
            values = use.given(seen)
            if use.chooses:
                chosen = values is None or accumulator.step(values)
            elif values is not None:
                accumulator.step(values)
        if chosen:
            self.frame[:] = frame
        self.rows += 1


def groups(walk: Stage, keys: list[Code], scope: Scope, one: bool) -> Iterator[None]:
    """Each group in turn, in the scope's frame and results; `one` if there is no GROUP BY."""
    uses, frame = cast(list[Use], scope.aggregates), scope.frame
    found: dict[Row, Group] = {}
    readings, folds = [key.evaluate for key in keys], [key.fold for key in keys]
    for _ in walk():
        key = tuple(read() for read in readings)
        mark = marked(key, folds)
        group = found.get(mark)
        if group is None:
            group = found[mark] = Group(uses, frame, key)
        group.step(uses, frame)
    if one and not found:
        frame[:] = [source.nothing for source in scope.sources]
        found[()] = Group(uses, frame, ())
    for group in _sorted(list(found.values()), keys):
        frame[:] = group.frame
        scope.results[:] = group.accumulators
        yield None


def _sorted(found: list[Group], keys: list[Code]) -> list[Group]:
    folds = [key.fold for key in keys]
    return sorted(
        found,
        key=lambda group: [sort_key(v, f) for v, f in zip(group.key, folds, strict=True)],
    )
