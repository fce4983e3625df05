"""`refute init`: adds what is missing, changes nothing that is there, and twice is once."""

from __future__ import annotations

import subprocess
import tomllib
from pathlib import Path

import pytest

from refute.cli.init import initialise
from refute.describe import describe
from refute.errors import UnreadableInput, UsageError


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True, capture_output=True)
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "code.py").write_text("def f(x):\n    return x\n\n\nclass C:\n    pass\n")
    (tmp_path / "venv").mkdir()
    (tmp_path / "venv" / "other.py").write_text("def g(): ...\n")
    (tmp_path / ".gitignore").write_text("venv/\n")
    return tmp_path


def contents(tree: Path) -> dict[str, bytes]:
    return {
        str(p.relative_to(tree)): p.read_bytes()
        for p in tree.rglob("*")
        if p.is_file() and ".git" not in p.relative_to(tree).parts
    }


def test_everything_is_written_once(repository: Path) -> None:
    first = initialise(repository / "pkg")
    assert [line.split()[0] for line in first[:3]] == ["wrote", "wrote", "wrote"]
    written = contents(repository)
    second = initialise(repository)
    assert [line.split()[0] for line in second[:3]] == ["unchanged"] * 3
    assert contents(repository) == written
    listed = written["refute-exempt.txt"].decode().splitlines()
    assert [line for line in listed if not line.startswith("#")] == [
        "pkg/code.py:f",
        "pkg/code.py:C",
    ]


def test_the_first_claim_is_a_claim(repository: Path) -> None:
    initialise(repository)
    (claim,) = describe(repository)
    assert claim.name == "clamp stays within its bounds"
    assert claim.covers == ("claims.py",)


@pytest.mark.parametrize(
    "before",
    [
        b'[project]\nname = "x"\n',
        b'[project]\nname = "x"',
        b'[project]\r\nname = "x"\r\n',
        b"[tool.other]\nx = 1\n",
        b"[[tool.many]]\nx = 1\n[[tool.many]]\nx = 2\n",
        b"# only a comment",
        b"",
    ],
    ids=repr,
)
def test_an_existing_pyproject_keeps_every_byte(repository: Path, before: bytes) -> None:
    path = repository / "pyproject.toml"
    path.write_bytes(before)
    initialise(repository)
    after = path.read_bytes()
    assert after.startswith(before)
    assert tomllib.loads(after.decode())["tool"]["refute"] == {"roots": ["."]}
    if b"\r\n" in before:
        assert b"\n" not in after.replace(b"\r\n", b"")


@pytest.mark.parametrize(
    ("before", "error"),
    [
        (b"[project\n", UnreadableInput),
        (b"\xff\xfe", UnreadableInput),
        (b"tool = { other = { x = 1 } }\n", UsageError),
    ],
    ids=repr,
)
def test_what_cannot_be_appended_to_is_left_alone(
    repository: Path, before: bytes, error: type[Exception]
) -> None:
    path = repository / "pyproject.toml"
    path.write_bytes(before)
    with pytest.raises(error):
        initialise(repository)
    assert path.read_bytes() == before


def test_existing_claims_and_exemptions_are_kept(repository: Path) -> None:
    (repository / "pkg" / "shop_claims.py").write_text("")
    (repository / "refute-exempt.txt").write_text("mine\n")
    (repository / "src").mkdir()
    initialise(repository)
    assert (repository / "refute-exempt.txt").read_text() == "mine\n"
    assert not (repository / "claims.py").exists()
    roots = tomllib.loads((repository / "pyproject.toml").read_text())["tool"]["refute"]["roots"]
    assert roots == [".", "src"]


def test_without_git_it_says_what_is_missing(tmp_path: Path) -> None:
    assert any("no git repository" in line for line in initialise(tmp_path))
