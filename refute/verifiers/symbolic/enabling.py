"""Whether any step can be taken: its parameters and choices are quantified, or written out.

A step says what happens for given unknowns. That there is no step at all is said of all their
values, so unknowns of few values are tried one after the other: the body is executed again for
each, which costs little where a value is known, and only members of open Sorts and integers without
bounds stay quantified.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import z3

from refute.specs.machine import types as t
from refute.specs.machine.ir import Action
from refute.specs.machine.values import cardinality, domain
from refute.verifiers.symbolic.executing import Execution, Way
from refute.verifiers.symbolic.folding import Bit, Term, all_of, and_, any_of, not_, or_
from refute.verifiers.symbolic.forms import Cells, Choice, OpenMap, OpenSet, Outside, Row, Sym
from refute.verifiers.symbolic.quantifying import is_open
from refute.verifiers.symbolic.transition import Encoding
from refute.verifiers.symbolic.world import World

MOST_RUNS = 512  # executions of one action for the values of its unknowns


class _Asked(Exception):
    """An unknown of this type comes next, and nobody has said yet what it is."""

    def __init__(self, kind: t.Type) -> None:
        super().__init__()
        self.kind = kind


class _Given(Execution):
    """An execution whose unknowns of few values are given."""

    given: tuple[Sym, ...] = ()
    at = 0

    def unknown(self, kind: t.Type, name: str) -> Sym:
        """The next given value, or an unknown that is quantified."""
        if cardinality(kind) > MOST_RUNS or is_open(kind):
            return super().unknown(kind, name)
        if self.at == len(self.given):
            raise _Asked(kind)
        self.at += 1
        return self.given[self.at - 1]


def moves(encoding: Encoding, action: Action, world: World) -> Bit:
    """Whether the action can take a step, or raises, with some parameters and choices.

    Raises Outside.
    """
    return _some(encoding, action, world, _taken)


def leads(encoding: Encoding, action: Action, before: World, after: World) -> Bit:
    """Whether the action can take a step from the one state to the other. Raises Outside."""

    def there(way: Way | None, error: Bit) -> Bit:
        if way is None:
            return False
        same = encoding.equated(World(way.variables), after)
        return and_(way.condition, not_(error), same)

    return _some(encoding, action, before, there)


Ending = Callable[[Way | None, Bit], Bit]  # of where a body ends, and whether it raises


def _taken(way: Way | None, error: Bit) -> Bit:
    return or_(error, False if way is None else way.condition)


def _some(encoding: Encoding, action: Action, world: World, asked: Ending) -> Bit:
    """Whether it is so for some parameters and choices."""
    found: list[Bit] = []
    waiting: list[tuple[Sym, ...]] = [()]
    runs = 0
    while waiting and True not in found:
        given = waiting.pop()
        runs += 1
        if runs > MOST_RUNS:
            raise Outside(f"{action.name}, which has more than {MOST_RUNS} ways to be taken")
        try:
            found.append(_one(encoding, action, world, given, asked))
        except _Asked as next_one:
            waiting += [(*given, value) for value in reversed(domain(next_one.kind))]
    return any_of(found)


def _one(
    encoding: Encoding, action: Action, world: World, given: tuple[Sym, ...], asked: Ending
) -> Bit:
    execution = _Given(action, encoding.kinds, world.facts, action.name)
    execution.given = given
    params = [execution.unknown(p.type, p.name) for p in action.params]
    named = dict(zip((p.name for p in action.params), params, strict=True))
    way = execution.run(Way(True, dict(world.values), named))
    found = asked(way, execution.context.error)
    if not execution.unknowns:
        return found
    terms = (term for sym, _ in execution.unknowns for term in constants_in(sym))
    free = {term.get_id(): term for term in terms}
    about = [f for f in execution.context.facts if _speaks(f, free)]  # others hold by themselves
    return z3.Exists(list(free.values()), all_of([*about, found]))


def _speaks(formula: Term, free: Mapping[int, Term]) -> bool:
    """Whether one of the terms occurs in a formula."""
    todo, seen = [formula], set()
    while todo:
        node = todo.pop()
        if node.get_id() in free:
            return True
        if node.get_id() not in seen:
            seen.add(node.get_id())
            todo += [node.body()] if z3.is_quantifier(node) else node.children()
    return False


def constants_in(sym: Sym) -> list[Term]:
    """The unknowns that a value is made of. Raises Outside where they are functions."""
    if isinstance(sym, OpenSet | OpenMap):
        raise Outside("whether a step is enabled that chooses a set or map over an open Sort")
    if isinstance(sym, z3.ExprRef):
        unknown = sym.decl().kind() == z3.Z3_OP_UNINTERPRETED
        if unknown and sym.num_args():
            raise Outside("whether a step is enabled that chooses a map over an open Sort")
        return [sym] if unknown else [x for c in sym.children() for x in constants_in(c)]
    if isinstance(sym, Row):
        return [x for part in sym.parts for x in constants_in(part)]
    if isinstance(sym, Cells | Choice):
        pairs = [*((bit, None) for bit in sym.known.values()), *sym.others]
        return [x for pair in pairs for part in pair for x in constants_in(part)]
    return []
