"""Options of one command, parsed by typer, with errors in refute's own form.

Typer only parses: the function it is given returns its arguments as a value, and the command runs
after typer has returned. Otherwise typer would catch a command's interrupts and broken pipes and
answer them with exit codes that mean something else here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import typer

from refute.errors import UsageError

Options = TypeVar("Options")

# typer exports only the leaves of its error hierarchy; the third from the leaf is their root
_PARSE_ERROR: type[Exception] = typer.BadParameter.__mro__[2]


def parse(
    options: Callable[..., Options], command: str, argv: Sequence[str], examples: str
) -> Options | int:
    """What `options` returns for these arguments, or an exit code after `--help`.

    The docstring of `options` is the help text; `examples` follow it, line by line.
    Raises UsageError for arguments that do not fit.
    """
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    # \b keeps the lines of the examples as they are
    app.command(name=command, epilog="\b\nexamples:\n" + _indented(examples))(options)
    try:
        parsed: Any = typer.main.get_command(app).main(
            args=list(argv), prog_name=f"refute {command}", standalone_mode=False
        )
    except typer.Abort as error:
        raise KeyboardInterrupt from error
    except _PARSE_ERROR as error:
        message = getattr(error, "format_message", error.__str__)()
        raise UsageError(
            f"refute {command}: {message}",
            thing=f"refute {command}",
            value=" ".join(argv),
            next_step=f"see `refute {command} --help`",
        ) from error
    result: Options | int = parsed
    return result


def _indented(lines: str) -> str:
    return "\n".join(f"  {line}" for line in lines.strip().splitlines())
