"""The C compiler, and what becomes of what it made.

A build is named by everything that it depends on: the text, the compiler and the flags; `builds`
keeps it. The compiler may hang, crash or need all memory; each is a reason to search without it.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.util
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from refute.budget import GIB
from refute.verifiers.model.native.builds import cache_directory, cached, kept
from refute.verifiers.model.native.forms import Unsuited

MACHINE = os.uname().machine
_X86 = ("-mpopcnt",) if MACHINE in ("x86_64", "AMD64") else ()  # all since 2008
FLAGS = ("-O2", "-std=gnu11", "-shared", "-fPIC", "-w", "-pthread", *_X86)
QUICK = ("-O0", *FLAGS[1:])  # for tests, which compile more than they run
_COMPILERS = ("cc", "gcc", "clang")
PATIENCE_S = 120.0
MEMORY = 4 * GIB  # address space of each process of the compiler
STACK = GIB  # its stack, as it goes into nested blocks by recursion
_LIMITED = (
    *("/bin/sh", "-c", 'ulimit -s "$0" 2>/dev/null; ulimit -v "$1" 2>/dev/null; shift; exec "$@"'),
    *(str(STACK // 1024), str(MEMORY // 1024)),
)


def compiler() -> tuple[str, ...]:
    """The command of a C compiler: `CC`, the system's, or the package `ziglang`'s; () if none.

    Raises Unsuited when `CC` is set to what is not there.
    """
    return _compiler(os.environ.get("CC", "").strip(), os.environ.get("PATH", ""))


@functools.cache
def _compiler(wanted: str, _path: str) -> tuple[str, ...]:
    if wanted:
        return _asked_for(wanted)
    for name in _COMPILERS:
        found = shutil.which(name)
        if found:
            return (found,)
    if importlib.util.find_spec("ziglang") is not None:
        return (sys.executable, "-m", "ziglang", "cc", "-fno-sanitize=undefined")
    return ()


def _asked_for(wanted: str) -> tuple[str, ...]:
    """The command in `CC`, which may have arguments. Raises Unsuited."""
    try:
        name, *arguments = shlex.split(wanted)
    except ValueError as error:
        raise Unsuited(f"CC={wanted} cannot be read: {error}") from error
    found = shutil.which(name)
    if found is None:
        raise Unsuited(f"CC={wanted} is no program here")
    return (found, *arguments)


def _identity(command: Sequence[str]) -> str:
    """What tells one compiler from another without running it."""
    real = Path(command[0]).resolve()
    status = real.stat()
    facts = (*command, real, status.st_size, status.st_mtime_ns, MACHINE)
    return "\n".join(map(str, facts))


@contextlib.contextmanager
def built(
    text: str, flags: Sequence[str] = FLAGS, patience_s: float = PATIENCE_S
) -> Iterator[Path]:
    """The library made of a C text, as a file. Raises Unsuited when it cannot be made in time.

    patience_s: what the compiler may take, PATIENCE_S at most.
    """
    command = compiler()
    if not command:
        raise Unsuited("no C compiler was found (CC, cc, gcc, clang, or the package ziglang)")
    key = "\n".join((_identity(command), *flags, text))
    name = hashlib.sha256(key.encode()).hexdigest()[:40] + ".so"
    patience_s = min(patience_s, PATIENCE_S)
    cache = cache_directory()
    if cache is not None and (path := cached(cache, name)) is not None:
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="refute-native-") as directory:
        made = _compile((*command, *flags), text, Path(directory), patience_s)
        yield kept(made, cache, name) or made


def _compile(command: Sequence[str], text: str, directory: Path, patience_s: float) -> Path:
    """Compile the text to a file in the directory. Raises Unsuited."""
    source, made = directory / "machine.c", directory / "machine.so"
    try:
        source.write_text(text, encoding="utf-8")
        status, said = _run([*command, "-o", str(made), str(source)], directory, patience_s)
    except subprocess.TimeoutExpired as error:
        raise Unsuited(f"the C compiler took more than {patience_s:.0f} s") from error
    except OSError as error:
        raise Unsuited(f"the C compiler {command[0]} failed: {error}") from error
    if status or not made.is_file():
        lines = said.splitlines()
        told = [line for line in lines if "error" in line] or lines or ["it made no file"]
        how = f"ended by {signal.Signals(-status).name}" if status < 0 else f"gave status {status}"
        limits = f"it may use {MEMORY // GIB} GiB"
        raise Unsuited(f"the C compiler {how} ({limits}): {told[0][:200]}")
    made.chmod(0o644)
    return made


def _run(command: Sequence[str], directory: Path, patience_s: float) -> tuple[int, str]:
    """The status of a compiler and what it said. One that is given up is killed as a whole.

    Raises subprocess.TimeoutExpired and OSError.
    """
    with (directory / "said").open("w+", encoding="utf-8", errors="replace") as said:
        process = subprocess.Popen(
            [*_LIMITED, *command],
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            env=_environment(directory),
            start_new_session=True,
        )
        try:
            status = process.wait(patience_s)
        except BaseException:  # an interrupt too
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise
        said.seek(0)
        return status, said.read()


def _environment(directory: Path) -> dict[str, str]:
    """The user's, and places for zig's cache and for files that a killed compiler leaves behind."""
    cache = cache_directory()
    place = str(directory / "zig" if cache is None else cache / "zig")
    zig = {"ZIG_GLOBAL_CACHE_DIR": place, "ZIG_LOCAL_CACHE_DIR": place}
    return {**zig, **os.environ, "TMPDIR": str(directory)}
