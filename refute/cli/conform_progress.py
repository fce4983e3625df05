"""Progress of a conformance run: a changing line on a terminal, and a line now and then elsewhere.

What is left is told in time, by the bytes of the files: records differ in what they cost, but the
records of a run's files cost about the same a byte. Results that were kept from an earlier run say
nothing about the speed of this one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TextIO

from refute.verifiers.sql.conform_file import FileResult

TERMINAL_S = 0.1  # between two changes of the line on a terminal
OFTEN_S = 5.0  # between two lines elsewhere, where they are asked for
SAMPLE = 2**16  # bytes of a file that are looked at
SELDOM_S = 30.0  # and where they are not


class Progress:
    """Tells on a stream how far a run is. sizes: bytes by path, of the files that are run.

    often: whether it is asked for. a_record: bytes that one may have, which is used until a file
    ended and tells better; 0: not known. clock: seconds.
    """

    def __init__(
        self,
        stream: TextIO,
        sizes: Mapping[str, int],
        *,
        often: bool = False,
        a_record: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stream = stream
        self._terminal = stream.isatty()
        self._every = TERMINAL_S if self._terminal else OFTEN_S if often else SELDOM_S
        self._sizes = sizes
        self._left = sum(sizes.values())
        self._a_record = a_record
        self._clock = clock
        self._ended = self._records = self._failed = 0
        self._bytes = 0  # of files that ended since the run began
        self._by_then = 0  # records when the last of them did
        self._started = clock()
        self._due = self._started + (0.0 if self._terminal else self._every)

    def ran(self, records: int) -> None:
        """So many more records were run."""
        self._records += records
        now = self._clock()
        if now < self._due:
            return
        self._due = now + self._every
        words = self._words(now - self._started)
        self._stream.write(f"\r\x1b[2K{words[:100]}" if self._terminal else f"{words}\n")
        self._stream.flush()

    def ended(self, file: FileResult) -> None:
        """A file is done, be it that its result was kept."""
        size = self._sizes.get(file.path, 0)
        self._ended += 1
        self._failed += len(file.failures)
        self._left -= size
        if self._records:
            self._bytes += size
            self._by_then = self._records

    def clear(self) -> None:
        """Take the line away."""
        if self._terminal:
            self._stream.write("\r\x1b[2K")
            self._stream.flush()

    def _words(self, spent: float) -> str:
        rate = self._records / max(spent, 0.001)
        parts = [
            f"{self._ended}/{len(self._sizes)} files",
            f"{self._records:,} records",
            f"{rate:,.0f}/s",
        ]
        if self._failed:
            parts.append(f"{self._failed:,} failed")
        left = self._seconds_left(spent)
        if left is not None:
            parts.append(f"about {_duration(left)} left")
        return ", ".join(parts)

    def _seconds_left(self, spent: float) -> float | None:
        """By the bytes that are done, those of files in work by their records; None: not known."""
        a_record = self._bytes / self._by_then if self._bytes else self._a_record
        in_work = min((self._records - self._by_then) * a_record, 0.95 * self._left)
        done = self._bytes + in_work
        return spent * (self._left - in_work) / done if done else None


def bytes_a_record(sizes: Mapping[str, int]) -> float:
    """What a record of the largest of these files may have, by how that begins; 0: not known."""
    largest = max(sizes, key=lambda path: sizes[path], default="")
    try:
        with Path(largest).open("rb") as file:
            begin = file.read(SAMPLE)
    except (OSError, ValueError):
        return 0.0
    return len(begin) / max(begin.count(b"\n\n") + begin.count(b"\n\r\n"), 1)


def _duration(seconds: float) -> str:
    """The time in two units at most."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"
