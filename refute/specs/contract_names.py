"""What names mean at the top of a module, as far as contracts need to know it.

`@require(…)` is icontract's only if the module imported that name from icontract and binds it to
nothing else; a module that shadows it would otherwise carry conditions that nobody checks, or
conditions that are not there.
"""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator, Mapping, Sequence

LIBRARY = "icontract"
MARKS = ("require", "ensure", "snapshot", "invariant")
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclasses.dataclass(frozen=True)
class Names:
    """imported: local name → "icontract" or "icontract.require" and the like. bound: name → the
    statements at the top of the module that bind it, imports of icontract left out.
    """

    imported: Mapping[str, str]
    bound: Mapping[str, Sequence[ast.AST]]

    def mark(self, function: ast.expr) -> str:
        """ "require", "ensure", … for what is icontract's and nothing else; "" otherwise."""
        text = self._meaning(function)
        module, _, name = text.rpartition(".")
        return name if module == LIBRARY else ""

    def is_contract(self, decorator: ast.expr) -> bool:
        """Whether a decorator is icontract's or looks like it, by any way of writing it."""
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if ast.unparse(called).rpartition(".")[2] in MARKS:
            return True
        for node in _outside_lambdas(decorator):
            if isinstance(node, ast.Name) and node.id in self.imported:
                return True
            if isinstance(node, ast.Name) and self._assigned_call(node) is not None:
                return True
        return False

    def contract_call(self, decorator: ast.expr) -> ast.Call | None:
        """The call `require(…)` that a decorator is, or that the name it gives was bound to."""
        found: ast.expr | None = decorator
        if isinstance(decorator, ast.Name):
            found = self._assigned_call(decorator)
        return found if isinstance(found, ast.Call) and self.mark(found.func) else None

    def function(self, name: str) -> ast.FunctionDef | ast.Lambda | None:
        """The function, or the lambda, that is the only meaning of the name; None otherwise."""
        node = self._only(name)
        if isinstance(node, ast.FunctionDef) and not node.decorator_list:
            return node
        value = _assigned(node)
        return value if isinstance(value, ast.Lambda) else None

    def origin(self, node: ast.expr) -> str:
        """The dotted name under which the thing lives elsewhere, if the module only imports it."""
        if isinstance(node, ast.Attribute):
            whole = self.origin(node.value)
            return f"{whole}.{node.attr}" if whole else ""
        if not isinstance(node, ast.Name):
            return ""
        found = [dict(_imports(s)).get(node.id, "") for s in self._statements_of(node.id)]
        return found[0] if len(set(found)) == 1 else ""

    def _statements_of(self, name: str) -> Sequence[ast.stmt]:
        return [s for s in self.bound.get(name, ()) if isinstance(s, ast.stmt)]

    def value(self, name: str) -> ast.expr | None:
        """The expression that is the only thing the name is ever bound to; None otherwise."""
        return _assigned(self._only(name))

    def _only(self, name: str) -> ast.AST | None:
        found = self.bound.get(name, ())
        return found[0] if len(found) == 1 and name not in self.imported else None

    def _assigned_call(self, node: ast.Name) -> ast.Call | None:
        value = _assigned(self._only(node.id))
        return value if isinstance(value, ast.Call) and self.mark(value.func) else None

    def _meaning(self, node: ast.expr) -> str:
        if isinstance(node, ast.Name):
            return "" if node.id in self.bound else self.imported.get(node.id, "")
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            whole = self._meaning(node.value)
            return f"{whole}.{node.attr}" if whole else ""
        return ""


def names_of(module: ast.Module) -> Names:
    """What the module's top-level statements bind, those inside of `if` and `try` too."""
    imported: dict[str, str] = {}
    bound: dict[str, list[ast.AST]] = {}
    for statement in statements(module.body):
        for name, origin in _imports(statement):
            if origin.partition(".")[0] == LIBRARY:
                imported[name] = origin
            else:
                bound.setdefault(name, []).append(statement)
        for name in _bound(statement):
            bound.setdefault(name, []).append(statement)
    return Names(imported, bound)


def definitions(module: ast.Module) -> Iterator[tuple[str, Definition]]:
    """(qualname, node) of every function and class that is not inside of a function."""
    yield from _definitions(module.body, "")


def inner_definitions(module: ast.Module) -> Iterator[tuple[str, Definition]]:
    """(qualname, node) of those that are inside of a function, named `outer.inner`."""
    for name, node in definitions(module):
        if not isinstance(node, ast.ClassDef):
            yield from _inside(node, f"{name}.")


def _inside(node: ast.AST, prefix: str) -> Iterator[tuple[str, Definition]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Definition):
            yield prefix + child.name, child
            yield from _inside(child, f"{prefix}{child.name}.")
        elif isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            yield from _inside(child, prefix)


def _definitions(body: Sequence[ast.stmt], prefix: str) -> Iterator[tuple[str, Definition]]:
    for node in statements(body):
        if isinstance(node, Definition):
            yield prefix + node.name, node
            if isinstance(node, ast.ClassDef):
                yield from _definitions(node.body, f"{prefix}{node.name}.")


def statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a block and of the blocks inside it, but not of definitions."""
    for node in body:
        yield node
        if isinstance(node, Definition):
            continue
        for field in ("body", "orelse", "finalbody"):
            yield from statements(getattr(node, field, ()))
        for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            yield from statements(part.body)


def _imports(node: ast.stmt) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            top = alias.name.partition(".")[0]
            yield (alias.asname, alias.name) if alias.asname else (top, top)
    elif isinstance(node, ast.ImportFrom):
        for alias in node.names:
            whole = f"{'.' * node.level}{node.module or ''}"
            if alias.name == "*" and whole == LIBRARY:
                yield from ((mark, f"{LIBRARY}.{mark}") for mark in MARKS)
            else:
                yield alias.asname or alias.name, f"{whole}.{alias.name}"


def _bound(node: ast.stmt) -> Iterator[str]:
    """Names that a statement itself binds, besides imports."""
    if isinstance(node, Definition):
        yield node.name
        return
    for inner in _expressions(node):
        if isinstance(inner, ast.Name) and not isinstance(inner.ctx, ast.Load):
            yield inner.id
    for handler in getattr(node, "handlers", ()):
        if handler.name:
            yield handler.name


def _expressions(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes of a statement without those of the statements inside it."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.stmt | ast.ExceptHandler | ast.Lambda):
            yield child
            yield from _expressions(child)


def _outside_lambdas(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.Lambda):
            yield from _outside_lambdas(child)


def _assigned(node: ast.AST | None) -> ast.expr | None:
    """The value of `name = value` or `name: type = value`; None for any other statement."""
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        return node.value if isinstance(node.targets[0], ast.Name) else None
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return node.value
    return None


def module_imports(
    node: ast.Import | ast.ImportFrom, package: str
) -> Iterator[tuple[str, tuple[str, str | None]]]:
    """(module, (local name, name in the module)) of an import; None where it is the module itself.

    package: that relative imports start from.
    """
    if isinstance(node, ast.Import):
        for alias in node.names:
            top = alias.name if alias.asname else alias.name.partition(".")[0]
            yield top, (alias.asname or top, None)
        return
    parts = package.split(".") if package else []
    kept = parts[: len(parts) - (node.level - 1)] if node.level else []
    module = ".".join([*kept, *([node.module] if node.module else [])])
    for alias in node.names:
        yield module, (alias.asname or alias.name, alias.name)
