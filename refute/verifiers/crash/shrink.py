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

MAX_ATTEMPTS = 100
MAX_CPU_S = 6.0


def shrink(found: Found, again: Callable[[], Explorer], spent: Callable[[], float]) -> Found:
    """The smallest case for the property that was met.

    again: an empty search for the property alone. spent: CPU seconds so far; after MAX_CPU_S more,
    or MAX_ATTEMPTS sequences, the smallest case until then stands.
    """
    if found.minimal or found.case.prior is not None:
        return found
    left = _Patience(spent)
    best = found
    if found.case.setup:
        flat = _search(found, (*found.case.setup, *found.case.operations), again)
        if flat is None:
            return found
        best = flat
    while not left.over:
        for candidate in smaller(best.case.operations):
            less = None if left.over else _search(found, candidate, again)
            if less is not None:
                best = less
                break
        else:
            break
    return best


class _Patience:
    """How much longer to try."""

    def __init__(self, spent: Callable[[], float]) -> None:
        self._spent = spent
        self._until = spent() + MAX_CPU_S
        self._attempts = 0

    @property
    def over(self) -> bool:
        self._attempts += 1
        return self._attempts > MAX_ATTEMPTS or self._spent() > self._until


def _search(found: Found, operations: Operations, again: Callable[[], Explorer]) -> Found | None:
    """A case of the same kind and property with these operations from the empty system."""
    explorer = again()
    with contextlib.suppress(Stop):
        one(explorer, operations, found.case.fault is not None, found.case.again is not None)
    return explorer.found.get(found.case.property)
