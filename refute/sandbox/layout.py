"""Layout: which parts of this machine a worker can see, found once by the parent.

The interpreter with its standard library, installed distributions, the system's shared libraries
(installed distributions load them) and refute itself. All appear at their own paths, read-only.
Commands also get the system's programs. No part of the tree is in here, nor any home, temporary
or configuration directory.
"""

from __future__ import annotations

import functools
import os
import sys
import sysconfig
from pathlib import Path
from typing import NamedTuple

_LIBRARIES = ("/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/local/lib")
_STORES = ("/nix/store",)
_DATA = ("/etc/ld.so.cache", "/usr/share/zoneinfo")
_PROGRAMS = ("/bin", "/sbin", "/usr", "/opt")


class Layout(NamedTuple):
    """binds: (path in the worker, real path here); links: (path, what the link says).

    path: entries of sys.path for standard library and distributions. package: refute's directory.
    """

    binds: tuple[tuple[str, str], ...]
    links: tuple[tuple[str, str], ...]
    path: tuple[str, ...]
    package: str


@functools.cache
def layout(command: bool) -> Layout:
    """The layout for Python subjects, or for commands."""
    interpreter = os.path.realpath(sys.executable)
    roots = {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")}
    installed = [p for p in sys.path if Path(p).name in ("site-packages", "dist-packages")]
    standard = [p for p in sys.path if p not in installed and _is_below(p, roots)]
    package = str(Path(__file__).parent.parent)
    libraries = [*_LIBRARIES, *_STORES, *(f"{p}/lib" for p in (sys.base_prefix, sys.prefix))]
    shown = [*libraries, *_DATA, interpreter, *standard, *installed, package]
    if command:
        shown += [*_PROGRAMS, str(Path(interpreter).parent)]
    links = {p: os.readlink(p) for p in shown if os.path.islink(p) and p.count("/") == 1}
    binds: dict[str, str] = {}
    for path in sorted((p for p in shown if p not in links), key=lambda p: p.count("/")):
        real = os.path.realpath(path)
        if os.path.exists(real) and not _covered(path, real, binds):
            binds[path] = real
    return Layout(
        binds=tuple(binds.items()),
        links=tuple(links.items()),
        path=(*standard, *installed),
        package=package,
    )


def _is_below(path: str, roots: set[str]) -> bool:
    return any(path == root or path.startswith(f"{root}/") for root in roots)


def _covered(path: str, real: str, binds: dict[str, str]) -> bool:
    for shown, source in binds.items():
        if path == shown or path.startswith(f"{shown}/"):
            return real == source + path[len(shown) :]
    return False
