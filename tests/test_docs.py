"""README and docs are run: what they show is what happens.

A page is one story, told in a scratch copy of nothing: blocks run in order, in one directory.
    ```python file=claims.py      writes the block to that file
    ```console                    runs each `$ command`; what follows is its expected output
    ```python                     runs as a program of its own
In an expected output `…` stands for anything. Blocks in other languages are not run.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """One fenced block: its info string, its text and the line it starts on."""

    info: str
    text: str
    line: int


def blocks_of(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for match in BLOCK.finditer(text):
        yield Block(match[1].strip(), match[2], text.count("\n", 0, match.start()) + 1)


def environment(home: Path) -> dict[str, str]:
    return {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(home),
        "NO_COLOR": "1",
        "COLUMNS": "100",
        "LC_ALL": "C.UTF-8",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_AUTHOR_NAME": "reader",
        "GIT_AUTHOR_EMAIL": "reader@example.org",
        "GIT_COMMITTER_NAME": "reader",
        "GIT_COMMITTER_EMAIL": "reader@example.org",
    }


def run(command: str, place: Path, home: Path) -> str:
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=place,
        env=environment(home),
        text=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=120,
        check=False,
    )
    return done.stdout


def matches(expected: str, actual: str) -> bool:
    def squeeze(text: str) -> str:
        return "\n".join(line.rstrip() for line in text.strip().splitlines())

    pattern = re.escape(squeeze(expected)).replace("…", r"[\s\S]*?")
    return re.fullmatch(pattern, squeeze(actual)) is not None


def console_steps(text: str) -> Iterator[tuple[str, str]]:
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        lines = part.split("\n")
        count = 1
        while lines[count - 1].endswith("\\"):
            count += 1
        yield "\n".join(lines[:count]), "\n".join(lines[count:])


def play(block: Block, place: Path, home: Path) -> None:
    language, _, options = block.info.partition(" ")
    if options.startswith("file="):
        target = place / options.removeprefix("file=")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(block.text, encoding="utf-8")
    elif language == "python":
        script = place / f"block_{block.line}.py"
        script.write_text(block.text, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, script.name],
            cwd=place,
            env=environment(home),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        script.unlink()
        assert done.returncode == 0, f"line {block.line}: {done.stderr}"
    elif language == "console":
        for command, expected in console_steps(block.text):
            actual = run(command, place, home)
            assert matches(expected, actual), (
                f"line {block.line}: $ {command}\n--- expected\n{expected}\n--- actual\n{actual}"
            )


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_page_runs_as_printed(page: Path, tmp_path: Path) -> None:
    place, home = tmp_path / "place", tmp_path / "home"
    place.mkdir()
    home.mkdir()
    if "$ refute check examples/" in page.read_text(encoding="utf-8"):
        shutil.copytree(ROOT / "examples", place / "examples", symlinks=True)
    for block in blocks_of(page):
        play(block, place, home)
    assert place.exists()


def test_a_wrong_page_is_caught(tmp_path: Path) -> None:
    """The runner itself must be able to fail."""
    good = Block("console", "$ echo one two\none …\n", 1)
    play(good, tmp_path, tmp_path)
    with pytest.raises(AssertionError, match="actual"):
        play(Block("console", "$ echo one\ntwo\n", 1), tmp_path, tmp_path)
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        play(Block("python", "1 / 0\n", 1), tmp_path, tmp_path)


def test_links_lead_somewhere() -> None:
    broken = []
    for page in [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "tests" / "README.md"]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            if not (page.parent / target).exists():
                broken.append(f"{page.name}: {target}")
    assert broken == []
