"""Contracts judged without refute: icontract's own run-time objects, and all small inputs.

The prover reads conditions as syntax and never runs a function; here the imported function runs on
CPython and its decorators' conditions are asked. `broken` shares nothing with either, so that the
two can be compared.
"""

from __future__ import annotations

import functools
import importlib.util
import inspect
import itertools
import re
import sys
import types
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

Inputs = dict[str, Any]
INTS = (0, 1, 2, 3, 4, 5, 7, 8, 12, -1, -2, -3, 100, 255, 256, 400, 512, 1023)
TEXTS = ("", "a", "b", "ab")
ITEMS = 3  # items of the longest list
CASES = 6000  # of one function, spread over all of its small inputs


@functools.cache
def load(path: Path) -> types.ModuleType:
    """The module at `path`, under a name of its own."""
    name = f"corpus_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def small_inputs(function: Callable[..., Any]) -> Iterator[Inputs]:
    """Inputs of the annotated types, evenly chosen where there are more than CASES."""
    plain = inspect.unwrap(function)
    hints = typing.get_type_hints(plain)
    names = list(inspect.signature(plain).parameters)
    values = [list(small(hints[name], len(names))) for name in names]
    total = 1
    for choices in values:
        total *= len(choices)
    step = max(1, total // CASES) | 1
    for row in itertools.islice(itertools.product(*values), 0, None, step):
        yield dict(zip(names, row, strict=True))


def small(kind: Any, inputs: int) -> Iterator[Any]:
    """Small values of a type, for a function of so many inputs."""
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if kind is int:
        yield from range(-70, 700) if inputs == 1 else INTS if inputs == 2 else INTS[:10]
    elif kind is bool:
        yield from (False, True)
    elif kind is type(None):
        yield None
    elif kind is str:
        yield from TEXTS
    elif kind is bytes:
        for size in range(3):
            yield from map(bytes, itertools.product((0, 1, 2, 128, 255), repeat=size))
    elif origin is list:
        items = [v for v in small(parts[0], 9) if v in (0, 1, 2, -1, None, True)]
        for size in range(ITEMS + 2 if inputs == 1 else ITEMS + 1):
            yield from map(list, itertools.product(items, repeat=size))
    elif origin is tuple:
        yield from itertools.product(*(list(small(part, 9)) for part in parts))
    elif origin in (typing.Union, types.UnionType):
        for part in parts:
            yield from small(part, inputs)
    else:
        raise TypeError(f"no small values of {kind}")


def broken(function: Callable[..., Any], inputs: Inputs) -> str | None:
    """How the call breaks the contract; "" when it holds, None when the inputs are not meant."""
    checker = function
    while not hasattr(checker, "__preconditions__") and hasattr(checker, "__wrapped__"):
        checker = checker.__wrapped__
    state = _copied(inputs)
    for group in getattr(checker, "__preconditions__", []):
        if not all(_ask(contract.condition, state) for contract in group):
            return None
    old = types.SimpleNamespace(
        **{
            snapshot.name: snapshot.capture(*(state[a] for a in snapshot.args))
            for snapshot in getattr(checker, "__postcondition_snapshots__", [])
        }
    )
    try:
        result = inspect.unwrap(function)(**state)
    except Exception as error:
        return "" if _allowed(function, error) else f"raised {type(error).__name__}: {error}"
    known = {**state, "result": result, "OLD": old}
    for contract in getattr(checker, "__postconditions__", []):
        try:
            if not _ask(contract.condition, known):
                return f"returned {result!r}: line {contract.condition.__code__.co_firstlineno}"
        except Exception as error:
            return f"returned {result!r}, and a condition raised {type(error).__name__}"
    return ""


def _ask(condition: Callable[..., Any], known: Inputs) -> Any:
    return condition(**{name: known[name] for name in inspect.signature(condition).parameters})


def _allowed(function: Callable[..., Any], error: Exception) -> bool:
    named = re.findall(r":raises (\w+):", inspect.unwrap(function).__doc__ or "")
    return any(kind.__name__ in named for kind in type(error).__mro__)


def _copied(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return type(value)(_copied(v) for v in value)
    if isinstance(value, dict):
        return {key: _copied(v) for key, v in value.items()}
    return value
