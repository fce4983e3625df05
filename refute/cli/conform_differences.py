"""What `refute conform` was told about differences that are expected, and about transpiling."""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import textwrap

from refute.cli.conform_options import OWN
from refute.oracles.sql.differences import DIFFERENCES, switched_off
from refute.verifiers.sql.conform_names import name_of
from refute.verifiers.sql.conform_run import SQLITE, Choice


def with_differences(given: argparse.Namespace, choice: Choice) -> Choice:
    """The choice with what was said about differences. Raises UsageError.

    Statements that are written for the engine are SQLite's, so it is SQLite's records that are run,
    unless `--as` says otherwise.
    """
    kind = name_of(choice.engine)
    known = any(kind in difference.engines for difference in DIFFERENCES.values())
    kind = kind if known or kind == "turso" else choice.name
    choice = dataclasses.replace(choice, without=switched_off(given.no_difference), kind=kind)
    if not given.transpile:
        return choice
    named = choice.kind if given.transpile == OWN else given.transpile
    module = importlib.import_module("refute.oracles.sql.transpile.targets")
    target: str = module.target_of(named).name
    name = choice.name if given.name else SQLITE
    return dataclasses.replace(choice, transpile=target, name=name)


def listing() -> str:
    """All classes of expected difference, for people."""
    lines = []
    for difference in DIFFERENCES.values():
        where = ", ".join(difference.engines)
        where += "; not with --transpile" if difference.bare else ""
        lines.append(f"{difference.name} ({where})")
        for text in (difference.meaning, f"if {difference.test}"):
            lines += textwrap.wrap(text, 92, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines) + "\n"
