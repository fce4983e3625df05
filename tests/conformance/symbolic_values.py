"""Expressions as Z3 sees them, compared with their meaning: in known states, and in unknown ones.

A state is fixed by equations between unknowns and its values, so nothing is known while formulas
are built. The model must then say of every expression what the tree walk says of it, errors
included, and no other model may say anything else.
"""

from __future__ import annotations

import collections
import dataclasses
import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import z3

from refute.specs.machine import types as t
from refute.specs.machine.ir import Action, Expr, MachineIR, Param
from refute.specs.machine.meaning import Meaning, _Way
from refute.specs.machine.values import Value, cardinality, domain, tag_of
from refute.verifiers.symbolic.building import equated, fresh
from refute.verifiers.symbolic.comparing import equal
from refute.verifiers.symbolic.context import Context
from refute.verifiers.symbolic.decoding import Decoding
from refute.verifiers.symbolic.evaluating import environment, evaluate
from refute.verifiers.symbolic.folding import Bit, all_of, not_, term_of
from refute.verifiers.symbolic.forms import OpenMap, OpenSet, Outside, Row, Sym, is_known
from refute.verifiers.symbolic.remembering import free

SOLVER_MS = 1_000
ROOM = 4  # elements of sequences and sets without a bound
RAISED = "raised"
Asked = tuple[tuple[Param, ...], Expr]


@dataclasses.dataclass
class Comparison:
    """What was compared. wrong: differences, in words; outside: reasons, counted."""

    compared: int = 0
    undecided: int = 0
    wrong: list[str] = dataclasses.field(default_factory=list)
    outside: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)


def asked(ir: MachineIR, inside: bool = False) -> Iterator[Asked]:
    """Expressions of a machine, with the parameters in them. inside: their parts as well."""
    for prop in ir.properties:
        if prop.kind not in ("transition", "weak", "strong"):
            yield from _parts(prop.params, prop.predicate, inside)
    for action in ir.actions:
        for expr in _first(action):
            yield from _parts(action.params, expr, inside)


def _first(action: Action) -> Iterator[Expr]:
    """The expressions that stand before the first local."""
    for stmt in action.body:
        for name in ("condition", "source", "value"):
            found = getattr(stmt, name, None)
            if isinstance(found, Expr):
                yield found
        if type(stmt).__name__ in ("Choose", "Assign", "For", "If"):
            return


def _parts(params: tuple[Param, ...], expr: Expr, inside: bool) -> Iterator[Asked]:
    yield params, expr
    known = {p.name for p in params}
    for part in nodes(expr) if inside else ():
        names = free(part)
        own = names is not None and {n for n in names if n[:5] != "self."} <= known
        if own and part.op not in ("const", "read", "local", "item", "for"):
            yield params, part


def nodes(expr: Expr) -> Iterator[Expr]:
    """The expression and everything in it."""
    yield expr
    for part in expr.args:
        yield from nodes(part)


def drawn(kind: t.Type, source: random.Random) -> Value:
    """Any value of a type; of one without bounds a small one."""
    if cardinality(kind) <= 500:
        return source.choice(domain(kind))
    match kind:
        case t.Int():
            low = -4 if kind.lo is None else kind.lo
            return source.randint(low, 6 if kind.hi is None else min(kind.hi, low + 99))
        case t.Tuple():
            return tuple(drawn(k, source) for k in kind.items)
        case t.Rec():
            return (tag_of(kind), *(drawn(k, source) for _, k in kind.fields))
        case t.Union():
            return drawn(source.choice(kind.options), source)
        case t.MapOf():
            return tuple(drawn(kind.value, source) for _ in domain(kind.key))
        case t.BagOf(t.Tuple((elem, often))):
            few = {drawn(elem, source) for _ in range(source.randrange(4))}
            return frozenset((e, drawn(t.Int(1, getattr(often, "hi", 3)), source)) for e in few)
        case t.SetOf():
            return frozenset(drawn(kind.elem, source) for _ in range(source.randrange(ROOM)))
        case t.SeqOf():
            most = min(kind.upto or ROOM, ROOM)
            return tuple(drawn(kind.elem, source) for _ in range(source.randint(0, most)))
    raise AssertionError(kind)


def meant(
    ir: MachineIR, expr: Expr, values: Mapping[str, Value], given: Mapping[str, Value]
) -> Any:
    """What the tree walk says of an expression."""
    try:
        return Meaning(ir).value(expr, _Way(values, given))
    except Exception:
        return RAISED


def seen(sym: Sym, ctx: Context) -> Any:
    """What the evaluator says where all is known; None where it does not know."""
    if ctx.error is True:
        return RAISED
    return sym if ctx.error is False and is_known(sym) else "unknown"


def compare(ir: MachineIR, every: Sequence[Asked], seed: int, told: Comparison) -> None:
    """All expressions in one state that is drawn."""
    source = random.Random(seed)
    values = {v.name: drawn(v.type, source) for v in ir.variables}
    kinds = {v.name: v.type for v in ir.variables}
    for params, expr in every:
        given = {p.name: drawn(p.type, source) for p in params}
        want = meant(ir, expr, values, given)
        where = f"{expr.op} in {values} with {given}"
        try:
            ctx = Context()
            found = evaluate(expr, environment(values, given), ctx)
            if seen(found, ctx) != want:
                told.wrong.append(f"known: {where}: {seen(found, ctx)}, not {want}")
            _unknown(expr, (kinds, values), ({p.name: p.type for p in params}, given), want, told)
        except Outside as outside:
            told.outside[str(outside)] += 1


Fixed = tuple[Mapping[str, t.Type], Mapping[str, Value]]


def _unknown(expr: Expr, state: Fixed, given: Fixed, want: Any, told: Comparison) -> None:
    ctx, pins = Context(), []
    made: list[dict[str, Sym]] = []
    for prefix, (kinds, values) in (("", state), ("p ", given)):
        syms = {n: fresh(k, prefix + n, ctx, size=ROOM) for n, k in kinds.items()}
        pins += [equated(syms[n], values[n], k) for n, k in kinds.items()]
        made.append(syms)
    found = evaluate(expr, environment(made[0], made[1]), ctx)
    solver = _solver(ctx, [term_of(pin) for pin in pins])
    _judged(solver, Decoding, expr, found, ctx.error, want, told)


def _solver(ctx: Context, terms: Sequence[Any]) -> Any:
    solver = z3.Solver()
    solver.set("timeout", SOLVER_MS)
    solver.add(*ctx.facts, *terms)
    return solver


def _judged(
    solver: Any, decoding: Any, expr: Expr, found: Sym, error: Bit, want: Any, told: Comparison
) -> None:
    if solver.check() != z3.sat:
        told.undecided += 1
        if solver.check() == z3.unsat:
            told.wrong.append(f"{expr.op}: no model of a state")
        return
    made = decoding(solver.model(), {}) if decoding is Decoding else decoding(solver.model())
    got = RAISED if made.true(error) else made.value(found)
    told.compared += 1
    if got != want:
        told.wrong.append(f"{expr.op}: {got}, not {want}")
        return
    same = error if want == RAISED else all_of((not_(error), equal(found, made.lifted(want))))
    solver.add(term_of(not_(same)))
    other = solver.check()
    told.undecided += other == z3.unknown
    if other == z3.sat:
        told.wrong.append(f"{expr.op}: {want} is not the only value")


def compare_open(
    small: MachineIR, every: MachineIR, members: int, seed: int, told: Comparison
) -> None:
    """All expressions of a machine of any size, in one state of an instance."""
    source = random.Random(seed)
    sorts = {name for v in every.variables for name in t.open_sorts(v.type)}
    sorts |= {n for params, _ in asked(every) for p in params for n in t.open_sorts(p.type)}
    universe = {n: [z3.Const(f"{n}{i}!", z3.DeclareSort(n)) for i in range(members)] for n in sorts}
    values = {v.name: drawn(v.type, source) for v in small.variables}
    kinds = {v.name: v.type for v in every.variables}
    for (params, expr), (_, opened) in zip(asked(small), asked(every), strict=True):
        given = {p.name: drawn(p.type, source) for p in params}
        ctx = Context()
        lifted = Decoding(None, universe).lifted
        syms = {n: fresh(k, n, ctx, size=ROOM) for n, k in kinds.items()}
        try:
            env = environment(syms, {n: lifted(v) for n, v in given.items()})
            found = evaluate(opened, env, ctx)
        except Outside as outside:
            told.outside[str(outside)] += 1
            continue
        pins = [*_sized(universe, ctx)]
        pins += [_pinned(syms[v.name], values[v.name], v.type, lifted) for v in small.variables]
        want = meant(small, expr, values, given)
        solver = _solver(ctx, pins)
        _judged(solver, lambda m: Decoding(m, universe), opened, found, ctx.error, want, told)


def _sized(universe: Mapping[str, Sequence[Any]], ctx: Context) -> Iterator[Any]:
    """There are just these members, in this order."""
    for name, elements in universe.items():
        any_member = z3.Const("x", z3.DeclareSort(name))
        yield z3.ForAll([any_member], z3.Or([any_member == e for e in elements]))
        yield z3.Distinct(*elements) if len(elements) > 1 else z3.BoolVal(True)
        if ctx.is_ordered(name):
            less = ctx.before(t.Atoms(name, (), t.OPEN_ORDERED))
            yield from (less(a, b) for a, b in itertools.pairwise(elements))


def _pinned(sym: Sym, value: Value, kind: t.Type, lifted: Any) -> Any:
    """That an unknown over open Sorts has a value. kind: of the instance."""
    if isinstance(sym, OpenMap) and isinstance(kind, t.MapOf):
        pairs = zip(domain(kind.key), value, strict=True)
        parts = [_pinned(sym.read(lifted(k)), v, kind.value, lifted) for k, v in pairs]
        return z3.And(parts)
    if isinstance(sym, OpenSet) and isinstance(kind, t.SetOf):
        bits = [(sym.has(lifted(e)), e in value) for e in domain(kind.elem)]
        return z3.And([term_of(bit if there else not_(bit)) for bit, there in bits])
    if isinstance(sym, Row) and isinstance(kind, t.MapOf):
        parts = [_pinned(s, v, kind.value, lifted) for s, v in zip(sym.parts, value, strict=True)]
        return z3.And(parts)
    return term_of(equal(sym, lifted(value)))
