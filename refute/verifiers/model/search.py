"""Breadth-first search of all reachable states, one search for all properties of a machine.

Breadth first makes the first counterexample found a shortest one. Counts follow TLC: initial
states and every successor count as generated; a successor outside the constraint is generated and
checked, but neither distinct nor expanded; depth counts states, the initial ones are depth 1.

The search runs in a worker, a slice at a time, so that its owner can show progress and stop it.
Where there are many starting values they are a part of that: other engines begin sooner with them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from refute.frozen import frozen
from refute.plain import Plain
from refute.specs.machine.commuting import may_raise
from refute.specs.machine.ir import MachineIR
from refute.specs.machine.naming import silent_steps
from refute.specs.machine.statement import ALL_FIRE, DEADLOCK_FREE, WELL_DEFINED
from refute.verifiers.model.compiled import (
    Compiled,
    Instance,
    Predicate,
    State,
    StepRaised,
    expand,
)
from refute.verifiers.model.growing import grown
from refute.verifiers.model.observing import observing
from refute.verifiers.model.trace import Trace, covering, trace_of

Link = tuple[int, int, tuple[Any, ...]]  # parent's number, instance's number, choices

START: Link = (-1, -1, ())
AT_ONCE = 1_000  # starting values that are looked at before the first slice


@frozen
class Hit:
    """Where a property was decided: the links from a start, and what was seen there.

    predicate: for `well_defined`, the property that raises; empty when the last step does.
    """

    links: tuple[Link, ...]
    start: State
    why: str
    predicate: str = ""


class Search:
    """The search of one machine. Subclasses in tests lie; the harness must notice."""

    def __init__(self, ir: MachineIR) -> None:
        self.ir = ir
        self.machine = Compiled(ir)
        self.numbers: dict[State, int] = {}
        self.states: list[State] = []
        self.links: list[Link] = []
        self.outside: set[State] = set()
        self.generated = 0
        self.depth = 0
        self.level_end = 0
        self.at = 0
        self.raised = 0
        self.hits: dict[str, Hit] = {}
        self.fired: dict[str, Hit] = {}
        self.finished = False
        self.full = False
        by_kind = {k: self._kind(k) for k in ("invariant", "transition", "reachable", "terminal")}
        self.invariants, self.transitions = by_kind["invariant"], by_kind["transition"]
        self.reachables, self.terminals = by_kind["reachable"], by_kind["terminal"]
        self.constraints = self._kind("constraint")
        self._risky = frozenset(p.name for p in ir.properties if may_raise(p.predicate, {}))
        self.observed = observing(self.machine)
        self.started = False  # all starting values were looked at
        self._starts = self.machine.initial_states()
        self._filters = self._kind("initial")
        self._start(AT_ONCE)

    def _kind(self, kind: str) -> tuple[Predicate, ...]:
        return tuple(p for p in self.machine.predicates if p.property.kind == kind)

    def _start(self, most: int) -> None:
        """Look at so many more starting values. The search begins with the first after the last."""
        for _ in range(most):
            state = next(self._starts, None)
            if state is None:
                self.started = True
                self.level_end = len(self.states)
                self.depth = 1 if self.states else 0
                return
            try:
                if not all(p.test(state) for p in self._filters):
                    continue
            except Exception as error:
                self._raise(START, error, "", state)
                continue
            self.generated += 1
            self._meet(state, START)

    def advance(self, seconds: float) -> dict[str, Plain]:
        """Search on for about so long; returns the counts so far."""
        try:
            self._advance(time.monotonic() + seconds)
        except MemoryError:
            self.full = True
            self.numbers.clear()
        return self.statistics()

    def _advance(self, until: float) -> None:
        while not self.finished and not self.full:
            for _ in range(64):
                if not self.started:
                    self._start(1)
                    continue
                if self.at == len(self.states):
                    self.finished = True
                    break
                if self.at == self.level_end:
                    self.level_end = len(self.states)
                    self.depth += 1
                self.expand(self.at)
                self.at += 1
            if time.monotonic() > until:
                break

    def statistics(self) -> dict[str, Plain]:
        """distinct, generated, depth, left (states not expanded), outside, raised, finished, and
        full: memory ended, and the search with it."""
        return {
            "distinct": len(self.states),
            "generated": self.generated,
            "depth": self.depth,
            "left": len(self.states) - self.at,
            "outside": len(self.outside),
            "raised": self.raised,
            "finished": self.finished,
            "full": self.full,
            "decided": len(self.hits),
        }

    def successors(self, state: State, at: int) -> Iterator[tuple[int, State, tuple[Any, ...]]]:
        """Every step from a state: instance number, next state, choices."""
        for number, instance in enumerate(self.machine.instances):
            try:
                for after, choices in expand(instance, state):
                    yield number, after, choices
            except StepRaised as raised:
                self._raise((at, number, raised.choices), raised.error, "", state)

    def expand(self, at: int) -> None:
        """Take every step from one state."""
        state = self.states[at]
        enabled = False
        raised = self.raised
        for number, after, choices in self.successors(state, at):
            enabled = True
            self.generated += 1
            link = (at, number, choices)
            if after != state:
                for predicate in self.transitions:
                    self._judge(predicate, link, state, after)
            for predicate in self.observed.get(number, ()):
                self._judge(predicate, link, after)
            self._fire(number, link)
            if after not in self.numbers:
                self._meet(after, link)
        if not enabled and raised == self.raised:
            self._stuck(at, state)

    def _fire(self, number: int, link: Link) -> None:
        name = self.machine.instances[number].name
        if name not in self.fired:
            self.fired[name] = self._hit(link, "it takes a step")

    def _meet(self, state: State, link: Link) -> None:
        """A state seen for the first time: judge it, and keep it if the constraint admits it."""
        if state in self.outside:
            return
        inside = all(self._true(p, link, state) for p in self.constraints)
        if inside:
            self.numbers[state] = len(self.states)
            self.states.append(state)
            self.links.append(link)
        else:
            self.outside.add(state)
        for predicate in self.invariants:
            self._judge(predicate, link, state)
        if inside:
            for predicate in self.reachables:
                self._look_for(predicate, link, state)

    def _look_for(self, predicate: Predicate, link: Link, state: State) -> None:
        name = predicate.property.name
        is_open = self._is_open(name)
        if (is_open or name in self._risky) and self._true(predicate, link, state) and is_open:
            self._decide(name, self._hit(link, "it holds here", state))

    def _is_open(self, name: str) -> bool:
        return name not in self.hits

    def _decide(self, name: str, hit: Hit) -> None:
        self.hits[name] = hit

    def _judge(self, predicate: Predicate, link: Link, *states: State) -> None:
        """Whether it is False here; one that is decided may still raise, for `well_defined`."""
        name = predicate.property.name
        is_open = self._is_open(name)
        if not is_open and name not in self._risky:
            return
        try:
            if not predicate.test(*states) and is_open:
                self._decide(name, self._hit(link, f"{name} is False", states[-1]))
        except Exception as error:
            self._raise(link, error, name, states[-1])

    def _true(self, predicate: Predicate, link: Link, state: State) -> bool:
        try:
            return predicate.test(state)
        except Exception as error:
            self._raise(link, error, predicate.property.name, state)
            return False

    def _stuck(self, at: int, state: State) -> None:
        is_open = self._is_open(DEADLOCK_FREE)
        risky = any(p.property.name in self._risky for p in self.terminals)
        if not (is_open or risky) or self.machine.returned(state):
            return
        link = self._link(at)
        if not any(self._true(p, link, state) for p in self.terminals) and is_open:
            self._decide(DEADLOCK_FREE, self._hit(link, "no step is enabled", state))

    def _link(self, at: int) -> Link:
        """The step that led to a state that is kept."""
        return self.links[at]

    def _raise(self, link: Link, error: Exception, predicate: str, state: State) -> None:
        if isinstance(error, MemoryError):
            raise error
        self.raised += 1
        if WELL_DEFINED not in self.hits:
            why = f"{predicate + ' ' if predicate else ''}raises {type(error).__name__}: {error}"
            self.hits[WELL_DEFINED] = self._hit(link, why, state, predicate)

    def _hit(self, link: Link, why: str, state: State | None = None, predicate: str = "") -> Hit:
        links = [link] if link[1] >= 0 else []
        at = link[0]
        while at >= 0:
            if self.links[at][1] >= 0:
                links.append(self.links[at])
            start, at = at, self.links[at][0]
        first = self.states[start] if link[0] >= 0 else state or ()
        return Hit(tuple(reversed(links)), first, why, predicate)

    def report(self) -> dict[str, Plain]:
        """The counts, for each property that was decided its trace, and what never ran.

        silent: actions and processes. unran: the lines of branches of their code. grown: in
        a search that was cut, what has no bound and grew, in words.
        """
        traces = {name: self.trace(name, hit) for name, hit in self.hits.items()}
        ends = {name: hit.links[-1][0] for name, hit in self.fired.items()}
        fired = covering(ends, lambda name: self.replayed(ALL_FIRE, self.fired[name]))
        silent = silent_steps(self.machine.ir, self.fired)
        unran = self.machine.never_ran()
        found = {"hits": traces, "fired": fired, "silent": silent, "unran": unran}
        if self.states and not self.finished:
            found["grown"] = grown(self.ir, self.states[0], self.states[-1])
        return {**self.statistics(), **found}

    def trace(self, name: str, hit: Hit) -> Plain:
        """A hit as a trace, with the states it passes."""
        return trace_of(self.replayed(name, hit))

    def replayed(self, name: str, hit: Hit) -> Trace:
        """The states along a hit's links, computed again from its start."""
        state = hit.start
        states, moves = [state], []
        for _, number, choices in hit.links:
            instance: Instance = self.machine.instances[number]
            moves.append((instance, choices, state))
            found = (after for after, made in _safely(instance, state) if made == choices)
            state = next(found, ())
            states.append(state)
        return Trace(self.ir, name, hit.why, hit.predicate, tuple(states), tuple(moves))


def _safely(instance: Instance, state: State) -> Iterator[tuple[State, tuple[Any, ...]]]:
    try:
        yield from expand(instance, state)
    except StepRaised:
        return


def open_search(data: Plain) -> Search:
    """A search of the machine given as plain data; runs in a worker."""
    return Search(MachineIR.from_plain(data))
