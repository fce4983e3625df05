"""Progress of a conformance run: one changing line on a terminal."""

from __future__ import annotations

import time
from typing import TextIO

from refute.verifiers.sql.conform_file import FileResult


class Progress:
    """One changing line on a terminal: files, records, rate, failures. Nothing elsewhere."""

    def __init__(self, stream: TextIO, files: int) -> None:
        self._stream = stream if stream.isatty() else None
        self._files = files
        self._ended = self._records = self._failed = 0
        self._started = time.monotonic()
        self._due = 0.0

    def ran(self, records: int) -> None:
        """So many more records were run."""
        self._records += records
        now = time.monotonic()
        if self._stream is None or now < self._due:
            return
        self._due = now + 0.1
        rate = self._records / max(now - self._started, 0.001)
        words = f"{self._ended}/{self._files} files, {self._records:,} records, {rate:,.0f}/s"
        failed = f", {self._failed:,} failed" if self._failed else ""
        self._stream.write(f"\r\x1b[2K{words}{failed}")
        self._stream.flush()

    def ended(self, file: FileResult) -> None:
        """A file is done."""
        self._ended += 1
        self._failed += len(file.failures)

    def clear(self) -> None:
        """Take the line away."""
        if self._stream is not None:
            self._stream.write("\r\x1b[2K")
            self._stream.flush()
