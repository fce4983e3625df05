"""Verification: a function against its contract, as a list of obligations.

The contract comes from the tree that judges, the function from the tree that is judged; each is
read with the names of its own module. Every return is an exit of its own, in whose state each
`ensure` must hold; every exception that is not allowed and everything unsupported must be out of
reach.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Mapping

from refute.specs.contract_source import Contract
from refute.verifiers.contracts.annotations import NoKind, annotated
from refute.verifiers.contracts.binding import NoBinding, bind
from refute.verifiers.contracts.errors import HINT_BROKEN, catches
from refute.verifiers.contracts.expressions import evaluate
from refute.verifiers.contracts.kinds import Kind, fits
from refute.verifiers.contracts.modular import condition_holds, function_measure, unchanged
from refute.verifiers.contracts.objects import fresh_object
from refute.verifiers.contracts.operators import number
from refute.verifiers.contracts.program import Found, Module, Program
from refute.verifiers.contracts.reading import local_names, parameter_names
from refute.verifiers.contracts.run import UNSUPPORTED, Exit, Frame, Mode, Refused, Run
from refute.verifiers.contracts.solving import holds_easily
from refute.verifiers.contracts.state import State
from refute.verifiers.contracts.statements import execute
from refute.verifiers.contracts.terms import Term, disj, neg
from refute.verifiers.contracts.values import NO_VALUE, UnionV, Value


@dataclasses.dataclass(eq=False)
class Task:
    """A function and the contract it must meet.

    allowed: exceptions it may raise. by_name: it is called with its arguments by name.
    """

    found: Found
    contract: Contract
    contract_module: Module
    allowed: tuple[str, ...]
    by_name: bool = False

    @property
    def renamed(self) -> bool:
        """Whether its parameters have other names or places than the contract's."""
        assert isinstance(self.found.node, ast.FunctionDef)
        wanted = [p.name for p in self.contract.parameters]
        return parameter_names(self.found.node) != wanted

    @property
    def name(self) -> str:
        """module:qualname of the function."""
        return self.found.name


@dataclasses.dataclass(eq=False)
class Verified:
    """What executing a task symbolically gave. arguments: the values at entry.

    entry: the state before the body, with all requirements assumed. exits: all ways out. returns,
    raised: the states in which it returns, or raises what it may.
    """

    run: Run
    arguments: dict[str, Value]
    entry: State
    exits: list[Exit]
    returns: list[State] = dataclasses.field(default_factory=list)
    raised: list[State] = dataclasses.field(default_factory=list)


def parameter_kinds(task: Task) -> dict[str, Kind]:
    """The kinds of the parameters. Raises Refused, with the annotation that is none."""
    kinds = {}
    for parameter in task.contract.parameters:
        try:
            kinds[parameter.name] = annotated(task.contract_module, parameter.annotation)
        except NoKind as error:
            line = getattr(parameter.annotation, "lineno", task.contract.line)
            place = f"{task.contract.path}:{line}"
            raise Refused(f"the type {error} of the parameter {parameter.name}", place) from None
    return kinds


def verify(
    program: Program, task: Task, mode: Mode, sizes: Mapping[str, int] | None = None
) -> Verified:
    """Execute the function; the obligations are in the run's sinks. Raises Refused.

    sizes: the number of elements of the sequences of a parameter, instead of any number.
    """
    run = Run(program, mode, evaluate, execute, holds_easily)
    state = State()
    arguments: dict[str, Value] = {}
    for name, kind in parameter_kinds(task).items():
        size = (sizes or {}).get(name)
        arguments[name] = fresh_object(run, state, kind, name, size=size)
    frame = Frame(task.contract_module, task.name, frozenset())
    with run.apart():
        for condition in task.contract.requires:
            state.assume(condition_holds(run, state, frame, condition.expression, arguments))
        old = _snapshots(run, state, frame, task.contract, arguments)
    result = Verified(run, arguments, state.copy(), _executed(run, state, task, arguments))
    for exit_ in result.exits:
        if exit_.kind == "return":
            result.returns.append(exit_.state)
            ended = dataclasses.replace(exit_, state=exit_.state.copy())
            _oblige_return(run, frame, task, ended, {**arguments, **old})
        elif exit_.kind == "raise":
            _oblige_raise(run, task, exit_, result)
        elif exit_.kind == UNSUPPORTED:
            run.oblige(UNSUPPORTED, exit_.state.copy(), False, exit_.text, exit_.place)
    return result


def _snapshots(
    run: Run, state: State, frame: Frame, contract: Contract, arguments: dict[str, Value]
) -> dict[str, Value]:
    old = {}
    state.env = dict(arguments)
    with run.inside(frame):
        for snapshot in contract.snapshots:
            with unchanged(run, state, snapshot.expression):
                old[f"OLD.{snapshot.name}"] = run.evaluate(state, snapshot.expression)
    return old


def _executed(run: Run, state: State, task: Task, arguments: dict[str, Value]) -> list[Exit]:
    """All exits of the function, which is called as its contract says."""
    function, module = task.found.node, task.found.module
    assert isinstance(function, ast.FunctionDef) and module is not None
    frame = Frame(module, task.name, local_names(function), 0, (task.name,))
    keyword_only = {p.name for p in task.contract.parameters if p.keyword_only or task.by_name}
    args = [v for k, v in arguments.items() if k not in keyword_only]
    named = {k: v for k, v in arguments.items() if k in keyword_only}
    with run.inside(frame):
        try:
            state.env = bind(run, state, task.found, args, named, function)
        except NoBinding as error:
            run.may_raise(state, True, "TypeError", function, str(error))
        state.stack = (dict(arguments),)
        _begin_measure(run, state, frame, task.found, function)
        end = None if state.dead else run.execute(state, function.body)
        if end is not None:
            run.leave(end, "return", function, value=NO_VALUE)
    exits, run.sinks.exits = run.sinks.exits, []
    return exits


def _begin_measure(
    run: Run, state: State, frame: Frame, found: Found, function: ast.FunctionDef
) -> None:
    measure = None if state.dead else function_measure(run, found)
    if measure is not None:
        value = number(run.evaluate(state, measure))
        if value is not None:
            run.may_raise(state, value < 0, HINT_BROKEN, measure, ast.unparse(measure))
        frame.measure = value


def _oblige_return(run: Run, frame: Frame, task: Task, exit_: Exit, env: dict[str, Value]) -> None:
    state = exit_.state
    _oblige_kind(run, task, exit_)
    line = exit_.place
    for condition in task.contract.ensures:
        with run.apart() as sinks:
            holds = condition_holds(
                run, state, frame, condition.expression, {**env, "result": exit_.value}
            )
        place = f"{task.contract.path}:{condition.line}"
        for bad in sinks.exits:
            kind = UNSUPPORTED if bad.kind == UNSUPPORTED else "condition"
            text = bad.text if kind == UNSUPPORTED else f"{bad.error} in {condition.text}"
            run.oblige(kind, bad.state, False, text, bad.place)
        run.sinks.obligations += sinks.obligations
        run.sinks.note(sinks)
        run.oblige("ensure", state, holds, f"{condition.text}, at the return {line}", place)


def _oblige_kind(run: Run, task: Task, exit_: Exit) -> None:
    """The result is of the annotated type."""
    if task.contract.returns is None:
        return
    try:
        wanted = annotated(task.contract_module, task.contract.returns)
    except NoKind as error:
        text = f"the return type {error}"
        run.oblige(UNSUPPORTED, exit_.state, False, text, exit_.place)
        return
    value = exit_.value
    cases: tuple[tuple[Term, Value], ...] = (
        value.options if isinstance(value, UnionV) else ((True, value),)
    )
    wrong = [c for c, v in cases if not fits(exit_.state.kind(v), wanted)]
    if wrong:
        text = f"the result is {wanted}"
        run.oblige("type", exit_.state, neg(disj(wrong)), text, exit_.place)


def _oblige_raise(run: Run, task: Task, exit_: Exit, result: Verified) -> None:
    program = task.found.module.program if task.found.module is not None else run.program
    verdicts = [catches(program, name, exit_.error) for name in task.allowed]
    if True in verdicts:
        result.raised.append(exit_.state)
        return
    text = f"no {exit_.error}" + (f" ({exit_.text})" if exit_.text else "")
    kind = UNSUPPORTED if None in verdicts else "raises"
    run.oblige(kind, exit_.state.copy(), False, text, exit_.place)
