"""Members of the user's own classes of values: methods and properties, `.value` of an Enum.

A method of a frozen dataclass, NamedTuple, Enum or Sort is a helper whose `self` is the value.
"""

from __future__ import annotations

import ast
import enum
import inspect
import types
from typing import TYPE_CHECKING, Any

from refute.specs.machine import types as t
from refute.specs.machine.ir import Expr
from refute.specs.machine.values import pack_value

if TYPE_CHECKING:
    from refute.specs.machine.calls import Calls
    from refute.specs.machine.expressions import Expressions


def attribute(calls: Expressions, base: Expr, name: str, node: ast.AST) -> Expr | None:
    """A property of the value's class, or an Enum's `.value` and `.name`; None for others."""
    cls, found = _member(calls, base, name)
    if isinstance(found, property) and isinstance(found.fget, types.FunctionType):
        return calls.inline(found.fget, [base], "", node)
    if cls is not None and issubclass(cls, enum.Enum) and name in ("value", "name"):
        return _entry(base, [getattr(m, name) for m in cls])
    return None


def method(calls: Calls, base: Expr, name: str, node: ast.Call) -> Expr | None:
    """A call of a method of the value's class; None for others."""
    _, found = _member(calls, base, name)
    if not isinstance(found, types.FunctionType):
        return None
    return calls.inline(found, [base, *calls.arguments(found, node, bound=True)], "", node)


def _member(calls: Expressions, base: Expr, name: str) -> tuple[type | None, Any]:
    """The class of the value, where it is one, and what it holds under a name."""
    kinds = [o for o in t.options(base.type) if not isinstance(o, t.Nothing)]
    if len(kinds) != 1 or not isinstance(kinds[0], t.Rec | t.Atoms):
        return None, None
    cls = calls.build.resolver.classes.get(kinds[0].name)
    return cls, None if cls is None else inspect.getattr_static(cls, name, None)


def _entry(base: Expr, values: list[Any]) -> Expr | None:
    """The entry for a member of an Enum; None where these are no values of a machine."""
    (kind,) = [o for o in t.options(base.type) if isinstance(o, t.Atoms)]
    if all(type(v) is int for v in values):
        entry: t.Type = t.Int(min(values), max(values))
    elif all(type(v) is str for v in values):
        entry = t.text_of(values)
    else:
        return None
    table = Expr("const", t.MapOf(kind, entry), (), pack_value(tuple(values)))
    return Expr("index", entry, (table, base))
