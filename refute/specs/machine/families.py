"""`every`, `subsets`, `permutations`, `choose`, `enumerate`, `zip`, `reversed`.

None of them is a new operation for engines: all are walks through the values of a small type or the
places of sequences, or helpers in the machine language itself.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from refute.errors import UsageError
from refute.specs.machine import language
from refute.specs.machine import types as t
from refute.specs.machine.comprehensions import Comprehensions
from refute.specs.machine.containers import Seq, Set
from refute.specs.machine.expressions import BOOL, number
from refute.specs.machine.ir import Expr
from refute.specs.machine.scope import MISSING, Scope
from refute.specs.machine.values import cardinality, domain

Family = Callable[[Comprehensions, ast.Call], Expr]
T = TypeVar("T")
_WALKED = 4_096  # values of a type that are walked through to find those that are meant


def _every(calls: Comprehensions, node: ast.Call) -> Expr:
    """`every(T)`: all values of a type."""
    annotation = annotation_of(calls.scope, _only(calls, node))
    kind = calls.build.resolver.type_of(annotation, calls.scope.refuser(node))
    return _domain(calls, kind, node)


def _subsets(calls: Comprehensions, node: ast.Call) -> Expr:
    """`subsets(x)`: all subsets of a collection, the empty one and the whole included."""
    whole, elem = _collection(calls, node)
    kind = t.SetOf(elem)
    if cardinality(kind) > _WALKED and not t.open_sorts(elem):
        return _in_order(calls.inline(_function(all_subsets), [whole], "", node), kind)
    name = calls.build.fresh("subset")
    member = Expr("local", kind, (), name)
    return _those(calls, node, kind, name, Expr("subset", BOOL, (member, whole)))


def _permutations(calls: Comprehensions, node: ast.Call) -> Expr:
    """`permutations(x)`: the elements of a collection in every order."""
    given = calls.expr(_only(calls, node))
    elem = calls.element(given, node)
    if given.op in ("range", "domain"):
        given = Expr("toset", t.SetOf(elem), (given,), "Set")
    distinct = isinstance(given.type, t.SetOf)
    longest = int(cardinality(elem)) if cardinality(elem) <= 8 else None
    kind = t.SeqOf(elem, longest if distinct else _upto(given.type))
    if not distinct or longest is None or cardinality(kind) > _WALKED:
        every = calls.inline(_function(all_orders), [given], "", node)
        return _in_order(Expr("toset", t.SetOf(kind), (every,), "Set"), kind)
    name = calls.build.fresh("order")
    member = Expr("local", kind, (), name)
    lengths = [Expr("len", t.Int(0, longest), (x,)) for x in (member, given)]
    whole_set = Expr("==", BOOL, (Expr("toset", t.SetOf(elem), (member,), "Set"), given))
    test = Expr("and", BOOL, (Expr("==", BOOL, tuple(lengths)), whole_set))
    return _those(calls, node, kind, name, test)


def _upto(kind: t.Type) -> int | None:
    match kind:
        case t.SeqOf(_, upto):
            return upto
        case t.MapOf(key, _):
            return len(domain(key))
        case t.Tuple(items):
            return len(items)
    return None


def all_subsets(elements: Iterable[T]) -> list[Set[T]]:
    """The subsets of a collection, as a helper in the machine language."""
    found: list[Set[T]] = [Set()]
    for element in elements:
        found = found + [some | Set([element]) for some in found]
    return found


def all_orders(elements: Iterable[T]) -> list[Seq[T]]:
    """The orders of a collection, as a helper in the machine language."""
    found: list[Seq[T]] = [Seq()]
    for element in elements:
        found = [
            some[:at] + Seq([element]) + some[at:] for some in found for at in range(len(some) + 1)
        ]
    return found


def _function(made: Callable[..., Any]) -> types.FunctionType:
    assert isinstance(made, types.FunctionType)
    return made


def _in_order(every: Expr, kind: t.Type) -> Expr:
    return Expr("sorted", t.SeqOf(kind), (every,))


def _choose(calls: Comprehensions, node: ast.Call) -> Expr:
    """`choose(x for x in s if …)`: the first one in canonical order."""
    source = _listed(calls, _only(calls, node))
    elem = calls.element(source, node)
    whole = Expr("toset", t.SetOf(elem), (source,), "Set")
    ordered = Expr("toseq", t.SeqOf(elem), (whole,))
    return Expr("index", elem, (ordered, number(0)))


def _listed(calls: Comprehensions, node: ast.expr) -> Expr:
    if isinstance(node, ast.GeneratorExp):
        node = ast.copy_location(ast.SetComp(node.elt, node.generators), node)
    return calls.expr(node)


def _enumerate(calls: Comprehensions, node: ast.Call) -> Expr:
    """`enumerate(seq)`: pairs of place and element."""
    source = _sequence(calls, _only(calls, node), node)
    return _by_place(calls, [source], lambda at: _tuple([at, _at(source, at)]))


def _zip(calls: Comprehensions, node: ast.Call) -> Expr:
    """`zip(a, b)`: tuples of elements at the same place, as long as the shortest."""
    if len(node.args) < 2:
        raise calls.scope.refuse(node, "this zip", "zip(one, another)")
    sources = [_sequence(calls, part, node) for part in node.args]
    return _by_place(calls, sources, lambda at: _tuple([_at(s, at) for s in sources]))


def _reversed(calls: Comprehensions, node: ast.Call) -> Expr:
    """`reversed(seq)`: the elements backwards."""
    source = _sequence(calls, _only(calls, node), node)
    return _by_place(calls, [source], lambda at: _at(source, Expr("-", t.Int(), (number(-1), at))))


def _sequence(calls: Comprehensions, node: ast.expr, call: ast.Call) -> Expr:
    found = calls.expr(node)
    calls.scope.fixed_order(call, found)
    if isinstance(found.type, t.SeqOf):
        return found
    return Expr("toseq", t.SeqOf(calls.element(found, call)), (found,))


def _by_place(calls: Comprehensions, sources: list[Expr], element: Callable[[Expr], Expr]) -> Expr:
    """One element for each place of sequences, as long as the shortest."""
    lengths = [Expr("len", t.Int(0, None), (s,)) for s in sources]
    least = lengths[0] if len(lengths) == 1 else Expr("least", t.Int(0, None), tuple(lengths))
    places = Expr("range", t.SeqOf(t.Int(0, None)), (number(0), least, number(1)))
    name = calls.build.fresh("place")
    made = element(Expr("local", t.Int(0, None), (), name))
    chain = Expr("for", made.type, (places, Expr("item", made.type, (made,))), name)
    return Expr("list", t.SeqOf(made.type), (chain,))


def _at(source: Expr, at: Expr) -> Expr:
    elem = source.type.elem if isinstance(source.type, t.SeqOf) else t.NEVER
    return Expr("index", elem, (source, at))


def _tuple(parts: list[Expr]) -> Expr:
    return Expr("tuple", t.Tuple(tuple(p.type for p in parts)), tuple(parts))


FAMILIES: dict[object, Family] = {
    language.every: _every,
    language.subsets: _subsets,
    language.permutations: _permutations,
    language.choose: _choose,
    enumerate: _enumerate,
    zip: _zip,
    reversed: _reversed,
}


def _only(calls: Comprehensions, node: ast.Call) -> ast.expr:
    if len(node.args) != 1 or node.keywords:
        name = ast.unparse(node.func)
        raise calls.scope.refuse(node, f"this {name}", f"{name}(one argument)")
    return node.args[0]


def _collection(calls: Comprehensions, node: ast.Call) -> tuple[Expr, t.Type]:
    found = calls.expr(_only(calls, node))
    elem = calls.element(found, node)
    if not isinstance(found.type, t.SetOf):
        found = Expr("toset", t.SetOf(elem), (found,), "Set")
    return found, elem


def _domain(calls: Comprehensions, kind: t.Type, node: ast.AST) -> Expr:
    try:
        calls.build.resolver.chosen(kind)
    except UsageError as error:
        what = f"a walk through {t.show(kind)}, which has too many values,"
        raise calls.scope.refuse(node, what, "a smaller type, or a walk of its parts") from error
    return Expr("domain", t.SeqOf(kind))


def _those(calls: Comprehensions, node: ast.AST, kind: t.Type, name: str, test: Expr) -> Expr:
    """The values of a type that pass a test of the local `name`."""
    item = Expr("item", kind, (Expr("local", kind, (), name),))
    chain = Expr("for", kind, (_domain(calls, kind, node), Expr("if", kind, (test, item))), name)
    return Expr("list", t.SeqOf(kind), (chain,))


def annotation_of(scope: Scope, node: ast.expr) -> Any:
    """The type that an expression like `Set[RM]` or `Node | None` stands for in Python."""
    match node:
        case ast.Constant(value=None):
            return None
        case ast.Subscript(value=base, slice=ast.Tuple(elts=parts)):
            return annotation_of(scope, base)[tuple(annotation_of(scope, p) for p in parts)]
        case ast.Subscript(value=base, slice=part):
            return annotation_of(scope, base)[annotation_of(scope, part)]
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return annotation_of(scope, left) | annotation_of(scope, right)
    found = scope.static(node)
    if found is MISSING:
        raise scope.refuse(node, f"{ast.unparse(node)} as a type", "the name of a type")
    return found
