"""The `refute` program: what surrounds the command line in a process of its own.

An interrupt while modules are read, or after the verdict, finds nothing that could be told: it ends
the process with one line, where Python would show a traceback of whatever was being imported. And
once everything is written the process ends at once: taking an interpreter apart that has read all
of a command costs more than some commands have for their answer.

It imports little itself: what is imported before `main` runs is where Python shows its traceback.
"""

from __future__ import annotations

import atexit
import importlib
import os
import signal
import sys

from refute.errors import EXIT_INTERRUPTED, EXIT_USAGE

TYPE_CHECKING = False  # as in `refute`
if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn

SAID = b"refute: interrupted\n"


def main() -> NoReturn:
    """Run the command line, and end the process with its exit code."""
    answering = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    try:
        if answering:  # else whoever started this process wants it to go on
            signal.signal(signal.SIGINT, _leave)
        command_line = importlib.import_module("refute.cli.main")
        if answering:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        code = command_line.main()
        if answering:
            signal.signal(signal.SIGINT, _leave)
        _end(code)
    except KeyboardInterrupt:
        _leave()


def _leave(_number: int = signal.SIGINT, _frame: FrameType | None = None) -> NoReturn:
    """End the process at once; its workers end when they see that it is gone."""
    try:
        os.write(2, SAID)
    finally:  # also where standard error is closed
        os._exit(EXIT_USAGE if sys.argv[1:2] == ["hook"] else EXIT_INTERRUPTED)


def _end(code: int) -> NoReturn:
    if len(sys._current_frames()) > 1:  # threads, after an interrupt: they put things in order
        sys.exit(code)
    atexit._run_exitfuncs()
    os._exit(code)


if __name__ == "__main__":
    main()
