"""Windows: which rows, in which order, are right answers of a query, as SQLite itself tells.

The order of rows is fixed by ORDER BY only up to ties, and LIMIT cuts through ties. So SQLite is
asked once more, for all rows without LIMIT, each with its rank under the same ORDER BY (the window
function DENSE_RANK, which takes the same terms with the same collations and places of NULL). Rows
of one rank may come in any order among themselves; ranks may not. Where LIMIT cuts a rank, any of
its rows may be those that are left, but not more of them, and no others.

This is no laxer than SQL: a wrong order of ranks, a row too many at the cut, or a row of another
rank is refused.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence

from sqlglot import exp

from refute.fuzz.sql.text import Node, write
from refute.oracles.sql.sqlite import SQLite
from refute.plain import Plain

ULPS = 16  # sums of up to as many floats as a small table has, added in another order
EVERYTHING = 2**63

Row = Sequence[Plain]
Key = Callable[[Row], Hashable]

_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
_ORDERED_SUMS = (exp.Sum, exp.Avg)
_RANK = "rank of the row"  # a name that no query has


def exact(row: Row) -> Hashable:
    """Equal for rows of the same values and types. The sign of zero is left out.

    SQLite stores -0.0 as 0, so its sign depends on whether a value was ever stored.
    """
    return tuple((type(v).__name__, _plain(v) if type(v) is float else v) for v in row)


def _plain(value: float) -> float | str:
    """Without the sign of zero; NaN, which equals nothing, by its name."""
    return value + 0.0 if value == value else "NaN"


def loose(row: Row) -> Hashable:
    """Equal for rows of values that some comparison takes as equal.

    Those are 1 and 1.0, and texts that NOCASE or RTRIM do not tell apart. Which of several equal
    values stands for all of them after DISTINCT, GROUP BY, UNION, MIN or MAX is open.
    """
    return tuple(v.translate(_LOWER).rstrip(" ") if type(v) is str else v for v in row)


@dataclasses.dataclass(frozen=True)
class Window:
    """The rows of the whole answer in groups of one rank, and the part of them that LIMIT keeps.

    adds: whether the query adds floats, in an order that is open.
    """

    groups: tuple[tuple[Row, ...], ...]
    low: int = 0
    high: int = EVERYTHING
    adds: bool = False

    def accepts(self, rows: Sequence[Row], key: Key = exact) -> bool:
        """Whether these rows, in this order, are a right answer."""
        whole = sum(map(len, self.groups))
        if len(rows) != max(0, min(self.high, whole) - self.low):
            return False
        start = 0
        for group in self.groups:
            low, high = max(start, self.low), min(start + len(group), self.high)
            if low < high and not self._within(rows[low - self.low : high - self.low], group, key):
                return False
            start += len(group)
        return True

    def _within(self, rows: Sequence[Row], group: Sequence[Row], key: Key) -> bool:
        """Whether each row has a partner of its own in the group."""
        left = Counter(map(key, group))
        left.subtract(map(key, rows))
        missing = [row for row in rows if left[key(row)] < 0]
        if not missing:
            return True
        return self.adds and _matched(rows, group)


def _matched(rows: Sequence[Row], group: Sequence[Row]) -> bool:
    """As `Window._within`, with floats that may differ by a few units in the last place."""
    free = list(group)
    for row in rows:
        partner = next((i for i, other in enumerate(free) if _close(row, other)), None)
        if partner is None:
            return False
        del free[partner]
    return True


def _close(left: Row, right: Row) -> bool:
    return len(left) == len(right) and all(map(_close_value, left, right))


def _close_value(left: Plain, right: Plain) -> bool:
    if type(left) is not type(right):
        return False
    if type(left) is not float or not math.isfinite(left + right):
        return bool(left == right)
    return bool(abs(left - right) <= ULPS * math.ulp(max(abs(left), abs(right))))


def window_of(
    database: SQLite,
    query: Node,
    rows: Sequence[Row],
    normal: Callable[[Row], Row] | None = None,
) -> Window:
    """The window of a query, on a database where SQLite answers `rows`.

    normal: the form in which rows are compared; `rows` are in it already. Where the ranks cannot be
    told, or do not fit SQLite's own answer, the window has one rank.
    """
    low, high = _limits(database, query)
    adds = _adds_floats(query)
    for ranked in (_ranked(query), _unranked(query)):
        found = None if ranked is None else _rows(database, ranked[0])
        if ranked is None or found is None:
            continue
        groups = _groups(found, ranked[1])
        if normal is not None:
            groups = tuple(tuple(map(normal, group)) for group in groups)
        window = Window(groups, low, high, adds)
        if window.accepts(rows):
            return window
    return Window((tuple(rows),), adds=adds)


def _adds_floats(query: Node) -> bool:
    totals = (n for n in query.find_all(exp.Anonymous) if n.name.upper() == "TOTAL")
    return query.find(*_ORDERED_SUMS) is not None or next(totals, None) is not None


def _rows(database: SQLite, query: Node) -> list[Row] | None:
    [result] = database.run([write(query)])
    return result[2] if result[0] == "rows" else None


def _groups(rows: Sequence[Row], ranked: bool) -> tuple[tuple[Row, ...], ...]:
    if not ranked:
        return (tuple(rows),)
    parts = itertools.groupby(rows, key=lambda row: row[-1])
    return tuple(tuple(row[:-1] for row in part) for _, part in parts)


def _limits(database: SQLite, query: Node) -> tuple[int, int]:
    """First row and end of what LIMIT and OFFSET keep; a negative limit keeps all."""
    values = []
    for name, default in (("offset", 0), ("limit", -1)):
        clause = query.args.get(name)
        found = None
        if clause is not None:
            found = _rows(database, exp.Select(expressions=[clause.expression.copy()]))
        value = found[0][0] if found else default
        values.append(value if type(value) is int else default)
    low, count = max(0, values[0]), values[1]
    return low, EVERYTHING if count < 0 else low + count


def _unranked(query: Node) -> tuple[Node, bool]:
    tree = query.copy()
    for name in ("limit", "offset", "order"):
        tree.set(name, None)
    return tree, False


def _ranked(query: Node) -> tuple[Node, bool] | None:
    """The query for all rows in order of rank, the rank as its last column; None without ORDER BY.

    A plain SELECT gets the column beside its own; DISTINCT and compound queries are put in a
    subquery, because there a further column would change what is distinct.
    """
    order = query.args.get("order")
    if order is None:
        return None
    tree, _ = _unranked(query)
    plain = isinstance(tree, exp.Select) and not tree.args.get("distinct")
    outputs = _outputs(query)
    terms = []
    for term in order.expressions:
        this = _resolved(term.this, outputs, plain)
        if this is None:
            return None
        terms.append(exp.Ordered(**{**term.args, "this": this}))
    over = exp.Order(expressions=terms)
    rank = exp.alias_(exp.Window(this=exp.Anonymous(this="DENSE_RANK"), order=over), _RANK)
    if plain:
        tree.append("expressions", rank)
    else:
        tree = exp.Select(
            expressions=[exp.Star(), rank],
            from_=exp.From(
                this=exp.Subquery(this=tree, alias=exp.TableAlias(this=_name("ranked")))
            ),
        )
    last = exp.Ordered(this=exp.Column(this=_name(_RANK)), nulls_first=True)
    tree.set("order", exp.Order(expressions=[last]))
    return tree, True


def _outputs(query: Node) -> list[Node]:
    """The result columns, of a compound query those of its first part."""
    while isinstance(query, exp.SetOperation):
        query = query.this
    return list(query.expressions)


def _resolved(term: Node, outputs: Sequence[Node], plain: bool) -> Node | None:
    """A term of ORDER BY without positions and names of result columns; None if it cannot be."""
    if isinstance(term, exp.Collate):
        inner = _resolved(term.this, outputs, plain)
        if inner is None:
            return None
        return exp.Collate(this=exp.Paren(this=inner), expression=term.expression.copy())
    place = None
    if isinstance(term, exp.Literal) and not term.is_string:
        place = int(term.name) - 1 if term.name.isdigit() else None
    elif isinstance(term, exp.Column) and not term.table:
        names = [output.alias_or_name for output in outputs]
        place = names.index(term.name) if term.name in names else None
        if place is None and not plain and any(output.is_star for output in outputs):
            return term.copy()  # a column that the star brings out, by its name
    if place is None:
        return term.copy() if plain else None
    if not 0 <= place < len(outputs) or isinstance(outputs[place], exp.Star):
        return None
    if plain:
        return outputs[place].unalias().copy()
    name = outputs[place].alias_or_name
    return exp.Column(this=_name(name)) if name else None


def _name(name: str) -> Node:
    return exp.Identifier(this=name, quoted=" " in name)
