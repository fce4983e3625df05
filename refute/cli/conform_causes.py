"""`--reduce` and `--save-reduced` of `refute conform`: from failures to causes.

Loaded only where a record failed.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

from refute.budget import parse_duration
from refute.errors import UsageError
from refute.verifiers.sql.conform_causes import find_causes
from refute.verifiers.sql.conform_causes_made import Cause
from refute.verifiers.sql.conform_run import ConformRun

EVERY_S = 0.2  # between two changes of the line on a terminal
_WORD = re.compile(r"[A-Za-z0-9]+")
_LONGEST = 48  # characters of a file's name, without its number


def add_causes(given: argparse.Namespace, run: ConformRun) -> None:
    """Find the causes of the run's failures, and save their scripts. Raises UsageError."""
    folder = Path(given.save_reduced) if given.save_reduced else None
    progress, clear = _progress(sys.stderr)
    run.causes = find_causes(run.choice, run.files, parse_duration(given.reduce), progress)
    clear()
    if folder is not None:
        save(run.causes.causes, folder)


def save(causes: list[Cause], folder: Path) -> list[Path]:
    """Write the script of each cause as a test file; their paths. Raises UsageError."""
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for cause in causes:
            if cause.script:
                path = folder / f"{cause.number:03}_{_slug(cause.title)}.test"
                path.write_text(cause.script, encoding="utf-8", errors="surrogateescape")
                written.append(path)
    except OSError as error:
        raise UsageError(
            f"--save-reduced {folder}: {error.strerror or error}",
            thing="--save-reduced",
            value=str(folder),
            next_step="name a directory that can be written",
        ) from error
    return written


def _slug(title: str) -> str:
    return "_".join(_WORD.findall(title.lower()))[:_LONGEST].strip("_") or "cause"


def _progress(stream: TextIO) -> tuple[Callable[[str], None], Callable[[], None]]:
    """What tells how far the search is, on a terminal, and what takes the line away."""
    due = 0.0

    def tell(words: str) -> None:
        nonlocal due
        now = time.monotonic()
        if stream.isatty() and now >= due:
            due = now + EVERY_S
            stream.write(f"\r\x1b[2K{words}")
            stream.flush()

    def clear() -> None:
        if stream.isatty():
            stream.write("\r\x1b[2K")

    return tell, clear
