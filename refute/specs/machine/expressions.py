"""Expressions of a machine: from Python syntax to typed IR.

Types are inferred bottom up, so that engines know which representation a value has and where a
write may leave its range; what people get wrong is mostly mypy's to say, so only what has no
meaning is refused here.
"""

from __future__ import annotations

import ast
import enum
import inspect
import types
from collections.abc import Callable, Sequence
from typing import Any

from refute.specs.machine import types as t
from refute.specs.machine import views
from refute.specs.machine.containers import Bag
from refute.specs.machine.errors import OutOfRange
from refute.specs.machine.intervals import interval
from refute.specs.machine.ir import Expr
from refute.specs.machine.language import Sort
from refute.specs.machine.scope import MISSING, Scope
from refute.specs.machine.values import pack_value

BOOL = t.Bool()

_BINARY: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "//",
    ast.Mod: "%",
}
_SETS: dict[type[ast.operator], str] = {
    ast.BitOr: "|",
    ast.BitAnd: "&",
    ast.BitXor: "^",
    ast.Sub: "diff",
}
_ORDER: dict[type[ast.cmpop], str] = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}


def constant(value: Any, kind: t.Type) -> Expr:
    """A node for a known value."""
    return Expr("const", kind, (), pack_value(value))


def number(value: int) -> Expr:
    """A node for a known integer."""
    return constant(value, t.Int(value, value))


class Expressions:
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
        return method(node, want)

    def truth(self, node: ast.expr) -> Expr:
        """The node as a condition."""
        found = self.expr(node)
        kind = found.type
        if kind == BOOL:
            return found
        if isinstance(kind, t.SetOf | t.SeqOf | t.MapOf):
            return Expr(">", BOOL, (Expr("len", t.Int(0, None), (found,)), number(0)))
        if isinstance(kind, t.Int):
            return Expr("!=", BOOL, (found, number(0)))
        raise self.scope.refuse(
            node, f"{t.show(kind)} as a condition", "an explicit comparison: x is not None, x == …"
        )

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
            raise refuse(f"the value {value!r}", "a value of a declared type") from error

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
            key, entry = (
                t.join(self._type_of_object(v, node) for v in part)
                for part in (value.keys(), value.values())
            )
            return t.MapOf(key, entry)
        if isinstance(value, Sort | enum.Enum) or hasattr(type(value), "__dataclass_fields__"):
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
            raise self.scope.refuse(
                node, f"the name {node.id}, which may be unassigned here,", "assign it before"
            )
        return self.lift(found, node)

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
        ordered = [o for o in kinds if isinstance(o, t.Atoms) and o.kind == "ordered"]
        if ordered and len(kinds) == 1 and name == "index":
            return Expr("ordinal", t.Int(0, len(ordered[0].members) - 1), (base,))
        if ordered and len(kinds) == 1 and name == "next":
            return Expr("successor", t.join((ordered[0], t.Nothing())), (base,))
        raise self.scope.refuse(
            node, f".{name} of {t.show(base.type)}", "a field of a frozen dataclass"
        )

    def inline(
        self, function: types.FunctionType, args: Sequence[Any], state: str, node: ast.AST
    ) -> Expr:
        """A call of a helper, as its body."""
        raise NotImplementedError

    def _BinOp(self, node: ast.BinOp, want: t.Type | None) -> Expr:
        left, right = self.expr(node.left), self.expr(node.right)
        kinds = (left.type, right.type)
        op = type(node.op)
        sets = all(isinstance(k, t.SetOf) and not isinstance(k, t.BagOf) for k in kinds)
        if sets and op in _SETS:
            smaller = op in (ast.BitAnd, ast.Sub)
            return Expr(_SETS[op], left.type if smaller else t.join(kinds), (left, right))
        if op is ast.Add and isinstance(left.type, t.SeqOf) and isinstance(right.type, t.SeqOf):
            upto = left.type.upto, right.type.upto
            total = None if upto[0] is None or upto[1] is None else upto[0] + upto[1]
            elem = t.join((left.type.elem, right.type.elem))
            return Expr("cat", t.SeqOf(elem, total), (left, right))
        if op in _BINARY and all(isinstance(k, t.Int | t.Bool) for k in kinds):
            return Expr(_BINARY[op], interval(_BINARY[op], left.type, right.type), (left, right))
        raise self.scope.refuse(
            node,
            f"{op.__name__} on {t.show(left.type)} and {t.show(right.type)}",
            "+ - * // % on int, | & - ^ on Set, + on Seq",
        )

    def _UnaryOp(self, node: ast.UnaryOp, want: t.Type | None) -> Expr:
        if isinstance(node.op, ast.Not):
            return Expr("not", BOOL, (self.truth(node.operand),))
        found = self.expr(node.operand)
        if isinstance(node.op, ast.USub) and isinstance(found.type, t.Int):
            kind = interval("-", t.Int(0, 0), found.type)
            return Expr("neg", kind, (found,))
        raise self.scope.refuse(node, f"{type(node.op).__name__}", "not, or - on int")

    def _BoolOp(self, node: ast.BoolOp, want: t.Type | None) -> Expr:
        op = "and" if isinstance(node.op, ast.And) else "or"
        return Expr(op, BOOL, tuple(map(self.truth, node.values)))

    def _IfExp(self, node: ast.IfExp, want: t.Type | None) -> Expr:
        test = self.truth(node.test)
        branches = self.expr(node.body, want), self.expr(node.orelse, want)
        return Expr("if", t.join(b.type for b in branches), (test, *branches))

    def _Compare(self, node: ast.Compare, want: t.Type | None) -> Expr:
        terms = [self.expr(n) for n in (node.left, *node.comparators)]
        pairs = zip(terms, terms[1:], node.ops, strict=False)
        found = [self._comparison(a, b, op, node) for a, b, op in pairs]
        return found[0] if len(found) == 1 else Expr("and", BOOL, tuple(found))

    def _comparison(self, left: Expr, right: Expr, op: ast.cmpop, node: ast.AST) -> Expr:
        if isinstance(op, ast.In | ast.NotIn):
            inside = self.contains(right, left, node)
            return inside if isinstance(op, ast.In) else Expr("not", BOOL, (inside,))
        identity = t.Nothing() in (left.type, right.type) or (
            _enum(left.type) and _enum(right.type)
        )
        if isinstance(op, ast.Is | ast.IsNot) and not identity:
            raise self.scope.refuse(node, "`is`, except with None and Enum members,", "==")
        if isinstance(op, ast.Eq | ast.NotEq | ast.Is | ast.IsNot):
            if not _comparable(left.type, right.type):
                kinds = f"{t.show(left.type)} with {t.show(right.type)}"
                raise self.scope.refuse(
                    node, f"a comparison of {kinds}, never equal,", "values of one type"
                )
            return Expr("==" if isinstance(op, ast.Eq | ast.Is) else "!=", BOOL, (left, right))
        name = _ORDER[type(op)]
        both = (left.type, right.type)
        if all(isinstance(k, t.SetOf) and not isinstance(k, t.BagOf) for k in both):
            sides = (left, right) if name in ("<", "<=") else (right, left)
            subset = Expr("subset", BOOL, sides)
            differ = Expr("!=", BOOL, (left, right))
            return subset if name in ("<=", ">=") else Expr("and", BOOL, (subset, differ))
        if orderable(left.type) and orderable(right.type) and _comparable(left.type, right.type):
            return Expr(name, BOOL, (left, right))
        raise self.scope.refuse(
            node,
            f"{name} on {t.show(left.type)} and {t.show(right.type)}",
            "numbers, members of one OrderedSort, or sets",
        )

    def contains(self, container: Expr, element: Expr, node: ast.AST) -> Expr:
        """Whether an element is in a container."""
        self.element(container, node)
        return Expr("in", BOOL, (element, container))

    def element(self, container: Expr, node: ast.AST) -> t.Type:
        """The type of what iteration over the container yields."""
        match container.type:
            case t.BagOf():
                raise self.scope.refuse(node, "a walk through a Bag, or its len,", ".distinct()")
            case t.SetOf(elem) | t.SeqOf(elem, _):
                return elem
            case t.MapOf(key, _):
                return key
            case t.Tuple(items):
                return t.join(items)
        raise self.scope.refuse(
            node, f"iteration over {t.show(container.type)}", "a Set, Seq, Map, Sort, Enum or range"
        )

    def _Subscript(self, node: ast.Subscript, want: t.Type | None) -> Expr:
        base = self.expr(node.value)
        if isinstance(node.slice, ast.Slice):
            return self._slice(base, node.slice, node)
        return self.index(base, self.expr(node.slice), node)

    def index(self, base: Expr, key: Expr, node: ast.AST) -> Expr:
        """One element of a map, sequence or tuple."""
        match base.type:
            case t.MapOf(wanted, value):
                if not _comparable(wanted, key.type):
                    raise self.scope.refuse(
                        node, f"{t.show(key.type)} as a key of {t.show(base.type)}", "its key type"
                    )
                return Expr("index", value, (base, key))
            case t.SeqOf(elem, _) if isinstance(key.type, t.Int | t.Bool):
                return Expr("index", elem, (base, key))
            case t.Tuple(items) if key.op == "const" and type(key.data) is int:
                if -len(items) <= key.data < len(items):
                    return Expr("index", items[key.data], (base, number(key.data % len(items))))
        raise self.scope.refuse(
            node,
            f"an index of type {t.show(key.type)} into {t.show(base.type)}",
            "a key of a Map, an int for a Seq, a fixed number for a tuple",
        )

    def _slice(self, base: Expr, part: ast.Slice, node: ast.AST) -> Expr:
        if not isinstance(base.type, t.SeqOf) or part.step is not None:
            raise self.scope.refuse(node, f"a slice of {t.show(base.type)}", "seq[lo:hi]")
        ends = [
            self.expr(e) if e else constant(None, t.Nothing()) for e in (part.lower, part.upper)
        ]
        return Expr("slice", base.type, (base, *ends))

    def _Tuple(self, node: ast.Tuple, want: t.Type | None) -> Expr:
        found = tuple(map(self.expr, node.elts))
        return Expr("tuple", t.Tuple(tuple(e.type for e in found)), found)

    def _List(self, node: ast.List, want: t.Type | None) -> Expr:
        found = tuple(map(self.expr, node.elts))
        return Expr("seq", t.SeqOf(t.join(e.type for e in found), len(found)), found)

    def _Set(self, node: ast.Set, want: t.Type | None) -> Expr:
        self.scope.hashable(ast.Tuple(node.elts))
        found = tuple(map(self.expr, node.elts))
        return Expr("setof", t.SetOf(t.join(e.type for e in found)), found)

    def _Dict(self, node: ast.Dict, want: t.Type | None) -> Expr:
        if None in node.keys:
            raise self.scope.refuse(node, "** in a dict", "the entries")
        keys = [self.expr(k) for k in node.keys if k is not None]
        values = [self.expr(v) for v in node.values]
        kind = self.map_type(keys, values, want, node)
        flat = [e for pair in zip(keys, values, strict=True) for e in pair]
        return Expr("dict", kind, tuple(flat))

    def map_type(
        self, keys: list[Expr], values: list[Expr], want: t.Type | None, node: ast.AST
    ) -> t.MapOf:
        """The type of a map with these entries; its key type is that of the place it goes to."""
        value = t.join(v.type for v in values)
        wanted = [o for o in t.options(want) if isinstance(o, t.MapOf)] if want else []
        key = wanted[0].key if wanted else t.join(k.type for k in keys)
        if isinstance(key, t.Union) and not key.options:
            raise self.scope.refuse(node, "an empty dict", "a total map, {k: … for k in Sort}")
        return t.MapOf(key, value)


def orderable(kind: t.Type) -> bool:
    """Whether `<`, min and max have a meaning: numbers and members of one OrderedSort."""
    return isinstance(kind, t.Int | t.Bool) or (
        isinstance(kind, t.Atoms) and kind.kind == "ordered"
    )


def _enum(kind: t.Type) -> bool:
    return all(isinstance(o, t.Atoms) and o.kind == "enum" for o in t.options(kind))


def _comparable(left: t.Type, right: t.Type) -> bool:
    return any(_alike(a, b) for a in t.options(left) for b in t.options(right)) or (
        t.Nothing() in (left, right) or t.NEVER in (left, right)
    )


def _alike(a: t.Type, b: t.Type) -> bool:
    match a, b:
        case (t.Int() | t.Bool(), t.Int() | t.Bool()) | (t.SetOf(), t.SetOf()):
            return True
        case (t.Nothing(), t.Nothing()) | (t.SeqOf(), t.SeqOf()):
            return True
        case t.Atoms(), t.Atoms():
            return a.name == b.name
        case t.Rec(), t.Rec():
            return a.name == b.name
        case t.MapOf(), t.MapOf():
            return a.key == b.key
        case t.Tuple(), t.Tuple():
            return len(a.items) == len(b.items) and all(map(_comparable, a.items, b.items))
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
