"""Configuration: `[tool.refute]` in pyproject.toml, or a policy file of the same keys.

The gate reads it from the base, or from a policy file outside the judged tree, because a change
that could configure its own judgement would need none. Unknown keys are errors: a misspelt
`exclude` that silently excludes nothing is kinder than one that silently excludes everything, and
neither is as kind as a message.
"""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path

from refute import plain
from refute.change.units import all_units
from refute.closure import tree_files
from refute.describe import CLAIM_GLOBS, DEFAULT_ROOTS
from refute.errors import UnreadableInput, UsageError
from refute.frozen import frozen
from refute.globs import matches
from refute.plain import Plain

FILE = "pyproject.toml"
EXEMPTIONS = "refute-exempt.txt"

# Tests and tools that no claim needs to cover, as long as no subject imports them.
TEST_GLOBS = (
    "tests/",
    "test/",
    "**/tests/**",
    "**/test_*.py",
    "**/*_test.py",
    "**/conftest.py",
    "docs/",
    "**/*.pyi",
)
DOCUMENT_GLOBS = (
    *("**/*.md", "**/*.rst", "**/*.txt", "**/*.adoc"),
    *("**/*.png", "**/*.svg", "**/*.jpg", "**/*.jpeg", "**/*.gif", "**/*.ico"),
    *("**/LICENSE*", "**/LICENCE*", "**/NOTICE*", "**/AUTHORS*", "**/CHANGELOG*"),
    *("**/.gitignore", "**/.gitattributes", "**/.editorconfig", "**/.mailmap", "**/py.typed"),
)


@frozen
class Config:
    """roots: import roots, relative to the tree. claims: globs of claims modules.

    exclude: globs of files that need no claim. exemptions: path of the list of units that need
    none yet. source: where it was read from, for reports.
    """

    roots: tuple[str, ...] = DEFAULT_ROOTS
    claims: tuple[str, ...] = CLAIM_GLOBS
    exclude: tuple[str, ...] = ()
    exemptions: str = EXEMPTIONS
    source: str = "defaults"

    def digest(self) -> str:
        """Hex digest of what it says, not of where it was read."""
        data = dataclasses.asdict(self) | {"source": ""}
        return plain.digest(plain.decode(plain.encode(data)))


KEYS = tuple(f.name for f in dataclasses.fields(Config) if f.name != "source")


def read_config(tree: Path) -> Config:
    """The configuration in a tree's pyproject.toml; the defaults when it has none.

    Raises UnreadableInput for a file that is not TOML and UsageError for an unknown key.
    """
    path = tree / FILE
    if not path.is_file():
        return Config()
    table = _toml(path.read_bytes(), FILE).get("tool", {}).get("refute")
    return Config() if table is None else from_table(table, FILE)


def read_policy(path: Path, config: Config) -> Config:
    """`config` overridden by a policy file: the same keys, at the top or under [tool.refute]."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UsageError(
            f"the policy file {path} cannot be read: {error.strerror}",
            thing="--policy",
            value=str(path),
            next_step="give a readable TOML file",
        ) from error
    table = _toml(content, str(path))
    inner = table.get("tool", {}).get("refute", table) if type(table.get("tool", {})) is dict else 0
    return from_table(inner, str(path), config)


def from_table(table: Plain, source: str, over: Config | None = None) -> Config:
    """A configuration from a TOML table. Raises UsageError naming what is possible."""
    if type(table) is not dict:
        raise UsageError(f"{source}: [tool.refute] is no table", thing="tool.refute")
    values: dict[str, Plain] = {"source": source}
    for key, value in table.items():
        if key not in KEYS:
            raise UsageError(
                f"{source}: unknown key {key!r} in [tool.refute]",
                thing=f"tool.refute.{key}",
                value=value,
                possible=KEYS,
                next_step="correct or remove the key",
            )
        values[key] = _value(key, value, source)
    return dataclasses.replace(over or Config(), **values)


def _value(key: str, value: Plain, source: str) -> str | tuple[str, ...]:
    if key == "exemptions":
        if type(value) is str and value and not Path(value).is_absolute():
            return value
        wanted = "a path relative to the tree"
    else:
        strings = type(value) is list and all(type(v) is str and v for v in value)
        if strings and not (key == "roots" and any(_leaves(v) for v in value)):
            return tuple(value)
        wanted = "a list of strings" + (" inside the tree" if key == "roots" else "")
    raise UsageError(
        f"{source}: {key} must be {wanted}, got {value!r}",
        thing=f"tool.refute.{key}",
        value=value,
        next_step=f"write {wanted}",
    )


def _leaves(root: str) -> bool:
    return Path(root).is_absolute() or ".." in Path(root).parts


def _toml(content: bytes, source: str) -> dict[str, Plain]:
    try:
        return tomllib.loads(content.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UnreadableInput(
            f"{source} is not TOML: {error}",
            thing=source,
            next_step="repair the file; refute reads [tool.refute] from it",
        ) from error


def read_exemptions(tree: Path, config: Config) -> frozenset[str]:
    """The units that need no claim yet, as `path.py:qualname` lines; `#` starts a comment line."""
    path = tree / config.exemptions
    if not path.is_file():
        return frozenset()
    lines = (
        line.strip() for line in path.read_text(encoding="utf-8", errors="replace").split("\n")
    )
    return frozenset(line for line in lines if line and not line.startswith("#"))


def all_exemptions(tree: Path, config: Config) -> tuple[str, ...]:
    """Every unit of the code in a tree as a line of an exemption list, for `refute init`."""
    found: list[str] = []
    for path in tree_files(tree):
        if path.endswith(".py") and not needs_no_claim(path, config):
            found += [str(unit) for unit in all_units(path, (tree / path).read_bytes())]
    return tuple(found)


def needs_no_claim(path: str, config: Config, read: Collection[str] = ()) -> bool:
    """Whether a file is excluded, or a document, claims module or test that no subject reads.

    read: the files that some subject may read; those are code whatever their name says.
    """
    if matches(path, config.exclude):
        return True
    return path not in read and matches(path, (*DOCUMENT_GLOBS, *TEST_GLOBS, *config.claims))


def render(values: Mapping[str, Plain]) -> str:
    """A `[tool.refute]` table as TOML text. Raises UsageError for an unknown key or value."""
    from_table(dict(values), "the new table")
    lines = ["[tool.refute]"]
    for key, value in values.items():
        text = (
            f'"{value}"' if type(value) is str else "[" + ", ".join(f'"{v}"' for v in value) + "]"
        )
        lines.append(f"{key} = {text}")
    return "\n".join(lines) + "\n"
