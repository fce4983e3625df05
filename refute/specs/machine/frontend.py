"""From a live machine class to its IR. Whatever the language does not have is refused here.

The class's source is read, not traced: each decorated method is parsed and translated with the
names it can see. Only starting values are computed by running the user's code.
"""

from __future__ import annotations

import dataclasses
import inspect
import sys
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from refute.errors import RefuteError, Unsupported, UsageError
from refute.specs.machine import types as t
from refute.specs.machine.calls import pure_body
from refute.specs.machine.crashing import crash_action
from refute.specs.machine.errors import OutOfRange
from refute.specs.machine.expressions import BOOL
from refute.specs.machine.ir import (
    CRASH,
    STEP_KINDS,
    Action,
    Expr,
    MachineIR,
    Param,
    Process,
    Property,
    Refinement,
    Stmt,
    Temporal,
    Variable,
)
from refute.specs.machine.language import Const, Running, Var, running
from refute.specs.machine.lower import Lowering, live_at, live_before
from refute.specs.machine.mapping import mapping_of
from refute.specs.machine.marks import Mark, mark_of
from refute.specs.machine.resolve import Resolver
from refute.specs.machine.scope import Build, Scope, function_scope
from refute.specs.machine.source import class_line
from refute.specs.machine.starts import starting_values
from refute.specs.machine.statements import Statements
from refute.specs.machine.temporal import formula_of
from refute.specs.machine.values import domain, order, pack_value

_PREDICATES = (
    "invariant",
    "observe",
    "reachable",
    "transition",
    "terminal",
    "initial",
    "constraint",
)


@dataclasses.dataclass
class Marked:
    """The marked methods of a class, translated."""

    actions: list[Action] = dataclasses.field(default_factory=list)
    processes: list[Process] = dataclasses.field(default_factory=list)
    properties: list[Property] = dataclasses.field(default_factory=list)
    temporals: list[Temporal] = dataclasses.field(default_factory=list)
    refinements: list[Refinement] = dataclasses.field(default_factory=list)
    recovery: tuple[Stmt, ...] = ()


class FrontEnd:
    """One machine class under some constants. Raises Unsupported and UsageError."""

    def __init__(self, cls: type, constants: Mapping[str, int], bare: bool = False) -> None:
        """bare: without what it refines, for a machine that is itself refined."""
        self.cls = cls
        self.bare = bare
        self.crashes = bool(getattr(cls, "_crashes", False))
        self.given = dict(constants)
        self.members = dict(_members(cls))
        declared = {n: c for n, c in self.members.items() if isinstance(c, Const)}
        values = {n: self.given.get(n, c.default) for n, c in declared.items()}
        missing = [n for n, v in values.items() if v is None]
        known = {n: v for n, v in values.items() if v is not None}
        self.build = Build(cls, Resolver({**self.given, **known}, self._named))
        self.build.constants = {**known, **dict.fromkeys(missing, 1)}
        self.resolver = self.build.resolver
        self.resolver.constants = {**self.given, **self.build.constants}
        self.missing = missing
        try:
            self.file = inspect.getsourcefile(cls) or "<unknown>"
            self.line = class_line(cls)
        except (OSError, TypeError) as error:
            raise Unsupported(
                f"the source of {cls.__name__} cannot be read",
                thing=cls.__name__,
                next_step="define machines in a file",
            ) from error

    def _named(self, name: str) -> Any:
        modules = [sys.modules.get(c.__module__) for c in self.cls.__mro__]
        return next((vars(m)[name] for m in modules if m and name in vars(m)), None)

    def names(self) -> set[str]:
        """The constants and Sorts that the machine has, whether or not they were given."""
        self.bare = True  # a machine that is refined has names of its own
        self._variable_types()
        self._marked()
        return {*self.build.constants, *self.resolver.sizes, *self.resolver.unsized}

    def _marked(self) -> Marked:
        made = Marked()
        for name, function in self.members.items():
            mark = mark_of(function)
            if mark is None:
                continue
            self._check_fairness(function, name, mark)
            if mark.kind == "action":
                made.actions.append(self._action(function, mark))
            elif mark.kind == "process":
                made.processes.append(self._process(function, mark))
            elif mark.kind == "temporal":
                made.temporals.append(self._temporal(function))
            elif mark.kind == "recover":
                made.recovery = self._recovery(function)
            elif mark.kind == "refines":
                if not self.bare:
                    made.refinements.append(self._refinement(function, mark))
            elif mark.kind in _PREDICATES:
                made.properties.append(self._property(function, mark.kind))
            elif mark.kind == "fair":
                made.properties.append(self._property(function, mark.fair))
            else:
                raise self._refuse(function, f"@{mark.kind} ({name})", "invariants and transitions")
        return made

    def _check_fairness(self, function: Any, name: str, mark: Mark) -> None:
        named = [mark.fair] if mark.kind == "fair" else [f for f in (mark.fair, mark.fair_any) if f]
        for given in named:
            if given not in ("weak", "strong"):
                what = f"the fairness {given!r} of {name}"
                raise self._refuse(function, what, 'fair="weak" or fair="strong"')

    def ir(self) -> MachineIR:
        """The machine's IR, everything resolved."""
        variables = self._variable_types()
        marked = self._marked()
        self._check_constants()
        if not marked.actions and not marked.processes:
            raise self._refuse(self.cls, "a machine without steps", "an @action or a @process")
        starts = tuple(self._variable(n, v, variables[n]) for n, v in self._vars())
        if self.crashes:
            marked.actions.append(self._crash(starts, marked.recovery))
        return MachineIR(
            name=self.cls.__qualname__,
            module=self.cls.__module__,
            file=self.file,
            line=self.line,
            doc=(inspect.getdoc(self.cls) or "").split("\n")[0],
            constants=self._constants(),
            variables=starts,
            actions=tuple(marked.actions),
            processes=tuple(marked.processes),
            properties=tuple(marked.properties),
            temporals=tuple(marked.temporals),
            refinements=tuple(marked.refinements),
            crashes=self.crashes,
        )

    def _constants(self) -> tuple[tuple[str, int], ...]:
        named = {**self.resolver.used, **self.build.constants}
        return tuple(sorted(named.items()))

    def _check_constants(self) -> None:
        wanted = self.missing + self.resolver.unsized
        possible = [*self.build.constants, *self.resolver.sizes, *self.resolver.unsized]
        unknown = [n for n in self.given if n not in possible]
        if unknown:
            raise UsageError(
                f"{self.cls.__name__} has no constant or Sort called {unknown[0]}",
                thing=unknown[0],
                value=self.given[unknown[0]],
                possible=sorted(set(possible)),
                next_step=f"drop {unknown[0]}={self.given[unknown[0]]}",
            )
        if wanted:
            hint = " ".join(f"--set {n}=3" for n in wanted)
            raise UsageError(
                f"{self.cls.__name__} needs {', '.join(wanted)}: no size was given",
                thing=wanted[0],
                possible=tuple(f"{n}=<number>" for n in wanted),
                next_step=f"give them: {hint}, or a default: class {wanted[0]}(Sort, size=3)",
            )

    def _refuse(self, thing: Any, construct: str, instead: str) -> Unsupported:
        try:
            line = inspect.getsourcelines(thing)[1]
        except (OSError, TypeError):
            line = self.line
        place = f"{Path(self.file).name}:{line}"
        return Unsupported(
            f"{place}: {construct} is not in the machine language",
            thing=place,
            value=construct,
            next_step=f"write instead: {instead}",
        )

    def _refuser(self, thing: Any) -> Callable[[str, str], Exception]:
        return lambda construct, instead: self._refuse(thing, construct, instead)

    def _vars(self) -> list[tuple[str, Var[Any]]]:
        return [(n, v) for n, v in self.members.items() if isinstance(v, Var)]

    def _hints(self, thing: Any) -> dict[str, Any]:
        try:
            return typing.get_type_hints(thing, include_extras=True)
        except (NameError, TypeError, AttributeError) as error:
            raise self._refuse(
                thing, f"an annotation that cannot be resolved ({error})", "names of the module"
            ) from error

    def _variable_types(self) -> dict[str, t.Type]:
        hints = self._hints(self.cls)
        for name, _ in self._vars():
            annotation = hints.get(name)
            if typing.get_origin(annotation) is not Var:
                raise self._refuse(self.cls, f"{name} without a type", f"{name}: Var[T] = var(…)")
            (inner,) = typing.get_args(annotation)
            kind = self.resolver.type_of(inner, self._refuser(self.cls))
            self.build.variables[name] = kind
        return self.build.variables

    def _variable(self, name: str, variable: Var[Any], kind: t.Type) -> Variable:
        way, argument = variable.given()
        try:
            with running(Running(self.resolver.sizes, _no_choice, self.resolver.values)):
                starts = starting_values(self.resolver, way, argument, kind)
        except OutOfRange as error:
            raise UsageError(
                f"{self.cls.__name__}.{name} starts outside its type: {error}",
                thing=name,
                next_step=f"start inside {t.show(kind)}",
            ) from error
        if starts is None:
            raise self._refuse(
                self.cls,
                f"{name} = var({way}…) for {t.show(kind)}",
                "var(value), var(one_of=…), or var(each=…) and var(each_of=…) for a Map",
            )
        packed = tuple(pack_value(v) for v in sorted(set(starts), key=order))
        return Variable(name, kind, packed, self.line)

    def _params(self, function: types.FunctionType, drop: int) -> tuple[tuple[str, Param], ...]:
        hints = self._hints(function)
        made = []
        for name in list(inspect.signature(function).parameters)[drop:]:
            if name not in hints:
                raise self._refuse(function, f"the parameter {name} without a type", f"{name}: T")
            kind = self.resolver.type_of(hints[name], self._refuser(function))
            domain(kind)
            made.append((name, Param(self.build.fresh(name), kind)))
        return tuple(made)

    def _open(self, function: types.FunctionType, drop: int = 1) -> tuple[Scope, tuple[Param, ...]]:
        if not isinstance(function, types.FunctionType):
            raise self._refuse(self.cls, f"a decorator on {function!r}", "a plain method")
        scope = function_scope(self.build, function)
        if len(scope.tree.args.args) < drop:
            raise self._refuse(function, f"{function.__name__} without self", "def name(self, …)")
        params = self._params(function, drop)
        for name, param in params:
            scope.env[name] = Expr("local", param.type, (), param.name)
        return scope, tuple(p for _, p in params)

    def _translated(self, function: types.FunctionType, process: bool) -> Any:
        """Statements, with the types of locals joined over all of the code (in a few passes)."""
        known: dict[str, t.Type] = {}
        for _ in range(3):
            scope, params = self._open(function)
            statements = Statements(scope, process, known)
            body = statements.block(scope.tree.body)
            found = {n: statements.locals[made] for n, made in statements.names.items()}
            if all(n in known and t.included(k, known[n]) for n, k in found.items()):
                return params, body, statements
            known = {n: t.join((k, known[n])) if n in known else k for n, k in found.items()}
            if _ == 1:
                known = {n: t.widened(k) for n, k in known.items()}
        return params, body, statements

    def _assigned(
        self, function: types.FunctionType, live: frozenset[str], params: tuple[Param, ...]
    ) -> None:
        unset = sorted(live - {p.name for p in params})
        if unset:
            name = unset[0].rsplit(".", 1)[0]
            raise self._refuse(
                function, f"{name}, which may be read before it is assigned,", "assign it before"
            )

    def _action(self, function: types.FunctionType, mark: Mark) -> Action:
        params, body, _ = self._translated(function, process=False)
        self._assigned(function, live_before(body, frozenset()), params)
        line = function.__code__.co_firstlineno
        return Action(function.__name__, params, body, mark.fair, line, mark.fair_any)

    def _recovery(self, function: types.FunctionType) -> tuple[Stmt, ...]:
        params, body, _ = self._translated(function, process=False)
        if params:
            raise self._refuse(function, "a parameter of @recover", "any_of(…) inside")
        self._assigned(function, live_before(body, frozenset()), ())
        made: tuple[Stmt, ...] = body
        return made

    def _crash(self, variables: tuple[Variable, ...], recovery: tuple[Stmt, ...]) -> Action:
        volatile = frozenset(n for n, v in self._vars() if v.volatile)
        several = [v.name for v in variables if v.name in volatile and len(v.initial) > 1]
        if several or CRASH in self.members:
            what = f"{several[0]}, volatile," if several else f"a member called {CRASH}"
            instead = "one starting value: what a crash leaves" if several else "another name"
            raise self._refuse(self.cls, what, instead)
        return crash_action(variables, volatile, recovery, self.line)

    def _process(self, function: types.FunctionType, mark: Mark) -> Process:
        if not inspect.isgeneratorfunction(function):
            raise self._refuse(function, f"{function.__name__} without a yield", "self = yield")
        params, body, statements = self._translated(function, process=True)
        line = function.__code__.co_firstlineno
        identity = frozenset(p.name for p in params)
        blocks, entry = Lowering(f"{Path(self.file).name}:{line}", identity).lower(body)
        self._assigned(function, live_at(blocks)[entry], params)
        kept = tuple(Param(n, k) for n, k in statements.every_local().items())
        name, fair, fair_any = function.__name__, mark.fair, mark.fair_any
        return Process(name, params, blocks, entry, kept, fair, line, fair_any)

    def _temporal(self, function: types.FunctionType) -> Temporal:
        scope, params = self._open(function)
        line = function.__code__.co_firstlineno
        return Temporal(function.__name__, params, formula_of(scope), line)

    def _refinement(self, function: types.FunctionType, mark: Mark) -> Refinement:
        if mark.abstract is None or not any(isinstance(v, Var) for _, v in _members(mark.abstract)):
            raise self._refuse(
                function, f"{mark.abstract!r} as a machine", "a class with variables"
            )
        self._variable_types()
        known = {**self.resolver.sizes, **self.build.constants}
        front = FrontEnd(mark.abstract, {})
        named = {n: self.resolver.number(v) for n, v in mark.constants.items()}
        shared = {n: known[n] for n in front.names() if n in known}
        abstract = FrontEnd(mark.abstract, {**shared, **named}, bare=True).ir()
        if abstract.processes:
            what = f"{abstract.name}, which has processes, as what is refined"
            raise self._refuse(function, what, "its places as a variable, and actions")
        scope, _ = self._open(function)
        line = function.__code__.co_firstlineno
        return Refinement(function.__name__, abstract, mapping_of(scope, abstract.variables), line)

    def _property(self, function: types.FunctionType, kind: str) -> Property:
        binary = kind in STEP_KINDS
        scope, params = self._open(function, drop=2 if binary else 1)
        if binary:
            scope.states[scope.tree.args.args[1].arg] = "next"
        if kind == "observe" and not self.crashes:
            what = f"the @observe {function.__name__} of a machine that never crashes"
            raise self._refuse(function, what, "class X(Machine, crashes=True), or @invariant")
        if params and kind in ("terminal", "initial", "constraint", "reachable"):
            raise self._refuse(function, f"a parameter of a @{kind}", "any(…) or all(…) inside")
        predicate = pure_body(scope)
        if predicate.type != BOOL:
            raise self._refuse(function, f"a @{kind} that gives {t.show(predicate.type)}", "a bool")
        line = function.__code__.co_firstlineno
        return Property(function.__name__, kind, params, predicate, line)


def _members(cls: type) -> Iterator[tuple[str, Any]]:
    """Class attributes in the order of the source, bases first, overridden ones once."""
    names = dict.fromkeys(n for base in reversed(cls.__mro__) for n in vars(base))
    for name in names:
        found = inspect.getattr_static(cls, name)
        if isinstance(found, Var | Const) or mark_of(found) is not None:
            yield name, found


def _no_choice(options: Sequence[Any]) -> Any:
    raise RefuteError("any_of has no meaning in a starting value", next_step="use var(one_of=…)")


def translate(cls: type, constants: Mapping[str, int]) -> MachineIR:
    """The IR of a machine class under these constants. Raises Unsupported, UsageError."""
    return FrontEnd(cls, constants).ir()
