"""Closures: the files of a tree that code depends on, found without running any of it.

The import closure of a subject decides which claims a change affects, what a worker's filesystem
holds and what evidence is keyed by. It is read from the syntax trees alone, so that nothing of a
judged tree runs in the parent. It errs towards too much: imports in functions, in `try` and under
`TYPE_CHECKING` count, a star import takes every submodule, and code that computes the names it
imports takes all Python files its claim covers. A name that no root of the tree holds belongs to an
installed distribution; those are covered by the environment's own digest.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import os
import stat
import threading
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

from refute import plain
from refute.frozen import frozen
from refute.globs import matches
from refute.listing import is_listed, listing

_COMPUTED = frozenset(
    {"import_module", "__import__", "iter_modules", "walk_packages", "spec_from_file_location"}
    | {"run_module", "run_path", "exec", "eval", "SourceFileLoader", "find_spec"}
)


@frozen
class Closure:
    """files: paths relative to the tree, sorted. digest: of names, contents and executable bits.

    missing: modules that a reference names and no root of the tree holds.
    """

    files: tuple[str, ...]
    digest: str
    missing: tuple[str, ...] = ()


def closure_of(
    tree: Path, roots: Sequence[str], references: Sequence[str], globs: Sequence[str]
) -> Closure:
    """Every file that the modules of `references` ("module:qualname") may import, transitively.

    roots: import roots relative to the tree. globs: non-Python files that belong to it as well;
    without references, all files they match. A file that cannot be parsed is part of the closure,
    its imports are not.
    """
    index = _FROZEN.get(str(tree)) or _Index(tree)
    return index.closure(tuple(roots), tuple(references), tuple(globs))


def freeze(tree: Path) -> None:
    """Promise that the directory no longer changes, so that what was read of it is remembered."""
    _FROZEN.setdefault(str(tree), _Index(tree))


def thaw(tree: Path) -> None:
    """Take the promise of `freeze` back."""
    _FROZEN.pop(str(tree), None)


def tree_files(tree: Path) -> tuple[str, ...]:
    """All files and links below the directory, sorted, without caches, environments and `.git`."""
    index = _FROZEN.get(str(tree)) or _Index(tree)
    return index.listing


def module_file(tree: Path, roots: Sequence[str], module: str) -> str | None:
    """The file of the tree that `import module` would load first; None when no root holds it."""
    index = _FROZEN.get(str(tree)) or _Index(tree)
    found = _Resolver(index, tuple(roots)).resolve(module)
    return found.chain[-1][1] if found.complete and found.chain else None


def module_names(path: str, roots: Sequence[str]) -> tuple[str, ...]:
    """The names under which a Python file can be imported, from the innermost root outwards."""
    stem = path.removesuffix(".py").removesuffix("/__init__")
    names = []
    for root in sorted((r.strip("/") for r in roots), key=len, reverse=True):
        prefix = "" if root in ("", ".") else root + "/"
        parts = stem.removeprefix(prefix).split("/")
        if stem.startswith(prefix) and all(part.isidentifier() for part in parts):
            names.append(".".join(parts))
    return tuple(dict.fromkeys(names))


@frozen
class _Imports:
    """What a source text imports: (level, module, names) triples, and whether it computes more."""

    named: tuple[tuple[int, str, tuple[str, ...]], ...]
    computed: bool


_PARSED: dict[str, _Imports] = {}


def _imports(digest: str, source: bytes) -> _Imports:
    """The imports of a source text, remembered by its digest."""
    if digest not in _PARSED:
        _PARSED[digest] = _parse_imports(source)
    return _PARSED[digest]


_PARSING = threading.Lock()  # catch_warnings and CPython 3.11's ast.parse bear one thread only


def parse(source: bytes) -> ast.Module | None:
    """The syntax tree of a source text; None when it is not Python. Runs nothing of it."""
    try:
        with _PARSING, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _parse_imports(source: bytes) -> _Imports:
    module = parse(source)
    named: list[tuple[int, str, tuple[str, ...]]] = []
    computed = False
    calls = any(name.encode() in source for name in _COMPUTED)
    for node in _walk(module, calls) if module else ():
        if isinstance(node, ast.Import):
            named += [(0, alias.name, ()) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            named.append((node.level, node.module or "", tuple(a.name for a in node.names)))
        elif isinstance(node, ast.Call):
            literal = _literal_import(node)
            named += [literal] if literal else []
            computed = computed or (literal is None and _callee(node) in _COMPUTED)
    return _Imports(tuple(dict.fromkeys(named)), computed)


def _walk(module: ast.Module, expressions: bool) -> Iterator[ast.AST]:
    """All nodes, or only statements and what holds them, which is all an import can be."""
    if expressions:
        yield from ast.walk(module)
        return
    todo: list[ast.AST] = [module]
    while todo:
        node = todo.pop()
        yield node
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(node, field, ())
            if isinstance(inner, list):
                todo += inner


def _callee(call: ast.Call) -> str:
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _literal_import(call: ast.Call) -> tuple[int, str, tuple[str, ...]] | None:
    """The import that `import_module("name")` or `__import__("name")` makes."""
    if _callee(call) not in ("import_module", "__import__") or not call.args:
        return None
    first = call.args[0]
    if not (isinstance(first, ast.Constant) and type(first.value) is str):
        return None
    name = first.value.lstrip(".")
    return (len(first.value) - len(name), name, ())


@frozen
class _Found:
    """chain: (module name, file) of every file that importing a name loads, outermost first."""

    chain: tuple[tuple[str, str], ...]
    complete: bool
    directories: tuple[str, ...] = ()


class _Index:
    """One tree as read from disk. Symbolic links that leave the tree do not exist in it."""

    def __init__(self, tree: Path) -> None:
        self.tree = tree
        self._real = os.path.realpath(tree)
        self._names: dict[str, frozenset[str]] = {}
        self._files: dict[str, bool] = {}
        self.resolved: dict[tuple[tuple[str, ...], str], _Found] = {}
        self._digests: dict[str, str] = {}
        self._imported: dict[str, _Imports] = {}
        self._closures: dict[object, Closure] = {}

    @functools.cached_property
    def listing(self) -> tuple[str, ...]:
        return listing(self.tree)

    def names(self, directory: str) -> frozenset[str]:
        """The names in a directory of the tree; empty when there is no such directory."""
        if directory not in self._names:
            try:
                found = [e.name for e in os.scandir(self.tree / directory)]
            except OSError:
                found = []
            self._names[directory] = frozenset(found if self._inside(directory) else ())
        return self._names[directory]

    def is_file(self, path: str) -> bool:
        if path not in self._files:
            self._files[path] = (self.tree / path).is_file() and self._inside(path)
        return self._files[path]

    def _inside(self, path: str) -> bool:
        real = os.path.realpath(self.tree / path)
        return real == self._real or real.startswith(self._real + os.sep)

    def read(self, path: str) -> bytes:
        try:
            return (self.tree / path).read_bytes()
        except OSError:
            return b""

    def digest(self, path: str, source: bytes | None = None) -> str:
        if path not in self._digests:
            content = self.read(path) if source is None else source
            self._digests[path] = hashlib.sha256(content).hexdigest()
        return self._digests[path]

    def imports(self, path: str) -> _Imports:
        if path not in self._imported:
            source = self.read(path)
            self._imported[path] = _imports(self.digest(path, source), source)
        return self._imported[path]

    def executable(self, path: str) -> bool:
        try:
            return bool((self.tree / path).stat().st_mode & stat.S_IXUSR)
        except OSError:
            return False

    def closure(
        self, roots: tuple[str, ...], references: tuple[str, ...], globs: tuple[str, ...]
    ) -> Closure:
        key = (roots, references, globs)
        if key not in self._closures:
            self._closures[key] = self._closure(roots, references, globs)
        return self._closures[key]

    def _covered(self, globs: tuple[str, ...]) -> list[str]:
        """The files that match; the tree is not listed where all globs are names of files."""
        names = [glob.removeprefix("./") for glob in globs]
        if all(is_listed(self.tree, name) for name in names):
            return names
        return [p for p in self.listing if matches(p, globs)]

    def _closure(
        self, roots: tuple[str, ...], references: tuple[str, ...], globs: tuple[str, ...]
    ) -> Closure:
        modules = [r.partition(":")[0] for r in references if not r.startswith("cmd:")]
        resolver = _Resolver(self, roots)
        missing = [m for m in dict.fromkeys(modules) if not resolver.follow(m)]
        covered = self._covered(globs) if globs else []
        if references:
            resolver.settle()
            if resolver.computed:
                for path in (p for p in covered if p.endswith(".py")):
                    resolver.take(path)
                resolver.settle()
            covered = [p for p in covered if not p.endswith(".py")]
        files = sorted({*resolver.files, *(p for p in covered if self.is_file(p))})
        facts = [(p, self.digest(p), self.executable(p)) for p in files]
        return Closure(tuple(files), plain.digest([facts, missing]), tuple(missing))


class _Resolver:
    """Follows module names through one tree's import roots, as the import system would."""

    def __init__(self, index: _Index, roots: tuple[str, ...]) -> None:
        self.index = index
        self.roots = tuple("" if r.strip("/") in ("", ".") else r.strip("/") for r in roots)
        self.files: dict[str, None] = {}
        self.computed = False
        self._seen: set[str] = set()
        self._todo: list[tuple[str, str]] = []

    def follow(self, module: str) -> bool:
        """Take the files that importing `module` loads; whether it is in the tree."""
        found = self.resolve(module)
        for name, path in found.chain:
            self._enter(name, path)
        return found.complete

    def take(self, path: str) -> None:
        """Take a file by its path, under the first name it can be imported as."""
        names = module_names(path, self.roots)
        self._enter(names[0] if names else path, path)

    def _enter(self, module: str, path: str) -> None:
        if module not in self._seen:
            self._seen.add(module)
            self.files[path] = None
            if path.endswith(".py"):
                self._todo.append((module, path))

    def settle(self) -> None:
        """Follow the imports of all files taken so far until nothing new appears."""
        while self._todo:
            module, path = self._todo.pop()
            imports = self.index.imports(path)
            self.computed = self.computed or imports.computed
            is_package = path.endswith("/__init__.py")
            for level, name, names in imports.named:
                target = _absolute(module, is_package, level, name)
                for wanted in self._wanted(target, names) if target else ():
                    self.follow(wanted)

    def _wanted(self, target: str, names: tuple[str, ...]) -> Iterator[str]:
        yield target
        if "*" not in names:
            yield from (f"{target}.{name}" for name in names)
            return
        for directory in self.resolve(target).directories:
            for entry in sorted(self.index.names(directory)):
                stem = entry.partition(".")[0]
                if stem.isidentifier() and stem != "__init__":
                    yield f"{target}.{stem}"

    def resolve(self, module: str) -> _Found:
        """The files that `import module` loads, from its outermost package inwards."""
        key = (self.roots, module)
        if key not in self.index.resolved:
            self.index.resolved[key] = self._resolve(module)
        return self.index.resolved[key]

    def _resolve(self, module: str) -> _Found:
        chain: list[tuple[str, str]] = []
        search = self.roots
        done: list[str] = []
        for part in module.split("."):
            path, search = self._find(part, search)
            done.append(part)
            if path:
                chain.append((".".join(done), path))
            elif not search:
                return _Found(tuple(chain), False)
        return _Found(tuple(chain), True, search)

    def _find(self, part: str, search: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
        portions = []
        for directory in search:
            names = self.index.names(directory)
            base = f"{directory}/{part}" if directory else part
            inner = self.index.names(base) if part in names else frozenset()
            init = _source_in(inner, "__init__")
            if init and self.index.is_file(f"{base}/{init}"):
                return f"{base}/{init}", (base,)
            module = _source_in(names, part)
            if module and self.index.is_file(base[: len(base) - len(part)] + module):
                return base[: len(base) - len(part)] + module, ()
            if inner:
                portions.append(base)
        return "", tuple(portions)


def _source_in(names: frozenset[str], stem: str) -> str:
    """The file that defines module `stem` among names: an extension module before a source."""
    compiled = [n for n in names if n.startswith(stem + ".") and n.endswith(".so")]
    return min(compiled, default=f"{stem}.py" if f"{stem}.py" in names else "")


def _absolute(module: str, is_package: bool, level: int, name: str) -> str:
    """The absolute module that an import of `name` in `module` means; empty when beyond the top."""
    if level == 0:
        return name
    package = module.split(".") if is_package else module.split(".")[:-1]
    kept = package[: len(package) - (level - 1)] if level > 1 else package
    if level - 1 > len(package):
        return ""
    return ".".join([*kept, name] if name else kept)


_FROZEN: dict[str, _Index] = {}
