"""Which Sorts choose members of which: where that goes round, Z3 may look for ever.

A lemma "for all nodes there is a node" makes Z3 choose a node for every node, and again for that
one. As long as no chain of choices, and of functions from one Sort to another, comes back to where
it began, the formulas have finite models only to look at (the decidable fragment of Ivy, and
Ge and de Moura, "Complete instantiation for quantified formulas in SMT", CAV 2009).
"""

from __future__ import annotations

from collections.abc import Iterable

from refute.specs.machine import types as t
from refute.specs.machine.ir import Expr, MachineIR
from refute.verifiers.symbolic.clauses import Clause
from refute.verifiers.symbolic.rewriting import atoms_in, is_sort

Edges = frozenset[tuple[str, str]]


def chosen_by(clause: Clause) -> Edges:
    """Pairs of Sorts: for every member of the first, the clause says that there is one of the
    second."""
    return _edges(clause.predicate, True, _sorts(p.type for p in clause.params))


def functions_of(ir: MachineIR) -> Edges:
    """Pairs of Sorts between which the machine's own maps are functions."""
    found = set()
    for variable in ir.variables:
        kind, keys = variable.type, frozenset[str]()
        while isinstance(kind, t.MapOf):
            keys |= _sorts((kind.key,))
            kind = kind.value
        if not isinstance(kind, t.SetOf | t.SeqOf):
            found |= {(key, value) for key in keys for value in _sorts((kind,))}
    return frozenset(found)


def goes_round(edges: Edges) -> bool:
    """Whether some chain of the pairs comes back to where it began."""
    left = set(edges)
    while left:
        ends = {b for _, b in left} - {a for a, _ in left}
        fewer = {(a, b) for a, b in left if b not in ends}
        if len(fewer) == len(left):
            return True
        left = fewer
    return False


def _sorts(kinds: Iterable[t.Type]) -> frozenset[str]:
    return frozenset(a.name for kind in kinds for a in atoms_in(kind) if is_sort(a))


def _edges(expr: Expr, positive: bool, outer: frozenset[str]) -> Edges:
    """The pairs of an expression. outer: Sorts of variables that "for all" binds around it."""
    match expr.op:
        case "not":
            return _edges(expr.args[0], not positive, outer)
        case "and" | "or":
            return _all(_edges(a, positive, outer) for a in expr.args)
        case "if":
            test, *ways = expr.args
            both = (_edges(test, sign, outer) for sign in (True, False))
            return _all((*both, *(_edges(w, positive, outer) for w in ways)))
        case "any" | "all":
            return _chained(expr.args[0], (expr.op == "any") == positive, positive, outer)
        case "==" | "!=" if expr.args[0].type == t.Bool():
            return _all(_edges(a, s, outer) for a in expr.args for s in (True, False))
    return frozenset()


def _chained(chain: Expr, exists: bool, positive: bool, outer: frozenset[str]) -> Edges:
    found = frozenset[tuple[str, str]]()
    while chain.op in ("for", "if"):
        head, inner = chain.args
        if chain.op == "if":
            found |= _edges(head, exists, outer)
        else:
            elem = head.type.elem if isinstance(head.type, t.SetOf | t.SeqOf) else head.type
            bound = _sorts((elem.key if isinstance(elem, t.MapOf) else elem,))
            if exists:
                found |= {(a, b) for a in outer for b in bound}
            else:
                outer |= bound
        chain = inner
    return found | _edges(chain.args[0], positive, outer)


def _all(found: Iterable[Edges]) -> Edges:
    return frozenset[tuple[str, str]]().union(*found)
