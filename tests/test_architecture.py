"""House rules as tests: layers, sizes, fences and lazy imports. See CONTRIBUTING.md."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "refute"
MODULES = sorted(PACKAGE.rglob("*.py"))

MODULE_LINES = 400
FUNCTION_LINES = 60
LINE_LENGTH = 100
ROOT_EXPORTS = 12

# Lower layers first. A module may import from its own layer or below; the longest prefix counts.
LAYERS: list[tuple[str, ...]] = [
    ("refute.errors", "refute.frozen", "refute.plain", "refute.budget", "refute.globs"),
    ("refute.claim", "refute.replay", "refute.evidence", "refute.record"),
    ("refute.listing", "refute.closure", "refute.claim_modules", "refute.sandbox", "refute.site"),
    ("refute.specs", "refute.machine"),
    ("refute.oracles", "refute.fuzz"),
    ("refute.verifiers",),
    ("refute.check", "refute.describe", "refute.change", "refute.config", "refute.ledger"),
    ("refute.gate",),
    ("refute.report", "refute.agents"),
    ("refute.cli", "refute.pytest_plugin"),
]

# library → the modules or packages that may import it
FENCES: dict[str, tuple[str, ...]] = {
    "z3": (
        "refute.verifiers.symbolic",
        "refute.verifiers.contracts",
        "refute.verifiers.equivalence",
    ),
    "crosshair": ("refute.verifiers.contracts",),
    "hypothesis": ("refute.fuzz.strategies",),
    "sqlglot": ("refute.fuzz.sql", "refute.oracles.sql"),
    "pytest": ("refute.pytest_plugin", "refute.cli.to_test"),
    "typer": ("refute.cli",),
    "rich": ("refute.cli", "refute.report"),
}


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def imports_of(path: Path) -> tuple[str, ...]:
    """Absolute names imported anywhere in the module, typing-only imports left out."""
    return tuple(_imports(path))


def _imports(path: Path) -> Iterator[str]:
    names = {name_of(p) for p in MODULES}
    stack: list[ast.AST] = [tree_of(path)]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) in (
            "TYPE_CHECKING",
            "typing.TYPE_CHECKING",
        ):
            stack.extend(node.orelse)
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            module = node.module or ""
            for alias in node.names:
                full = f"{module}.{alias.name}"
                yield full if full in names else module
        stack.extend(ast.iter_child_nodes(node))


def layer_of(module: str) -> int | None:
    best: tuple[int, int] | None = None
    for level, prefixes in enumerate(LAYERS):
        for prefix in prefixes:
            if (module == prefix or module.startswith(prefix + ".")) and (
                best is None or len(prefix) > best[0]
            ):
                best = (len(prefix), level)
    return None if best is None else best[1]


def ids(path: object) -> str:
    return str(path.relative_to(ROOT)) if isinstance(path, Path) else str(path)


def test_every_module_has_a_layer() -> None:
    homeless = [name_of(p) for p in MODULES if layer_of(name_of(p)) is None]
    assert homeless == ["refute"]


@pytest.mark.parametrize("path", MODULES, ids=ids)
def test_imports_go_downward(path: Path) -> None:
    own = layer_of(name_of(path))
    if own is None:
        return  # the root façade re-exports from any layer
    wrong = [
        target
        for target in imports_of(path)
        if target.startswith("refute.") and (layer_of(target) or 0) > own
    ]
    assert wrong == [], f"{name_of(path)} (layer {own}) imports from above"


def test_there_are_no_import_cycles() -> None:
    known = {name_of(p) for p in MODULES}
    graph = {
        name_of(p): {i for i in imports_of(p) if i in known and i != "refute"} for p in MODULES
    }
    graph = {m: targets - {m} for m, targets in graph.items()}
    while True:
        leaves = {m for m, targets in graph.items() if not targets}
        if not leaves:
            break
        graph = {m: targets - leaves for m, targets in graph.items() if m not in leaves}
    assert {m: sorted(t) for m, t in graph.items()} == {}


@pytest.mark.parametrize("path", MODULES, ids=ids)
def test_sizes(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    assert len(lines) <= MODULE_LINES, f"{len(lines)} lines"
    assert [i for i, line in enumerate(lines, 1) if len(line) > LINE_LENGTH] == []
    long = [
        f"{node.name}:{node.lineno}"
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno + 1 > FUNCTION_LINES
    ]
    assert long == []


def public_definitions(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """Public functions, classes and methods; protocol and override docs are wanted as well."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if node.name.startswith("_"):
                continue
            yield node.name, node
            if isinstance(node, ast.ClassDef):
                for inner in node.body:
                    is_function = isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef)
                    if is_function and not inner.name.startswith("_"):
                        yield f"{node.name}.{inner.name}", inner


@pytest.mark.parametrize("path", MODULES, ids=ids)
def test_docstrings(path: Path) -> None:
    tree = tree_of(path)
    assert ast.get_docstring(tree), "no module docstring"
    missing = [
        name
        for name, node in public_definitions(tree)
        if not ast.get_docstring(node)  # type: ignore[arg-type]
    ]
    assert missing == []


@pytest.mark.parametrize("path", MODULES, ids=ids)
def test_no_import_inside_a_function(path: Path) -> None:
    inside = [
        f"{node.name}:{inner.lineno}"
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for inner in ast.walk(node)
        if isinstance(inner, ast.Import | ast.ImportFrom)
    ]
    assert inside == []


@pytest.mark.parametrize("library", sorted(FENCES))
def test_each_library_stands_behind_its_fence(library: str) -> None:
    users = {
        name_of(path)
        for path in MODULES
        if any(i == library or i.startswith(library + ".") for i in imports_of(path))
    }
    allowed = FENCES[library]
    outside = [u for u in users if not any(u == a or u.startswith(a + ".") for a in allowed)]
    assert outside == []


def test_no_module_of_leftovers() -> None:
    banned = {"utils", "util", "helpers", "common", "misc", "tools"}
    assert [name_of(p) for p in MODULES if p.stem in banned] == []


def test_root_exports_at_most_a_dozen_names() -> None:
    import refute

    assert len(refute.__all__) <= ROOT_EXPORTS
    assert all(hasattr(refute, name) for name in refute.__all__)


def test_importing_refute_is_light() -> None:
    """Counts modules and names heavy ones; the time itself is measured in `benchmarks/`."""
    code = "import sys, refute; print('\\n'.join(sys.modules))"
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    loaded = set(out.stdout.split())
    heavy = {"z3", "hypothesis", "sqlglot", "crosshair", "pytest", "_pytest", "rich", "typer"}
    assert loaded & (heavy | {"numpy", "asyncio", "multiprocessing"}) == set()


TESTS = sorted((ROOT / "tests").rglob("test_*.py"))


@pytest.mark.parametrize("path", TESTS, ids=ids)
def test_every_test_can_fail(path: Path) -> None:
    """A test function asserts something, expects an error, or calls a checking function."""
    words = ("raises", "assert", "check", "expect", "verify", "refute", "conform", "fail", "match")
    empty = []
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            checks = any(
                isinstance(n, ast.Assert | ast.Raise)
                or (isinstance(n, ast.Call) and any(w in ast.unparse(n.func) for w in words))
                for n in ast.walk(node)
            )
            if not checks:
                empty.append(f"{node.name}:{node.lineno}")
    assert empty == []


def test_no_two_test_files_have_one_name() -> None:
    """pytest imports a test file by its name alone, and refuses the second one of a name."""
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    assert len(names) > 100
    assert sorted(names) == sorted(set(names))


def test_text_says_nothing_about_this_or_that_machine() -> None:
    out = subprocess.run(
        [
            "git",
            "grep",
            "-nIE",
            r"/(home|root|Users)/[a-z]+/|TODO|FIXME|XXX",
            "--",
            ".",
            ":!*.lock",
        ],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    own = Path(__file__).relative_to(ROOT).as_posix()
    assert [line for line in out.stdout.splitlines() if not line.startswith(own)] == []
