"""Which records of an extended file are checked, when not all of them are to be.

As in `conform_chosen`: what may change something still runs as far as the last chosen record, and
what only reads is left out. A record of an included file is chosen by the line of the `include`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from refute.oracles.sqllogictest.extended.program import (
    Include,
    Loop,
    Node,
    Program,
    Query,
    Record,
)
from refute.verifiers.sql.conform_chosen import READS_ONLY, Chosen


class Narrowed:
    """The records of a program that are checked, and those that run before them."""

    def __init__(self, program: Program, chosen: Chosen) -> None:
        taken = list(_with_lines(program.nodes, 0)) if chosen.takes(program.tags) else []
        starts = sorted({line for _, line in taken})
        ends = dict(zip(starts, [*starts[1:], 2**62], strict=False))  # no starts, no ends
        self._lines = {id(record): line for record, line in taken}
        self._picked = {
            id(record)
            for record, line in taken
            if chosen.picks(line, ends[line], getattr(record, "sql", ""))
        }
        self._last = max((self._lines[key] for key in self._picked), default=-1)

    def picks(self, record: Record) -> bool:
        """Whether the record is checked."""
        return id(record) in self._picked

    def leaves_out(self, record: Record) -> bool:
        """Whether a record that is not checked need not run either."""
        if self._lines.get(id(record), 2**62) > self._last:
            return True
        return isinstance(record, Query) and READS_ONLY.match(record.sql) is not None


def _with_lines(nodes: Sequence[Node], outer: int) -> Iterator[tuple[Record, int]]:
    """The records, each once, with the line of the file itself that they stand at."""
    for node in nodes:
        line = outer or node.place.line
        if isinstance(node, Record):
            yield node, line
        elif isinstance(node, Include):
            yield from _with_lines(node.body, line)
        elif isinstance(node, Loop):
            yield from _with_lines(node.body, outer)
