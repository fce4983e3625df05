"""`--known`, `--write-known` and `--update` of `refute conform`: what becomes of failures.

Loaded only where one of them is given.
"""

from __future__ import annotations

import argparse
import datetime
from collections.abc import Callable
from pathlib import Path

from refute.cli.conform_updating import update_files
from refute.errors import UsageError
from refute.verifiers.sql.conform_file import FileResult
from refute.verifiers.sql.conform_known import Known
from refute.verifiers.sql.conform_known_write import write_known
from refute.verifiers.sql.conform_run import STDIN, Choice, ConformRun


class Judging:
    """What is accepted in one run. Raises UsageError, or UnreadableInput for the list."""

    def __init__(self, given: argparse.Namespace, choice: Choice) -> None:
        self._choice = choice
        self._write = given.write_known
        self._updates, self._dry = given.update, given.dry_run
        _check_update(given)
        self.known: Known | None = None
        if given.known:
            today = datetime.date.today()
            strict = given.known_passing == "fail"
            self.known = Known(given.known, choice.name, choice.shown, _load, today, strict)
        self._check_write(given)

    def found(self, file: FileResult) -> None:
        """Mark the known failures of a file."""
        if self.known is not None:
            self.known.apply(file)

    def finish(self, run: ConformRun, say: Callable[[str], None]) -> None:
        """Note what came of the list, write entries, and update the files."""
        if self.known is not None:
            run.known = self.known.finish(run.files)
        if self._write:
            number = write_known(self._write, run.files, self._choice.name, _load)
            entries = "1 entry" if number == 1 else f"{number:,} entries"
            if number:
                say(f"{self._write}: {entries} added, to be reviewed\n")
        if self._updates and not run.interrupted:
            update_files(self._choice, run, say, dry=self._dry)

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


def _check_update(given: argparse.Namespace) -> None:
    """Refuse an update that is none, or of what is no file."""
    if given.dry_run and not given.update:
        raise UsageError(
            "--dry-run shows what --update would write",
            thing="--dry-run",
            next_step="give --update as well",
        )
    if given.update and getattr(given, "merge", False):
        raise UsageError(
            "--merge runs nothing, and an update has to",
            thing="--update",
            next_step="run the files with --update",
        )
    if given.update and STDIN in given.files:
        raise UsageError(
            "standard input cannot be updated",
            thing="--update",
            value=STDIN,
            next_step="name the files",
        )


def _load(path: str) -> bytes:
    return Path(path).read_bytes()
