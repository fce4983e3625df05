"""Units: what can change in a Python file, cut by syntax tree so that formatting does not count.

A unit is a function (nested ones belong to the outermost), a top-level or class-level binding, a
class header, an import nobody uses, or another statement. Two units are equal when their syntax
trees are, positions, comments and docstrings left out. A changed import is charged to the units
that use its name: their text is the same and their meaning is not.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence
from typing import TypeVar

from refute.closure import parse
from refute.frozen import frozen

Function = ast.FunctionDef | ast.AsyncFunctionDef

FUNCTION, CLASS, BINDING, IMPORT, STATEMENT = "function", "class", "binding", "import", "statement"
UNREADABLE = "unreadable"

# Future imports that change nothing a claim could notice; the claims are judged again all the same.
_SILENT_FUTURES = frozenset({"annotations"})
_TYPE_CHECKING = frozenset({"TYPE_CHECKING", "typing.TYPE_CHECKING", "t.TYPE_CHECKING"})
_OVERLOADS = frozenset({"overload", "typing.overload", "t.overload", "typing_extensions.overload"})


@frozen
class Unit:
    """One thing that changed. qualname: within its file; line: in the head's file, from 1."""

    file: str
    qualname: str
    kind: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.qualname}"


@frozen
class Piece:
    """A unit's syntax: the statement that makes it, and the text by which it is compared."""

    qualname: str
    kind: str
    node: ast.stmt
    text: str
    names: frozenset[str]


def changed_units(file: str, before: bytes | None, after: bytes) -> tuple[Unit, ...]:
    """The units of `after` that are new or differ from those of `before` (None: a new file)."""
    module = parse(after)
    if module is None:
        return (Unit(file, "<file>", UNREADABLE, 1),)
    old_module = parse(before) if before is not None else None
    before_pieces = pieces(old_module) if old_module is not None else []
    old, new = _texts(before_pieces), pieces(module)
    rebound = _rebound(before_pieces, new) if before is not None else frozenset()
    thinned = _thinned(before_pieces, new)
    texts = _texts(new)
    used = {name for piece in new if piece.kind != IMPORT for name in piece.names}
    found = []
    new_classes = {p.qualname for p in new if p.kind == CLASS and _key(p) not in old}
    for piece in new:
        if _is_field(piece) and piece.qualname.rpartition(".")[0] in new_classes:
            continue  # the new class stands for its fields
        before_texts, after_texts = old.get(_key(piece), []), texts[_key(piece)]
        fresh = piece.text not in before_texts
        charged = fresh or (before_texts != after_texts and set(after_texts) <= set(before_texts))
        if piece.kind == IMPORT:
            charged = charged and not set(bound_names(piece.node)) & used
        elif piece.kind == STATEMENT:
            charged = fresh
        elif piece.kind == CLASS:
            charged = charged or piece.qualname in thinned
        if charged or (piece.kind != IMPORT and piece.names & rebound):
            found.append(Unit(file, piece.qualname, piece.kind, piece.node.lineno))
    return tuple(dict.fromkeys(found))


def same_syntax(before: bytes, after: bytes) -> bool:
    """Whether two sources are equal but for formatting, comments and docstrings.

    More than `changed_units` being empty: what was deleted or moved leaves no changed unit.
    """
    old, new = parse(before), parse(after)
    if old is None or new is None:
        return False
    return ast.dump(without_docstrings(old)) == ast.dump(without_docstrings(new))


def _is_field(piece: Piece) -> bool:
    """Whether it is an annotation without a value, as in a dataclass."""
    return isinstance(piece.node, ast.AnnAssign) and piece.node.value is None


def all_units(file: str, source: bytes) -> tuple[Unit, ...]:
    """Every function, class and binding of a file, for an exemption list."""
    wanted = (FUNCTION, CLASS, BINDING, STATEMENT)
    module = parse(source)
    found = pieces(module) if module is not None else []
    units = [Unit(file, p.qualname, p.kind, p.node.lineno) for p in found if p.kind in wanted]
    return tuple({u.qualname: u for u in reversed(units)}.values())[::-1]


def _key(piece: Piece) -> tuple[str, str]:
    return piece.kind, "" if piece.kind == STATEMENT else piece.qualname


def _texts(found: Sequence[Piece]) -> dict[tuple[str, str], list[str]]:
    texts: dict[tuple[str, str], list[str]] = {}
    for piece in found:
        texts.setdefault(_key(piece), []).append(piece.text)
    return texts


def pieces(module: ast.Module) -> list[Piece]:
    """All units of a module in order; docstrings are taken out of the module in place."""
    return list(_pieces(without_docstrings(module).body, ""))


def _pieces(body: Sequence[ast.stmt], prefix: str) -> Iterator[Piece]:
    for number, node in enumerate(body):
        if _is_silent(node):
            continue
        if isinstance(node, Function):
            if not (is_never_run(node) or _is_overload(node, body[number + 1 :])):
                yield _piece(prefix + node.name, FUNCTION, node, node)
        elif isinstance(node, ast.ClassDef):
            header = copy.copy(node)
            header.body = [ast.Pass()]
            yield _piece(prefix + node.name, CLASS, node, header)
            yield from _pieces(node.body, f"{prefix}{node.name}.")
        elif isinstance(node, ast.Import | ast.ImportFrom):
            for name in bound_names(node):
                yield _piece(prefix + name, IMPORT, node, _one_import(node, name))
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign) and bound_names(node):
            if prefix or not _declares(node):
                yield _piece(prefix + bound_names(node)[0], BINDING, node, node)
        elif not _is_text(node) and not isinstance(node, ast.Pass):
            yield from _statement(node, prefix, number)


def _is_silent(node: ast.stmt) -> bool:
    """Whether only tools read it: `__all__` as a list of names, a future import of annotations."""
    if isinstance(node, ast.ImportFrom) and node.module == "__future__":
        return {alias.name for alias in node.names} <= _SILENT_FUTURES
    targets, value = _targets(node), getattr(node, "value", None)
    return (
        [ast.unparse(t) for t in targets] == ["__all__"]
        and isinstance(value, ast.List | ast.Tuple)
        and all(isinstance(item, ast.Constant) for item in value.elts)
        and not _calls(node)
    )


def _declares(node: ast.stmt) -> bool:
    """Whether it only says a name's type, without a call that runs when the module is loaded."""
    return isinstance(node, ast.AnnAssign) and node.value is None and not _calls(node)


def _calls(node: ast.stmt) -> bool:
    return any(isinstance(n, ast.Call | ast.NamedExpr | ast.Await) for n in ast.walk(node))


def _is_overload(node: Function, later: Sequence[ast.stmt]) -> bool:
    """Whether it is an overload whose implementation follows, so that its body never runs."""
    marks = {ast.unparse(d) for d in node.decorator_list}
    followed = any(isinstance(n, Function) and n.name == node.name for n in later)
    return followed and is_trivial(node.body) and bool(marks & _OVERLOADS)


def _statement(node: ast.stmt, prefix: str, number: int) -> Iterator[Piece]:
    """A compound or other statement: definitions inside it are units of their own."""
    if isinstance(node, ast.If) and ast.unparse(node.test) in _TYPE_CHECKING:
        yield from _pieces(node.orelse, prefix)
        return
    shell, inner = _shell(node)
    yield _piece(f"{prefix}<statement {ast.unparse(node).splitlines()[0]}>", STATEMENT, node, shell)
    yield from _pieces(inner, prefix)


def _shell(node: ast.stmt) -> tuple[ast.stmt, list[ast.stmt]]:
    """The statement without the definitions directly in its blocks, and those definitions."""
    inner: list[ast.stmt] = []
    return _without_definitions(node, inner), inner


NodeT = TypeVar("NodeT", bound=ast.AST)


def _without_definitions(node: NodeT, inner: list[ast.stmt]) -> NodeT:
    shell = copy.copy(node)
    for field, value in ast.iter_fields(node):
        if isinstance(value, list):
            setattr(shell, field, [_part(item, inner) for item in value])
    return shell


def _part(item: ast.AST, inner: list[ast.stmt]) -> ast.AST:
    if isinstance(item, Function | ast.ClassDef):
        inner.append(item)
        return ast.Expr(ast.Constant(item.name))
    if isinstance(item, ast.stmt | ast.ExceptHandler | ast.match_case):
        return _without_definitions(item, inner)
    return item


def _piece(qualname: str, kind: str, node: ast.stmt, compared: ast.stmt) -> Piece:
    names = {n.id for n in ast.walk(compared) if isinstance(n, ast.Name)}
    return Piece(qualname, kind, node, ast.dump(compared), frozenset(names))


def without_docstrings(module: ast.Module) -> ast.Module:
    """The same syntax tree, its functions' and classes' docstrings taken out in place."""
    _Normal().visit(module)
    return module


class _Normal(ast.NodeTransformer):
    """Takes docstrings out; `u"…"` is the same constant as `"…"`."""

    def visit(self, node: ast.AST) -> ast.AST:
        body = getattr(node, "body", None)
        if isinstance(body, list) and isinstance(node, Function | ast.ClassDef):
            kept = body[1:] if body and _is_text(body[0]) else body
            node.body = kept or [ast.Pass()]
        if isinstance(node, ast.Constant):
            node.kind = None
        self.generic_visit(node)
        return node


def _is_text(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str | type(...))
    )


def bound_names(node: ast.stmt) -> tuple[str, ...]:
    """The names that an import or assignment binds in its scope."""
    if isinstance(node, ast.Import):
        return tuple(a.asname or a.name.partition(".")[0] for a in node.names)
    if isinstance(node, ast.ImportFrom):
        return tuple(a.asname or a.name for a in node.names)
    return tuple(
        inner.id
        for target in _targets(node)
        for inner in ast.walk(target)
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store)
    )


def _targets(node: ast.stmt) -> Sequence[ast.expr]:
    if isinstance(node, ast.Assign):
        return node.targets
    return [node.target] if isinstance(node, ast.AnnAssign | ast.AugAssign) else ()


def _one_import(node: ast.Import | ast.ImportFrom, name: str) -> ast.stmt:
    """The import statement reduced to what binds `name`."""
    single = copy.copy(node)
    single.names = [
        a
        for a in node.names
        if name
        == (a.asname or (a.name.partition(".")[0] if isinstance(node, ast.Import) else a.name))
    ]
    return single


def _rebound(old: Sequence[Piece], new: Sequence[Piece]) -> frozenset[str]:
    """Names that mean something else without a changed unit that says so.

    An import of the name came, went or differs; or the name is bound nowhere any more, so that it
    is a builtin again or nothing.
    """
    before, after = _bindings(old), _bindings(new)
    moved = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    return frozenset(moved | (_bound(old) - _bound(new)))


def _bindings(of: Sequence[Piece]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for piece in of:
        if piece.kind == IMPORT:
            found.setdefault(piece.qualname, set()).add(piece.text)
    return found


def _bound(of: Sequence[Piece]) -> set[str]:
    """The names that functions, classes and assignments bind at the top of the module."""
    found: set[str] = set()
    for piece in of:
        if piece.kind == BINDING:
            found.update(bound_names(piece.node))
        elif piece.kind in (FUNCTION, CLASS):
            found.add(piece.qualname)
    return found


def _thinned(old: Sequence[Piece], new: Sequence[Piece]) -> frozenset[str]:
    """Classes that lost a member: an inherited or a default one may have taken its place."""
    left = {piece.qualname for piece in new}
    gone = {piece.qualname for piece in old if piece.kind != STATEMENT} - left
    return frozenset(name.rpartition(".")[0] for name in gone)


def is_never_run(node: Function) -> bool:
    """Whether the body only stands there: an abstract method without a body."""
    marks = {ast.unparse(d).rpartition(".")[2] for d in node.decorator_list}
    return "abstractmethod" in marks and is_trivial(node.body)


def is_trivial(body: Sequence[ast.stmt]) -> bool:
    """Whether a body does nothing: text, `...`, `pass`, or `raise NotImplementedError`."""
    return all(
        _is_text(s)
        or isinstance(s, ast.Pass)
        or (isinstance(s, ast.Raise) and "NotImplementedError" in ast.unparse(s))
        for s in body
    )
