"""A whole machine as formulas: its starts, its steps and its properties.

The state after a step is a substitution, the values that the step computes from those before, so
that nothing has to be said of what does not change.
"""

from __future__ import annotations

from collections.abc import Sequence

from refute.plain import Plain
from refute.specs.machine import types as t
from refute.specs.machine.ir import Action, Expr, MachineIR, Param, Property
from refute.specs.machine.values import unpack_value
from refute.verifiers.symbolic.building import fresh
from refute.verifiers.symbolic.comparing import equal
from refute.verifiers.symbolic.context import Context
from refute.verifiers.symbolic.evaluating import environment, evaluate
from refute.verifiers.symbolic.executing import Execution, Way
from refute.verifiers.symbolic.flattening import flattened
from refute.verifiers.symbolic.folding import Bit, Term, all_of, and_, any_of, not_
from refute.verifiers.symbolic.forms import Outside, Sym, truth
from refute.verifiers.symbolic.quantifying import for_all
from refute.verifiers.symbolic.rewriting import sorts_of
from refute.verifiers.symbolic.world import Judged, Step, World, both


class Encoding:
    """One machine, its processes as actions. Whatever it is asked for may raise Outside."""

    def __init__(self, ir: MachineIR) -> None:
        made = flattened(ir)
        self.ir = ir
        self.parts = made
        self.flat = made.ir
        self.ended = made.returned
        self.kinds = {v.name: v.type for v in self.flat.variables}
        self.axioms = self._axioms()

    def _axioms(self) -> tuple[Term, ...]:
        """What holds of the order of each OrderedSort of any size, in whatever state."""
        context = Context()
        for kind in sorts_of(self.flat).values():
            if kind.kind == t.OPEN_ORDERED:
                context.before(kind)
                if _mentions(self.flat.to_plain(), "successor"):
                    context.after(kind)
        return tuple(context.facts)

    def arbitrary(self, name: str) -> World:
        """Any state at all, of the variables' types."""
        context = Context()
        values = {v: fresh(kind, f"{name}.{v}", context) for v, kind in self.kinds.items()}
        return World(values, (*self.axioms, *context.facts))

    def start(self, name: str) -> World:
        """Any initial state, as the facts say; what has one initial value is known.

        Where an `@initial` predicate raises is not among them.
        """
        world = self.candidate(name)
        judged = self.initial(world)
        context = Context()
        context.facts += judged.facts
        context.assume(judged.holds)
        return World(world.values, (*world.facts, *context.facts))

    def candidate(self, name: str) -> World:
        """Any state that `@initial` predicates are asked about, and more; see `initial`."""
        context, values = Context(), {}
        for variable in self.flat.variables:
            if variable.start is None and len(variable.initial) == 1:
                values[variable.name] = unpack_value(variable.initial[0])
            else:
                label = f"{name}.{variable.name}"
                values[variable.name] = fresh(variable.type, label, context)
        return World(values, (*self.axioms, *context.facts))

    def initial(self, world: World) -> Judged:
        """Whether the state is an initial one; a predicate is asked where those before hold."""
        context, begins = Context(), []
        for variable in self.flat.variables:
            value = world.values[variable.name]
            if variable.start is not None:
                begins.append(truth(evaluate(variable.start, environment(world.values), context)))
            else:
                begins.append(any_of(equal(value, unpack_value(v)) for v in variable.initial))
        inside, facts = all_of(begins), list(context.facts)
        raised: list[Bit] = [context.error]
        for prop in self.flat.of_kind("initial"):
            judged = self.holds(prop, world)
            raised.append(and_(inside, judged.error))
            inside = and_(inside, judged.holds)
            facts += judged.facts
        return Judged(inside, any_of(raised), tuple(facts))

    def steps(self, world: World, name: str) -> list[Step]:
        """The steps of every action and process, in the order of the machine."""
        return [self.step(action, world, f"{name}.{action.name}") for action in self.flat.actions]

    def step(self, action: Action, world: World, name: str) -> Step:
        """The steps of one action, for all of its parameters and choices."""
        execution = Execution(action, self.kinds, world.facts, name)
        params = tuple(execution.unknown(p.type, p.name) for p in action.params)
        given = dict(zip((p.name for p in action.params), params, strict=True))
        way = execution.run(Way(True, dict(world.values), given))
        error = execution.context.error
        enabled = False if way is None else and_(way.condition, not_(error))
        after = world.values if way is None else way.variables
        facts = tuple(execution.context.facts)
        unknowns = tuple(execution.unknowns)
        choices = tuple(execution.choices)
        return Step(action.name, params, choices, enabled, error, World(after), facts, unknowns)

    def holds(self, prop: Property, world: World, after: World | None = None) -> Judged:
        """Whether a property holds for all values of its parameters; `after`: of a step."""
        return self.judged(prop.predicate, prop.params, world, after)

    def judged(
        self,
        predicate: Expr,
        params: Sequence[Param],
        world: World,
        after: World | None = None,
    ) -> Judged:
        """Whether a predicate is true for all values of its parameters."""
        context = Context()
        env = environment(world.values, None, None if after is None else after.values)

        def one(values: list[Sym]) -> Bit:
            bound = dict(zip((p.name for p in params), values, strict=True))
            return truth(evaluate(predicate, {**env, **bound}, context))

        true = for_all(params, one, context) if params else one([])
        return Judged(true, context.error, tuple(context.facts))

    def admitted(self, world: World) -> Judged:
        """Whether every constraint holds."""
        return both(tuple(self.holds(p, world) for p in self.flat.of_kind("constraint")))

    def terminal(self, world: World) -> Judged:
        """Whether the machine may stop there: all processes returned, or a `@terminal` holds."""
        found = [self.holds(p, world) for p in self.flat.of_kind("terminal")]
        if self.ended is not None:
            found.append(self.judged(self.ended, (), world))
        true = any_of(and_(j.true, not_(j.error)) for j in found)
        error = any_of(j.error for j in found)
        return Judged(true, error, tuple(fact for j in found for fact in j.facts))

    def equated(self, left: World, right: World) -> Bit:
        """Whether two states are equal."""
        return all_of(equal(left.values[n], right.values[n]) for n in self.kinds)

    def action(self, name: str) -> Action:
        """The action, or process, of this name."""
        found = [a for a in self.flat.actions if a.name == name]
        if not found:
            raise Outside(f"no action {name}")
        return found[0]


def _mentions(data: Plain, op: str) -> bool:
    """Whether an expression with this operation is anywhere in a machine's data."""
    if isinstance(data, dict):
        is_it = data["is"] == "Expr" and data["of"][0] == op
        return is_it or any(_mentions(part, op) for part in data["of"])
    return isinstance(data, list | tuple) and any(_mentions(part, op) for part in data)
