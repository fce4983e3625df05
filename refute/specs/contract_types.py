"""Types of a contract's parameters and result, read from annotations as syntax.

They say which inputs a claim ranges over, so an annotation that is not understood is refused with
file:line: guessing a smaller set of inputs would establish too much, a larger one would accuse.
Inputs are exactly of the type (a `bool` is no input of an `int`); a result is judged as type
checkers do, for whom a bool is an int and an int is a float.

Cases are drawn, enumerated and shrunk over `refute.specs.domains`, which has neither tuples of any
length nor frozensets. `carried` gives a domain in which these stand as records, `build` and
`carrier` go from its values to cases and back.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Sequence

from refute.closure import parse
from refute.errors import Unsupported
from refute.plain import Plain, same
from refute.specs.contract_names import Names
from refute.specs.contract_source import refusal
from refute.specs.domains import (
    Bools,
    Bytes,
    Dicts,
    Domain,
    Either,
    Floats,
    Ints,
    Lists,
    OneOf,
    Records,
    Sets,
    Text,
    Tuples,
)

_SCALARS: dict[str, type] = {
    "bool": bool,
    "int": int,
    "float": float,
    "str": str,
    "bytes": bytes,
    "None": type(None),
}
_COLLECTIONS: dict[str, type] = {"list": list, "set": set, "frozenset": frozenset, "tuple": tuple}
_ALIASES = {
    **{"List": "list", "Set": "set", "FrozenSet": "frozenset", "Tuple": "tuple", "Dict": "dict"},
    **{"Collection": "Sequence", "Iterable": "Sequence", "MutableSequence": "list"},
    **{"Mapping": "dict", "MutableMapping": "dict", "AbstractSet": "set", "MutableSet": "set"},
}
_ABSTRACT = frozenset(
    {"Sequence", "Collection", "Iterable", "MutableSequence", "Mapping", "MutableMapping"}
    | {"AbstractSet", "MutableSet"}
)
_SOURCES = ("typing", "typing_extensions", "collections.abc")
_KNOWN = {*_ALIASES, "Optional", "Union", "Literal", "Sequence", "Annotated", "Final"}
_DEEPEST = 20
_WRITE = "annotate with int, bool, str, bytes, float, list, tuple, set, dict, Optional or Literal"


@dataclasses.dataclass(frozen=True)
class Type:
    """A set of plain values.

    kind: a scalar's name, "list", "set", "frozenset", "tuples" (any length), "tuple" (one value of
    each), "dict", "either" or "literal". of: the parts. values: those of a literal.
    """

    kind: str
    of: tuple[Type, ...] = ()
    values: tuple[Plain, ...] = ()

    def admits(self, value: Plain, loosely: bool = False) -> bool:
        """Whether it is a value of the type; loosely: a bool is an int, an int is a float."""
        kind = type(value)
        match self.kind:
            case "either":
                return any(part.admits(value, loosely) for part in self.of)
            case "literal":
                return any(same(value, v) for v in self.values)
            case "tuple":
                fits = kind is tuple and len(value) == len(self.of)
                return fits and all(
                    t.admits(v, loosely) for t, v in zip(self.of, value, strict=True)
                )
            case "dict":
                keys, values = self.of
                return kind is dict and all(
                    keys.admits(k, loosely) and values.admits(v, loosely) for k, v in value.items()
                )
            case "tuples" | "list" | "set" | "frozenset":
                whole = kind is (tuple if self.kind == "tuples" else _COLLECTIONS[self.kind])
                return whole and all(self.of[0].admits(v, loosely) for v in value)
        return kind is _SCALARS[self.kind] or (loosely and kind.__name__ in _LOOSE[self.kind])

    def __str__(self) -> str:
        parts = ", ".join(map(str, self.of))
        match self.kind:
            case "either":
                return " | ".join(map(str, self.of))
            case "literal":
                return f"Literal[{', '.join(map(repr, self.values))}]"
            case "tuples":
                return f"tuple[{parts}, ...]"
            case "tuple":
                return f"tuple[{parts or '()'}]"
        return f"{self.kind}[{parts}]" if parts else self.kind


_LOOSE = {"int": ("bool",), "float": ("int", "bool")} | dict.fromkeys(
    ("bool", "str", "bytes", "None"), ()
)


def carried(kind: Type) -> Domain:
    """The domain whose values `build` turns into values of the type. Raises IllegalClaim."""
    match kind.kind:
        case "bool":
            return Bools()
        case "int":
            return Ints()
        case "float":
            return Floats()
        case "str":
            return Text()
        case "bytes":
            return Bytes()
        case "None":
            return OneOf(None)
        case "literal":
            return OneOf(*kind.values)
        case "list":
            return Lists(carried(kind.of[0]))
        case "set":
            return Sets(carried(kind.of[0]))
        case "tuples":
            return Records({"tuple": Lists(carried(kind.of[0]))})
        case "frozenset":
            return Records({"frozenset": Sets(carried(kind.of[0]))})
        case "tuple":
            return Tuples(*map(carried, kind.of))
        case "dict":
            return Dicts(carried(kind.of[0]), carried(kind.of[1]))
    return Either(*map(carried, kind.of))


def build(kind: Type, value: Plain) -> Plain:
    """The value of the type that a value of `carried(kind)` stands for."""
    match kind.kind:
        case "list":
            return [build(kind.of[0], v) for v in value]
        case "set":
            return {build(kind.of[0], v) for v in value}
        case "tuples":
            return tuple(build(kind.of[0], v) for v in value["tuple"])
        case "frozenset":
            return frozenset(build(kind.of[0], v) for v in value["frozenset"])
        case "tuple":
            return tuple(build(t, v) for t, v in zip(kind.of, value, strict=True))
        case "dict":
            return {build(kind.of[0], k): build(kind.of[1], v) for k, v in value.items()}
        case "either":
            part = next(t for t in kind.of if carried(t).contains(value))
            return build(part, value)
    return value


def carrier(kind: Type, value: Plain) -> Plain:
    """The inverse of `build`, for a value that the type admits."""
    match kind.kind:
        case "list":
            return [carrier(kind.of[0], v) for v in value]
        case "set":
            return {carrier(kind.of[0], v) for v in value}
        case "tuples":
            return {"tuple": [carrier(kind.of[0], v) for v in value]}
        case "frozenset":
            return {"frozenset": {carrier(kind.of[0], v) for v in value}}
        case "tuple":
            return tuple(carrier(t, v) for t, v in zip(kind.of, value, strict=True))
        case "dict":
            return {carrier(kind.of[0], k): carrier(kind.of[1], v) for k, v in value.items()}
        case "either":
            part = next(t for t in kind.of if t.admits(value))
            return carrier(part, value)
    return value


def read_type(annotation: ast.expr, names: Names, path: str, concrete: bool = False) -> Type:
    """The type that an annotation names. Raises Unsupported with file:line.

    concrete: refuse protocols such as Sequence too. As an input one stands for lists and tuples; a
    result of it may be anything that behaves so.
    """
    return _Types(names, path, annotation.lineno, concrete).read(annotation, 0)


class _Types:
    """Reads annotations; line: where the outermost one stands."""

    def __init__(self, names: Names, path: str, line: int, concrete: bool) -> None:
        self.names = names
        self.concrete = concrete
        self.path = path
        self.line = line

    def read(self, node: ast.expr, depth: int) -> Type:
        if depth > _DEEPEST:
            raise self._refused(node)
        match node:
            case ast.Constant(value=None):
                return Type("None")
            case ast.Constant(value=str(text)):
                return self.read(self._quoted(node, text), depth + 1)
            case ast.BinOp(op=ast.BitOr()):
                return self._either([node.left, node.right], depth)
            case ast.Subscript():
                return self._subscript(node, depth)
            case ast.Name() | ast.Attribute():
                return self._name(node, depth)
        raise self._refused(node)

    def _quoted(self, node: ast.expr, text: str) -> ast.expr:
        module = parse(text.encode())
        if module is None or len(module.body) != 1 or not isinstance(module.body[0], ast.Expr):
            raise self._refused(node)
        return module.body[0].value

    def _name(self, node: ast.expr, depth: int) -> Type:
        name = self._library(node)
        if name in _SCALARS:
            return Type(name)
        alias = self.names.value(node.id) if isinstance(node, ast.Name) else None
        if not name and alias is not None:
            return self.read(alias, depth + 1)
        step = "give the type of its items" if name in (*_COLLECTIONS, "dict") else ""
        raise self._refused(node, step)

    def _library(self, node: ast.expr) -> str:
        """The plain name of a builtin or of what comes from typing; "" for anything else."""
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name | ast.Attribute):
            whole = self.names.origin(node)
        elif isinstance(node, ast.Name):
            whole = self.names.origin(node) if node.id in self.names.bound else node.id
        else:
            return ""
        module, _, name = whole.rpartition(".")
        if not module:
            known = name in _SCALARS or name in _COLLECTIONS or name == "dict"
            return name if known else ""
        if module not in _SOURCES or name not in _KNOWN or (self.concrete and name in _ABSTRACT):
            return ""
        return _ALIASES.get(name, name)

    def _subscript(self, node: ast.Subscript, depth: int) -> Type:
        name = self._library(node.value)
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        match name:
            case "Optional":
                return self._either([*parts, ast.Constant(None)], depth)
            case "Union":
                return self._either(parts, depth)
            case "Literal":
                return self._literal(parts)
            case "Annotated" | "Final":
                return self.read(parts[0], depth + 1)
            case "Sequence" if len(parts) == 1:
                item = self.read(parts[0], depth + 1)
                return Type("either", (Type("list", (item,)), Type("tuples", (item,))))
            case "tuple":
                return self._tuple(parts, depth)
            case "list" | "set" | "frozenset" if len(parts) == 1:
                return Type(name, (self.read(parts[0], depth + 1),))
            case "dict" if len(parts) == 2:
                return Type("dict", tuple(self.read(p, depth + 1) for p in parts))
        raise self._refused(node)

    def _tuple(self, parts: Sequence[ast.expr], depth: int) -> Type:
        if len(parts) == 2 and isinstance(parts[1], ast.Constant) and parts[1].value is ...:
            return Type("tuples", (self.read(parts[0], depth + 1),))
        if len(parts) == 1 and isinstance(parts[0], ast.Tuple) and not parts[0].elts:
            return Type("tuple")
        return Type("tuple", tuple(self.read(p, depth + 1) for p in parts))

    def _either(self, parts: Sequence[ast.expr], depth: int) -> Type:
        found: list[Type] = []
        for part in parts:
            one = self.read(part, depth + 1)
            found += one.of if one.kind == "either" else (one,)
        kept = tuple(dict.fromkeys(found))
        return kept[0] if len(kept) == 1 else Type("either", kept)

    def _literal(self, parts: Sequence[ast.expr]) -> Type:
        values = []
        for part in parts:
            try:
                values.append(ast.literal_eval(part))
            except (ValueError, TypeError) as error:
                raise self._refused(part) from error
        return Type("literal", values=tuple(values))

    def _refused(self, node: ast.expr, step: str = "") -> Unsupported:
        what = f"the type {ast.unparse(node)[:60]} is not supported in a contract"
        return refusal(self.path, getattr(node, "lineno", self.line), what, step or _WRITE)
