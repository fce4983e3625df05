"""Nudged: whether the last bits of a sum of floats decide what a query answers.

The order of additions is open, so a sum may be some units larger or smaller. The embedded SQLite is
asked the query with its sums moved that far; where it answers otherwise then, they decide.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from refute.fuzz.sql.text import Node, write
from refute.oracles.sql.sqlite import SQLite
from refute.oracles.sql.windows import ULPS, Row, window_of

_ADDED = (exp.Sum, exp.Avg, exp.Anonymous)


def decided_by_sums(database: SQLite, query: Node, right: Sequence[Row]) -> bool:
    """Whether SQLite answers otherwise when its sums of floats are a little larger or smaller."""
    changed = query.copy()
    sums = [node for node in changed.find_all(*_ADDED) if _adds(node)]
    for node in reversed(sums):
        whole = node.parent if isinstance(node.parent, exp.Filter) else node
        if whole.parent is None or isinstance(whole.parent, exp.Window):
            continue
        nudged = exp.Anonymous(this="refute_nudged")
        whole.replace(nudged)
        nudged.append("expressions", whole)
    window = window_of(database, query, right)
    for direction in (math.inf, -math.inf) if sums else ():
        database.define("refute_nudged", lambda value, to=direction: _nudged(value, to))
        [answer] = database.run([write(changed)])
        if answer[0] != "rows" or not window.accepts(answer[2]):
            return True
    return False


def _adds(node: Node) -> bool:
    return not isinstance(node, exp.Anonymous) or node.name.upper() == "TOTAL"


def _nudged(value: Any, to: float) -> Any:
    """A float some units in the last place further; anything else as it is."""
    for _ in range(ULPS if type(value) is float else 0):
        value = math.nextafter(value, to)
    return value
