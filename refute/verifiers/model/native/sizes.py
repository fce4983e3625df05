"""What can be said of an expression without evaluating it: how many elements, may it raise."""

from __future__ import annotations

from refute.specs.machine import types as t
from refute.specs.machine.ir import Expr
from refute.specs.machine.values import cardinality

_RAISING = {"min", "max", "removed", "popped", "successor", "ordinal", "dict", "mapping"}
_RAISING |= {"loop", "rec", "again", "only", "fail"}


def most(expr: Expr) -> int | None:
    """The most elements that walking through the expression can meet; None when not known."""
    match expr.op:
        case "item":
            return 1
        case "if":
            return most(expr.args[1]) if len(expr.args) == 2 else _by_type(expr.type)
        case "for":
            return _product(most(expr.args[0]), most(expr.args[1]))
        case "let":
            return most(expr.args[1])
        case "list" | "set" | "toseq" | "sorted" | "toset" | "values" | "keys" | "items":
            found = most(expr.args[0])
            return found if found is not None else _by_type(expr.type)
        case "domain" if isinstance(expr.type, t.SeqOf):
            return int(cardinality(expr.type.elem))
        case "range" if isinstance(expr.type, t.SeqOf):
            size = cardinality(expr.type.elem)
            return max(0, int(size)) if size < 2**20 else None
    return _by_type(expr.type)


def _product(left: int | None, right: int | None) -> int | None:
    return None if left is None or right is None else left * right


def _by_type(kind: t.Type) -> int | None:
    size: float
    match kind:
        case t.SetOf():
            size = cardinality(kind.elem)
        case t.MapOf():
            size = cardinality(kind.key)
        case t.Tuple():
            size = len(kind.items)
        case t.SeqOf():
            return kind.upto
        case _:
            return None
    return int(size) if size < 2**20 else None


def may_raise(expr: Expr) -> bool:
    """Whether evaluating it may raise an exception in Python; True when not sure."""
    return _raises(expr) or any(map(may_raise, expr.args))


def _raises(expr: Expr) -> bool:
    kinds = [a.type for a in expr.args]
    match expr.op:
        case "//" | "%":
            low = kinds[1].lo if isinstance(kinds[1], t.Int) else None
            return low is None or low <= 0
        case "index":
            if isinstance(kinds[0], t.MapOf):
                return not t.included(kinds[1], kinds[0].key)
            return not isinstance(kinds[0], t.Tuple)
        case "field":
            return not isinstance(kinds[0], t.Rec)
        case "range":
            return expr.args[2].op != "const" or expr.args[2].data == 0
    return expr.op in _RAISING
