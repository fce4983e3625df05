"""Values and types of the IR as Python syntax, and the small pieces that syntax is made of."""

from __future__ import annotations

import ast
import builtins
import keyword

from refute.specs.machine import types as t
from refute.specs.machine.values import Atom, Value, conforms, domain, order

TAKEN = frozenset((*keyword.kwlist, *keyword.softkwlist, *dir(builtins), "self", "after"))


class Unprintable(Exception):
    """The expression has no form in the machine language; the message names what is in it."""


def name_of(name: str) -> ast.expr:
    """The name as an expression."""
    return ast.Name(name, ast.Load())


def dotted(path: str) -> ast.expr:
    """`a.b.c`."""
    first, *rest = path.split(".")
    made = name_of(first)
    for part in rest:
        made = ast.Attribute(made, part, ast.Load())
    return made


def class_name(kind: t.Type) -> str:
    """The name of a Sort, Enum or dataclass. Raises Unprintable for other types."""
    if not isinstance(kind, t.Atoms | t.Rec):
        raise Unprintable(f"the class of {t.show(kind)}")
    return kind.name


def call(name: str, *args: ast.expr, needs: Syntax | None = None) -> ast.expr:
    """`name(args)`. needs: who has to import the name."""
    if needs is not None and not hasattr(builtins, name):
        needs.needed.add(name.partition(".")[0])
    return ast.Call(dotted(name), list(args), [])


def subscripted(name: str, parts: list[ast.expr], needs: Syntax | None = None) -> ast.expr:
    """`name[parts]`."""
    if needs is not None:
        needs.needed.add(name)
    inside = parts[0] if len(parts) == 1 else ast.Tuple(parts, ast.Load())
    return ast.Subscript(name_of(name), inside, ast.Load())


def bare(made: ast.expr) -> ast.expr:
    """`Seq([…])` as the list alone, where it is only walked through."""
    match made:
        case ast.Call(ast.Name("Seq"), [ast.List() | ast.ListComp() as inner]):
            return inner
    return made


def bounded(kind: t.Type) -> bool:
    """Whether a bounded int or sequence is inside the type, which `every` takes by a name only."""
    match kind:
        case t.Int() | t.SeqOf():
            return True
        case t.Tuple(parts) | t.Union(parts):
            return any(map(bounded, parts))
        case t.SetOf(elem):
            return bounded(elem)
        case t.MapOf(key, value):
            return bounded(key) or bounded(value)
    return False


def arguments_of(names: list[str]) -> ast.arguments:
    """The parameters of a lambda."""
    return ast.arguments([], [ast.arg(n) for n in names], None, [], [], None, [])


class Syntax:
    """Values and types as Python. needed: the names that the module has to know for it."""

    def __init__(self) -> None:
        self.taken: set[str] = set(TAKEN)
        self.needed: set[str] = set()  # names that the module has to import

    def named(self, kind: t.Type) -> str:
        """A new name for a local of the type."""
        base = kind.name.rpartition(".")[2].lower() if isinstance(kind, t.Atoms | t.Rec) else "x"
        base = base if base.isidentifier() else "x"
        number = 1
        name = base
        while name in self.taken:
            number += 1
            name = f"{base}{number}"
        self.taken.add(name)
        return name

    def class_(self, kind: t.Type) -> ast.expr:
        """The class that a type is, as it is written."""
        if isinstance(kind, t.Bool | t.Int | t.Text):
            return name_of({t.Bool: "bool", t.Int: "int", t.Text: "str"}[type(kind)])
        self.needed.add(class_name(kind).partition(".")[0])
        return dotted(class_name(kind))

    def value(self, value: Value, kind: t.Type) -> ast.expr:
        """A known value of the type."""
        if isinstance(kind, t.Tuple | t.Rec | t.SetOf | t.SeqOf | t.MapOf | t.Union):
            return self._compound(value, kind)
        if type(value) is Atom:
            return self._member(value, kind)
        if type(value) is int and value < 0:
            return ast.UnaryOp(ast.USub(), ast.Constant(-value))
        return ast.Constant(value)

    def _member(self, value: Atom, kind: t.Type) -> ast.expr:
        if isinstance(kind, t.Atoms) and kind.kind != "enum":
            return ast.Call(self.class_(kind), [ast.Constant(value.i)], [])
        return ast.Attribute(self.class_(kind), value.name.rpartition(".")[2], ast.Load())

    def _compound(self, value: Value, kind: t.Type) -> ast.expr:
        match kind:
            case t.Tuple(items):
                parts = [self.value(v, k) for v, k in zip(value, items, strict=True)]
                return ast.Tuple(parts, ast.Load())
            case t.Rec(_, fields):
                parts = [self.value(v, k) for v, (_, k) in zip(value[1:], fields, strict=True)]
                return call(class_name(kind), *parts, needs=self)
            case t.BagOf(t.Tuple((elem, _))):
                often = [self.value(v, elem) for v, n in sorted(value, key=order) for _ in range(n)]
                made: list[ast.expr] = [ast.List(often, ast.Load())] if often else []
                return call("Bag", *made, needs=self)
            case t.SetOf(elem) | t.SeqOf(elem):
                name = "Set" if isinstance(kind, t.SetOf) else "Seq"
                rows = sorted(value, key=order) if name == "Set" else value
                parts = [self.value(v, elem) for v in rows]
                made = [ast.List(parts, ast.Load())] if parts else []
                return call(name, *made, needs=self)
            case t.MapOf(key, of):
                places = [self.value(k, key) for k in domain(key)]
                return ast.Dict(list(places), [self.value(v, of) for v in value])
            case t.Union(options):
                fitting = next(o for o in options if conforms(value, o))
                return self.value(value, fitting)
        raise AssertionError(kind)

    def annotation(self, kind: t.Type) -> ast.expr:
        """The type as it is annotated. Raises Unprintable where that needs bounds."""
        match kind:
            case t.Bool():
                return name_of("bool")
            case t.Nothing():
                return ast.Constant(None)
            case t.Atoms() | t.Rec():
                return self.class_(kind)
            case t.Tuple(items):
                parts = [self.annotation(k) for k in items]
                return subscripted("tuple", parts)
            case t.BagOf(t.Tuple((elem, _))):
                return subscripted("Bag", [self.annotation(elem)], self)
            case t.SetOf(elem):
                return subscripted("Set", [self.annotation(elem)], self)
            case t.MapOf(key, value):
                return subscripted("Map", [self.annotation(k) for k in (key, value)], self)
            case t.Text(options):
                return subscripted("Literal", [ast.Constant(o) for o in options], self)
            case t.Int(lo, hi) if lo is not None and hi is not None:
                ends: list[ast.expr] = [ast.Constant(lo), ast.Constant(hi)]
                bounds = call("Range", *ends, needs=self)
                return subscripted("Annotated", [name_of("int"), bounds], self)
            case t.SeqOf(elem, upto) if upto is not None:
                limit = call("Upto", ast.Constant(upto), needs=self)
                row = subscripted("Seq", [self.annotation(elem)], self)
                return subscripted("Annotated", [row, limit], self)
            case t.Union(options) if options:
                made = self.annotation(options[0])
                for option in options[1:]:
                    made = ast.BinOp(made, ast.BitOr(), self.annotation(option))
                return made
        raise Unprintable(f"the type {t.show(kind)}")
