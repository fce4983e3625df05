"""The compiled helper: runs a whole file on the embedded SQLite, and may only say that it passed.

Reading, showing, sorting and comparing costs Python about as much as SQLite takes for most queries.
`conform_native.c` does that in C, on the very SQLite library that Python's `sqlite3` is linked to.
It declines a file where anything is odd or a record fails; the plain path then runs it from the
start and is the one that says what failed. So all that could go wrong in C is that it takes a wrong
result for a right one, and against that

* each process has it run a file whose records pass, and that file with one thing wrong each, before
  it is used at all,
* one file of `DOUBT` that it says have passed, drawn by chance, is run by the plain path as well.

It is compiled when there are `WORTH_BUILDING` bytes of files, once for all runs. Without a
compiler, or where Python has SQLite built in and shows none of its functions, the plain path runs
everything.
"""

from __future__ import annotations

import ctypes
import dataclasses
import functools
import hashlib
import importlib
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from refute.oracles.sql import capi
from refute.oracles.sql.sqlite import LARGEST
from refute.verifiers.model.native.builds import cache_directory, cached, kept
from refute.verifiers.sql.conform_file import Embedded, FileResult, FileRun, Run

NAME = "the compiled helper conform_native"
VERSION = 1
WORTH_BUILDING = 2**20
DOUBT = 64
SLICE_S = 0.1  # after so long it comes back, for signals and progress

FLAGS = ("-O2", "-std=gnu11", "-shared", "-fPIC", "-w")
_SOURCE = Path(__file__).with_name("conform_native.c")
_SQLITE = (
    *("open_v2", "close", "limit", "progress_handler", "prepare_v2", "step", "finalize"),
    *(
        "bind_parameter_count",
        "column_count",
        "column_type",
        "column_int64",
        "column_double",
        "column_text",
    ),
    *("column_blob", "column_bytes", "snprintf"),
)
_PYTHON = ("PyGILState_Ensure", "PyGILState_Release", "PyErr_CheckSignals", "PyErr_Clear")
_MORE, _PASSED, _DECLINED, _INTERRUPTED = range(4)
_MOST_VERSIONS = 1000

# Each pair is a part of this file and what makes it wrong there.
_RIGHT = b"""\
statement ok
CREATE TABLE t(a INTEGER, b TEXT, c REAL)

statement ok
INSERT INTO t VALUES(2, 'z', 0.5), (10, '', 2.25), (NULL, 'y', NULL)

statement error
INSERT INTO t VALUES(1)

query ITR rowsort
SELECT a, b, c FROM t
----
10
(empty)
2.250
2
z
0.500
NULL
y
NULL

query I nosort kept
SELECT a FROM t ORDER BY a DESC
----
3 values hashing to a8883ac5d247a624680d723937a19b8d

query I valuesort
SELECT a + 8 FROM t WHERE a > 1
----
10
18

skipif sqlite
query I nosort kept
SELECT a FROM t
----
10
2
NULL

"""
_WRONG = (
    (b"t(a", b"t(("),
    (b"VALUES(1)", b"VALUES(1, 2, 3)"),
    (b"(empty)", b"empty"),
    (b"10\n(", b"11\n("),
    (b"\ny\nNULL\n", b"\n"),
    (b"\ny\nNULL\n", b"\ny\nNULL\n1\n2\n3\n"),
    (b"rowsort", b"nosort"),
    (b"query ITR", b"query ITRI"),
    (b"3 values", b"2 values"),
    (b"to a8", b"to 8z"),
    (b"10\n18", b"18\n10"),
    (b"kept\nSELECT a FROM t\n----\n10", b"kept\nSELECT a FROM t\n----\n11"),
    (b"SELECT a +", b"SELECT nothing +"),
)


class _Shared(ctypes.Structure):
    """What the helper tells while it runs."""

    _fields_ = (
        ("api", ctypes.c_void_p),
        ("counts", ctypes.c_int64 * 5),
        ("versions", ctypes.c_int * _MOST_VERSIONS),
        ("why", ctypes.c_int),
        ("line", ctypes.c_int),
    )


class Unusable(Exception):
    """The helper cannot be used here; the message says why."""


class Wrong(Unusable):
    """It was tried and found wrong."""


class Helper:
    """The helper out of a compiled library. Raises Unusable.

    declined: line of the record that made it decline the last file, if it did.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._library = ctypes.CDLL(str(path))
        except OSError as error:
            raise Unusable(f"it cannot be loaded: {error}") from error
        self._api = _pointers()
        self.declined = 0
        for name, result, arguments in (
            ("slt_version", ctypes.c_int, ()),
            (
                "slt_open",
                ctypes.POINTER(_Shared),
                (
                    *(ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t),
                    *(ctypes.c_char_p, ctypes.c_double),
                ),
            ),
            ("slt_limit", None, (ctypes.c_void_p, ctypes.c_int)),
            ("slt_run", ctypes.c_int, (ctypes.c_void_p, ctypes.c_double)),
            ("slt_close", None, (ctypes.c_void_p,)),
        ):
            function = getattr(self._library, name)
            function.restype, function.argtypes = result, arguments
        if self._library.slt_version() != VERSION:
            raise Unusable("it is of another version")

    def run(
        self,
        path: str,
        data: bytes,
        name: str,
        timeout_s: float,
        progress: Callable[[int], None] = lambda _: None,
        stop: Callable[[], bool] = lambda: False,
    ) -> FileResult | None:
        """The result of a file that passes, or until it was stopped; None: for the plain path.

        name: of the engine, for skipif and onlyif, in lower case.
        """
        if data.startswith(b"\xef\xbb\xbf") or not _is_text(data) or not name.isascii():
            return None
        library = self._library
        held = library.slt_open(self._api, data, len(data), name.encode(), timeout_s)
        if not held:
            return None
        told = held.contents
        result = FileResult(path, native=True)
        try:
            library.slt_limit(held, LARGEST)
            status = _MORE
            while status == _MORE:
                before = told.counts[0]
                if stop():
                    result.cut = True
                    break
                status = library.slt_run(held, SLICE_S)
                if status != _DECLINED:
                    progress(told.counts[0] - before)
        except KeyboardInterrupt:
            status = _INTERRUPTED
        finally:
            _, result.run, result.skipped, result.unchecked, number = told.counts
            result.by_release = list(told.versions[:number])
            self.declined = told.line if status == _DECLINED else 0
            library.slt_close(held)
        if status == _INTERRUPTED:
            result.cut = result.interrupted = True
        return None if status == _DECLINED else result


def _pointers() -> Any:
    """The functions the helper calls, in its order. Raises Unusable."""
    try:
        found = [capi.function(name) for name in _SQLITE]
    except capi.Unreachable as error:
        raise Unusable(str(error)) from error
    found += [getattr(ctypes.pythonapi, name) for name in _PYTHON]
    kind = ctypes.c_void_p * len(found)
    return kind(*(ctypes.cast(function, ctypes.c_void_p).value for function in found))


def _is_text(data: bytes) -> bool:
    try:
        return data.isascii() or bool(data.decode("utf-8"))
    except UnicodeDecodeError:
        return False


def check_helper(helper: Helper) -> None:
    """Have it run a file that passes, and wrong ones. Raises Unusable when it says otherwise."""
    passed = helper.run("right", _RIGHT, "sqlite", 10.0)
    if passed is None or (passed.run, passed.skipped, passed.unchecked) != (6, 1, 0):
        raise Wrong("does not pass a file that passes")
    for part, other in _WRONG:
        wrong = _RIGHT.replace(part, other, 1)
        if helper.run("wrong", wrong, "sqlite", 10.0) is not None:
            raise Wrong(f"passes a wrong file, with {other.decode()!r}")


def _build_name(text: str) -> str:
    """What the build of a text is called in the cache: it fits this machine and C library."""
    try:
        here = os.confstr("CS_GNU_LIBC_VERSION")
    except (ValueError, OSError, AttributeError):
        here = None
    facts = (text, *FLAGS, *os.uname()[::4], str(here))
    return f"conform-{hashlib.sha256(repr(facts).encode()).hexdigest()[:40]}.so"


def prepare(size: int) -> str:
    """Load the helper; compile it first if the files are of so many bytes that it pays.

    Before there are other processes, so that they have it, too. Returns what is wrong with it, ""
    if nothing is, or if it is not there.
    """
    if size >= WORTH_BUILDING:
        _build()
    wrong = _tried()[1]
    return f"{NAME} {wrong}, and is not used" if wrong else ""


def _build() -> None:
    """Compile the helper if no build is in the cache."""
    cache = cache_directory()
    if cache is None:
        return
    text = _SOURCE.read_text(encoding="utf-8")
    name = _build_name(text)
    if cached(cache, name) is not None:
        return
    compiler = importlib.import_module("refute.verifiers.model.native.compiler")
    try:
        with compiler.built(text, FLAGS) as made:
            kept(made, cache, name)
    except compiler.Unsuited:
        return  # the plain path can do all of it


def loaded() -> Helper | None:
    """The helper, checked, if a build of it is in the cache."""
    return _tried()[0]


@functools.cache
def _tried() -> tuple[Helper | None, str]:
    """The helper if it can be used; and what is wrong with it."""
    cache = cache_directory()
    if cache is None:
        return None, ""
    path = cached(cache, _build_name(_SOURCE.read_text(encoding="utf-8")))
    try:
        if path is None:
            return None, ""
        helper = Helper(path)
        check_helper(helper)
    except Wrong as error:
        return None, str(error)
    except Unusable:
        return None, ""
    return helper, ""


class Assisted(Embedded):
    """The embedded SQLite with the helper. doubt: one of so many passed files is run plainly, too.

    find: gives the helper.
    """

    def __init__(
        self,
        timeout_s: float,
        doubt: int = DOUBT,
        find: Callable[[], Helper | None] = loaded,
    ) -> None:
        super().__init__(timeout_s)
        self._doubt = doubt
        self._find = find
        self._caught = False

    def whole_file(self, run: Run, path: str, data: bytes) -> FileResult | None:
        """The result of a file that passes, or that the helper lied about; None: run it plainly."""
        helper = None if self._caught else self._find()
        if helper is None:
            return None
        started = time.monotonic()
        result = helper.run(path, data, run.name, self._timeout_s, run.progress, run.stop)
        if result is not None and not result.cut and self._doubts():
            result = self._again(run, result, data)
        if result is not None:
            result.wall_s = time.monotonic() - started
        return result

    def _doubts(self) -> bool:
        return int.from_bytes(os.urandom(4), "little") % self._doubt == 0

    def _again(self, run: Run, said: FileResult, data: bytes) -> FileResult:
        """The file's result by the plain path, with a word on the helper if it said otherwise."""
        quiet = dataclasses.replace(run, progress=lambda _: None)
        found = FileRun(quiet, said.path, hash_seed=0).all_of(data)
        found.native, found.doubted = True, True
        if not found.cut and found != dataclasses.replace(said, doubted=True):
            self._caught = True
            found.native = False
            found.unstable = (
                f"{NAME} said of {said.path} that all {said.run} records passed, {said.skipped} "
                f"skipped, and the plain path says otherwise; what else it said passed is not sure "
                "either (run with --no-native)"
            )
        return found
