"""What code does when its module is loaded, besides defining things.

A contract's conditions are evaluated in a worker that has imported the module they stand in. Code
that runs there could give `all` another meaning, so a change may bring only what defines: bindings
of values that pure functions compute, functions, classes, imports. Functions of the tree that run
at that moment are held to the same. It errs towards too much: what is not known to be quiet is
reported, and a person looks at it.

A proof reads what names mean from the syntax tree. `rebinding` lists what could make that wrong:
code that runs while a module is loaded and can give a name another value without an assignment.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from refute.closure import parse
from refute.specs.contract_names import LIBRARY, definitions, module_imports, statements

SHOWN = 60
# Builtins that do nothing but compute; what they are given is looked at too.
_PURE = """
    abs all any ascii bin bool bytearray bytes chr complex dict divmod enumerate float frozenset
    hash hex int isinstance issubclass len list max min object oct ord pow property range repr
    reversed round set slice sorted staticmethod classmethod str sum super tuple zip
"""
# Modules of the standard library whose functions make values and change nothing.
_QUIET = """
    abc array bisect collections collections.abc dataclasses datetime decimal enum errno fractions
    functools hashlib itertools logging math operator pathlib re stat string struct textwrap typing
    uuid zlib
"""
# Names that reach the names of a module.
_REBINDERS = (
    "setattr delattr exec eval globals vars locals __import__ __setattr__ __dict__ __globals__"
)
_REBINDING = frozenset(_REBINDERS.split())
_LIBRARIES = frozenset({*_QUIET.split(), LIBRARY, "refute.specs.contract"})
Function = ast.FunctionDef | ast.AsyncFunctionDef
_LITERALS = (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Set)


class Loading:
    """What the files that are loaded together do at that moment. modules: path → syntax tree."""

    def __init__(self, modules: Mapping[str, ast.Module]) -> None:
        self.modules = modules
        self.definitions = {path: list(definitions(tree)) for path, tree in modules.items()}
        self.quiet = {path: _quiet_names(tree) for path, tree in modules.items()}
        self.running = self._running()
        self.calm = self._calm()

    def why(self, path: str, qualname: str, node: ast.stmt) -> str:
        """What a statement of the file does besides defining something; "" for nothing."""
        quiet = self.quiet[path] | self.calm
        why = _loud(node, quiet)
        if not why and isinstance(node, Function) and self._runs(qualname):
            why = _loud_body(node, quiet)
        return why

    def rebinding(self) -> Iterator[tuple[str, int, str]]:
        """(path, line, text) of what runs while loading and may rebind a name unseen."""
        for path, tree in self.modules.items():
            imported = {
                name
                for node in ast.walk(tree)
                if isinstance(node, ast.Import | ast.ImportFrom)
                for _, (name, _) in module_imports(node, "")
            }
            for node, others in self._evaluated(path):
                if _rebinds(node, imported | others):
                    yield path, getattr(node, "lineno", 1), ast.unparse(node)[:SHOWN]

    def _evaluated(self, path: str) -> Iterator[tuple[ast.AST, frozenset[str]]]:
        """The nodes of a file that are evaluated while it is loaded, as far as names tell.

        With each the parameters around it, which may be any module.
        """
        for statement in _top(self.modules[path]):
            yield from ((node, frozenset()) for node in _at_load(statement))
        for qualname, definition in self.definitions[path]:
            if isinstance(definition, Function) and self._runs(qualname):
                names = {a.arg for a in ast.walk(definition.args) if isinstance(a, ast.arg)}
                others = frozenset(names - {"self", "cls"})
                yield from ((node, others) for node in ast.walk(definition))

    def _running(self) -> frozenset[str]:
        """Last parts of the names of all that is called while the files are loaded."""
        bodies: dict[str, list[ast.AST]] = {}
        called: set[str] = set()
        for path, tree in self.modules.items():
            for qualname, definition in self.definitions[path]:
                for name in qualname.split("."):
                    bodies.setdefault(name, []).append(definition)
            for statement in _top(tree):
                called |= _called(_at_load(statement))
        todo = list(called)
        while todo:
            for node in bodies.get(todo.pop(), ()):
                new = _called(ast.walk(node)) - called
                called |= new
                todo += new
        return frozenset(called)

    def _calm(self) -> frozenset[str]:
        """Names of the functions and classes that run while loading and touch nothing else."""
        found = [
            (path, frozenset(qualname.split(".")), node)
            for path, inside in self.definitions.items()
            for qualname, node in inside
            if self._runs(qualname)
        ]
        calm = {name for _, names, _ in found for name in names}
        while True:
            quiet = {path: names | calm for path, names in self.quiet.items()}
            loud = {
                name
                for path, names, node in found
                if isinstance(node, Function) and _loud_body(node, quiet[path])
                for name in names
            }
            if not loud & calm:
                return frozenset(calm)
            calm -= loud

    def _runs(self, qualname: str) -> bool:
        return bool(set(qualname.split(".")) & self.running)


def rebinding_in(tree: Path, files: Iterable[str]) -> str:
    """The first thing in these files that may rebind a name unseen, with path:line; "" for none."""
    parsed = {path: parse((tree / path).read_bytes()) for path in files if path.endswith(".py")}
    loading = Loading({path: module for path, module in parsed.items() if module is not None})
    for path, line, text in loading.rebinding():
        return f"{path}:{line}: {text} runs when the module is loaded and may rebind its names"
    return ""


def _top(module: ast.Module) -> Iterator[ast.stmt]:
    """The statements that are reached while the module is loaded, those of classes too."""
    todo: list[ast.stmt] = list(module.body)
    while todo:
        for node in statements([todo.pop()]):
            yield node
            todo += node.body if isinstance(node, ast.ClassDef) else []


def _rebinds(node: ast.AST, imported: set[str]) -> bool:
    """Whether a node may give a name of some module another meaning without assigning to it."""
    if isinstance(node, ast.Name):
        return node.id in _REBINDING
    if not isinstance(node, ast.Attribute):
        return False
    if node.attr in _REBINDING or (node.attr == "modules" and ast.unparse(node.value) == "sys"):
        return True
    return not isinstance(node.ctx, ast.Load) and ast.unparse(node.value).split(".")[0] in imported


def _at_load(node: ast.stmt) -> Iterator[ast.AST]:
    """The nodes of a statement that are evaluated when it is reached."""
    if isinstance(node, Function):
        heads: list[ast.AST | None] = [*node.decorator_list, node.args, node.returns]
        for head in heads:
            yield from ast.walk(head) if head is not None else ()
        for decorator in node.decorator_list:
            yield ast.Call(decorator, [], [])
    elif isinstance(node, ast.ClassDef):
        for part in (*node.decorator_list, *node.bases, *node.keywords):
            yield from ast.walk(part)
        for made in (*node.decorator_list, *node.bases, *_metaclass(node)):
            yield ast.Call(made, [], [])
    else:
        yield from ast.walk(node)


def _metaclass(node: ast.ClassDef) -> list[ast.expr]:
    return [k.value for k in node.keywords if k.arg == "metaclass"]


def _called(nodes: Iterable[ast.AST]) -> set[str]:
    names = (ast.unparse(n.func) for n in nodes if isinstance(n, ast.Call))
    return {name.rpartition(".")[2] for name in names}


def _quiet_names(module: ast.Module) -> frozenset[str]:
    """Names that may be called while the module is loaded; "name." for all inside of it."""
    found = set(_PURE.split())
    bound = {n.id for n in ast.walk(module) if isinstance(n, ast.Name) and _is_store(n)}
    bound |= {n.name for n in ast.walk(module) if isinstance(n, Function | ast.ClassDef)}
    for node in ast.walk(module):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for origin, (name, wanted) in module_imports(node, ""):
                if origin in _LIBRARIES:
                    found |= {name, f"{name}."} if wanted else {f"{name}."}
                else:
                    bound.add(name)
    return frozenset(name for name in found if name.rstrip(".") not in bound)


def _is_store(node: ast.Name) -> bool:
    return not isinstance(node.ctx, ast.Load)


def _loud(node: ast.stmt, quiet: frozenset[str]) -> str:
    """What a statement at the top of a module or class does besides defining; "" for nothing."""
    if isinstance(node, ast.Import | ast.ImportFrom | ast.Pass):
        return ""  # what it loads is among the files and is looked at itself
    if isinstance(node, Function):
        called = [ast.Call(d, [], []) for d in node.decorator_list]
        return _loud_in([*called, node.args, node.returns], quiet)
    if isinstance(node, ast.ClassDef):
        called = [ast.Call(d, [], []) for d in (*node.decorator_list, *_metaclass(node))]
        return _loud_in([*called, *node.bases, *(k.value for k in node.keywords)], quiet)
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if all(isinstance(t, ast.Name) for target in targets for t in _parts(target)):
            return _loud_in([node.value], quiet)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return ""
    return f"{ast.unparse(node).splitlines()[0][:SHOWN]!r} runs"


def _parts(target: ast.expr) -> Sequence[ast.expr]:
    return target.elts if isinstance(target, ast.Tuple | ast.List) else [target]


def _loud_in(nodes: Sequence[ast.AST | None], quiet: frozenset[str]) -> str:
    """A call, in what is evaluated, of something that is not known to be quiet."""
    todo = [node for node in nodes if node is not None]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Lambda):
            todo += [node.args]
            continue
        if isinstance(node, ast.Call) and not _is_quiet(node.func, quiet):
            return f"{ast.unparse(node.func)[:SHOWN]}(…) is called"
        if isinstance(node, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom):
            return f"{ast.unparse(node)[:SHOWN]!r} is evaluated"
        if isinstance(node, ast.Attribute) and node.attr.startswith("__"):
            return f"{ast.unparse(node)[:SHOWN]!r} is looked at"
        todo += list(ast.iter_child_nodes(node))
    return ""


def _loud_body(node: ast.FunctionDef | ast.AsyncFunctionDef, quiet: frozenset[str]) -> str:
    """What a function that runs while its module is loaded does to anything but its own names."""
    for inner in ast.walk(node):
        stores = isinstance(inner, ast.Attribute) and not isinstance(inner.ctx, ast.Load)
        own = isinstance(inner, ast.Attribute) and ast.unparse(inner.value) == "self"
        if (stores and not own) or isinstance(inner, ast.Global | ast.Import | ast.ImportFrom):
            return f"{ast.unparse(inner).splitlines()[0][:SHOWN]!r} runs in {node.name}"
    why = _loud_in(node.body, quiet)
    return f"{why} in {node.name}" if why else ""


def _is_quiet(function: ast.expr, quiet: frozenset[str]) -> bool:
    if isinstance(function, ast.Attribute) and isinstance(function.value, _LITERALS):
        return True
    if isinstance(function, ast.Call):  # what a decorator with arguments makes
        return _is_quiet(function.func, quiet)
    name = ast.unparse(function)
    parts = name.split(".")
    inside = any(f"{'.'.join(parts[:n])}." in quiet for n in range(1, len(parts)))
    return name in quiet or inside
