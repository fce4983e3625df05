"""Window functions: ranks, neighbours, and aggregates over a frame of rows.

Their values are fixed by SQL only as far as the order of rows is. So those that count rows, look
at neighbours or at the ends of a frame get an ORDER BY of all columns in scope, after which rows
that still tie look alike; the others take equal rows together, as RANK and frames of RANGE do.
Sums are of integer columns only: a float that has left a sliding frame leaves its rounding behind.
"""

from __future__ import annotations

from sqlglot import exp

from refute.fuzz.sql.grammar import Key, Production, Writer, column, number, row_leaf, some_literal
from refute.fuzz.sql.nodes import make, put
from refute.fuzz.sql.text import Node

RANKS: tuple[type[Node], ...] = (exp.Rank, exp.DenseRank, exp.PercentRank, exp.CumeDist)
LONGEST = 6  # columns in an ORDER BY of all
EXCLUDED = ("NO OTHERS", "CURRENT ROW", "GROUP", "TIES")


def window(writer: Writer, family: str, depth: int) -> Node:
    """A call of a window function."""
    found = writer.columns("any")
    if not writer.windowed or writer.leaf is not row_leaf or not found:
        return writer.leaf(writer, family)
    writer.windowed = False  # none inside of another
    try:
        ordered = len(found) <= LONGEST and writer.chance(0.5)
        if ordered or not writer.has("aggregate"):
            call, framed = _of_order(writer, family)
        else:
            call, framed = _of_peers(writer, family)
        return _over(writer, call, framed=framed, all_columns=ordered)
    finally:
        writer.windowed = True


def _of_order(writer: Writer, family: str) -> tuple[Node, bool]:
    """A function that depends on the order of single rows, and whether a frame matters to it."""
    if family == "number" and writer.chance(0.5):
        if writer.chance(0.3):
            return make(exp.Ntile, this=number(writer.choice((1, 2, 3)))), False
        return make(exp.RowNumber), False
    value = _column(writer, family)
    share = writer.random()
    if share < 0.4:
        kind = exp.Lag if share < 0.2 else exp.Lead
        offset = number(writer.choice((0, 1, 2))) if writer.chance(0.5) else None
        default = (
            some_literal(writer, family) if offset is not None and writer.chance(0.5) else None
        )
        return make(kind, this=value, offset=offset, default=default), False
    if share < 0.8:
        return (exp.FirstValue if share < 0.6 else exp.LastValue)(this=value), True
    return make(exp.NthValue, this=value, offset=number(writer.choice((1, 2, 3)))), True


def _of_peers(writer: Writer, family: str) -> tuple[Node, bool]:
    """A function for which equal rows are one."""
    if family == "number" and writer.chance(0.4):
        return make(writer.choice(RANKS)), False
    whole = [(s, c) for s, c in writer.columns("number") if c.type.startswith("INT")]
    if family == "number" and whole and writer.chance(0.5):
        kind = writer.choice((exp.Sum, exp.Avg))
        return _filtered(writer, make(kind, this=column(*writer.choice(whole)))), True
    if family in ("number", "any") and writer.chance(0.4):
        if writer.chance(0.5):
            return _filtered(writer, make(exp.Count, this=make(exp.Star), big_int=True)), True
        return _filtered(writer, make(exp.Count, this=_column(writer, "any"))), True
    kind = writer.choice((exp.Min, exp.Max))
    return _filtered(writer, make(kind, this=_column(writer, family))), True


def _filtered(writer: Writer, call: Node) -> Node:
    if writer.turns_to("filter", 0.1):
        return make(exp.Filter, this=call, expression=make(exp.Where, this=writer.condition(0)))
    return call


def _column(writer: Writer, family: str) -> Node:
    found = writer.columns(family) or writer.columns("any")
    return column(*writer.choice(found))


def _over(writer: Writer, call: Node, *, framed: bool, all_columns: bool) -> Node:
    """The call with its window, which at times has a name."""
    parts = _parts(writer, framed=framed, all_columns=all_columns)
    if writer.turns_to("named-window", 0.15):
        word = make(exp.Identifier, this=writer.alias(), quoted=False)
        writer.named_windows.append(make(exp.Window, this=word, **parts))
        return exp.Window(
            this=call, alias=make(exp.Identifier, this=word.name, quoted=False), over="OVER"
        )
    return make(exp.Window, this=call, over="OVER", **parts)


def _parts(writer: Writer, *, framed: bool, all_columns: bool) -> dict[str, object]:
    found = writer.columns("any")
    parts: dict[str, object] = {}
    if writer.chance(0.5):
        keys = writer.rng.sample(found, min(len(found), writer.choice((1, 1, 2))))
        parts["partition_by"] = [column(*key) for key in keys]
    order: list[Key] = []
    if all_columns:
        order = writer.rng.sample(found, len(found))
    elif writer.chance(0.75):
        order = writer.rng.sample(found, min(len(found), writer.choice((1, 1, 2))))
    if order:
        parts["order"] = make(exp.Order, expressions=[_ordered(writer, key) for key in order])
    if framed and writer.turns_to("window-frame", 0.5):
        parts["spec"] = _frame(writer, order, rows=all_columns)
    return parts


def _ordered(writer: Writer, key: Key) -> Node:
    desc = writer.chance(0.35)
    changed = writer.turns_to("nulls-order", 0.08)
    first = desc if changed else not desc
    return make(exp.Ordered, this=column(*key), desc=desc or None, nulls_first=first)


def _frame(writer: Writer, order: list[Key], *, rows: bool) -> Node:
    """The frame. rows: whether single rows may be counted, because their order is fixed."""
    several = bool(order) and writer.has("window-exclude")  # GROUPS came with EXCLUDE
    kinds = ["RANGE"] * 2 + ["ROWS"] * 4 * rows + ["GROUPS"] * several
    kind = writer.choice(kinds)
    numeric = len(order) == 1 and order[0][1].type in ("INTEGER", "REAL")
    offsets = kind != "RANGE" or numeric
    start, start_side, place = _bound(writer, offsets, 0)
    end, end_side, _ = _bound(writer, offsets, place)
    spec = make(
        exp.WindowSpec, kind=kind, start=start, start_side=start_side, end=end, end_side=end_side
    )
    if writer.turns_to("window-exclude", 0.25):
        put(spec, "exclude", make(exp.Var, this=writer.choice(EXCLUDED)))
    return spec


def _bound(writer: Writer, offsets: bool, least: int) -> tuple[Node | str, str | None, int]:
    """A bound, its side, and its place: the end may not stand before the start.

    least: the place of the start, 0 where this is the start: 1 to 5 are UNBOUNDED PRECEDING,
    n PRECEDING, CURRENT ROW, n FOLLOWING, UNBOUNDED FOLLOWING.
    """
    places = [1, 1, 2, 3, 3, 4] if not least else [p for p in (2, 3, 3, 4, 5, 5) if p >= least]
    if not offsets:
        places = [p for p in places if p not in (2, 4)] or [5]
    place = writer.choice(places)
    if place in (1, 5):
        return "UNBOUNDED", "PRECEDING" if place == 1 else "FOLLOWING", place
    if place == 3:
        return "CURRENT ROW", None, place
    return number(writer.choice((0, 1, 1, 2))), "PRECEDING" if place == 2 else "FOLLOWING", place


PRODUCTIONS = (Production("window", 1.1, ("number", "text", "any"), window),)
