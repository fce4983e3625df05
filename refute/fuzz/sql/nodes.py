"""Nodes made quickly: what `exp.Column(…)` and the like give, without looking at what is given.

A constructor of sqlglot takes any arguments and asks each of them what it is. Most nodes of a
generated query are of a few kinds whose arguments are known, and making them is most of the work;
so these are put together slot by slot. A test compares them with what the constructors make.
"""

from __future__ import annotations

from typing import Any

from sqlglot import exp

_new = object.__new__


def _node(kind: type[Any], args: dict[str, Any]) -> Any:
    node = _new(kind)
    node.args = args
    node.parent = node.arg_key = node.index = None
    node.comments = node._type = node._meta = node._hash = None
    return node


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
    this = _node(exp.Identifier, {"this": text, "quoted": False})
    of = _node(exp.Identifier, {"this": table, "quoted": False})
    made: exp.Expr = _node(exp.Column, {"this": this, "table": of})
    this.parent = of.parent = made
    this.arg_key, of.arg_key = "this", "table"
    return made


def unary(kind: type[exp.Expr], this: exp.Expr) -> exp.Expr:
    """A node with one node inside."""
    made: exp.Expr = _node(kind, {"this": this})
    this.parent, this.arg_key, this.index = made, "this", None
    return made


def binary(kind: type[exp.Expr], left: exp.Expr, right: exp.Expr) -> exp.Expr:
    """An operator between two nodes."""
    made: exp.Expr = _node(kind, {"this": left, "expression": right})
    left.parent, left.arg_key, left.index = made, "this", None
    right.parent, right.arg_key, right.index = made, "expression", None
    return made


def plus(this: exp.Expr) -> exp.Expr:
    """`+` in front of a value; see `refute.fuzz.sql.text`."""
    made: exp.Expr = _node(exp.Paren, {"this": this, "plus": True})
    this.parent, this.arg_key, this.index = made, "this", None
    return made


def alias(this: exp.Expr, text: str) -> exp.Expr:
    """A result column with a name."""
    of = _node(exp.Identifier, {"this": text, "quoted": False})
    made: exp.Expr = _node(exp.Alias, {"this": this, "alias": of})
    this.parent, this.arg_key, this.index = made, "this", None
    of.parent, of.arg_key = made, "alias"
    return made


def several(kind: type[exp.Expr], nodes: list[exp.Expr]) -> exp.Expr:
    """A node with a list of nodes: a row, terms of ORDER BY."""
    made: exp.Expr = _node(kind, {"expressions": nodes})
    for index, node in enumerate(nodes):
        node.parent, node.arg_key, node.index = made, "expressions", index
    return made


def make(kind: type[exp.Expr], /, **args: Any) -> exp.Expr:
    """A node of these parts: nodes, lists of nodes, and whatever is neither."""
    made: exp.Expr = _node(kind, args)
    for key, value in args.items():
        if isinstance(value, exp.Expr):
            value.parent, value.arg_key, value.index = made, key, None
        elif value.__class__ is list:
            for index, node in enumerate(value):
                node.parent, node.arg_key, node.index = made, key, index
    return made


def put(made: exp.Expr, key: str, value: exp.Expr | list[exp.Expr] | bool | None) -> None:
    """Give a new node, which has no parent yet, one more part."""
    made.args[key] = value
    if isinstance(value, exp.Expr):
        value.parent, value.arg_key, value.index = made, key, None
    elif isinstance(value, list):
        for index, node in enumerate(value):
            node.parent, node.arg_key, node.index = made, key, index
