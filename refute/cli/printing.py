"""Printing that does not disturb the verdict: readers may go away, disks may be full."""

from __future__ import annotations

import os
from typing import TextIO

from refute.errors import UsageError


class HelpShown(Exception):
    """The command's help was asked for and printed; there is nothing else to do."""


def print_all(words: str, stream: TextIO) -> None:
    """Print and flush `words`. A reader that went away is no error: the exit code says it all.

    Raises UsageError when the stream cannot be written for another reason.
    """
    try:
        stream.write(words)
        stream.flush()
    except BrokenPipeError:
        discard(stream)
    except OSError as error:
        discard(stream)
        raise UsageError(
            f"the output could not be written: {error.strerror}",
            thing="output",
            next_step="make room, or write to another place",
        ) from error


def discard(stream: TextIO) -> None:
    """Send what is still in the stream's buffer, and all that follows, nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
