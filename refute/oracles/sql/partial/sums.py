"""Sums: aggregates of all rows, and of the same rows in parts, put together.

COUNT and SUM of the whole are the sums of the parts', MIN and MAX the least and greatest of them,
AVG is their sum, weighted by how many values each has. Groups are put together by their keys,
loosely (1 and 1.0 are one, texts regardless of case): groups that an engine rightly keeps apart are
then added up on both sides alike.

Floats are added in any order, so their sums differ by what rounding allows: for n values whose
amounts add up to m, (n + 2) · 4 · 2**-53 · m. Both are asked for beside the sum. Where a text is
the least or greatest, only SQLite's order of texts without collations is known; elsewhere it must
be the least or greatest of some part.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from sqlglot import exp

from refute.fuzz.sql.text import Node
from refute.oracles.sql.partial.bags import Row, Rows, broken, loose
from refute.oracles.sql.partial.columns import Scope
from refute.oracles.sql.partial.question import HELD, Case, Judged
from refute.oracles.sql.partial.tables import PLAIN
from refute.oracles.sql.partial.trees import (
    bare,
    below,
    changed,
    is_aggregate,
    make,
)
from refute.oracles.sql.partial.written import text_of

EPSILON = 2.0**-53
MOST = 4

Number = int | float


@dataclasses.dataclass(frozen=True)
class Call:
    """One aggregate: where its value stands, and of sums the number and the amount beside it."""

    kind: str
    place: int
    ordered: bool = False  # MIN and MAX: whether the order of all values is known


@dataclasses.dataclass(frozen=True)
class Sums:
    """A query for keys and aggregates, and how its parts are put together."""

    query: Node
    keys: int
    calls: tuple[Call, ...]

    def judged(self, case: Case, whole: Rows, parts: Sequence[Rows]) -> Judged:
        """Whether the parts make up the whole."""
        sqlite = case.dialect == "sqlite"
        left, right = self._groups([whole]), self._groups(parts)
        if left.keys() != right.keys():
            return broken("the groups of its partitions", whole, [r for p in parts for r in p])
        for key, rows in left.items():
            for call in self.calls:
                if not _fits(call, rows, right[key], sqlite):
                    told = f"{call.kind} of its partitions"
                    return broken(told, rows, right[key])
        return HELD

    def _groups(self, parts: Sequence[Rows]) -> dict[Hashable, list[Row]]:
        groups: dict[Hashable, list[Row]] = {}
        for rows in parts:
            for row in rows:
                groups.setdefault(loose(row[: self.keys]), []).append(row)
        return groups


def summed(block: Node, scope: Scope) -> Sums | None:
    """The query for the aggregates of a grouped SELECT; None where its keys are not certain."""
    keys = _keys(block)
    if keys is None:
        return None
    calls: list[Call] = []
    outputs = list(keys)
    for node in _calls(block)[:MOST]:
        call = _call(node, scope, len(outputs))
        if call is not None:
            calls.append(call)
            outputs += _wanted(node, call)
    if not calls:
        calls.append(Call("COUNT", len(outputs)))
        outputs.append(make(exp.Count, this=exp.Star(), big_int=True))
    return Sums(
        changed(block, expressions=outputs, distinct=None, having=None), len(keys), tuple(calls)
    )


def _keys(block: Node) -> list[Node] | None:
    group = block.args.get("group")
    if group is None:
        return []
    names = {o.alias for o in block.expressions if o.alias}
    for key in group.expressions:
        plain = bare(key)
        if isinstance(plain, exp.Literal) or (
            isinstance(plain, exp.Column) and not plain.table and plain.name in names
        ):
            return None
    if set(group.args) - {"expressions"} and any(
        value for name, value in group.args.items() if name != "expressions"
    ):
        return None  # ROLLUP and the like
    return list(group.expressions)


def _calls(block: Node) -> list[Node]:
    """The aggregates of the result columns, with their FILTER; each once."""
    found: dict[str, Node] = {}
    stack = list(reversed(block.expressions))
    while stack:
        node = stack.pop()
        inner = node.this if isinstance(node, exp.Filter) else node
        if is_aggregate(inner):
            found.setdefault(text_of(node), node)
        elif not isinstance(node, exp.Window):
            stack += [n for n in below(node) if not isinstance(n, exp.Query)]
    return list(found.values())


def _call(node: Node, scope: Scope, place: int) -> Call | None:
    call = node.this if isinstance(node, exp.Filter) else node
    argument = _argument(call)
    distinct = isinstance(argument, exp.Distinct)
    if isinstance(call, exp.Min | exp.Max):
        of = argument.expressions[0] if distinct and argument is not None else argument
        kind = None if of is None else scope.kind(of)
        ordered = kind is not None and kind[1] in PLAIN
        return Call("MIN" if isinstance(call, exp.Min) else "MAX", place, ordered)
    if distinct or argument is None:
        return None
    if isinstance(call, exp.Count):
        return None if call.expressions else Call("COUNT", place)
    if isinstance(call, exp.Sum):
        return Call("SUM", place)
    if isinstance(call, exp.Avg):
        return Call("AVG", place)
    if isinstance(call, exp.Anonymous) and call.name.upper() == "TOTAL":
        return Call("TOTAL", place)
    return None


def _argument(call: Node) -> Node | None:
    if isinstance(call, exp.Anonymous):
        return call.expressions[0] if len(call.expressions) == 1 else None
    return call.this if isinstance(call.this, exp.Expr) else None


def _wanted(node: Node, call: Call) -> list[Node]:
    """The aggregate, and for sums how many values it adds and the sum of their amounts."""
    if call.kind not in ("SUM", "AVG", "TOTAL"):
        return [node]
    argument = _argument(node.this if isinstance(node, exp.Filter) else node)
    real = make(exp.Cast, this=argument, to=exp.DataType(this=exp.DType.FLOAT))
    extra = [make(exp.Count, this=argument), make(exp.Sum, this=make(exp.Abs, this=real))]
    if isinstance(node, exp.Filter):
        extra = [changed(node, this=e) for e in extra]
    return [node, *extra]


def _fits(call: Call, whole: Sequence[Row], parts: Sequence[Row], sqlite: bool) -> bool:
    left = [row[call.place] for row in whole]
    right = [row[call.place] for row in parts]
    if call.kind == "COUNT":
        return sum(_numbers(left)) == sum(_numbers(right))
    if call.kind in ("MIN", "MAX"):
        return _extreme_fits(call, left, right, sqlite)
    if math.isinf(_allowed(call.place, whole, parts)):
        return True  # infinite values, whose sums may be NULL, or any of great ones
    if call.kind == "AVG":
        return _average_fits(call.place, whole, parts)
    return _sum_fits(call, whole, parts, sqlite)


def _numbers(values: Sequence[Any]) -> list[Number]:
    return [n for v in values if v is not None and (n := _number(v)) is not None]


def _number(value: Any) -> Number | None:
    """A value as a number; decimals and wide integers come as their digits."""
    if type(value) is str:
        try:
            return int(value) if value.lstrip("-").isdigit() else float(value)
        except ValueError:
            return None
    return value if type(value) in (int, float) else None


def _allowed(place: int, whole: Sequence[Row], parts: Sequence[Row]) -> float:
    """By how much sums of floats may differ; infinite where that is not known."""
    counts = _numbers([row[place + 1] for row in (*whole, *parts)])
    amounts = _numbers([row[place + 2] for row in (*whole, *parts)])
    allowed = (sum(counts) + 2) * 4 * EPSILON * sum(map(float, amounts))
    return allowed if math.isfinite(allowed) else math.inf


def _sum_fits(call: Call, whole: Sequence[Row], parts: Sequence[Row], sqlite: bool) -> bool:
    left = [row[call.place] for row in whole if row[call.place] is not None]
    right = [row[call.place] for row in parts if row[call.place] is not None]
    if bool(left) != bool(right):
        return False
    ones, others = _numbers(left), _numbers(right)
    if len(ones) < len(left) or len(others) < len(right):
        return True
    kinds = {type(v) for v in (*ones, *others)}
    if kinds <= {int}:
        return sum(ones) == sum(others)
    if sqlite and (float in map(type, ones)) != (float in map(type, others)):
        return False  # a sum of integers only is an integer
    return abs(_sum(ones) - _sum(others)) <= _allowed(call.place, whole, parts) or _odd(
        (*ones, *others)
    )


def _sum(numbers: Sequence[Number]) -> float:
    return math.fsum(map(float, numbers)) if not _odd(numbers) else 0.0


def _odd(numbers: Sequence[Number]) -> bool:
    """Whether some are infinite or no numbers, so that their sum says nothing."""
    return any(type(n) is float and (not math.isfinite(n) or abs(n) > 1e300) for n in numbers)


def _average_fits(place: int, whole: Sequence[Row], parts: Sequence[Row]) -> bool:
    sums = []
    for rows in (whole, parts):
        pairs = [(row[place], row[place + 1]) for row in rows]
        if any((average is None) != (count == 0) for average, count in pairs):
            return False
        known = [(_number(a), _number(c)) for a, c in pairs if a is not None]
        if any(a is None or c is None or _odd([a]) for a, c in known):
            return True
        sums.append(math.fsum(float(a or 0) * (c or 0) for a, c in known))
    counts = [sum(_numbers([row[place + 1] for row in rows])) for rows in (whole, parts)]
    if counts[0] != counts[1]:
        return False
    return abs(sums[0] - sums[1]) <= _allowed(place, whole, parts) or _odd(sums)


def _extreme_fits(call: Call, left: Sequence[Any], right: Sequence[Any], sqlite: bool) -> bool:
    ones = [v for v in left if v is not None]
    others = [v for v in right if v is not None]
    if bool(ones) != bool(others):
        return False
    if not ones:
        return True
    pick: Callable[..., Any] = min if call.kind == "MIN" else max
    if all(type(v) in (int, float) for v in (*ones, *others)):
        if any(v != v for v in (*ones, *others)):
            return True  # where NaN stands in the order is the engine's choice
        return bool(pick(ones) == pick(others))
    if sqlite and call.ordered:
        return bool(_order(pick(ones, key=_order)) == _order(pick(others, key=_order)))
    return {loose((v,)) for v in ones} <= {loose((v,)) for v in others}


def _order(value: Any) -> tuple[int, Any]:
    """SQLite's order of values: numbers, texts by their bytes, blobs."""
    if type(value) is str:
        return 1, value.encode("utf-8", "surrogateescape")
    return (2, value) if type(value) is bytes else (0, value)
