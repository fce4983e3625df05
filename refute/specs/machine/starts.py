"""What a variable may start with: the argument of `var(…)` as values of its type."""

from __future__ import annotations

import itertools
import math
import types
from collections.abc import Mapping
from typing import Any

from refute.errors import UsageError
from refute.specs.machine import types as t
from refute.specs.machine.language import anything
from refute.specs.machine.resolve import Resolver
from refute.specs.machine.values import MAX_DOMAIN, Value, domain


def starting_values(
    resolver: Resolver, way: str, argument: Any, kind: t.Type
) -> list[Value] | None:
    """The values that `var(way=argument)` stands for; None where that way has no meaning.

    Must run while the Sorts' sizes are known. Raises OutOfRange and UsageError.
    """
    match way:
        case "initial":
            return [resolver.freeze(argument, kind)]
        case "one_of":
            return _several(resolver, argument, kind)
        case "each" if isinstance(kind, t.MapOf):
            return [resolver.freeze(_spread(resolver, argument, kind), kind)]
        case "each_of" if isinstance(kind, t.MapOf):
            keys = [resolver.thaw(k, kind.key) for k in domain(kind.key)]
            return _products([_several(resolver, _at(argument, k), kind.value) for k in keys], kind)
    return None


def _spread(resolver: Resolver, argument: Any, kind: t.Type) -> Any:
    """The argument in every place of a map, and of the maps inside it."""
    if not isinstance(kind, t.MapOf) or isinstance(argument, Mapping):
        return argument
    keys = [resolver.thaw(k, kind.key) for k in domain(kind.key)]
    return {k: _spread(resolver, _at(argument, k), kind.value) for k in keys}


def _several(resolver: Resolver, argument: Any, kind: t.Type) -> list[Value]:
    if argument is anything:
        return list(domain(kind))
    found = argument() if isinstance(argument, types.FunctionType) else argument
    return [resolver.freeze(v, kind) for v in found]


def _at(argument: Any, key: Any) -> Any:
    return argument(key) if isinstance(argument, types.FunctionType) else argument


def _products(places: list[list[Value]], kind: t.Type) -> list[Value]:
    if math.prod(map(len, places)) > MAX_DOMAIN:
        raise UsageError(
            f"more than {MAX_DOMAIN} starting values of {t.show(kind)}",
            thing="each_of",
            next_step="fewer values in each place",
        )
    return list(itertools.product(*places))
