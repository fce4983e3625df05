"""Expressions of the IR with other locals, or over Sorts of other sizes.

A lemma is one expression that is evaluated on small instances, encoded for every size and printed;
between these uses only the Sorts' members and the names of its parameters differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from refute.specs.machine import types as t
from refute.specs.machine.ir import Expr, MachineIR, Param
from refute.specs.machine.lower import used

Sizes = Mapping[str, t.Atoms]  # a Sort's name → the type it has in some instance
SORTS = ("sort", "ordered", "open", "open ordered")  # kinds of Atoms that are no Enums
BINDERS = ("for", "let", "fold", "loop", "rec")


def is_sort(kind: t.Type) -> bool:
    """Whether the type is a Sort or OrderedSort, of some size or of any."""
    return isinstance(kind, t.Atoms) and kind.kind in SORTS


def is_ordered(kind: t.Type) -> bool:
    """Whether the type is an OrderedSort."""
    return isinstance(kind, t.Atoms) and kind.kind in ("ordered", "open ordered")


def atoms_in(kind: t.Type) -> Iterator[t.Atoms]:
    """The Sorts and Enums that a type is made of."""
    match kind:
        case t.Atoms():
            yield kind
        case t.Tuple(items=parts) | t.Union(options=parts):
            for part in parts:
                yield from atoms_in(part)
        case t.Rec():
            for _, part in kind.fields:
                yield from atoms_in(part)
        case t.SetOf() | t.SeqOf():
            yield from atoms_in(kind.elem)
        case t.MapOf():
            yield from atoms_in(kind.key)
            yield from atoms_in(kind.value)


def sorts_of(ir: MachineIR) -> dict[str, t.Atoms]:
    """The Sorts of a machine by name, in the order in which variables and parameters name them."""
    kinds = [v.type for v in ir.variables]
    rows = [a.params for a in ir.actions] + [p.params for p in ir.processes]
    rows += [p.params for p in ir.properties]
    kinds += [param.type for params in rows for param in params]
    return {k.name: k for kind in kinds for k in atoms_in(kind) if is_sort(k)}


def resized_type(kind: t.Type, sizes: Sizes) -> t.Type:
    """The type with the Sorts as they are in another instance."""
    match kind:
        case t.Atoms():
            return sizes.get(kind.name, kind) if is_sort(kind) else kind
        case t.Tuple():
            return t.Tuple(tuple(resized_type(k, sizes) for k in kind.items))
        case t.Union():
            return t.Union(tuple(resized_type(k, sizes) for k in kind.options))
        case t.Rec():
            return t.Rec(kind.name, tuple((n, resized_type(k, sizes)) for n, k in kind.fields))
        case t.SetOf():
            return type(kind)(resized_type(kind.elem, sizes))
        case t.SeqOf():
            return t.SeqOf(resized_type(kind.elem, sizes), kind.upto)
        case t.MapOf():
            return t.MapOf(resized_type(kind.key, sizes), resized_type(kind.value, sizes))
    return kind


def resized(expr: Expr, sizes: Sizes) -> Expr:
    """The expression over the Sorts of another instance."""
    args = tuple(resized(a, sizes) for a in expr.args)
    data = expr.data
    if expr.op == "isa":
        data = tuple(resized_type(k, sizes) for k in expr.data)
    return Expr(expr.op, resized_type(expr.type, sizes), args, data)


def resized_params(params: tuple[Param, ...], sizes: Sizes) -> tuple[Param, ...]:
    """Parameters over the Sorts of another instance."""
    return tuple(Param(p.name, resized_type(p.type, sizes)) for p in params)


def substituted(expr: Expr, values: Mapping[str, Expr]) -> Expr:
    """The expression with values for free locals.

    Every local of a machine has one name, so that nothing is captured as long as the values hold
    no locals that the expression binds.
    """
    if expr.op == "local":
        return values.get(str(expr.data), expr)
    if not expr.args:
        return expr
    args = tuple(substituted(a, values) for a in expr.args)
    return expr if args == expr.args else Expr(expr.op, expr.type, args, expr.data)


def changed(expr: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """The expression with the change made in every node, the innermost first."""
    args = tuple(changed(a, change) for a in expr.args)
    return change(Expr(expr.op, expr.type, args, expr.data))


def without_lets(expr: Expr) -> Expr:
    """The expression with the value of each `let` in the places that read it.

    What the value would raise is lost where nothing reads it; that is right for expressions that
    are wanted as conditions, not as steps.
    """

    def opened(node: Expr) -> Expr:
        if node.op != "let":
            return node
        return substituted(node.args[1], {str(node.data): node.args[0]})

    return changed(expr, opened)


def by_keys(expr: Expr) -> Expr:
    """The expression with walks through a map's values, items or keys as walks through its keys.

    So the same condition is one expression however it was written, and the walk is a quantifier.
    """
    return changed(expr, _by_keys)


def _by_keys(node: Expr) -> Expr:
    if node.op != "for":
        return node
    source, inner = node.args
    mapped = source.args[0] if source.op in ("values", "items", "keys") else source
    if not isinstance(mapped.type, t.MapOf):
        return node
    name = str(node.data)
    key = Expr("local", mapped.type.key, (), f"key of {name}")
    value = Expr("index", mapped.type.value, (mapped, key))
    pair = Expr("tuple", t.Tuple((key.type, value.type)), (key, value))
    found = {"values": value, "items": pair}.get(source.op, key)
    inner = changed(substituted(inner, {name: found}), _part_of_pair)
    domain = Expr("domain", t.SeqOf(mapped.type.key))
    return Expr("for", node.type, (domain, inner), str(key.data))


def _part_of_pair(node: Expr) -> Expr:
    """`(a, b)[0]` as `a`."""
    known = node.op == "index" and node.args[0].op == "tuple" and node.args[1].op == "const"
    if known and type(node.args[1].data) is int:
        return node.args[0].args[node.args[1].data]
    return node


def free_params(expr: Expr) -> tuple[Param, ...]:
    """The free locals of an expression with their types, in the order in which it reads them."""
    names = used(expr)
    found: dict[str, t.Type] = {}
    for node in nodes(expr):
        if node.op == "local" and node.data in names:
            found.setdefault(str(node.data), node.type)
    return tuple(Param(name, kind) for name, kind in found.items())


def nodes(expr: Expr) -> Iterator[Expr]:
    """The expression and everything inside it, from left to right."""
    yield expr
    for arg in expr.args:
        yield from nodes(arg)


def any_(kind: t.Type, name: str, condition: Expr) -> Expr:
    """`any(condition for name in kind)`."""
    boolean = t.Bool()
    source = Expr("domain", t.SeqOf(kind))
    chain = Expr("for", boolean, (source, Expr("item", boolean, (condition,))), name)
    return Expr("any", boolean, (chain,))


def not_(condition: Expr) -> Expr:
    """The condition's opposite, without a double `not`."""
    return condition.args[0] if condition.op == "not" else Expr("not", t.Bool(), (condition,))


def or_(conditions: tuple[Expr, ...]) -> Expr:
    """At least one of the conditions."""
    return conditions[0] if len(conditions) == 1 else Expr("or", t.Bool(), conditions)
