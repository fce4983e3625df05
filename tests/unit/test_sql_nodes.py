"""Nodes made quickly are the nodes that sqlglot's constructors make, once they are settled."""

from __future__ import annotations

import pytest
from sqlglot import exp

from refute.fuzz.sql import nodes


def one() -> exp.Expr:
    return exp.Literal(this="1", is_string=False)


def state(tree: exp.Expr) -> list[object]:
    """All that a tree holds, with the place of each node; without hashes, which come and go."""
    found: list[object] = []
    for node in tree.walk():
        above = None if node.parent is None else type(node.parent)
        parts = {k: v for k, v in node.args.items() if not isinstance(v, exp.Expr | list)}
        slots = [getattr(node, slot) for slot in ("comments", "_type", "_meta")]
        found.append((type(node), above, node.arg_key, node.index, parts, list(node.args), slots))
    return found


IDENTIFIER = exp.Identifier(this="a", quoted=False)


@pytest.mark.parametrize(
    ("quick", "usual"),
    [
        (nodes.name("alone"), exp.Identifier(this="alone", quoted=False)),
        (nodes.literal("x", is_string=True), exp.Literal(this="x", is_string=True)),
        (nodes.null(), exp.Null()),
        (
            nodes.column("t", "a"),
            exp.Column(this=IDENTIFIER.copy(), table=exp.Identifier(this="t", quoted=False)),
        ),
        (nodes.table("t"), exp.Table(this=exp.Identifier(this="t", quoted=False))),
        (nodes.table_alias("a"), exp.TableAlias(this=IDENTIFIER.copy())),
        (nodes.unary(exp.Neg, one()), exp.Neg(this=one())),
        (nodes.binary(exp.EQ, one(), one()), exp.EQ(this=one(), expression=one())),
        (nodes.plus(one()), exp.Paren(this=one(), plus=True)),
        (nodes.alias(one(), "a"), exp.Alias(this=one(), alias=IDENTIFIER.copy())),
        (nodes.several(exp.Tuple, [one(), one()]), exp.Tuple(expressions=[one(), one()])),
        (
            nodes.make(exp.Ordered, this=one(), desc=True, nulls_first=False),
            exp.Ordered(this=one(), desc=True, nulls_first=False),
        ),
        (
            nodes.make(exp.In, this=one(), expressions=[one(), one()]),
            exp.In(this=one(), expressions=[one(), one()]),
        ),
    ],
    ids=lambda tree: type(tree).__name__,
)
def test_a_quick_node_is_the_usual_one(quick: exp.Expr, usual: exp.Expr) -> None:
    assert state(quick.copy()) == state(usual.copy())
    assert state(nodes.settled(quick)) == state(usual)
    assert quick == usual


def test_a_name_is_one_node_that_copies_do_not_share() -> None:
    quick = nodes.binary(exp.EQ, nodes.column("t", "a"), nodes.column("t", "a"))
    assert quick.this.this is quick.expression.this
    copy = quick.copy()
    names = list(copy.find_all(exp.Identifier))
    assert len({id(name) for name in names}) == 4
    assert all(name.parent in (copy.this, copy.expression) for name in names)


def test_a_part_that_is_put_in_later_has_its_place() -> None:
    select = nodes.make(exp.Select, expressions=[one()])
    nodes.put(select, "limit", nodes.make(exp.Limit, expression=one()))
    nodes.put(select, "expressions", [one(), one()])
    usual = exp.Select(expressions=[one(), one()], limit=exp.Limit(expression=one()))
    assert state(nodes.settled(select)) == state(usual)
