"""What journalfs claims to be: the contract of fs.py, as statements that can be refuted."""

from __future__ import annotations

from refute import EXHAUSTED, SURVIVED, claim
from refute.specs.crash import CrashConsistent

FS = "journalfs:JournalFS"
PACKAGE = ("journalfs/**",)

for prop in ("behaviour", "atomicity", "durability", "structure", "recovery", "errors", "fsync"):
    claim(
        f"journalfs keeps {prop}",
        CrashConsistent(FS, property=prop, structure="fsck:problems"),
        covers=PACKAGE,
        need=SURVIVED(cases=100),
    )
