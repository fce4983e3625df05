"""What `refute conform --dialect c` can be asked: the C runner's verdict is one on SQLite alone."""

from __future__ import annotations

import argparse
import dataclasses

from refute.errors import UsageError
from refute.oracles.sql.capi import Unreachable, function
from refute.verifiers.sql.conform_run import SQLITE, Choice


def fitting(given: argparse.Namespace, choice: Choice, chosen: bool) -> Choice:
    """The choice for it. chosen: whether only some records are. Raises UsageError."""
    other = next((name for name, is_so in _others(given, chosen) if is_so), "")
    if other:
        raise UsageError(
            f"--dialect c gives the verdict of SQLite's C runner, which knows no {other}",
            thing="--dialect",
            value="c",
            possible=("auto", "sqlite"),
            next_step=f"leave out {other}, or take --dialect sqlite, which reads the same files",
        )
    try:
        function("libversion")
    except Unreachable as error:
        raise UsageError(
            f"--dialect c cannot be run here: {error}",
            thing="--dialect",
            value="c",
            possible=("auto", "sqlite"),
            next_step="use a Python whose sqlite3 is linked to a library, such as the system's",
        ) from error
    return dataclasses.replace(choice, native=False)


def _others(given: argparse.Namespace, chosen: bool) -> tuple[tuple[str, object], ...]:
    return (
        ("--engine", given.engine != SQLITE),
        ("--as", given.name and given.name.lower() != SQLITE),
        ("selection of records", chosen),
        ("--update", given.update or given.dry_run),
        ("--transpile", given.transpile),
    )
