"""A finding as a Python script that needs Python and the engine's driver, and nothing of refute.

Exit 1 while the engine is wrong, 0 once it is right, 2 where it cannot be asked. The script is made
of the modules in `refute.verifiers.sql.saved`.
"""

from __future__ import annotations

import ast
import math
import os
import pprint
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from refute.verifiers.sql.conform_names import (
    COMMAND,
    LIBRARY,
    PACKAGES,
    SERVERS,
    SQLITE,
    is_library,
    scheme_of,
)
from refute.verifiers.sql.conform_run import Choice

PARTS = Path(__file__).parent / "saved"
WIDTH = 100
_OWN = "refute."
_FUTURE = "__future__"


def script_text(
    choice: Choice, about: Sequence[str], setup: Sequence[str], asked: Sequence[str], right: Any
) -> str:
    """The script. about: lines for people; right: as `saved.main.wrong` takes it."""
    engine = _engine_of(choice)
    values = {
        "ENGINE": engine,
        "ROOTS": _roots(choice),
        "SETUP": list(setup),
        "ASKED": list(asked),
        "RIGHT": right,
        "TIMEOUT_S": max(5.0, choice.timeout_s),
    }
    imports: set[str] = set()
    bodies = [_part(name, imports) for name in (_driver_of(choice), "main")]
    head = [
        '"""Exit 1 while the engine is wrong, 0 once it is right, 2 where it cannot be asked.',
        "",
    ]
    head += [plain(line).replace("\\", "\\\\").replace('"""', "'''") for line in about]
    constants = [f"{name} = {_literal(value)}" for name, value in values.items()]
    parts = ["\n".join([*head, '"""']), "\n".join(sorted(imports, key=_order))]
    return "\n\n".join([*parts, "\n".join(constants)]) + "\n\n\n" + "\n\n\n".join(bodies) + "\n"


def plain(text: str) -> str:
    """Text on one line, whatever does not print as a space."""
    return "".join(c if c.isprintable() else " " for c in text)


def _part(name: str, imports: set[str]) -> str:
    """A module's text behind its imports; these are added to `imports`, refute's own left out."""
    source = (PARTS / f"{name}.py").read_text(encoding="utf-8")
    tree = ast.parse(source)
    last = 0
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            last = node.end_lineno or 0
            if not (isinstance(node, ast.ImportFrom) and (node.module or "").startswith(_OWN)):
                imports.add(ast.unparse(node))
    return "\n".join(source.splitlines()[last:]).strip()


def _order(line: str) -> tuple[bool, bool, str]:
    return _FUTURE not in line, line.startswith("from"), line


def _driver_of(choice: Choice) -> str:
    engine = choice.engine
    if engine == SQLITE or engine in PACKAGES:
        return engine
    if is_library(engine):
        return "library"
    if engine.startswith(COMMAND):
        return "command"
    return SERVERS.get(scheme_of(engine), "dbapi")


def _engine_of(choice: Choice) -> str:
    """What the driver is given: a URL without its password, a library by its whole path."""
    if is_library(choice.engine):
        return LIBRARY + str((choice.tree / choice.engine[len(LIBRARY) :]).resolve())
    return choice.shown


def _roots(choice: Choice) -> list[str]:
    """Where modules are imported from, seen from the current directory."""
    return [os.path.relpath(choice.tree / root) for root in choice.roots]


def _literal(value: Any) -> str:
    """A value as Python writes it, over several lines where it is long."""
    if type(value) is float and not math.isfinite(value):
        return f'float("{value}")'
    text = pprint.pformat(value, width=WIDTH - 8, sort_dicts=False)
    return text if "\n" not in text else f"(\n{text}\n)" if text[0] not in "[{" else text
