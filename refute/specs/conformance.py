"""Statements about SQL engines: the engine passes every record of these sqllogictest files.

    claim("minidb passes its suite",
          Conforms("minidb:connect", files=["tests/sql/*.test"]),
          covers=["minidb/"], need=EXHAUSTED())

The files judge, so they come from the tree of the specs: in a gate from the base, and a change to
one of them is a change of the spec. The engine cannot see them.
"""

from __future__ import annotations

from collections.abc import Iterable

from refute.claim import REFERENCE, Statement, is_command
from refute.errors import IllegalClaim

KIND = "conforms"


def Conforms(
    engine: str, files: Iterable[str], name: str = "", timeout_s: float = 10.0
) -> Statement:
    """Every record of the files that the engine is not excused from passes, on a fresh database.

    engine: "module:function", a factory without arguments of DB-API 2.0 connections. files: globs
    over the paths of the tree (as `covers`). name: the engine's for skipif and onlyif, by default
    its module's. timeout_s: wall seconds that a statement may take.
    """
    if type(engine) is not str or is_command(engine) or not REFERENCE.match(engine):
        raise IllegalClaim(
            f"Conforms: engine {engine!r} is not a function of the tree",
            thing="engine",
            value=engine,
            possible=("module:function",),
            next_step="name a function without arguments that returns a DB-API connection; "
            "other kinds of engine are for the command `refute conform --engine`",
        )
    globs = _globs(files)
    if type(name) is not str or not timeout_s > 0:
        _refuse("name is a text and timeout_s a positive number", (name, timeout_s))
    return Statement(
        kind=KIND,
        text=f"{engine} passes every record of {', '.join(globs)}",
        subject=engine,
        params={
            "spec_files": globs,
            "name": (name or engine.partition(":")[0].partition(".")[0]).lower(),
            "timeout_s": float(timeout_s),
        },
    )


def _globs(files: Iterable[str]) -> list[str]:
    globs = [] if isinstance(files, str) else list(files)
    if not globs or not all(type(glob) is str and glob for glob in globs):
        _refuse("files is a list of paths or globs, with at least one", files)
    if any(glob.endswith(".py") for glob in globs):
        _refuse("files are sqllogictest files, not Python", globs)
    return globs


def _refuse(problem: str, value: object) -> None:
    raise IllegalClaim(f"Conforms: {problem}", thing="statement", value=value)
