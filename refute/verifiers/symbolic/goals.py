"""What is looked for at the end of a path: that a property breaks there, or is shown.

Explicit search judges a state when it meets it, and a step when it takes it; a goal is the same as
a formula about the last state of a path, the last step that led to it, or a step from it. A
predicate that raises is not false: it breaks `well_defined`, and nothing else.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import z3

from refute.frozen import frozen
from refute.specs.machine.commuting import may_raise
from refute.specs.machine.ir import CRASH, Expr, MachineIR, Property, Refinement
from refute.specs.machine.statement import ALL_FIRE, DEADLOCK_FREE, WELL_DEFINED
from refute.specs.machine.values import unpack_value
from refute.verifiers.model.guarded import guarded
from refute.verifiers.symbolic.comparing import equal
from refute.verifiers.symbolic.enabling import moves
from refute.verifiers.symbolic.folding import Bit, Term, and_, any_of, implies, not_
from refute.verifiers.symbolic.forms import Outside
from refute.verifiers.symbolic.refining import Refining
from refute.verifiers.symbolic.solving import Queries
from refute.verifiers.symbolic.unrolling import Path, apart
from refute.verifiers.symbolic.world import Judged, Step

FIRES = "fires:"  # how the name of a goal begins that is a step's
JUDGED = ("invariant", "reachable", "terminal", "constraint")  # kinds of predicates of one state


@frozen
class Goal:
    """found: the formula. why: what a trace that ends so shows. facts: to be asserted with it.

    predicate: for `well_defined`, the property that raises. further: the step from the last state
    that belongs to the trace.
    """

    name: str
    found: Bit
    why: str
    facts: tuple[Term, ...] = ()
    predicate: str = ""
    further: Step | None = None


Making = Callable[[Path], Iterable[Goal]]


def switched(goals: Sequence[Goal], queries: Queries) -> tuple[Bit, list[Goal]]:
    """Whether any of the goals is met, as something to assume, and what a model says of each.

    What a model says of a formula with quantifiers is hard to tell, so each goal gets a name that
    implies it, and is what the goals that come back are about.
    """
    named = []
    for goal in goals:
        queries.add(*goal.facts)
        name = goal.found
        if name is not True and name is not False:
            name = z3.FreshBool(goal.name)
            queries.add(implies(name, goal.found))
        named.append(dataclasses.replace(goal, found=name))
    some = any_of(goal.found for goal in named)
    if some is False:
        return False, named
    wanted = z3.FreshBool("wanted")
    queries.add(implies(wanted, some))
    return wanted, named


class Goals:
    """The goals of some claims about one machine; props: names of properties.

    outside: those that are not judged by formulas, with the reason. limited: those that formulas
    may refute and not prove.
    """

    def __init__(self, ir: MachineIR, props: Iterable[str]) -> None:
        self.ir = ir
        self.outside: dict[str, str] = {}
        self.limited: dict[str, str] = {}
        self._asked = guarded(ir).properties  # all that explicit search evaluates
        self._making: dict[str, Making] = {}
        for prop in props:
            self._making |= self._makers(prop)

    @property
    def names(self) -> tuple[str, ...]:
        """All goals, in the order of the claims."""
        return tuple(self._making)

    def at(self, path: Path, wanted: Iterable[str]) -> list[Goal]:
        """The goals with these names at the end of a path; one that is outside is given up."""
        found: list[Goal] = []
        for name in wanted:
            if name in self.outside:
                continue
            try:
                found += self._making[name](path)
            except Outside as reason:
                self.outside[name] = str(reason)
        return [goal for goal in found if goal.found is not False]

    def _makers(self, prop: str) -> dict[str, Making]:
        known: dict[str, Property] = {p.name: p for p in self.ir.properties}
        if prop == DEADLOCK_FREE:
            return {prop: self._stuck}
        if prop == WELL_DEFINED:
            return {prop: self._raising}
        if prop == ALL_FIRE:
            names = [*(a.name for a in self.ir.actions), *(p.name for p in self.ir.processes)]
            return {FIRES + name: self._firing(name) for name in names}
        for refinement in self.ir.refinements:
            if prop == refinement.name:
                return self._refining(refinement)
        if prop in known:
            return {prop: self._judging(known[prop])}
        self.outside[prop] = "what happens for ever is judged by explicit search alone"
        return {}

    def _refining(self, refinement: Refinement) -> dict[str, Making]:
        name, above = refinement.name, refinement.abstract.name
        try:
            refining = Refining(refinement)
        except Outside as reason:
            self.outside[name] = str(reason)
            return {}
        if refining.fair:
            self.limited[name] = f"whether it is as fair as {above} is judged by explicit search"
        return {name: lambda path: [Goal(name, *refining.departs(path))]}

    def _judging(self, prop: Property) -> Making:
        ways: Mapping[str, Callable[[Path, Property], Iterator[Goal]]] = {
            "invariant": self._false,
            "reachable": self._shown,
            "transition": self._wrong,
            "observe": self._observed,
        }
        return lambda path: ways[prop.kind](path, prop)

    def _false(self, path: Path, prop: Property) -> Iterator[Goal]:
        judged = path.encoding.holds(prop, path.last)
        yield Goal(prop.name, _false(judged), f"{prop.name} is False", judged.facts)

    def _shown(self, path: Path, prop: Property) -> Iterator[Goal]:
        judged, inside = path.encoding.holds(prop, path.last), path.encoding.admitted(path.last)
        found = and_(judged.holds, inside.holds)
        yield Goal(prop.name, found, "it holds here", (*judged.facts, *inside.facts))

    def _wrong(self, path: Path, prop: Property) -> Iterator[Goal]:
        if not path.moves:
            return
        before = path.worlds[-2]
        judged = path.encoding.holds(prop, before, path.last)
        found = and_(_false(judged), apart(path.encoding, before, path.last))
        yield Goal(prop.name, found, f"{prop.name} is False", judged.facts)

    def _observed(self, path: Path, prop: Property) -> Iterator[Goal]:
        if not path.moves:
            return
        judged = path.encoding.holds(prop, path.last)
        found = and_(_false(judged), _crashed(path, prop))
        yield Goal(prop.name, found, f"{prop.name} is False", judged.facts)

    def _stuck(self, path: Path) -> Iterator[Goal]:
        encoding, world = path.encoding, path.last
        inside, ends = encoding.admitted(world), encoding.terminal(world)
        still = not_(self._moving(path))
        found = and_(inside.holds, still, not_(ends.true), not_(ends.error))
        yield Goal(DEADLOCK_FREE, found, "no step is enabled", (*inside.facts, *ends.facts))

    def _raising(self, path: Path) -> Iterator[Goal]:
        """A step from the last state that raises, or a predicate that raises in it."""
        inside = path.encoding.admitted(path.last)
        for step in path.steps():
            found = and_(inside.holds, step.error)
            yield Goal(WELL_DEFINED, found, "raises", inside.facts, "", step)
        for prop in self._asked:
            try:
                judged = self._judged(path, prop)
            except Outside:
                if _may_raise(prop.predicate):
                    raise
                continue  # when it holds cannot be said; it never raises
            if judged is not None:
                why = f"{prop.name} raises"
                yield Goal(WELL_DEFINED, judged.error, why, judged.facts, prop.name)

    def _judged(self, path: Path, prop: Property) -> Judged | None:
        """What a predicate says where explicit search asks it."""
        if prop.kind in JUDGED:
            judged = path.encoding.holds(prop, path.last)
            if judged.error is False:
                return judged
            return judged._replace(error=and_(judged.error, self._asks(path, prop.kind)))
        if not path.moves or prop.kind not in ("transition", "observe"):
            return None
        before = path.worlds[-2]
        if prop.kind == "observe":
            judged, asked = path.encoding.holds(prop, path.last), _crashed(path, prop)
        else:
            judged = path.encoding.holds(prop, before, path.last)
            asked = apart(path.encoding, before, path.last)
        return judged._replace(error=and_(judged.error, asked))

    def _asks(self, path: Path, kind: str) -> Bit:
        """Whether explicit search asks predicates of this kind in the last state of a path."""
        inside = path.encoding.admitted(path.last).holds
        if kind == "terminal":
            return and_(inside, not_(self._moving(path)))
        return inside if kind == "reachable" else True

    def _moving(self, path: Path) -> Bit:
        """Whether some step can be taken from the last state, or raises."""
        actions = path.encoding.flat.actions
        return any_of(moves(path.encoding, action, path.last) for action in actions)

    def _firing(self, name: str) -> Making:
        def made(path: Path) -> Iterator[Goal]:
            inside = path.encoding.admitted(path.last)
            for step in path.steps():
                if step.name == name:
                    found = and_(inside.holds, step.enabled)
                    yield Goal(FIRES + name, found, "it takes a step", inside.facts, "", step)

        return made


def _may_raise(predicate: Expr) -> bool:
    """Whether evaluating it may raise, be it that it does not end."""
    return may_raise(predicate, {}) or _repeats(predicate)


def _repeats(expr: Expr) -> bool:
    return expr.op in ("rec", "loop") or any(map(_repeats, expr.args))


def _false(judged: Judged) -> Bit:
    return and_(not_(judged.true), not_(judged.error))


def _crashed(path: Path, prop: Property) -> Bit:
    """Whether the last step of a path is the crash that an `@observe` is of."""
    move, keys = path.moves[-1], [unpack_value(key.data) for key in prop.keys]
    ways = []
    for step, bit in zip(move.steps, move.taken, strict=True):
        if step.name == (prop.crash or CRASH):
            pairs = zip(keys, step.params, strict=False)
            ways.append(and_(bit, *(equal(key, param) for key, param in pairs)))
    return any_of(ways)
