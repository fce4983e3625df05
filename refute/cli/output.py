"""Where a run's renderings go: text for people, JSON, SARIF and JUnit to files or stdout.

When one of them is stdout, the text goes to stderr and stdout carries nothing else. Places are
looked at by `places` before the work begins.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Callable, Mapping
from typing import TextIO, cast

from refute.cli.parsing import path_text
from refute.cli.places import check_targets, write_document
from refute.cli.printing import print_all
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
