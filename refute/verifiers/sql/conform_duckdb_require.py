"""What a file of DuckDB's dialect requires, and whether it is there.

After CheckRequire of DuckDB's test/sqlite/sqllogic_test_runner.cpp. Whether the engine is built in
one way or another cannot be asked of it; the engine is taken for a released DuckDB, whose vectors
have 2048 values and which has no sanitizer, no verification of blocks or vectors and no forced
storage. What is neither such a property nor one of this machine is the name of an extension.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
from collections.abc import Callable, Sequence
from typing import Any

from refute.oracles.sqllogictest.render import whole

VECTOR_SIZE = 2048
_PLATFORM = {
    "windows": sys.platform == "win32",
    "notwindows": sys.platform != "win32",
    "mingw": False,
    "notmingw": True,
    "notmusl": platform.libc_ver()[0] != "musl",
    "longdouble": True,  # where Python runs in a sandbox: Linux, on which it has 64 or 113 bits
    "64bit": sys.maxsize > 2**32,
}
_RELEASE = frozenset(
    (
        "noforcestorage",
        "no_force_storage",
        "nothreadsan",
        "strinline",
        "skip_reload",
        "no_alternative_verify",
        "noalternativeverify",
        "no_block_verification",
        "no_vector_verification",
        "no_latest_storage",
        "no_extension_autoloading",  # it is off, see duckdb_session.CONFIG
        "allow_unsigned_extensions",
    )
)
_UNITS = {"": 1, "b": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_SIZE = re.compile(r"([0-9.]+)\s*(?:([kmgt]?)b?|([kmgt])ib)", re.IGNORECASE)

Ask = Callable[[str], Sequence[Any]]


class Malformed(Exception):
    """What is wrong with the words of a `require`."""


def unmet(words: Sequence[str], ask: Ask, load: Callable[[str], Sequence[Any]]) -> str:
    """Why what is required is not there; empty when it is. Raises Malformed.

    ask: the engine's answer to a query. load: its answer to loading an extension.
    """
    name = words[0].lower()
    if name in _PLATFORM:
        return "" if _PLATFORM[name] else f"this machine is not {name}"
    if name in _RELEASE:
        return ""
    if name in ("vector_size", "exact_vector_size", "block_size", "ram", "disk_space"):
        return _measured(name, words, ask)
    if name == "vacuum_rebuild_indexes":
        value = _setting("vacuum_rebuild_indexes", ask)
        return "" if value.isdecimal() and int(value) > 0 else "the setting is off"
    if not re.fullmatch(r"\w+", name):
        raise Malformed(f"require takes a name, not {words[0]!r}")
    answer = load(name)
    return "" if answer[0] in ("rows", "done") else "the engine cannot load it"


def _measured(name: str, words: Sequence[str], ask: Ask) -> str:
    """Of a required number: why it is not reached."""
    if len(words) != 2:
        raise Malformed(f"require {name} takes a number")
    if name in ("ram", "disk_space"):
        have = shutil.disk_usage(".").free if name == "disk_space" else _memory()
        return "" if have >= _bytes(words[1]) else f"there are {have:,} bytes"
    if not words[1].isdecimal():
        raise Malformed(f"require {name} takes a number, not {words[1]!r}")
    wanted = whole(words[1])
    if name == "block_size":
        size = _setting("default_block_size", ask)
        return "" if size == str(wanted) else f"it is {size or 'unknown'}"
    met = wanted <= VECTOR_SIZE if name == "vector_size" else wanted == VECTOR_SIZE
    return "" if met else f"it is {VECTOR_SIZE}"


def _setting(name: str, ask: Ask) -> str:
    answer = ask(f"SELECT value FROM duckdb_settings() WHERE name = '{name}'")
    rows = answer[2] if answer[0] == "rows" else []
    return str(rows[0][0]) if rows else ""


def _memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _bytes(text: str) -> float:
    found = _SIZE.fullmatch(text)
    if found is None:
        raise Malformed(f"{text!r} is no size, such as 16GB")
    if found[3]:
        return float(found[1]) * 2.0 ** (10 * " kmgt".index(found[3].lower()))
    return float(found[1]) * _UNITS[found[2].lower()]
