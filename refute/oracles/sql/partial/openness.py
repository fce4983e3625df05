"""Openness: what of a query's answer SQL leaves to the engine, told from the query alone.

Two ways to ask the same may then be answered differently, and both be right. What is open:

* which of several equal values stands for all of them after GROUP BY, DISTINCT, UNION, INTERSECT,
  EXCEPT, MIN and MAX. It shows only where values can be equal and yet not the same: 1 and 1.0, or
  texts under a collation. Such values are not *firm*;
* the order of additions of floats, of GROUP_CONCAT, of window frames counted in rows among ties;
* which row a subquery's value is taken from, which rows an inner LIMIT keeps, and which row of its
  group a column comes from that is no key.

Whatever is open in a view is open in what asks for it.

*Firm* answers are the same to the last bit. *Shown* ones differ at most in the representatives,
which stand in result columns as they are. In *mixed* ones something open is computed with, and so
anything may come out. What is computed anew by each call makes a query useless: `deterministic`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Literal

from sqlglot import exp

from refute.fuzz.sql.nodes import everything
from refute.fuzz.sql.text import Node
from refute.oracles.sql.partial.columns import Scope
from refute.oracles.sql.partial.trees import (
    aggregates_in,
    bare,
    below,
    grouped,
    is_aggregate,
    items,
    own,
)
from refute.oracles.sql.partial.written import text_of

Degree = Literal["firm", "shown", "mixed"]

_VOLATILE = frozenset(
    {
        *("RANDOM", "RANDOMBLOB", "RAND", "UUID", "GEN_RANDOM_UUID", "NEXTVAL", "SETSEED", "SLEEP"),
        *("CHANGES", "TOTAL_CHANGES", "LAST_INSERT_ROWID", "NOW", "DATE", "TIME", "DATETIME"),
        *("JULIANDAY", "UNIXEPOCH", "STRFTIME", "TIMEDIFF"),
    }
)
_VOLATILE_KINDS = tuple(
    getattr(exp, name)
    for name in (
        *("Rand", "Randn", "CurrentTimestamp", "CurrentDate", "CurrentTime", "CurrentDatetime"),
        *("Uuid", "CurrentUser", "Date", "Time", "Datetime", "TimeToStr", "Placeholder"),
        "TableSample",
    )
    if hasattr(exp, name)
)
_PEERS = frozenset({"RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST"})
_ADDING = (exp.Sum, exp.Avg)
_EXACT = (exp.Count, exp.Length, exp.Predicate, exp.Connector, exp.Not)


@dataclasses.dataclass(frozen=True)
class Openness:
    """adds: whether floats are added in an order that is open, and the sums shown as they are.

    undefined: whether a column is used whose affinity SQLite leaves undefined. shown: whether equal
    values may stand for each other among those that are shown, whatever else is open.
    """

    degree: Degree
    adds: bool = False
    undefined: bool = False
    shown: bool = False


def deterministic(query: Node) -> bool:
    """Whether it calls nothing that may give another value each time."""
    if _LATEST[0] is not query:  # the oracles are asked about the same query one after another
        _LATEST[:] = query, not any(map(_is_volatile, everything(query)))
    return bool(_LATEST[1])


_LATEST: list[object] = [None, False]


def _is_volatile(node: Node) -> bool:
    if isinstance(node, exp.Anonymous):
        return node.name.upper() in _VOLATILE
    return isinstance(node, _VOLATILE_KINDS)


def openness(query: Node, scope: Scope) -> Openness:
    """How much of the answer to a query without ORDER BY and LIMIT is open."""
    found = _Openness(scope)
    found.query(query, top=True)
    mixed = found.mixed or _in_views(query, scope)
    degree: Degree = "mixed" if mixed else "shown" if found.shown else "firm"
    columns = (n for n in everything(query) if isinstance(n, exp.Column))
    return Openness(degree, found.adds, any(map(scope.undefined, columns)), found.shown)


def _in_views(query: Node, scope: Scope) -> bool:
    """Whether something is open in a view that the query asks for, directly or by others."""
    for node in everything(query):
        view = scope.view(node)
        if view is not None:
            inside = _Openness(view[1])
            inside.query(view[0], top=False)
            if inside.mixed or _in_views(*view):
                return True
    return False


class _Openness:
    """Walks through a query once and notes what is open."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.mixed = self.shown = self.adds = False

    def query(self, query: Node, *, top: bool) -> None:
        """A query, and those inside of it."""
        while isinstance(query, exp.Subquery):
            query = query.this
        self._ctes(query)
        if isinstance(query, exp.SetOperation):
            inner = top and not query.args.get("distinct")
            self.query(query.this, top=inner or top)
            self.query(query.expression, top=inner or top)
            if query.args.get("distinct") or not isinstance(query, exp.Union):
                made = self.scope.output(query)
                if made is None or not all(c.form for c in made.columns):
                    self._open(top)
        elif isinstance(query, exp.Select):
            self._select(query, top)
        if not top and (query.args.get("limit") or query.args.get("offset")):
            self.mixed = self.mixed or not self._takes_first(query)

    def _ctes(self, query: Node) -> None:
        clause = query.args.get("with_")
        if clause is None:
            return
        self.mixed = self.mixed or bool(clause.args.get("recursive"))
        for cte in clause.expressions:
            self.query(cte.this, top=False)

    def _open(self, top: bool) -> None:
        if top:
            self.shown = True
        else:
            self.mixed = True

    def _select(self, select: Node, top: bool) -> None:
        outputs = [bare(o.unalias()) for o in select.expressions]
        forms = [self.scope.form(o) for o in outputs]
        if select.args.get("distinct") and not all(forms):
            self._open(top)
        if grouped(select):
            self._grouped(select, outputs, top)
        shown = {id(o) for o in outputs} if top and not select.args.get("distinct") else set()
        for call in _calls(select):
            self._aggregate(call, id(call) in shown)
        for node in own(select):
            if isinstance(node, exp.Window) and not _settled(node):
                self.mixed = True
        for part, parent in _subqueries(select):
            if isinstance(parent, exp.Subquery) or parent is None:
                self.mixed = self.mixed or not self._one_value(part)
            self.query(part, top=False)

    def _grouped(self, select: Node, outputs: list[Node], top: bool) -> None:
        group = select.args.get("group")
        keys = [bare(k) for k in group.expressions] if group is not None else []
        keys = [_placed(k, outputs) for k in keys]
        names = {text_of(k) for k in keys}
        loose = {text_of(k) for k in keys if not self.scope.form(k)}
        having = select.args.get("having")
        for place, part in enumerate([*outputs, *([having.this] if having else [])]):
            whole = place < len(outputs) and text_of(part) in names
            if whole and text_of(part) in loose:
                self._open(top)
            if not whole and any(_uses(part, names, loose)):
                self.mixed = True
        if having is not None and any(
            isinstance(n, exp.In) and n.args.get("query") for n in own(having)
        ):
            self._open(top)  # SQLite converts the group's own value for the comparison

    def _aggregate(self, call: Node, whole: bool) -> None:
        argument = call.this if isinstance(call.this, exp.Expr) else None
        distinct = isinstance(argument, exp.Distinct)
        if distinct and argument is not None:
            argument = argument.expressions[0]
        firm = argument is not None and bool(self.scope.form(argument))
        if isinstance(call, exp.Count):
            return
        if isinstance(call, exp.Min | exp.Max):
            if not firm:
                self._open(whole)
        elif isinstance(call, _ADDING) or call.name.upper() == "TOTAL":
            if call.name.upper() == "TOTAL" and isinstance(call, exp.Anonymous):
                argument = call.expressions[0] if call.expressions else None
                distinct = isinstance(argument, exp.Distinct)
            if distinct and not firm:
                self.mixed = True
            exact = argument is not None and self.scope.exact(argument)
            if exact and not isinstance(call, exp.Avg):
                return
            self.adds = self.adds or whole
            self.mixed = self.mixed or not whole
        else:
            self.mixed = True

    def _one_value(self, query: Node) -> bool:
        """Whether a subquery used as a value has one for certain, or takes the first in order."""
        query = _inner(query)
        if isinstance(query, exp.Select) and not query.args.get("group") and grouped(query):
            return True
        if isinstance(query, exp.Select) and query.args.get("from_") is None:
            return True
        return self._takes_first(query)

    def _takes_first(self, query: Node) -> bool:
        """Whether it takes the first row in the order of its only column."""
        order = query.args.get("order")
        if order is None or not isinstance(query, exp.Select) or len(query.expressions) != 1:
            return False
        first = bare(order.expressions[0].this)
        output = query.expressions[0]
        by = isinstance(first, exp.Literal) and not first.is_string and first.name == "1"
        by = by or (isinstance(first, exp.Column) and first.name == output.alias)
        limit = query.args.get("limit")
        one = limit is None or (
            isinstance(limit.expression, exp.Literal) and limit.expression.name in ("0", "1")
        )
        return by and one and bool(self.scope.form(output.unalias()))


def _inner(query: Node) -> Node:
    while isinstance(query, exp.Subquery):
        query = query.this
    return query


def _placed(key: Node, outputs: list[Node]) -> Node:
    """A key of GROUP BY, which may be the number of a result column."""
    if isinstance(key, exp.Literal) and not key.is_string and key.name.isdigit():
        place = int(key.name) - 1
        if 0 <= place < len(outputs):
            return outputs[place]
    return key


def _calls(select: Node) -> Iterator[Node]:
    """The aggregates of the SELECT, a FILTER around them taken as the call itself."""
    for part in [*select.expressions, select.args.get("having"), select.args.get("order")]:
        if part is not None:
            yield from aggregates_in(part)


def _uses(part: Node, names: set[str], loose: set[str]) -> Iterator[bool]:
    """Whether a value of a group is computed from a key that is open, or from no key at all."""
    stack = [part]
    while stack:
        node = stack.pop()
        if is_aggregate(node) or isinstance(node, exp.Filter):
            continue
        text = text_of(node) if isinstance(node, exp.Column) or names else ""
        if text in loose:
            yield True
        elif text in names:
            continue
        elif isinstance(node, exp.Query):
            stack += _from_outside(node)
        elif isinstance(node, exp.Column | exp.Star):
            yield True
        else:
            stack += list(below(node))


def _from_outside(query: Node) -> list[Node]:
    """The columns in a subquery that come from the query around it."""
    inside = {item.alias_or_name for s in everything(query) for item in _items(s)}
    columns = [n for n in everything(query) if isinstance(n, exp.Column)]
    return [c for c in columns if c.table and c.table not in inside]


def _items(node: Node) -> Iterator[Node]:
    return items(node) if isinstance(node, exp.Select) else iter(())


def _settled(window: Node) -> bool:
    """Whether ties make no difference to a window function."""
    this = window.this
    if isinstance(this, exp.Filter):
        this = this.this
    name = this.name.upper() if isinstance(this, exp.Anonymous) else type(this).__name__.upper()
    if name in _PEERS or name.replace("_", "") in {p.replace("_", "") for p in _PEERS}:
        return True
    if isinstance(this, _ADDING) or not is_aggregate(this):
        return False
    if not isinstance(this, exp.Count):
        return False
    spec = window.args.get("spec")
    kind = "" if spec is None else str(spec.args.get("kind") or "").upper()
    return kind in ("", "RANGE", "GROUPS") and (spec is None or not spec.args.get("exclude"))


def _subqueries(select: Node) -> Iterator[tuple[Node, Node | None]]:
    """The queries directly inside, each with the Subquery it is the value of, or another node."""
    stack = [(n, select) for n in below(select) if not isinstance(n, exp.With)]
    while stack:
        node, parent = stack.pop()
        if isinstance(node, exp.Subquery):
            source = isinstance(parent, exp.From | exp.Join | exp.In | exp.Exists)
            yield node.this, parent if source else node
        elif isinstance(node, exp.Query):
            yield node, parent
        else:
            stack += [(n, node) for n in below(node)]
