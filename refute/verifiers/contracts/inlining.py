"""Inlining: executing a function of the tree at the place where it is called.

Its paths meet again at its end, so the caller goes on in one state whatever the callee did.
"""

from __future__ import annotations

import ast
import dataclasses

from refute.verifiers.contracts.program import Found
from refute.verifiers.contracts.reading import local_names
from refute.verifiers.contracts.run import Exit, Frame, Run, Sinks
from refute.verifiers.contracts.state import State, merge_states
from refute.verifiers.contracts.values import NO_VALUE, Value

RESULT = "return!"
CUT = "cut"


def inline(run: Run, state: State, found: Found, bound: dict[str, Value], node: ast.AST) -> Value:
    """Execute the function in the state; its exceptions leave the state, its result is returned."""
    function = found.node
    assert isinstance(function, ast.FunctionDef) and found.module is not None
    depth = run.frame.depth + 1
    active = _active(run)
    if found.name in active and not run.mode.unroll:
        what = f"the recursive function {function.name}, which has no contract,"
        run.unsupported(state, what, node)
        return NO_VALUE
    if depth > run.mode.depth:
        if run.mode.unroll:
            run.leave(state, CUT, node)
            state.assume(False)
        else:
            run.unsupported(state, f"calls nested deeper than {run.mode.depth}", node)
        return NO_VALUE
    frame = Frame(found.module, found.name, local_names(function), depth)
    frame.callers = (*active, found.name)
    callee = state.copy()
    callee.env, callee.stack = bound, (*state.stack, state.env)
    with run.inside(frame), run.apart() as sinks:
        end = run.execute(callee, function.body)
    return resume(run, state, sinks, end)


def _active(run: Run) -> tuple[str, ...]:
    return run.frame.callers


def resume(run: Run, state: State, sinks: Sinks, end: State | None) -> Value:
    """Go on in the caller after a body that was executed apart."""
    returned: list[State] = []
    for exit_ in sinks.exits:
        if exit_.kind == "return":
            returned.append(_in_caller(state, exit_.state, exit_.value))
        else:
            run.sinks.exits.append(_left(state, exit_))
    if end is not None:
        returned.append(_in_caller(state, end, NO_VALUE))
    run.sinks.obligations += sinks.obligations
    run.sinks.note(sinks)
    merged = merge_states(returned)
    if merged is None:
        state.assume(False)
        return NO_VALUE
    value = merged.env.pop(RESULT)
    state.heap = merged.heap
    state.facts = merged.facts
    for condition in merged.path[len(state.path) :]:
        state.assume(condition)
    return value


def _in_caller(state: State, callee: State, value: Value) -> State:
    env = {**state.env, RESULT: value}
    return State(env, state.stack, callee.heap, callee.path, callee.facts)


def _left(state: State, exit_: Exit) -> Exit:
    inner = exit_.state
    outer = State(dict(state.env), state.stack, inner.heap, inner.path, inner.facts)
    return dataclasses.replace(exit_, state=outer)
