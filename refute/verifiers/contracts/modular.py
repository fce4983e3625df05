"""Modular calls: a function by its contract, whatever its body does.

The contract speaks of arguments of the annotated types. An object that the body might change is
unknown afterwards, unless reading the body shows that it only reads; a result that might be one
of the arguments may not be changed any more, nor may they.
"""

from __future__ import annotations

import ast
import contextlib
import dataclasses
from collections.abc import Iterator

from refute.specs.contract_source import Condition, Contract
from refute.verifiers.contracts.annotations import NoKind, annotated
from refute.verifiers.contracts.inlining import inline
from refute.verifiers.contracts.kinds import Kind, fits, join
from refute.verifiers.contracts.objects import fresh_object, references
from refute.verifiers.contracts.operators import described, number, truth
from refute.verifiers.contracts.program import Found, Module
from refute.verifiers.contracts.reading import (
    READERS,
    only_read,
    parameter_names,
    returns_new_objects,
)
from refute.verifiers.contracts.run import Frame, Run
from refute.verifiers.contracts.state import State
from refute.verifiers.contracts.terms import Term, conj, neg
from refute.verifiers.contracts.values import NO_VALUE, SeqV, Value

VIOLATION = "icontract.errors.ViolationError"


def by_contract(
    run: Run,
    state: State,
    found: Found,
    contract: Contract,
    bound: dict[str, Value],
    node: ast.AST,
) -> Value:
    """The result of calling a function that has a contract."""
    if run.mode.unroll:
        return _with_checks(run, state, found, contract, bound, node)
    frame = Frame(_module(found), found.name, frozenset(), run.frame.depth + 1)
    frame.callers = run.frame.callers
    if frame.depth > run.mode.depth:
        run.unsupported(state, f"calls nested deeper than {run.mode.depth}", node)
        return NO_VALUE
    _check_kinds(run, state, _module(found), contract, bound, node)
    for condition in contract.requires:
        _require(run, state, frame, contract, condition, bound, node)
    old = _snapshots(run, state, frame, contract, bound)
    _recursion(run, state, found, frame, bound, node)
    run.sinks.callees[found.name] = None
    for name, value in bound.items():
        if not _only_reads(run, found, name, frozenset()):
            _forget(run, state, _module(found), contract, name, value)
    result = _result(run, state, found, contract, bound, node)
    _may_raise(run, state, contract, node)
    env = {**bound, **old, "result": result}
    for condition in contract.ensures:
        _assume(run, state, frame, condition, env)
    return result


def _module(found: Found) -> Module:
    assert found.module is not None
    return found.module


def condition_holds(
    run: Run, state: State, frame: Frame, condition: ast.expr, env: dict[str, Value]
) -> Term:
    """Whether a condition of a contract holds of these values; exceptions leave the state."""
    before, state.env = state.env, dict(env)
    try:
        with run.inside(frame), unchanged(run, state, condition):
            return truth(run, state, run.evaluate(state, condition))
    finally:
        state.env = before


@contextlib.contextmanager
def unchanged(run: Run, state: State, condition: ast.expr) -> Iterator[None]:
    """Refuse a condition that changes an object: it would hold of another one than was given."""
    seqs = {address: cell.seq for address, cell in state.heap.items()}
    yield
    if any(state.heap[address].seq is not seq for address, seq in seqs.items()):
        raise run.refuse("a condition that changes an object", condition)


def _check_kinds(
    run: Run,
    state: State,
    module: Module,
    contract: Contract,
    bound: dict[str, Value],
    node: ast.AST,
) -> None:
    for parameter in contract.parameters:
        try:
            wanted = annotated(module, parameter.annotation)
        except NoKind as error:
            what = f"the type {error} of {parameter.name} of {contract.qualname}"
            run.unsupported(state, what, node)
            continue
        value = bound[parameter.name]
        cases = getattr(value, "options", ((True, value),))
        for condition, option in cases:
            if not fits(state.kind(option), wanted):
                what = f"{described(state, option)} for {parameter.name} of {contract.qualname}"
                run.unsupported(state, f"passing {what}", node, condition)


def _require(
    run: Run,
    state: State,
    frame: Frame,
    contract: Contract,
    condition: Condition,
    bound: dict[str, Value],
    node: ast.AST,
) -> None:
    holds = condition_holds(run, state, frame, condition.expression, bound)
    text = f"{contract.qualname} requires {condition.text}"
    run.may_raise(state, neg(holds), VIOLATION, node, text)


def _snapshots(
    run: Run, state: State, frame: Frame, contract: Contract, bound: dict[str, Value]
) -> dict[str, Value]:
    old = {}
    before, state.env = state.env, dict(bound)
    with run.inside(frame):
        for snapshot in contract.snapshots:
            old[f"OLD.{snapshot.name}"] = run.evaluate(state, snapshot.expression)
    state.env = before
    return old


def _recursion(
    run: Run, state: State, found: Found, frame: Frame, bound: dict[str, Value], node: ast.AST
) -> None:
    """A call of a function in execution must make its measure smaller."""
    if found.name not in run.frame.callers:
        return
    measure = function_measure(run, found)
    place = run.place(node)
    assert isinstance(found.node, ast.FunctionDef)
    if measure is None or run.frame.measure is None or found.name != run.frame.callers[0]:
        run.sinks.assumptions[f"termination of the recursion of {found.node.name} at {place}"] = (
            None
        )
        return
    before, state.env = state.env, dict(bound)
    with run.inside(frame):
        value = number(run.evaluate(state, measure))
    state.env = before
    if value is not None:
        goal = conj([value >= 0, value < run.frame.measure])
        run.oblige("decreases", state, goal, ast.unparse(measure), place)


def function_measure(run: Run, found: Found) -> ast.expr | None:
    """The measure of a `decreases(…)` among the first statements of a function."""
    assert isinstance(found.node, ast.FunctionDef) and found.module is not None
    for statement in found.node.body:
        match statement:
            case ast.Expr(value=ast.Call(func=function, args=[measure])) if (
                run.program.hint(found.module, function) == "decreases"
            ):
                return measure
            case ast.Expr(value=ast.Constant()):
                continue
        return None
    return None


def _only_reads(run: Run, found: Found, name: str, seen: frozenset[tuple[str, str]]) -> bool:
    """Whether the body, and what it calls, only reads the object of a parameter."""
    function, module = found.node, found.module
    assert isinstance(function, ast.FunctionDef) and module is not None
    if (found.name, name) in seen:
        return True
    if READERS & module.bindings.keys():
        return False

    def callee(call: ast.Call, position: int) -> bool:
        assert isinstance(call.func, ast.Name)
        other = run.program.lookup(module, call.func.id)
        if not isinstance(other.node, ast.FunctionDef) or other.kind != "function":
            return other.name in ("zlib.crc32",)
        names = parameter_names(other.node)
        if position >= len(names) or other.node.args.vararg:
            return False
        return _only_reads(run, other, names[position], seen | {(found.name, name)})

    return only_read(function, name, callee)


def _forget(
    run: Run, state: State, module: Module, contract: Contract, name: str, value: Value
) -> None:
    """The contents of an object that a callee may have changed are unknown."""
    for ref in references(value):
        cell = state.cell(ref)
        element = cell.seq.element
        for parameter in contract.parameters:
            if parameter.name == name:
                wanted = annotated(module, parameter.annotation)
                options = wanted.inner if wanted.name == "union" else (wanted,)
                for option in options:
                    if option.name == "list" and cell.kind == "list":
                        element = join(element, option.inner[0])
        kind = Kind(cell.kind, (element,) if cell.kind == "list" else ())
        made = run.context.value(kind, name)
        assert isinstance(made, SeqV)
        state.heap[ref.address] = dataclasses.replace(cell, seq=made.seq)


def _result(
    run: Run,
    state: State,
    found: Found,
    contract: Contract,
    bound: dict[str, Value],
    node: ast.AST,
) -> Value:
    try:
        kind = annotated(_module(found), contract.returns)
    except NoKind as error:
        run.unsupported(state, f"the return type {error} of {contract.qualname}", node)
        return NO_VALUE
    assert isinstance(found.node, ast.FunctionDef) and found.module is not None
    frozen = ""
    shadowed = READERS & found.module.bindings.keys()
    if _mutable(kind) and (shadowed or not returns_new_objects(found.node)):
        frozen = f"a change of an object that {contract.qualname} may have returned"
        for value in bound.values():
            for ref in references(value):
                cell = state.cell(ref)
                state.heap[ref.address] = dataclasses.replace(cell, frozen=cell.frozen or frozen)
    return fresh_object(run, state, kind, contract.qualname, frozen)


def _mutable(kind: Kind) -> bool:
    return kind.name in ("list", "bytearray") or any(map(_mutable, kind.inner))


def _may_raise(run: Run, state: State, contract: Contract, node: ast.AST) -> None:
    """The exceptions that the contract allows may come, at any time."""
    for name in contract.raises:
        raised = run.context.condition(f"raises.{name}")
        full = name if "." in name else f"builtins.{name}"
        run.may_raise(state, raised, full.removeprefix("builtins."), node, contract.qualname)


def _assume(
    run: Run, state: State, frame: Frame, condition: Condition, env: dict[str, Value]
) -> None:
    """What a contract ensures, where it can be evaluated."""
    with run.apart():
        holds = condition_holds(run, state, frame, condition.expression, env)
    state.assume(holds)


def _with_checks(
    run: Run,
    state: State,
    found: Found,
    contract: Contract,
    bound: dict[str, Value],
    node: ast.AST,
) -> Value:
    """As the code runs: icontract checks what is required, executes, checks what is ensured."""
    frame = Frame(_module(found), found.name, frozenset(), run.frame.depth + 1)
    frame.callers = run.frame.callers
    for condition in contract.requires:
        _require(run, state, frame, contract, condition, bound, node)
    old = _snapshots(run, state, frame, contract, bound)
    result = inline(run, state, found, dict(bound), node)
    env = {**bound, **old, "result": result}
    for condition in contract.ensures:
        holds = condition_holds(run, state, frame, condition.expression, env)
        text = f"{contract.qualname} ensures {condition.text}"
        run.may_raise(state, neg(holds), VIOLATION, node, text)
    return result
