"""Closures: what code depends on, read from syntax trees alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from refute.closure import closure_of, freeze, module_file, module_names, thaw, tree_files
from refute.globs import matches
from refute.listing import is_listed, listing

ROOTS = (".", "src")


def make(tree: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tree


def files_of(tree: Path, reference: str, globs: tuple[str, ...] = ()) -> set[str]:
    return set(closure_of(tree, ROOTS, (reference,), globs).files)


@pytest.mark.parametrize(
    ("text", "reached"),
    [
        ("import b", {"b.py"}),
        ("import p.q", {"p/__init__.py", "p/q.py"}),
        ("from p import q", {"p/__init__.py", "p/q.py"}),
        ("from p import name", {"p/__init__.py"}),
        ("from p import *", {"p/__init__.py", "p/q.py", "p/r/__init__.py"}),
        ("def f():\n    import b", {"b.py"}),
        ("try:\n    import b\nexcept ImportError:\n    b = None", {"b.py"}),
        ("if TYPE_CHECKING:\n    import b", {"b.py"}),
        ("import importlib\nimportlib.import_module('p.q')", {"p/__init__.py", "p/q.py"}),
        ("__import__('b')", {"b.py"}),
        ("import json, b", {"b.py"}),
        ("import namespace.inner", {"namespace/inner.py"}),
        ("import in_src", {"src/in_src.py"}),
        ("import chain", {"chain.py", "b.py"}),
        ("import loop_a", {"loop_a.py", "loop_b.py"}),
        ("this is not python", set()),
    ],
)
def test_imports_are_followed(tmp_path: Path, text: str, reached: set[str]) -> None:
    make(
        tmp_path,
        {
            "a.py": text,
            "b.py": "",
            "p/__init__.py": "",
            "p/q.py": "",
            "p/r/__init__.py": "",
            "namespace/inner.py": "",
            "src/in_src.py": "",
            "chain.py": "import b",
            "loop_a.py": "import loop_b",
            "loop_b.py": "import loop_a",
            "unrelated.py": "",
        },
    )
    assert files_of(tmp_path, "a:f") == {"a.py", *reached}


def test_relative_imports(tmp_path: Path) -> None:
    make(
        tmp_path,
        {
            "p/__init__.py": "from . import one",
            "p/one.py": "from .sub.deep import x",
            "p/sub/__init__.py": "",
            "p/sub/deep.py": "from ..two import y\nfrom ... import beyond",
            "p/two.py": "",
        },
    )
    assert files_of(tmp_path, "p:f") == {
        "p/__init__.py",
        "p/one.py",
        "p/sub/__init__.py",
        "p/sub/deep.py",
        "p/two.py",
    }


def test_a_package_hides_a_module_and_an_earlier_root_a_later_one(tmp_path: Path) -> None:
    make(tmp_path, {"m/__init__.py": "", "m.py": "", "n.py": "", "src/n.py": ""})
    assert module_file(tmp_path, ROOTS, "m") == "m/__init__.py"
    assert module_file(tmp_path, ROOTS, "n") == "n.py"
    assert module_file(tmp_path, ROOTS, "json") is None
    assert module_names("src/p/q.py", ROOTS) == ("p.q", "src.p.q")


def test_globs_bring_data_and_computed_imports_bring_code(tmp_path: Path) -> None:
    make(
        tmp_path,
        {"a.py": "", "d/x.json": "", "d/plugin.py": "import helper", "helper.py": "", "e.json": ""},
    )
    assert files_of(tmp_path, "a:f", ("d/**",)) == {"a.py", "d/x.json"}
    make(tmp_path, {"a.py": "import importlib\nimportlib.import_module(name)"})
    assert files_of(tmp_path, "a:f", ("d/**",)) == {"a.py", "d/x.json", "d/plugin.py", "helper.py"}
    assert set(closure_of(tmp_path, ROOTS, (), ("d/**",)).files) == {"d/x.json", "d/plugin.py"}


def test_digests_follow_content_names_and_executable_bits(tmp_path: Path) -> None:
    make(tmp_path, {"a.py": "import b", "b.py": "x = 1", "c.py": ""})

    def digest() -> str:
        return closure_of(tmp_path, ROOTS, ("a:f",), ()).digest

    seen = [digest()]
    (tmp_path / "c.py").write_text("changed")
    assert digest() == seen[0]
    (tmp_path / "b.py").write_text("x = 2")
    seen.append(digest())
    (tmp_path / "b.py").chmod(0o755)
    seen.append(digest())
    (tmp_path / "b.py").unlink()
    seen.append(digest())
    assert len(set(seen)) == 4


def test_missing_modules_are_named_and_counted(tmp_path: Path) -> None:
    make(tmp_path, {"a.py": "x = ("})
    closure = closure_of(tmp_path, ROOTS, ("a:f", "gone:g", "cmd:./x"), ())
    assert closure.files == ("a.py",) and closure.missing == ("gone",)
    assert closure.digest != closure_of(tmp_path, ROOTS, ("a:f",), ()).digest


def test_links_out_of_the_tree_do_not_exist(tmp_path: Path) -> None:
    make(tmp_path / "tree", {"a.py": "import b, c", "real.py": "import d", "d.py": ""})
    (tmp_path / "outside.py").write_text("")
    (tmp_path / "tree/b.py").symlink_to(tmp_path / "outside.py")
    (tmp_path / "tree/c.py").symlink_to("real.py")
    assert files_of(tmp_path / "tree", "a:f") == {"a.py", "c.py", "d.py"}


def test_caches_environments_and_repositories_are_no_part_of_a_tree(tmp_path: Path) -> None:
    skipped = (".git/config", "env/pyvenv.cfg", "env/lib/x.py", "p/__pycache__/x.pyc")
    make(tmp_path, dict.fromkeys(("a.py", "p/b.py", "sub/.git/HEAD", "sub/x.py", *skipped), ""))
    assert tree_files(tmp_path) == ("a.py", "p/b.py", "sub")


def test_a_frozen_tree_is_read_once(tmp_path: Path) -> None:
    make(tmp_path, {"a.py": "x = 1"})
    freeze(tmp_path)
    before = closure_of(tmp_path, ROOTS, ("a:f",), ())
    (tmp_path / "a.py").write_text("x = 2")
    assert closure_of(tmp_path, ROOTS, ("a:f",), ()) is before
    thaw(tmp_path)
    assert closure_of(tmp_path, ROOTS, ("a:f",), ()) != before


@pytest.mark.parametrize(
    ("path", "glob", "expected"),
    [
        ("a/b.py", "a/*.py", True),
        ("a/c/b.py", "a/*.py", False),
        ("a/c/b.py", "a/**/*.py", True),
        ("a/b.py", "a/**/*.py", True),
        ("a/b.py", "a/", True),
        ("a/b.py", "a", True),
        ("ab/b.py", "a", False),
        ("a/b.py", "*", False),
        ("a/b.py", "**", True),
        ("a/b.py", "./a/b.py", True),
        ("x1", "x[0-9]", True),
        ("x1", "x[!0-9]", False),
        ("x/", "x[!0-9]", False),
        ("xz", "x[z-a]", False),
        ("x]", "x[]]", True),
        ("x[", "x[", True),
        ("a+b", "a+b", True),
    ],
)
def test_globs(path: str, glob: str, expected: bool) -> None:
    assert matches(path, [glob]) is expected


def test_a_file_named_by_a_glob_is_found_without_a_listing(tmp_path: Path) -> None:
    folders = ("", "a/", "a/b/", "c/d/", ".venv/", "nested/", "node_modules/", "a/.git/")
    make(tmp_path, {f"{folder}f.txt": "x" for folder in folders})
    (tmp_path / ".venv" / "pyvenv.cfg").write_text("")
    (tmp_path / "nested" / ".git").write_text("gitdir: elsewhere")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    (tmp_path / "loose").symlink_to(tmp_path / "f.txt")
    named = [*(f"{folder}f.txt" for folder in folders), "a", "link/f.txt", "loose", "no.txt"]
    named += ["a/../f.txt", "a//f.txt", "./f.txt", ".git", "f.*", ""]
    files = listing(tmp_path)
    assert "a" in files and "a/b/f.txt" not in files  # another repository
    found = {p for p in named if is_listed(tmp_path, p)}
    assert found == {p for p in files if p in named} - {"a"} == {"f.txt", "c/d/f.txt", "loose"}
