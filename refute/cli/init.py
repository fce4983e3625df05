"""`refute init`: configuration, the exemption list and a first claim in an existing repository.

Nothing that exists is changed: `[tool.refute]` is appended to pyproject.toml, and files are only
written where there are none, so running it twice is running it once. The exemption list names every
function that is there now, because a gate that asked for claims about all old code on the first day
would be switched off on the second; from then on the list may only shrink.
"""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from refute.change.git import Repository
from refute.change.trees import ignored_by
from refute.change.units import all_units
from refute.cli.parsing import Parser
from refute.cli.printing import print_all
from refute.closure import tree_files
from refute.config import FILE, Config, needs_no_claim, read_config, render
from refute.describe import claim_files
from refute.errors import EXIT_ESTABLISHED, GitError, UnreadableInput, UsageError

EXAMPLES = """
refute init
refute init path/to/repository
"""

FIRST_CLAIM = '''\
"""Claims of this repository. `refute gate` judges every change against them.

A claim names its subject as "module:function", says what must hold, what it covers and what
evidence is enough. This first one is about the function below, so that it can be tried at once:

    refute check {file}

Replace both by what must hold of your own code, with `covers` naming the files it is about.
"""

from refute import SURVIVED, claim
from refute.specs.domains import Ints
from refute.specs.function import Holds


def clamp(value: int, low: int, high: int) -> int:
    """The subject; yours lives in your own modules."""
    return max(low, min(value, high))


def stays_within(value, low, high, clamp):
    """The property: it gets the inputs, and the subject by its name."""
    return low <= clamp(value, low, high) <= high


def ordered(low, high):
    """The assumption: cases for which it is False are discarded, and counted."""
    return low <= high


claim(
    "clamp stays within its bounds",
    Holds(
        "{module}:clamp",
        prop="{module}:stays_within",
        given={{"value": Ints(), "low": Ints(-100, 100), "high": Ints(-100, 100)}},
        assume="{module}:ordered",
    ),
    covers=("{file}",),
    need=SURVIVED(cases=100),
)
'''

EXEMPTIONS = """\
# Functions that need no claim yet: all that were here when refute came, one `path.py:name` a line.
# The list may only shrink. Take a line out once a claim covers the function.
"""


ABOUT = """\
Add refute to an existing repository: configuration, exemption list, a first claim.

Nothing that exists is overwritten; running it again changes nothing."""


def run(argv: Sequence[str]) -> int:
    """Run the command; returns its exit code."""
    parser = Parser("init", ABOUT, EXAMPLES)
    parser.add_argument("directory", nargs="?", type=Path, default=Path(), metavar="DIRECTORY")
    directory: Path = parser.read(argv).directory
    if not directory.is_dir():
        raise UsageError(
            f"{directory} is not a directory",
            thing="DIRECTORY",
            value=directory,
            next_step="give a directory of the repository",
        )
    print_all("\n".join(initialise(directory.resolve())) + "\n", sys.stdout)
    return EXIT_ESTABLISHED


def initialise(directory: Path) -> list[str]:
    """Write what is missing; returns what was done, line by line. Raises UsageError."""
    try:
        with Repository.open(directory) as repository:
            tree, versioned = repository.root, True
    except GitError:
        tree, versioned = directory, False
    try:
        lines = [_configure(tree)]
        config = read_config(tree)
        lines += [_exempt(tree, config, versioned), _first_claim(tree, config)]
    except OSError as error:
        raise UsageError(
            f"{error.filename or tree} cannot be written: {error.strerror}",
            thing="repository",
            value=tree,
            next_step="make the directory writable",
        ) from error
    first = (claim_files(tree, config.claims) or ("FILE",))[0]
    lines += ["", f"next: refute check {first}, then commit, then refute gate on a branch"]
    if lines[2].startswith("wrote"):
        lines.append("note: put your own claim in first; once committed, removing this one needs")
        lines.append("      approval, as every change of a spec does")
    if not versioned:
        lines.append("note: this is no git repository; refute gate needs one (git init)")
    return lines


def _configure(tree: Path) -> str:
    path = tree / FILE
    roots = [".", "src"] if (tree / "src").is_dir() else ["."]
    table = render({"roots": roots})
    if not path.exists():
        path.write_text(table, encoding="utf-8")
        return f"wrote      {FILE} with [tool.refute]"
    before = path.read_bytes()
    old = _parsed(before)
    if "refute" in old.get("tool", {}):
        return f"unchanged  {FILE} has [tool.refute]"
    line_end = b"\r\n" if b"\r\n" in before else b"\n"
    gap = line_end if before.endswith(b"\n") or not before else line_end * 2
    addition = (gap if before else b"") + table.encode().replace(b"\n", line_end)
    if not _adds_only(old, before + addition):
        raise UsageError(
            f"[tool.refute] cannot be appended to {FILE}",
            thing=FILE,
            value="tool",
            next_step="write tool as tables, or add the table by hand:\n" + table,
        )
    with path.open("ab") as stream:
        stream.write(addition)
    return f"added      [tool.refute] to {FILE}"


def _parsed(content: bytes) -> dict[str, Any]:
    try:
        return tomllib.loads(content.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UnreadableInput(
            f"{FILE} is not TOML: {error}",
            thing=FILE,
            next_step="repair the file; nothing was changed",
        ) from error


def _adds_only(old: dict[str, Any], content: bytes) -> bool:
    """Whether the new content says all the old one said, and [tool.refute] besides."""
    try:
        new = tomllib.loads(content.decode("utf-8"))
    except tomllib.TOMLDecodeError:
        return False
    tool = new.get("tool", {})
    added = tool.pop("refute", None) is not None
    if not tool and "tool" not in old:
        new.pop("tool")
    return added and new == old


def _exempt(tree: Path, config: Config, versioned: bool) -> str:
    path = tree / config.exemptions
    if os.path.lexists(path):
        return f"unchanged  {config.exemptions} exists"
    files = [f for f in tree_files(tree) if f.endswith(".py") and not needs_no_claim(f, config)]
    hidden = ignored_by(tree, files) if versioned else frozenset()
    units = [
        str(unit)
        for file in files
        if file not in hidden
        for unit in all_units(file, (tree / file).read_bytes())
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(EXEMPTIONS + "".join(f"{unit}\n" for unit in units), encoding="utf-8")
    return f"wrote      {config.exemptions}, the code that needs no claim yet: {len(units)}"


def _first_claim(tree: Path, config: Config) -> str:
    existing = claim_files(tree, config.claims)
    if existing:
        return f"unchanged  claims are in {', '.join(existing[:3])}"
    path = tree / "claims.py"
    if os.path.lexists(path):
        return "unchanged  claims.py exists, although [tool.refute] looks for claims elsewhere"
    path.write_text(FIRST_CLAIM.format(file="claims.py", module="claims"), encoding="utf-8")
    return "wrote      claims.py with a first claim, to be replaced by yours"
