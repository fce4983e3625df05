"""Binding: the arguments of a call to the parameters of a function."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from refute.verifiers.contracts.program import Found
from refute.verifiers.contracts.run import Frame, Run
from refute.verifiers.contracts.state import State
from refute.verifiers.contracts.values import Ref, Value, iterator


class NoBinding(Exception):
    """Arguments that do not fit the parameters; Python raises TypeError."""


def bind(
    run: Run,
    state: State,
    found: Found,
    args: Sequence[Value],
    named: dict[str, Value],
    node: ast.AST,
) -> dict[str, Value]:
    """Parameter → value. Raises NoBinding."""
    function = found.node
    assert isinstance(function, ast.FunctionDef)
    spec = function.args
    if spec.vararg or spec.kwarg:
        run.unsupported(state, f"the parameters * of {function.name}", node)
        return {}
    if any(map(iterator, (*args, *named.values()))):
        run.unsupported(state, f"an iterator as an argument of {function.name}", node)
    plain = [a.arg for a in (*spec.posonlyargs, *spec.args)]
    if len(args) > len(plain):
        raise NoBinding(f"{len(args)} arguments for {len(plain)} parameters")
    bound = dict(zip(plain, args, strict=False))
    allowed = {a.arg for a in (*spec.args, *spec.kwonlyargs)}
    for name, value in named.items():
        if name not in allowed or name in bound:
            raise NoBinding(f"the argument {name} does not fit")
        bound[name] = value
    defaults = dict(zip(plain[len(plain) - len(spec.defaults) :], spec.defaults, strict=True))
    for arg, default in zip(spec.kwonlyargs, spec.kw_defaults, strict=True):
        if default is not None:
            defaults[arg.arg] = default
    for name in (*plain, *(a.arg for a in spec.kwonlyargs)):
        if name not in bound:
            if name not in defaults:
                raise NoBinding(f"the argument {name} is missing")
            bound[name] = default_value(run, state, found, defaults[name])
    return bound


def default_value(run: Run, state: State, found: Found, node: ast.expr) -> Value:
    """The value of a default, which is computed once, where the function is defined."""
    assert found.module is not None
    frame = Frame(found.module, "<module>", frozenset(), run.frame.depth + 1)
    scope = State(heap=state.heap, path=state.path, facts=state.facts)
    with run.inside(frame):
        value = run.evaluate(scope, node)
    if isinstance(value, Ref):
        run.unsupported(state, "a default value that can change", node)
    return value
