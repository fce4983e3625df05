"""The C compiler, and a cache of what it made.

A build is named by everything that it depends on: the text, the compiler and the flags. It is
written beside its final name and moved there, into a directory that only its owner may write to;
where there is no such directory, nothing is kept.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from refute.verifiers.model.native.forms import Unsuited

FLAGS = ("-O2", "-std=gnu11", "-shared", "-fPIC", "-w", "-pthread")
QUICK = ("-O0", *FLAGS[1:])  # for tests, which compile more than they run
_COMPILERS = ("cc", "gcc", "clang")
PATIENCE_S = 120.0
KEPT = 200  # builds in the cache; the ones not used for longest go first


@functools.cache
def compiler() -> tuple[str, ...]:
    """The command of a C compiler: the system's, or that of the package `ziglang`; () if none."""
    for name in _COMPILERS:
        found = shutil.which(name)
        if found:
            return (found,)
    if importlib.util.find_spec("ziglang") is not None:
        return (sys.executable, "-m", "ziglang", "cc")
    return ()


def _identity(command: Sequence[str]) -> str:
    """What tells one compiler from another without running it."""
    real = Path(command[0]).resolve()
    status = real.stat()
    facts = (*command, real, status.st_size, status.st_mtime_ns, platform.machine())
    return "\n".join(map(str, facts))


def cache_directory() -> Path | None:
    """The user's directory of builds; None when there is none that only they may write to."""
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    path = Path(base).expanduser() / "refute" / "native"
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = path.stat()
    except (OSError, RuntimeError):
        return None
    private = status.st_uid == os.geteuid() and not status.st_mode & 0o022
    return path if private and os.access(path, os.W_OK) else None


@contextlib.contextmanager
def built(
    text: str, flags: Sequence[str] = FLAGS, patience_s: float = PATIENCE_S
) -> Iterator[Path]:
    """The library made of a C text, as a file. Raises Unsuited when it cannot be made in time."""
    command = compiler()
    if not command:
        raise Unsuited("no C compiler was found (cc, gcc, clang, or the package ziglang)")
    key = "\n".join((_identity(command), *flags, text))
    name = hashlib.sha256(key.encode()).hexdigest()[:40] + ".so"
    cache = cache_directory()
    if cache is None:
        with tempfile.TemporaryDirectory(prefix="refute-native-") as directory:
            path = Path(directory) / name
            _compile((*command, *flags), text, path, patience_s)
            yield path
        return
    path = cache / name
    if path.is_file():
        with contextlib.suppress(OSError):
            os.utime(path)
    else:
        _compile((*command, *flags), text, path, patience_s)
        _forget_old(cache)
    yield path


def _compile(command: Sequence[str], text: str, path: Path, patience_s: float) -> None:
    with tempfile.TemporaryDirectory(prefix="build-", dir=path.parent) as directory:
        source, made = Path(directory) / "machine.c", Path(directory) / "machine.so"
        source.write_text(text, encoding="utf-8")
        arguments = [*command, "-o", str(made), str(source)]
        try:
            done = subprocess.run(
                arguments, capture_output=True, text=True, timeout=patience_s, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise Unsuited(f"the C compiler took more than {patience_s:.0f} s") from error
        except OSError as error:
            raise Unsuited(f"the C compiler {command[0]} failed: {error}") from error
        if done.returncode or not made.is_file():
            said = [line for line in done.stderr.splitlines() if "error" in line][:1]
            raise Unsuited(f"the C compiler gave status {done.returncode}: {' '.join(said)}")
        made.chmod(0o644)
        made.replace(path)


def _forget_old(cache: Path) -> None:
    builds = []
    for path in cache.glob("*.so"):
        with contextlib.suppress(OSError):
            builds.append((path.stat().st_mtime, path))
    for _, path in sorted(builds)[:-KEPT]:
        with contextlib.suppress(OSError):
            path.unlink()
