"""The grammar: what a query may be made of, as weighted productions that name their feature.

A module of productions adds one part of SQL and knows nothing of the others; the grammar puts
together those that are allowed. A production makes a syntax tree, built node by node and never
copied, because copying is what costs most in sqlglot. Families of values are "number", "text" and
"any"; conditions are of the families "condition" and "simple".
"""

from __future__ import annotations

import bisect
import dataclasses
import itertools
import random
from collections.abc import Callable, Iterable, Sequence, Set

from sqlglot import exp

from refute.fuzz.sql.schema import POOLS, Column, Schema, Table, literal
from refute.fuzz.sql.text import Node
from refute.plain import Plain

Make = Callable[["Writer", str, int], Node]

FEW = 3  # features
BOOST = 6  # of their weight then
ATOMS = (exp.Column, exp.Literal, exp.Null, exp.Paren, exp.Subquery, exp.Func, exp.Cast)


@dataclasses.dataclass(frozen=True)
class Production:
    """One way to make a tree of one of the families. feature: "" for the core of SQL.

    make: gets the writer, the family that is wanted, and how deep the tree may still go.
    """

    feature: str
    weight: float
    families: tuple[str, ...]
    make: Make


class Grammar:
    """The productions whose feature is allowed, by family; where they are few, for their sake."""

    def __init__(self, productions: Iterable[Production], features: Set[str]) -> None:
        self.features = frozenset(features)
        allowed = [p for p in productions if not p.feature or p.feature in features]
        boost = BOOST if len(self.features) <= FEW else 1
        self._by_family: dict[str, tuple[list[Make], list[float]]] = {}
        for family in sorted({f for p in allowed for f in p.families}):
            own = [p for p in allowed if family in p.families]
            weights = (p.weight * (boost if p.feature else 1) for p in own)
            sums = list(itertools.accumulate(weights))
            self._by_family[family] = [p.make for p in own], sums

    def pick(self, rng: random.Random, family: str) -> Make:
        """A production of the family, by weight."""
        makes, sums = self._by_family[family]
        return makes[bisect.bisect_right(sums, rng.random() * sums[-1])]


@dataclasses.dataclass(frozen=True)
class Source:
    """One item of FROM: the name it is known by, and its columns. values: of each column."""

    alias: str
    columns: tuple[Column, ...]
    values: tuple[tuple[Plain, ...], ...]


def source_of(table: Table, alias: str) -> Source:
    """A table as an item of FROM."""
    return Source(alias, table.columns, tuple(tuple(table.values(c)) for c in table.columns))


Leaf = Callable[["Writer", str], Node]


class Writer:
    """Writes one query: random choices, what is in scope, and the grammar.

    sources: the items of FROM that an expression may name. outer: those of the queries around.
    leaf: makes what an expression ends in: columns and literals, or in a grouped query aggregates
    and keys. level: how many queries this one stands in, itself included. done: the sources of the
    SELECT that was finished last.
    """

    def __init__(self, rng: random.Random, grammar: Grammar, schema: Schema) -> None:
        self.rng = rng
        self.grammar = grammar
        self.schema = schema
        self.sources: tuple[Source, ...] = ()
        self.outer: tuple[Source, ...] = ()
        self.level = 0
        self.done: tuple[Source, ...] = ()
        self.leaf: Leaf = row_leaf
        self._names = itertools.count()

    def alias(self) -> str:
        """A name that nothing else in the query has."""
        return f"x{next(self._names)}"

    def has(self, feature: str) -> bool:
        """Whether a feature is allowed."""
        return feature in self.grammar.features

    def turns_to(self, feature: str, share: float) -> bool:
        """Whether to use an allowed feature here: in that share of all places.

        Where hardly anything else is allowed, the query is for its sake, and the share is greater.
        """
        if feature not in self.grammar.features:
            return False
        return self.chance(share if len(self.grammar.features) > FEW else max(share, 0.5))

    def chance(self, share: float) -> bool:
        """True in that share of all calls."""
        return self.rng.random() < share

    def value(self, family: str, depth: int) -> Node:
        """An expression of the family; of "truth" a condition, which is 1, 0 or NULL."""
        if family == "truth":
            return exp.Paren(this=self.condition(depth))
        if depth <= 0:
            return self.leaf(self, family)
        return self.grammar.pick(self.rng, family)(self, family, depth)

    def operand(self, family: str, depth: int) -> Node:
        """As `value`, in parentheses where an operator beside it could tear it apart."""
        return closed(self.value(family, depth))

    def condition(self, depth: int) -> Node:
        """A condition; one without conditions inside where it may go no deeper."""
        family = "condition" if depth > 0 else "simple"
        return self.grammar.pick(self.rng, family)(self, family, depth)

    def family(self) -> str:
        """A family of values."""
        return self.rng.choice(
            ("number", "number", "number", "text", "text", "any", "any", "truth")
        )


def closed(tree: Node) -> Node:
    """The tree, in parentheses unless it is one word."""
    negative = isinstance(tree, exp.Neg) and isinstance(tree.this, exp.Literal)
    return tree if negative or isinstance(tree, ATOMS) else exp.Paren(this=tree)


def column(source: Source, of: Column) -> Node:
    """A column by its full name."""
    return exp.Column(
        this=exp.Identifier(this=of.name, quoted=False),
        table=exp.Identifier(this=source.alias, quoted=False),
    )


def columns_in(sources: Sequence[Source], family: str) -> list[tuple[Source, Column]]:
    """The columns in scope of a family; "any" takes all."""
    return [(s, c) for s in sources for c in s.columns if family in ("any", c.family)]


def number(value: int) -> Node:
    """A literal of a natural number."""
    return exp.Literal(this=str(value), is_string=False)


def row_leaf(writer: Writer, family: str) -> Node:
    """A column of the family, or a literal."""
    if not writer.chance(0.15):
        found = columns_in(writer.sources, family)
        if not found and writer.chance(0.6):
            found = columns_in(writer.sources, "any")
        if found:
            return column(*writer.rng.choice(found))
    return some_literal(writer, family)


def some_literal(writer: Writer, family: str) -> Node:
    """A literal of the family, at times NULL."""
    rng = writer.rng
    if rng.random() < 0.1:
        return exp.Null()
    kind = rng.choice(("INTEGER", "INTEGER", "REAL") if family == "number" else ("TEXT",))
    if family == "any":
        kind = rng.choice(("INTEGER", "TEXT", ""))
    usual, edges = POOLS[kind]
    return literal(rng.choice(edges if rng.random() < 0.1 else usual))


def stored_literal(writer: Writer, source: Source, of: Column) -> Node:
    """A literal that the column mostly holds, so that comparisons come out true at times.

    At times a text that only some collation takes as equal to one it holds.
    """
    values = source.values[source.columns.index(of)]
    if not values or writer.chance(0.2):
        return some_literal(writer, of.family)
    value = writer.rng.choice(values)
    if type(value) is str and writer.chance(0.4):
        value = value.swapcase() if writer.chance(0.8) else f"{value} "
    return literal(value)
