"""Entries for the findings of a run, for a person to review.

What is written suppresses nothing: its reason is that nobody has reviewed it. A file that is there
is kept byte for byte, and added to.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from refute.verifiers.sql.conform_known_file import UNREVIEWED
from refute.verifiers.sql.conform_replace import replace_file
from refute.verifiers.sql.fuzz_known import FORMAT, KnownFile, read_known_bugs
from refute.verifiers.sql.fuzz_plan import Finding

LONGEST = 160  # characters of a statement in a comment
_HEAD = f"""\
# Bugs that are known. Entries with the reason "{UNREVIEWED}" suppress nothing: write in its place
# why each is known, and a link to where it was reported. docs/fuzz.md describes the file.
format = "{FORMAT}"
"""
_UNQUOTABLE = re.compile(r'[\x00-\x1f\x7f"\\]')


def write_known_bugs(path: str, findings: Iterable[Finding], engine: str) -> int:
    """Add entries for findings that the file has none for; returns how many.

    engine: its name. Raises UsageError, and UnreadableInput for a file that is something else.
    """
    place = Path(path)
    before = place.read_bytes() if place.exists() else b""
    entries = read_known_bugs(path) if before else ()
    listed = KnownFile(path, entries, (engine,))
    new: dict[str, Finding] = {}
    for finding in findings:
        if not (finding.known or listed.lists(finding)):
            new.setdefault(f"{finding.oracle} {finding.cause}", finding)
    if new:
        head = before or _HEAD.encode()
        joint = b"\n" if head.endswith(b"\n") else b"\n\n"
        sections = "\n".join(_section(finding, engine) for finding in new.values())
        replace_file(path, head + joint + sections.encode())
    return len(new)


def _section(finding: Finding, engine: str) -> str:
    keys = {
        "reason": UNREVIEWED,
        "engine": engine,
        "oracle": finding.oracle,
        "kind": finding.kind.partition(":")[0],
        "cause": finding.cause,
    }
    lines = [f"{key} = {quoted(value)}" for key, value in keys.items()]
    told = (f"expected {finding.expected}", f"observed {finding.observed}")
    comments = [f"# {_shown(text)}" for text in (*_statements(finding), *told)]
    return "\n".join(["[[bug]]", *comments, *lines]) + "\n"


def _statements(finding: Finding) -> Sequence[str]:
    return [f"{sql};" for sql in (*finding.setup, finding.query)]


def quoted(text: str) -> str:
    """A basic string of TOML."""
    escaped = _UNQUOTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    return f'"{escaped}"'


def _shown(text: str) -> str:
    """Text for a comment: on one line, without characters that TOML forbids there."""
    plain = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return plain if len(plain) <= LONGEST else plain[: LONGEST - 1] + "…"
