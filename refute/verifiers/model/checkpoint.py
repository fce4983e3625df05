"""Checkpoints: what a search needs to go on, in a directory of the user's.

The owner of the search opens the files and hands their descriptors to its worker, which writes into
them and can reach nothing else. What counts is the head, a small file that the owner alone writes,
beside its final name and moved there when all that it speaks of is on the disk: how long each file
is, the digest of its content, and which search it is of. So a run that ends at any moment leaves
the checkpoint before, and one of another search, or one that was changed, is noticed. A head is no
signature: whoever can write to the directory can make one, and so it must be the user's alone.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from refute import plain
from refute.errors import UsageError
from refute.plain import Plain

EVERY_S = 60.0
SHARE = 0.05  # of the time that writing checkpoints may take
SCHEMA = "refute.checkpoint/1"
HEAD = "head"
_FILES = ("states", "links", "values", "outside", "turn0", "turn1")
_SOURCES = ("verifiers/model", "specs/machine")
# What a search must have in common with its checkpoint, and what to say when it has not.
_SAME = {
    "spec": "of another specification: the machine was changed since, or is another",
    "constants": "of other constants",
    "version": "of another version of refute",
    "computer": "of another kind of computer or Python",
    "symmetry": "of a search up to other permutations",
    "how": "of a search with other options",
}


class Checkpoint:
    """The checkpoint of one search; a context manager that holds the directory's lock.

    saved: what the search gave to be kept, None when there is nothing to go on from. Raises
    UsageError for a directory that cannot be used, and for a checkpoint that is not of this search.
    """

    def __init__(self, directory: Path, about: Mapping[str, Plain], every_s: float) -> None:
        self.directory = directory
        self.about = {**about, "version": version(), "computer": computer()}
        self.every_s = every_s
        self.problem = ""  # why the last one could not be written
        self._due = time.monotonic() + every_s
        self._over = False
        self._fds: list[int] = []
        _make_private(directory)
        self._lock = os.open(directory / "lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._head = self._read()
            flags = os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
            for name in _FILES:
                self._fds.append(os.open(directory / name, flags, 0o600))
        except BlockingIOError:
            self._close()
            raise _refused(directory, "in use by another run") from None
        except OSError as error:
            self._close()
            raise _refused(directory, f"not usable: {error.strerror}") from error
        except UsageError:
            self._close()
            raise

    @property
    def fds(self) -> tuple[int, ...]:
        """The descriptors that a search writes to, see `streams.Streams`."""
        return tuple(self._fds)

    @property
    def saved(self) -> Plain:
        """What there is to go on from, as the search gave it; None when there is nothing."""
        return self._head.get("saved")

    @property
    def engine(self) -> str:
        """Which engine can go on from it; empty when there is nothing."""
        return str(self._head.get("engine", ""))

    @property
    def program(self) -> Plain:
        """What tells the program that can go on from it."""
        return self._head.get("program")

    @property
    def counts(self) -> Mapping[str, Plain]:
        """How far the search was."""
        counts = self._head.get("counts")
        return counts if type(counts) is dict else {}

    def due(self) -> bool:
        """Whether it is time for another one."""
        return time.monotonic() >= self._due

    def commit(
        self, engine: str, program: Plain, saved: Plain, counts: Mapping[str, Plain], took_s: float
    ) -> None:
        """Make what the search wrote the checkpoint. took_s: seconds that it took to write."""
        began = time.monotonic()
        head = {"schema": SCHEMA, "about": self.about, "engine": engine, "program": program}
        head |= {"saved": saved, "counts": dict(counts)}
        try:
            for fd in self._fds:
                os.fdatasync(fd)
            self._write(head)
            self._head, self.problem = head, ""
        except OSError as error:
            self.problem = error.strerror or str(error)
        self.put_off(took_s + time.monotonic() - began)

    def put_off(self, took_s: float) -> None:
        """The next one is not due before its share of the time has passed."""
        self._due = time.monotonic() + max(self.every_s, took_s / SHARE)

    def forget(self) -> None:
        """There is nothing to go on from, but the search is not over."""
        self._head = {}
        with contextlib.suppress(OSError):
            (self.directory / HEAD).unlink()

    def remove(self) -> None:
        """The search is over: there is nothing to go on from."""
        self._head = {}
        self._over = True

    def refused(self, problem: str) -> UsageError:
        """What to raise when it cannot be gone on from: it "is" this."""
        return _refused(self.directory, problem)

    def _write(self, head: Mapping[str, Plain]) -> None:
        text = plain.dumps(head)
        beside = self.directory / "head.new"
        with beside.open("w", encoding="utf-8") as file:
            file.write(f"{_digest(text)}\n{text}")
            file.flush()
            os.fsync(file.fileno())
        beside.replace(self.directory / HEAD)
        folder = os.open(self.directory, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def _read(self) -> Mapping[str, Plain]:
        """The head; empty when there is none. Raises UsageError and OSError."""
        try:
            words = (self.directory / HEAD).read_text(encoding="utf-8")
        except FileNotFoundError:
            return {}
        except UnicodeDecodeError as error:
            raise self.refused("damaged: its head is not what was written") from error
        digest, _, text = words.partition("\n")
        if _digest(text) != digest:
            raise self.refused("damaged: its head is not what was written")
        head: Mapping[str, Plain] = plain.loads(text)
        if head.get("schema") != SCHEMA:
            raise _refused(self.directory, _SAME["version"])
        for name, problem in _SAME.items():
            if not plain.same(head["about"].get(name), self.about.get(name)):
                was, now = (about.get(name) for about in (head["about"], self.about))
                if name == "symmetry" and not (was and now):
                    raise _of_others(self.directory, was)
                raise _refused(self.directory, problem)
        return head

    def _close(self) -> None:
        if self._over:
            with contextlib.suppress(OSError):
                for name in (HEAD, *_FILES, "lock"):
                    (self.directory / name).unlink(missing_ok=True)
                self.directory.rmdir()
        for fd in (*self._fds, self._lock):
            os.close(fd)
        self._fds = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._close()


def directory_for(base: Path, subject: str, constants: Mapping[str, Plain]) -> Path:
    """The directory of one search: as readable as its machine, and different for any other."""
    words = ",".join((subject.rpartition(":")[2], *(f"{n}={v}" for n, v in constants.items())))
    return base / f"{words[:60]}-{plain.digest([subject, dict(constants)])[:8]}"


@functools.cache
def version() -> str:
    """A digest of the sources that say what a machine means and how it is searched."""
    found = hashlib.sha256()
    package = Path(__file__).parents[2]
    for part in _SOURCES:
        for path in sorted((package / part).rglob("*.[pc]*")):
            if path.suffix in (".py", ".c"):
                found.update(path.read_bytes())
    return found.hexdigest()


def computer() -> str:
    """What the layout of numbers in memory depends on, and what the hashes of orbits do."""
    return f"{os.uname().machine} {sys.byteorder} {sys.implementation.cache_tag}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _make_private(directory: Path) -> None:
    """Make the directory, for its owner only. Raises UsageError."""
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = directory.stat()
    except OSError as error:
        raise _refused(directory, f"not usable: {error.strerror}") from error
    if status.st_uid != os.geteuid() or status.st_mode & 0o022:
        raise _refused(directory, "where others may write, and who can write it can forge verdicts")


def _refused(directory: Path, problem: str, first: str = "") -> UsageError:
    """first: what may be done before anything else."""
    return UsageError(
        f"the checkpoint in {directory} is {problem}",
        thing="--checkpoint",
        value=str(directory),
        next_step=f"{first}give another directory, or delete this one to search from the start",
    )


def _of_others(directory: Path, symmetry: Plain) -> UsageError:
    """One of the two searches is of all states. symmetry: of the one in the checkpoint."""
    if symmetry:
        said = (
            f"of a search up to permutations of {symmetry['text']}, and this one is of all states"
        )
        return _refused(directory, said, "go on with --symmetry, ")
    said = "of a search of all states, and this one is up to permutations"
    return _refused(directory, said, "go on without --symmetry, ")
