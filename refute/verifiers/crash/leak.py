"""Subjects that carry something from one mount to the next: which earlier image makes a difference.

An image gave one result in a process that had recovered many others, and another result in a
process with another history. One of the earlier images is looked for that alone is enough.
"""

from __future__ import annotations

import dataclasses

from refute.verifiers.crash.cases import Case
from refute.verifiers.crash.explore import Explorer, Found
from refute.verifiers.crash.replayer import CrashReplayer

CANDIDATES = 24


def with_first(found: Found, explorer: Explorer, replayer: CrashReplayer) -> Found | None:
    """The case together with an earlier one that changes its result; None when none does."""
    order = [f for f in explorer.recovery.order if f in explorer.origin]
    tried = [*order[:CANDIDATES], *order[-CANDIDATES:]]
    for fingerprint in dict.fromkeys(tried):
        story, crash = explorer.origin[fingerprint]
        run = story.run
        first = Case("recovery", run.base.operations, run.operations, run.fault, crash)
        case = dataclasses.replace(found.case, first=first)
        if case.first != found.case and replayer.play_case(case).broke:
            return dataclasses.replace(found, case=case)
    return None
