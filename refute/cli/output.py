"""Where a run's renderings go: text for people, JSON, SARIF and JUnit to files or stdout.

Targets are looked at before the work begins, so that a wrong path costs no minutes. A file that is
there is replaced only where it begins as an earlier document of the same kind: nothing that anybody
wrote by hand is lost, nor what the run reads or saves. When one of them is stdout, the text goes to
stderr and stdout carries nothing else.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TextIO, cast

from refute.cli.parsing import path_text
from refute.cli.printing import print_all
from refute.errors import UsageError
from refute.frozen import frozen
from refute.record import Run
from refute.report.text import Look, text

Render = Callable[[Run, Mapping[str, str]], str]


# option → what renders the run for it; loaded when used, as most runs are read by people only
RENDERERS = {
    "--json": "refute.report.document:json_text",
    "--sarif": "refute.report.sarif:sarif_text",
    "--junit": "refute.report.junit:junit_text",
}
# option → how a document of it begins, and one of these is in its first LOOKED_AT bytes
BEGINS: dict[str, tuple[bytes, tuple[bytes, ...]]] = {
    "--json": (b"{", (b'"schema": "refute.run/', b'"schema": "refute.conform/')),
    "--sarif": (b"{", (b"sarif-schema-",)),
    "--junit": (b"<", (b"<testsuite",)),
    "--html": (b"<!doctype html>", (b'content="refute conform"',)),
    "--annotations": (b"::", (b"::error ", b"::warning ", b"::notice::")),
    "--itf": (b"{", (b'"description": "by refute ',)),
    "--diagram": (b"sequenceDiagram\n", (b"participant machine as ",)),
}
LOOKED_AT = 4096
SHORT, FULL = "short", "full"
_TRACE = "full: all steps of every counterexample, not the ends of the shortest"


def renderer(option: str) -> Render:
    """The function that renders a run for an option."""
    module, _, name = RENDERERS[option].partition(":")
    return cast(Render, getattr(importlib.import_module(module), name))


@frozen
class Outputs:
    """json, sarif, junit: a path, "-" for stdout, or None. Raises UsageError for a wrong one.

    trace: "full" for text with all steps of every counterexample.
    """

    json: str | None = None
    sarif: str | None = None
    junit: str | None = None
    trace: str = SHORT

    def __post_init__(self) -> None:
        check_targets(self._targets())

    def spare(self, taken: Mapping[str, str]) -> None:
        """Raises UsageError where a document would replace what else the run reads or writes.

        taken: files and directories, and what each is, in words.
        """
        check_targets(self._targets(), taken)

    def _targets(self) -> list[tuple[str, str]]:
        every = (("--json", self.json), ("--sarif", self.sarif), ("--junit", self.junit))
        return [(option, target) for option, target in every if target]

    @property
    def people(self) -> TextIO:
        """The stream for text: stderr when stdout carries a document."""
        taken = "-" in (self.json, self.sarif, self.junit)
        return sys.stderr if taken else sys.stdout

    def write(self, run: Run, files: Mapping[str, str]) -> None:
        """Write every rendering. files: claim digest → saved witness file."""
        for option, target in self._targets():
            write_document(option, target, renderer(option)(run, files))
        look = Look(
            files=files,
            colour=has_colour(self.people),
            whole=self.trace == FULL,
            all_shown="--trace full shows all, refute replay too",
        )
        print_all(text(run, look), self.people)


def add_outputs(parser: argparse.ArgumentParser) -> None:
    """Add --trace, --json, --sarif and --junit."""
    parser.add_argument("--trace", choices=(SHORT, FULL), default=SHORT, help=_TRACE)
    for option, words in (
        ("--json", "write the run as JSON (docs/json.md)"),
        ("--sarif", "write SARIF 2.1.0"),
        ("--junit", "write JUnit XML"),
    ):
        parser.add_argument(option, type=path_text, metavar="FILE|-", help=words)


def has_colour(stream: TextIO) -> bool:
    """Whether colours are welcome: a terminal, no NO_COLOR (https://no-color.org), not dumb."""
    return (
        stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM", "") != "dumb"
    )


def progress_line(stream: TextIO) -> Callable[[str], None]:
    """A function that shows one changing line on a terminal, and nothing elsewhere."""
    if not stream.isatty():
        return lambda _: None

    def show(words: str) -> None:
        stream.write(f"\r\x1b[2K{words[:100]}" if words else "\r\x1b[2K")
        stream.flush()

    return show


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
