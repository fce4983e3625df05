"""Options of one command, with errors in refute's own form.

argparse and not typer: measured, typer 0.29 (which loads pydantic to parse) takes 0.15 to 0.2 s
before a command begins, argparse 0.01 s, and a gate on an unaffected change has 0.5 s for all.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from typing import NoReturn, TextIO

from refute.cli.printing import HelpShown, print_all
from refute.errors import UsageError


class Parser(argparse.ArgumentParser):
    """The arguments of `refute COMMAND`. about: what it does; examples: one command a line."""

    def __init__(self, command: str, about: str, examples: str) -> None:
        lines = "\n".join(f"  {line}" for line in examples.strip().splitlines())
        super().__init__(
            prog=f"refute {command}",
            description=about,
            epilog=f"examples:\n{lines}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,  # an option that is added later must not change what one means
        )

    def read(self, argv: Sequence[str]) -> argparse.Namespace:
        """The parsed arguments. Raises UsageError, or HelpShown after `--help`."""
        return self.parse_args(list(argv))

    def error(self, message: str) -> NoReturn:
        """Raise UsageError with what the command takes."""
        raise UsageError(
            f"{self.prog}: {message}",
            thing=self.prog,
            value=message,
            possible=tuple(
                option
                for action in self._actions
                for option in action.option_strings
                if option.startswith("--")
            ),
            next_step=f"see `{self.prog} --help`",
        )

    def print_help(self, file: TextIO | None = None) -> None:  # type: ignore[override]
        """Print the help text."""
        print_all(self.format_help(), file or sys.stdout)

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        """Called by argparse after `--help`, and nowhere else."""
        raise HelpShown


def whole_number(text: str) -> int:
    """An int option, at most 18 digits. Raises ArgumentTypeError, which argparse reports."""
    if not re.fullmatch(r"-?[0-9]{1,18}", text):
        what = (
            "has more than 18 digits" if re.fullmatch(r"-?[0-9]+", text) else "is no whole number"
        )
        raise argparse.ArgumentTypeError(f"{text[:40]!r} {what}")
    return int(text)


def count(text: str) -> int:
    """An int option of at least one. Raises ArgumentTypeError, which argparse reports."""
    number = whole_number(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return number


def natural(text: str) -> int:
    """An int option of at least zero. Raises ArgumentTypeError, which argparse reports."""
    number = whole_number(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text} is less than 0")
    return number


def path_text(text: str) -> str:
    """The name of a file or directory, not empty, as an unset variable of a shell would be."""
    if not text:
        raise argparse.ArgumentTypeError("the path is empty")
    return text
