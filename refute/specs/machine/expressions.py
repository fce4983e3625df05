"""Expressions of a machine: from Python syntax to typed IR.

Types are inferred bottom up, so that engines know which representation a value has and where a
write may leave its range; what people get wrong is mostly mypy's to say, so only what has no
meaning is refused here.
"""

from __future__ import annotations

import abc
import ast
import enum
import inspect
import types
from collections.abc import Callable, Sequence
from typing import Any

from refute.specs.machine import records, views
from refute.specs.machine import types as t
from refute.specs.machine.annotations import named_fields
from refute.specs.machine.containers import Bag
from refute.specs.machine.errors import OutOfRange
from refute.specs.machine.ir import Expr
from refute.specs.machine.language import Sort
from refute.specs.machine.opening import refuse_unlisted
from refute.specs.machine.scope import MISSING, Scope
from refute.specs.machine.values import pack_value

BOOL = t.Bool()
_ORDERED = ("ordered", t.OPEN_ORDERED)


def constant(value: Any, kind: t.Type) -> Expr:
    """A node for a known value."""
    return Expr("const", kind, (), pack_value(value))


def number(value: int) -> Expr:
    """A node for a known integer."""
    return constant(value, t.Int(value, value))


def _rows(entries: Sequence[t.Type]) -> t.Type:
    """The type of a table's entries: tuples of several lengths are sequences."""
    rows = [e.items for e in entries if isinstance(e, t.Tuple)]
    if len(rows) < len(entries) or len({len(row) for row in rows}) < 2:
        return t.join(entries)
    return t.SeqOf(t.join(elem for row in rows for elem in row), max(map(len, rows)))


def _no_value(value: Any, kind: t.Type) -> tuple[str, str]:
    """What is wrong with an object that is no value of its type, and what to write instead."""
    for name in t.open_sorts(kind):
        what = f"the value {value!r}, with a member of {name}, of which there are any number,"
        return what, f"a variable or parameter of type {name}, and @initial for what it is"
    return f"the value {value!r}", "a value of a declared type"


class Expressions(abc.ABC):
    """Translates the expressions of one function; `Calls` adds calls and comprehensions."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.build = scope.build

    def expr(self, node: ast.expr, want: t.Type | None = None) -> Expr:
        """The node's IR. want: the type of the place it goes to, where known."""
        method: Callable[[Any, t.Type | None], Expr] | None = getattr(
            self, f"_{type(node).__name__}", None
        )
        if method is None:
            what, instead = _OUTSIDE.get(type(node).__name__, ("this expression", "simpler code"))
            raise self.scope.refuse(node, what, instead)
        made = method(node, want)
        if self.build.resolver.quantifies:
            refuse_unlisted(self.scope, node, made)
        return made

    def _Constant(self, node: ast.Constant, want: t.Type | None) -> Expr:
        return self.lift(node.value, node)

    def lift(self, value: Any, node: ast.AST) -> Expr:
        """A Python object that is known at build time, as a node."""
        refuse = self.scope.refuser(node)
        if isinstance(value, type) and issubclass(value, Sort | enum.Enum):
            kind = self.build.resolver.class_type(value, refuse)
            return Expr("domain", t.SeqOf(kind))
        try:
            kind = self._type_of_object(value, node)
            return constant(self.build.resolver.freeze(value, kind), kind)
        except OutOfRange as error:
            raise refuse(*_no_value(value, kind)) from error

    def _type_of_object(self, value: Any, node: ast.AST) -> t.Type:
        if value is None:
            return t.Nothing()
        if type(value) is bool:
            return BOOL
        if type(value) is int:
            return t.Int(value, value)
        if type(value) is tuple:
            return t.Tuple(tuple(self._type_of_object(v, node) for v in value))
        if isinstance(value, Bag):
            parts = [self._type_of_object(v, node) for v in value.distinct()]
            return t.BagOf(t.Tuple((t.join(parts), t.Int(1, None))))
        if isinstance(value, frozenset | set):
            return t.SetOf(t.join(self._type_of_object(v, node) for v in value))
        if type(value) is list:
            return t.SeqOf(t.join(self._type_of_object(v, node) for v in value), len(value))
        if type(value) is dict and value:
            key, *entries = (
                t.join(self._type_of_object(v, node) for v in value),
                *(self._type_of_object(v, node) for v in value.values()),
            )
            return t.MapOf(key, _rows(entries))
        if type(value) is str:
            return t.text_of((value,))
        record = hasattr(type(value), "__dataclass_fields__") or named_fields(type(value))
        if isinstance(value, Sort | enum.Enum) or record:
            return self.build.resolver.class_type(type(value), self.scope.refuser(node))
        raise self.scope.refuse(
            node, f"a {type(value).__name__} value", "bool, int, None, Enum members, tuples, sets"
        )

    def _Name(self, node: ast.Name, want: t.Type | None) -> Expr:
        if node.id in self.scope.env:
            return self.scope.env[node.id]
        if node.id in self.scope.states:
            raise self.scope.refuse(node, f"{node.id} as a value", "one of its variables")
        found = self.scope.live(node.id)
        if found is MISSING:
            raise self._unknown(node)
        return self.lift(found, node)

    def _unknown(self, node: ast.Name) -> Exception:
        """What is wrong with a name that stands for nothing."""
        name, scope = node.id, self.scope
        if scope.member(name) is not MISSING:
            return scope.refuse(node, f"the name {name} without self", f"self.{name}")
        code = scope.function.__code__
        if name in (*code.co_varnames, *code.co_cellvars, *code.co_freevars):
            what = f"the name {name}, which may be unassigned here,"
            return scope.refuse(node, what, "assign it before")
        what = f"the name {name}, which nothing defines,"
        return scope.refuse(node, what, "a local, a name of the module, or self.variable")

    def _Attribute(self, node: ast.Attribute, want: t.Type | None) -> Expr:
        state = views.viewed(self, node.value)
        if state:
            return self._member(node, state)
        found = self.scope.static(node)
        if found is not MISSING:
            return self.lift(found, node)
        return self.field(self.expr(node.value), node.attr, node)

    def _member(self, node: ast.Attribute, state: str) -> Expr:
        found = self.scope.member(node.attr, state)
        declared = views.declared(self, node, state, found)
        if declared is not None:
            return declared
        if isinstance(found, property) and isinstance(found.fget, types.FunctionType):
            return self.inline(found.fget, [], state, node)
        if inspect.isfunction(found):
            raise self.scope.refuse(node, f"the method {node.attr} as a value", "a call of it")
        if found is MISSING:
            raise self.scope.refuse(
                node, f"self.{node.attr}, which is no Var, Const or helper,", "declare a Var"
            )
        return self.lift(found, node)

    def field(self, base: Expr, name: str, node: ast.AST) -> Expr:
        """The field of a record, or `.index` and `.next` of an OrderedSort."""
        kinds = [o for o in t.options(base.type) if not isinstance(o, t.Nothing)]
        found = [
            dict(o.fields)[name] for o in kinds if isinstance(o, t.Rec) and name in dict(o.fields)
        ]
        if found:
            return Expr("field", t.join(found), (base,), name)
        ordered = [o for o in kinds if isinstance(o, t.Atoms) and o.kind in _ORDERED]
        if ordered and t.open_sorts(ordered[0]) and name == "index":
            what = f".index of {ordered[0].name}, which has any number of members,"
            raise self.scope.refuse(node, what, "< between members, and .next")
        if ordered and len(kinds) == 1 and name == "index":
            return Expr("ordinal", t.Int(0, len(ordered[0].members) - 1), (base,))
        if ordered and len(kinds) == 1 and name == "next":
            return Expr("successor", t.join((ordered[0], t.Nothing())), (base,))
        made = records.attribute(self, base, name, node)
        if made is not None:
            return made
        raise self.scope.refuse(
            node, f".{name} of {t.show(base.type)}", "a field or property of a frozen dataclass"
        )

    @abc.abstractmethod
    def inline(
        self, function: types.FunctionType, args: Sequence[Any], state: str, node: ast.AST
    ) -> Expr:
        """A call of a helper, as its body."""

    @abc.abstractmethod
    def truth(self, node: ast.expr) -> Expr:
        """The node as a condition."""

    @abc.abstractmethod
    def truth_of(self, found: Expr, node: ast.AST) -> Expr:
        """A value as a condition."""

    @abc.abstractmethod
    def index(self, base: Expr, key: Expr, node: ast.AST) -> Expr:
        """One element of a map, sequence or tuple."""

    @abc.abstractmethod
    def element(self, container: Expr, node: ast.AST) -> t.Type:
        """The type of what iteration over the container yields."""

    def _IfExp(self, node: ast.IfExp, want: t.Type | None) -> Expr:
        test = self.truth(node.test)
        branches, facts = [], self.scope.facts
        for truth, part in ((True, node.body), (False, node.orelse)):
            self.scope.facts = (*facts, (test, truth))
            branches.append(self.expr(part, want))
        self.scope.facts = facts
        for at, written in enumerate((node.body, node.orelse)):
            if ast.unparse(written) == _something(node.test, at):
                branches[at] = _without_none(branches[at])
        return Expr("if", t.join(b.type for b in branches), (test, *branches))


def _something(test: ast.expr, branch: int) -> str:
    """What is not None in this branch (0: the first) of a test for None, as it is written."""
    match test:
        case ast.Compare(left, [ast.IsNot()], [ast.Constant(None)]) if branch == 0:
            return ast.unparse(left)
        case ast.Compare(left, [ast.Is()], [ast.Constant(None)]) if branch == 1:
            return ast.unparse(left)
    return ""


def _without_none(found: Expr) -> Expr:
    kinds = [o for o in t.options(found.type) if not isinstance(o, t.Nothing)]
    whole = len(kinds) in (0, len(t.options(found.type)))
    return found if whole else Expr("only", t.join(kinds), (found,))


def orderable(kind: t.Type) -> bool:
    """Whether `<`, min and max have a meaning: numbers, members of one OrderedSort, tuples."""
    if isinstance(kind, t.Tuple):
        return bool(kind.items) and all(map(orderable, kind.items))
    return isinstance(kind, t.Int | t.Bool) or (isinstance(kind, t.Atoms) and kind.kind in _ORDERED)


def is_enum(kind: t.Type) -> bool:
    """Whether all values of the type are members of Enums."""
    return all(isinstance(o, t.Atoms) and o.kind == "enum" for o in t.options(kind))


def comparable(left: t.Type, right: t.Type) -> bool:
    """Whether values of the two types may be equal."""
    return any(_alike(a, b) for a in t.options(left) for b in t.options(right)) or (
        t.Nothing() in (left, right) or t.NEVER in (left, right)
    )


def _alike(a: t.Type, b: t.Type) -> bool:
    match a, b:
        case (t.Int() | t.Bool(), t.Int() | t.Bool()) | (t.SetOf(), t.SetOf()):
            return True
        case t.Text(), t.Text():
            return bool(set(a.options) & set(b.options))
        case (t.Nothing(), t.Nothing()) | (t.SeqOf(), t.SeqOf()):
            return True
        case t.Atoms(), t.Atoms():
            return a.name == b.name
        case t.Rec(), t.Rec():
            return a.name == b.name
        case t.MapOf(), t.MapOf():
            return a.key == b.key
        case t.Tuple(), t.Tuple():
            return len(a.items) == len(b.items) and all(map(comparable, a.items, b.items))
    return False


_OUTSIDE: dict[str, tuple[str, str]] = {
    "Lambda": ("a lambda", "a helper method with one return"),
    "NamedExpr": (":=", "an assignment statement"),
    "JoinedStr": ("an f-string", "an Enum member"),
    "Await": ("await", "self = yield in a process"),
    "Yield": ("yield in an expression", "the statement self = yield, in a @process"),
    "YieldFrom": ("yield from", "the statement self = yield, in a @process"),
    "Starred": ("*", "the elements"),
    "GeneratorExp": ("a generator as a value", "any(…), all(…), sum(…), or a comprehension"),
}
