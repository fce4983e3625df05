"""Reading a function ahead of its execution: its locals, what it may change, what it may return.

All of it errs towards too much: a parameter counts as changed unless every use of it is one that
only reads, and a result counts as a parameter's alias unless it is visibly a new object.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

READERS = frozenset({"len", "sum", "min", "max", "sorted", "list", "tuple", "bytes", "bytearray"})
READERS |= {"all", "any", "enumerate", "zip", "reversed", "range", "isinstance", "abs", "bool"}
READING_METHODS = frozenset({"count", "index", "copy"})
_FRESH = (ast.List, ast.ListComp, ast.BinOp, ast.Constant, ast.Tuple, ast.Compare)
_FRESH_CALLS = frozenset({"list", "sorted", "bytearray", "bytes", "tuple", "len", "sum", "abs"})


def own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a body without those of functions and classes inside it."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from own_nodes(child)


def local_names(function: ast.FunctionDef) -> frozenset[str]:
    """The names that are local to a function: parameters, and whatever it assigns."""
    args = function.args
    names = {a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)}
    outer: set[str] = set()
    for node in own_nodes(function):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                names.add(name)
            case ast.Global(names=declared) | ast.Nonlocal(names=declared):
                outer.update(declared)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                names.update(a.asname or a.name.partition(".")[0] for a in aliases)
            case ast.ExceptHandler(name=str() as name):
                names.add(name)
    for comprehension in own_nodes(function):
        if isinstance(comprehension, ast.ListComp | ast.GeneratorExp):
            names -= _only_in_comprehensions(function, names)
            break
    return frozenset(names - outer)


def _only_in_comprehensions(function: ast.FunctionDef, names: set[str]) -> set[str]:
    """Names whose every assignment is a comprehension's target."""
    inside = {
        n
        for node in own_nodes(function)
        if isinstance(node, ast.comprehension)
        for n in ast.walk(node.target)
        if isinstance(n, ast.Name)
    }
    args = function.args
    held = {a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)}
    others = {
        node.id
        for node in own_nodes(function)
        if isinstance(node, ast.Name)
        and isinstance(node.ctx, ast.Store | ast.Del)
        and node not in inside
    }
    return {n.id for n in inside} - others - held


def parameter_names(function: ast.FunctionDef) -> list[str]:
    """The parameters in order, those by keyword only last."""
    args = function.args
    return [a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)]


def only_read(
    function: ast.FunctionDef, parameter: str, callee: Callable[[ast.Call, int], bool]
) -> bool:
    """Whether a function only reads the object that a parameter names.

    callee: whether a function of the tree, called so, only reads its argument of that number.
    """
    nodes = [node for statement in function.body for node in ast.walk(statement)]
    parents = {child: node for node in nodes for child in ast.iter_child_nodes(node)}
    for node in nodes:
        if isinstance(node, ast.Name) and node.id == parameter:
            parent = parents.get(node)
            if isinstance(node.ctx, ast.Load):
                if not _reads(node, parent, parents, callee):
                    return False
            elif isinstance(parent, ast.AugAssign):
                return False
    return True


def _reads(
    node: ast.Name,
    parent: ast.AST | None,
    parents: dict[ast.AST, ast.AST],
    callee: Callable[[ast.Call, int], bool],
) -> bool:
    match parent:
        case ast.Subscript(value=value, ctx=ast.Load()) if value is node:
            return not _escapes(parent, parents)
        case ast.Subscript(slice=index) if index is node:
            return True
        case ast.Compare() | ast.BinOp() | ast.UnaryOp() | ast.If() | ast.While() | ast.BoolOp():
            return not isinstance(parent, ast.BoolOp) or _is_test(parent, parents)
        case ast.For(iter=source) | ast.comprehension(iter=source) if source is node:
            return True
        case ast.AugAssign(value=value) if value is node:
            return True
        case ast.Call(func=ast.Name(id=name), args=args) if node in args:
            return name in READERS or callee(parent, args.index(node))
        case ast.Attribute(attr=name):
            return name in READING_METHODS
        case ast.Starred():
            return True
    return False


def _escapes(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """Whether an item that was read is then changed in place: `rows[0].append(x)`."""
    parent = parents.get(node)
    return isinstance(parent, ast.Attribute) or (
        isinstance(parent, ast.Subscript) and not isinstance(parent.ctx, ast.Load)
    )


def _is_test(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    parent = parents.get(node)
    return isinstance(parent, ast.If | ast.While | ast.Assert | ast.UnaryOp)


def returns_new_objects(function: ast.FunctionDef) -> bool:
    """Whether every object that a function returns is visibly made by it."""
    assigned: dict[str, list[ast.expr | None]] = {n: [None] for n in parameter_names(function)}
    for node in own_nodes(function):
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    plain = isinstance(target, ast.Name)
                    for name in _names(target):
                        assigned.setdefault(name, []).append(value if plain else None)
            case ast.AnnAssign(target=ast.Name(id=name), value=value) if value is not None:
                assigned.setdefault(name, []).append(value)
            case ast.NamedExpr(target=ast.Name(id=name), value=value):
                assigned.setdefault(name, []).append(value)
            case ast.For(target=target):
                for name in _names(target):
                    assigned.setdefault(name, []).append(None)
    return all(
        node.value is None or _is_new(node.value, assigned, frozenset())
        for node in own_nodes(function)
        if isinstance(node, ast.Return)
    )


def _names(target: ast.expr) -> list[str]:
    return [n.id for n in ast.walk(target) if isinstance(n, ast.Name)]


def _is_new(
    node: ast.expr | None, assigned: dict[str, list[ast.expr | None]], seen: frozenset[str]
) -> bool:
    match node:
        case ast.Name(id=name):
            values = assigned.get(name, [None])
            return name in seen or all(_is_new(v, assigned, seen | {name}) for v in values)
        case ast.Subscript(slice=ast.Slice()):
            return True
        case ast.Tuple(elts=items):
            return all(_is_new(i, assigned, seen) for i in items)
        case ast.IfExp(body=then, orelse=other):
            return _is_new(then, assigned, seen) and _is_new(other, assigned, seen)
        case ast.Call(func=ast.Name(id=name)):
            return name in _FRESH_CALLS
        case ast.Call(func=ast.Attribute(attr="copy")):
            return True
    return isinstance(node, _FRESH)
