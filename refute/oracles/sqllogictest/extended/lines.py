"""The lines of an extended file, as its readers go through them.

A record of these dialects ends at an empty line; a line of white space does not end it.
"""

from __future__ import annotations

import re

from refute.errors import UnreadableInput
from refute.oracles.sqllogictest.extended.program import Place
from refute.oracles.sqllogictest.reader import decoded
from refute.oracles.sqllogictest.render import whole

RULE = "----"
_DURATION = re.compile(r"(\d+)\s*([A-Za-z]+)")
_UNITS = {
    1e-9: "ns nsec nanos nanosecond nanoseconds",
    1e-6: "us usec micros microsecond microseconds",
    1e-3: "ms msec millis millisecond milliseconds",
    1.0: "s sec secs second seconds",
    60.0: "m min mins minute minutes",
    3600.0: "h hr hrs hour hours",
    86400.0: "d day days",
}
_SECONDS = {name: seconds for seconds, names in _UNITS.items() for name in names.split()}


def text_of(data: bytes, path: str) -> str:
    """The file's text with `\\n` line ends. Raises UnreadableInput for what is no UTF-8 text."""
    return decoded(data, path).replace("\r\n", "\n")


def seconds_of(text: str) -> float | None:
    """A duration such as `500ms` or `1m30s` in seconds; None when it is none."""
    found = _DURATION.findall(text)
    if not found or _DURATION.sub("", text).strip():
        return None
    if any(unit not in _SECONDS for _, unit in found):
        return None
    return sum(whole(number) * _SECONDS[unit] for number, unit in found)


class Lines:
    """Goes through a file line by line.

    at: the index of the next line. began: the number of the first line of what was read last by
    `body`, `results` or `message`.
    """

    def __init__(self, text: str, path: str) -> None:
        self.path = path
        self.at = self.began = 0
        self.lines = text.split("\n")
        self._ended = self.lines[-1] == ""
        if self._ended:
            self.lines.pop()  # behind the last line end there is no line

    @property
    def over(self) -> bool:
        """Whether no line is left."""
        return self.at >= len(self.lines)

    @property
    def cut(self) -> bool:
        """Whether no line is left, and the last one has no line end."""
        return self.over and not self._ended

    def next(self) -> str:
        """The next line."""
        self.at += 1
        return self.lines[self.at - 1]

    def peek(self) -> str:
        """The next line, which stays the next; empty at the end."""
        return "" if self.over else self.lines[self.at]

    def place(self) -> Place:
        """Of the line that was read last."""
        return Place(self.path, self.at)

    def error(
        self, problem: str, *possible: str, line: int = 0, next_step: str = ""
    ) -> UnreadableInput:
        """The error for a line, by default for the one that was read last."""
        where = f"{self.path}:{line or self.at}"
        return UnreadableInput(
            f"{where}: {problem}",
            thing=where,
            value=problem,
            possible=possible,
            next_step=next_step or "mend the line; docs/conform.md describes the format",
        )

    def body(self) -> tuple[list[str], bool]:
        """The lines up to an empty one, or a line `----`, and whether it was that.

        One empty line may stand before them, as sqllogictest-rs has it.
        """
        if self.peek() == "" and not self.over:
            self.at += 1
        self.began = self.at + 1
        found: list[str] = []
        while not self.over:
            line = self.next()
            if line == "":
                break
            if line == RULE:
                return found, True
            found.append(line)
        return found, False

    def results(self) -> list[str]:
        """The lines up to an empty one."""
        self.began = self.at + 1
        found: list[str] = []
        while not self.over and (line := self.next()) != "":
            found.append(line)
        return found

    def message(self) -> list[str]:
        """The lines up to two empty ones, or the end."""
        self.began = self.at + 1
        found: list[str] = []
        while not self.over:
            line = self.next()
            if line == "" and self.peek() == "":
                if not self.over:
                    self.at += 1
                break
            found.append(line)
        return found
