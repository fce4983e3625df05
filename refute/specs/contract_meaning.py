"""What a contract means in a tree: its conditions, and every definition they reach, as text.

Two revisions whose meanings are equal judge alike. The conditions are syntax above the function,
but they name helpers, constants and imports, which name others; a change to any of these changes
what the contract says, wherever it stands and whatever else uses it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

from refute.closure import module_file, module_names, parse
from refute.errors import Unsupported
from refute.specs.contract_names import Names, module_imports, names_of
from refute.specs.contract_source import Condition, Contract, Snapshot, contract_in

WHOLE = "*"  # in place of a name: everything in the file


def meaning_of(tree: Path, roots: Sequence[str], subject: str) -> dict[str, str]:
    """Part of the contract → its text. subject: `module:function`.

    Parts are "requires", "ensures", "snapshots", "raises", "types" and, for what they reach,
    "path:name". Raises Unsupported where there is no contract that can be read.
    """
    module, _, qualname = subject.partition(":")
    path = module_file(tree, roots, module)
    parsed = parse((tree / path).read_bytes()) if path else None
    if path is None or parsed is None:
        raise Unsupported(f"the module {module!r} cannot be read", thing="contract", value=module)
    contract = contract_in(parsed, path, qualname)
    found = _own_parts(contract)
    reach = _Reach(tree, tuple(roots))
    for expression, bound in _expressions(contract):
        reach.take(path, expression, bound)
    return found | reach.texts()


def _own_parts(contract: Contract) -> dict[str, str]:
    types = [
        (p.name, p.annotation and ast.dump(p.annotation), p.keyword_only)
        for p in contract.parameters
    ]
    returns = contract.returns and ast.dump(contract.returns)
    return {
        "requires": repr([_text(c) for c in contract.requires]),
        "ensures": repr([_text(c) for c in contract.ensures]),
        "snapshots": repr([(s.name, _text(s)) for s in contract.snapshots]),
        "raises": repr(contract.raises),
        "types": repr((types, returns)),
    }


def _text(part: Condition | Snapshot) -> str:
    return f"{', '.join(part.parameters)}: {ast.dump(part.expression)}"


def _expressions(contract: Contract) -> Iterator[tuple[ast.expr, Sequence[str]]]:
    """The contract's expressions with the names in them that the contract binds."""
    for condition in (*contract.requires, *contract.ensures):
        yield condition.expression, condition.parameters
    for snapshot in contract.snapshots:
        yield snapshot.expression, snapshot.parameters
    for annotation in (*(p.annotation for p in contract.parameters), contract.returns):
        if annotation is not None:
            yield annotation, ()
    for name in contract.raises:
        yield ast.parse(name, mode="eval").body, ()


class _Reach:
    """Follows names from expressions to what they mean, through the modules of one tree."""

    def __init__(self, tree: Path, roots: tuple[str, ...]) -> None:
        self.tree = tree
        self.roots = roots
        self._modules: dict[str, tuple[ast.Module, Names] | None] = {}
        self._found: dict[tuple[str, str], str] = {}
        self._todo: list[tuple[str, str]] = []

    def take(self, path: str, node: ast.AST, bound: Sequence[str]) -> None:
        """Everything that the node names in the file."""
        for name in _named(node, frozenset(bound)):
            if (path, name) not in self._found:
                self._found[path, name] = ""
                self._todo.append((path, name))

    def texts(self) -> dict[str, str]:
        """ "path:name" → the text of what it means, for all that was reached."""
        while self._todo:
            path, name = self._todo.pop()
            self._found[path, name] = self._mean(path, name)
        return {f"{path}:{name}": text for (path, name), text in self._found.items() if text}

    def _mean(self, path: str, dotted: str) -> str:
        """The text of all statements that bind the name; "" for a builtin. Follows them."""
        module = self._module(path)
        if module is None:
            return "unreadable"
        tree, names = module
        if dotted == WHOLE:
            return ast.dump(tree)
        name, _, attributes = dotted.partition(".")
        statements = list(dict.fromkeys(names.bound.get(name, ())))
        texts = [self._statement(path, node, name, attributes) for node in statements]
        texts += [names.imported[name]] if name in names.imported else []
        if not texts:
            texts = self._starred(path, tree, name)
        return repr(texts) if texts else ""

    def _statement(self, path: str, node: ast.AST, name: str, attributes: str) -> str:
        if not isinstance(node, ast.Import | ast.ImportFrom):
            for inner in _named(node, _own_names(node)):
                self._ask(path, inner)
            return ast.dump(node)
        for module, wanted in module_imports(node, self._package(path)):
            if wanted == (name, None):  # the name is the module itself
                self._follow(module, attributes)
            elif wanted[0] == name and wanted[1] is not None:
                inner = f"{module}.{wanted[1]}"
                if module_file(self.tree, self.roots, inner):
                    self._follow(inner, attributes)
                else:
                    self._follow(module, wanted[1])
        return ast.dump(node)

    def _starred(self, path: str, tree: ast.Module, name: str) -> list[str]:
        """What modules of the tree that are imported with a star may bind the name to."""
        found = []
        for node in tree.body:
            if isinstance(node, ast.ImportFrom) and any(a.name == "*" for a in node.names):
                for module, _ in module_imports(node, self._package(path)):
                    self._follow(module, name)
                    found.append(f"{ast.dump(node)} {name}" if self._holds(module) else "")
        return [text for text in found if text]

    def _holds(self, module: str) -> bool:
        return module_file(self.tree, self.roots, module) is not None

    def _follow(self, module: str, dotted: str) -> None:
        """The name in the module, or in a module inside of it; all of it where no name is given."""
        head, _, rest = dotted.partition(".")
        inner = f"{module}.{head}"
        if head and module_file(self.tree, self.roots, inner):
            self._follow(inner, rest)
            return
        path = module_file(self.tree, self.roots, module)
        if path is not None:
            self._ask(path, dotted or WHOLE)

    def _ask(self, path: str, name: str) -> None:
        if (path, name) not in self._found:
            self._found[path, name] = ""
            self._todo.append((path, name))

    def _package(self, path: str) -> str:
        """The package that relative imports of the file start from."""
        name = next(iter(module_names(path, self.roots)), "")
        return name if path.endswith("/__init__.py") else name.rpartition(".")[0]

    def _module(self, path: str) -> tuple[ast.Module, Names] | None:
        if path not in self._modules:
            tree = parse((self.tree / path).read_bytes()) if path.endswith(".py") else None
            self._modules[path] = None if tree is None else (tree, names_of(tree))
        return self._modules[path]


def _named(node: ast.AST, bound: frozenset[str]) -> Iterator[str]:
    """The free names of the node, with the attributes that are taken of them: "module.name"."""
    match node:
        case ast.Attribute():
            dotted = _dotted(node)
            if dotted:
                if dotted.partition(".")[0] not in bound:
                    yield dotted
                return
        case ast.Name(id=name):
            if name not in bound:
                yield name
            return
        case ast.Constant(value=str(text)):  # it may be an annotation in quotes
            quoted = parse(text.encode())
            if quoted is not None and len(quoted.body) == 1:
                yield from _named(quoted, bound)
            return
        case ast.Lambda():
            bound = bound | {a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)}
    for child in ast.iter_child_nodes(node):
        yield from _named(child, bound)


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        whole = _dotted(node.value)
        return f"{whole}.{node.attr}" if whole else ""
    return ""


def _own_names(node: ast.AST) -> frozenset[str]:
    """Names that a function binds itself, so that they are not the module's."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return frozenset()
    outer = {n for inner in ast.walk(node) if isinstance(inner, ast.Global) for n in inner.names}
    own = {a.arg for a in ast.walk(node) if isinstance(a, ast.arg)}
    own |= {
        n.id for n in ast.walk(node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)
    }
    return frozenset(own - outer)
