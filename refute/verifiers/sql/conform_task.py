"""One file to run, and what came of it: the work that is handed to a process or a machine.

The content that was run is named by its SHA-256 where a result is to be kept, since the file may
be another one by the time somebody looks.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from refute.errors import RefuteError
from refute.verifiers.sql.conform_chosen import Chosen
from refute.verifiers.sql.conform_engine import Engine
from refute.verifiers.sql.conform_file import FileResult, Run, run_file

if TYPE_CHECKING:
    from refute.verifiers.sql.conform_run import Choice

STDIN = "-"  # a path that stands for standard input
ENVIRONMENT = "$"  # before a variable's name among what a file read; alone: what may be anything
LARGEST = 64 * 2**20  # bytes of one file
SAID = 500  # characters of an unforeseen exception that are told

Stop = Callable[[], bool]
Ran = Callable[[int], None]


@dataclasses.dataclass(frozen=True)
class Task:
    """A file that is run on a choice's engine. number: its place among the files of the run.

    size: bytes. weight: how long it takes, in any unit. most: failures that end it. named: whether
    the content is named in what comes back.
    """

    path: str
    number: int = 0
    chosen: Chosen | None = None
    size: int = 0
    weight: float = 0.0
    most: float = float("inf")
    named: bool = False


@dataclasses.dataclass
class Done:
    """What came of a task. content: the SHA-256 of what was run, where that was asked."""

    result: FileResult
    content: str = ""


def run_task(choice: Choice, engine: Engine, task: Task, stop: Stop, ran: Ran) -> Done:
    """Run the file; that it cannot be read is part of the result. Raises RefuteError."""
    try:
        data = read_file(task.path)
    except OSError as error:
        return Done(unreadable(task.path, error))
    return run_content(choice, engine, task, data, stop, ran)


def run_content(
    choice: Choice, engine: Engine, task: Task, data: bytes, stop: Stop, ran: Ran
) -> Done:
    """As `run_task`, for a file that was read already."""
    run = Run(
        engine,
        choice.name,
        stop,
        ran,
        dialect=choice.dialect,
        rules=choice.rules,
        chosen=task.chosen,
        most=task.most,
        excuses=choice.excuses(),
    )
    name = "<stdin>" if task.path == STDIN else task.path
    try:
        result = run_file(run, name, data, choice.confirm)
    except RefuteError:
        raise
    except Exception as error:  # of refute itself: what the other files gave must not be lost
        result = FileResult(name, lost=f"a bug of refute: {type(error).__name__}: {error}"[:SAID])
    result.version = getattr(engine, "version", "")
    return Done(result, digest_of(data) if task.named else "")


def unreadable(path: str, error: OSError) -> FileResult:
    """The result of a file that cannot be read."""
    return FileResult(path, error=f"{path}: cannot be read: {error.strerror or error}")


def digest_of(data: bytes) -> str:
    """The name of a file's content."""
    return hashlib.sha256(data).hexdigest()


def read_file(path: str) -> bytes:
    """The bytes of a regular file. Raises OSError for anything else, and for a huge one."""
    if path == STDIN:
        data = sys.stdin.buffer.read(LARGEST + 1)
        if len(data) > LARGEST:
            raise OSError(f"it is larger than {LARGEST} bytes")
        return data
    with open(path, "rb", opener=_open_at_once) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError("it is not a regular file")
        if status.st_size > LARGEST:
            raise OSError(f"it is larger than {LARGEST} bytes")
        return file.read()


def size_of(path: str) -> int:
    """Bytes of the file; 0 where that is not known."""
    try:
        return Path(path).stat().st_size
    except OSError:
        return 0


def _open_at_once(path: str, flags: int) -> int:
    """Open without waiting for a writer, should it be a pipe."""
    return os.open(path, flags | os.O_NONBLOCK)
