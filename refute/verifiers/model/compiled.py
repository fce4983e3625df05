"""A machine's IR as compiled Python: one function per action, process and property.

The source is ours, generated from validated IR, and names nothing of the user's. A state is a flat
tuple: the variables in order, then for each process family a tuple of (place, kept locals…) of its
instances; place -1 has returned. A step function gives the next state or None when disabled;
`any_of` asks a `Choices`, and the step is run again for every choice vector, which is exact and
costs nothing where there is no choice.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from refute.frozen import frozen
from refute.specs.machine import types as t
from refute.specs.machine.errors import OutOfRange
from refute.specs.machine.ir import (
    STEP_KINDS,
    Action,
    Assign,
    Branch,
    Check,
    Choose,
    Die,
    Done,
    Expr,
    For,
    If,
    Jump,
    Leave,
    MachineIR,
    Process,
    Property,
    Refinement,
    Stmt,
    Temporal,
    When,
    Write,
    Yield,
    atoms,
)
from refute.specs.machine.listing import require_listed
from refute.specs.machine.values import conforms, domain, said, unpack_value
from refute.verifiers.model.emit import Emitter
from refute.verifiers.model.native.branches import refusing
from refute.verifiers.model.structure import chooses, instance_count, resumes

State = tuple[Any, ...]
StepFunction = Callable[..., State | None]


class Choices:
    """The choices of one run of a step, and the next vector to try."""

    def __init__(self) -> None:
        self.trail: list[list[Any]] = []  # [options, chosen index]
        self.depth = 0

    def pick(self, options: Any) -> Any:
        """The choice at this depth of the current vector."""
        if self.depth == len(self.trail):
            self.trail.append([list(options), 0])
        found, at = self.trail[self.depth]
        self.depth += 1
        return found[at]

    def chosen(self) -> tuple[Any, ...]:
        """The choices made in the run just finished."""
        return tuple(options[at] for options, at in self.trail[: self.depth])

    def advance(self) -> bool:
        """Go to the next vector; False when all were tried."""
        del self.trail[self.depth :]
        self.depth = 0
        while self.trail and self.trail[-1][1] + 1 == len(self.trail[-1][0]):
            self.trail.pop()
        if self.trail:
            self.trail[-1][1] += 1
        return bool(self.trail)


@frozen
class Instance:
    """One action or process with its parameters. chooses: whether it asks for choices."""

    name: str
    kind: str
    params: tuple[Any, ...]
    function: StepFunction
    chooses: bool


@frozen
class Predicate:
    """A property as a function of a state, or of a step's two.

    All values of its parameters are tried inside; fairness takes them as further arguments.
    """

    property: Property
    test: Callable[..., bool]


class Writer:
    """Lines of Python at an indentation."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def put(self, depth: int, line: str) -> None:
        """Append one line."""
        self.lines.append("    " * depth + line)


class Compiled:
    """A machine ready to run. Also gives the generated source, for people who doubt it."""

    def __init__(self, ir: MachineIR) -> None:
        self.ir = ir
        self.variables = [v.name for v in ir.variables]
        self.emit = Emitter(self.variables)
        self.emit.constants["OutOfRange"] = OutOfRange
        self.emit.constants["checked"] = checked
        self.writer = Writer()
        self.branches: list[int] = []  # the line that each branch of the steps starts at
        self.ran = [0]  # bits of the branches that completed steps took
        self.emit.constants["ran"] = self.ran
        for at, action in enumerate(ir.actions):
            self._action(f"a{at}", action)
        for at, process in enumerate(ir.processes):
            self._process(f"p{at}", at, process)
        for at, prop in enumerate(ir.properties):
            self._property(f"q{at}", prop)
        for at, temporal in enumerate(ir.temporals):
            for number, predicate in enumerate(atoms(temporal.formula)):
                self._atom(f"t{at}_{number}", temporal, predicate)
        for at, refinement in enumerate(ir.refinements):
            self._mapping(f"r{at}", refinement)
        self.source = "\n".join(self.writer.lines) + "\n"
        space: dict[str, Any] = dict(self.emit.constants)
        exec(compile(self.source, f"<{ir.name}>", "exec"), space)
        self.instances = tuple(self._instances(space))
        self.predicates = tuple(Predicate(p, space[f"q{at}"]) for at, p in enumerate(ir.properties))
        self.atoms = {
            temporal.name: tuple(space[f"t{at}_{n}"] for n, _ in enumerate(atoms(temporal.formula)))
            for at, temporal in enumerate(ir.temporals)
        }

        self.mappings = {r.name: space[f"r{at}"] for at, r in enumerate(ir.refinements)}

    def _instances(self, space: dict[str, Any]) -> Iterator[Instance]:
        for at, action in enumerate(self.ir.actions):
            for params in itertools.product(*(domain(p.type) for p in action.params)):
                asks = chooses(action.body)
                yield Instance(action.name, "action", params, space[f"a{at}"], asks)
        for at, process in enumerate(self.ir.processes):
            asks = any(chooses(b.body) for b in process.blocks)
            every = itertools.product(*(domain(p.type) for p in process.params))
            for number, params in enumerate(every):
                bound = _numbered(space[f"p{at}"], number)
                yield Instance(process.name, "process", params, bound, asks)

    def _names(self, letter: str) -> str:
        slots = [f"{letter}{at}" for at in range(len(self.variables))]
        slots += [f"{letter}s{at}" for at in range(len(self.ir.processes))]
        return "".join(f"{slot}, " for slot in slots)

    def _unpack(self, depth: int, letter: str, state: str) -> None:
        names = self._names(letter)
        if names:
            self.writer.put(depth, f"{names}= {state}")

    def _result(self) -> str:
        return f"ran[0] |= b; return ({self._names('v')})"

    def _branch(self, depth: int, body: tuple[Stmt, ...]) -> None:
        """Note that a branch is taken; a step that is undone forgets it."""
        if body:
            self.writer.put(depth, f"b |= {1 << len(self.branches)}")
            self.branches.append(body[0].line)

    def never_ran(self) -> list[int]:
        """The lines of the branches that no step has taken so far."""
        taken = [self.ran[0] >> at & 1 for at in range(len(self.branches))]
        pairs = list(zip(self.branches, taken, strict=True))
        ran = {line for line, ran in pairs if ran}
        return sorted({line for line, _ in pairs} - ran - refusing(self.ir))

    def _action(self, name: str, action: Action) -> None:
        params = "".join(f", {self.emit.name(p.name)}" for p in action.params)
        self.writer.put(0, f"def {name}(state, choices{params}):")
        self._unpack(1, "v", "state")
        self.writer.put(1, "b = 0")
        self._body(1, action.body, self._result())
        self.writer.put(1, self._result())

    def _process(self, name: str, at: int, process: Process) -> None:
        params = "".join(f", {self.emit.name(p.name)}" for p in process.params)
        self.writer.put(0, f"def {name}(number, state, choices{params}):")
        self._unpack(1, "v", "state")
        self.writer.put(1, f"place = vs{at}[number]")
        self.writer.put(1, "block = place[0]")
        self.writer.put(1, "if block < 0: return None")
        for target, live in sorted(resumes(process)):
            if live:
                names = "".join(f"{self.emit.name(n)}, " for n in live)
                self.writer.put(1, f"if block == {target}: {names}= place[1:]")
        self.writer.put(1, "b = 0")
        self.writer.put(1, "while True:")
        for number, block in enumerate(process.blocks):
            self.writer.put(2, f"if block == {number}:")
            self._branch(3, block.body)
            self._body(3, block.body, self._moved(at, "-1"))
            self._end(at, block.end)

    def _moved(self, at: int, place: str) -> str:
        """Return with this process at a place (a tuple's inside)."""
        slot = f"vs{at}"
        moved = f"{slot} = {slot}[:number] + (({place},),) + {slot}[number + 1:]"
        return f"{moved}; {self._result()}"

    def _end(self, at: int, end: Jump | Branch | Yield | Done) -> None:
        put = self.writer.put
        match end:
            case Jump():
                put(3, f"block = {end.target}; continue")
            case Branch():
                test = self.emit.text(end.condition)
                put(3, f"block = {end.then} if {test} else {end.orelse}; continue")
            case Yield():
                inside = ", ".join([str(end.target), *map(self.emit.name, end.live)])
                put(3, self._moved(at, inside))
            case Done():
                put(3, self._moved(at, "-1"))

    def _property(self, name: str, prop: Property) -> None:
        binary = prop.kind in STEP_KINDS
        given = prop.kind in ("weak", "strong")
        params = "".join(f", {self.emit.name(p.name)}" for p in prop.params if given)
        self.writer.put(0, f"def {name}(state{', after' if binary else ''}{params}):")
        self._unpack(1, "v", "state")
        if binary:
            self._unpack(1, "w", "after")
        test = self.emit.text(prop.predicate)
        loops = [f"for {self.emit.name(p.name)} in {self.emit.domain(p.type)}" for p in prop.params]
        walk = bool(loops) and not given
        self.writer.put(1, f"return all({test} {' '.join(loops)})" if walk else f"return {test}")

    def _atom(self, name: str, temporal: Temporal, predicate: Expr) -> None:
        params = "".join(f", {self.emit.name(p.name)}" for p in temporal.params)
        self.writer.put(0, f"def {name}(state{params}):")
        self._unpack(1, "v", "state")
        self.writer.put(1, f"return {self.emit.text(predicate)}")

    def _mapping(self, name: str, refinement: Refinement) -> None:
        self.writer.put(0, f"def {name}(state):")
        self._unpack(1, "v", "state")
        self.writer.put(
            1, f"return ({''.join(self.emit.text(e) + ', ' for e in refinement.mapping)})"
        )

    def _body(self, depth: int, body: tuple[Stmt, ...], finish: str) -> None:
        for stmt in body:
            self._statement(depth, stmt, finish)

    def _statement(self, depth: int, stmt: Stmt, finish: str) -> None:
        put, emit = self.writer.put, self.emit
        match stmt:
            case When():
                put(depth, f"if not {emit.text(stmt.condition)}: return None")
            case Choose():
                name = emit.name(stmt.name)
                put(depth, f"options = {emit.source(stmt.source)}")
                put(depth, "if not options: return None")
                put(depth, f"{name} = choices.pick(options)")
            case Assign():
                put(depth, f"{emit.name(stmt.name)} = {emit.text(stmt.value)}")
            case Write():
                self._write(depth, stmt)
            case Check():
                fails = f"raise AssertionError('line {stmt.line}')"
                put(depth, f"if not {emit.text(stmt.condition)}: {fails}")
            case If():
                put(depth, f"if {emit.text(stmt.condition)}:")
                self._branch(depth + 1, stmt.then)
                self._body(depth + 1, stmt.then, finish)
                put(depth + 1, "pass")
                if stmt.orelse:
                    put(depth, "else:")
                    self._branch(depth + 1, stmt.orelse)
                    self._body(depth + 1, stmt.orelse, finish)
            case For():
                put(depth, f"for {emit.name(stmt.name)} in {emit.source(stmt.source)}:")
                self._body(depth + 1, stmt.body, finish)
                put(depth + 1, "pass")
            case Die():
                for at, process in enumerate(self.ir.processes):
                    put(depth, f"vs{at} = ((-1,),) * {instance_count(process)}")
            case Leave(word="return"):
                put(depth, finish)
            case Leave():
                put(depth, stmt.word)

    def _write(self, depth: int, stmt: Write) -> None:
        value = self.emit.text(stmt.value)
        if not t.included(stmt.value.type, stmt.target):
            kind = self.emit.constant(stmt.target, ("type", stmt.target))
            name = self.emit.constant(stmt.var, ("name", stmt.var))
            value = f"checked({value}, {kind}, {name})"
        slot = f"v{self.emit.variables[stmt.var]}"
        kind_at = self.ir.variables[self.emit.variables[stmt.var]].type
        if not stmt.path:
            self.writer.put(depth, f"{slot} = {value}")
            return
        self.writer.put(depth, f"new = {value}")
        base, rebuilt = slot, []
        for at, key in enumerate(stmt.path):
            if isinstance(kind_at, t.MapOf):
                self.writer.put(depth, f"k{at} = {self.emit.place(key, kind_at.key)}")
                rebuilt.append(f"{base}[:k{at}] + (new,) + {base}[k{at} + 1:]")
                kind_at = kind_at.value
            elif isinstance(kind_at, t.SeqOf):
                self.writer.put(depth, f"k{at} = {self.emit.text(key)}")
                rebuilt.append(f"put({base}, k{at}, new)")
                kind_at = kind_at.elem
            base = f"{base}[k{at}]"
        for line in reversed(rebuilt[1:]):
            self.writer.put(depth, f"new = {line}")
        self.writer.put(depth, f"{slot} = {rebuilt[0]}")

    def initial_states(self) -> Iterator[State]:
        """Every product of starting values; `@initial` predicates not yet applied.

        Raises UsageError for a machine whose values cannot be listed.
        """
        require_listed(self.ir)
        starts = [[unpack_value(v) for v in variable.initial] for variable in self.ir.variables]
        places = tuple(
            ((process.entry,),) * instance_count(process) for process in self.ir.processes
        )
        for values in itertools.product(*starts):
            yield (*values, *places)

    def returned(self, state: State) -> bool:
        """Whether there are processes and all of them have returned."""
        families = state[len(self.variables) :]
        return bool(families) and all(p[0] < 0 for family in families for p in family)


def checked(value: Any, kind: t.Type, name: str) -> Any:
    """The value, if it is of the type written to. Raises OutOfRange."""
    if not conforms(value, kind):
        raise OutOfRange(f"{name}: {said(value)} is not in {t.show(kind)}")
    return value


class StepRaised(Exception):
    """A step raised `error` after these choices, which a replay has to make again."""

    def __init__(self, error: Exception, choices: tuple[Any, ...]) -> None:
        super().__init__(str(error))
        self.error = error
        self.choices = choices


def expand(instance: Instance, state: State) -> Iterator[tuple[State, tuple[Any, ...]]]:
    """All next states by one instance, each with the choices that led to it, until one raises.

    Raises StepRaised.
    """
    choices = Choices()
    while True:
        try:
            found = instance.function(state, choices, *instance.params)
        except Exception as error:
            raise StepRaised(error, choices.chosen()) from error
        if not instance.chooses:
            if found is not None:
                yield found, ()
            return
        if found is not None:
            yield found, choices.chosen()
        if not choices.advance():
            return


def _numbered(function: StepFunction, number: int) -> StepFunction:
    return lambda state, choices, *params: function(number, state, choices, *params)
