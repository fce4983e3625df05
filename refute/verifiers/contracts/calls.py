"""Calls: of builtins, methods and functions of the tree.

A function of the tree with a contract is called by its contract: what it requires must hold, what
it may change becomes unknown, what it ensures is assumed, and the proof lists the contract unless
it is proved as well. One without a contract is executed in place.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from refute.errors import RefuteError
from refute.verifiers.contracts.binding import NoBinding, bind
from refute.verifiers.contracts.builtin_calls import BUILTINS, KEYWORDS, TRUSTED, Arguments
from refute.verifiers.contracts.inlining import inline
from refute.verifiers.contracts.methods import call_method, from_bytes
from refute.verifiers.contracts.modular import by_contract
from refute.verifiers.contracts.operators import each
from refute.verifiers.contracts.program import Found
from refute.verifiers.contracts.quantifiers import quantify, summed
from refute.verifiers.contracts.run import Run
from refute.verifiers.contracts.state import State
from refute.verifiers.contracts.values import (
    NO_VALUE,
    BoolV,
    IntV,
    NameV,
    Value,
)


def call(run: Run, state: State, node: ast.Call) -> Value:
    """The value of a call."""
    name = _called(run, state, node)
    if name is None:
        assert isinstance(node.func, ast.Attribute)
        target = run.evaluate(state, node.func.value)
        args = _arguments(run, state, node)
        attribute = node.func.attr
        if isinstance(target, NameV):
            run.unsupported(state, f"the call {_short(node)}", node)
            return NO_VALUE
        return each(run, state, target, lambda t: call_method(run, state, t, attribute, args, node))
    if name in ("builtins.all", "builtins.any", "builtins.sum") and len(node.args) == 1:
        special = _over_generator(run, state, name, node)
        if special is not None:
            return special
    hint = run.program.hint(run.frame.module, node.func)
    if hint:
        run.unsupported(state, f"{hint} anywhere but at the top of a loop or function", node)
        return NO_VALUE
    if ":" in name:
        return _of_the_tree(run, state, name, node)
    return _outside(run, state, name, node)


def _short(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 60 else text[:57] + "..."


def _called(run: Run, state: State, node: ast.Call) -> str | None:
    """The name of the function that is called; None for a method of a value."""
    match node.func:
        case ast.Name(id=name) if name in state.env or name in run.frame.locals_:
            run.unsupported(state, f"calling the local variable {name}", node)
            return "unsupported"
        case ast.Name(id=name):
            found = run.program.lookup(run.frame.module, name)
            if found.kind == "constant":
                run.unsupported(state, f"calling {name}, which is assigned", node)
            return found.name if found.kind != "unknown" else f"unknown {name}"
        case ast.Attribute(value=ast.Name(id=base), attr=attribute):
            if base in state.env or base in run.frame.locals_:
                return None
            held = run.program.lookup(run.frame.module, base)
            if held.kind == "module":
                return run.program.attribute(held.name, attribute).name
            if held.name.startswith("builtins.") and held.kind == "external":
                return f"{held.name}.{attribute}"
            return None
        case ast.Attribute():
            return None
    run.unsupported(state, f"the call {_short(node)}", node)
    return "unsupported"


def _arguments(run: Run, state: State, node: ast.Call) -> list[Value]:
    args = []
    for arg in node.args:
        if isinstance(arg, ast.Starred):
            run.unsupported(state, "a call with *", node)
        else:
            args.append(run.evaluate(state, arg))
    return args


def _over_generator(run: Run, state: State, name: str, node: ast.Call) -> Value | None:
    """`all`, `any` and `sum`, whose argument need not become a sequence first."""
    argument = node.args[0]
    comprehension = isinstance(argument, ast.GeneratorExp | ast.ListComp)
    if name == "builtins.sum":
        if not isinstance(argument, ast.GeneratorExp | ast.ListComp):
            return None
        return IntV(summed(run, state, argument))
    universal = name == "builtins.all"
    if not comprehension:
        item = ast.copy_location(ast.Name("item!", ast.Load()), argument)
        target = ast.copy_location(ast.Name("item!", ast.Store()), argument)
        part = ast.comprehension(target, argument, [], 0)
        argument = ast.copy_location(ast.GeneratorExp(item, [part]), argument)
    assert isinstance(argument, ast.GeneratorExp | ast.ListComp)
    return BoolV(quantify(run, state, argument, universal))


def _outside(run: Run, state: State, name: str, node: ast.Call) -> Value:
    """A builtin, or a function of the standard library."""
    if name == "builtins.int.from_bytes" and len(node.args) == 2:
        return from_bytes(run, state, _arguments(run, state, node), node)
    held = BUILTINS.get(name) or TRUSTED.get(name)
    keywords = {k.arg for k in node.keywords}
    if held is None or not keywords <= KEYWORDS.get(name, set()):
        run.unsupported(state, f"the call {_short(node)}", node)
        return NO_VALUE
    args: Arguments = _arguments(run, state, node)
    if name in TRUSTED:
        run.sinks.assumptions[f"{name} does what its documentation says"] = None
    fewest, most, function = held
    if not fewest <= len(args) <= most:
        if not any(isinstance(a, ast.Starred) for a in node.args):
            run.may_raise(state, True, "TypeError", node, f"{len(args)} arguments")
        return NO_VALUE
    return function(run, state, args, node)


def _of_the_tree(run: Run, state: State, name: str, node: ast.Call) -> Value:
    found = _found(run, name)
    if found is None or not isinstance(found.node, ast.FunctionDef) or found.module is None:
        run.unsupported(state, f"the call {_short(node)}", node)
        return NO_VALUE
    args = _arguments(run, state, node)
    named = {k.arg: run.evaluate(state, k.value) for k in node.keywords if k.arg}
    if len(named) < len(node.keywords):
        run.unsupported(state, "a call with **", node)
        return NO_VALUE
    return _apply(run, state, found, args, named, node)


def _found(run: Run, name: str) -> Found | None:
    module, _, qualname = name.partition(":")
    held = run.program.module(module)
    return None if held is None else run.program.lookup(held, qualname)


def _apply(
    run: Run,
    state: State,
    found: Found,
    args: Sequence[Value],
    named: dict[str, Value],
    node: ast.Call,
) -> Value:
    assert isinstance(found.node, ast.FunctionDef) and found.module is not None
    try:
        contract = run.program.contract(found)
        bound = bind(run, state, found, args, named, node)
    except RefuteError as error:
        run.unsupported(state, f"the contract of {found.node.name} ({error})", node)
        return NO_VALUE
    except NoBinding as error:
        run.may_raise(state, True, "TypeError", node, str(error))
        return NO_VALUE
    foreign = contract.decorators if contract is not None else tuple(found.node.decorator_list)
    if foreign or isinstance(found.node, ast.AsyncFunctionDef):
        what = f"the decorator {_short(foreign[0])} of {found.node.name}"
        run.unsupported(state, what, node)
        return NO_VALUE
    if contract is not None and (contract.requires or contract.ensures):
        return by_contract(run, state, found, contract, bound, node)
    return inline(run, state, found, bound, node)
