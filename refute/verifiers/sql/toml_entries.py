"""Lists that people keep as TOML: one array of tables, read strictly, every error with its line.

TOML's own reader tells lines of its own errors only, and a reviewed list is mended in an editor.
So where entries and keys stand is looked for in the text.
"""

from __future__ import annotations

import datetime
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from refute.errors import UnreadableInput

LARGEST = 64 * 2**20  # bytes

_AT_LINE = re.compile(r"\(at line (\d+), column \d+\)|\(at end of document\)")


class TomlList:
    """One file. key: of the array; form: what `format` says, if it is there; step: how to mend it.

    Raises UnreadableInput with file and line.
    """

    def __init__(self, path: str, key: str, form: str, step: str, absent: str) -> None:
        self.path = path
        self._key, self._form, self._step = key, form, step
        text = _text(path, absent, self)
        self.lines = text.split("\n")
        self.entries = self._entries(text)

    def wrong(self, line: int, problem: str, step: str = "", *possible: str) -> UnreadableInput:
        """The error for what stands at a line."""
        return UnreadableInput(
            f"{self.path}:{line}: {problem}",
            thing=f"{self.path}:{line}",
            value=problem,
            possible=possible,
            next_step=step or self._step,
        )

    def _entries(self, text: str) -> list[TomlEntry]:
        try:
            data = tomllib.loads(text.replace("\r\n", "\n"))
        except tomllib.TOMLDecodeError as error:
            place = _AT_LINE.search(str(error))
            line = int(place[1]) if place and place[1] else len(self.lines)
            what = _AT_LINE.sub("", str(error)).strip()
            raise self.wrong(line, f"no TOML: {what}") from error
        given = data.get(self._key, [])
        header = f"[[{self._key}]]"
        unknown = [key for key in data if key not in (self._key, "format")]
        if unknown:
            raise self.wrong(1, f"unknown key {unknown[0]!r}", "", "format", header)
        if data.get("format", self._form) != self._form:
            raise self.wrong(1, f"format {data['format']!r}", "", self._form)
        if not (isinstance(given, list) and all(isinstance(e, dict) for e in given)):
            raise self.wrong(1, f"`{self._key}` is no table", "", header)
        starts = self._starts(len(given))
        ends = [*starts, len(self.lines) + 1][1:]
        made = zip(given, starts, ends, strict=True)
        return [TomlEntry(self, entry, start, end) for entry, start, end in made]

    def _starts(self, number: int) -> list[int]:
        """The line of each entry's header; 1 where that cannot be told."""
        header = re.compile(rf"\s*\[\[\s*{self._key}\s*\]\]")
        found = [n for n, text in enumerate(self.lines, 1) if header.match(text)]
        return found if len(found) == number else [1] * number


class TomlEntry:
    """One table. given: its keys. start, end: the lines from its header to before the next one."""

    def __init__(self, file: TomlList, given: dict[str, Any], start: int, end: int) -> None:
        self._file = file
        self.given = given
        self.start, self.end = start, end
        self.where = f"{file.path}:{start}"

    def line_of(self, key: str) -> int:
        """The line where a key is set, or that of the entry."""
        wanted = re.compile(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=")
        lines = self._file.lines
        return next(
            (n for n in range(self.start, self.end) if wanted.match(lines[n - 1])), self.start
        )

    def wrong(self, key: str, problem: str, step: str = "", *possible: str) -> UnreadableInput:
        """The error for a key; "" for the whole entry."""
        return self._file.wrong(self.line_of(key) if key else self.start, problem, step, *possible)

    def refuse_others(self, keys: Sequence[str]) -> None:
        """Raise UnreadableInput for a key that is none of these."""
        for key in self.given:
            if key not in keys:
                raise self.wrong(key, f"unknown key {key!r}", "", *keys)

    def needed(self, key: str, problem: str, step: str) -> str:
        """A text that must be there and say something."""
        value = self.given.get(key, "")
        if not (isinstance(value, str) and value.strip()):
            raise self.wrong(key, problem, step)
        return value.strip()

    def text(self, key: str) -> str:
        """A text on one line; "" where there is none."""
        value = self.given.get(key, "")
        if not isinstance(value, str) or "\n" in value or (key in self.given and not value.strip()):
            raise self.wrong(key, f"{key} = {value!r} is no text on one line")
        return value.strip()

    def texts(self, key: str) -> tuple[str, ...]:
        """A text or a list of texts."""
        value = self.given.get(key, [])
        texts = [value] if isinstance(value, str) else value
        if not isinstance(texts, list) or not all(isinstance(t, str) and t for t in texts):
            raise self.wrong(key, f"{key} = {value!r} is no text, nor a list of texts")
        return tuple(texts)

    def pattern(self, key: str, flags: re.RegexFlag = re.DOTALL) -> re.Pattern[str] | None:
        """A regular expression, if there is one."""
        value = self.given.get(key)
        if value is None:
            return None
        if not isinstance(value, str):
            raise self.wrong(key, f"{key} = {value!r} is no text")
        try:
            return re.compile(value, flags)
        except re.error as error:
            raise self.wrong(key, f"{key}: no regular expression: {error}") from error

    def day(self, key: str) -> datetime.date | None:
        """A date, if there is one."""
        value = self.given.get(key)
        if value is not None and type(value) is not datetime.date:
            raise self.wrong(key, f"{key} = {value!r} is no date", "", "2027-01-31")
        return value


def _text(path: str, absent: str, file: TomlList) -> str:
    try:
        with Path(path).open("rb") as opened:
            return opened.read(LARGEST).decode()
    except (OSError, ValueError) as error:
        if isinstance(error, UnicodeDecodeError):
            line = error.object.count(b"\n", 0, error.start) + 1
            raise file.wrong(line, "this is not UTF-8 text", "convert the file") from error
        raise UnreadableInput(
            f"{path} cannot be read: {getattr(error, 'strerror', '') or error}",
            thing="--known",
            value=path,
            next_step=absent,
        ) from error
