"""Results that are kept as they come, so that a later run goes on where one ended.

One line of JSON for each file that ended, appended at once: whatever kills the run costs the files
in work and no other. A line counts for a later run only while everything it depends on is as it
was, see `conform_identity`; else its file is run again, and that is told.

Each line is sealed with a digest of itself, against accidents and edits in good faith. Whoever
means to deceive can compute it too: keep the results where only you can write.
"""

from __future__ import annotations

import dataclasses
import fcntl
import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from refute.errors import UsageError
from refute.verifiers.sql.conform_chosen import Chosen
from refute.verifiers.sql.conform_data import as_data, result_of
from refute.verifiers.sql.conform_file import FileResult
from refute.verifiers.sql.conform_identity import engine_identity, options_identity, own_code
from refute.verifiers.sql.conform_run import Choice
from refute.verifiers.sql.conform_task import ENVIRONMENT, STDIN, Done, Task, digest_of, read_file

SCHEMA = "refute.conform-result/1"
ENDING = ".jsonl"
_BEGINS = f'{{"schema": "{SCHEMA}", '.encode()
_FIELDS = frozenset(("schema", "refute", "engine", "options", "path", "content", "result"))

_AGAIN = {
    "refute": "of another version of refute",
    "engine": "of another engine or version of it",
    "options": "under other options",
    "content": "whose content changed",
    "reads": "that read other files or variables, which changed",
}


class Kept:
    """Results in a file, or in the *.jsonl files of a directory. A context manager.

    place: the file, which need not exist, or the directory. name: of the file that is written in a
    directory. identity: what results depend on apart from files, as `refute` and `engine`. notes:
    what is to be told of it. number: files, records: of these, that are not run again. Raises
    UsageError.
    """

    def __init__(self, place: Path, name: str, identity: dict[str, str]) -> None:
        self._identity = identity
        self._lines: dict[str, dict[str, Any]] = {}
        self._seconds: dict[str, float] = {}
        self._again: dict[str, int] = {}
        self._damaged: list[str] = []
        self._full = ""  # why nothing more is kept
        self.number = self.records = 0
        into = place / f"{name}{ENDING}" if place.is_dir() else place
        self._descriptor = _open(into)
        try:
            if place.is_dir():
                for file in sorted(place.glob(f"*{ENDING}")):
                    if file != into:
                        self._read(file, file.read_bytes())
            own = _all_of(self._descriptor)
            self._read(into, own)
            if own and not own.endswith(b"\n"):
                os.write(self._descriptor, b"\n")
        except OSError as error:
            os.close(self._descriptor)
            raise _unusable(place, error.strerror or str(error)) from error
        except BaseException:
            os.close(self._descriptor)
            raise

    def __enter__(self) -> Kept:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)

    def not_known(
        self,
        tasks: Sequence[Task],
        options: Mapping[int, str],
        known: Callable[[int, FileResult], object],
    ) -> list[Task]:
        """The files that are to be run, with how long each will take. known: told of the others."""
        left: list[Task] = []
        for task in tasks:
            kept = self._result(task.path, options[task.number])
            if kept is None:
                left.append(task)
            else:
                known(task.number, kept)
        return self._weighed(left)

    def _weighed(self, tasks: Sequence[Task]) -> list[Task]:
        """The files with the seconds they took before, or what their size lets expect."""
        taken = {t.number: self._seconds[t.path] for t in tasks if t.path in self._seconds}
        size = sum(task.size for task in tasks if task.number in taken)
        rate = sum(taken.values()) / size if size else 1.0
        return [
            dataclasses.replace(task, weight=taken.get(task.number, task.size * rate))
            for task in tasks
        ]

    def _result(self, path: str, options: str) -> FileResult | None:
        """What came of the file, if it would be the same now."""
        line = self._lines.get(path)
        if line is None or path == STDIN:
            return None
        try:
            content = digest_of(read_file(path))
        except OSError:
            return None
        result = result_of(line["result"])
        now = self._identity | {"options": options, "content": content}
        changed = [name for name in _AGAIN if name in now and line[name] != now[name]]
        if not changed and any(_digest_at(p) != digest for p, digest in result.reads.items()):
            changed = ["reads"]
        if changed:
            self._again[changed[0]] = self._again.get(changed[0], 0) + 1
            return None
        self.number += 1
        self.records += result.run
        return result

    def keep(self, done: Done, path: str, options: str) -> None:
        """Append what came of a file, if it was run to its end and the place takes it."""
        result = done.result
        ended = not (result.cut or result.lost or result.error or result.stopped)
        if not (ended and done.content) or path == STDIN or self._full:
            return
        line = {
            "schema": SCHEMA,
            **self._identity,
            "options": options,
            "path": path,
            "content": done.content,
            "result": as_data(result),
        }
        sealed = json.dumps(line | {"seal": _seal(line)}).encode() + b"\n"
        try:
            if os.write(self._descriptor, sealed) < len(sealed):
                self._full = "only a part of a line could be written"
        except OSError as error:
            self._full = error.strerror or str(error)

    @property
    def notes(self) -> list[str]:
        """What is to be told: what was kept, what is run again and why, what is damaged."""
        said = [*self._damaged]
        if self._full:
            said.append(f"--resume: not all results could be kept: {self._full}")
        if self.number:
            said.append(f"{_files(self.number)} not run again: the results are kept ones")
        said += [f"{_files(n)} run again: kept results {_AGAIN[w]}" for w, n in self._again.items()]
        return said

    def _read(self, file: Path, data: bytes) -> None:
        if data and not (data.startswith(_BEGINS) or _BEGINS.startswith(data)):
            raise _unusable(file, "holds something else than kept results")
        lines = data.split(b"\n")
        for number, text in enumerate(lines, 1):
            line = _line_of(text) if text else None
            if line is not None:
                self._lines[line["path"]] = line
                self._seconds[line["path"]] = line["result"]["wall_s"]
            elif text:
                why = "cut off" if number == len(lines) else "damaged or edited"
                self._damaged.append(f"{file}:{number}: {why}; what it kept does not count")


def place_of(text: str) -> Path:
    """The file or directory that --resume names; one that ends in / is made. Raises UsageError."""
    place = Path(text)
    if text.endswith("/"):
        try:
            place.mkdir(exist_ok=True)
        except OSError as error:
            raise _unusable(place, error.strerror or str(error)) from error
    return place


def opened(choice: Choice, place: Path, name: str) -> Kept:
    """The results that are kept at a place, for runs on this engine. Raises RefuteError."""
    identity = {"refute": own_code(), "engine": engine_identity(choice)}
    return Kept(place, name, identity)


def options_of(
    choice: Choice, paths: Sequence[str], chosen: Mapping[str, Chosen], most: float
) -> dict[int, str]:
    """By the number of a file, a digest of how it is run."""
    known: dict[Chosen | None, str] = {}
    for path in paths:
        which = chosen.get(path)
        if which not in known:
            known[which] = options_identity(choice, which, most)
    return {number: known[chosen.get(path)] for number, path in enumerate(paths)}


def _line_of(text: bytes) -> dict[str, Any] | None:
    """A line, if it is whole and its seal fits."""
    try:
        line = json.loads(text)
        if type(line) is not dict:
            return None
        seal = line.pop("seal", "")
        if line.keys() != _FIELDS or line["schema"] != SCHEMA or seal != _seal(line):
            return None
        result_of(line["result"])
    except (ValueError, RecursionError):
        return None
    return line if all(type(line[name]) is str for name in _FIELDS - {"result"}) else None


def _seal(line: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(line, sort_keys=True).encode()).hexdigest()


def _open(file: Path) -> int:
    """The file, for appending by this run alone."""
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(file, flags, 0o644)
    except OSError as error:
        raise _unusable(file, error.strerror or str(error)) from error
    try:
        # Of the process alone: what it forks does not hold it. It ends with the first descriptor
        # of the file that is closed, so the file is read through this one.
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        raise _unusable(file, "another run is writing to it") from error
    return descriptor


def _all_of(descriptor: int) -> bytes:
    size = os.fstat(descriptor).st_size
    pieces: list[bytes] = []
    while (done := sum(map(len, pieces))) < size:
        pieces.append(os.pread(descriptor, size - done, done) or b"\0" * (size - done))
    return b"".join(pieces)


def _unusable(file: Path, why: str) -> UsageError:
    return UsageError(
        f"--resume {file}: {why}",
        thing="--resume",
        value=str(file),
        next_step="give a file that need not exist yet, or a directory that does",
    )


def _digest_at(path: str) -> str:
    """Of a file, or of a variable of the environment."""
    if path.startswith(ENVIRONMENT):
        value = os.environ.get(path.removeprefix(ENVIRONMENT))
        return "" if value is None else digest_of(value.encode())
    try:
        return digest_of(Path(path).read_bytes())
    except OSError:
        return ""


def _files(number: int) -> str:
    return f"{number:,} file{'' if number == 1 else 's'}"
