"""What evidence depends on besides the code: interpreter, platform, installed distributions.

Distributions are told by the names of their metadata directories, which carry name and version;
reading each one's metadata would cost more than the whole of a gate on an unaffected change.
"""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import sys
from pathlib import Path

import refute
from refute import plain


@functools.cache
def surroundings() -> dict[str, str]:
    """Name → value or digest of everything around the judged code, without the isolation."""
    return {
        "interpreter": f"{sys.implementation.name} {platform.python_version()} {sys.abiflags}",
        "platform": f"{platform.system()} {platform.machine()} {platform.libc_ver()[1]}",
        "distributions": _distributions(),
        "refute": refute.__version__,
        "refute source": _source_digest(),
    }


def _distributions() -> str:
    found = set()
    for directory in {Path(p).resolve() for p in sys.path if p and Path(p).is_dir()}:
        for entry in os.scandir(directory):
            if entry.name.endswith((".dist-info", ".egg-info")):
                found.add(entry.name)
    return plain.digest(sorted(found))


def _source_digest() -> str:
    root = Path(refute.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*")):
        if path.suffix in (".py", ".json", ".c") and path.is_file():
            digest.update(
                plain.dumps([path.relative_to(root).as_posix(), path.stat().st_size]).encode()
            )
            digest.update(path.read_bytes())
    return digest.hexdigest()
