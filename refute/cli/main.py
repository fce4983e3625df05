"""`refute`: finds the command, runs it, and turns whatever happens into an honest exit code.

The exit code is the verdict of the command: 0 established, 1 refuted, 2 usage or unreadable input,
3 not established. Python itself exits with 1 after an uncaught exception, which would read as
"refuted", so nothing may escape from here: a bug of refute is 3, because it says nothing about a
claim, and an interrupt before anything was known is 130. `refute hook …` maps every failure to 2,
on which an agent's protocol blocks.
"""

from __future__ import annotations

import errno
import importlib
import itertools
import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType
from typing import cast

from refute import __version__
from refute.cli.early import start_early
from refute.cli.printing import HelpShown, discard, print_all
from refute.errors import (
    EXIT_ESTABLISHED,
    EXIT_INTERRUPTED,
    EXIT_NOT_ESTABLISHED,
    EXIT_USAGE,
    RefuteError,
    UsageError,
)
from refute.sandbox.zygote import release

# command → (module that runs it, one line of help); a module is imported when its command runs
COMMANDS: dict[str, tuple[str, str]] = {
    "gate": ("refute.cli.gate", "judge a git change: accepted, refuted or not established"),
    "check": ("refute.cli.check", "check the machines and claims of one file"),
    "prove": ("refute.cli.prove", "prove functions against their contracts, for all inputs"),
    "conform": ("refute.cli.conform", "run sqllogictest files on an SQL engine"),
    "fuzz": ("refute.cli.fuzz", "look for wrong results of an SQL engine"),
    "replay": ("refute.cli.replay", "play a saved counterexample again, or make it a test"),
    "hook": ("refute.cli.hook", "judge the tree when a coding agent wants to stop"),
    "doctor": ("refute.cli.doctor", "what is available here, and what is missing"),
    "init": ("refute.cli.init", "configuration, exemptions and a first claim for a repository"),
}
EARLY = ("check",)  # commands whose workers are prepared while the command is imported
ERROR_SCHEMA = "refute.error/1"
_PATH_ERRORS = frozenset(
    {errno.ENAMETOOLONG, errno.ENOTDIR, errno.ELOOP, errno.EACCES, errno.EPERM, errno.EISDIR}
    | {errno.ENOENT, errno.EROFS}
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code and never raises."""
    _open_standard_streams()
    args = list(sys.argv[1:] if argv is None else argv)
    debug = _take_debug(args)
    hook = args[:1] == ["hook"]
    try:
        _prepare_process()
        code = _dispatch(args)
    except HelpShown:
        code = EXIT_ESTABLISHED
    except BaseException as error:
        code = _explain(_of_a_path(error, args), args, debug)
    release()
    code = _flush(code)
    return EXIT_USAGE if hook and code != EXIT_ESTABLISHED else code


def _take_debug(args: list[str]) -> bool:
    """Whether `--debug` was given, before or after the command; it is taken out of `args`."""
    if "--debug" in args:
        args.remove("--debug")
        return True
    return bool(os.environ.get("REFUTE_DEBUG"))


def _leave_the_tree() -> None:
    """Take the current directory, and PYTHONPATH's entries in it, off the import path.

    A tree that is judged must not lend this process a module: a `hypothesis.py` in it would run
    here. Nothing heavy has been imported yet when this runs.
    """
    try:
        here = Path.cwd()
    except OSError:
        return
    home = Path(__file__).resolve().parents[2]
    named = {"", str(here), *os.environ.get("PYTHONPATH", "").split(os.pathsep)}
    inside = {p for p in named if Path(here, p).resolve().is_relative_to(here.resolve())}
    sys.path[:] = [p for p in sys.path if p not in inside or Path(here, p).resolve() == home]


def _open_standard_streams() -> None:
    """Put the null device where the caller closed a standard stream.

    The next file opened would get its number otherwise, and a message would be written into it.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number is this one
        if getattr(sys, name) is None:
            mode = "w" if number else "r"
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


def _prepare_process() -> None:
    _leave_the_tree()
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:  # a terminal that cannot show a character gets its escape
            reconfigure(errors="backslashreplace")
    signal.signal(signal.SIGTERM, _as_interrupt)


def _as_interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _dispatch(args: list[str]) -> int:
    if not args or args[0] in ("--help", "-h", "help"):
        print_all(_help() + "\n", sys.stdout)
        return EXIT_ESTABLISHED if args else EXIT_USAGE
    if args[0] in ("--version", "-V"):
        print_all(f"refute {__version__}\n", sys.stdout)
        return EXIT_ESTABLISHED
    if args[0] not in COMMANDS:
        raise UsageError(
            f"there is no command {args[0]!r}",
            thing="command",
            value=args[0],
            possible=tuple(COMMANDS),
            next_step="see `refute --help`",
        )
    if args[0] in EARLY:
        start_early(args[1:])
    module = importlib.import_module(COMMANDS[args[0]][0])
    run = cast(Callable[[Sequence[str]], int], module.run)
    return run(args[1:])


def _help() -> str:
    commands = "\n".join(f"  {name:<8} {words}" for name, (_, words) in COMMANDS.items())
    return f"""\
usage: refute COMMAND [OPTIONS]

Nothing lands until every attempt to refute it has failed.

commands:
{commands}

options:
  --version  the version          --help   this page; `refute COMMAND --help` for a command
  --debug    tracebacks of bugs of refute

examples:
  refute gate --base main                        judge the working tree against main
  refute check examples/journalfs/rename_spec.py check a spec, exhaustively within its bounds
  refute replay .refute/witnesses/NAME.json      does the counterexample still break the claim?

exit codes: 0 established, 1 refuted, 2 usage or unreadable input, 3 not established"""


def _of_a_path(error: BaseException, args: Sequence[str]) -> BaseException:
    """What the system says against a path that was given, as an error of usage."""
    if not isinstance(error, OSError) or error.errno not in _PATH_ERRORS:
        return error
    named = str(error.filename)
    if not any(arg == named or arg.endswith(f"={named}") for arg in args):
        return error
    made = UsageError(
        f"{named}: {error.strerror}",
        thing="path",
        value=named,
        next_step="give a path that the system takes",
    )
    return made.with_traceback(error.__traceback__)


def _explain(error: BaseException, args: Sequence[str], debug: bool) -> int:
    """Print what happened, as data too where JSON was asked for; returns the exit code."""
    if debug and not isinstance(error, KeyboardInterrupt):
        sys.__excepthook__(type(error), error, error.__traceback__)
    if isinstance(error, RefuteError):
        if _json_on_stdout(args):
            _say(json.dumps({"schema": ERROR_SCHEMA, **error.to_json()}), sys.stdout.fileno())
        _say(f"refute: {error}")
        return error.exit_code
    if isinstance(error, KeyboardInterrupt):
        _say("refute: interrupted; nothing was established")
        return EXIT_INTERRUPTED
    if isinstance(error, BrokenPipeError):
        return EXIT_NOT_ESTABLISHED
    _say(
        f"refute: a bug of refute, not a verdict: {type(error).__name__}: {error}\n"
        "  next: run again with --debug and report the traceback"
    )
    return EXIT_NOT_ESTABLISHED


def _json_on_stdout(args: Sequence[str]) -> bool:
    pairs = itertools.pairwise(args)
    return "--json=-" in args or ("--json", "-") in pairs


def _say(text: str, descriptor: int = 2) -> None:
    """Write to a descriptor, past buffers that may be closed or broken."""
    data = (text + "\n").encode("utf-8", "backslashreplace")
    try:
        os.write(descriptor, data)
    except OSError:
        return


def _flush(code: int) -> int:
    """Flush the streams; a reader that went away does not change the verdict."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            discard(stream)
        except (OSError, ValueError) as error:
            _say(f"refute: the output could not be written: {error}")
            discard(stream)
            code = code or EXIT_USAGE
    return code


if __name__ == "__main__":
    sys.exit(main())
