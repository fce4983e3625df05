"""`--known` and `--write-known` of `refute conform`: the list of known failures, read and written.

Loaded only where one of them is given.
"""

from __future__ import annotations

import argparse
import datetime
from pathlib import Path

from refute.errors import UsageError
from refute.verifiers.sql.conform_file import FileResult
from refute.verifiers.sql.conform_known import Known
from refute.verifiers.sql.conform_known_write import write_known
from refute.verifiers.sql.conform_run import Choice, ConformRun


class Judging:
    """What is accepted in one run. Raises UsageError, or UnreadableInput for the list."""

    def __init__(self, given: argparse.Namespace, choice: Choice) -> None:
        self._choice = choice
        self._write = given.write_known
        self.known: Known | None = None
        if given.known:
            today = datetime.date.today()
            strict = given.known_passing == "fail"
            self.known = Known(given.known, choice.name, choice.engine, _load, today, strict)
        self._check_write(given)

    def found(self, file: FileResult) -> None:
        """Mark the known failures of a file."""
        if self.known is not None:
            self.known.apply(file)

    def finish(self, run: ConformRun) -> str:
        """Note what came of the list, and write entries; returns what to say of them."""
        if self.known is not None:
            run.known = self.known.finish(run.files)
        if not self._write:
            return ""
        number = write_known(self._write, run.files, self._choice.name, _load)
        entries = "1 entry" if number == 1 else f"{number:,} entries"
        return f"{self._write}: {entries} added, to be reviewed\n" if number else ""

    def _check_write(self, given: argparse.Namespace) -> None:
        """Refuse to write over a file, or beside a list whose entries are not looked at."""
        path = Path(self._write)
        if not self._write or not path.exists() or not path.stat().st_size:
            return
        if given.known and path.samefile(given.known):
            return
        raise UsageError(
            f"{path} is there already",
            thing="--write-known",
            value=self._write,
            next_step=f"give --known {path} as well, and what it does not list is added to it",
        )


def _load(path: str) -> bytes:
    return Path(path).read_bytes()
