"""Where the engine of `refute conform` is: the tree around the current directory, or anywhere."""

from __future__ import annotations

from pathlib import Path

from refute.claim import REFERENCE
from refute.cli.place import project_of
from refute.closure import closure_of
from refute.config import read_config
from refute.verifiers.sql.conform_names import (
    COMMAND,
    PACKAGES,
    SERVERS,
    is_library,
    name_of,
    scheme_of,
    unknown,
)
from refute.verifiers.sql.conform_run import Choice


def choice_of(engine: str, name: str, timeout_s: float, here: Path) -> Choice:
    """The engine as it is found from the directory `here`. Raises UsageError.

    A module of the tree comes with what it imports and nothing else, so that an engine cannot read
    the results it should give; one that is installed needs no files.
    """
    called = (name or name_of(engine)).lower()
    if engine in PACKAGES or scheme_of(engine) in SERVERS or engine.startswith(COMMAND):
        return Choice(engine, called, timeout_s, here)
    if is_library(engine):
        return Choice(engine, called, timeout_s, here)
    if not REFERENCE.match(engine):
        raise unknown(engine)
    tree = project_of(here)
    own = here.relative_to(tree).as_posix()
    roots = tuple(dict.fromkeys((own, *read_config(tree).roots)))
    files = closure_of(tree, roots, (engine,), ("**/*.py",)).files
    return Choice(engine, called, timeout_s, tree, files, roots)
