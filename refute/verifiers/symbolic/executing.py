"""Statements executed for all states at once: what the tree walk does for one, with conditions.

A `Way` is what all paths that have come to one place have in common: the condition of being there,
and the values of variables and locals, merged where paths meet. A path that a false `when` or an
error ends is no longer part of any way, so what its values are does not matter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import z3

from refute.specs.machine import types as t
from refute.specs.machine.ir import (
    Action,
    Assign,
    Check,
    Choose,
    Expr,
    For,
    If,
    Leave,
    Stmt,
    When,
    Write,
)
from refute.verifiers.symbolic.building import fresh
from refute.verifiers.symbolic.choosing import chosen
from refute.verifiers.symbolic.comparing import fits
from refute.verifiers.symbolic.containers import items, written
from refute.verifiers.symbolic.context import Context
from refute.verifiers.symbolic.evaluating import environment, evaluate
from refute.verifiers.symbolic.folding import Bit, and_, not_, or_, term_of
from refute.verifiers.symbolic.forms import Outside, Sym, truth
from refute.verifiers.symbolic.merging import merge
from refute.verifiers.symbolic.pointwise import assigned, pointwise
from refute.verifiers.symbolic.rewriting import free_params
from refute.verifiers.symbolic.world import Chosen

MOST_ROUNDS = 512  # of one loop that are written out
LONG = 16  # rounds after which it is asked whether there can be more
ASK_MS = 1_000


class Way(NamedTuple):
    """Paths at one place: the condition of being there, variables and locals by name."""

    condition: Bit
    variables: Mapping[str, Sym]
    locals: Mapping[str, Sym]

    def narrowed(self, test: Bit) -> Way | None:
        """The paths where the test is true; None where none is."""
        condition = and_(self.condition, test)
        return None if condition is False else self._replace(condition=condition)

    def binding(self, name: str, value: Sym) -> Way:
        """The way with a value for a local."""
        return self._replace(locals={**self.locals, name: value})


class Ends(NamedTuple):
    """How a body ends: by its end, or by a word; None where no path does."""

    here: Way | None
    left: Mapping[str, Way]


_Pair = tuple[Way | None, Way | None]


class Execution:
    """The body of one action. kinds: types of the variables; facts: what is known before it."""

    def __init__(
        self, action: Action, kinds: Mapping[str, t.Type], facts: Sequence[Bit], label: str
    ) -> None:
        """label: what the names of unknowns begin with."""
        self.action = action
        self.kinds = kinds
        self.facts = facts
        self.label = label
        self.context = Context()
        self.choices: list[Chosen] = []
        self.unknowns: list[tuple[Sym, t.Type]] = []

    def run(self, way: Way) -> Way | None:
        """Where the body ends; None if no path does. Raises Outside."""
        ends = self._body(self.action.body, way)
        done = ends.left.get("return")
        return ends.here if done is None else self._met(ends.here, done)

    def _body(self, body: Sequence[Stmt], way: Way | None) -> Ends:
        ended: list[Ends] = []
        for stmt in body:
            if way is None:
                break
            ended.append(self._statement(stmt, way))
            way = ended[-1].here
        return Ends(way, self._words(ended))

    def _statement(self, stmt: Stmt, way: Way) -> Ends:
        match stmt:
            case When():
                return Ends(way.narrowed(self.test(stmt.condition, way)), {})
            case Check():
                test = self.test(stmt.condition, way)
                self._fail(way, not_(test))
                return Ends(way.narrowed(test), {})
            case Choose():
                return Ends(self._choose(stmt, way), {})
            case Assign():
                return Ends(way.binding(stmt.name, self.value(stmt.value, way)), {})
            case Write():
                return Ends(self._written(stmt, way), {})
            case If():
                return self._branches(stmt, way)
            case For():
                return self._loop(stmt, way)
            case Leave():
                return Ends(None, {stmt.word: way})
        raise Outside(f"line {stmt.line}: {type(stmt).__name__}")

    def _fail(self, way: Way, bit: Bit) -> None:
        with self.context.under(way.condition):
            self.context.fail(bit)

    def value(self, expr: Expr, way: Way) -> Sym:
        """The value of an expression where the way is. Raises Outside."""
        gone = [p.name for p in free_params(expr) if p.name not in way.locals]
        if gone:
            name = gone[0].split(".")[0]
            raise Outside(f"{name} after a loop over a Sort of any size gave it values")
        with self.context.under(way.condition):
            return evaluate(expr, environment(way.variables, way.locals), self.context)

    def test(self, expr: Expr, way: Way) -> Bit:
        """A condition where the way is. Raises Outside."""
        return truth(self.value(expr, way))

    def _written(self, stmt: Write, way: Way) -> Way | None:
        value = self.value(stmt.value, way)
        keys = [self.value(key, way) for key in stmt.path]
        inside = True if t.included(stmt.value.type, stmt.target) else fits(value, stmt.target)
        self._fail(way, not_(inside))
        narrowed = way.narrowed(inside)
        if narrowed is None:
            return None
        with self.context.under(narrowed.condition):
            old, kind = way.variables[stmt.var], self.kinds[stmt.var]
            new = written(old, kind, keys, value, self.context)
        return narrowed._replace(variables={**way.variables, stmt.var: new})

    def _choose(self, stmt: Choose, way: Way) -> Way | None:
        found = chosen(self, stmt.source, stmt.name, way)
        if found is None:
            return None
        value, inside = found
        quiet = not_(self.context.error)  # nothing is chosen where the source itself raises
        self.choices.append(Chosen(and_(inside.condition, quiet), value, stmt.type))
        return inside._replace(locals={**way.locals, stmt.name: value})

    def unknown(self, kind: t.Type, name: str) -> Sym:
        """Some value of a type. Raises Outside."""
        value = fresh(kind, f"{self.label}.{name}", self.context)
        self.unknowns.append((value, kind))
        return value

    def _branches(self, stmt: If, way: Way) -> Ends:
        test = self.test(stmt.condition, way)
        if test is True or test is False:
            return self._body(stmt.then if test else stmt.orelse, way)
        sides = way.narrowed(test), way.narrowed(not_(test))
        ends = self._body(stmt.then, sides[0]), self._body(stmt.orelse, sides[1])
        here = self._parted(test, way, sides, (ends[0].here, ends[1].here))
        return Ends(here, self._words(ends))

    def _parted(self, test: Bit, way: Way, sides: _Pair, ends: _Pair) -> Way | None:
        """Two ways that part at a test, where they meet again: as they began and as they end."""
        then, orelse = ends
        if then is None or orelse is None:
            return orelse if then is None else then
        whole = all(
            a is not None and b is not None and a.condition is b.condition
            for a, b in zip(sides, ends, strict=True)
        )
        condition = way.condition if whole else or_(then.condition, orelse.condition)
        return self._merged(condition, test, then, orelse)

    def _words(self, every: Sequence[Ends]) -> dict[str, Way]:
        """The ways that ended by words, those with the same word where they meet."""
        left: dict[str, Way] = {}
        for ends in every:
            for word, way in ends.left.items():
                left[word] = self._met(left.get(word), way)
        return left

    def _met(self, one: Way | None, other: Way) -> Way:
        """Two ways of which one at most is taken, where they meet."""
        if one is None:
            return other
        condition = or_(one.condition, other.condition)
        return self._merged(condition, other.condition, other, one)

    def _merged(self, condition: Bit, test: Bit, then: Way, orelse: Way) -> Way:
        """One way with the values of the first where the test is true, else of the other."""
        variables = _values(test, then.variables, orelse.variables)
        kept = _values(test, then.locals, orelse.locals)
        return Way(condition, variables, kept)

    def _loop(self, stmt: For, way: Way) -> Ends:
        try:
            source = self.value(stmt.source, way)
            with self.context.under(way.condition):
                rounds = items(source, stmt.source.type, self.context)
        except Outside:
            return self._at_once(stmt, way)
        here: Way | None = way
        ended: list[Ends] = []
        for number, (guard, item) in enumerate(rounds):
            if number >= LONG and self._is_over(stmt, here, number):
                here = None
            if here is None:
                break
            sides = here.narrowed(guard), here.narrowed(not_(guard))
            begun = None if sides[0] is None else sides[0].binding(stmt.name, item)
            ends = self._body(stmt.body, begun)
            again = ends.left.get("continue")
            done = ends.here if again is None else self._met(ends.here, again)
            ended.append(ends)
            here = self._parted(guard, here, sides, (done, sides[1]))
        left = self._words(ended)
        left.pop("continue", None)
        broken = left.pop("break", None)
        return Ends(here if broken is None else self._met(here, broken), left)

    def _is_over(self, stmt: For, way: Way | None, number: int) -> bool:
        """Whether a loop has no further round; asked now and then, as it costs. Raises Outside."""
        if way is None or number & (number - 1):
            return False
        if number >= MOST_ROUNDS:
            raise Outside(f"line {stmt.line}: a loop of more than {MOST_ROUNDS} rounds in one step")
        solver = z3.Solver()
        solver.set("timeout", ASK_MS)
        solver.add(*self.facts, *self.context.facts, term_of(way.condition))
        return bool(solver.check() == z3.unsat)

    def _at_once(self, stmt: For, way: Way) -> Ends:
        """A loop over a Sort of any size, whose rounds do not depend on each other."""
        ends = self._body(pointwise(stmt, self.kinds), way)
        if ends.here is None:
            return ends
        gone = assigned(stmt.body)
        kept = {n: v for n, v in ends.here.locals.items() if n not in gone}
        return Ends(ends.here._replace(locals=kept), ends.left)


def _values(test: Bit, then: Mapping[str, Sym], orelse: Mapping[str, Sym]) -> dict[str, Sym]:
    made: dict[str, Sym] = {}
    for name in {**orelse, **then}:
        if name not in then or name not in orelse:
            made[name] = then[name] if name in then else orelse[name]
        elif then[name] is orelse[name]:
            made[name] = then[name]
        else:
            made[name] = merge(test, then[name], orelse[name])
    return made
