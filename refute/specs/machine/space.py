"""The state space asked from Python: the states, what can happen in one, what led there.

By the tree walk of the IR, which is slow and plain; searches are for the engines.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from refute.errors import UsageError
from refute.specs.machine.ir import Action, MachineIR, Process, Property
from refute.specs.machine.listing import require_listed
from refute.specs.machine.meaning import Meaning, Taken, World
from refute.specs.machine.naming import step_text
from refute.specs.machine.resolve import Resolver
from refute.specs.machine.values import Value, text


@dataclasses.dataclass(frozen=True)
class State:
    """A state: variables by name (`state["phase"]`), and the text a trace would show."""

    world: World
    _space: Space = dataclasses.field(compare=False, repr=False)

    def __getitem__(self, name: str) -> Any:
        """The value of a variable, as the machine's own code sees it. Raises KeyError.

        `left.heard` of a part; of several, `hosts.heard` is a Map.
        """
        names = [v.name.replace("[]", "") for v in self._space.ir.variables]
        if name not in names or "@" in name:
            raise KeyError(name)
        at = names.index(name)
        return self._space.resolver.thaw(
            self.world.variables[at], self._space.ir.variables[at].type
        )

    def __str__(self) -> str:
        pairs = zip(self._space.ir.variables, self.world.variables, strict=True)
        return ", ".join(f"{v.name} = {text(x, v.type)}" for v, x in pairs if not v.hidden)

    def holds(self, name: str) -> bool:
        """Whether an @invariant, @reachable, @terminal or @constraint holds here."""
        return self._space.meaning.holds(self._space.property(name), self.world)


@dataclasses.dataclass(frozen=True)
class Enabled:
    """A step that a state offers: its name, parameters and choices, and the state after it."""

    name: str
    params: tuple[Any, ...]
    choices: tuple[Value, ...]
    after: State
    mover: Action | Process = dataclasses.field(compare=False, repr=False)

    def __str__(self) -> str:
        return step_text(self.mover, [str(value) for value in self.params])


class Space:
    """The reachable states of a machine within its constraints, and the steps between them.

    Asking for `states` or `predecessors` walks through all of them once. What a step or predicate
    raises is raised here too.
    """

    def __init__(self, ir: MachineIR, resolver: Resolver) -> None:
        self.ir = ir
        self.resolver = resolver
        self.meaning = Meaning(ir)
        movers: tuple[Action | Process, ...] = (*ir.actions, *ir.processes)
        require_listed(ir)
        self._movers = {mover.name: mover for mover in movers}
        self._before: dict[World, list[tuple[World, Taken]]] | None = None

    def initial(self) -> list[State]:
        """The initial states."""
        return [self._state(world) for world in self.meaning.starts()]

    def states(self) -> list[State]:
        """Every reachable state, nearest to a start first."""
        return [self._state(world) for world in self._walked()]

    def enabled(self, state: State) -> list[Enabled]:
        """Every step that the state offers."""
        return [self._enabled(taken) for taken in self.meaning.steps(state.world)]

    def predecessors(self, state: State) -> list[tuple[State, Enabled]]:
        """Every reachable state with a step to this one, and that step."""
        found = self._walked().get(state.world, [])
        return [(self._state(world), self._enabled(taken)) for world, taken in found]

    def property(self, name: str) -> Property:
        """A predicate of states by name. Raises UsageError."""
        kinds = ("invariant", "reachable", "terminal", "constraint")
        known = {p.name: p for kind in kinds for p in self.ir.of_kind(kind)}
        if name not in known:
            raise UsageError(
                f"{self.ir.name} has no predicate {name!r} of a state",
                thing=name,
                possible=tuple(known),
                next_step="name one of them",
            )
        return known[name]

    def _walked(self) -> dict[World, list[tuple[World, Taken]]]:
        if self._before is None:
            found: dict[World, list[tuple[World, Taken]]] = {
                world: [] for world in self.meaning.starts() if self._inside(world)
            }
            queue = list(found)
            for world in queue:
                for taken in self.meaning.steps(world):
                    if taken.after not in found and self._inside(taken.after):
                        found[taken.after] = []
                        queue.append(taken.after)
                    if taken.after in found:
                        found[taken.after].append((world, taken))
            self._before = found
        return self._before

    def _inside(self, world: World) -> bool:
        return all(self.meaning.holds(p, world) for p in self.ir.of_kind("constraint"))

    def _state(self, world: World) -> State:
        return State(world, self)

    def _enabled(self, taken: Taken) -> Enabled:
        mover = self._movers[taken.name]
        pairs = zip(taken.params, mover.params, strict=True)
        live = tuple(self.resolver.thaw(v, p.type) for v, p in pairs)
        return Enabled(taken.name, live, taken.choices, self._state(taken.after), mover)
