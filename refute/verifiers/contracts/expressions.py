"""Expressions: the value of a syntax tree in a state.

`and`, `or` and conditional expressions evaluate what may not be evaluated under its condition, so
their exceptions and side effects happen only there; no path is split for them.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from refute.verifiers.contracts import quantifiers
from refute.verifiers.contracts.calls import call
from refute.verifiers.contracts.comparison import contains, equal, less
from refute.verifiers.contracts.iteration import elements
from refute.verifiers.contracts.kinds import STR
from refute.verifiers.contracts.operators import (
    binary,
    described,
    each,
    made,
    number,
    sequence,
    truth,
)
from refute.verifiers.contracts.program import Found
from refute.verifiers.contracts.run import Frame, Run
from refute.verifiers.contracts.state import State
from refute.verifiers.contracts.subscripts import item_at, slice_at
from refute.verifiers.contracts.targets import assign
from refute.verifiers.contracts.terms import Term, conj, ite, neg
from refute.verifiers.contracts.values import (
    NO_VALUE,
    BoolV,
    IntV,
    NameV,
    NoneV,
    Ref,
    SeqV,
    StrV,
    TupleV,
    UnboundV,
    UnionV,
    Value,
    concat,
    iterator,
    literal,
    merge,
)


def evaluate(run: Run, state: State, node: ast.expr) -> Value:
    """The value of an expression; what it may raise leaves the state."""
    evaluator = _EVALUATORS.get(type(node))
    if evaluator is None:
        run.unsupported(state, f"the expression {_short(node)}", node)
        return NO_VALUE
    value: Value = evaluator(run, state, node)
    return value


def _short(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 60 else text[:57] + "..."


def _constant(run: Run, state: State, node: ast.Constant) -> Value:
    value = node.value
    if isinstance(value, bool):
        return BoolV(value)
    if isinstance(value, int):
        return IntV(value)
    if value is None:
        return NO_VALUE
    if isinstance(value, str):
        return StrV(run.context.string(value), value)
    if isinstance(value, bytes):
        return SeqV("bytes", literal([IntV(b) for b in value]))
    run.unsupported(state, f"the constant {_short(node)}", node)
    return NO_VALUE


def _name(run: Run, state: State, node: ast.Name) -> Value:
    if node.id in state.env:
        return _bound(run, state, node)
    if node.id in run.frame.locals_:
        _unbound(run, state, True, node)
        return NO_VALUE
    return _global(run, state, run.program.lookup(run.frame.module, node.id), node)


def _bound(run: Run, state: State, node: ast.Name) -> Value:
    value = state.env[node.id]
    cases = value.options if isinstance(value, UnionV) else ((True, value),)
    for condition, option in cases:
        if isinstance(option, UnboundV):
            _unbound(run, state, condition, node)
    kept = [(c, v) for c, v in cases if not isinstance(v, UnboundV)]
    if not kept:
        return NO_VALUE
    if len(kept) == 1:
        return kept[0][1]
    return value if len(kept) == len(cases) else UnionV(tuple(kept))


def _unbound(run: Run, state: State, condition: Term, node: ast.Name) -> None:
    """A local without a value; in a comprehension it is a NameError, of which the other is one."""
    outer = conj([condition, run.context.condition("comprehension")])
    run.may_raise(state, outer, "NameError", node, node.id)
    run.may_raise(state, condition, "UnboundLocalError", node, node.id)


def _global(run: Run, state: State, found: Found, node: ast.AST) -> Value:
    """The value of a module's name."""
    if found.kind == "constant" and found.module is not None:
        assert isinstance(found.node, ast.expr)
        scope = State(heap=state.heap, path=state.path, facts=state.facts)
        frame = Frame(found.module, "<module>", frozenset(), run.frame.depth + 1)
        with run.inside(frame):
            value = run.evaluate(scope, found.node)
        if isinstance(value, Ref) or _holds_ref(value):
            run.unsupported(state, f"{found.name}, a mutable object of the module", node)
        return value
    if found.kind in ("external", "module", "function", "class"):
        return NameV(found.name)
    run.unsupported(state, f"the name {found.name.replace(':', '.')}, of no known value", node)
    return NO_VALUE


def _holds_ref(value: Value) -> bool:
    return isinstance(value, TupleV) and any(
        isinstance(i, Ref) or _holds_ref(i) for i in value.items
    )


def _attribute(run: Run, state: State, node: ast.Attribute) -> Value:
    snapshot = state.env.get(f"OLD.{node.attr}") if _is_old(node.value) else None
    if snapshot is not None:
        return snapshot
    base = run.evaluate(state, node.value)
    if isinstance(base, NameV) and ":" not in base.name:
        if base.name.startswith("builtins.") and base.name != "builtins":
            return NameV(f"{base.name}.{node.attr}")
        return _global(run, state, run.program.attribute(base.name, node.attr), node)
    run.unsupported(state, f"the attribute {_short(node)}", node)
    return NO_VALUE


def _is_old(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "OLD"


def _tuple(run: Run, state: State, node: ast.Tuple) -> Value:
    return TupleV(tuple(_items(run, state, node.elts)))


def _items(run: Run, state: State, nodes: list[ast.expr]) -> list[Value]:
    items: list[Value] = []
    for node in nodes:
        if not isinstance(node, ast.Starred):
            items.append(run.evaluate(state, node))
            if iterator(items[-1]):
                run.unsupported(state, "an iterator in a tuple", node)
            continue
        held = sequence(state, run.evaluate(state, node.value))
        if held is None or held[1].items is None:
            run.unsupported(state, f"{_short(node)} of unknown length", node)
        else:
            items += held[1].items
    return items


def _list(run: Run, state: State, node: ast.List) -> Value:
    why = f"a change of an object that is also in the list made at {run.place(node)}"
    whole = literal([])
    for part in node.elts:
        if isinstance(part, ast.Starred):
            more = elements(run, state, run.evaluate(state, part.value), part)
        else:
            more = literal([state.frozen(run.evaluate(state, part), why)])
        whole = concat(whole, more)
    return made(run, state, "list", whole)


def _unary(run: Run, state: State, node: ast.UnaryOp) -> Value:
    value = run.evaluate(state, node.operand)
    if isinstance(node.op, ast.Not):
        return BoolV(neg(truth(run, state, value)))
    return each(run, state, value, lambda v: _signed(run, state, node, v))


def _signed(run: Run, state: State, node: ast.UnaryOp, value: Value) -> Value:
    term = number(value)
    if term is None:
        run.may_raise(
            state, True, "TypeError", node, f"{_short(node)} of {described(state, value)}"
        )
        return NO_VALUE
    match node.op:
        case ast.USub():
            return IntV(-term)
        case ast.Invert():
            return IntV(-1 - term)
    return IntV(term)


def _binary_operation(run: Run, state: State, node: ast.BinOp) -> Value:
    left = run.evaluate(state, node.left)
    return binary(run, state, node.op, left, run.evaluate(state, node.right), node)


def _logical(run: Run, state: State, node: ast.BoolOp) -> Value:
    return _chain(run, state, isinstance(node.op, ast.And), node.values)


def _chain(run: Run, state: State, both: bool, nodes: list[ast.expr]) -> Value:
    first = run.evaluate(state, nodes[0])
    if len(nodes) == 1:
        return first
    holds = truth(run, state, first)
    goes_on = holds if both else neg(holds)
    if goes_on is False:
        return first
    with state.under(goes_on):
        rest = _chain(run, state, both, nodes[1:])
        ends = state.dead
    stays = _where(run, state, first, not both)
    return stays if ends else merge(goes_on, rest, stays)


def _where(run: Run, state: State, value: Value, holds: bool) -> Value:
    """The value without those of its options whose truth is known to be otherwise."""
    if not isinstance(value, UnionV):
        return value
    kept = [(c, v) for c, v in value.options if truth(run, state, v) is not (not holds)]
    if len(kept) == 1:
        return kept[0][1]
    return UnionV(tuple(kept)) if kept else value


def _comparison(run: Run, state: State, node: ast.Compare) -> Value:
    left = run.evaluate(state, node.left)
    return BoolV(_compared(run, state, left, node.ops, node.comparators, node))


def _compared(
    run: Run,
    state: State,
    left: Value,
    operators: list[ast.cmpop],
    nodes: list[ast.expr],
    node: ast.AST,
) -> Term:
    right = run.evaluate(state, nodes[0])
    holds = _compare(run, state, operators[0], left, right, node)
    if len(operators) == 1 or holds is False:
        return holds
    with state.under(holds):
        rest = _compared(run, state, right, operators[1:], nodes[1:], node)
    return conj([holds, rest])


def _compare(
    run: Run, state: State, operator: ast.cmpop, left: Value, right: Value, node: ast.AST
) -> Term:
    match operator:
        case ast.Eq():
            return equal(run, state, left, right)
        case ast.NotEq():
            return neg(equal(run, state, left, right))
        case ast.Lt() | ast.LtE():
            return less(run, state, left, right, node, isinstance(operator, ast.LtE))
        case ast.Gt() | ast.GtE():
            return less(run, state, right, left, node, isinstance(operator, ast.GtE))
        case ast.In():
            return contains(run, state, left, right, node)
        case ast.NotIn():
            return neg(contains(run, state, left, right, node))
    same = _identical(run, state, left, right, node)
    return same if isinstance(operator, ast.Is) else neg(same)


def _identical(run: Run, state: State, left: Value, right: Value, node: ast.AST) -> Term:
    """`left is right`, which is determined for None, bools and mutable objects."""
    if isinstance(left, UnionV):
        cases = [(c, BoolV(_identical(run, state, v, right, node))) for c, v in left.options]
        return _any_case(cases)
    if isinstance(right, UnionV):
        cases = [(c, BoolV(_identical(run, state, left, v, node))) for c, v in right.options]
        return _any_case(cases)
    match left, right:
        case (NoneV(), NoneV()) | (BoolV(), BoolV()):
            return equal(run, state, left, right)
        case Ref(), Ref():
            return left.address == right.address
        case NameV(), NameV():
            return left.name == right.name
    if type(left) is type(right):
        run.unsupported(state, f"`is` between two values of type {described(state, left)}", node)
        return run.context.condition("is")
    return False


def _any_case(cases: list[tuple[Term, BoolV]]) -> Term:
    result: Term = False
    for condition, value in cases:
        result = ite(condition, value.term, result)
    return result


def _conditional(run: Run, state: State, node: ast.IfExp) -> Value:
    test = truth(run, state, run.evaluate(state, node.test))
    decided = state.decided(test)
    if decided is not None:
        return run.evaluate(state, node.body if decided else node.orelse)
    with state.under(test):
        then = run.evaluate(state, node.body)
        if state.dead:
            test = False
    with state.under(neg(test)):
        other = run.evaluate(state, node.orelse)
        if state.dead:
            test = True
    return merge(test, then, other)


def _subscript(run: Run, state: State, node: ast.Subscript) -> Value:
    base = run.evaluate(state, node.value)
    if isinstance(node.slice, ast.Slice):
        parts = [
            None if part is None else run.evaluate(state, part)
            for part in (node.slice.lower, node.slice.upper, node.slice.step)
        ]
        return each(run, state, base, lambda b: slice_at(run, state, b, parts, node))
    index = run.evaluate(state, node.slice)
    return each(
        run,
        state,
        base,
        lambda b: each(run, state, index, lambda i: item_at(run, state, b, i, node)),
    )


def _walrus(run: Run, state: State, node: ast.NamedExpr) -> Value:
    value = run.evaluate(state, node.value)
    assign(run, state, node.target, value)
    return value


def _text(run: Run, state: State, node: ast.JoinedStr) -> Value:
    """A formatted string is some string; what it formats must evaluate, as ints and strings do."""
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            value = run.evaluate(state, part.value)
            plain = part.format_spec is None
            if not plain and not (isinstance(value, IntV) or state.kind(value) == STR):
                run.unsupported(state, f"the format of {_short(part.value)}", node)
    return StrV(run.context.fresh("text", run.context.strings))


_EVALUATORS: dict[type[ast.expr], Callable[..., Any]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Tuple: _tuple,
    ast.List: _list,
    ast.UnaryOp: _unary,
    ast.BinOp: _binary_operation,
    ast.BoolOp: _logical,
    ast.Compare: _comparison,
    ast.IfExp: _conditional,
    ast.Subscript: _subscript,
    ast.NamedExpr: _walrus,
    ast.JoinedStr: _text,
    ast.Call: call,
    ast.ListComp: quantifiers.list_comprehension,
    ast.GeneratorExp: quantifiers.generator,
}
