"""Changes: git read as content, trees exported whole, units told apart by syntax."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from scratch_repo import Scratch

from refute.change.difference import ADDED, CHANGED, DELETED, choose_base, choose_head, compare
from refute.change.git import Repository
from refute.change.trees import export
from refute.change.units import all_units, changed_units
from refute.errors import GitError

BEFORE = '''"""Text."""
import os
from math import isclose

X = 1


class C(Base):
    """Text."""

    a: int = 1

    @property
    def p(self):
        return self.v

    @p.setter
    def p(self, v):
        self.v = v

    def m(self):
        """Text."""
        return os.path


def f(a, b):
    def inner():
        return a
    return isclose(inner(), b)


if X:
    def g():
        return 1
else:
    Y = 2
'''


def units(before: str | None, after: str) -> set[str]:
    old = None if before is None else before.encode()
    return {unit.qualname for unit in changed_units("x.py", old, after.encode())}


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("return 1", "return (1)  # one", set()),
        ('        """Text."""\n', "", set()),
        ('"""Text."""\nimport', '"""Other."""\nimport', set()),
        ("self.v = v", "self.v = 0", {"C.p"}),
        ("return a\n", "return b\n", {"f"}),
        ("return 1", "return 2", {"g"}),
        ("Y = 2", "Y = 3", {"<statement if X:>"}),
        ("X = 1", "X = 2", {"X"}),
        ("a: int = 1", "a: int = 2", {"C.a"}),
        ("class C(Base)", "class C(Other)", {"C"}),
        ("from math import isclose", "from mine import isclose", {"f"}),
        ("import os\n", "import os\nimport sys\n", {"sys"}),
        ("import os\n", "import posix as os\n", {"C.m"}),
        ("X = 1\n", "X = 1\n__all__ = ['X']\n", set()),
        ("X = 1\n", "X = 1\nprint(X)\n", {"<statement print(X)>"}),
        ("X = 1\n", "X = 1\nif TYPE_CHECKING:\n    import z\n", set()),
        ("def f(", "@cache\ndef f(", {"f"}),
        (
            "    def m(self):",
            "    @abstractmethod\n    def n(self): ...\n\n    def m(self):",
            set(),
        ),
        ("class C(Base):", "class D:\n    x: int\n\n\nclass C(Base):", {"D"}),
        ('"""Text."""\nimport os', "import os", set()),
    ],
)
def test_changed_units(old: str, new: str, changed: set[str]) -> None:
    assert old in BEFORE
    assert units(BEFORE, BEFORE.replace(old, new, 1)) == changed


def test_new_and_unreadable_files() -> None:
    assert units(None, "def f():\n    pass\n") == {"f"}
    assert units("x = (", "def f():\n    pass\n") == {"f"}
    assert units("x = 1", "x = (") == {"<file>"}
    assert [str(u) for u in all_units("x.py", b"def f():\n    pass\nY = 1\n")] == [
        "x.py:f",
        "x.py:Y",
    ]


@pytest.fixture
def repo(tmp_path: Path) -> Scratch:
    return Scratch(tmp_path / "repo", {"a.py": "x = 1\n", "d/b.txt": "b\n", ".gitignore": "out/\n"})


def difference(repo: Scratch, base: str | None, head: str | None) -> dict[str, str]:
    with Repository.open(repo.root) as repository:
        tree = choose_head(repository, head)
        changes = compare(repository, choose_base(repository, base, tree), tree)
    return {change.path: change.kind for change in changes}


def test_the_worktree_is_what_is_on_disk(repo: Scratch) -> None:
    repo.write({"a.py": "x = 2\n", "new.py": "", "out/built.py": "", "d/b.txt": None})
    assert difference(repo, None, None) == {
        "a.py": CHANGED,
        "new.py": ADDED,
        "out/built.py": ADDED,
        "d/b.txt": DELETED,
    }


def test_ignored_files_alone_do_not_make_it_dirty(repo: Scratch) -> None:
    repo.write({"out/built.py": ""})
    with Repository.open(repo.root) as repository:
        assert choose_head(repository, None).label == "HEAD"
    repo.write({"sub/.gitignore": "*\n", "sub/hidden.py": ""})  # one that nobody committed
    with Repository.open(repo.root) as repository:
        assert choose_head(repository, None).label == "worktree"


def test_modes_links_and_renames_are_changes(repo: Scratch) -> None:
    (repo.root / "a.py").chmod(0o755)
    (repo.root / "link.py").symlink_to("a.py")
    repo.git("mv", "d/b.txt", "d/c.txt")
    assert difference(repo, None, None) == {
        "a.py": CHANGED,
        "d/b.txt": DELETED,
        "d/c.txt": ADDED,
        "link.py": ADDED,
    }


def test_exports_are_equal_to_what_was_committed(repo: Scratch, tmp_path: Path) -> None:
    repo.write({"run.sh": "#!/bin/sh\n", "ü/ñ.txt": "x"})
    (repo.root / "run.sh").chmod(0o755)
    (repo.root / "inside").symlink_to("d")
    (repo.root / "outside").symlink_to("../..")
    (repo.root / "sly").symlink_to("inside/../../..")
    repo.commit({})
    with Repository.open(repo.root) as repository:
        tree = choose_head(repository, "HEAD")
        export(repository, tree, tmp_path / "one")
        export(repository, tree, tmp_path / "two", (tmp_path / "one", tree.entries))
    for name in ("one", "two"):
        place = tmp_path / name
        assert (place / "ü/ñ.txt").read_text() == "x"
        assert os.access(place / "run.sh", os.X_OK) and not os.access(place / "a.py", os.X_OK)
        assert (place / "inside").is_symlink()
        assert not os.path.lexists(place / "outside") and not os.path.lexists(place / "sly")
    assert sum("leaves the tree" in note for note in tree.notes) == 4


def test_submodules_and_nested_repositories_are_noted(repo: Scratch, tmp_path: Path) -> None:
    Scratch(repo.root / "vendored", {"v.py": ""})
    with Repository.open(repo.root) as repository:
        tree = choose_head(repository, None)
    assert tree.entries.keys() == {"a.py", "d/b.txt", ".gitignore"}
    repo.git("add", "vendored")
    repo.git("commit", "--quiet", "-m", "as a submodule")
    with Repository.open(repo.root) as repository:
        tree = choose_head(repository, None)
        assert tree.label == "HEAD"
        export(repository, tree, tmp_path / "out")
    assert any("submodule" in note for note in tree.notes)


def test_bases_by_default(repo: Scratch) -> None:
    assert difference(repo, None, None) == {
        "a.py": ADDED,
        "d/b.txt": ADDED,
        ".gitignore": ADDED,
    }  # a root commit against nothing
    repo.git("checkout", "--quiet", "--detach")
    repo.commit({"a.py": "x = 2\n"})
    assert difference(repo, None, None) == {"a.py": CHANGED}
    repo.git("checkout", "--quiet", "-b", "topic")
    repo.commit({"new.py": ""})
    assert difference(repo, None, None) == {"a.py": CHANGED, "new.py": ADDED}
    repo.git("checkout", "--quiet", "main")
    repo.git("merge", "--quiet", "--no-ff", "-m", "merge", "topic")
    assert difference(repo, None, None) == {"a.py": CHANGED, "new.py": ADDED}


def test_hook_variables_do_not_redirect(
    repo: Scratch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Scratch(tmp_path / "other", {"other.py": ""})
    monkeypatch.setenv("GIT_DIR", str(other.root / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere")
    with Repository.open(repo.root) as repository:
        assert "a.py" in choose_head(repository, "HEAD").entries


def test_a_linked_worktree_shares_the_main_one(repo: Scratch, tmp_path: Path) -> None:
    repo.git("worktree", "add", "--quiet", str(tmp_path / "linked"), "-b", "linked")
    with Repository.open(tmp_path / "linked") as repository:
        assert repository.main_worktree == repo.root.resolve()
        assert ".git" not in choose_head(repository, "worktree").entries


def test_a_damaged_object_is_noticed(repo: Scratch) -> None:
    blob = repo.git("rev-parse", "HEAD:a.py")
    other = repo.git("rev-parse", "HEAD:d/b.txt")
    objects = repo.root / ".git/objects"
    target = objects / blob[:2] / blob[2:]
    target.chmod(0o644)
    target.write_bytes((objects / other[:2] / other[2:]).read_bytes())
    with Repository.open(repo.root) as repository:
        tree = choose_head(repository, "HEAD")
        with pytest.raises(GitError, match=r"damaged|not in the repository"):
            tree.content(repository, "a.py")


def test_shallow_bare_and_empty_repositories(repo: Scratch, tmp_path: Path) -> None:
    repo.commit({"a.py": "x = 2\n"})
    shallow = tmp_path / "shallow"
    repo.git("clone", "--quiet", "--depth", "1", f"file://{repo.root}", str(shallow))
    with Repository.open(shallow) as repository:
        head = choose_head(repository, None)
        with pytest.raises(GitError, match="shallow") as caught:
            choose_base(repository, None, head)
        assert "--unshallow" in caught.value.next_step
    bare = tmp_path / "bare"
    repo.git("clone", "--quiet", "--bare", str(repo.root), str(bare))
    with Repository.open(bare) as repository:
        assert choose_head(repository, None).label == "HEAD"
        with pytest.raises(GitError, match="bare repository"):
            choose_head(repository, "worktree")
    empty = tmp_path / "empty"
    repo.git("init", "--quiet", str(empty))
    with Repository.open(empty) as repository, pytest.raises(GitError, match="no commit yet"):
        choose_head(repository, None)
