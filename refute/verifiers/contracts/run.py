"""Run: one symbolic execution of a function, and everything that leaves its straight path.

Whatever may go wrong at a place is an exit with the condition under which it is taken, and
execution goes on under the opposite. An exit that an obligation shows to be impossible costs
nothing more; so a construct that is not supported matters only where execution can reach it.
"""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import math
from collections.abc import Callable, Iterator
from typing import Protocol

from refute.verifiers.contracts.context import Context
from refute.verifiers.contracts.program import Module, Program
from refute.verifiers.contracts.state import State
from refute.verifiers.contracts.terms import (
    Term,
    conj,
    disj,
    fold_bool,
    is_false,
    is_true,
    neg,
)
from refute.verifiers.contracts.values import NO_VALUE, Value

UNSUPPORTED = "unsupported"


class Refused(Exception):
    """A construct that is not supported, wherever execution goes. place: file:line."""

    def __init__(self, what: str, place: str) -> None:
        super().__init__(f"{what} is not supported, at {place}")
        self.what = what
        self.place = place


@dataclasses.dataclass(frozen=True, eq=False)
class Exit:
    """A way out: return, break, continue, raise (of `error`), or something unsupported."""

    kind: str
    state: State
    place: str
    value: Value = NO_VALUE
    error: str = ""
    text: str = ""


@dataclasses.dataclass(frozen=True, eq=False)
class Obligation:
    """Where the path and the facts hold, the goal must hold.

    kind: ensure, type, condition (of the contract, can be evaluated), raises, invariant, decreases
    or unsupported.
    """

    kind: str
    text: str
    place: str
    state: State
    goal: Term


@dataclasses.dataclass
class Frame:
    """One function being executed.

    depth: how many callers are executed around it; callers: the functions in execution, this one
    included. measure: what its `decreases` gave at its start, if it has one.
    """

    module: Module
    qualname: str
    locals_: frozenset[str]
    depth: int = 0
    callers: tuple[str, ...] = ()
    measure: Term = None


@dataclasses.dataclass
class Sinks:
    """Where exits and obligations of a part of the execution are gathered.

    callees: functions that were called by their contracts. loops: places of loops of which only
    the invariants are known.
    """

    exits: list[Exit] = dataclasses.field(default_factory=list)
    obligations: list[Obligation] = dataclasses.field(default_factory=list)
    assumptions: dict[str, None] = dataclasses.field(default_factory=dict)
    callees: dict[str, None] = dataclasses.field(default_factory=dict)
    loops: dict[str, None] = dataclasses.field(default_factory=dict)

    def note(self, other: Sinks) -> None:
        """Take over what is neither an exit nor an obligation."""
        self.assumptions |= other.assumptions
        self.callees |= other.callees
        self.loops |= other.loops


@dataclasses.dataclass(frozen=True)
class Mode:
    """unroll: how often loops are unrolled instead of abstracted; 0 asks for a proof.

    inside such a run invariants are assertions and calls are inlined, as when the code runs.
    deadline: on the monotonic clock, when symbolic execution gives up.
    """

    unroll: int = 0
    depth: int = 12
    infer: bool = True
    deadline: float = math.inf


class Evaluate(Protocol):
    """The value of an expression."""

    def __call__(self, run: Run, state: State, node: ast.expr) -> Value: ...


class Execute(Protocol):
    """Executes statements; None where no execution reaches their end."""

    def __call__(self, run: Run, state: State, body: list[ast.stmt]) -> State | None: ...


class Holds(Protocol):
    """Whether a goal is proved in a state, with little effort."""

    def __call__(self, run: Run, state: State, goal: Term) -> bool: ...


class Run:
    """One execution. The parts that need each other meet here, and not by importing."""

    def __init__(
        self, program: Program, mode: Mode, evaluate: Evaluate, execute: Execute, holds: Holds
    ) -> None:
        self.mode = mode
        self.context = Context(mode.deadline)
        self.sinks = Sinks()
        self.frame = Frame(Module(program, "", "", ast.Module([], [])), "", frozenset())
        self.quiet = 0
        self._evaluate = evaluate
        self._execute = execute
        self._holds = holds
        self._addresses = 0

    @property
    def program(self) -> Program:
        """The tree of the function being executed."""
        return self.frame.module.program

    def evaluate(self, state: State, node: ast.expr) -> Value:
        """The value of an expression in a state."""
        return self._evaluate(self, state, node)

    def execute(self, state: State, body: list[ast.stmt]) -> State | None:
        """The state after the statements, unless every path leaves them."""
        return self._execute(self, state, body)

    def holds(self, state: State, goal: Term) -> bool:
        """Whether the goal is easily proved."""
        if is_true(goal):
            return True
        self.context.check_time()
        return self._holds(self, state, goal)

    def place(self, node: ast.AST | None) -> str:
        """file:line of a node in the function being executed."""
        return f"{self.frame.module.path}:{getattr(node, 'lineno', 1)}"

    def new_address(self) -> int:
        """An address that no object has."""
        self._addresses += 1
        return self._addresses

    def leave(self, state: State, kind: str, node: ast.AST | None, **more: object) -> None:
        """Take note of an exit in this state."""
        if not state.dead:
            self.sinks.exits.append(
                Exit(kind, state.copy(), self.place(node), **more)  # type: ignore[arg-type]
            )

    def may_raise(
        self, state: State, condition: Term, error: str, node: ast.AST | None, text: str = ""
    ) -> None:
        """Raise the error where the condition holds; go on where it does not."""
        condition = fold_bool(condition)
        if is_false(condition) or state.decided(condition) is False:
            return
        self.leave(state.branch(condition), "raise", node, error=error, text=text)
        state.assume(neg(condition))

    def unsupported(
        self, state: State, what: str, node: ast.AST | None, condition: Term = True
    ) -> None:
        """Give up where the condition holds; go on where it does not."""
        if is_false(condition):
            return
        self.leave(state.branch(condition), UNSUPPORTED, node, text=what)
        state.assume(neg(condition))

    def refuse(self, what: str, node: ast.AST | None) -> Refused:
        """The exception for a construct that cannot be given any meaning."""
        return Refused(what, self.place(node))

    def oblige(self, kind: str, state: State, goal: Term, text: str, place: str) -> None:
        """Demand that the goal holds in this state, and go on as if it did."""
        if not state.dead:
            self.sinks.obligations.append(Obligation(kind, text, place, state.copy(), goal))
        state.assume(goal)

    @contextlib.contextmanager
    def apart(self) -> Iterator[Sinks]:
        """Gather exits and obligations in sinks of their own, which the caller keeps or drops."""
        before, self.sinks = self.sinks, Sinks()
        try:
            yield self.sinks
        finally:
            self.sinks = before

    def keep(self, sinks: Sinks, kinds: Callable[[str], bool] = lambda _: True) -> None:
        """Add what was gathered apart to the present sinks."""
        self.sinks.exits += [e for e in sinks.exits if kinds(e.kind)]
        self.sinks.obligations += sinks.obligations
        self.sinks.note(sinks)

    @contextlib.contextmanager
    def inside(self, frame: Frame) -> Iterator[None]:
        """Execute in another function's frame."""
        before, self.frame = self.frame, frame
        try:
            yield
        finally:
            self.frame = before

    def quantified(
        self,
        state: State,
        sinks: Sinks,
        variables: list[Term],
        within: Term,
        unless: Term = False,
    ) -> None:
        """Take over the exits of an expression under bound variables: some value takes them.

        Which of several is the first is not known, so each is possible whatever the others are.
        unless: where execution may have gone on before it came to a value that takes an exit.
        """
        depth = len(state.path)
        self.sinks.note(sinks)
        for obligation in sinks.obligations:
            taken = conj([within, *obligation.state.path[depth:]])
            goal = self.context.for_all(variables, taken, obligation.goal)
            self.sinks.obligations.append(
                dataclasses.replace(obligation, state=state.copy(), goal=goal)
            )
        nevers = []
        for exit_ in sinks.exits:
            taken = conj([within, *exit_.state.path[depth:]])
            never = self.context.for_all(variables, taken, False)
            out = state.branch(neg(never))
            self.sinks.exits.append(dataclasses.replace(exit_, state=out))
            nevers.append(never)
        for never in nevers:
            state.assume(disj([never, unless]))
