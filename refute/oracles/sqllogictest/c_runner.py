"""The C runner of sqllogictest, step by step, for its own verdict and no other.

`reader` refuses what looks like a mistake. This does with every file what SQLite's C program does
in `-verify` mode, traps included: it compares only as many values as both sides have, takes the
last line of a query without `----` for what is expected, hashes what is longer than the threshold
and nothing else, cuts labels at 20 bytes for queries that run and at 23 for those that are skipped,
and stops at a record that it does not know. The names here are those of that program's messages.

Two things it does with memory that holds nothing are not the same each time there: a threshold
below zero compares with whatever hash was the last, here with none in the beginning.
"""

from __future__ import annotations

import hashlib
import re
from typing import NamedTuple

from refute.oracles.sql.sqlite_c import CSQLite
from refute.oracles.sqllogictest.render import whole

_SPACE = b" \t\n\v\f\r"
_LONGEST = 199  # bytes of a token
_LABEL, _KEY = 20, 23  # bytes of a label, in a query that runs and in the table
_BUCKETS = 1009
_HASHING = re.compile(
    rb"[ \t-\r]*[+-]?[0-9]+[ \t-\r]*values[ \t-\r]*hashing[ \t-\r]*to[ \t-\r]*([^ \t-\r]{1,32})"
)
_NUMBER = re.compile(rb"[ \t-\r]*([+-]?[0-9]+)")


class Complaint(NamedTuple):
    """One of its errors. line: that it prints; 0 for the disconnection. kind: as of a Mismatch."""

    line: int
    message: str
    kind: str
    sql: str = ""
    expected: str = ""
    got: str = ""


class CRunner:
    """One run of one file. run, skipped, complaints: what it counts, and its errors.

    by_release: lines of queries with numbers that later releases of SQLite show otherwise.
    """

    def __init__(self, data: bytes, database: CSQLite) -> None:
        self._lines = _Lines(data)
        self._database = database
        self._threshold = 8
        self._hash = b""
        self._results: dict[tuple[int, bytes], bytes] = {}
        self.run = self.skipped = 0
        self.complaints: list[Complaint] = []
        self.by_release: list[int] = []
        self._going = True

    def step(self) -> bool:
        """Do one record; whether there may be more. The connection is closed at the end."""
        lines = self._lines
        if self._going and lines.find_record():
            words = lines.words()
            skips = False
            while words[0] in (b"skipif", b"onlyif"):
                same = words[1].lower() == b"sqlite"
                skips = skips or same == (words[0] == b"skipif")
                lines.next()
                words = lines.words()
            if skips:
                self._skip(words)
            else:
                self._do(words)
            return True
        if not self.close():
            self._complain(0, "disconnection from database failed", "error")
        return False

    def close(self) -> bool:
        """Whether the database could be closed; the end of a run that is stopped."""
        return self._database.close()

    def _do(self, words: list[bytes]) -> None:
        match words[0]:
            case b"statement":
                self._statement(words)
            case b"query":
                self._query(words)
            case b"hash-threshold":
                self._threshold = _as_int(words[1])
            case b"halt":
                self._going = False
            case other:
                self._complain(self._lines.start, f"unknown record type: '{_text(other)}'", "error")
                self._going = False

    def _skip(self, words: list[bytes]) -> None:
        lines = self._lines
        self.skipped += 1
        if words[0] != b"query" or not words[3]:
            return
        while not lines.blank_follows() and lines.next() and lines.text != b"----":
            pass
        if lines.text == b"----":
            lines.next()
        if not lines.text:
            return
        match = _HASHING.match(lines.text)
        if match:
            self._hash = match[1]
        else:
            values = [lines.text]
            while not lines.blank_follows() and lines.next():
                values.append(lines.text)
            self._hash = _digest(values)
        self._check_label(words[3], self._hash)

    def _statement(self, words: list[bytes]) -> None:
        lines = self._lines
        start, sql = lines.start, []
        while lines.next() and lines.text:
            sql.append(lines.whole)
        text = b"\n".join(sql)
        ran = self._database.statement(_c_string(text))
        self.run += 1
        shown = _text(text)
        if words[1] not in (b"ok", b"error"):
            message = "statement argument should be 'ok' or 'error'"
            self._complain(start, message, "error", shown)
        elif ran != (words[1] == b"ok"):
            wanted, got = ("an error", "no error") if ran else ("no error", "an error")
            kind = "no error" if ran else "hang" if self._database.slow else "error"
            self._complain(start, "statement error", kind, shown, wanted, got)

    def _query(self, words: list[bytes]) -> None:
        lines = self._lines
        types, start = words[1], lines.start
        odd = next((chr(c) for c in types if c not in b"TIR"), "")
        if odd:
            self._complain(start, f"unknown type character '{odd}' in type string", "error")
            return
        if not types:
            self._complain(start, "missing type string", "error")
            self._going = False
            return
        sql = []
        while not lines.blank_follows() and lines.next() and lines.text and lines.text != b"----":
            sql.append(lines.whole)
        text = b"\n".join(sql)
        lines.overwrite(text)
        values = self._database.query(_c_string(text), types)
        self.run += 1
        if isinstance(values, str):
            kind = "hang" if self._database.slow else "error"
            self._complain(start, "query failed", kind, _text(text), "a result", values)
            return
        if self._database.other:
            self.by_release.append(start)
        self._judge(words, values, _text(text))

    def _judge(self, words: list[bytes], values: list[bytes], sql: str) -> None:
        lines = self._lines
        values = self._sorted(words[2], len(words[1]), values)
        if words[3] or 0 < self._threshold < len(values):
            digest = _digest(values)
            self._hash = b"%d values hashing to %s" % (len(values), digest)
            self._check_label(words[3][:_LABEL], digest)
        if lines.text == b"----":
            lines.next()
        if self._threshold == 0 or len(values) <= self._threshold:
            for value in values:
                if not lines.text:
                    break
                if lines.text != value:
                    self._wrong("wrong result", sql, value)
                    break
                lines.next()
        elif lines.text != self._hash:
            self._wrong("wrong result hash", sql, self._hash)

    def _wrong(self, message: str, sql: str, got: bytes) -> None:
        expected = _text(self._lines.text) or "nothing"
        self._complain(self._lines.number, message, "values", sql, expected, _text(got))

    def _sorted(self, sort: bytes, columns: int, values: list[bytes]) -> list[bytes]:
        match sort:
            case b"" | b"nosort":
                return values
            case b"valuesort":
                return sorted(values)
            case b"rowsort":
                rows = zip(*[iter(values)] * columns, strict=True)
                return [value for row in sorted(rows) for value in row]
        message = f"unknown sort method: '{_text(sort)}'"
        self._complain(self._lines.start, message, "error")
        return values

    def _check_label(self, label: bytes, digest: bytes) -> None:
        """Its table is of hashes by the bucket of 24 bytes of a label, and compares 23."""
        if not label:
            return
        bucket = 0
        for byte in label[: _KEY + 1]:
            signed = byte - 256 if byte > 127 else byte
            bucket = (bucket << 3 ^ bucket ^ signed) & 0xFFFFFFFF
        place = bucket % _BUCKETS
        known = self._results.get((place, label))
        if known is None:
            self._results[place, label[:_KEY]] = digest[:32]
        elif known != digest:
            message = f"labeled result [{_text(label)}] does not agree with previous values"
            self._complain(self._lines.start, message, "label", "", _text(known), _text(digest))

    def _complain(
        self, line: int, message: str, kind: str, sql: str = "", expected: str = "", got: str = ""
    ) -> None:
        self.complaints.append(Complaint(line, message, kind, sql, expected, got))


class _Lines:
    """The file's lines as it reads them: without comments, as C strings, of spaces only as none.

    text: the current line up to a zero byte; empty at the end. whole: with what is behind that.
    number: of the line. start: line of the last `words`.
    """

    def __init__(self, data: bytes) -> None:
        self._raw = data.split(b"\n")
        self._ended = not self._raw[-1]
        if self._ended:
            self._raw.pop()
        self._at = -1
        self._offset = self._behind = 0  # where the line begins and the next one does
        self.text = self.whole = b""
        self.number = self.start = 0

    def next(self) -> bool:
        """Go to the next line that is no comment; whether there is one."""
        while self._at + 1 < len(self._raw):
            self._at += 1
            self.number = self._at + 1
            line = self._raw[self._at]
            self._offset = self._behind
            self._behind += len(line) + 1
            if line.endswith(b"\r"):
                line = line[:-1]
            self.whole = line
            self.text = _c_string(line) if line.strip(_SPACE) else b""
            if not self.text.startswith(b"#"):
                return True
        self._at = len(self._raw)
        self.text = self.whole = b""
        return False

    def blank_follows(self) -> bool:
        """Whether the next line, a comment or not, is of spaces only; true at the end."""
        after = self._at + 1
        if after >= len(self._raw):
            return True
        if self._raw[after].strip(_SPACE):
            return False
        return self._ended or after + 1 < len(self._raw)

    def overwrite(self, sql: bytes) -> None:
        """A query's SQL is gathered at the start of its copy of the file, over what was read.

        Early in a file that reaches into the last line, which is compared if there is no `----`.
        """
        if self._offset <= len(sql):
            self.text = _c_string(sql[self._offset :])

    def find_record(self) -> bool:
        """Go behind the record in work, to the first line of the next one; whether there is one."""
        if self._at > 0:
            while self.text:
                self.next()
        else:  # the first line of a file is taken for nothing that has to be left
            self.next()
        while not self.text and self._at < len(self._raw):
            self.next()
        return self._at < len(self._raw)

    def words(self) -> list[bytes]:
        """Up to four words of the line, each of 199 bytes at most; what is cut off is the next."""
        self.start = self.number
        line = self.whole if self.text or self.whole.startswith(b"\0") else b""
        found: list[bytes] = []
        at = 0
        while at < len(line) and len(found) < 4:
            rest = _c_string(line[at:])
            word = rest.lstrip(_SPACE)
            at += len(rest) - len(word)
            word = re.split(rb"[ \t-\r]", word, maxsplit=1)[0][:_LONGEST]
            found.append(word)
            at += len(word) + 1
        return [*found, *[b""] * (4 - len(found))]


def _c_string(text: bytes) -> bytes:
    return text.partition(b"\0")[0]


def _as_int(text: bytes) -> int:
    """As `atoi` of a C library with 64-bit `long`."""
    match = _NUMBER.match(text)
    number = max(-(2**63), min(2**63 - 1, whole(match[1]))) if match else 0
    return (number + 2**31) % 2**32 - 2**31


def _digest(values: list[bytes]) -> bytes:
    text = b"".join(value + b"\n" for value in values)
    return hashlib.md5(text, usedforsecurity=False).hexdigest().encode()


def _text(text: bytes) -> str:
    return text.decode("utf-8", "backslashreplace")
