"""Subjects that carry something from one mount to the next: which earlier image makes a difference.

An image gave one result in a process that had recovered many others, and another result in a
process with another history. One of the earlier images is looked for that alone is enough.
"""

from __future__ import annotations

import dataclasses

from refute.verifiers.crash.explore import Explorer, Found
from refute.verifiers.crash.recording import case_of
from refute.verifiers.crash.recovery import Delta
from refute.verifiers.crash.replayer import CrashReplayer
from refute.verifiers.crash.states import image

CANDIDATES = 64


def with_first(found: Found, explorer: Explorer, replayer: CrashReplayer) -> Found | None:
    """The case together with an earlier one that changes its result; None when none does."""
    base = found.run.base
    then = _image(explorer, found)
    order = [
        fingerprint
        for fingerprint in explorer.recovery.order
        if fingerprint in explorer.origin
        and explorer.origin[fingerprint][0].run.base.name == base.name
    ]
    for fingerprint in dict.fromkeys([*order[:CANDIDATES], *order[-CANDIDATES:]]):
        story, crash = explorer.origin[fingerprint]
        first = image(base.blocks, story.run.events, crash)
        if explorer.recovery.matters(base, first, then):
            earlier = case_of(story.run, "recovery", crash)
            case = dataclasses.replace(found.case, first=earlier)
            if replayer.play_case(case).broke:
                return dataclasses.replace(found, case=case)
    return None


def _image(explorer: Explorer, found: Found) -> Delta:
    crash = found.case.crash
    assert crash is not None, "only crashes are recovered twice"
    return image(found.run.base.blocks, found.run.events, crash)
