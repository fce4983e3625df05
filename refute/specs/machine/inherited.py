"""`super()` in a helper: the method that the class's own one overrides."""

from __future__ import annotations

import ast
import inspect
import types
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from refute.specs.machine.calls import Calls


def overridden(calls: Calls, node: ast.Attribute) -> tuple[types.FunctionType, str] | None:
    """Of `super().name` the function and the state of its `self`; None for anything else.

    Raises Unsupported.
    """
    scope = calls.scope
    match node.value:
        case ast.Call(func=ast.Name(id="super"), args=[], keywords=[]):
            owner = scope.live("__class__")
        case _:
            return None
    first = scope.tree.args.args[0].arg if scope.tree.args.args else ""
    state = scope.states.get(first, "")
    if isinstance(owner, type) and state:
        order = getattr(state, "build", calls.build).cls.__mro__
        for base in order[order.index(owner) + 1 :]:
            found = inspect.getattr_static(base, node.attr, None)
            if isinstance(found, types.FunctionType):
                return found, state
    instead = "a helper of a class that this one derives from"
    raise scope.refuse(node, f"super().{node.attr}", instead)
