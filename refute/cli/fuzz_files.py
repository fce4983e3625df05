"""`--save` of `refute fuzz sql`: findings become files as they are met, so that none gets lost."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from refute.cli.places import check_made
from refute.errors import RefuteError, UsageError
from refute.oracles.sql.sqlite import VERSION
from refute.verifiers.sql.conform_engine import EngineLost
from refute.verifiers.sql.conform_names import SQLITE
from refute.verifiers.sql.conform_run import Choice
from refute.verifiers.sql.fuzz_direct import engine_of
from refute.verifiers.sql.fuzz_plan import Finding
from refute.verifiers.sql.fuzz_saved_files import Saver, name_of


class Files:
    """The files of a run's findings. folder: "" for none. notes: what could not be written."""

    def __init__(self, choice: Choice, folder: str, again: str) -> None:
        self._folder = Path(folder) if folder else None
        self._saver = Saver(choice, self._folder or Path(), again)
        self._written: dict[str, tuple[str, ...]] = {}
        self.notes: list[str] = []

    def found(self, finding: Finding) -> None:
        """Save a finding; what keeps it from being saved is noted, and the run goes on."""
        if self._folder is None:
            return
        self._written[name_of(finding)] = ()  # and it is not tried again
        try:
            self._written[name_of(finding)] = self._saver.save(finding)
        except RefuteError as error:
            self.notes.append(f"{name_of(finding)} is not saved: {error.message}")
        except Exception as error:  # it costs the files of one finding, and not the run
            what = f"{type(error).__name__}: {error}"
            self.notes.append(f"{name_of(finding)} is not saved: a bug of refute: {what}")
        self.notes += self._saver.notes
        self._saver.notes.clear()

    def of(self, findings: Sequence[Finding]) -> dict[int, tuple[str, ...]]:
        """The files by the findings' places; those of an earlier part of the run are made now."""
        if self._folder is None:
            return {}
        for finding in findings:
            if not finding.known and name_of(finding) not in self._written:
                self.found(finding)
        places = {place: self._written.get(name_of(f), ()) for place, f in enumerate(findings)}
        return {place: files for place, files in places.items() if files}


def check_folder(option: str, folder: str) -> None:
    """Raises UsageError for a directory that cannot be made or written, and leaves none behind.

    It is tried, because rights and names do not tell it: file systems may refuse both.
    """
    check_made(option, folder, folder=True)
    path = Path(folder)
    missing = [one for one in (path, *path.parents) if not os.path.lexists(one)]
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        raise UsageError(
            f"{option} {folder}: {error.strerror or error}",
            thing=option,
            value=folder,
            next_step="name a directory that can be made and written",
        ) from error
    finally:
        for made in missing:
            with contextlib.suppress(OSError):
                made.rmdir()


def version_of(choice: Choice) -> str:
    """What the engine says of its version; "" where it says nothing. Raises UsageError."""
    if choice.engine == SQLITE:
        return f"SQLite {VERSION}"
    engine = engine_of(choice)
    try:
        engine.start(0)
        return str(getattr(engine, "version", ""))
    except EngineLost:
        return ""
    finally:
        engine.close()
