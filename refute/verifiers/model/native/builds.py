"""A cache of compiled libraries in the user's cache directory.

A build is written beside its final name and moved there, so that two runs can build the same at
once, into a directory that only its owner may write to; where there is no such directory, or no
room in it, nothing is kept. The file ends with a digest of the rest: a cached one that does not
match is made anew. Apart from the compiler, which a run that finds its build does not load.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from pathlib import Path

KEPT = 200  # builds in the cache; the ones not used for longest go first
ABANDONED_S = 3600.0  # age at which a build that nobody finished is removed
_SEAL = b"\nrefute built this:"


def cache_directory() -> Path | None:
    """The user's directory of builds; None when there is none that only they may write to."""
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    try:
        path = Path(base).expanduser() / "refute" / "native"
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = path.stat()
    except (OSError, RuntimeError):
        return None
    private = status.st_uid == os.geteuid() and not status.st_mode & 0o022
    return path if private and os.access(path, os.W_OK) else None


def cached(cache: Path, name: str) -> Path | None:
    """The build of this name in the cache, if it is there and whole."""
    path = cache / name
    try:
        data = path.read_bytes()
        os.utime(path)
    except OSError:
        return None
    rest, _, seal = data.rpartition(_SEAL)
    return path if hashlib.sha256(rest).digest() == seal else None


def kept(made: Path, cache: Path | None, name: str) -> Path | None:
    """The build in the cache; None where it cannot be kept, for lack of room for example."""
    if cache is None:
        return None
    data = made.read_bytes()
    beside = cache / f"{name}.{os.getpid()}.{time.monotonic_ns()}.new"
    try:
        beside.write_bytes(data + _SEAL + hashlib.sha256(data).digest())
        beside.chmod(0o644)
        beside.replace(cache / name)
    except OSError:
        with contextlib.suppress(OSError):
            beside.unlink()
        return None
    _forget_old(cache)
    return cache / name


def _forget_old(cache: Path) -> None:
    """Remove the builds that were not used for longest, and what killed runs left behind."""
    builds = []
    for path in cache.iterdir():
        with contextlib.suppress(OSError):
            used = path.stat().st_mtime
            if path.suffix == ".so":
                builds.append((used, path))
            elif path.suffix == ".new" and used < time.time() - ABANDONED_S:
                path.unlink()
    for _, path in sorted(builds)[:-KEPT]:
        with contextlib.suppress(OSError):
            path.unlink()
