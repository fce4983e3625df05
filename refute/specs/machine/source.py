"""Where functions and classes stand in their files.

`inspect.getsourcelines` reads token after token, in Python, to find where a function ends, and
parses the file once for each class. Here a file is parsed once, and its functions' ends are kept.
"""

from __future__ import annotations

import ast
import functools
import inspect
import re
import types

_ENDS: dict[str, tuple[list[str], dict[int, int]]] = {}
KEPT = 64


def source_lines(function: types.FunctionType) -> tuple[list[str], int]:
    """A function's lines, decorators included, and the number of the first.

    Raises OSError and TypeError, as `inspect.getsourcelines` does.
    """
    lines, at = inspect.findsource(function)
    end = _ends(function.__code__.co_filename, lines).get(at + 1)
    return (lines[at:end], at + 1) if end else inspect.getsourcelines(function)


@functools.lru_cache(maxsize=KEPT)
def class_line(cls: type) -> int:
    """The number of a class's first line. Raises OSError and TypeError."""
    return inspect.findsource(cls)[1] + 1


def attribute_place(cls: type, name: str) -> tuple[str, int] | None:
    """The file and the line in which a class, or the base that it has it from, gives a name."""
    written = re.compile(rf"\s+{re.escape(name)}\s*[:=]")
    for base in (b for b in cls.__mro__ if name in vars(b)):
        try:
            lines, at = inspect.findsource(base)
            file = inspect.getsourcefile(base) or ""
        except (OSError, TypeError):
            return None
        for number, line in enumerate(lines[at:], start=at + 1):
            if written.match(line):
                return file, number
    return None


def _ends(file: str, lines: list[str]) -> dict[int, int]:
    """First line → last line of each function of a file with these lines.

    `linecache` gives the same list until the file changes.
    """
    known = _ENDS.get(file)
    if known is None or known[0] is not lines:
        while len(_ENDS) >= KEPT:
            _ENDS.pop(next(iter(_ENDS)))
        known = _ENDS[file] = lines, _found("".join(lines))
    return known[1]


def _found(text: str) -> dict[int, int]:
    try:
        nodes: list[ast.AST] = [ast.parse(text)]
    except SyntaxError:  # the file has changed since it was imported
        return {}
    found: dict[int, int] = {}
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.FunctionDef):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            found[first] = node.end_lineno or 0
        # Functions stand in statements only, and those in others, cases and handlers.
        inside = ast.iter_child_nodes(node)
        nodes += [n for n in inside if not isinstance(n, ast.expr | ast.arguments)]
    return found
