"""Targets: what assignment does to names, tuples, items and slices."""

from __future__ import annotations

import ast

from refute.verifiers.contracts.iteration import elements
from refute.verifiers.contracts.run import Run
from refute.verifiers.contracts.state import State
from refute.verifiers.contracts.subscripts import store_item, store_slice
from refute.verifiers.contracts.values import Value, iterator


def assign(run: Run, state: State, target: ast.expr, value: Value) -> None:
    """`target = value`."""
    if iterator(value):
        run.unsupported(state, "an iterator in a variable", target)
        return
    match target:
        case ast.Name(id=name):
            state.env[name] = value
        case ast.Tuple(elts=targets) | ast.List(elts=targets):
            _unpack(run, state, targets, value, target)
        case ast.Subscript(value=base, slice=ast.Slice() as part):
            held = run.evaluate(state, base)
            parts = [
                None if p is None else run.evaluate(state, p)
                for p in (part.lower, part.upper, part.step)
            ]
            store_slice(run, state, held, parts, value, target)
        case ast.Subscript(value=base, slice=index):
            held = run.evaluate(state, base)
            at = run.evaluate(state, index)
            why = f"a change of an object that was put into a list at {run.place(target)}"
            store_item(run, state, held, at, state.frozen(value, why), target)
        case _:
            run.unsupported(state, f"assignment to {ast.unparse(target)[:60]}", target)


def _unpack(run: Run, state: State, targets: list[ast.expr], value: Value, node: ast.expr) -> None:
    if any(isinstance(t, ast.Starred) for t in targets):
        run.unsupported(state, "unpacking with a star", node)
        return
    seq = elements(run, state, value, node)
    wrong = seq.length != len(targets)
    run.may_raise(state, wrong, "ValueError", node, f"{len(targets)} values to unpack")
    if state.dead:
        return
    items = [seq.at(i) for i in range(len(targets))]
    for target, item in zip(targets, items, strict=True):
        assign(run, state, target, item)
