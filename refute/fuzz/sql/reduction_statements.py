"""Simpler forms of the statements that make and change a database, each by one step.

A step leaves out one thing that the statement may do without: a constraint, the WHERE of an index,
a column of a view, what is done on a conflict. Steps inside of expressions are those of any query,
see `refute.fuzz.sql.reduction`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator

from sqlglot import exp

from refute.fuzz.sql.definitions import ALTERNATIVE, Trigger
from refute.fuzz.sql.text import Node, write

Edit = Callable[[Node], None]


def plainer(tree: Node) -> Iterator[str]:
    """Texts of the statement with one thing less."""
    for copy in _plainer(tree):
        yield write(copy)


def _plainer(tree: Node) -> Iterator[Node]:
    if isinstance(tree, exp.Create):
        kind = tree.args.get("kind")
        yield from {"INDEX": _index, "VIEW": _view}.get(str(kind), _table)(tree)
    elif isinstance(tree, Trigger):
        yield from _trigger(tree)
    elif isinstance(tree, exp.Insert | exp.Update | exp.Delete):
        yield from _change(tree)


def _edited(tree: Node, edit: Edit) -> Node:
    copy = tree.copy()
    edit(copy)
    return copy


def _without(tree: Node, key: str) -> Iterator[Node]:
    """The statement without one of its parts, where it has that."""
    if tree.args.get(key):
        yield _edited(tree, lambda copy: copy.set(key, None))


def _index(tree: Node) -> Iterator[Node]:
    yield from _without(tree, "unique")
    params = tree.this.args["params"]
    if params.args.get("where") is not None:
        yield _edited(tree, lambda copy: copy.this.args["params"].set("where", None))
    terms = params.args.get("columns") or []
    for place, term in enumerate(terms):
        if len(terms) > 1:
            yield _edited(tree, _dropping(place))
        if isinstance(term.this, exp.Collate):
            yield _edited(tree, _term(place, lambda of: of.set("this", of.this.this)))
        if term.args.get("desc"):
            yield _edited(tree, _term(place, _ascending))
        if not isinstance(term.this, exp.Column | exp.Literal):
            yield _edited(tree, _term(place, _constant))


def _dropping(place: int) -> Edit:
    def edit(copy: Node) -> None:
        params = copy.this.args["params"]
        columns = list(params.args["columns"])
        del columns[place]
        params.set("columns", columns)

    return edit


def _term(place: int, change: Edit) -> Edit:
    return lambda copy: change(copy.this.args["params"].args["columns"][place])


def _constant(ordered: Node) -> None:
    ordered.set("this", exp.Literal(this="1", is_string=False))


def _ascending(ordered: Node) -> None:
    ordered.set("desc", None)
    ordered.set("nulls_first", True)


def _view(tree: Node) -> Iterator[Node]:
    """A view with a column less, or without names of its own for its columns."""
    first = tree.expression.find(exp.Select)
    if first is None:
        return
    width = len(first.expressions)
    for place in range(width if width > 1 else 0):
        yield _edited(tree, functools.partial(_narrow, place=place))
    if isinstance(tree.this, exp.Schema):
        yield _edited(tree, lambda copy: copy.set("this", copy.this.this))


def _narrow(view: Node, place: int) -> None:
    if isinstance(view.this, exp.Schema) and place < len(view.this.expressions):
        _drop_one(view.this, place)
    stack = [view.expression]
    while stack:
        part = stack.pop()
        if isinstance(part, exp.SetOperation):
            stack += [part.this, part.expression]
        elif isinstance(part, exp.Select) and 1 < len(part.expressions) > place:
            _drop_one(part, place)


def _drop_of_this(node: Node, place: int) -> None:
    _drop_one(node.this, place)


def _put(node: Node, place: int, other: Node) -> None:
    node.expressions[place].replace(other.copy())


def _drop_one(node: Node, place: int) -> None:
    items = list(node.expressions)
    del items[place]
    node.set("expressions", items)


def _table(tree: Node) -> Iterator[Node]:
    """A table without one of its properties, constraints, or parts of a key."""
    properties = tree.args.get("properties")
    if properties is not None and properties.find(exp.VirtualProperty) is None:
        yield _edited(tree, lambda copy: copy.set("properties", None))
    if not isinstance(tree.this, exp.Schema):
        return
    for place, part in enumerate(tree.this.expressions):
        if isinstance(part, exp.ColumnDef | exp.Identifier):
            continue
        yield _edited(tree, functools.partial(_drop_of_this, place=place))
        for inner in part.find_all(exp.Ordered, exp.Collate):
            yield _edited(tree, _unwrapping(tree, inner))


def _unwrapping(tree: Node, inner: Node) -> Edit:
    """An edit that puts what is inside of a node in its place."""
    at = next(place for place, node in enumerate(tree.walk()) if node is inner)

    def edit(copy: Node) -> None:
        node = next(node for place, node in enumerate(copy.walk()) if place == at)
        node.replace(node.this)

    return edit


def _trigger(tree: Node) -> Iterator[Node]:
    yield from _without(tree, "condition")
    yield from _without(tree, "columns")
    for place, statement in enumerate(tree.expressions):
        if len(tree.expressions) > 1:
            yield _edited(tree, functools.partial(_drop_one, place=place))
        for other in _plainer(statement):
            yield _edited(tree, functools.partial(_put, place=place, other=other))


def _change(tree: Node) -> Iterator[Node]:
    for key in (ALTERNATIVE, "conflict", "where"):
        yield from _without(tree, key)
    query = tree.expression if isinstance(tree, exp.Insert) else None
    if isinstance(query, exp.Select) and query.args.get("where"):
        yield _edited(tree, lambda copy: copy.expression.set("where", None))
    if isinstance(tree, exp.Update) and len(tree.expressions) > 1:
        for place in range(len(tree.expressions)):
            yield _edited(tree, functools.partial(_drop_one, place=place))
