"""Old versions of SQL engines, made out of packages: what an `install` line of a bug file names.

`pyproj==2.1.3` of an SQLite bug is a wheel whose shared library of SQLite is taken out of it, for
`--engine sqlite:PATH`. Other lines, such as `duckdb==1.4.0`, become a virtual environment, whose
engine runs behind examples/sqlshim. `Python 3.7: …` says with which Python. Everything lies below
one directory, and is made once; what cannot be made is told with pip's own words.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SHIM = ROOT / "examples" / "sqlshim" / "shim.py"
PLATFORMS = (
    *("manylinux1_x86_64", "manylinux2010_x86_64", "manylinux2014_x86_64"),
    "manylinux_2_28_x86_64",
)
MODULES = {  # of a package: what the shim is given, and the dialect
    "duckdb": ("duckdb :memory:", "duckdb"),
    "pyturso": ("turso :memory:", "sqlite"),
    "datafusion": ("datafusion", "datafusion"),
}
LIBRARIES = (  # wheels that have a library of SQLite, and the Python that they are for
    ("3.7", "pyproj==2.1.3"),
    ("3.7", "pyproj==2.4.0"),
    ("3.7", "pyproj==2.2.2"),
    ("3.7", "pysqlite3-binary==0.4.2"),
    ("3.7", "pyproj==2.6.1.post1"),
    ("3.7", "pyproj==3.0.1"),
    ("3.7", "rasterio==1.1.8"),
    ("3.7", "pyproj==3.1.0"),
    ("3.9", "pyproj==3.6.1"),
    ("3.11", "pyproj==3.7.2"),
)
"""SQLite 3.23.1, 3.24.0, 3.27.2, 3.29.0, 3.31.1, 3.32.3, 3.33.0, 3.35.5, 3.42.0 and 3.46.1."""

_REQUIREMENT = re.compile(r"([A-Za-z][\w-]*)==([\w.]+)")
_PYTHON = re.compile(r"Python ([\d.]+):")


class Engine(NamedTuple):
    """What `refute fuzz sql` is given for a version. dialect: of `--as`; empty for its own."""

    engine: str
    dialect: str = ""


class Unavailable(Exception):
    """The version is not there, and cannot be made; the message says why."""


def engine_of(install: str, kind: str, place: Path) -> Engine:
    """The engine that a line names, as it lies in `place`. kind: "sqlite" or a package's engine.

    Raises Unavailable.
    """
    name = requirement(install)
    if kind == "sqlite":
        return Engine(f"sqlite:{library_in(place / name)}")
    python = place / name / "bin" / "python"
    if not python.exists():
        raise Unavailable(f"{name} is not in {place}: run with --prepare")
    given, dialect = MODULES[name.partition("==")[0]]
    return Engine(f"cmd:{python} {SHIM} {given}", dialect)


def requirement(install: str) -> str:
    """The package with its version that a line names first. Raises Unavailable."""
    found = _REQUIREMENT.search(install)
    if found is None:
        raise Unavailable(f"{install!r} names no package with a version")
    return found[0]


def library_in(place: Path) -> Path:
    """The library of SQLite below a directory. Raises Unavailable."""
    for found in sorted(place.rglob("libsqlite3*.so*")):
        return found
    raise Unavailable(f"no library of SQLite in {place}: run with --prepare")


def prepare(install: str, kind: str, place: Path) -> str:
    """Make what a line names, unless it is there; what was done, or why it could not be."""
    name = requirement(install)
    if (place / name).exists():
        return "is there"
    asked = _PYTHON.search(install)
    version = asked[1] if asked else ""
    try:
        if kind == "sqlite":
            unpack(name, version or "3.7", place)
        else:
            _environment(name, install[asked.end() :] if asked else name, version, place)
    except Unavailable as error:
        return f"cannot be made: {error}"
    return "made"


def unpack(name: str, version: str, place: Path) -> None:
    """The shared libraries of a wheel, below `place`. version: of Python. Raises Unavailable."""
    if (place / name).exists():
        return
    wheels = place / "wheels" / name
    wheels.mkdir(parents=True, exist_ok=True)
    platforms = [word for platform in PLATFORMS for word in ("--platform", platform)]
    options = ["--only-binary=:all:", "--python-version", version, *platforms]
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", *options]
    _pip([*pip, "--dest", str(wheels), name])
    [wheel] = wheels.glob("*.whl")
    with zipfile.ZipFile(wheel) as file:
        members = [member for member in file.namelist() if ".so" in member]
        file.extractall(place / name, members)


def _environment(name: str, packages: str, version: str, place: Path) -> None:
    python = _python(version) if version else sys.executable
    made = place / name
    _run([python, "-m", "venv", str(made)])
    try:
        _pip([str(made / "bin" / "python"), "-m", "pip", "install", "--quiet", *packages.split()])
    except Unavailable:
        shutil.rmtree(made)
        raise


def _python(version: str) -> str:
    """A Python of that version, on the path or of pyenv. Raises Unavailable."""
    if found := shutil.which(f"python{version}"):
        works = subprocess.run([found, "--version"], capture_output=True, check=False)
        if works.returncode == 0:
            return found
    root = os.environ.get("PYENV_ROOT", str(Path.home() / ".pyenv"))
    for path in sorted(Path(root).glob(f"versions/{version}.*/bin/python")):
        return str(path)
    raise Unavailable(f"there is no Python {version} here")


def _pip(command: list[str]) -> None:
    _run([*command, "--disable-pip-version-check"])


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise Unavailable(lines[-1] if lines else f"{command[0]} failed")


def newest_library() -> Path:
    """The library of the newest SQLite here: of apsw. Raises Unavailable."""
    for place in sys.path:
        for path in sorted(Path(place).glob("apsw/sqlite_extra_binaries/libsqlite3*.so*")):
            return path
    raise Unavailable("apsw has no library of SQLite here: pip install apsw")
