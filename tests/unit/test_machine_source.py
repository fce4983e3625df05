"""Where functions stand in their files: the same answer as `inspect`, without reading tokens."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import linecache
import pkgutil
import types
from pathlib import Path
from typing import Any

import pytest

import refute.specs.library
from refute.specs.machine.source import class_line, source_lines


def functions() -> list[types.FunctionType]:
    modules = [m.name for m in pkgutil.iter_modules(refute.specs.library.__path__)]
    found = []
    for name in sorted(modules)[:6]:
        module = importlib.import_module(f"refute.specs.library.{name}")
        holders = [module, *(c for c in vars(module).values() if inspect.isclass(c))]
        every = [f for h in holders for f in vars(h).values() if inspect.isfunction(f)]
        file = module.__file__
        found += [f for f in every if inspect.unwrap(f).__code__.co_filename == file]
    return found


def test_functions_of_the_library_are_where_inspect_finds_them() -> None:
    found = functions()
    assert len(found) > 40
    for function in found:
        assert source_lines(function) == inspect.getsourcelines(function)


def decorated(function: Any) -> Any:
    return function


@decorated
@functools.partial(
    decorated,
)
def several(
    x: int = 1,
) -> str:
    text = """
def unindented() -> None:
    pass
"""
    return text + str(x)  # and a last line

    # a comment behind the end


def test_decorators_and_strings_belong_to_the_function() -> None:
    lines, start = source_lines(several)
    assert lines[0].startswith("@decorated") and lines[-1].startswith("    return text")
    assert start == inspect.getsourcelines(several)[1]
    assert isinstance(ast.parse("".join(lines)).body[0], ast.FunctionDef)


class Here:
    """Is somewhere."""

    answer: Any = staticmethod(lambda: 3)


def test_classes_and_lambdas() -> None:
    assert class_line(Here) == inspect.getsourcelines(Here)[1]
    assert source_lines(Here.answer) == inspect.getsourcelines(Here.answer)


def test_a_file_that_changed_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "changing_source.py"
    file.write_text("def f():\n    return 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("changing_source")
    assert source_lines(module.f)[0][-1] == "    return 1\n"
    file.write_text("def f():\n    x = 2\n    return x\n")
    linecache.checkcache()
    assert source_lines(module.f)[0][-1] == "    return x\n"
