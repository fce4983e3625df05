"""Statements of actions and processes: from Python syntax to typed IR.

Containers are values, so a mutating method is a write of the path it is called on, and a call of
one on anything but a path from self is refused: in Python an alias would see it.
"""

from __future__ import annotations

import ast
import types
import typing
from collections.abc import Mapping
from typing import Any

from refute.specs.machine import (
    language,
    mutating,
    narrowing,
    rounds,
    sending,
    unpacking,
    views,
    writing,
)
from refute.specs.machine import types as t
from refute.specs.machine.calls import MUTATORS, Calls
from refute.specs.machine.choosing import Replaced, first_choice
from refute.specs.machine.closures import Closure
from refute.specs.machine.expressions import constant
from refute.specs.machine.ir import (
    Assign,
    Check,
    Choose,
    Expr,
    If,
    Leave,
    Stmt,
    When,
    Write,
)
from refute.specs.machine.matching import as_ifs
from refute.specs.machine.naming_inside import hoisted
from refute.specs.machine.parts import Part, Port
from refute.specs.machine.scope import Scope, is_const

_AUGMENTED = {ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod, ast.BitOr, ast.BitAnd, ast.BitXor}
_AUGMENTED |= {ast.Pow, ast.LShift, ast.RShift}


class Statements:
    """Translates the statements of one action or process. locals: IR name → joined type."""

    def __init__(self, scope: Scope, process: bool, known: Mapping[str, t.Type]) -> None:
        self.scope = scope
        self.calls = Calls(scope)
        self.process = process
        self.known = known
        self.params = frozenset(scope.env)
        self.names: dict[str, str] = {n: e.data for n, e in scope.env.items()}
        self.locals: dict[str, t.Type] = {e.data: e.type for e in scope.env.values()}
        self.temporaries: dict[str, t.Type] = {}
        self.loops: list[str] = []
        self.flags: list[str] = []
        self.running: tuple[types.FunctionType, ...] = (scope.function,)

    def inside(
        self, scope: Scope, function: types.FunctionType, known: Mapping[str, t.Type]
    ) -> Statements:
        """The translation of a helper that is called here; see `writing`."""
        made = Statements(scope, False, known)
        made.loops, made.running = list(self.loops), (*self.running, function)
        return made

    def every_local(self) -> dict[str, t.Type]:
        """IR name → type of every local that a yield may have to keep."""
        return {**self.locals, **self.temporaries}

    def block(self, body: list[ast.stmt]) -> tuple[Stmt, ...]:
        """The statements in order."""
        return tuple(s for node in body for s in self.statement(node))

    def statement(self, node: ast.stmt) -> list[Stmt]:
        """One Python statement as IR statements. Raises Unsupported."""
        made = self._statement(node)
        self.scope.facts = narrowing.after(self.scope.facts, made, self.scope.env.values())
        return made

    def _statement(self, node: ast.stmt) -> list[Stmt]:
        call = first_choice(node, self._is_choice, self._is_variable)
        if call is not None:
            found, chosen = self._choose(call, node)
            name = f"_any_of_{len(self.scope.env)}"
            self.scope.env[name] = found
            return [chosen, *self.statement(Replaced(call, name).visit(node))]
        named = hoisted(node)
        if named is not None:
            return [s for part in named for s in self.statement(part)]
        return self._plain(node)

    def _plain(self, node: ast.stmt) -> list[Stmt]:
        match node:
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                return []
            case ast.Expr(value=ast.Call() as call):
                return self._call(call, node)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Yield(value=None)) if (
                self.scope.states.get(name) == "read"
            ):
                return self._yield(node)
            case ast.Expr(value=ast.Yield()) | ast.Assign(value=ast.Yield()):
                raise self.scope.refuse(
                    node,
                    "a bare yield (type checkers keep narrowing self across it)",
                    "self = yield",
                )
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda() as value):
                self.scope.functions[name] = Closure.of(self.calls, value)
                return []
            case ast.FunctionDef():
                self.scope.functions[node.name] = Closure.of(self.calls, node)
                return []
            case ast.Assign(targets=[target], value=value):
                return self._assign(target, value, node)
            case ast.Assign(targets=targets, value=value):
                return self._chained(targets, value, node)
            case ast.AnnAssign(target=ast.Name(), value=None):
                return []
            case ast.Delete(targets=targets):
                return [unpacking.deleted(self, target, node) for target in targets]
            case ast.Raise():
                return [Check(constant(False, t.Bool()), node.lineno)]
            case ast.AnnAssign(target=ast.Name() as target, value=ast.expr() as value):
                return self._assign(target, value, node)
            case ast.AugAssign():
                return self._augmented(node)
            case ast.If() | ast.For() | ast.While():
                return self._compound(node)
            case ast.Match():
                return [s for part in as_ifs(self.scope, node) for s in self.statement(part)]
            case ast.Assert():
                return [Check(self.calls.truth(node.test), node.lineno)]
            case ast.Return(value=None):
                return [Leave("return", node.lineno)]
            case ast.Break():
                return rounds.left(self, node)
            case ast.Continue():
                return [Leave("continue", node.lineno)]
        if isinstance(node, ast.Expr):
            what = f"the value {ast.unparse(node.value)} as a statement"
            raise self.scope.refuse(node, what, "when(…), or a write to self.x")
        raise self.scope.refuse(node, *_OUTSIDE.get(type(node).__name__, _OTHER))

    def _yield(self, node: ast.stmt) -> list[Stmt]:
        if not self.process:
            raise self.scope.refuse(node, "yield in an action", "a @process")
        return [Leave("yield", node.lineno)]

    def _call(self, call: ast.Call, node: ast.stmt) -> list[Stmt]:
        target = self.scope.static(call.func)
        if target is language.when:
            if len(call.args) != 1 or call.keywords:
                raise self.scope.refuse(node, "this when", "when(one condition)")
            return [When(self.calls.truth(call.args[0]), node.lineno)]
        written = writing.called(self, call, node)
        if written is not None:
            return written
        if target is typing.assert_never:
            return [Check(constant(False, t.Bool()), node.lineno)]
        if target is language.any_of:
            raise self.scope.refuse(node, "any_of(…) whose choice is dropped", "x = any_of(…)")
        if sending.is_transfer(self.calls, call, "send"):
            return sending.sent(self.calls, call, self.loops)
        if sending.is_transfer(self.calls, call, "receive"):
            return sending.received(self.calls, call, self.loops)[1]
        if isinstance(call.func, ast.Attribute) and call.func.attr in sending.SENDING:
            what = f"{ast.unparse(call.func)}(…), which is not about a channel of self,"
            instead = "self.channel.send(…), of several self.net[key].send(…)"
            raise self.scope.refuse(node, what, instead)
        if isinstance(call.func, ast.Attribute) and call.func.attr in MUTATORS:
            return [self._mutation(call, call.func, node)]
        if isinstance(call.func, ast.Attribute) and views.viewed(self.calls, call.func.value):
            what = f"the statement {ast.unparse(call.func)}(…), which is no helper of this class,"
            raise self.scope.refuse(node, what, "a method of it, or a write to self.x")
        raise self.scope.refuse(
            node, f"{ast.unparse(call.func)}(…) as a statement", "when(…), or a write to self.x"
        )

    def _mutation(self, call: ast.Call, func: ast.Attribute, node: ast.stmt) -> Stmt:
        place = self.place(func.value)
        if place is None:
            raise self.scope.refuse(
                node,
                f".{func.attr}(…) on what is not a path from self (values are immutable)",
                f"self.variable.{func.attr}(…), or a new value: x = x | {{e}}",
            )
        var, path, target = place
        now = self.calls.expr(func.value)
        new = mutating.mutated(self.calls, now, target, func.attr, call, node)
        return Write(var, path, new, target, node.lineno)

    def place(self, node: ast.expr) -> tuple[str, tuple[Expr, ...], t.Type] | None:
        """The variable, the keys and the type of a path from self; None for anything else."""
        if isinstance(node, ast.Attribute):
            return views.place_of(self.calls, node)
        if not isinstance(node, ast.Subscript) or isinstance(node.slice, ast.Slice):
            return None
        base = self.place(node.value)
        if base is None:
            return None
        var, path, kind = base
        key = self.calls.expr(node.slice)
        inside = self.calls.index(Expr("read", kind, (), var), key, node)
        if not isinstance(kind, t.MapOf | t.SeqOf):
            raise self.scope.refuse(node, f"a write into {t.show(kind)}", "a write of the whole")
        return var, (*path, key), inside.type

    def _assign(self, target: ast.expr, value: ast.expr, node: ast.stmt) -> list[Stmt]:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            return self._parallel(target, value, node)
        if self._is_choice(value):
            name, statement = self._choose(value, node)
            return [statement, *self.store(target, name, node)]
        if isinstance(value, ast.Call) and sending.is_transfer(self.calls, value, "receive"):
            message, taken = sending.received(self.calls, value, self.loops)
            return [*taken, *self.store(target, message, node)]
        out = unpacking.popped(self, target, value, node)
        if out is not None:
            return out
        place = None if isinstance(target, ast.Name) else self.place(target)
        return self.store(target, self.calls.expr(value, place[2] if place else None), node)

    def _chained(self, targets: list[ast.expr], value: ast.expr, node: ast.stmt) -> list[Stmt]:
        """`a = b = value`: evaluated once, written from left to right."""
        name = f" value {node.lineno}"
        made = self._assign(ast.copy_location(ast.Name(name, ast.Store()), node), value, node)
        found = self.scope.env[name]
        return [*made, *(s for target in targets for s in self.store(target, found, node))]

    def _parallel(self, target: ast.Tuple, value: ast.Tuple, node: ast.stmt) -> list[Stmt]:
        """`a, b = x, y`: all right sides first, then the writes in order."""
        if len(target.elts) != len(value.elts):
            raise self.scope.refuse(node, "an unpacking of other length", "as many names as values")
        chosen, stores = [], []
        choices = [self._is_choice(v) for v in value.elts]
        for place, part, choice in zip(target.elts, value.elts, choices, strict=True):
            if choice:
                found, statement = self._choose(part, node)
                chosen.append(statement)
            else:
                where = None if isinstance(place, ast.Name) else self.place(place)
                found = self.calls.expr(part, where[2] if where else None)
                if any(choices) and found.op not in ("const", "local", "read"):
                    raise self.scope.refuse(
                        part, "any_of(…) next to another expression", "two statements"
                    )
                fresh = self.scope.build.fresh("side")
                self.scope.build.note(fresh, found)
                chosen.append(Assign(fresh, found, node.lineno))
                found = Expr("local", found.type, (), fresh)
            stores.append((place, found))
        return [*chosen, *(s for place, found in stores for s in self.store(place, found, node))]

    def _is_variable(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Attribute) and bool(self.scope.state_of(node.value))

    def _is_choice(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Call) and self.scope.static(node.func) is language.any_of

    def _choose(self, node: Any, at: ast.stmt) -> tuple[Expr, Stmt]:
        if len(node.args) != 1 or node.keywords:
            raise self.scope.refuse(node, "this any_of", "any_of(one collection)")
        only = node.args[0]
        if isinstance(only, ast.GeneratorExp):
            only = ast.copy_location(ast.ListComp(only.elt, only.generators), only)
        source = self.calls.expr(only)
        elem = self.calls.element(source, node)
        fresh = self.scope.build.fresh("choice")
        return Expr("local", elem, (), fresh), Choose(fresh, source, elem, at.lineno)

    def store(self, target: ast.expr, value: Expr, node: ast.stmt) -> list[Stmt]:
        """A value put where a target says. Raises Unsupported."""
        if isinstance(target, ast.Name):
            if target.id in self.scope.states:
                raise self.scope.refuse(node, f"an assignment to {target.id}", "self = yield")
            return [self._local(target.id, value, node)]
        if isinstance(target, ast.Tuple | ast.List):
            return unpacking.unpacked(self, target, value, node)
        place = self.place(target)
        if place is None:
            if isinstance(target, ast.Attribute) and is_const(self.scope.member(target.attr)):
                raise self.scope.refuse(node, "a write to a constant", "a Var")
            raise self.scope.refuse(node, *self._no_place(target))
        var, path, kind = place
        return [Write(var, path, value, kind, node.lineno)]

    def _no_place(self, target: ast.expr) -> tuple[str, str]:
        """What cannot be written to, and what to write instead."""
        written = ast.unparse(target)
        if isinstance(target, ast.Attribute) and self.scope.state_of(target.value):
            name = target.attr
            if isinstance(self.scope.member(name), Part | Port):
                return f"a write to {written}, which is a part,", "a step of the part itself"
            return (
                f"a write to {written}, which is no Var,",
                f"{name}: Var[T] = var(…) in the class",
            )
        return f"a write to {written}, not a path from self,", self._instead(target)

    def _instead(self, target: ast.expr) -> str:
        """What to write in place of a write into a value."""
        match target:
            case ast.Attribute(value=inner, attr=name) if self.place(inner) is not None:
                whole = ast.unparse(inner)
                return f"{whole} = replace({whole}, {name}=…)"
            case ast.Subscript(value=ast.Name(id=name)):
                return f"{name} = {{**{name}, key: …}} of a Map, or a comprehension"
        return "self.variable = …"

    def _local(self, name: str, value: Expr, node: ast.stmt) -> Stmt:
        if self.process and name in self.params:
            raise self.scope.refuse(
                node, f"an assignment to {name}, which says which process this is,", "another name"
            )
        made = self.names.setdefault(name, self.scope.build.fresh(name))
        self.scope.build.note(made, value)
        kinds = [value.type]
        kinds += [self.locals[made]] if made in self.locals else []
        kinds += [self.known[name]] if name in self.known else []
        kind = t.join(kinds)
        self.locals[made] = kind
        self.scope.env[name] = Expr("local", kind, (), made)
        return Assign(made, value, node.lineno)

    def _augmented(self, node: ast.AugAssign) -> list[Stmt]:
        if type(node.op) not in _AUGMENTED:
            raise self.scope.refuse(node, f"{type(node.op).__name__} with =", "+= -= *= |= &=")
        read: Any = ast.parse(ast.unparse(node.target), mode="eval").body
        value = ast.BinOp(read, node.op, node.value)
        for part in ast.walk(value):
            ast.copy_location(part, node)
        return self._assign(node.target, value, node)

    def _compound(self, node: ast.If | ast.For | ast.While) -> list[Stmt]:
        if isinstance(node, ast.If) and self._is_choice(node.test):
            name, statement = self._choose(node.test, node)
            then = self.block(node.body)
            test = self.calls.truth_of(name, node)
            return [statement, If(test, then, self.block(node.orelse), node.lineno)]
        if isinstance(node, ast.If):
            return [self._branched(node, self.calls.truth(node.test))]
        facts = narrowing.around(self.scope.facts, node, self.names)
        self.scope.facts = facts
        found = rounds.loop(self, node)
        self.scope.facts = facts
        return found

    def _branched(self, node: ast.If, test: Expr) -> If:
        """An `if`: each branch knows how the test came out, and so does what follows if one ends
        the step."""
        facts = self.scope.facts
        told = narrowing.worth(test)
        self.scope.facts = (*facts, (test, True)) if told else facts
        then, first = self.block(node.body), self.scope.facts
        self.scope.facts = (*facts, (test, False)) if told else facts
        orelse, second = self.block(node.orelse), self.scope.facts
        pairs = ((first, then), (second, orelse))
        open_ends = [end for end, way in pairs if not narrowing.leaves(way)]
        self.scope.facts = tuple(f for f in first if all(f in end for end in open_ends))
        if len(open_ends) == 1:
            self.scope.facts = open_ends[0]
        return If(test, then, orelse, node.lineno)


_OUTSIDE = {
    "Return": ("return with a value", "return"),
    "Try": ("try", "an if: steps are judged by what they raise"),
    "With": ("with", "plain statements"),
    "Global": ("global", "a Var of the machine"),
    "Nonlocal": ("nonlocal", "a Var of the machine"),
    "Import": ("import in a step", "an import at the top of the module"),
    "ImportFrom": ("import in a step", "an import at the top of the module"),
    "AsyncFunctionDef": ("async def", "a @process"),
    "ClassDef": ("a class in a step", "a class of the module"),
}
_OTHER = ("this statement", "when, if, for, assignments and writes to self.x")
