"""`refute check` on options and files that cannot be: a clear word, exit 2, no traceback."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NoReturn

import pytest

from refute.cli.check import run
from refute.cli.early import start_early
from refute.cli.output import Outputs
from refute.errors import RefuteError, UsageError
from refute.verifiers.model import exploring
from refute.verifiers.model.native.compiler import built
from refute.verifiers.model.native.forms import Unsuited

HEAD = """\
from __future__ import annotations
from dataclasses import dataclass
from typing import Annotated
from refute.machine import *

class P(Sort, size=2): pass
"""
MACHINE = """
class M(Machine):
    n: Var[Annotated[int, Range(0, 999)]] = var(0)
    who: Var[Set[P]] = var(empty_set)

    @action
    def step(self) -> None:
        self.n = 0
"""
RECURSIVE = """
@dataclass(frozen=True)
class Node:
    next: Node | None

class M(Machine):
    first: Var[Node | None] = var(None)

    @action
    def step(self) -> None:
        self.first = None
"""
BRANCHES = "".join(
    f"        elif self.n == {n}:\n            self.n = {n + 1}\n" for n in range(90)
)
LADDER = "        if self.n == 100:\n            self.n = 0\n" + BRANCHES


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "pyproject.toml").write_text("[tool.refute]\n")
    (tmp_path / "spec.py").write_text(HEAD + MACHINE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(*arguments: str) -> str:
    with pytest.raises(RefuteError) as caught:
        run(["spec.py", *arguments])
    assert caught.value.exit_code == 2
    return str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("--simulate 0", "argument --simulate: 0 is less than 1"),
        ("--simulate -5", "argument --simulate: -5 is less than 1"),
        ("--simulate 5 --depth 0", "argument --depth: 0 is less than 1"),
        ("--simulate 9999999999999999999", "has more than 18 digits"),
        ("--simulate ten", "'ten' is no whole number"),
        ("--depth 10", "--depth: without --simulate"),
        ("--simulate 5 --hashed", "--hashed: --simulate keeps no states"),
        ("--simulate 5 --exact", "--exact: --simulate keeps no states"),
        ("--engine plain --hashed", "--hashed: --engine plain keeps states whole"),
        ("--checkpoint=", "argument --checkpoint: the path is empty"),
        ("--checkpoint-every 5s", "--checkpoint-every: no --checkpoint"),
        ("--json=", "argument --json: the path is empty"),
        ("--json x --sarif ./x", "x can carry one document only"),
        ("--json spec.py", "--json spec.py: the path is a file with other content"),
        ("--set P=99999999999999", "P may have at most 1,000,000 members"),
    ],
)
def test_options_that_cannot_be(here: Path, arguments: str, words: str) -> None:
    assert words in refused(*arguments.split(" "))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("--json ./spec.py", "--json ./spec.py would overwrite the file that is checked"),
        ("--sarif .refute/witnesses/w", "would overwrite what is saved in .refute/witnesses"),
        ("--checkpoint kept --junit kept/m/head", "would overwrite what --checkpoint keeps"),
    ],
)
def test_documents_replace_nothing_of_the_run(here: Path, arguments: str, words: str) -> None:
    """Even where nothing is there yet, or what is there looks like an earlier document."""
    (here / "spec.py").write_text("")
    for folder in (".refute/witnesses", "kept/m"):
        (here / folder).mkdir(parents=True)
    assert words in refused(*arguments.split(" "))


def test_what_is_no_file_may_be_written_twice() -> None:
    Outputs("/dev/null", "/dev/null")
    with pytest.raises(UsageError):
        Outputs("out", "out")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (HEAD + RECURSIVE, "the type Node, which contains itself"),
        (HEAD + MACHINE + LADDER, "spec.py:12: step is nested more than some 60 levels deep"),
        (HEAD + "raise MemoryError\n" + MACHINE, "spec.py:7: memory ran out"),
        (HEAD + "def f(): f()\nf()\n" + MACHINE, "spec.py:7: reading this takes calls more than"),
        (HEAD + "import sys\nsys.exit(0)\n" + MACHINE, "spec.py"),
        (HEAD + "import other\n" + MACHINE, "other.py:2: SyntaxError"),
    ],
    ids=["recursive", "ladder", "memory", "calls", "exit", "syntax"],
)
def test_files_that_cannot_be_read(here: Path, text: str, words: str) -> None:
    (here / "spec.py").write_text(text)
    (here / "other.py").write_text("a = 1\nb = (\n")
    assert words in refused()


LARGE = """
class M(Machine):
    a: Var[Annotated[int, Range(0, 999)]] = var(0)
    b: Var[Annotated[int, Range(0, 999)]] = var(0)

    @action
    def step(self) -> None:
        self.a = any_of(range(1000))
        self.b = (self.b + 1) % 1000

    @invariant
    def low(self) -> bool:
        return self.b < 1
"""


def test_an_interrupt_while_it_is_compiled_keeps_what_is_known(
    here: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr(exploring, "PLAIN_FIRST_S", 0.3)
    monkeypatch.setattr(exploring.Exploration, "_native", interrupted)
    (here / "spec.py").write_text(HEAD + LARGE)
    assert run(["spec.py"]) == 1
    told = capfd.readouterr().out
    assert "M.deadlock-free: interrupted after" in told
    assert "low is False" in told
    assert run(["spec.py", "--simulate", "999999"]) == 1
    assert "low is False" in capfd.readouterr().out


def test_a_pipe_is_no_file(here: Path) -> None:
    os.mkfifo(here / "pipe.py")
    start_early(["check", "pipe.py"])  # and does not wait for somebody to write to it
    with pytest.raises(RefuteError, match=r"pipe.py is not a file"):
        run(["pipe.py"])


def test_a_compiler_that_is_killed_leaves_its_files_in_the_directory_of_the_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = tmp_path / "told"
    compiler = tmp_path / "cc"
    compiler.write_text(f'#!/bin/sh\necho "$TMPDIR" > {told}; touch "$TMPDIR/left"; sleep 60\n')
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", str(compiler))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(Unsuited), built("", patience_s=0.3):
        pass
    where = told.read_text().strip()
    assert where != str(tmp_path)
    assert not Path(where).exists()
