"""Calls: builtins, methods of containers, dataclasses, and pure helpers.

A helper (an undecorated method, a property or a module's function) is a pure expression; its body
is put in place of the call, with its arguments bound first, so engines know no functions.
"""

from __future__ import annotations

import ast
import builtins
import dataclasses
import inspect
import types
from collections.abc import Sequence
from typing import Any

from refute.specs.machine import bags, language
from refute.specs.machine import types as t
from refute.specs.machine.comprehensions import Comprehensions
from refute.specs.machine.containers import Bag, Map, Seq, Set
from refute.specs.machine.expressions import BOOL, constant, number, orderable
from refute.specs.machine.families import FAMILIES
from refute.specs.machine.ir import Expr
from refute.specs.machine.marks import mark_of
from refute.specs.machine.pure import returned
from refute.specs.machine.scope import MISSING, Scope, function_scope, union_parts

MUTATORS = frozenset(
    {"add", "discard", "remove", "clear", "update", "append", "extend", "pop", "insert", "sort"}
    | {"setdefault", "popitem", "reverse", "intersection_update", "difference_update"}
)
_SET_METHODS = {"union": "|", "intersection": "&", "difference": "diff"}
_SET_TESTS = {"issubset": "subset", "isdisjoint": "disjoint"}


class Calls(Comprehensions):
    """Expressions with calls."""

    def _Call(self, node: ast.Call, want: t.Type | None) -> Expr:
        if any(isinstance(a, ast.Starred) for a in node.args) or any(
            k.arg is None for k in node.keywords
        ):
            raise self.scope.refuse(node, "* or ** in a call", "the arguments")
        if isinstance(node.func, ast.Attribute):
            state = self.scope.state_of(node.func.value)
            if state:
                return self._own_call(node, node.func.attr, state)
        target = self.scope.static(node.func)
        if target is MISSING and isinstance(node.func, ast.Attribute):
            return self._method(self.expr(node.func.value), node.func.attr, node)
        return self._call_of(target, node, want)

    def _own_call(self, node: ast.Call, name: str, state: str) -> Expr:
        found = self.scope.member(name)
        if isinstance(found, staticmethod):
            inner: Any = found.__func__
            return self.inline(inner, self._arguments(inner, node), "", node)
        if not isinstance(found, types.FunctionType):
            raise self.scope.refuse(node, f"a call of self.{name}", "a helper method")
        mark = mark_of(found)
        if mark is not None and mark.kind in ("action", "process"):
            raise self.scope.refuse(
                node, f"a call of the {mark.kind} {name}", "a helper that both of them use"
            )
        return self.inline(found, self._arguments(found, node, bound=True), state, node)

    def _arguments(
        self, function: types.FunctionType, node: ast.Call, bound: bool = False
    ) -> list[Any]:
        """The arguments in the order of the parameters: IR, or the name of a state."""
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
            if argument is MISSING:
                result.append(self.lift(parameter.default, node))
            else:
                result.append(self.scope.state_of(argument) or self.expr(argument))
        return result

    def inline(
        self, function: types.FunctionType, args: Sequence[Any], state: str, node: ast.AST
    ) -> Expr:
        """A call of a helper, as its body. state: which state its `self` is; "" for none."""
        if function.__qualname__ in self.build.inlining:
            raise self.scope.refuse(
                node, f"{function.__name__}, which calls itself,", "any, all or sum over a range"
            )
        inner = function_scope(self.build, function, {})
        names = [a.arg for a in inner.tree.args.args + inner.tree.args.kwonlyargs]
        if state:
            inner.states[names.pop(0)] = state
        lets: list[tuple[str, Expr]] = []
        for name, argument in zip(names, args, strict=True):
            if isinstance(argument, str):
                inner.states[name] = argument
            elif argument.op in ("local", "const", "read", "next"):
                inner.env[name] = argument
            else:
                fresh = self.build.fresh(name)
                lets.append((fresh, argument))
                self.build.note(fresh, argument)
                inner.env[name] = Expr("local", argument.type, (), fresh)
        self.build.inlining.append(function.__qualname__)
        try:
            body = pure_body(inner)
        finally:
            self.build.inlining.pop()
        for fresh, value in reversed(lets):
            body = Expr("let", body.type, (value, body), fresh)
        return body

    def _call_of(self, target: Any, node: ast.Call, want: t.Type | None) -> Expr:
        if target is language.when or target is language.any_of:
            name = target.__name__
            instead = {"when": "when(…) as a statement of an action or process"}.get(
                name, "x = any_of(…) as a statement of an action or process"
            )
            raise self.scope.refuse(node, f"{name}(…) inside an expression or helper", instead)
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
        if dataclasses.is_dataclass(target) and isinstance(target, type):
            return self._make(target, node)
        if isinstance(target, types.FunctionType):
            return self.inline(target, self._arguments(target, node), "", node)
        what = ast.unparse(node.func)
        raise self.scope.refuse(node, f"a call of {what}", "any all sum len min max, or a helper")

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
        defaults = {f.name: f.default for f in dataclasses.fields(cls)}
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

    def _call_len(self, node: ast.Call, want: t.Type | None) -> Expr:
        found = self._only(node)
        self.element(found, node)
        upto = found.type.upto if isinstance(found.type, t.SeqOf) else None
        return Expr("len", t.Int(0, upto), (found,))

    def _only(self, node: ast.Call) -> Expr:
        if len(node.args) != 1 or node.keywords:
            raise self.scope.refuse(node, "this call", f"{ast.unparse(node.func)}(one argument)")
        return self.expr(node.args[0])

    def _quantifier(self, op: str, node: ast.Call) -> Expr:
        if len(node.args) == 1 and isinstance(node.args[0], ast.GeneratorExp):
            found = node.args[0]
            return Expr(op, BOOL, (self.chain(found.generators, lambda: self.truth(found.elt)),))
        source = self._only(node)
        elem = self.element(source, node)
        name = self.build.fresh("each")
        if elem != BOOL:
            raise self.scope.refuse(node, f"{op} over {t.show(elem)}", f"{op}(… for … in …)")
        item = Expr("item", elem, (Expr("local", elem, (), name),))
        return Expr(op, BOOL, (Expr("for", elem, (source, item), name),))

    def _call_any(self, node: ast.Call, want: t.Type | None) -> Expr:
        return self._quantifier("any", node)

    def _call_all(self, node: ast.Call, want: t.Type | None) -> Expr:
        return self._quantifier("all", node)

    def _call_sum(self, node: ast.Call, want: t.Type | None) -> Expr:
        if len(node.args) == 1 and isinstance(node.args[0], ast.GeneratorExp):
            found = node.args[0]
            chain = self.chain(found.generators, lambda: self.expr(found.elt))
            low = 0 if isinstance(chain.type, t.Int) and (chain.type.lo or -1) >= 0 else None
            return Expr("total", t.Int(low, None), (chain,))
        source = self._only(node)
        if not isinstance(self.element(source, node), t.Int | t.Bool):
            raise self.scope.refuse(node, f"sum of {t.show(source.type)}", "sum of int")
        return Expr("sum", t.Int(), (source,))

    def _extreme(self, op: str, node: ast.Call) -> Expr:
        if [k.arg for k in node.keywords] == ["default"] and len(node.args) == 1:
            return self._extreme_or(op, node)
        if node.keywords:
            raise self.scope.refuse(node, f"{op} with {node.keywords[0].arg}=", "plain arguments")
        if len(node.args) > 1:
            args = tuple(map(self.expr, node.args))
            kind = self._orderable(t.join(a.type for a in args), op, node)
            return Expr({"min": "least", "max": "most"}[op], kind, args)
        only = node.args[0]
        if isinstance(only, ast.GeneratorExp):
            source = self._listed("list", only, only.elt, folds=False)
        else:
            source = self._only(node)
        return Expr(op, self._orderable(self.element(source, node), op, node), (source,))

    def _extreme_or(self, op: str, node: ast.Call) -> Expr:
        """`max(values, default=x)`."""
        source = self._extreme(op, ast.copy_location(ast.Call(node.func, node.args, []), node))
        (values,), name = source.args, self.build.fresh("values")
        held = Expr("local", values.type, (), name)
        other = self.expr(node.keywords[0].value)
        some = Expr(">", BOOL, (Expr("len", t.Int(0, None), (held,)), number(0)))
        kind = self._orderable(t.join((source.type, other.type)), op, node)
        made = Expr("if", kind, (some, Expr(op, source.type, (held,)), other))
        return Expr("let", kind, (values, made), name)

    def _orderable(self, kind: t.Type, op: str, node: ast.AST) -> t.Type:
        if not orderable(kind):
            raise self.scope.refuse(
                node, f"{op} of {t.show(kind)}", "numbers, or members of one OrderedSort"
            )
        return kind

    def _call_min(self, node: ast.Call, want: t.Type | None) -> Expr:
        return self._extreme("min", node)

    def _call_max(self, node: ast.Call, want: t.Type | None) -> Expr:
        return self._extreme("max", node)

    def _call_sorted(self, node: ast.Call, want: t.Type | None) -> Expr:
        """The canonical order of a set, Sort or map is the order of its elements already."""
        only = self._only(node)
        elem = self._orderable(self.element(only, node), "sorted", node)
        walked = isinstance(only.type, t.SetOf | t.MapOf) or only.op in ("domain", "keys")
        upto = only.type.upto if isinstance(only.type, t.SeqOf) else None
        return Expr("toseq" if walked else "sorted", t.SeqOf(elem, upto), (only,))

    def _call_abs(self, node: ast.Call, want: t.Type | None) -> Expr:
        return Expr("abs", t.Int(0, None), (self._only(node),))

    def _call_bool(self, node: ast.Call, want: t.Type | None) -> Expr:
        return self.truth(node.args[0])

    def _call_range(self, node: ast.Call, want: t.Type | None) -> Expr:
        args = [self.expr(a) for a in node.args]
        if not 1 <= len(args) <= 3 or not all(isinstance(a.type, t.Int | t.Bool) for a in args):
            raise self.scope.refuse(node, "this range", "range(lo, hi) of int")
        low = number(0) if len(args) == 1 else args[0]
        high = args[0] if len(args) == 1 else args[1]
        step = args[2] if len(args) == 3 else number(1)
        elem = t.Int()
        if step.data == 1 and isinstance(low.type, t.Int) and isinstance(high.type, t.Int):
            top = None if high.type.hi is None else high.type.hi - 1
            elem = t.Int(low.type.lo, top)
        return Expr("range", t.SeqOf(elem), (low, high, step))

    def _call_isinstance(self, node: ast.Call, want: t.Type | None) -> Expr:
        classes = node.args[1].elts if isinstance(node.args[1], ast.Tuple) else [node.args[1]]
        kinds: list[t.Type] = []
        for part in union_parts(classes):
            found = self.scope.static(part)
            if found in (bool, int):
                kinds.append(BOOL if found is bool else t.Int())
            elif isinstance(found, type):
                kinds.append(self.build.resolver.class_type(found, self.scope.refuser(part)))
            else:
                raise self.scope.refuse(part, "this class in isinstance", "a dataclass or Enum")
        return Expr("isa", BOOL, (self.expr(node.args[0]),), tuple(kinds))

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
            raise self.scope.refuse(node, "this map", "{k: … for k in Sort}")
        elem = self.element(found, node)
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
        if isinstance(base.type, t.BagOf):
            return bags.method(self, base, name, node)
        if isinstance(base.type, t.MapOf) and name in ("values", "keys", "items"):
            key, value = base.type.key, base.type.value
            elem = {"values": value, "keys": key, "items": t.Tuple((key, value))}[name]
            return Expr(name, t.SeqOf(elem), (base,))
        if isinstance(base.type, t.SetOf) and name in (*_SET_METHODS, *_SET_TESTS, "issuperset"):
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
        if name in _SET_TESTS:
            return Expr(_SET_TESTS[name], BOOL, (base, other))
        kind = t.join((base.type, other.type)) if name == "union" else base.type
        return Expr(_SET_METHODS[name], kind, (base, other))


def pure_body(scope: Scope) -> Expr:
    """The body of a helper or predicate as one expression."""
    return returned(Calls(scope), list(scope.tree.body), scope.tree)
