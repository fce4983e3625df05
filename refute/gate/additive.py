"""Whether a change to a claims module only adds claims.

Head's version runs at the next gate as the judge of what base claimed, so what it may do freely is
narrow: base's statements stay, in order, and what is put between them binds new names only, imports
only what the judge already imports, refute or the standard library, and runs no code besides
`claim(…)`. Anything else is a change of the spec and needs approval.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Collection, Iterator, Sequence

from refute.change.units import Function, bound_names, without_docstrings
from refute.closure import parse

_MARKS = ("staticmethod", "classmethod", "property")
_DATA_TYPES = (
    "tuple",
    "list",
    "dict",
    "set",
    "frozenset",
    "range",
    "len",
    "sorted",
    "bytes",
    "str",
)


def not_additive(before: bytes, after: bytes, modules: Collection[str]) -> tuple[int, str]:
    """(line, why) of the first thing in `after` that does more than add claims; (0, "") if none.

    modules: names of the modules that base's judge already imports.
    """
    old, new = parse(before), parse(after)
    if new is None:
        return 1, "the claims module cannot be parsed"
    if old is None:
        return 1, "the base's claims module cannot be parsed"
    added = _added(_statements(old), _statements(new))
    if added is None:
        line = _first_difference(_statements(old), _statements(new))
        return line, "a statement of the base was changed, moved or removed"
    taken, callables = _names(old), _callables(old, new)
    for node in added:
        why = _forbidden(node, taken, modules, callables)
        if why:
            return node.lineno, why
        taken |= _bound(node)
    return 0, ""


def _statements(module: ast.Module) -> list[ast.stmt]:
    body = without_docstrings(module).body
    has_text = body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    return body[1:] if has_text else list(body)


def _added(old: Sequence[ast.stmt], new: Sequence[ast.stmt]) -> list[ast.stmt] | None:
    """The statements of `new` besides those of `old` in order; None when some are missing.

    Greedy matching from the left finds a subsequence whenever there is one.
    """
    waiting = [ast.dump(node) for node in old]
    extra = []
    for node in new:
        if waiting and ast.dump(node) == waiting[0]:
            waiting.pop(0)
        else:
            extra.append(node)
    return None if waiting else extra


def _first_difference(old: Sequence[ast.stmt], new: Sequence[ast.stmt]) -> int:
    for left, right in zip(old, new, strict=False):
        if ast.dump(left) != ast.dump(right):
            return right.lineno
    return new[-1].lineno if new else 1


def _names(module: ast.Module) -> set[str]:
    """Every name the module mentions: none of them may get another meaning."""
    found = {n.id for n in ast.walk(module) if isinstance(n, ast.Name)}
    for node in module.body:
        found |= _bound(node)
    return found | {n.arg for n in ast.walk(module) if isinstance(n, ast.arg)}


def _bound(node: ast.stmt) -> set[str]:
    if isinstance(node, Function | ast.ClassDef):
        return {node.name}
    return set(bound_names(node))


def _forbidden(
    node: ast.stmt, taken: set[str], modules: Collection[str], callables: frozenset[str]
) -> str:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return ""
    again = sorted(_bound(node) & (taken | {"claim"}) - _harmless_import(node))
    again += sorted(name for name in _bound(node) if name.startswith("__"))
    if again:
        return f"{again[0]!r} gets another meaning"
    if isinstance(node, ast.Import | ast.ImportFrom):
        return _forbidden_import(node, modules)
    if isinstance(node, Function):
        return _forbidden_function(node, callables)
    if isinstance(node, ast.ClassDef):
        return _forbidden_class(node)
    if isinstance(node, ast.Expr) and _is_claim(node.value, callables):
        return ""
    if (
        isinstance(node, ast.Assign | ast.AnnAssign)
        and node.value is not None
        and bound_names(node)
    ):
        plain_target = all(isinstance(t, ast.Name) for t in _targets(node))
        return "" if plain_target and _is_claim(node.value, callables) else _not_a_claim(node)
    return _not_a_claim(node)


def _not_a_claim(node: ast.stmt) -> str:
    return f"it runs more than claim(…): {ast.unparse(node).splitlines()[0][:60]}"


def _targets(node: ast.Assign | ast.AnnAssign) -> list[ast.expr]:
    return node.targets if isinstance(node, ast.Assign) else [node.target]


def _harmless_import(node: ast.stmt) -> set[str]:
    """Names that importing them again cannot change: from refute or the standard library."""
    if (
        isinstance(node, ast.ImportFrom)
        and node.level == 0
        and not any(a.asname for a in node.names)
    ):
        top = (node.module or "").partition(".")[0]
        if top == "refute":
            return {a.name for a in node.names}
    return set()


def _forbidden_import(node: ast.Import | ast.ImportFrom, modules: Collection[str]) -> str:
    if isinstance(node, ast.ImportFrom) and (node.level or any(a.name == "*" for a in node.names)):
        return "a relative or star import is new"
    wanted = [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or ""]
    for name in wanted:
        top = name.partition(".")[0]
        if top != "refute" and top not in sys.stdlib_module_names and name not in modules:
            return f"it imports {name}, which the base's judge does not"
    return ""


def _is_claim(node: ast.expr, callables: frozenset[str]) -> bool:
    """Whether the expression is `claim(…)` over data, without anything that could patch."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
        return False
    return node.func.id == "claim" and not _forbidden_in([*node.args, *node.keywords], callables)


def _forbidden_class(node: ast.ClassDef) -> str:
    parts: list[ast.AST] = [*node.decorator_list, *node.bases, *node.keywords]
    for inner in node.body:
        if isinstance(inner, Function) and _forbidden_function(inner, frozenset()):
            return _forbidden_function(inner, frozenset())
        parts += [] if isinstance(inner, Function) else [inner]
    if node.keywords or node.decorator_list:
        return "a class with decorators or keywords runs code when it is defined"
    return _forbidden_in(parts)


def _forbidden_function(
    node: ast.FunctionDef | ast.AsyncFunctionDef, callables: frozenset[str]
) -> str:
    """A decorator is a call that does not look like one; only refute's own may stand there."""
    for decorator in node.decorator_list:
        if not (isinstance(decorator, ast.Name) and decorator.id in (*_MARKS, *callables)):
            return f"the decorator {ast.unparse(decorator)[:40]} runs when it is loaded"
    return _forbidden_in(list(_head_of(node)))


def _head_of(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.AST]:
    """What runs when a function is defined, besides decorators: defaults and annotations."""
    yield node.args
    if node.returns is not None:
        yield node.returns


def _forbidden_in(nodes: Sequence[ast.AST], callables: Collection[str] = ()) -> str:
    """Why evaluating these could change something; calls of `callables` pass."""
    for node in _evaluated(nodes):
        if isinstance(node, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom):
            return "an expression in it has effects"
        if isinstance(node, ast.Call) and ast.unparse(node.func) not in callables:
            return f"it calls {ast.unparse(node.func)[:40]} when it is loaded"
    return ""


def _evaluated(nodes: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """The nodes that run when these are evaluated; the body of a lambda does not."""
    for node in nodes:
        yield node
        if isinstance(node, ast.Lambda):
            yield from _evaluated([node.args])
        else:
            yield from _evaluated(list(ast.iter_child_nodes(node)))


def _callables(old: ast.Module, new: ast.Module) -> frozenset[str]:
    """What a new claim may call: data types, what refute exports, what base calls on loading."""
    found = set(_DATA_TYPES)
    for node in old.body:
        if not isinstance(node, Function | ast.ClassDef):
            calls = (n for n in _evaluated([node]) if isinstance(n, ast.Call))
            found |= {ast.unparse(call.func) for call in calls}
    for node in new.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "refute":
            found |= set(bound_names(node))
    return frozenset(found)
