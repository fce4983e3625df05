"""What `any_of` chooses: an unknown value and the paths on which it is in the source.

A source that is a comprehension is not built: its element is made of unknown values that its loops
run over. So a choice out of subsets or of a Sort of any size is one more unknown, not a list. Where
building it may raise it is built as well, for that: every element has to have a value, not only the
one that is chosen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from refute.specs.machine import types as t
from refute.specs.machine.commuting import may_raise
from refute.specs.machine.ir import Expr
from refute.specs.machine.values import cardinality
from refute.verifiers.symbolic.comparing import equal
from refute.verifiers.symbolic.containers import items
from refute.verifiers.symbolic.folding import all_of, and_, not_
from refute.verifiers.symbolic.forms import Outside, Sym
from refute.verifiers.symbolic.merging import select
from refute.verifiers.symbolic.pointwise import element_type

if TYPE_CHECKING:
    from refute.verifiers.symbolic.executing import Execution, Way

BOOL = t.Bool()
_SAME_ELEMENTS = ("toset", "toseq", "sorted", "keys")
Found = tuple[Sym, "Way"] | None


def chosen(execution: Execution, source: Expr, name: str, way: Way) -> Found:
    """A value and the way on which it is one of the source; None where there is no such way.

    Raises Outside.
    """
    if source.op == "domain":
        return execution.unknown(element_type(source.type), name), way
    if source.op in _SAME_ELEMENTS and isinstance(source.args[0].type, t.MapOf):
        _raising(execution, source.args[0], way)
        return execution.unknown(source.args[0].type.key, name), way
    if source.op in _SAME_ELEMENTS:
        return chosen(execution, source.args[0], name, way)
    if cardinality(element_type(source.type)) == 0:
        _raising(execution, source, way)
        return None
    if source.op in ("set", "list"):
        _raising(execution, source, way)
        return _made(execution, source.args[0], way)
    return _member(execution, source, name, way)


def _raising(execution: Execution, source: Expr, way: Way) -> None:
    """Have it noted what raises while a source is built that is not needed otherwise."""
    if may_raise(source, {}):
        execution.value(source, way)


def _made(execution: Execution, chain: Expr, way: Way) -> Found:
    """An element of a comprehension."""
    if chain.op == "item":
        return execution.value(chain.args[0], way), way
    if chain.op == "if":
        inside = way.narrowed(execution.test(chain.args[0], way))
        return None if inside is None else _made(execution, chain.args[1], inside)
    name = str(chain.data)
    if chain.op == "let":
        given = way.binding(name, execution.value(chain.args[0], way))
        return _made(execution, chain.args[1], given)
    found = chosen(execution, chain.args[0], name, way)
    if found is None:
        return None
    value, inside = found
    return _made(execution, chain.args[1], inside.binding(name, value))


def _member(execution: Execution, source: Expr, name: str, way: Way) -> Found:
    """An element of a container; of one whose elements can only be listed, one of the list."""
    try:
        value = execution.unknown(element_type(source.type), name)
    except Outside:
        return _listed(execution, source, name, way)
    element = Expr("local", element_type(source.type), (), name)
    inside = execution.test(Expr("in", BOOL, (element, source)), way.binding(name, value))
    narrowed = way.narrowed(inside)
    return None if narrowed is None else (value, narrowed)


def _listed(execution: Execution, source: Expr, name: str, way: Way) -> Found:
    whole = execution.value(source, way)
    with execution.context.under(way.condition):
        found = items(whole, source.type, execution.context)
    if not found:
        return None
    number = execution.unknown(t.Int(0, len(found) - 1), name)
    pairs = [(equal(number, at), item) for at, (_, item) in enumerate(found)]
    there = all_of(
        not_(and_(test, not_(guard))) for (test, _), (guard, _) in zip(pairs, found, strict=True)
    )
    narrowed = way.narrowed(there)
    return None if narrowed is None else (select(pairs), narrowed)
