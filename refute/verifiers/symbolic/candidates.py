"""Conditions that a lemma of a machine may be made of.

A lemma is a clause, a disjunction of such conditions and their opposites, for all values of some
variables over the machine's Sorts. The conditions are of two origins: what the state can be asked
by its types (is this message in the set, is this map's entry that Enum member, is this entry less
than that one), and what the machine itself asks in guards and properties, quantifiers included.
The second kind is where lemmas with `any` inside come from: a guard's parameter is bound either by
the clause's variables or by an `any` of its own.

Sources: SWISS (Hance, Heule, Martins, Parno, NSDI 2021) and DuoAI (Yao, Tao, Gu, Nieh, OSDI 2022)
for enumerating small quantified clauses; Ivy's relations are the first kind.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from refute.specs.machine import types as t
from refute.specs.machine.ir import Expr, MachineIR, Param
from refute.specs.machine.lower import used
from refute.specs.machine.values import members, pack_value
from refute.verifiers.symbolic.mining import mined
from refute.verifiers.symbolic.rewriting import (
    any_,
    free_params,
    is_ordered,
    is_sort,
    nodes,
    not_,
    sorts_of,
    substituted,
)

BOOL = t.Bool()
NONE = Expr("const", t.Nothing(), (), None)
MOST_MEMBERS = 8  # of an Enum or small range that is asked about one by one
MOST_VALUES = 40  # of a type that are built of variables and constants
MOST_DEEP = 3  # maps in maps


def prefixes(ir: MachineIR, most: int) -> Iterator[tuple[Param, ...]]:
    """Variables to quantify over, from none to `most`, in all ways to share them among the Sorts.

    The n-th variable of a Sort has the same name in all of them: "node1", "node2".
    """
    sorts = tuple(sorts_of(ir).values())
    for count in range(most + 1):
        for chosen in itertools.combinations_with_replacement(sorts, count):
            yield tuple(
                Param(f"{sort.name.lower()}{chosen[:at].count(sort) + 1}", sort)
                for at, sort in enumerate(chosen)
            )


FLAT = "flat"
QUANTIFIED = "quantified"
RICH = "rich"


class Vocabulary:
    """The conditions over a machine's states, for any variables.

    level: FLAT, those without quantifiers; QUANTIFIED, with what the machine itself asks by `any`
    and `all`; RICH, with an `any` over every part of a relation, and comparisons of two parts of
    the state with each other.
    """

    def __init__(self, ir: MachineIR, level: str = QUANTIFIED) -> None:
        self.ir = ir
        self.level = level
        self.rich = level == RICH
        self.numbers = _numbers(ir)
        self.mined = [c for c in mined(ir) if level != FLAT or not _quantified(c)]

    def conditions(self, params: Sequence[Param]) -> list[Expr]:
        """The conditions whose free locals are among these variables, each once."""
        found = dict.fromkeys(itertools.chain(self._asked(params), self._written(params)))
        return [c for c in found if not _settled(c)]

    def _asked(self, params: Sequence[Param]) -> Iterator[Expr]:
        """What the types of the variables let one ask."""
        terms: list[Expr] = []
        for variable in self.ir.variables:
            if variable.hidden:
                continue
            read = Expr("read", variable.type, (), variable.name)
            for part in self._parts(read, params, MOST_DEEP):
                yield from self._about(part, params)
                terms.append(part)
        yield from self._compared(terms)
        for a, b in itertools.combinations(params, 2):
            if a.type == b.type and is_ordered(a.type):
                yield Expr("<", BOOL, (_local(a), _local(b)))
        if self.rich:
            yield from self._projected(params)

    def _parts(self, term: Expr, params: Sequence[Param], deep: int) -> Iterator[Expr]:
        """The term's entries and fields that are no maps or records themselves."""
        match term.type:
            case t.MapOf(key, value) if deep:
                for place in self.values(key, params):
                    entry = Expr("index", value, (term, place))
                    yield from self._parts(entry, params, deep - 1)
            case t.Rec(_, fields):
                for name, kind in fields:
                    yield from self._parts(Expr("field", kind, (term,), name), params, deep)
            case t.Tuple(items):
                for at, kind in enumerate(items):
                    place = Expr("const", t.Int(at, at), (), at)
                    yield from self._parts(Expr("index", kind, (term, place)), params, deep)
            case t.MapOf():
                return
            case _:
                yield term

    def _about(self, term: Expr, params: Sequence[Param]) -> Iterator[Expr]:
        """What one may ask about a part of the state by itself."""
        match term.type:
            case t.Bool():
                yield term
            case t.BagOf():
                return
            case t.SetOf(elem) | t.SeqOf(elem):
                for value in self.values(elem, params):
                    yield Expr("in", BOOL, (value, term))
            case t.Int():
                for number in self.numbers:
                    if _within(number, term.type):
                        bound = Expr("const", t.Int(number, number), (), number)
                        yield Expr("==", BOOL, (term, bound))
                        yield Expr("<", BOOL, (term, bound))
            case _:
                for value in self.values(term.type, params):
                    yield Expr("==", BOOL, (term, value))

    def _compared(self, terms: Sequence[Expr]) -> Iterator[Expr]:
        """Comparisons of two parts of the state with each other."""
        for a, b in itertools.combinations(terms, 2):
            ints = isinstance(a.type, t.Int) and isinstance(b.type, t.Int)
            ranked = ints or (a.type == b.type and is_ordered(a.type))
            if ranked:
                yield Expr("<", BOOL, (a, b))
                yield Expr("<", BOOL, (b, a))
            if ranked or (self.rich and a.type == b.type and _scalar(a.type)):
                yield Expr("==", BOOL, (a, b))

    def values(self, kind: t.Type, params: Sequence[Param]) -> list[Expr]:
        """Values of a type that variables and constants make up; none of a type with too many."""
        found = list(itertools.islice(self._values(kind, params), MOST_VALUES + 1))
        return found if len(found) <= MOST_VALUES else []

    def _values(self, kind: t.Type, params: Sequence[Param]) -> Iterator[Expr]:
        match kind:
            case t.Atoms() if is_sort(kind):
                yield from (_local(p) for p in params if p.type == kind)
                yield from self._stored(kind, params)
            case t.Atoms() if len(kind.members) <= MOST_MEMBERS:
                yield from (Expr("const", kind, (), pack_value(a)) for a in members(kind))
            case t.Bool():
                yield from (Expr("const", kind, (), value) for value in (False, True))
            case t.Nothing():
                yield NONE
            case t.Text(options) if len(options) <= MOST_MEMBERS:
                yield from (Expr("const", t.Text((o,)), (), o) for o in options)
            case t.Int():
                for number in self.numbers:
                    if _within(number, kind):
                        yield Expr("const", t.Int(number, number), (), number)
            case t.Union(options):
                for option in options:
                    yield from self._values(option, params)
            case t.Tuple(items):
                for parts in itertools.product(*(self.values(k, params) for k in items)):
                    yield Expr("tuple", t.Tuple(tuple(p.type for p in parts)), parts)
            case t.Rec(name, fields):
                for parts in itertools.product(*(self.values(k, params) for _, k in fields)):
                    typed = tuple((n, p.type) for (n, _), p in zip(fields, parts, strict=True))
                    yield Expr("make", t.Rec(name, typed), parts)

    def _stored(self, kind: t.Atoms, params: Sequence[Param]) -> Iterator[Expr]:
        """Variables that hold a member of a Sort, and entries of maps that do, for an entry under
        one of the variables."""
        for variable in self.ir.variables:
            read = Expr("read", variable.type, (), variable.name)
            match variable.type:
                case t.Atoms() if variable.type == kind and not variable.hidden:
                    yield read
                case t.MapOf(key, value) if value == kind and not variable.hidden:
                    for param in params:
                        if param.type == key:
                            yield Expr("index", value, (read, _local(param)))

    def _projected(self, params: Sequence[Param]) -> Iterator[Expr]:
        """`any(condition for x in Sort)` of what can be asked about one variable more."""
        plain = Vocabulary.__new__(Vocabulary)
        plain.__dict__.update(self.__dict__, rich=False, level=QUANTIFIED)
        for sort in sorts_of(self.ir).values():
            extra = Param(f"some {sort.name.lower()}", sort)
            for condition in plain._asked((*params, extra)):
                if extra.name in used(condition) and condition.op != "<":
                    yield any_(sort, extra.name, condition)
                    yield any_(sort, extra.name, not_(condition))

    def _written(self, params: Sequence[Param]) -> Iterator[Expr]:
        """What the machine asks, about these variables instead of its parameters."""
        for condition in self.mined:
            free = free_params(condition)
            bound = range(len(free) + 1) if _quantified(condition) or self.rich else range(1)
            for count in bound:
                for inner in itertools.combinations(free, count):
                    outer = [p for p in free if p not in inner]
                    yield from self._closed(condition, inner, outer, params)

    def _closed(
        self,
        condition: Expr,
        inner: Sequence[Param],
        outer: Sequence[Param],
        params: Sequence[Param],
    ) -> Iterator[Expr]:
        """The condition for some values of the inner variables, and the outer ones renamed."""
        ways: list[Expr] = [condition]
        if inner:
            ways = [condition, not_(condition)]
        for param in inner:
            ways = [any_(param.type, param.name, way) for way in ways]
        choices = [[_local(p) for p in params if p.type == o.type] for o in outer]
        for chosen in itertools.product(*choices):
            renaming = {o.name: value for o, value in zip(outer, chosen, strict=True)}
            yield from (_oriented(substituted(way, renaming)) for way in ways)


def _quantified(condition: Expr) -> bool:
    return any(node.op in ("any", "all") for node in nodes(condition))


def _oriented(condition: Expr) -> Expr:
    """The condition or its opposite, whichever is not written as an opposite."""
    if condition.op == "!=":
        return Expr("==", BOOL, condition.args)
    return condition.args[0] if condition.op == "not" else condition


def _local(param: Param) -> Expr:
    return Expr("local", param.type, (), param.name)


def _scalar(kind: t.Type) -> bool:
    return all(isinstance(o, t.Atoms | t.Bool | t.Nothing) for o in t.options(kind))


def _within(number: int, kind: t.Int) -> bool:
    above = kind.lo is None or kind.lo <= number
    return above and (kind.hi is None or number <= kind.hi)


def _settled(condition: Expr) -> bool:
    """Whether the condition compares a value with itself, or is of constants only."""
    if condition.op in ("==", "<", "<="):
        left, right = condition.args
        same_sort = condition.op == "==" and left.op == right.op == "local"
        if left == right or same_sort:  # different variables have different values
            return True
    return not any(n.op in ("read", "next", "local") for n in nodes(condition))


def _numbers(ir: MachineIR) -> tuple[int, ...]:
    """The numbers that the machine's code names, with 0; the smallest few."""
    found: dict[int, None] = {0: None}
    for expr in _all_conditions(ir):
        for node in nodes(expr):
            if node.op == "const" and type(node.data) is int:
                found[node.data] = None
    return tuple(sorted(found, key=lambda n: (abs(n), n)))[:4]


def _all_conditions(ir: MachineIR) -> Iterator[Expr]:
    yield from mined(ir)
    yield from (p.predicate for p in ir.properties)
