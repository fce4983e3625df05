"""Comprehensions: walks through containers, and quantifiers where a container cannot be listed.

A set or map made by a walk over an open Sort is known by what is asked of it: whether an element
is in it, what its entry is. Where the walk's variable follows from the element that is asked for,
as in `{Vote(n) for n in Node}`, no quantifier is needed for the answer.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from refute.specs.machine import types as t
from refute.specs.machine.ir import Expr
from refute.specs.machine.values import cardinality, domain
from refute.verifiers.symbolic.arithmetic import integer_of, numbers, summed
from refute.verifiers.symbolic.comparing import equal, fits
from refute.verifiers.symbolic.containers import (
    Item,
    gathered,
    items,
    listed_set,
    set_of,
    unordered,
)
from refute.verifiers.symbolic.context import Context
from refute.verifiers.symbolic.folding import Bit, all_of, and_, any_of, equals, not_, number_of
from refute.verifiers.symbolic.forms import (
    OpenMap,
    OpenSet,
    Outside,
    Sym,
    alternatives,
    expanded,
    parts_of,
    row,
    truth,
)
from refute.verifiers.symbolic.merging import merge, select
from refute.verifiers.symbolic.quantifying import bound, is_open

MOST_ENDS = 64  # numbers that an end of a range may be

Env = Mapping[str, Any]
Evaluate = Callable[[Expr, Env, Context], Sym]


class Source(NamedTuple):
    """What a walk goes through: all values of a type that are members."""

    kind: t.Type
    member: Callable[[Sym], Bit]


class Walk:
    """One comprehension. evaluate: of expressions, as the evaluator has it."""

    def __init__(self, evaluate: Evaluate, ctx: Context) -> None:
        self.evaluate = evaluate
        self.ctx = ctx

    def comprehension(self, expr: Expr, env: Env) -> Sym:
        """The value of an any, all, set, list, total or mapping. Raises Outside."""
        (chain,) = expr.args
        match expr.op:
            case "any":
                return self.some(chain, env, lambda values: truth(values[0]))
            case "all":
                return not_(self.some(chain, env, lambda values: not_(truth(values[0]))))
            case "mapping":
                return self._mapping(expr, env)
        if expr.op == "set" and self._opened(chain, env):
            return self._open_set(expr, env)
        found = self.collected(chain, env, expr.op == "list")
        pairs = [(bit, values[0]) for bit, values in found]
        if expr.op == "set":
            return set_of(pairs)
        return gathered(pairs) if expr.op == "list" else summed(pairs, self.ctx)

    def _condition(self, expr: Expr, env: Env) -> Bit:
        return False if self.ctx.path is False else truth(self.evaluate(expr, env, self.ctx))

    def _values(self, item: Expr, env: Env) -> list[Sym]:
        return [self.evaluate(a, env, self.ctx) for a in item.args]

    def source(self, expr: Expr, env: Env, in_order: bool) -> Source | list[Item]:
        """What to walk through. in_order: in canonical order, where there is one."""
        kind = expr.type
        if expr.op == "domain" and isinstance(kind, t.SeqOf):
            if is_open(kind.elem):
                return Source(kind.elem, lambda _: True)
            return [(True, value) for value in domain(kind.elem)]
        if expr.op == "range":
            found = self._endless(expr, env)
            if found is not None:
                return found
        base = expr.args[0] if expr.op == "keys" else expr
        sym = self.evaluate(base, env, self.ctx)
        if isinstance(base.type, t.MapOf) and is_open(base.type.key):
            return Source(base.type.key, lambda _: True)
        if isinstance(kind, t.SetOf):
            sym = listed_set(sym, self.ctx)
            if type(sym) is OpenSet:
                return Source(sym.elem, sym.has)
        return items(sym, kind, self.ctx) if in_order else unordered(sym, kind, self.ctx)

    def _endless(self, expr: Expr, env: Env) -> Source | None:
        """A range of step 1 whose ends are not known, for a quantifier over integers."""
        low, high, step = expr.args
        if step.op != "const" or step.data != 1:
            return None
        ends = [self.evaluate(end, env, self.ctx) for end in (low, high)]
        if all(
            _ends(sym, end.type, self.ctx) is not None
            for sym, end in zip(ends, (low, high), strict=True)
        ):
            return None
        first, last = (integer_of(end, self.ctx) for end in ends)
        return Source(t.Int(), lambda i: and_(first <= i, i < last))

    def some(self, chain: Expr, env: Env, test: Callable[[list[Sym]], Bit]) -> Bit:
        """Whether the test is true of an item, as `any` finds out: none is looked at after one."""
        if chain.op == "item":
            return False if self.ctx.path is False else test(self._values(chain, env))
        head, inner = chain.args
        if chain.op == "if":
            holds = self._condition(head, env)
            with self.ctx.under(holds):
                return and_(holds, self.some(inner, env, test)) if holds is not False else False

        def each(element: Sym) -> Bit:
            return self.some(inner, {**env, chain.data: element}, test)

        source = self.source(head, env, in_order=False)
        if isinstance(source, Source):
            return self._exists(source, each)
        with self.ctx.apart() as errors:
            found = self._first(source, each)
        if errors and len(source) > 1 and isinstance(head.type, t.SetOf):
            ordered = self.source(head, env, in_order=True)
            assert isinstance(ordered, list)
            return self._first(ordered, each)
        self.ctx.errors.extend(errors)
        return found

    def _exists(self, source: Source, each: Callable[[Sym], Bit]) -> Bit:
        def body(values: list[Sym]) -> Bit:
            there = source.member(values[0])
            with self.ctx.under(there):
                return and_(there, each(values[0]))

        return bound([source.kind], body, False, self.ctx)

    def _first(self, source: list[Item], each: Callable[[Sym], Bit]) -> Bit:
        found: list[Bit] = []
        for there, element in source:
            before = len(self.ctx.errors)
            with self.ctx.under(there):
                bit = and_(there, each(element))
            if len(self.ctx.errors) > before and found:  # not reached after one that was found
                late = not_(any_of(found))
                self.ctx.errors[before:] = [and_(late, e) for e in self.ctx.errors[before:]]
            if bit is True:
                return True
            found.append(bit)
        return any_of(found)

    def collected(self, chain: Expr, env: Env, in_order: bool) -> list[tuple[Bit, list[Sym]]]:
        """The items, each with when it is there. Raises Outside for a walk over an open Sort."""
        if chain.op == "item":
            return [] if self.ctx.path is False else [(True, self._values(chain, env))]
        head, inner = chain.args
        if chain.op == "if":
            holds = self._condition(head, env)
            if holds is False:
                return []
            with self.ctx.under(holds):
                return _guarded(holds, self.collected(inner, env, in_order))
        source = self.source(head, env, in_order)
        if isinstance(source, Source):
            raise Outside(f"a count, sum or list over {t.show(source.kind)}, of any size")
        found = []
        for there, element in source:
            if there is False:
                continue
            with self.ctx.under(there):
                inside = self.collected(inner, {**env, chain.data: element}, in_order)
                found += _guarded(there, inside)
        return found

    def _opened(self, chain: Expr, env: Env) -> bool:
        """Whether the chain may walk over something of any size, by its types."""
        while chain.op != "item":
            if chain.op == "for" and is_open(chain.args[0].type):
                head = chain.args[0]
                if isinstance(head.type, t.MapOf) or head.op in ("domain", "keys"):
                    return True
                if isinstance(head.type, t.SetOf):
                    return True
            chain = chain.args[1]
        return False

    def _open_set(self, expr: Expr, env: Env) -> Sym:
        (chain,) = expr.args
        quiet = Walk(self.evaluate, self.ctx.quiet())
        if not quiet.unbounded(chain, env):
            return set_of([(b, v[0]) for b, v in self.collected(chain, env, False)])
        self.some(chain, env, lambda _: False)  # for what it raises
        elem = expr.type.elem if isinstance(expr.type, t.SetOf) else t.NEVER
        known: dict[int, tuple[Sym, Bit]] = {}

        def has(wanted: Sym) -> Bit:
            if id(wanted) not in known:
                known[id(wanted)] = wanted, quiet.member(chain, env, wanted)
            return known[id(wanted)][1]

        return OpenSet(elem, has)

    def unbounded(self, chain: Expr, env: Env) -> bool:
        """Whether the first source of an open type is really of any size."""
        while chain.op != "item":
            if chain.op == "for":
                try:
                    source = self.source(chain.args[0], env, in_order=False)
                except KeyError:  # of a variable of the walk: assume so
                    return True
                if isinstance(source, Source):
                    return True
                env = {**env, chain.data: source[0][1] if source else None}
            chain = chain.args[1]
        return False

    def member(self, chain: Expr, env: Env, wanted: Sym) -> Bit:
        """Whether a value is among the items."""
        if chain.op == "item":
            return equal(self._values(chain, env)[0], wanted)
        head, inner = chain.args
        if chain.op == "if":
            holds = self._condition(head, env)
            return False if holds is False else and_(holds, self.member(inner, env, wanted))
        source = self.source(head, env, in_order=False)

        def each(element: Sym) -> Bit:
            return self.member(inner, {**env, chain.data: element}, wanted)

        if not isinstance(source, Source):
            return any_of(and_(bit, each(element)) for bit, element in source)
        solved = _solved(_item(inner).args[0], chain.data, wanted)
        if solved is None:
            return self._exists(source, each)
        found = []
        for bit, element in solved:
            there = and_(bit, and_(fits(element, source.kind), source.member(element)))
            found.append(False if there is False else and_(there, each(element)))
        return any_of(found)

    def _mapping(self, expr: Expr, env: Env) -> Sym:
        (chain,) = expr.args
        kind = expr.type
        if not isinstance(kind, t.MapOf):
            raise Outside("a mapping of no map type")
        if is_open(kind.key):
            return self._open_map(kind, chain, env)
        return total(kind, [(b, k, v) for b, (k, v) in self.collected(chain, env, True)], self.ctx)

    def _open_map(self, kind: t.MapOf, chain: Expr, env: Env) -> Sym:
        self.some(chain, env, lambda _: False)  # for what it raises
        quiet = Walk(self.evaluate, self.ctx.quiet())

        def there(keys: list[Sym]) -> Bit:
            return any_of(bit for bit, _ in quiet.entries(chain, env, keys[0]))

        self.ctx.fail(not_(bound([kind.key], there, True, self.ctx.quiet())))
        known: dict[int, tuple[Sym, Sym]] = {}

        def read(key: Sym) -> Sym:
            if id(key) not in known:
                found = quiet.entries(chain, env, key)
                value = found[0][1] if found else None
                for bit, other in found[1:]:
                    value = merge(bit, other, value)
                known[id(key)] = key, value
            return known[id(key)][1]

        return OpenMap(kind, read)

    def entries(self, chain: Expr, env: Env, key: Sym) -> list[tuple[Bit, Sym]]:
        """The entries that a key has, each with when it has it; a later one counts more."""
        if chain.op == "item":
            name, value = self._values(chain, env)
            return [(equal(name, key), value)]
        head, inner = chain.args
        if chain.op == "if":
            holds = self._condition(head, env)
            found = [] if holds is False else self.entries(inner, env, key)
            return [(and_(holds, bit), value) for bit, value in found]
        source = self.source(head, env, in_order=True)
        if not isinstance(source, Source):
            pairs = source
        else:
            solved = _solved(_item(inner).args[0], chain.data, key)
            if solved is None:
                raise Outside(f"a map from {t.show(source.kind)} by keys that are computed")
            pairs = [(and_(bit, fits(e, source.kind), source.member(e)), e) for bit, e in solved]
        found = []
        for bit, element in pairs:
            if bit is not False:
                inside = self.entries(inner, {**env, chain.data: element}, key)
                found += [(and_(bit, test), value) for test, value in inside]
        return [(bit, value) for bit, value in found if bit is not False]


def _guarded(bit: Bit, found: list[tuple[Bit, list[Sym]]]) -> list[tuple[Bit, list[Sym]]]:
    return [(and_(bit, test), values) for test, values in found]


def _item(chain: Expr) -> Expr:
    while chain.op != "item":
        chain = chain.args[1]
    return chain


def _solved(expr: Expr, name: str, wanted: Sym) -> list[tuple[Bit, Sym]] | None:
    """What the local must be for the expression to have a value; None where it is not plain."""
    if expr.op == "local" and expr.data == name:
        return [(True, wanted)]
    if expr.op not in ("tuple", "make"):
        return None
    for at, arg in enumerate(expr.args):
        found = []
        for bit, form in alternatives(wanted):
            parts = parts_of(form)
            if parts is None or len(parts[1]) != len(expr.args):
                continue
            inside = _solved(arg, name, parts[1][at])
            if inside is None:
                break
            found += [(and_(bit, test), value) for test, value in inside]
        else:
            if _solved(arg, name, None) is not None:
                return found
    return None


def total(kind: t.MapOf, entries: list[tuple[Bit, Sym, Sym]], ctx: Context) -> Sym:
    """The map with these entries, later ones first; KeyError unless they are those of its type."""
    keys = {value: at for at, value in enumerate(domain(kind.key))}
    values: list[Sym] = [None] * len(keys)
    there: list[Bit] = [False] * len(keys)
    for bit, key, value in entries:
        found = expanded(key)
        if found is None:
            found = [(equal(key, k), k) for k in keys]
            ctx.fail(and_(bit, not_(any_of(test for test, _ in found))))
        for test, k in found:
            both = and_(bit, test)
            if k not in keys:
                ctx.fail(both)
                continue
            at = keys[k]
            values[at] = value if there[at] is False else merge(both, value, values[at])
            there[at] = True if both is True else any_of((there[at], both))
    ctx.fail(not_(all_of(there)))
    return row(values)


def _ends(sym: Sym, kind: t.Type, ctx: Context) -> list[tuple[Bit, int]] | None:
    """The few numbers that an end of a range may be, by its value or else by its type."""
    found = numbers(sym, ctx)
    if isinstance(found, list):
        return found
    if isinstance(kind, t.Int) and cardinality(kind) <= MOST_ENDS:
        return [(equals(found, number_of(v)), v) for v in domain(kind)]
    return None


def ranged(expr: Expr, values: list[Sym], ctx: Context) -> Sym:
    """A range of numbers as a sequence. Raises Outside."""
    ends = [_ends(v, a.type, ctx) for v, a in zip(values, expr.args, strict=True)]
    found = []
    for way in itertools.product(*(end if end is not None else [] for end in ends)):
        bit = all_of(test for test, _ in way)
        start, stop, step = (value for _, value in way)
        if step == 0:
            ctx.fail(bit)
        elif bit is not False:
            found.append((bit, tuple(range(start, stop, step))))
    if None in ends:
        raise Outside("a range whose ends are not among a few numbers")
    return select(found) if found else ()
