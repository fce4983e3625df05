"""Knock-outs: a changed unit replaced by something that cannot be right.

A function's body becomes `raise`, then a constant of its return type; a binding becomes another
value of its type, then None; a class loses its bases and decorators, then itself; a statement is
taken out. If every claim still holds, no claim covers the unit. Only the unit's own text is
replaced, so that the rest of the file stays what it was.
"""

from __future__ import annotations

import ast
import dataclasses
import io
import tokenize
from collections.abc import Iterator, Sequence
from typing import cast

from refute.change.units import (
    BINDING,
    CLASS,
    FUNCTION,
    IMPORT,
    STATEMENT,
    Function,
    Unit,
    bound_names,
    is_trivial,
    pieces,
)
from refute.closure import parse

RAISE = 'raise RuntimeError("knocked out by refute")'
_GENERATORS = ("Iterator", "Iterable", "Generator", "AsyncIterator", "AsyncGenerator", "Steps")

# type name → two different values of it, as source
_VALUES: dict[str, tuple[str, str]] = {
    "bool": ("False", "True"),
    "int": ("0", "1"),
    "float": ("0.0", "1.0"),
    "complex": ("0j", "1j"),
    "str": ('""', '"refute"'),
    "bytes": ('b""', 'b"refute"'),
    "bytearray": ("bytearray()", 'bytearray(b"refute")'),
    "list": ("[]", "[None]"),
    "List": ("[]", "[None]"),
    "Sequence": ("[]", "[None]"),
    "tuple": ("()", "(None,)"),
    "Tuple": ("()", "(None,)"),
    "dict": ("{}", "{None: None}"),
    "Dict": ("{}", "{None: None}"),
    "Mapping": ("{}", "{None: None}"),
    "set": ("set()", "{None}"),
    "Set": ("set()", "{None}"),
    "frozenset": ("frozenset()", "frozenset({None})"),
    "None": ("None", "None"),
}


@dataclasses.dataclass(frozen=True)
class Knockout:
    """One replacement. how: what a report says; sources: variants, one of which must be refuted."""

    how: str
    sources: tuple[bytes, ...]


class Unsplittable(ValueError):
    """The unit cannot be found or replaced in the file's text."""


def knockouts(unit: Unit, source: bytes) -> tuple[Knockout, ...]:
    """The knock-outs of a unit; each must refute some claim. Raises Unsplittable."""
    text = _Text(source)
    node = text.find(unit)
    if unit.kind == FUNCTION and isinstance(node, Function):
        return tuple(_function(text, node))
    if unit.kind == CLASS and isinstance(node, ast.ClassDef):
        return tuple(_class(text, node))
    if unit.kind == BINDING:
        return tuple(_binding(text, node))
    if unit.kind == IMPORT:
        names = [n for n in bound_names(node) if n != "*"]
        gone = " = ".join([*names, "None"]) if names and not _is_future(node) else "pass"
        return (Knockout("its names bound to None", (text.replace(node, node, gone),)),)
    if unit.kind == STATEMENT:
        return (Knockout("statement removed", (text.replace(node, node, "pass"),)),)
    raise Unsplittable(f"{unit} cannot be knocked out")


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


class _Text:
    """A source text that can be cut at syntax nodes. Line ends become newlines."""

    def __init__(self, source: bytes) -> None:
        module = parse(source)
        if module is None:
            raise Unsplittable("the file cannot be parsed")
        self.module = module
        self.encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
        text = source.decode(self.encoding).replace("\r\n", "\n").replace("\r", "\n")
        self.lines = [line.encode() for line in text.split("\n")]

    def find(self, unit: Unit) -> ast.stmt:
        """The statement that makes a unit, with its docstring still in place."""
        shadow = parse("\n".join(line.decode() for line in self.lines).encode())
        wanted = (
            [p for p in pieces(shadow) if shadow and p.qualname == unit.qualname] if shadow else []
        )
        exact = [p for p in wanted if p.kind == unit.kind and p.node.lineno == unit.line]
        if not exact:
            raise Unsplittable(f"{unit} is not in the file's text")
        place = (exact[0].node.lineno, exact[0].node.col_offset)
        for node in ast.walk(self.module):
            if isinstance(node, ast.stmt) and (node.lineno, node.col_offset) == place:
                return node
        raise Unsplittable(f"{unit} is not in the file's text")

    def replace(self, first: ast.AST, last: ast.AST, new: str) -> bytes:
        """The text with everything from one node to another replaced."""
        line, column = _start(first)
        end_line, end_column = _end(last)
        before = b"\n".join([*self.lines[: line - 1], self.lines[line - 1][:column]])
        after = b"\n".join([self.lines[end_line - 1][end_column:], *self.lines[end_line:]])
        whole = (before + new.encode() + after).decode()
        if parse(whole.encode()) is None:
            raise Unsplittable("the replacement does not parse")
        return whole.encode(self.encoding.removesuffix("-sig"))


def _end(node: ast.AST) -> tuple[int, int]:
    """Line (from 1) and byte column where the node ends."""
    located = cast(ast.expr, node)  # statements and expressions both carry their place
    return located.end_lineno or located.lineno, located.end_col_offset or 0


def _start(node: ast.AST) -> tuple[int, int]:
    """Where a node's text begins, decorators included."""
    line, column = node.lineno, node.col_offset  # type: ignore[attr-defined]
    decorators = getattr(node, "decorator_list", [])
    return (decorators[0].lineno if decorators else line), column


def _function(text: _Text, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Knockout]:
    generator = any(isinstance(n, ast.Yield | ast.YieldFrom) for n in _own_nodes(node))

    def with_body(new: str) -> bytes:
        return text.replace(node.body[0], node.body[-1], new + ("; yield" if generator else ""))

    yield Knockout("body replaced by raise", (with_body(RAISE),))
    if generator:
        yield Knockout("body replaced by an empty generator", (with_body("return"),))
        return
    values = [v for v in _return_values(node) if not _returns_only(node, v)]
    if values:
        sources = tuple(with_body(f"return {v}") for v in values)
        yield Knockout(f"body replaced by return {values[0]}", sources)


def _own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function without those of functions and classes inside it."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, Function | ast.Lambda | ast.ClassDef):
            yield from _own_nodes(child)


def _return_values(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    """Constants of the return type, as source, the plainest first."""
    if node.name == "__init__":
        return ["None"]
    if node.returns is not None:
        return _values_of(node.returns, node)
    returned = [n.value for n in _own_nodes(node) if isinstance(n, ast.Return)]
    kinds = [_kind_of(value) for value in returned if value is not None]
    first = next((k for k in kinds if k), "None")
    return list(dict.fromkeys(_VALUES[first]))


def _values_of(annotation: ast.expr, node: ast.AST) -> list[str]:
    if isinstance(annotation, ast.Constant) and type(annotation.value) is str:
        inner = parse(annotation.value.encode())
        if inner and len(inner.body) == 1 and isinstance(inner.body[0], ast.Expr):
            return _values_of(inner.body[0].value, node)
        return ["None"]
    if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
        both = [*_values_of(annotation.left, node), *_values_of(annotation.right, node)]
        return sorted(dict.fromkeys(both), key=lambda value: value != "None")
    base = annotation.value if isinstance(annotation, ast.Subscript) else annotation
    name = ast.unparse(base).rpartition(".")[2]
    if name == "Optional" and isinstance(annotation, ast.Subscript):
        return list(dict.fromkeys(["None", *_values_of(annotation.slice, node)]))
    if name in ("Annotated", "Final", "Awaitable", "Coroutine") and isinstance(
        annotation, ast.Subscript
    ):
        parts = (
            annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
        )
        return _values_of(parts[0] if name in ("Annotated", "Final") else parts[-1], node)
    if name == "Self":
        return ["self", "None"]
    if name in ("tuple", "Tuple") and isinstance(annotation, ast.Subscript):
        return _tuples(annotation.slice, node)
    return list(dict.fromkeys(_VALUES.get(name, ("None", "None"))))


def _tuples(inside: ast.expr, node: ast.AST) -> list[str]:
    parts = inside.elts if isinstance(inside, ast.Tuple) else [inside]
    if parts and isinstance(parts[-1], ast.Constant) and parts[-1].value is ...:
        return list(_VALUES["tuple"])
    choices = [_values_of(part, node) for part in parts]
    return [
        "(" + "".join(f"{c[min(i, len(c) - 1)]}, " for c in choices).rstrip() + ")" for i in (0, 1)
    ]


def _kind_of(value: ast.expr) -> str:
    """The type of an expression as far as its form tells; "" where it does not."""
    match value:
        case ast.Constant():
            name = type(value.value).__name__
            return "None" if name == "NoneType" else name if name in _VALUES else ""
        case ast.Compare() | ast.UnaryOp(op=ast.Not()):
            return "bool"
        case ast.JoinedStr():
            return "str"
        case ast.List() | ast.ListComp():
            return "list"
        case ast.Dict() | ast.DictComp():
            return "dict"
        case ast.Set() | ast.SetComp():
            return "set"
        case ast.Tuple():
            return "tuple"
        case ast.UnaryOp(operand=inner):
            return _kind_of(inner)
        case ast.Call(func=ast.Name(id=name)) if name in _VALUES:
            return name
    return ""


def _returns_only(node: ast.FunctionDef | ast.AsyncFunctionDef, value: str) -> bool:
    """Whether the body is nothing but the constant already."""
    body: Sequence[ast.stmt] = node.body
    if ast.get_docstring(node) is not None:
        body = body[1:]
    if is_trivial(body):
        return value == "None"
    last = body[0]
    if len(body) != 1 or not isinstance(last, ast.Return):
        return False
    tree = parse(value.encode())
    returned = ast.unparse(last.value) if last.value else "None"
    return tree is not None and returned == ast.unparse(tree)


def _class(text: _Text, node: ast.ClassDef) -> Iterator[Knockout]:
    if node.bases or node.keywords or node.decorator_list:
        first = node.body[0]
        line, column = _start(first)
        same_line = line == node.lineno
        header = f"class {node.name}: " if same_line else f"class {node.name}:\n{' ' * column}"
        rest = text.lines[line - 1][column:]
        tail = [rest, *text.lines[line : (node.end_lineno or line)]]
        end = node.end_col_offset or 0
        tail[-1] = tail[-1][: end - column] if len(tail) == 1 else tail[-1][:end]
        stripped = header + b"\n".join(tail).decode()
        if not _only_typing(node):
            yield Knockout("bases and decorators removed", (text.replace(node, node, stripped),))
    yield Knockout("class replaced by None", (text.replace(node, node, f"{node.name} = None"),))


def _only_typing(node: ast.ClassDef) -> bool:
    """Whether the bases mean something to type checkers only."""
    names = {ast.unparse(b).partition("[")[0].rpartition(".")[2] for b in node.bases}
    return names <= {"Protocol", "Generic", "ABC", "object"} and not node.decorator_list


def _binding(text: _Text, node: ast.stmt) -> Iterator[Knockout]:
    value = getattr(node, "value", None)
    if value is None:  # a field: an annotation in a class body
        yield Knockout("field removed", (text.replace(node, node, "pass"),))
        return
    others = [v for v in _VALUES.get(_kind_of(value), ()) if v != ast.unparse(value)]
    others = [v for v in (*others, "None") if v != ast.unparse(value)]
    for other in list(dict.fromkeys((others[0], "None") if others else ())):
        yield Knockout(f"value replaced by {other}", (text.replace(value, value, other),))
