"""Statements: what each does to a state, and where it leaves the straight path."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from refute.verifiers.contracts.errors import HINT_BROKEN, catches, error_name
from refute.verifiers.contracts.loops import for_loop, while_loop
from refute.verifiers.contracts.operators import binary, each, sequence, truth
from refute.verifiers.contracts.run import UNSUPPORTED, Exit, Run
from refute.verifiers.contracts.state import State, merge_states
from refute.verifiers.contracts.subscripts import change, item_at, store_item
from refute.verifiers.contracts.targets import assign
from refute.verifiers.contracts.terms import neg
from refute.verifiers.contracts.values import (
    NO_VALUE,
    UNBOUND,
    NameV,
    Ref,
    Value,
    concat,
)


def execute(run: Run, state: State, body: Sequence[ast.stmt]) -> State | None:
    """The state after the statements; None where no path reaches their end."""
    current: State | None = state
    for statement in body:
        if current is None or current.dead:
            return None
        executor = _EXECUTORS.get(type(statement))
        if executor is None:
            text = type(statement).__name__.lower()
            run.unsupported(current, f"the statement {text}", statement)
            return None
        current = executor(run, current, statement)
    return None if current is None or current.dead else current


def _assign(run: Run, state: State, node: ast.Assign) -> State:
    value = run.evaluate(state, node.value)
    for target in node.targets:
        assign(run, state, target, value)
    return state


def _annotated(run: Run, state: State, node: ast.AnnAssign) -> State:
    if node.value is not None:
        assign(run, state, node.target, run.evaluate(state, node.value))
    return state


def _augmented(run: Run, state: State, node: ast.AugAssign) -> State:
    """`target op= value`; a list is extended in place, and every alias sees it."""
    if isinstance(node.target, ast.Subscript) and not isinstance(node.target.slice, ast.Slice):
        base = run.evaluate(state, node.target.value)
        index = run.evaluate(state, node.target.slice)
        old = each(run, state, base, lambda b: item_at(run, state, b, index, node))
        value = binary(run, state, node.op, old, run.evaluate(state, node.value), node)
        store_item(run, state, base, index, value, node)
        return state
    if not isinstance(node.target, ast.Name):
        run.unsupported(state, f"the assignment {ast.unparse(node)[:60]}", node)
        return state
    name = node.target.id
    old = run.evaluate(state, ast.copy_location(ast.Name(name, ast.Load()), node))
    value = run.evaluate(state, node.value)

    def updated(target: Value) -> Value:
        if isinstance(target, Ref):
            return each(run, state, value, lambda v: _extended(run, state, target, v, node))
        return binary(run, state, node.op, target, value, node)

    state.env[name] = each(run, state, old, updated)
    return state


def _extended(run: Run, state: State, target: Ref, value: Value, node: ast.AugAssign) -> Value:
    given = sequence(state, value)
    cell = state.cell(target)
    same = given is not None and (given[0] == cell.kind or cell.kind == "list")
    if not isinstance(node.op, ast.Add) or given is None or not same:
        run.unsupported(state, f"the assignment {ast.unparse(node)[:60]}", node)
        return target
    change(run, state, target, concat(cell.seq, given[1]), node)
    return target


def _expression(run: Run, state: State, node: ast.Expr) -> State:
    """An expression for its effect; a hint that no loop took is the assertion that it is."""
    call = node.value
    if isinstance(call, ast.Call) and len(call.args) == 1:
        hint = run.program.hint(run.frame.module, call.func)
        if hint == "invariant":
            holds = truth(run, state, run.evaluate(state, call.args[0]))
            run.may_raise(state, neg(holds), HINT_BROKEN, node, ast.unparse(call.args[0]))
            return state
        if hint == "decreases" and run.frame.measure is not None:
            return state
    if not isinstance(call, ast.Constant):
        run.evaluate(state, call)
    return state


def _if(run: Run, state: State, node: ast.If) -> State | None:
    test = truth(run, state, run.evaluate(state, node.test))
    if state.dead:
        return None
    decided = state.decided(test)
    if decided is not None:
        return execute(run, state, node.body if decided else node.orelse)
    then = execute(run, state.branch(test), node.body)
    other = execute(run, state.branch(neg(test)), node.orelse)
    return merge_states([s for s in (then, other) if s is not None])


def _return(run: Run, state: State, node: ast.Return) -> None:
    value = NO_VALUE if node.value is None else run.evaluate(state, node.value)
    run.leave(state, "return", node, value=value)


def _assert(run: Run, state: State, node: ast.Assert) -> State:
    holds = truth(run, state, run.evaluate(state, node.test))
    run.may_raise(state, neg(holds), "AssertionError", node, ast.unparse(node.test))
    return state


def _raise(run: Run, state: State, node: ast.Raise) -> None:
    made = node.exc
    if isinstance(made, ast.Call):
        for arg in made.args:
            run.evaluate(state, arg)
        made = made.func
    name = error_name(run.program, run.frame.module, made) if made is not None else ""
    if not name or name.startswith("?"):
        run.unsupported(state, f"the statement {ast.unparse(node)[:60]}", node)
    else:
        run.leave(state, "raise", node, error=name)


def _delete(run: Run, state: State, node: ast.Delete) -> State:
    for target in node.targets:
        if isinstance(target, ast.Name):
            run.evaluate(state, ast.copy_location(ast.Name(target.id, ast.Load()), node))
            state.env[target.id] = UNBOUND
        else:
            run.unsupported(state, f"del {ast.unparse(target)[:60]}", node)
    return state


def _leaves(kind: str) -> Callable[[Run, State, ast.stmt], None]:
    def leave(run: Run, state: State, node: ast.stmt) -> None:
        run.leave(state, kind, node)

    return leave


def _pass(run: Run, state: State, node: ast.stmt) -> State:
    return state


def _try(run: Run, state: State, node: ast.Try) -> State | None:
    """Exceptions of the body go to the first handler that catches them."""
    if node.finalbody:
        run.unsupported(state, "try with finally", node)
        return None
    facts = len(state.facts)
    with run.apart() as sinks:
        end = execute(run, state.copy(), node.body)
    exits = [dataclasses.replace(e, state=_by_facts(e.state, facts)) for e in sinks.exits]
    waiting = [e for e in exits if e.kind == "raise"]
    sinks.exits = [e for e in exits if e.kind != "raise"]
    run.keep(sinks)
    ends: list[State | None] = []
    for handler in node.handlers:
        caught = [e for e in waiting if _caught(run, handler, e)]
        waiting = [e for e in waiting if e not in caught]
        start = merge_states([e.state.copy() for e in caught])
        if start is not None:
            start.env = {
                **start.env,
                **({handler.name: NameV("exception")} if handler.name else {}),
            }
            ends.append(execute(run, start, handler.body))
    run.sinks.exits += waiting
    if end is not None:
        ends.append(execute(run, _by_facts(end, facts), node.orelse))
    return merge_states([s for s in ends if s is not None])


def _by_facts(state: State, count: int) -> State:
    """The state with what became known since as part of its path: it tells the paths apart."""
    moved = state.copy()
    moved.path += moved.facts[count:]
    del moved.facts[count:]
    return moved


def _caught(run: Run, handler: ast.ExceptHandler, exit_: Exit) -> bool:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    for kind in kinds:
        if kind is None:
            return True
        name = error_name(run.program, run.frame.module, kind)
        caught = catches(run.program, name, exit_.error) if name else None
        if caught is None:
            run.sinks.exits.append(
                dataclasses.replace(
                    exit_, kind=UNSUPPORTED, text=f"catching {exit_.error} by {ast.unparse(kind)}"
                )
            )
        if caught:
            return True
    return False


_EXECUTORS: dict[type[ast.stmt], Callable[..., Any]] = {
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.Expr: _expression,
    ast.If: _if,
    ast.While: while_loop,
    ast.For: for_loop,
    ast.Return: _return,
    ast.Assert: _assert,
    ast.Raise: _raise,
    ast.Delete: _delete,
    ast.Pass: _pass,
    ast.Break: _leaves("break"),
    ast.Continue: _leaves("continue"),
    ast.Try: _try,
}
