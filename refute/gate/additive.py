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
# Modules whose names build claims and do nothing else; `check` runs engines.
_BUILDERS = ("refute", "refute.claim", "refute.machine", "refute.specs")
_NO_BUILDERS = frozenset({"check", "replay"})
# Methods that run when a class is defined or subscribed, without a call that shows.
_AT_DEFINITION = frozenset({"__init_subclass__", "__class_getitem__", "__prepare__"})
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
    taken, callables = _names(old) | {"claim"}, _callables(old, new)
    imported = {pair for node in old.body for pair in _from_refute(node)}
    for node in added:
        why = _forbidden(node, taken - _same_again(node, imported), modules, callables)
        if why:
            return node.lineno, why
        taken |= _bound(node)
        imported |= _from_refute(node)
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
    again = sorted(_bound(node) & taken)
    again += sorted(name for name in _bound(node) if name.startswith("__"))
    if again:
        return f"{again[0]!r} gets another meaning"
    if isinstance(node, ast.Import | ast.ImportFrom):
        return _forbidden_import(node, modules)
    if isinstance(node, Function):
        return _forbidden_function(node, callables)
    if isinstance(node, ast.ClassDef):
        return _forbidden_class(node)
    if isinstance(node, ast.Expr):
        return _forbidden_claim(node.value, node, callables)
    if isinstance(node, ast.Assign) and all(isinstance(t, ast.Name) for t in node.targets):
        return _forbidden_claim(node.value, node, callables)
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
        return _forbidden_in([node.annotation]) or _forbidden_claim(node.value, node, callables)
    return _not_a_claim(node)


def _not_a_claim(node: ast.stmt) -> str:
    return f"it runs more than claim(…): {ast.unparse(node).splitlines()[0][:60]}"


def _from_refute(node: ast.stmt) -> set[tuple[str, str]]:
    """The (module, name) pairs that a statement imports from refute under their own names."""
    if not (isinstance(node, ast.ImportFrom) and node.level == 0):
        return set()
    module = node.module or ""
    if module.partition(".")[0] != "refute":
        return set()
    return {(module, alias.name) for alias in node.names if alias.asname in (None, alias.name)}


def _same_again(node: ast.stmt, imported: set[tuple[str, str]]) -> set[str]:
    """Names that a statement only imports once more from where they came."""
    return {name for module, name in _from_refute(node) & imported}


def _forbidden_import(node: ast.Import | ast.ImportFrom, modules: Collection[str]) -> str:
    if isinstance(node, ast.ImportFrom) and (node.level or any(a.name == "*" for a in node.names)):
        return "a relative or star import is new"
    wanted = [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or ""]
    for name in wanted:
        top = name.partition(".")[0]
        if top != "refute" and top not in sys.stdlib_module_names and name not in modules:
            return f"it imports {name}, which the base's judge does not"
    return ""


def _is_claim(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "claim"


def _forbidden_claim(node: ast.expr, whole: ast.stmt, callables: frozenset[str]) -> str:
    """Why it is not `claim(…)` over data: nothing in it may patch or run code."""
    if not (isinstance(node, ast.Call) and _is_claim(node)):
        return _not_a_claim(whole)
    given = [*node.args, *node.keywords]
    if any(isinstance(part, ast.Lambda) for part in _evaluated(given)):
        return "a lambda among the arguments of a claim may run when it is loaded"
    return _forbidden_in(given, callables)


def _forbidden_class(node: ast.ClassDef) -> str:
    """A class body is a block of statements; only methods and constants may stand in it."""
    if node.keywords or node.decorator_list:
        return "a class with decorators or keywords runs code when it is defined"
    for inner in node.body:
        if isinstance(inner, Function):
            why = _forbidden_function(inner, frozenset())
        elif isinstance(inner, ast.ClassDef):
            why = _forbidden_class(inner)
        elif isinstance(inner, ast.Pass | ast.Assign | ast.AnnAssign) or _is_constant(inner):
            why = _forbidden_in([inner])
        else:
            why = f"a class body runs {ast.unparse(inner).splitlines()[0][:60]}"
        if not why and _bound(inner) & _AT_DEFINITION:
            why = f"{min(_bound(inner) & _AT_DEFINITION)} runs when a class is defined or used"
        if why:
            return why
    return _forbidden_in(node.bases)


def _is_constant(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


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
        if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            return f"it assigns to {ast.unparse(node)[:40]} when it is loaded"
        if isinstance(node, ast.Call) and any(k.arg == "key" for k in node.keywords):
            return f"it gives {ast.unparse(node.func)[:40]} a function to call"
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
    """What a new claim may call: data types, what builds claims, what base's own claims call."""
    found = set(_DATA_TYPES)
    claims = [n for n in ast.walk(old) if isinstance(n, ast.Call) and _is_claim(n)]
    for node in _evaluated([part for c in claims for part in (*c.args, *c.keywords)]):
        if isinstance(node, ast.Call):
            found.add(ast.unparse(node.func))
    for node in new.body:
        for module, name in _from_refute(node):
            builds = module in _BUILDERS or module.startswith("refute.specs.")
            if builds and name not in _NO_BUILDERS:
                found.add(name)
    return frozenset(found)
