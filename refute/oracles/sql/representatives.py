"""Representatives: where one of several equal values is shown, and which values those are.

1 and 1.0 are equal, and so are texts under a collation. Which of them stands for all of them after
DISTINCT, UNION, INTERSECT, EXCEPT, GROUP BY, MIN and MAX is open; it must be one that was there.
"""

from __future__ import annotations

from sqlglot import exp

from refute.fuzz.sql.text import Node, write


def with_duplicates(query: Node) -> Node | None:
    """All rows from which a query keeps one of each; None when it does not do that."""
    if not isinstance(query, exp.SetOperation) and not query.args.get("distinct"):
        return None
    whole = query.copy()
    stack = [whole]
    while stack:
        part = stack.pop()
        for name in ("order", "limit", "offset"):
            part.set(name, None)
        if isinstance(part, exp.SetOperation):
            stack += [part.this, part.expression]
        else:
            part.set("distinct", None)
    return _all_of(whole)


def _all_of(part: Node) -> Node:
    """The parts of a compound query under UNION ALL."""
    if not isinstance(part, exp.SetOperation):
        return part
    left, right = _all_of(part.this), _all_of(part.expression)
    return exp.Union(this=left, expression=right, distinct=False)


def shown(query: Node) -> tuple[Node, tuple[int, ...]] | None:
    """Where a SELECT shows keys of its groups, least or greatest values, and all there are.

    A query whose columns are the values to choose from, and the places of the result columns that
    they are chosen for; None where there are none.
    """
    if not isinstance(query, exp.Select):
        return None
    group = query.args.get("group")
    keys = {write(key) for key in group.expressions} if group is not None else set()
    places, values = [], []
    for place, output in enumerate(query.expressions):
        value = _chosen(output, keys, str(place + 1))
        if value is not None:
            places.append(place)
            values.append(value.copy())
    if not places:
        return None
    whole = query.copy()
    for name in ("group", "having", "order", "limit", "offset", "distinct", "windows"):
        whole.set(name, None)
    whole.set("expressions", values)
    return whole, tuple(places)


def _chosen(output: Node, keys: set[str], number: str) -> Node | None:
    """What a result column is one value of, for its group; None where it is not chosen at all."""
    value = output.unalias()
    if write(value) in keys or number in keys or (output.alias and output.alias in keys):
        return value
    if isinstance(value, exp.Filter):
        value = value.this
    if not isinstance(value, exp.Min | exp.Max) or value.expressions:
        return None
    argument: Node = value.this
    if isinstance(argument, exp.Distinct):
        argument = argument.expressions[0]
    return argument
