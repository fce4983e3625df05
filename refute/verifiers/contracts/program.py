"""Program: the modules of a judged tree as syntax trees, and what a name in one of them means.

Nothing is imported. A name that is assigned once at the top of a module, to something constant, is
a constant; a name that is assigned twice, or in a function by `global`, has no known value.
"""

from __future__ import annotations

import ast
import builtins
import dataclasses
from collections.abc import Mapping

from refute.closure import parse
from refute.specs.contract_source import Contract, contract_in

HINTS = "refute.specs.contract"


@dataclasses.dataclass(eq=False)
class Module:
    """name: dotted. path: relative to the tree; an `__init__.py` is a package.

    bindings: name → the statements at the top that bind it. rebound: names that functions bind.
    """

    program: Program
    name: str
    path: str
    tree: ast.Module
    bindings: dict[str, list[ast.stmt]] = dataclasses.field(default_factory=dict)
    rebound: frozenset[str] = frozenset()


@dataclasses.dataclass(frozen=True, eq=False)
class Found:
    """What a global name means: a function or class here, an expression, or another's name.

    kind: function, class, constant, external, module or unknown. name: dotted for external ones.
    """

    kind: str
    name: str
    module: Module | None = None
    node: ast.AST | None = None


class Program:
    """The modules of one tree, by dotted name. sources: name → (path, text)."""

    def __init__(self, sources: Mapping[str, tuple[str, str]]) -> None:
        self._sources = sources
        self._modules: dict[str, Module | None] = {}
        self._contracts: dict[str, Contract | str | None] = {}

    def module(self, name: str) -> Module | None:
        """The module of that name; None where the tree has none that can be parsed."""
        if name not in self._modules:
            held = self._sources.get(name)
            tree = parse(held[1].encode()) if held else None
            self._modules[name] = (
                None if tree is None or held is None else _module(self, name, held[0], tree)
            )
        return self._modules[name]

    def lookup(self, module: Module, name: str, seen: frozenset[str] = frozenset()) -> Found:
        """What a global name means in a module."""
        key = f"{module.name}:{name}"
        statements = module.bindings.get(name, [])
        if not statements:
            known = hasattr(builtins, name) and "*" not in module.bindings
            return Found("external" if known else "unknown", f"builtins.{name}")
        if len(statements) > 1 or name in module.rebound or key in seen:
            return Found("unknown", key)
        return self._binding(module, name, statements[0], seen | {key})

    def _binding(
        self, module: Module, name: str, statement: ast.stmt, seen: frozenset[str]
    ) -> Found:
        key = f"{module.name}:{name}"
        match statement:
            case ast.FunctionDef():
                return Found("function", key, module, statement)
            case ast.ClassDef():
                return Found("class", key, module, statement)
            case ast.Assign(targets=[ast.Name()], value=value):
                return Found("constant", key, module, value)
            case ast.AnnAssign(target=ast.Name(), value=ast.expr() as value):
                return Found("constant", key, module, value)
            case ast.Import(names=names):
                for alias in names:
                    if (alias.asname or alias.name.partition(".")[0]) == name:
                        dotted = alias.name if alias.asname else name
                        return Found("module", dotted)
            case ast.ImportFrom(names=names):
                source = _absolute(module, statement)
                for alias in names:
                    if (alias.asname or alias.name) == name:
                        return self.attribute(source, alias.name, seen)
        return Found("unknown", key)

    def attribute(self, module: str, name: str, seen: frozenset[str] = frozenset()) -> Found:
        """What `name` is in the module of that dotted name."""
        if self.module(f"{module}.{name}") is not None:
            return Found("module", f"{module}.{name}")
        held = self.module(module)
        if held is None:
            return Found("external", f"{module}.{name}")
        if not held.bindings.get(name):
            return Found("unknown", f"{module}:{name}")
        return self.lookup(held, name, seen)

    def contract(self, found: Found) -> Contract | None:
        """The contract of a function of the tree, if it has conditions. Raises RefuteError."""
        if found.module is None or not isinstance(found.node, ast.FunctionDef):
            return None
        if found.name not in self._contracts:
            if not found.node.decorator_list:
                self._contracts[found.name] = None
            else:
                contract = contract_in(found.module.tree, found.module.path, found.node.name)
                self._contracts[found.name] = contract
        held = self._contracts[found.name]
        return held if isinstance(held, Contract) else None

    def hint(self, module: Module, function: ast.expr) -> str:
        """`invariant` or `decreases` where the expression names refute's function; else empty."""
        dotted = _dotted(function)
        base, _, rest = dotted.partition(".")
        if not base:
            return ""
        found = self.lookup(module, base)
        if found.kind not in ("external", "module"):
            return ""
        name = f"{found.name}.{rest}" if rest else found.name
        held, _, hint = name.rpartition(".")
        if held != HINTS or self.module(HINTS) is not None:
            return ""
        return hint if hint in ("invariant", "decreases") else ""


def _dotted(node: ast.expr) -> str:
    """`a.b.c` where the expression is just that; else empty."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=name):
            base = _dotted(value)
            return f"{base}.{name}" if base else ""
    return ""


def _module(program: Program, name: str, path: str, tree: ast.Module) -> Module:
    made = Module(program, name, path, tree)
    for statement in tree.body:
        for bound in _bound_names(statement):
            made.bindings.setdefault(bound, []).append(statement)
    made.rebound = frozenset(
        n for node in ast.walk(tree) if isinstance(node, ast.Global) for n in node.names
    )
    return made


def _bound_names(statement: ast.stmt) -> list[str]:
    """The names that a statement at the top of a module may bind."""
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Import(names=names):
            return [a.asname or a.name.partition(".")[0] for a in names]
        case ast.ImportFrom(names=names):
            return [a.asname or a.name for a in names]
    return [
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del)
    ] + [
        n
        for node in ast.walk(statement)
        if node is not statement and isinstance(node, ast.stmt)
        for n in _bound_names(node)
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom)
    ]


def _absolute(module: Module, statement: ast.ImportFrom) -> str:
    if not statement.level:
        return statement.module or ""
    parts = module.name.split(".")
    inside = 1 if module.path.endswith("__init__.py") else 0
    kept = parts[: len(parts) - statement.level + inside]
    return ".".join([*kept, statement.module] if statement.module else kept)
