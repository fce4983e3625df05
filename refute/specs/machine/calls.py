"""Calls: builtins, methods of containers, dataclasses, and pure helpers.

What the names in them stand for is known when the machine is built.
"""

from __future__ import annotations

import ast
import builtins
import dataclasses
import inspect
import types
import typing
from collections.abc import Sequence
from typing import Any

from refute.specs.machine import (
    bags,
    formulas,
    functions,
    inherited,
    language,
    methods,
    opening,
    overlaying,
    records,
    sending,
    sugar,
    views,
)
from refute.specs.machine import types as t
from refute.specs.machine.annotations import named_fields
from refute.specs.machine.closures import Closure, Passed
from refute.specs.machine.containers import Bag, Map, Seq, Set
from refute.specs.machine.expressions import BOOL, constant, number
from refute.specs.machine.families import FAMILIES
from refute.specs.machine.inlining import Inlining
from refute.specs.machine.ir import Expr
from refute.specs.machine.marks import mark_of
from refute.specs.machine.scope import MISSING, Scope, function_scope

MUTATORS = frozenset(
    {"add", "discard", "remove", "clear", "update", "append", "extend", "pop", "insert", "sort"}
    | {"setdefault", "popitem", "reverse", "intersection_update", "difference_update"}
)
_SET_TESTS = {"issubset": "subset", "isdisjoint": "disjoint"}


class Calls(Inlining):
    """Expressions with calls."""

    def _Call(self, node: ast.Call, want: t.Type | None) -> Expr:
        if any(isinstance(a, ast.Starred) for a in node.args) or any(
            k.arg is None for k in node.keywords
        ):
            raise self.scope.refuse(node, "* or ** in a call", "the arguments")
        of_channel = sending.asked(self, node)
        if of_channel is not None:
            return of_channel
        if isinstance(node.func, ast.Attribute):
            over = inherited.overridden(self, node.func)
            if over is not None:
                function, view = over
                return self.inline(function, self.arguments(function, node, True), view, node)
            state = views.viewed(self, node.func.value)
            if state:
                return self._own_call(node, node.func.attr, state)
        named = node.func.id if isinstance(node.func, ast.Name) else ""
        local = self.scope.functions.get(named)
        if isinstance(node.func, ast.Lambda):
            local = Closure.of(self, node.func)
        if local is not None:
            if node.keywords:
                raise self.scope.refuse(node, "this call with names", "arguments in order")
            return local.call([self.expr(a) for a in node.args], node)
        target = self.scope.static(node.func)
        if target is MISSING and isinstance(node.func, ast.Attribute):
            base = sugar.solid(self.expr(node.func.value))
            return self._method(base, node.func.attr, node)
        return self._call_of(target, node, want)

    def _own_call(self, node: ast.Call, name: str, state: str) -> Expr:
        found = self.scope.member(name, state)
        if isinstance(found, staticmethod):
            inner: Any = found.__func__
            return self.inline(inner, self.arguments(inner, node), "", node)
        if not isinstance(found, types.FunctionType):
            variable = isinstance(found, language.Var | language.Const)
            what = f"a call of self.{name}, a variable," if variable else f"a call of self.{name}"
            raise self.scope.refuse(node, what, f"self.{name}" if variable else "a helper method")
        mark = mark_of(found)
        if mark is not None and mark.kind in ("action", "process"):
            raise self.scope.refuse(
                node, f"a call of the {mark.kind} {name}", "a helper that both of them use"
            )
        return self.inline(found, self.arguments(found, node, bound=True), state, node)

    def arguments(
        self, function: types.FunctionType, node: ast.Call, bound: bool = False
    ) -> list[Any]:
        """The arguments in the order of the parameters: IR, a function, or the name of a state."""
        signature = inspect.signature(function)
        own = list(signature.parameters.values())[1 if bound else 0 :]
        try:
            given = signature.replace(parameters=own).bind(
                *node.args, **{k.arg or "": k.value for k in node.keywords}
            )
        except TypeError as error:
            raise self.scope.refuse(node, f"this call ({error})", "the right arguments") from error
        result: list[Any] = []
        for parameter in own:
            argument = given.arguments.get(parameter.name, MISSING)
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                what = f"*{parameter.name} of {function.__name__}"
                raise self.scope.refuse(node, what, "parameters with names")
            if argument is MISSING:
                result.append(self.lift(parameter.default, node))
            elif self.is_function(argument):
                result.append(Passed(self, argument))
            else:
                result.append(views.viewed(self, argument) or self.expr(argument))
        return result

    def bound(
        self, function: types.FunctionType, args: Sequence[Any], state: Any
    ) -> tuple[Scope, list[tuple[str, Expr]]]:
        """The helper's scope with states and functions bound, and the values left to bind."""
        inner = function_scope(getattr(state, "build", self.build), function, {})
        names = [a.arg for a in inner.tree.args.args + inner.tree.args.kwonlyargs]
        if state:
            inner.states[names.pop(0)] = state
        values = []
        for name, argument in zip(names, args, strict=True):
            if isinstance(argument, Expr):
                values.append((name, argument))
            elif isinstance(argument, Closure | Passed):
                inner.functions[name] = argument
            else:
                inner.states[name] = argument
        return inner, values

    def _call_of(self, target: Any, node: ast.Call, want: t.Type | None) -> Expr:
        if target is language.when or target is language.any_of:
            name = target.__name__
            instead = {"when": "when(…) as a statement of an action or process"}.get(
                name, "x = any_of(…) as a statement of an action or process"
            )
            raise self.scope.refuse(node, f"{name}(…) inside an expression or helper", instead)
        made_up = functions.called(self, target, node)
        if made_up is not None:
            return made_up
        builtin = getattr(self, f"_call_{getattr(target, '__name__', '')}", None)
        known = getattr(builtins, getattr(target, "__name__", ""), MISSING) is target
        if builtin is not None and (known or target is dataclasses.replace):
            made: Expr = builtin(node, want)
            return made
        if target is Bag and not node.args:
            return bags.EMPTY
        if isinstance(target, type) and issubclass(target, language.Sort):
            return self._member_of(target, node)
        if target in (Set, Seq, Map):
            return self._container(target, node, want)
        if isinstance(target, types.FunctionType | type) and target in FAMILIES:
            return FAMILIES[target](self, node)
        if isinstance(target, type) and (dataclasses.is_dataclass(target) or named_fields(target)):
            return self._make(target, node)
        if isinstance(target, typing.NewType) and len(node.args) == 1:
            return self.expr(node.args[0], want)
        what = ast.unparse(node.func)
        if isinstance(target, types.FunctionType) and target.__module__ == formulas.__name__:
            raise self.scope.refuse(node, f"{what}(…) here", "a @temporal method that returns it")
        if isinstance(target, types.FunctionType):
            return self.inline(target, self.arguments(target, node), "", node)
        if target is MISSING and self.scope.member(what) is not MISSING:
            raise self.scope.refuse(node, f"a call of {what} without self", f"self.{what}(…)")
        foreign = isinstance(node.func, ast.Attribute) and target is not MISSING
        instead = "any_of(…) for what may go either way" if foreign else "any all sum len min max"
        raise self.scope.refuse(node, f"a call of {what}", f"{instead}, or a helper")

    def _member_of(self, sort: type[language.Sort], node: ast.Call) -> Expr:
        """`Proc(0)`: one member of a Sort, for good."""
        match node:
            case ast.Call(args=[ast.Constant(value=int() as at)], keywords=[]):
                return self.lift(sort(at), node)
        raise self.scope.refuse(node, f"this {sort.__name__}(…)", f"{sort.__name__}(0), a number")

    def _make(self, cls: type, node: ast.Call) -> Expr:
        kind = self.build.resolver.class_type(cls, self.scope.refuser(node))
        if not isinstance(kind, t.Rec) or "__post_init__" in vars(cls):
            raise self.scope.refuse(node, f"{cls.__name__} with __post_init__", "plain fields")
        try:
            given = inspect.signature(cls).bind(
                *node.args, **{k.arg or "": k.value for k in node.keywords}
            )
        except TypeError as error:
            raise self.scope.refuse(node, f"this call ({error})", "the fields") from error
        fields = dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ()
        defaults = {f.name: f.default for f in fields} or getattr(cls, "_field_defaults", {})
        args = [
            self.expr(given.arguments[name], field)
            if name in given.arguments
            else self.lift(defaults[name], node)
            for name, field in kind.fields
        ]
        for argument in given.arguments.values():
            self.scope.hashable(argument)
        names = [name for name, _ in kind.fields]
        found = tuple((n, a.type) for n, a in zip(names, args, strict=True))
        return Expr("make", t.Rec(kind.name, found), tuple(args))

    def _call_replace(self, node: ast.Call, want: t.Type | None) -> Expr:
        base = self.expr(node.args[0])
        if self.build.resolver.is_named_tuple(sugar.solid(base).type):
            raise self.scope.refuse(node, "replace of a NamedTuple", "value._replace(field=…)")
        return self._replaced(base, node)

    def _replaced(self, base: Expr, node: ast.Call) -> Expr:
        """A record with other values of some fields."""
        records = [o for o in t.options(base.type) if o != t.Nothing()]
        kind = records[0] if len(records) == 1 else t.NEVER
        if not isinstance(kind, t.Rec) or not node.keywords:
            raise self.scope.refuse(node, f"replace of {t.show(base.type)}", "one dataclass")
        new = {k.arg: self.expr(k.value) for k in node.keywords}
        unknown = set(new) - {name for name, _ in kind.fields}
        if unknown:
            raise self.scope.refuse(node, f"the field {unknown.pop()}", "a field of the dataclass")
        args = [new[n] if n in new else Expr("field", f, (base,), n) for n, f in kind.fields]
        fields = tuple((n, a.type) for (n, _), a in zip(kind.fields, args, strict=True))
        return Expr("make", t.Rec(kind.name, fields), tuple(args))

    def _call_set(self, node: ast.Call, want: t.Type | None) -> Expr:
        return self._container(Set, node, want)

    def _call_frozenset(self, node: ast.Call, want: t.Type | None) -> Expr:
        return self._container(Set, node, want)

    def _call_list(self, node: ast.Call, want: t.Type | None) -> Expr:
        return self._container(Seq, node, want)

    def _call_tuple(self, node: ast.Call, want: t.Type | None) -> Expr:
        return self._container(Seq, node, want)

    def _call_dict(self, node: ast.Call, want: t.Type | None) -> Expr:
        return self._container(Map, node, want)

    def _container(self, target: Any, node: ast.Call, want: t.Type | None) -> Expr:
        if not node.args:
            kind: t.Type = t.SetOf(t.NEVER) if target is Set else t.SeqOf(t.NEVER, 0)
            return constant(frozenset() if target is Set else (), kind)
        only, named = node.args[0], self.scope.static(node.func)
        if isinstance(only, ast.GeneratorExp) and target is not Map:
            found = self._listed("set" if target is Set else "list", only, only.elt)
        else:
            found = self.expr(only, want)
        if target is Map:
            if isinstance(found.type, t.MapOf):
                return found
            pairs = self.element(found, node)
            wanted = [o.key for o in t.options(want) if isinstance(o, t.MapOf)] if want else []
            if isinstance(pairs, t.Tuple) and len(pairs.items) == 2:
                made = overlaying.of_pairs(self, found, wanted[0] if wanted else pairs.items[0])
                if made is not None:
                    return made
            raise self.scope.refuse(node, "this map", "{k: … for k in Sort}")
        elem = self.element(found, node)
        if target is Set and found.op == "list" and opening.unlisted(found):
            return Expr("set", t.SetOf(elem), found.args)
        if target is Set:
            return Expr("toset", t.SetOf(elem), (found,), "Set" if target is named else None)
        self.scope.fixed_order(node, found)
        kind = t.SeqOf(elem)
        return found if found.type == kind else Expr("toseq", kind, (found,))

    def contains(self, container: Expr, element: Expr, node: ast.AST) -> Expr:
        """Whether an element is in a container."""
        if isinstance(container.type, t.BagOf):
            return Expr(">", BOOL, (bags.counted(self, container, element), number(0)))
        return super().contains(container, element, node)

    def _method(self, base: Expr, name: str, node: ast.Call) -> Expr:
        if name in MUTATORS and isinstance(base.type, t.SetOf | t.SeqOf | t.MapOf):
            raise self.scope.refuse(
                node,
                f".{name}(…) on a value that is not a path from self, or inside an expression,",
                f"self.variable.{name}(…) as a statement of its own",
            )
        if name == "_replace" and self.build.resolver.is_named_tuple(base.type) and not node.args:
            return self._replaced(base, node)
        made = methods.called(self, base, name, node) or records.method(self, base, name, node)
        if made is not None:
            return made
        if isinstance(base.type, t.BagOf):
            return bags.method(self, base, name, node)
        if isinstance(base.type, t.MapOf) and name in ("values", "keys", "items"):
            key, value = base.type.key, base.type.value
            elem = {"values": value, "keys": key, "items": t.Tuple((key, value))}[name]
            every = opening.mapped(base, name, self.build.fresh)
            return Expr(name, t.SeqOf(elem), (base,)) if every is None else every
        if isinstance(base.type, t.SetOf) and name in (*_SET_TESTS, "issuperset"):
            return self._set_method(base, name, node)
        raise self.scope.refuse(
            node, f".{name}(…) of {t.show(base.type)}", "values keys items, set operators, a helper"
        )

    def _set_method(self, base: Expr, name: str, node: ast.Call) -> Expr:
        other = self._only(node)
        if not isinstance(other.type, t.SetOf):
            other = Expr("toset", t.SetOf(self.element(other, node)), (other,))
        if name == "issuperset":
            return Expr("subset", BOOL, (other, base))
        return Expr(_SET_TESTS[name], BOOL, (base, other))


def pure_body(scope: Scope) -> Expr:
    """The body of a helper or predicate as one expression."""
    return Calls(scope).returned(list(scope.tree.body), scope.tree, None)
