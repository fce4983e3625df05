"""Progress of a fuzzing run: findings as they come, and a line of how far it is.

The line changes on a terminal; elsewhere one comes now and then, so that a log of hours shows that
the run is alive.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TextIO

from refute.cli.printing import print_all
from refute.report.fuzz import finding_lines
from refute.verifiers.sql.fuzz_plan import Counts, Finding

SELDOM_S = 30.0  # between two lines where stderr is no terminal


class FuzzProgress:
    """Prints findings on `people`, and how far the run is on `stream`.

    most: findings that are printed; again: the command that plays a program again; left: what is
    left of the run, in words, by seconds spent and programs done; new: told of findings that are
    not known.
    """

    def __init__(
        self,
        people: TextIO,
        stream: TextIO,
        most: int,
        again: str,
        left: Callable[[float, int], str],
        new: Callable[[Finding], object] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._people, self._stream = people, stream
        self._most, self._again, self._left = most, again, left
        self._terminal = stream.isatty()
        self._new = new
        self._clock = clock
        self._due = clock() + (0.0 if self._terminal else SELDOM_S)
        self._number = 0

    def found(self, finding: Finding) -> None:
        """Print a finding that is not known, unless enough were printed."""
        if finding.known:
            return
        self._number += 1
        if self._number <= self._most:
            self.clear()
            lines = finding_lines(finding, self._number, self._again)
            print_all("\n".join(lines) + "\n\n", self._people)
        self._new(finding)

    def tick(self, counts: Counts, findings: int, elapsed_s: float) -> None:
        """Say how far it is, where that is due."""
        now = self._clock()
        if not self._terminal and now < self._due:
            return
        self._due = now + SELDOM_S
        rate = counts.queries / max(elapsed_s, 0.001)
        parts = [f"{counts.programs:,} databases", f"{counts.queries:,} queries", f"{rate:,.0f}/s"]
        if findings:
            parts.append(f"{findings:,} cause{'' if findings == 1 else 's'}")
        if left := self._left(elapsed_s, counts.programs):
            parts.append(f"{left} left")
        words = ", ".join(parts)
        self._stream.write(f"\r\x1b[2K{words[:100]}" if self._terminal else f"{words}\n")
        self._stream.flush()

    def clear(self) -> None:
        """Take the line away."""
        if self._terminal:
            self._stream.write("\r\x1b[2K")
            self._stream.flush()
