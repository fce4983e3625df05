"""Nodes made quickly: what `exp.Column(…)` and the like give, without looking at what is given.

A constructor of sqlglot takes any arguments and asks each of them what it is. Most nodes of a
generated query are of a few kinds whose arguments are known, and making them is most of the work;
so these are put together slot by slot. Two things differ from what the constructors make, and a
test compares all others: nodes do not know where they stand, which would make rings of references
that only the collector takes, until `settled` tells them; and of each name there is one node, which
is part of many trees. A copy of a tree has nodes of its own that know their places.
"""

from __future__ import annotations

import functools
from typing import Any

from sqlglot import exp

MOST_NAMES = 5_000  # that are kept

_new = object.__new__


def _node(kind: type[Any], args: dict[str, Any]) -> Any:
    node = _new(kind)
    node.args = args
    node.parent = node.arg_key = node.index = None
    node.comments = node._type = node._meta = node._hash = None
    return node


@functools.lru_cache(MOST_NAMES)
def name(text: str) -> exp.Expr:
    """A name without quotes."""
    made: exp.Expr = _node(exp.Identifier, {"this": text, "quoted": False})
    return made


def literal(text: str, *, is_string: bool) -> exp.Expr:
    """A literal of a text, or of a number that is written so."""
    made: exp.Expr = _node(exp.Literal, {"this": text, "is_string": is_string})
    return made


def null() -> exp.Expr:
    """NULL."""
    made: exp.Expr = _node(exp.Null, {})
    return made


def column(table: str, text: str) -> exp.Expr:
    """A column by the names of its table and its own."""
    made: exp.Expr = _node(exp.Column, {"this": name(text), "table": name(table)})
    return made


def table(text: str) -> exp.Expr:
    """A table by its name."""
    made: exp.Expr = _node(exp.Table, {"this": name(text)})
    return made


def table_alias(text: str) -> exp.Expr:
    """Another name of an item of FROM."""
    made: exp.Expr = _node(exp.TableAlias, {"this": name(text)})
    return made


def unary(kind: type[exp.Expr], this: exp.Expr) -> exp.Expr:
    """A node with one node inside."""
    made: exp.Expr = _node(kind, {"this": this})
    return made


def binary(kind: type[exp.Expr], left: exp.Expr, right: exp.Expr) -> exp.Expr:
    """An operator between two nodes."""
    made: exp.Expr = _node(kind, {"this": left, "expression": right})
    return made


def plus(this: exp.Expr) -> exp.Expr:
    """`+` in front of a value; see `refute.fuzz.sql.text`."""
    made: exp.Expr = _node(exp.Paren, {"this": this, "plus": True})
    return made


def alias(this: exp.Expr, text: str) -> exp.Expr:
    """A result column with a name."""
    made: exp.Expr = _node(exp.Alias, {"this": this, "alias": name(text)})
    return made


def several(kind: type[exp.Expr], nodes: list[exp.Expr]) -> exp.Expr:
    """A node with a list of nodes: a row, terms of ORDER BY."""
    made: exp.Expr = _node(kind, {"expressions": nodes})
    return made


def make(kind: type[exp.Expr], /, **args: Any) -> exp.Expr:
    """A node of these parts: nodes, lists of nodes, and whatever is neither."""
    made: exp.Expr = _node(kind, args)
    return made


def put(made: exp.Expr, key: str, value: exp.Expr | list[exp.Expr] | str | bool | None) -> None:
    """Give a new node one more part."""
    made.args[key] = value


def settled(tree: exp.Expr) -> exp.Expr:
    """The tree, whose nodes now know where they stand; those that it shares know one place."""
    stack = [tree]
    while stack:
        node = stack.pop()
        for key, value in node.args.items():
            if isinstance(value, exp.Expr):
                value.parent, value.arg_key, value.index = node, key, None
                stack.append(value)
            elif value.__class__ is list:
                for index, item in enumerate(value):
                    if isinstance(item, exp.Expr):
                        item.parent, item.arg_key, item.index = node, key, index
                        stack.append(item)
    return tree


def everything(node: exp.Expr) -> list[exp.Expr]:
    """The node and all inside of it, in an order that depends on nothing else."""
    found = [node]
    for part in found:  # it grows on the way
        for value in part.args.values():
            if type(value) is list:
                found += [item for item in value if isinstance(item, exp.Expr)]
            elif isinstance(value, exp.Expr):
                found.append(value)
    return found
