"""Smaller cases: fewer operations and less data that break the same property.

A smaller sequence has other writes, so the crash point is not kept but searched again, over all
levels that the first case needed, the cheapest first.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from refute.fuzz.operations import Operations, smaller
from refute.verifiers.crash.explore import Explorer, Found, Stop
from refute.verifiers.crash.stages import one

MAX_ATTEMPTS = 60


def shrink(found: Found, again: Callable[[], Explorer], attempts: int = MAX_ATTEMPTS) -> Found:
    """The smallest case for the property that was met. again: an empty search for it alone."""
    best = found
    if found.minimal or found.case.prior is not None:
        return found
    whole = (*found.case.setup, *found.case.operations)
    if found.case.setup:
        attempts -= 1
        flat = _search(found, whole, again)
        if flat is None:
            return found
        best = flat
    improved = True
    while improved and attempts > 0:
        improved = False
        for candidate in smaller(best.case.operations):
            attempts -= 1
            less = _search(found, candidate, again)
            if less is not None:
                best, improved = less, True
                break
            if attempts <= 0:
                break
    return best


def _search(found: Found, operations: Operations, again: Callable[[], Explorer]) -> Found | None:
    """A case of the same kind and property with these operations from the empty system."""
    explorer = again()
    with contextlib.suppress(Stop):
        one(explorer, operations, found.case.fault is not None, found.case.again is not None)
    return explorer.found.get(found.case.property)
