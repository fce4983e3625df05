"""A program that speaks JSON lines, in a worker of the sandbox, as `cmd:` engines need it.

The launching and the jail are the sandbox's; the lines are those of docs/engines.md. Many requests
are written at once and their answers are read one by one, each with the patience for one.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import re
import shlex
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from refute.errors import UsageError
from refute.sandbox import Limits, Worker
from refute.sandbox.dialect import CommandDialect, Lines
from refute.sandbox.launch import Order, launch
from refute.sandbox.link import Ended
from refute.sandbox.zygote import environment

TESTS = (".test", ".slt")  # never shown to a program
MOST_FILES = 20_000  # that are shown, and bytes of them
MOST_BYTES = 256 * 2**20
PIECE = 32 * 2**10  # bytes that are written at once: a socket's buffer holds more
_SYSTEM = ("/bin", "/sbin", "/usr", "/opt", "/lib", "/lib64", "/nix/store")
_PYTHON = re.compile(r"python[\d.]*\Z")
_SAID = 160


class Program(Worker):
    """A running program. Raises SandboxError from its maker."""

    def __init__(self, words: Sequence[str], here: Path, limits: Limits) -> None:
        tree, files, command = placed(words, here)
        shows = environment_of(words, here)
        order = Order(tree, tuple(files), (), limits, 0, (), shlex.join(command), "auto", shows)
        super().__init__(launch(order, Lines), CommandDialect(), limits)

    def converse(
        self,
        requests: Sequence[dict[str, Any]],
        patience_s: float,
        take: Callable[[int, dict[str, Any]], bool],
    ) -> None:
        """Write requests and read until each has its answer. Raises Ended; then it is dead.

        patience_s: for an answer, in however many pieces it comes.
        take: given the number of a request and a message; whether that was its last one.
        """
        lines = [json.dumps(r, allow_nan=False).encode("ascii") + b"\n" for r in requests]
        link = self._started.link
        written = answered = 0
        try:
            link.check_silence()
            deadline = time.monotonic() + patience_s
            while answered < len(lines):
                data = b""
                if written == answered:  # all that was written is answered
                    while written < len(lines) and (not data or len(data) < PIECE):
                        data += lines[written]
                        written += 1
                message = None if data else link.ready()
                if message is None:
                    message = link.exchange(data, deadline, self._check_use)
                if take(answered, message):
                    answered += 1
                    deadline = time.monotonic() + patience_s
                elif (late_s := time.monotonic() - deadline) > 0 and late_s > self._check_use():
                    raise Ended("timeout", "its answer did not end before the wall-clock limit")
        except Ended as ended:
            raise self._told(ended) from None
        except BaseException:
            self.close()
            raise

    def _told(self, ended: Ended) -> Ended:
        """How it ended, with what it printed to standard error."""
        outcome = self._bury(ended)
        printed = " ".join(outcome.stdout.split())
        shown = printed if len(printed) <= _SAID else f"…{printed[-_SAID:]}"
        detail = outcome.detail + (f"; it printed {shown!r}" if printed else "")
        return Ended(outcome.kind, detail)


def placed(words: Sequence[str], here: Path) -> tuple[Path, list[str], list[str]]:
    """Where a program is: a tree, those of its files that the program sees, the words to start it.

    Of the machine a program sees the system's programs and libraries, or those of the environment
    that it is the Python of. Besides it sees the directory where it is itself, if that is
    elsewhere, and those of files that its arguments name, but no files of tests; where that would
    be very much, only the files themselves. Paths are relative to the tree, which is where it
    starts. Raises UsageError.
    """
    if not words:
        raise _not_there("", "names no program")
    paths = [_existing(word, here, first=not n) for n, word in enumerate(words)]
    if paths[0] is None and not shutil.which(words[0], path=environment(0)["PATH"]):
        raise _not_there(words[0], "is no program")
    own = environment_of(words, here)
    known = (*_SYSTEM, *own)
    mine = [path for path in paths if path is not None and not _is_below(path, known)]
    inside = all(path.is_relative_to(here) for path in mine)
    tree = here if inside else Path("/")
    command = [
        _as_seen(word, path, tree if path in mine else None)
        for word, path in zip(words, paths, strict=True)
    ]
    if paths[0] is not None and paths[0] in mine and not os.access(paths[0], os.X_OK):
        raise _not_there(words[0], "may not be executed")
    return tree, [_relative(path, tree) for path in _shown(mine, own)], command


def _as_seen(word: str, path: Path | None, tree: Path | None) -> str:
    """The word with the path that the file has there: in the tree, else where it is here."""
    if path is None or (tree is None and _is_below(path, _SYSTEM)):
        return word
    return word.replace(_path_of(word), str(path) if tree is None else _relative(path, tree))


def environment_of(words: Sequence[str], here: Path) -> tuple[str, ...]:
    """The directories that a Python needs which is not the system's, if the first word is one.

    They are that of its installation, and the virtual environment's: other versions of an engine
    live in environments of their own.
    """
    program = _existing(words[0], here, first=True) if words else None
    if program is None or _is_below(program, _SYSTEM) or not _PYTHON.match(program.name):
        return ()
    needed = [program.parent.parent, program.resolve().parent.parent]
    found = {str(path): None for path in needed if _has_python(path)}
    return tuple(path for path in found if not _is_below(Path(path), _SYSTEM))


def _has_python(place: Path) -> bool:
    """Whether the directory is that of an installation of Python or of a virtual environment."""
    return (place / "pyvenv.cfg").is_file() or any(place.glob("lib*/python*/os.py"))


def _not_there(word: str, what: str) -> UsageError:
    return UsageError(
        f"engine cmd:{word} {what}",
        thing="--engine",
        value=f"cmd:{word}",
        next_step="give a program that is there, as in cmd:./shim or cmd:python3 shim.py; "
        "docs/engines.md says what it reads and writes",
    )


def _path_of(word: str) -> str:
    """The part of a word that may be a path: what stands behind the `=` of an option."""
    return word.partition("=")[2] if word.startswith("-") else word


def _existing(word: str, here: Path, *, first: bool) -> Path | None:
    """The file or directory that a word names; a program's name without a slash is searched for."""
    text = _path_of(word)
    if not text or (first and "/" not in text):
        if not first or not text or shutil.which(text, path=environment(0)["PATH"]):
            return None  # of a program that the worker finds by itself
        found = shutil.which(text)
        return None if found is None else Path(found)
    path = Path(os.path.normpath(here / text))
    return path if path.exists() else None


def _is_below(path: Path, places: Sequence[str]) -> bool:
    return any(path.is_relative_to(place) for place in places)


def _relative(path: Path, tree: Path) -> str:
    return path.relative_to(tree).as_posix()


def _shown(paths: Sequence[Path], without: Sequence[str]) -> list[Path]:
    """All files of the paths' directories, or the files themselves if those are too many."""
    places = {path if path.is_dir() else path.parent for path in paths}
    found = dict.fromkeys(itertools.chain.from_iterable(_files(p, without) for p in sorted(places)))
    size = 0
    for number, path in enumerate(found):
        with contextlib.suppress(OSError):  # others may remove files meanwhile
            size += path.lstat().st_size
        if number > MOST_FILES or size > MOST_BYTES:
            return [path for path in paths if path.is_file()]
    return list(found)


def _files(place: Path, without: Sequence[str]) -> Iterator[Path]:
    """The files below a directory that can be read, but for tests and hidden directories."""
    for directory, names, files in os.walk(place):
        inner = {n: Path(directory, n) for n in names if not n.startswith(".")}
        names[:] = [
            n for n, path in inner.items() if not path.is_symlink() and str(path) not in without
        ]
        for name in files:
            path = Path(directory, name)
            if not name.endswith(TESTS) and (path.is_symlink() or _readable(path)):
                yield path


def _readable(path: Path) -> bool:
    return path.is_file() and os.access(path, os.R_OK)
