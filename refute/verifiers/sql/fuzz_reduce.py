"""Reduction of a failure: statements, clauses, rows and values go as long as it breaks as before.

First whole statements of the setup go, in halves and then one by one, because each costs time in
every trial after; then the query gets smaller, boldest steps first; then rows, columns and values;
and again from the start until nothing is simpler. The number of statements that may be asked is
bounded, so that the same failure is reduced to the same case on a slow machine.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence

from refute.fuzz.sql.reduction import bolder, expressions, finer, simpler, size
from refute.fuzz.sql.script_reduction import fewer_rows, in_rows, named, simpler_statements
from refute.fuzz.sql.text import look

Script = tuple[tuple[str, ...], str]
Breaks = Callable[[tuple[str, ...], str], bool]

_PLAIN = re.compile(r"\s*(?:INSERT\s+INTO|CREATE\s+TABLE)\b", re.IGNORECASE)


class Reducer:
    """Reduces one failure.

    breaks: whether a case fails as the first did. statements: that may be asked in all; `start`:
    how many of them a new database is worth, `restart`: a process that a case ended. until: a time
    of the monotonic clock, when it stops wherever it is. tried: how many cases were tried.
    """

    def __init__(
        self,
        breaks: Breaks,
        statements: int,
        start: int = 0,
        until: float = float("inf"),
        restart: int = 0,
    ) -> None:
        self._breaks = breaks
        self._left = statements
        self._start = start
        self._restart = restart
        self._until = until
        self._seen: set[Script] = set()
        self.tried = 0

    @property
    def spent(self) -> bool:
        """Whether it had to stop before nothing was simpler."""
        return self._left <= 0 or time.monotonic() > self._until

    def reduced(self, setup: Sequence[str], query: str) -> Script:
        """The simplest case that was found."""
        found: Script = (tuple(setup), query)
        while True:
            before = found
            if self._restart:
                found = self._better(found, self._alone)
            found = self._fewer_statements(found)
            for candidates in (self._bold, self._setups, self._all, self._others):
                found = self._better(found, candidates)
            if found == before or self.spent:
                return found

    def _holds(self, script: Script) -> bool:
        """Whether a case that was not tried yet fails as well."""
        setup, query = script
        if script in self._seen or self.spent:
            return False
        self._seen.add(script)
        self.tried += 1
        self._left -= len(setup) + 2 + self._start
        broke = self._breaks(setup, query)
        self._left -= self._restart * broke  # what holds leaves the process as it was
        return broke

    def _better(self, found: Script, candidates: Callable[[Script], Iterator[Script]]) -> Script:
        """The simplest case by these steps; after each success they begin again."""
        going = True
        while going and not self.spent:
            going = False
            least = size(*found)
            for other in candidates(found):
                if size(*other) < least and self._holds(other):
                    found, going = other, True
                    break
        return found

    def _fewer_statements(self, found: Script) -> Script:
        """Without the statements that it does not need."""
        setup, query = found
        about = named(setup, query)
        if len(about) < len(setup):
            fewer = tuple(setup[place] for place in about)
            if self._holds((fewer, query)):
                found = (fewer, query)
        run = max(1, len(found[0]) // 2)
        while run:
            end = len(found[0])
            while end > 0:
                start = max(0, end - run)
                fewer = (*found[0][:start], *found[0][end:])
                if self._holds((fewer, query)):
                    found = (fewer, query)
                end = start
            run //= 2
        return found

    def _alone(self, found: Script) -> Iterator[Script]:
        """An expression of the query alone: what an engine ends over is often one construct."""
        setup, query = found
        tree = look(query)
        if tree is not None:
            for text, bare in expressions(tree):
                yield (() if bare else setup), text

    def _bold(self, found: Script) -> Iterator[Script]:
        setup, query = found
        tree = look(query)
        if tree is not None:
            yield from ((setup, text) for text in bolder(tree))

    def _setups(self, found: Script) -> Iterator[Script]:
        setup, query = found
        for fewer in fewer_rows(setup):
            yield tuple(fewer), query
        yield from ((tuple(s), query) for s in simpler_statements(setup, query, fine=False))

    def _all(self, found: Script) -> Iterator[Script]:
        setup, query = found
        for case in simpler({"setup": list(setup), "query": query}):
            yield tuple(case["setup"]), case["query"]

    def _others(self, found: Script) -> Iterator[Script]:
        """Simpler forms of what is neither a table nor rows: indexes, views, changes, triggers."""
        setup, query = found
        for place, statement in enumerate(setup):
            if _PLAIN.match(statement):
                continue
            tree = look(statement)
            if tree is None:
                continue
            for text in (*bolder(tree), *finer(tree)):
                yield (*setup[:place], text, *setup[place + 1 :]), query
        rows = tuple(in_rows(setup))
        if len(rows) != len(setup):
            fewer = self._fewer_statements((rows, query))
            if len(fewer[0]) < len(rows):
                yield fewer
