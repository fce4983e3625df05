"""Entries for the failures that a run has, for a person to review.

What is written excuses nothing: its reason is that nobody has reviewed it. Only records that failed
twice are written, in one entry for each kind of failure, so that one reason can be
given for what belongs together. A list that is there is kept byte for byte, and added to.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from refute.errors import UsageError
from refute.verifiers.sql.conform_file import Failure, FileResult
from refute.verifiers.sql.conform_known import Load, Places
from refute.verifiers.sql.conform_known_file import FORMAT, UNREVIEWED, KnownRecord, read_known
from refute.verifiers.sql.conform_replace import replace_file

WIDEST = 60  # characters of SQL behind a record
_HEAD = f"""\
# Failures that are known. Entries with the reason "{UNREVIEWED}" excuse nothing: write why each is
# accepted, take lines that belong together into one entry, and set `until` where it shall end.
format = "{FORMAT}"
"""
_UNQUOTABLE = re.compile(r'[\x00-\x1f\x7f"\\]')


def write_known(path: str, files: Sequence[FileResult], engine: str, load: Load) -> int:
    """Add the failures that are not listed to the file of known failures; returns how many.

    Raises UsageError.
    """
    base = Path(os.path.realpath(path)).parent
    groups: dict[str, list[str]] = {}
    number = 0
    for file in files:
        for failure, record in _unlisted(file, base, load):
            lines = groups.setdefault(failure.kind, [])
            line = f"    {_quoted(record.text)},  # {_shown(failure.sql)}"
            if line not in lines[-1:]:
                lines.append(line)
                number += 1
    if not number:
        return 0
    before = Path(path).read_bytes() if Path(path).exists() else b""
    if before:
        read_known(path)  # nothing is added to what is no list
    sections = [_section(kind, lines, engine) for kind, lines in groups.items()]
    added = "\n".join(sections).encode()
    head = before if before else _HEAD.encode()
    joint = b"\n" if head.endswith(b"\n") else b"\n\n"
    replace_file(path, head + joint + added)
    return number


def _unlisted(file: FileResult, base: Path, load: Load) -> Iterator[tuple[Failure, KnownRecord]]:
    """Failures that were seen twice and that no entry is for."""
    texts: dict[str, Places] = {}
    relatives: dict[str, str] = {}
    for failure in file.failures:
        if not failure.confirmed or failure.known or failure.listed:
            continue
        path = failure.path or file.path
        try:
            places = texts[path] if path in texts else Places(load(path))
        except OSError as error:
            raise UsageError(
                f"{path} cannot be read again, and a known failure needs its file",
                thing="--write-known",
                value=path,
                next_step="run files that lie on the disk",
            ) from error
        if path not in texts:
            texts[path] = places
            relatives[path] = os.path.relpath(os.path.realpath(path), base).replace(os.sep, "/")
        mark = places.mark(failure.line)
        if mark is not None:
            yield failure, KnownRecord("", relatives[path], *mark, failure.round)


def _section(kind: str, lines: Sequence[str], engine: str) -> str:
    kinds = [f"kind = {_quoted(kind)}"] if kind else []
    return "\n".join(
        [
            "[[known]]",
            f'reason = "{UNREVIEWED}"',
            f"engine = {_quoted(engine)}",
            *kinds,
            "records = [",
            *lines,
            "]\n",
        ]
    )


def _quoted(text: str) -> str:
    """A basic string of TOML."""
    escaped = _UNQUOTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    return f'"{escaped}"'


def _shown(text: str) -> str:
    """Text for a comment: on one line, short, without characters that TOML forbids there."""
    plain = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return plain if len(plain) <= WIDEST else plain[: WIDEST - 1] + "…"
