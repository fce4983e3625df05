"""Predicates: conditions on the rows of a SELECT that its own conditions do not hold.

An oracle that splits the rows of a query needs something to split by. A condition that the query
has is best; where it has none, one is made up of the columns in scope and of values that the
tables hold, so that all of true, false and NULL come out at times. It never ends with an error in
SQLite, and is always the same for the same query and seed.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from sqlglot import exp

from refute.fuzz.sql.text import Node
from refute.oracles.sql.partial.columns import Scope
from refute.oracles.sql.partial.tables import NUMBERS, Column
from refute.oracles.sql.partial.trees import items, make, name, parens

_COMPARISONS = (exp.EQ, exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
_NUMBERS = ("0", "1", "2", "-1", "10")
_TEXTS = ("'a'", "'A'", "''", "'b'", "'1'")

InScope = tuple[str, Column, tuple[str, ...]]  # name of the source, column, literals of its table


def columns_of(select: Node, scope: Scope) -> list[InScope]:
    """The columns of the items of FROM that are known."""
    found: list[InScope] = []
    for item in items(select):
        relation = scope.relation(item)
        if relation is not None and item.alias_or_name:
            found += [(item.alias_or_name, c, relation.literals) for c in relation.columns]
    return [(source, c, values) for source, c, values in found if c.name]


def predicate(rng: random.Random, columns: Sequence[InScope], depth: int = 1) -> Node | None:
    """A condition; None where no column is known."""
    if not columns:
        return None
    if depth > 0 and rng.random() < 0.4:
        left, right = (predicate(rng, columns, depth - 1) for _ in range(2))
        if left is None or right is None:
            return None
        kind = exp.And if rng.random() < 0.5 else exp.Or
        return make(kind, this=parens(left), expression=parens(right))
    return _simple(rng, columns)


def _simple(rng: random.Random, columns: Sequence[InScope]) -> Node:
    source, of, literals = rng.choice(columns)
    this = reference(source, of.name)
    form = rng.random()
    if form < 0.1:
        return make(exp.Is, this=this, expression=exp.Null())
    if form < 0.25:
        alike = [c for c in columns if c[1].affinity == of.affinity]
        other = rng.choice(alike)
        return rng.choice(_COMPARISONS)(this=this, expression=reference(other[0], other[1].name))
    if form < 0.4:
        chosen = [_literal(rng, of, literals) for _ in range(rng.randint(1, 3))]
        if rng.random() < 0.3:
            chosen.append(exp.Null())
        listed = make(exp.In, this=this, expressions=chosen)
        return make(exp.Not, this=parens(listed)) if rng.random() < 0.4 else listed
    if form < 0.5:
        low, high = _literal(rng, of, literals), _literal(rng, of, literals)
        return make(exp.Between, this=this, low=low, high=high)
    if form < 0.58 and of.affinity == "TEXT":
        pattern = exp.Literal(this=rng.choice(("a%", "%", "_", "%b%", "A%")), is_string=True)
        return make(exp.Like, this=this, expression=pattern)
    return rng.choice(_COMPARISONS)(this=this, expression=_literal(rng, of, literals))


def reference(source: str, column: str) -> Node:
    """A column by its full name."""
    plain = column.isidentifier()
    return make(
        exp.Column,
        this=name(column) if plain else exp.Identifier(this=column, quoted=True),
        table=name(source) if source.isidentifier() else exp.Identifier(this=source, quoted=True),
    )


def _literal(rng: random.Random, of: Column, literals: Sequence[str]) -> Node:
    """A literal of the column's kind, mostly one that its table holds."""
    if of.affinity in NUMBERS:
        some = [v for v in literals if not v.startswith("'")] or list(_NUMBERS)
        usual: Sequence[str] = _NUMBERS
    elif of.affinity == "TEXT":
        some = [v for v in literals if v.startswith("'")] or list(_TEXTS)
        usual = _TEXTS
    else:
        some, usual = list(literals) or list(_NUMBERS), (*_NUMBERS, *_TEXTS)
    text = rng.choice(some if rng.random() < 0.75 else usual)
    if text.startswith("'"):
        return exp.Literal(this=text[1:-1].replace("''", "'"), is_string=True)
    if text.startswith("-"):
        return exp.Neg(this=exp.Literal(this=text[1:], is_string=False))
    return exp.Literal(this=text, is_string=False)
