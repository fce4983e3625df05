"""Annotations: the kind of the values that a type annotation admits.

Types are read as everywhere in refute (`refute.specs.contract_types`); a bytearray, which no claim
can pass, may still be what a called function takes. A type without a kind is refused by its text.
"""

from __future__ import annotations

import ast

from refute.errors import Unsupported
from refute.specs.contract_names import names_of
from refute.specs.contract_types import Type, read_type
from refute.verifiers.contracts.kinds import BYTEARRAY, Kind, union
from refute.verifiers.contracts.program import Module

_SCALARS = ("int", "bool", "str", "bytes", "None")


class NoKind(Exception):
    """An annotation that names no kind of the subset; says which."""


def annotated(module: Module, node: ast.expr | None) -> Kind:
    """The kind that an annotation in a module names. Raises NoKind."""
    if node is None:
        raise NoKind("no annotation")
    if isinstance(node, ast.Name) and node.id == "bytearray" and not module.bindings.get(node.id):
        return BYTEARRAY
    try:
        read = read_type(node, names_of(module.tree), module.path)
    except Unsupported:
        raise NoKind(ast.unparse(node)) from None
    return _kind(read)


def _kind(read: Type) -> Kind:
    match read.kind:
        case "either":
            return union([_kind(part) for part in read.of])
        case "list":
            return Kind("list", (_kind(read.of[0]),))
        case "tuples":
            return Kind("vtuple", (_kind(read.of[0]),))
        case "tuple":
            return Kind("tuple", tuple(map(_kind, read.of)))
        case scalar if scalar in _SCALARS:
            return Kind(scalar)
    raise NoKind(str(read))
