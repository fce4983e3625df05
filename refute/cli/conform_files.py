"""Which sqllogictest files a command line names: each once, in order, links and loops or not."""

from __future__ import annotations

import argparse
import dataclasses
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from refute.errors import UsageError
from refute.globs import matches
from refute.verifiers.sql.conform_chosen import Chosen, merged_lines, pattern_of
from refute.verifiers.sql.conform_shard import Shard, parted, shard_of
from refute.verifiers.sql.conform_task import STDIN, size_of

ENDINGS = (".test", ".slt")
_LINES = re.compile(r"(?P<path>.+?):(?P<low>[0-9]{1,9})(?:-(?P<high>[0-9]{1,9}))?:?")


@dataclasses.dataclass
class Selection:
    """Files to run, in order. chosen: by path, which of its records are checked, if not all.

    everywhere: which are in every file. left_out: what filters left out, in words. shard: which of
    the shards these files are.
    """

    paths: list[str]
    chosen: dict[str, Chosen] = dataclasses.field(default_factory=dict)
    left_out: list[str] = dataclasses.field(default_factory=list)
    shard: Shard | None = None
    everywhere: Chosen = Chosen()

    @property
    def results_name(self) -> str:
        """What results are kept as in a directory that others may share."""
        if self.shard is None:
            return "results"
        return f"shard-{self.shard.number}-of-{self.shard.of}"

    def leave_out(self, number: int, of: int, why: str) -> None:
        """Note that files were left out."""
        if number:
            self.left_out.append(f"{number:,} of {of:,} files ({why})")


def collect(targets: Sequence[str]) -> list[str]:
    """The files to run, without those that are there twice. Raises UsageError.

    A file that is named is taken whatever its name ends in; in directories those of ENDINGS are,
    sorted, links followed.
    """
    found: dict[str, str] = {}
    for target in targets:
        for path in _files_of(target):
            found.setdefault(path if path == STDIN else os.path.realpath(path), path)
    return list(found.values())


def selected(given: argparse.Namespace) -> Selection:
    """The files and records that a command line selects. Raises UsageError.

    given: `files`, and the options of the group "selection".
    """
    targets = [_with_lines(text) for text in given.files]
    paths = collect([path for path, _ in targets])
    lines: dict[str, list[tuple[int, int]] | None] = {}  # by real path; None: all records
    for path, pair in targets:
        real = os.path.realpath(path)
        kept = lines.setdefault(real, [])
        lines[real] = None if pair is None or kept is None else [*kept, pair]
    top = _common([path for path, _ in targets])
    files = [(path, _name(path, top)) for path in paths]
    found = Selection([])
    for option, globs, wanted in (("--only", given.only, True), ("--skip", given.skip, False)):
        if globs:
            left = [f for f in files if any(_fits(f, glob) for glob in globs) == wanted]
            found.leave_out(len(files) - len(left), len(files), f"{option} {' '.join(globs)}")
            files = left
    if given.shard:
        sizes = [(name, size_of(path)) for path, name in files]
        places, found.shard = parted(shard_of(given.shard), sizes)
        found.leave_out(len(files) - len(places), len(files), f"shard {found.shard}")
        files = [files[i] for i in places]
    everywhere, pattern = _records_of(given.record)
    tags = tuple(given.tag), tuple(given.no_tag)
    found.everywhere = Chosen(merged_lines(everywhere), pattern, *tags)
    for path, _ in files:
        found.paths.append(path)
        own = lines.get(os.path.realpath(path)) or []
        chosen = Chosen(merged_lines(own + everywhere), pattern, *tags)
        if chosen != Chosen():
            found.chosen[path] = chosen
    return found


def _with_lines(text: str) -> tuple[str, tuple[int, int] | None]:
    """The path and the lines of `PATH`, `PATH:LINE` or `PATH:FIRST-LAST`."""
    match = None if os.path.lexists(text) else _LINES.fullmatch(text)
    if match is None or not os.path.lexists(match["path"]):
        return text, None
    if Path(match["path"]).is_dir():
        raise _no_lines(text, "file", "PATH:")
    return match["path"], _lines_of(text, "file", "PATH:", match["low"], match["high"])


def _records_of(text: str) -> tuple[list[tuple[int, int]], str]:
    """The lines or the pattern of --record."""
    match = re.fullmatch(r"([0-9]{1,9})(?:-([0-9]{1,9}))?", text)
    if match is None:
        return [], pattern_of(text)
    return [_lines_of(text, "--record", "", match[1], match[2])], ""


def _lines_of(text: str, thing: str, before: str, low: str, high: str | None) -> tuple[int, int]:
    """The first line and the last one. Raises UsageError where there are none between them."""
    first, last = int(low), int(high or low)
    if not 0 < first <= last:
        raise _no_lines(text, thing, before)
    return first, last


def _no_lines(text: str, thing: str, before: str) -> UsageError:
    return UsageError(
        f"{text} names no lines of a file",
        thing=thing,
        value=text,
        possible=(f"{before}LINE", f"{before}FIRST-LAST"),
        next_step="give a file, and lines that are counted from 1",
    )


def _common(targets: Sequence[str]) -> str:
    """The nearest directory above all that is named."""
    places = [Path(_absolute(target)) for target in targets if target != STDIN]
    tops = [place if place.is_dir() else place.parent for place in places]
    return os.path.commonpath(tops) if tops else ""


def _absolute(path: str) -> str:
    """The path from the root, links not followed."""
    return os.path.normpath(Path(path).absolute())


def _name(path: str, top: str) -> str:
    """The file's name in that directory, which does not tell where the directory is."""
    return path if path == STDIN else os.path.relpath(_absolute(path), top)


def _fits(file: tuple[str, str], glob: str) -> bool:
    path, name = file
    last = name if "/" in glob else Path(name).name
    return any(matches(text.removeprefix("./"), [glob]) for text in (path, name, last))


def _files_of(target: str) -> list[str]:
    if target == STDIN:
        return [STDIN]
    if not os.path.lexists(target):
        raise UsageError(
            f"{target} does not exist",
            thing="file",
            value=target,
            next_step="name sqllogictest files, or directories that hold some",
        )
    if not Path(target).is_dir():
        return [target]
    files = sorted(_walk(target, set()))
    if not files:
        raise UsageError(
            f"{target} holds no {' or '.join('*' + e for e in ENDINGS)} file",
            thing="directory",
            value=target,
            next_step="name the files themselves if theirs have other names",
        )
    return files


def _walk(directory: str, seen: set[str]) -> Iterator[str]:
    """Test files below the directory; a directory that is reached again is not entered again."""
    real = os.path.realpath(directory)
    if real in seen:
        return
    seen.add(real)
    try:
        entries = sorted(os.scandir(directory), key=lambda entry: entry.name)
    except OSError as error:
        raise UsageError(
            f"{directory} cannot be read: {error.strerror}", thing="directory", value=directory
        ) from error
    for entry in entries:
        if Path(entry.path).is_dir():  # False where links go in a circle
            yield from _walk(entry.path, seen)
        elif entry.name.endswith(ENDINGS):
            yield entry.path
