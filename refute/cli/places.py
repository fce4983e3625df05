"""Files that documents are written to: what is wrong with them, and writing.

Targets are looked at before the work begins, so that a wrong path costs no minutes. A file that is
there is replaced only where it begins as an earlier document of the same kind: nothing that anybody
wrote by hand is lost, nor what the run reads or saves. Apart from `output`, which knows the runs of
claims, for commands that need none of that.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from refute.cli.printing import print_all
from refute.errors import UsageError

# option → how a document of it begins, and one of these is in its first LOOKED_AT bytes
BEGINS: dict[str, tuple[bytes, tuple[bytes, ...]]] = {
    "--json": (b"{", tuple(b'"schema": "refute.%s/' % k for k in (b"run", b"conform", b"fuzz"))),
    "--sarif": (b"{", (b"sarif-schema-",)),
    "--junit": (b"<", (b"<testsuite",)),
    "--html": (b"<!doctype html>", (b'content="refute conform"',)),
    "--annotations": (b"::", (b"::error ", b"::warning ", b"::notice::")),
    "--itf": (b"{", (b'"description": "by refute ',)),
    "--diagram": (b"sequenceDiagram\n", (b"participant machine as ",)),
}
LOOKED_AT = 4096


def _special(place: str) -> bool:
    """Whether it is there and no file, as /dev/null."""
    return Path(place).exists() and not Path(place).is_file()


def _replaceable(path: Path, option: str) -> bool:
    """Whether a file is empty or begins as an earlier document; also if it cannot be read."""
    first, marks = BEGINS[option]
    try:
        with path.open("rb") as file:
            head = file.read(LOOKED_AT)
    except OSError:
        return True
    return not head or (head.startswith(first) and any(mark in head for mark in marks))


def check_targets(
    targets: Sequence[tuple[str, str]], taken: Mapping[str, str] = MappingProxyType({})
) -> None:
    """Raises UsageError for places that cannot be written, or where something would be lost.

    targets: option and path, or "-" for stdout. taken: files and directories that the run reads or
    writes besides, and what each is, in words.
    """
    others = {os.path.realpath(path): what for path, what in taken.items()}
    places: list[str] = []
    for option, target in targets:
        place = target if target == "-" else os.path.realpath(target)
        what = "" if target == "-" else _lost(place, others)
        if what:
            raise UsageError(
                f"{option} {target} would overwrite {what}",
                thing=option,
                value=target,
                next_step="give another path",
            )
        check_target(option, target)
        if place in places:
            raise UsageError(
                f"{'stdout' if place == '-' else place} can carry one document only",
                thing="output",
                value=place,
                next_step=f"give {' and '.join(o for o, _ in targets)} a file each",
            )
        if place == "-" or not _special(place):
            places.append(place)


def _lost(place: str, others: Mapping[str, str]) -> str:
    """What of the others a document at this place would replace, or lie in; "" for nothing."""
    inside = [place, *map(str, Path(place).parents)]
    return next((others[path] for path in inside if path in others), "")


def check_target(option: str, target: str) -> None:
    """Raises UsageError for a place that cannot be written, or holds something else."""
    if target == "-":
        return
    path = Path(target)
    problem = ""
    if path.is_dir():
        problem = "is a directory"
    elif not path.parent.is_dir():
        problem = "lies in a directory that does not exist"
    elif path.exists() and not os.access(path, os.W_OK):
        problem = "cannot be written"
    elif path.is_file() and not _replaceable(path, option):
        problem = "is a file with other content, which would be lost"
    if problem:
        raise UsageError(
            f"{option} {target}: the path {problem}",
            thing=option,
            value=target,
            next_step="give a path that can be written, or - for stdout",
        )


def check_made(option: str, target: str, *, folder: bool) -> None:
    """Raises UsageError where a file, or a folder of files, that a run may make cannot be made.

    folder: missing directories above it are made, too; a file needs the one that it lies in.
    """
    path = Path(target)
    above = path if folder else path.parent
    while folder and not os.path.lexists(above):
        above = above.parent
    problem = ""
    if not folder and path.is_dir():
        problem = f"{path} is a directory"
    elif not above.is_dir():
        problem = f"{above} is no directory"
    elif not os.access(above, os.W_OK | os.X_OK):
        problem = f"{above} cannot be written"
    if problem:
        raise UsageError(
            f"{option} {target}: {problem}",
            thing=option,
            value=target,
            next_step=f"give a {'directory' if folder else 'file'} that can be made there",
        )


def write_document(option: str, target: str, words: str) -> None:
    """Write what an option asked for to its file, or "-" for stdout. Raises UsageError."""
    if target == "-":
        print_all(words, sys.stdout)
        return
    try:
        Path(target).write_text(words, encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"{option} {target}: {error.strerror}",
            thing=option,
            value=target,
            next_step="give a path that can be written, or - for stdout",
        ) from error
