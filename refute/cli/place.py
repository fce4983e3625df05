"""Where a file stands: the tree it belongs to, the import roots there, and its module name.

The rule is Python's own and pytest's: a file in a package is imported from the folder that holds
the topmost package, any other file from its own folder. The project's configured roots follow.
"""

from __future__ import annotations

from pathlib import Path

from refute.errors import UnreadableInput, UsageError
from refute.frozen import frozen

LARGEST = 16 * 2**20
_MARKS = (".git", "pyproject.toml", ".refute")


@frozen
class Place:
    """tree: the project's top. file: path in it. module: dotted name. root: where it starts."""

    tree: Path
    file: str
    module: str
    root: str

    def roots(self, configured: tuple[str, ...]) -> tuple[str, ...]:
        """The file's own import root, then the project's."""
        return tuple(dict.fromkeys((self.root, *configured)))


def split_target(target: str) -> tuple[Path, str]:
    """FILE and NAME of `FILE[:NAME]`; a file that exists under the whole text wins."""
    head, colon, tail = target.rpartition(":")
    if not colon or Path(target).exists() or not head:
        return Path(target), ""
    return Path(head), tail


def place_of(path: Path) -> Place:
    """The place of a Python file. Raises UnreadableInput or UsageError, naming what is wrong."""
    file = _readable_python(path)
    tree = marked_project_of(file.parent)
    top = file.parent
    while (top / "__init__.py").is_file() and top != tree:
        top = top.parent
    tree = tree or top  # without a project, a package is still imported from the folder above it
    parts = file.relative_to(top).with_suffix("").parts
    if parts[-1] == "__init__":
        parts = parts[:-1]
    wrong = [part for part in parts if not part.isidentifier()]
    if wrong or not parts:
        raise UsageError(
            f"{path} cannot be imported: {(wrong or ['it'])[0]!r} is not a Python name",
            thing="file",
            value=path,
            next_step="rename it to letters, digits and underscores",
        )
    root = top.relative_to(tree).as_posix()
    return Place(tree, file.relative_to(tree).as_posix(), ".".join(parts), root)


def project_of(folder: Path) -> Path:
    """The nearest folder at or above `folder` that is a project's top; else `folder` itself."""
    return marked_project_of(folder) or folder


def marked_project_of(folder: Path) -> Path | None:
    """The nearest folder at or above `folder` that is marked as a project's top, or None."""
    for candidate in (folder, *folder.parents):
        if any((candidate / mark).exists() for mark in _MARKS):
            return candidate
    return None


def _readable_python(path: Path) -> Path:
    problem = ""
    if not path.exists():
        problem = "does not exist"
    elif not path.is_file():
        problem = "is not a file"
    elif path.suffix != ".py":
        problem = "is not a Python file"
    if problem:
        raise UsageError(
            f"{path} {problem}",
            thing="file",
            value=path,
            next_step="give a file of machines, claims or contracts, as spec.py or spec.py:Name",
        )
    try:
        data = path.read_bytes() if path.stat().st_size <= LARGEST else b"\0"
    except OSError as error:
        raise UnreadableInput(
            f"{path} cannot be read: {error.strerror}", thing="file", value=path
        ) from error
    if b"\0" in data:
        raise UnreadableInput(
            f"{path} is not text",
            thing="file",
            value=path,
            next_step="give a Python file with machines, claims or contracts",
        )
    return path.resolve()
