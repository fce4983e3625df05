"""From a live machine class to its IR. Whatever the language does not have is refused here.

The class's source is read, not traced: each decorated method is parsed and translated with the
names it can see. Only starting values are computed by running the user's code.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import types
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from refute.errors import UsageError
from refute.specs.machine import types as t
from refute.specs.machine.calls import pure_body
from refute.specs.machine.composing import constants_of, each_part
from refute.specs.machine.crashing import Fall, begun, crash_action, observed, waiting
from refute.specs.machine.declared import Declared, members_of
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
    visible,
)
from refute.specs.machine.language import Var
from refute.specs.machine.lower import Lowering, live_at, live_before
from refute.specs.machine.mapping import mapping_of
from refute.specs.machine.marks import Mark, mark_of
from refute.specs.machine.opening import Checked
from refute.specs.machine.placing import Placed
from refute.specs.machine.scope import Scope, function_scope
from refute.specs.machine.settled import settled
from refute.specs.machine.statement import WELL_DEFINED
from refute.specs.machine.statements import Statements
from refute.specs.machine.temporal import formula_of
from refute.specs.machine.variables import open_to_all, placed, typed
from refute.specs.machine.views import View
from refute.specs.machine.whole import fronts, marked_names, whole

_PREDICATES = (
    "invariant",
    "observe",
    "reachable",
    "transition",
    "terminal",
    "initial",
    "constraint",
)


Ending = Callable[[tuple[Expr, ...]], Expr]


@dataclasses.dataclass
class Marked:
    """The marked methods of a class, translated.

    terminals: of parts, by their prefixes: whether a part with these keys may stop. falls: of parts
    that crash.
    """

    actions: list[Action] = dataclasses.field(default_factory=list)
    processes: list[Process] = dataclasses.field(default_factory=list)
    properties: list[Property] = dataclasses.field(default_factory=list)
    temporals: list[Temporal] = dataclasses.field(default_factory=list)
    refinements: list[Refinement] = dataclasses.field(default_factory=list)
    terminals: list[tuple[str, Ending]] = dataclasses.field(default_factory=list)
    falls: list[Fall] = dataclasses.field(default_factory=list)
    recovery: tuple[Stmt, ...] = ()
    recovering: Placed | None = None


class FrontEnd(Declared):
    """One machine class under some constants. Raises Unsupported and UsageError."""

    def names(self) -> set[str]:
        """The constants and Sorts that the machine has, whether or not they were given."""
        self.bare = True  # a machine that is refined has names of its own
        self.open()
        marked_names(self)
        return {*constants_of(self), *self.resolver.sizes, *self.resolver.unsized}

    def marked(self) -> Marked:
        """The marked methods, translated; see `Marked`. Raises Unsupported."""
        made = Marked()
        self._check_init()
        for name, function in self.members.items():
            mark = mark_of(function)
            if mark is None:
                continue
            self._check_fairness(function, name, mark)
            if name == WELL_DEFINED:
                raise self.refuse(function, f"a member called {name}", "another name")
            if mark.kind == "action":
                made.actions.append(self._action(function, mark))
            elif mark.kind == "process":
                made.processes.append(self._process(function, mark))
            elif mark.kind == "temporal":
                made.temporals.append(self._temporal(function))
            elif mark.kind == "recover" and self._in_steps(function):
                made.recovering = Placed(self._process(function, mark), self.build.fresh)
            elif mark.kind == "recover":
                made.recovery, _ = self._recovery(function)
            elif mark.kind == "refines":
                if not self.bare:
                    every = self._each_part()
                    made.refinements += [self._refinement(function, mark) for _ in every]
            elif mark.kind == "terminal" and self.build.seat is not None:
                made.terminals.append((self.build.prefix, self._ending(function)))
            elif mark.kind in ("reachable", "observe"):
                every = self._each_part()
                made.properties += [self._property(function, mark.kind) for _ in every]
            elif mark.kind in _PREDICATES:
                prop = self._property(function, mark.kind)
                made.properties.append(dataclasses.replace(prop, inductive=mark.inductive or None))
            elif mark.kind == "fair":
                made.properties.append(self._property(function, mark.fair))
            else:
                raise self.refuse(function, f"@{mark.kind} ({name})", "invariants and transitions")
        if self.crashes and self.build.seat is not None:
            made.falls.append(self._fall(made))
        return made

    def _fall(self, made: Marked) -> Fall:
        """What a crash of this part has it do to recover."""
        if CRASH in vars(self.cls):
            raise self.refuse(self.cls, f"a member called {CRASH}", "another name")
        params = tuple(Param(self.build.fresh("part"), k) for k in self.build.keys)
        body: tuple[Stmt, ...] = ()
        for function in self.members.values():
            mark = mark_of(function)
            if mark is not None and mark.kind == "recover" and made.recovering is None:
                body, params = self._recovery(function)
        return Fall(self.build.prefix, params, body, self.line, made.recovering)

    def _check_init(self) -> None:
        maker = next(base for base in self.cls.__mro__ if "__init__" in vars(base))
        if maker is not object:
            instead = "x: Var[T] = var(value), for each variable"
            raise self.refuse(vars(maker)["__init__"], "__init__ of a machine", instead)

    def _check_fairness(self, function: Any, name: str, mark: Mark) -> None:
        named = [mark.fair] if mark.kind == "fair" else [f for f in (mark.fair, mark.fair_any) if f]
        for given in named:
            if given not in ("weak", "strong"):
                what = f"the fairness {given!r} of {name}"
                raise self.refuse(function, what, 'fair="weak" or fair="strong"')
        if named and mark.kind == "recover" and not inspect.isgeneratorfunction(function):
            what = f"the fairness of {name}, which is a part of the crash,"
            raise self.refuse(function, what, "@recover, or steps: -> Steps[Self], with yields")

    def ir(self) -> MachineIR:
        """The machine's IR, everything resolved."""
        self.open()
        marked = marked_names(self)
        self.check_constants()
        if not marked.actions and not marked.processes:
            raise self.refuse(self.cls, "a machine without steps", "an @action or a @process")
        starts = settled(whole(self, marked), open_to_all(self), marked.properties)
        if self.crashes:
            marked.actions.append(self._crash(starts, self._first(marked)))
            starts = (*starts, *(waiting(marked.recovering) if marked.recovering else ()))
        made = MachineIR(
            name=self.cls.__qualname__,
            module=self.cls.__module__,
            file=self.file,
            line=self.line,
            doc=(inspect.getdoc(self.cls) or "").split("\n")[0],
            constants=self.constants(),
            variables=starts,
            actions=tuple(marked.actions),
            processes=tuple(marked.processes),
            properties=tuple(marked.properties),
            temporals=tuple(marked.temporals),
            refinements=tuple(marked.refinements),
            crashes=self.crashes,
        )
        if any(each.resolver.quantifies for each in fronts(self)):
            Checked(self.refuse_at, self.build.checked).machine(made)
        return made

    def _params(self, function: types.FunctionType, drop: int) -> tuple[tuple[str, Param], ...]:
        hints = self.hints(function)
        made = []
        for name in list(inspect.signature(function).parameters)[drop:]:
            if name not in hints:
                raise self.refuse(function, f"the parameter {name} without a type", f"{name}: T")
            with placed(lambda: self.refuse(function, "", "").thing):
                kind = self.resolver.type_of(hints[name], self.refuser(function))
                given = mark_of(function)
                chooses = given is not None and given.kind == "action"
                (self.resolver.chosen if chooses else self.resolver.walked)(kind)
            made.append((name, Param(self.build.fresh(name), kind)))
        return tuple(made)

    def _open(self, function: types.FunctionType, drop: int = 1) -> tuple[Scope, tuple[Param, ...]]:
        if not isinstance(function, types.FunctionType):
            raise self.refuse(self.cls, f"a decorator on {function!r}", "a plain method")
        scope = function_scope(self.build, function)
        parts = [Param(self.build.fresh("part"), k) for k in self.build.keys]
        keys = tuple(Expr("local", p.type, (), p.name) for p in parts)
        if self.part is not None:
            parts, keys = [], self.part[1]
        scope.states = {name: View.of("read", self.build, keys) for name in scope.states}
        if len(scope.tree.args.args) < drop:
            wanted = "self, after: Self" if drop == 2 else "self"
            given = ast.unparse(scope.tree.args)
            raise self.refuse(
                function, f"{function.__name__}({given})", f"def {function.__name__}({wanted}, …)"
            )
        params = self._params(function, drop)
        for name, param in params:
            scope.env[name] = Expr("local", param.type, (), param.name)
        return scope, (*parts, *(p for _, p in params))

    def _each_part(self) -> Iterator[None]:
        """Translate for one part after the other; once for a machine that is none."""
        for part in each_part(self) if self.build.seat is not None else (None,):
            self.part = part
            yield
        self.part = None

    def name(self, function: types.FunctionType, claimed: bool = False) -> str:
        """The name of a method in the whole machine. claimed: of a property."""
        name = function.__name__
        if self.part is not None:
            return self.part[0] + name
        prefix = self.build.prefix
        return (prefix.replace("[]", "") if claimed else prefix) + name

    def _ending(self, function: types.FunctionType) -> Ending:
        """Whether the part with these keys may stop, by a @terminal of its class."""

        def of(keys: tuple[Expr, ...]) -> Expr:
            self.part = (self.build.prefix, keys)
            made = self._property(function, "terminal").predicate
            self.part = None
            return made

        return of

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
            raise self.refuse(
                function, f"{name}, which may be read before it is assigned,", "assign it before"
            )

    def _action(self, function: types.FunctionType, mark: Mark) -> Action:
        params, body, _ = self._translated(function, process=False)
        self._assigned(function, live_before(body, frozenset()), params)
        line = function.__code__.co_firstlineno
        return Action(self.name(function), params, body, mark.fair, line, mark.fair_any)

    def _recovery(self, function: types.FunctionType) -> tuple[tuple[Stmt, ...], tuple[Param, ...]]:
        """The code of a `@recover`, and the parameters that say which part it is of."""
        params, body, _ = self._translated(function, process=False)
        if len(params) > len(self.build.keys):
            raise self.refuse(function, "a parameter of @recover", "any_of(…) inside")
        self._assigned(function, live_before(body, frozenset()), params)
        return body, params

    def _in_steps(self, function: Any) -> bool:
        """Whether a `@recover` yields."""
        if not inspect.isgeneratorfunction(function):
            return False
        if len(inspect.signature(function).parameters) > 1:
            raise self.refuse(function, "a parameter of @recover", "any_of(…) inside")
        return True

    def _first(self, marked: Marked) -> tuple[Stmt, ...]:
        """What a crash does of the recovery; one in steps becomes an action, judged at its end."""
        placed = marked.recovering
        if placed is None:
            return marked.recovery
        marked.actions.append(placed.action())
        seen = [observed(placed, p) if p.kind == "observe" else p for p in marked.properties]
        marked.properties[:] = seen
        return begun(placed, (), self.line)

    def _crash(self, variables: tuple[Variable, ...], recovery: tuple[Stmt, ...]) -> Action:
        volatile = frozenset(n for n, v in self.vars() if v.volatile)
        several = [v.name for v in variables if v.name in volatile and len(v.initial) != 1]
        if several or CRASH in self.members:
            what = f"{several[0]}, volatile," if several else f"a member called {CRASH}"
            instead = "one starting value: what a crash leaves" if several else "another name"
            raise self.refuse(self.cls, what, instead)
        return crash_action(variables, volatile, recovery, self.line)

    def _process(self, function: types.FunctionType, mark: Mark) -> Process:
        if not inspect.isgeneratorfunction(function):
            raise self.refuse(function, f"{function.__name__} without a yield", "self = yield")
        params, body, statements = self._translated(function, process=True)
        line = function.__code__.co_firstlineno
        identity = frozenset(p.name for p in params)
        blocks, entry = Lowering(f"{Path(self.file).name}:{line}", identity).lower(body)
        self._assigned(function, live_at(blocks)[entry], params)
        kept = tuple(Param(n, k) for n, k in statements.every_local().items())
        name, fair, fair_any = self.name(function), mark.fair, mark.fair_any
        return Process(name, params, blocks, entry, kept, fair, line, fair_any)

    def _temporal(self, function: types.FunctionType) -> Temporal:
        scope, params = self._open(function)
        line = self.line_of(function)
        return Temporal(self.name(function, claimed=True), params, formula_of(scope), line)

    def _refinement(self, function: types.FunctionType, mark: Mark) -> Refinement:
        if mark.abstract is None or not any(
            isinstance(v, Var) for _, v in members_of(mark.abstract)
        ):
            raise self.refuse(function, f"{mark.abstract!r} as a machine", "a class with variables")
        typed(self)
        known = {**self.resolver.sizes, **self.build.constants}
        named = {n: self.resolver.number(v) for n, v in mark.constants.items()}
        try:
            abstract = FrontEnd(mark.abstract, {**known, **named}, bare=True).ir()
        except UsageError:  # it has not all of these
            shared = {n: known[n] for n in FrontEnd(mark.abstract, {}).names() if n in known}
            abstract = FrontEnd(mark.abstract, {**shared, **named}, bare=True).ir()
        scope, _ = self._open(function)
        line = self.line_of(function)
        name = self.name(function, claimed=True)
        return Refinement(name, abstract, mapping_of(scope, visible(abstract)), line)

    def _property(self, function: types.FunctionType, kind: str) -> Property:
        binary = kind in STEP_KINDS
        scope, params = self._open(function, drop=2 if binary else 1)
        if binary:
            before = scope.states[scope.tree.args.args[0].arg]
            keys = before.keys if isinstance(before, View) else ()
            scope.states[scope.tree.args.args[1].arg] = View.of("next", self.build, keys)
        if kind == "observe" and not self.crashes:
            what = f"the @observe {function.__name__} of a machine that never crashes"
            raise self.refuse(function, what, "class X(Machine, crashes=True), or @invariant")
        own = len(params) > (0 if self.part else len(self.build.keys))
        if own and kind in ("terminal", "initial", "constraint", "reachable"):
            raise self.refuse(function, f"a parameter of a @{kind}", "any(…) or all(…) inside")
        predicate = pure_body(scope)
        if predicate.type != BOOL:
            raise self.refuse(function, f"a @{kind} that gives {t.show(predicate.type)}", "a bool")
        line = self.line_of(function)
        crash, keys = "", self.part[1] if kind == "observe" and self.part else ()
        if kind == "observe":
            crash = self.build.prefix + CRASH
        name = self.name(function, claimed=True)
        return Property(name, kind, params, predicate, line, crash, keys)


def translate(cls: type, constants: Mapping[str, int | str]) -> MachineIR:
    """The IR of a machine class under these constants. Raises Unsupported, UsageError."""
    return FrontEnd(cls, constants).ir()
