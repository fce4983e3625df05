"""A temporal formula as an automaton over sets of true predicates.

The tableau of Gerth, Peled, Vardi and Wolper ("Simple On-the-fly Automatic Verification of Linear
Temporal Logic", 1995), for always and eventually. A node is what must hold now (`old`) and from
the next state on (`later`). A run is accepted if for each `eventually f` that a node asks for, f
comes to hold: infinitely many nodes do not ask for it, or have f.
"""

from __future__ import annotations

from collections.abc import Iterator

from refute.frozen import frozen
from refute.specs.machine.ir import LTL, Expr

Formulas = frozenset[LTL]
DUAL = {"always": "eventually", "eventually": "always", "and": "or", "or": "and"}


@frozen
class Node:
    """must, must_not: bits of the predicates that hold, and that do not, in a state here.

    kept: bits of the promises that are not left open here.
    """

    later: Formulas
    must: int
    must_not: int
    kept: int

    def fits(self, truth: int) -> bool:
        """Whether a state in which these predicates hold can be here."""
        return truth & self.must == self.must and not truth & self.must_not


class Automaton:
    """The automaton of a formula; its nodes are made when asked for, and numbered."""

    def __init__(self, formula: LTL, predicates: tuple[Expr, ...]) -> None:
        """predicates: bit i of a truth stands for predicate i."""
        self.bits = {predicate: 1 << at for at, predicate in enumerate(predicates)}
        self.nodes: list[Node] = []
        self._numbers: dict[tuple[Formulas, Formulas], int] = {}
        self._next: dict[int, tuple[int, ...]] = {}
        normal = pushed(formula, negated=False)
        self.promises = tuple(f for f in _parts(normal) if f.op == "eventually")
        self.initial = tuple(map(self._numbered, self._covers((normal,))))

    def next(self, number: int) -> tuple[int, ...]:
        """The nodes that may follow a node."""
        if number not in self._next:
            covers = self._covers(tuple(self.nodes[number].later))
            self._next[number] = tuple(dict.fromkeys(map(self._numbered, covers)))
        return self._next[number]

    def _numbered(self, cover: tuple[Formulas, Formulas]) -> int:
        if cover not in self._numbers:
            self._numbers[cover] = len(self.nodes)
            held = [f for f in cover[0] if f.op == "holds"]
            broken = [f.args[0] for f in cover[0] if f.op == "not"]
            kept = self._kept(cover[0])
            self.nodes.append(Node(cover[1], self._bits(held), self._bits(broken), kept))
        return self._numbers[cover]

    def _bits(self, found: list[LTL]) -> int:
        return sum(self.bits[p] for p in {f.predicate for f in found} if p is not None)

    def _kept(self, old: Formulas) -> int:
        done = (f not in old or f.args[0] in old for f in self.promises)
        return sum(1 << at for at, kept in enumerate(done) if kept)

    def _covers(
        self, todo: tuple[LTL, ...], old: Formulas = frozenset(), later: Formulas = frozenset()
    ) -> Iterator[tuple[Formulas, Formulas]]:
        """Every way to meet the formulas: what holds now, and what is left for later."""
        if not todo:
            yield old, later
            return
        first, *rest = todo
        if first in old:
            yield from self._covers(tuple(rest), old, later)
            return
        if first.op in ("holds", "not") and pushed(first, negated=True) in old:
            return
        now = old | {first}
        match first.op:
            case "and":
                yield from self._covers((*first.args, *rest), now, later)
            case "or":
                for part in first.args:
                    yield from self._covers((part, *rest), now, later)
            case "always":
                yield from self._covers((first.args[0], *rest), now, later | {first})
            case "eventually":
                yield from self._covers((first.args[0], *rest), now, later)
                yield from self._covers(tuple(rest), now, later | {first})
            case _:
                yield from self._covers(tuple(rest), now, later)


def pushed(formula: LTL, negated: bool) -> LTL:
    """The formula, or its negation, with "not" only right before predicates."""
    if formula.op == "not":
        return pushed(formula.args[0], not negated)
    if formula.op == "holds":
        return LTL("not", (formula,)) if negated else formula
    op = DUAL[formula.op] if negated else formula.op
    return LTL(op, tuple(pushed(part, negated) for part in formula.args))


def _parts(formula: LTL) -> list[LTL]:
    inner = [part for arg in formula.args for part in _parts(arg)]
    return list(dict.fromkeys([formula, *inner]))
