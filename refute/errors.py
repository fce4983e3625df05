"""Errors that name the thing, the value, what was possible and the next step.

Every error a user can cause carries those four as data too, so that a command line, a JSON report
and an agent's hook print the same facts. All of them map to exit code 2: a command that could not
read its input says nothing about any claim.
"""

from __future__ import annotations

from collections.abc import Iterable

EXIT_ESTABLISHED = 0
EXIT_REFUTED = 1
EXIT_USAGE = 2
EXIT_NOT_ESTABLISHED = 3
EXIT_INTERRUPTED = 130  # as shells say it: 128 and the number of SIGINT


class RefuteError(Exception):
    """What went wrong, and what to do next.

    message: one sentence. thing: what it is about (a claim, an option, a file). value: the value
    that was given. possible: what would have been accepted. next_step: what to do now.
    """

    exit_code = EXIT_USAGE

    def __init__(
        self,
        message: str,
        *,
        thing: str = "",
        value: object = None,
        possible: Iterable[str] = (),
        next_step: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.thing = thing
        self.value = value
        self.possible = tuple(possible)
        self.next_step = next_step

    def __str__(self) -> str:
        parts = [self.message]
        if self.possible:
            parts.append("possible: " + ", ".join(self.possible))
        if self.next_step:
            parts.append("next: " + self.next_step)
        return "\n  ".join(parts)

    def to_json(self) -> dict[str, object]:
        """The error as plain data, for `--json`."""
        return {
            "error": type(self).__name__,
            "message": self.message,
            "thing": self.thing,
            "value": None if self.value is None else str(self.value),
            "possible": list(self.possible),
            "next": self.next_step,
        }


class UsageError(RefuteError):
    """An option, a name or a file that the user gave does not fit."""


class UnreadableInput(RefuteError):
    """A file that was given cannot be read as what it should be."""


class IllegalClaim(RefuteError):
    """A claim, need or statement that means nothing."""


class IllegalEvidence(RefuteError, ValueError):
    """Evidence that would say more than was done."""


class NotPlainData(RefuteError, TypeError):
    """A value that may not cross a process boundary."""


class Unsupported(RefuteError):
    """A construct that an engine or the machine language does not take, with file:line."""


class LedgerError(RefuteError):
    """The ledger is corrupt, foreign or unreadable; it is never overwritten."""


class SandboxError(RefuteError):
    """A worker could not be started."""


class GitError(RefuteError):
    """A revision or repository that cannot be read."""
