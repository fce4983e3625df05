"""Trees that share their parts: how an oracle changes a query without copying it.

A case's tree belongs to all oracles, and copying is what costs most in sqlglot. So a changed tree
is made of new nodes along the way to the change only; whatever lies beside is the case's own. Such
nodes know no parent, and the shared ones keep the parent they had, so these trees are for writing,
not for walking up; `whole` makes a tree of its own for those who do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from sqlglot import exp

from refute.fuzz.sql import nodes
from refute.fuzz.sql.nodes import everything
from refute.fuzz.sql.text import Node
from refute.oracles.sql.partial.written import text_of

Change = Callable[[Node], Node]

_ENDS = ("order", "limit", "offset")


def make(kind: type[Node], /, **args: Any) -> Node:
    """A node around nodes that stay where they are."""
    return nodes.make(kind, **{name: value for name, value in args.items() if value is not None})


def changed(node: Node, /, **args: Any) -> Node:
    """The same node with some of its arguments replaced, None for those that go."""
    return make(type(node), **{**node.args, **args})


def whole(tree: Node) -> Node:
    """A tree that shares nothing, and whose nodes know their parents."""
    return tree.copy()


def swapped(node: Node, by: Mapping[int, Node]) -> Node:
    """The tree with others in place of the nodes whose `id` is given.

    Nothing is replaced inside of what was put in place of something.
    """
    found = by.get(id(node))
    if found is not None:
        return found
    new: dict[str, Any] | None = None
    for name, value in node.args.items():
        other = value
        if type(value) is list:
            items = [swapped(v, by) if isinstance(v, exp.Expr) else v for v in value]
            if any(a is not b for a, b in zip(items, value, strict=True)):
                other = items
        elif isinstance(value, exp.Expr):
            other = swapped(value, by)
        if other is not value:
            new = dict(node.args) if new is None else new
            new[name] = other
    return node if new is None else make(type(node), **new)


def below(node: Node) -> Iterator[Node]:
    """The nodes directly inside."""
    for value in node.args.values():
        if type(value) is list:
            for item in value:
                if isinstance(item, exp.Expr):
                    yield item
        elif isinstance(value, exp.Expr):
            yield value


def own(node: Node) -> Iterator[Node]:
    """The node and all inside of it that belongs to the same query: subqueries are left out."""
    stack = [node]
    while stack:
        found = stack.pop()
        yield found
        stack += [n for n in below(found) if not isinstance(n, exp.Query)]


def blocks(query: Node) -> list[Node]:
    """The SELECTs in a query that mean something alone: its parts, and subqueries in FROM.

    Each comes without ORDER BY and LIMIT, and with the WITH of the whole query.
    """
    found: list[Node] = []
    _blocks(query, None, found)
    return found


def _blocks(query: Node, ctes: Node | None, found: list[Node]) -> None:
    ctes = query.args.get("with_") or ctes
    if isinstance(query, exp.SetOperation):
        _blocks(query.this, ctes, found)
        _blocks(query.expression, ctes, found)
    elif isinstance(query, exp.Subquery) and not query.alias:
        _blocks(query.this, ctes, found)
    elif isinstance(query, exp.Select):
        found.append(without_ends(changed(query, with_=ctes)))
        for item in items(query):
            if isinstance(item, exp.Subquery):
                _blocks(item.this, ctes, found)


def without_ends(query: Node) -> Node:
    """The query for all rows in any order."""
    return changed(query, **dict.fromkeys(_ENDS))


def items(select: Node) -> Iterator[Node]:
    """The items of FROM, those of joins included."""
    first = select.args.get("from_")
    if first is not None:
        yield first.this
        for join in select.args.get("joins") or ():
            yield join.this


def side(join: Node) -> str:
    """LEFT, RIGHT, FULL, or nothing for an inner join."""
    return str(join.args.get("side") or "").upper()


def on_of(join: Node) -> Node | None:
    """The condition of a join."""
    return None if join.args.get("alone") else join.args.get("on")


def with_on(join: Node, condition: Node | None) -> Node:
    """An inner join under another condition, a CROSS JOIN under none."""
    kind = "CROSS" if condition is None else "INNER"
    return changed(join, on=condition, kind=kind, alone=None, comma=None)


def plain_join(join: Node) -> bool:
    """Whether it is one that ON alone describes: no NATURAL, no USING, no other kind."""
    kind = str(join.args.get("kind") or "").upper()
    odd = join.args.get("method") or join.args.get("using") or join.args.get("hint")
    return not odd and kind in ("", "INNER", "CROSS", "OUTER")


def only_inner(select: Node) -> bool:
    """Whether all joins are inner ones, so that ON means what WHERE does."""
    return all(plain_join(j) and not side(j) for j in select.args.get("joins") or ())


def parens(node: Node) -> Node:
    """The node in parentheses."""
    return node if type(node) is exp.Paren and not plus(node) else make(exp.Paren, this=node)


def plus(node: Node) -> bool:
    """Whether it is `+x`."""
    return isinstance(node, exp.Paren) and bool(node.args.get("plus"))


def bare(node: Node) -> Node:
    """The node without parentheses around it."""
    while isinstance(node, exp.Paren) and not plus(node):
        node = node.this
    return node


def negated(condition: Node) -> Node:
    """NOT (condition)."""
    return make(exp.Not, this=parens(condition))


def unknown(condition: Node) -> Node:
    """(condition) IS NULL."""
    return make(exp.Is, this=parens(condition), expression=exp.Null())


def conjunction(*conditions: Node | None) -> Node | None:
    """All of them joined by AND; None for none."""
    found: Node | None = None
    for condition in conditions:
        if condition is not None:
            this = parens(condition)
            found = this if found is None else make(exp.And, this=found, expression=this)
    return found


def where(select: Node) -> Node | None:
    """The condition of WHERE."""
    clause = select.args.get("where")
    return None if clause is None else clause.this


def with_where(select: Node, condition: Node | None) -> Node:
    """The SELECT with another WHERE."""
    clause = None if condition is None else make(exp.Where, this=condition)
    return changed(select, where=clause)


def name(text: str) -> Node:
    """An identifier."""
    return nodes.name(text)


def derived(query: Node, alias: str) -> Node:
    """A subquery as an item of FROM."""
    return make(exp.Subquery, this=query, alias=make(exp.TableAlias, this=name(alias)))


def literal(value: int) -> Node:
    """A number that is not negative."""
    return nodes.literal(str(value), is_string=False)


def is_aggregate(node: Node) -> bool:
    """Whether it is a call of an aggregate; MIN and MAX of several arguments are none."""
    if isinstance(node, exp.Anonymous):
        return node.name.upper() in _AGGREGATES
    return isinstance(node, exp.AggFunc)


_AGGREGATES = frozenset({"TOTAL", "STRING_AGG", "JSON_GROUP_ARRAY", "JSON_GROUP_OBJECT"})


def aggregates_in(node: Node) -> list[Node]:
    """The aggregates of the query it stands in, windows left out."""
    found = []
    stack = [node]
    while stack:
        part = stack.pop()
        if is_aggregate(part):
            found.append(part)
        elif not isinstance(part, exp.Window):
            stack += [n for n in below(part) if not isinstance(n, exp.Query)]
    return found


def grouped(select: Node) -> bool:
    """Whether its rows are groups."""
    if select.args.get("group") or select.args.get("having"):
        return True
    return any(aggregates_in(output) for output in select.expressions)


def windowed(select: Node) -> bool:
    """Whether its result columns look at other rows."""
    return any(isinstance(n, exp.Window) for o in select.expressions for n in own(o))


def statement(tree: Node, dialect: str) -> Node | str:
    """What to ask an engine of the dialect: of SQLite's the text, so that it is written once."""
    return text_of(tree) if dialect == "sqlite" else whole(tree)


def freely(tree: Node, dialect: str) -> Node | str:
    """As `statement`, without INDEXED BY: another form may have no use for that index."""
    made = statement(tree, dialect)
    if isinstance(made, str) and " INDEXED BY " in made:
        return text_of(unhinted(tree))
    return made


def unhinted(tree: Node) -> Node:
    """The tree without INDEXED BY, which may be the tree itself."""
    hinted = [n for n in everything(tree) if n.args.get("indexed")]
    return swapped(tree, {id(n): changed(n, indexed=None) for n in hinted}) if hinted else tree
