"""The grammar: what a query may be made of, as weighted productions that name their feature.

A module of productions adds one part of SQL and knows nothing of the others; the grammar puts
together those that are allowed. A production makes a syntax tree, built node by node and never
copied, because copying is what costs most in sqlglot. Families of values are "number", "text" and
"any"; conditions are of the families "condition" and "simple".
"""

from __future__ import annotations

import bisect
import dataclasses
import functools
import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence, Set
from typing import TypeVar

from sqlglot import exp

from refute.fuzz.sql import nodes
from refute.fuzz.sql.schema import POOLS, Column, Schema, Table, literal
from refute.fuzz.sql.text import Node
from refute.plain import Plain

Make = Callable[["Writer", str, int], Node]
Item = TypeVar("Item")

FEW = 5  # features
BOOST = 6  # of their weight then
RARE = ("blob", "boolean", "infinity")  # features that are literals
FAMILIES = ("number", "number", "number", "text", "text", "any", "any", "truth")
KEPT_APART = ("number", "number", "number", "text", "text", "truth")  # where types do not mix
ATOMS = frozenset(
    (
        *(exp.Column, exp.Literal, exp.Null, exp.Paren, exp.Subquery, exp.Cast, exp.Case),
        *(exp.Tuple, exp.HexString, exp.Boolean, exp.Exists),
    )
)
OPERATORS = (exp.Binary, exp.Unary, exp.Predicate)


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
    """The productions whose feature is allowed, by family; where they are few, for their sake.

    mixed: whether numbers and texts may meet, which dialects other than SQLite's do not take.
    """

    def __init__(
        self, productions: Iterable[Production], features: Set[str], *, mixed: bool = True
    ) -> None:
        self.features = frozenset(features)
        self.mixed = mixed
        allowed = [p for p in productions if not p.feature or p.feature in features]
        boost = BOOST if len(self.features) <= FEW else 1
        self.rare = (*(name for name in RARE if name in self.features), "long")
        self.usual = 0.5 if self.narrow and len(self.rare) > 1 else 0.94  # of literals
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

    @functools.cached_property
    def narrow(self) -> bool:
        """Whether hardly anything is allowed, and so a query is for the sake of that."""
        return len(self.features) <= FEW


class Source:
    """One item of FROM: the name it is known by, and its columns.

    table: whose rows they are. origins: of a subquery, where each column's values come from, as
    far as it shows a column as it is. rowid: whether rows have one.
    """

    __slots__ = ("_keys", "alias", "columns", "origins", "rowid", "table")

    def __init__(
        self,
        alias: str,
        columns: tuple[Column, ...],
        table: Table | None = None,
        origins: tuple[Key | None, ...] = (),
        rowid: bool = False,
    ) -> None:
        self.alias = alias
        self.columns = columns
        self.table = table
        self.origins = origins
        self.rowid = rowid
        self._keys: dict[str, list[Key]] = {}

    def keys(self, family: str) -> list[Key]:
        """Its columns of a family, each with the source itself; "any" takes all."""
        found = self._keys.get(family)
        if found is None:
            if self.table is not None:
                own: Sequence[Column] = self.table.families.get(family, ())
            else:
                own = [of for of in self.columns if family in ("any", of.family)]
            found = self._keys[family] = [(self, of) for of in own]
        return found

    def values(self, of: Column) -> Sequence[Plain]:
        """What the column mostly holds, as far as that is known."""
        if self.table is not None:
            return self.table.values(of)
        origin = self.origins[self.columns.index(of)] if self.origins else None
        return () if origin is None else origin[0].values(origin[1])


Key = tuple[Source, Column]
Leaf = Callable[["Writer", str], Node]


class Writer:
    """Writes one query: random choices, what is in scope, and the grammar.

    sources: the items of FROM that an expression may name. outer: those of the queries around.
    leaf: makes what an expression ends in: columns and literals, or in a grouped query aggregates
    and keys. level: how many queries this one stands in, itself included. done: the sources of the
    SELECT that was finished last. shown: the columns that it shows as they are. windowed: whether a
    window function may stand here. common: tables that WITH has made. beside: what has a name in
    the same FROM and is not in scope. aggregated: how many aggregates were made on
    each level. mixed: whether numbers and texts may meet; where they may not, "any" is one of the
    two. paired: the family of the last pair.
    """

    def __init__(self, rng: random.Random, grammar: Grammar, schema: Schema) -> None:
        self.rng = rng
        self.random = rng.random
        self.grammar = grammar
        self.mixed = grammar.mixed
        self.paired = "any"
        self.schema = schema
        self.outer: tuple[Source, ...] = ()
        self.level = 0
        self.done: tuple[Source, ...] = ()
        self.shown: tuple[Key | None, ...] = ()
        self.leaf: Leaf = row_leaf
        self.windowed = False
        self.common: list[Source] = []
        self.beside: tuple[Source, ...] = ()
        self.aggregated: Counter[int] = Counter()
        self.named_windows: list[Node] = []
        self._found: dict[str, list[Key]] = {}
        self._sources: tuple[Source, ...] = ()
        self._names = itertools.count()

    @property
    def sources(self) -> tuple[Source, ...]:
        """The items of FROM that an expression may name."""
        return self._sources

    @sources.setter
    def sources(self, sources: tuple[Source, ...]) -> None:
        """Enter another scope."""
        self._sources = sources
        self._found = {}

    def columns(self, family: str) -> list[Key]:
        """The columns in scope of a family; "any" takes all."""
        found = self._found.get(family)
        if found is None:
            found = self._found[family] = columns_in(self._sources, family)
        return found

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
        grammar = self.grammar
        if feature not in grammar.features:
            return False
        return self.random() < (max(share, 0.5) if grammar.narrow else share)

    def chance(self, share: float) -> bool:
        """True in that share of all calls."""
        return self.random() < share

    def choice(self, items: Sequence[Item]) -> Item:
        """One of them."""
        return items[int(self.random() * len(items))]

    def value(self, family: str, depth: int) -> Node:
        """An expression of the family; of "truth" a condition, which is 1, 0 or NULL."""
        if family == "truth":
            return nodes.unary(exp.Paren, self.condition(depth))
        if family == "any" and not self.mixed:
            family = self.apart(family)
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
        return self.choice(FAMILIES if self.mixed else KEPT_APART)

    def apart(self, family: str) -> str:
        """The family; one of numbers or texts for "any" where these do not mix."""
        return self.choice(("number", "text")) if family == "any" and not self.mixed else family


def closed(tree: Node) -> Node:
    """The tree, in parentheses unless it is one word."""
    kind = type(tree)
    if kind in ATOMS or (kind is exp.Neg and type(tree.this) in (exp.Literal, exp.HexString)):
        return tree
    if isinstance(tree, exp.Func) and not isinstance(tree, OPERATORS):
        return tree
    return nodes.unary(exp.Paren, tree)


def column(source: Source, of: Column) -> Node:
    """A column by its full name."""
    return nodes.column(source.alias, of.name)


def columns_in(sources: Sequence[Source], family: str) -> list[Key]:
    """The columns of a family; "any" takes all."""
    if len(sources) == 1:
        return sources[0].keys(family)
    return [key for source in sources for key in source.keys(family)]


def number(value: int) -> Node:
    """A literal of a natural number."""
    return nodes.literal(str(value), is_string=False)


def text(value: str) -> Node:
    """A literal of a text."""
    return nodes.literal(value, is_string=True)


def row_leaf(writer: Writer, family: str) -> Node:
    """A column of the family, or a literal; at times a column of a query around."""
    random = writer.random
    if random() < 0.85:
        found = writer.columns(family)
        if not found and writer.mixed and writer.random() < 0.6:
            found = writer.columns("any")
        if writer.outer and writer.turns_to("correlated", 0.08):
            found = columns_in(writer.outer, family) or found
        if found:
            source, of = found[int(random() * len(found))]
            if source.rowid and random() < 0.03 and writer.has("rowid"):
                return rowid(source)
            return nodes.column(source.alias, of.name)
    return some_literal(writer, family)


def rowid(source: Source) -> Node:
    """The number of a row."""
    return nodes.column(source.alias, "rowid")


KINDS = {"number": ("INTEGER", "INTEGER", "REAL"), "any": ("INTEGER", "TEXT", "")}
BLOBS = ("", "00", "61", "41", "31", "ce", "aabb", "bb", "e9", "312e30")
LONG = 300  # letters of a long text


def some_literal(writer: Writer, family: str) -> Node:
    """A literal of the family, at times NULL."""
    share = writer.random()
    if share < 0.1:
        return nodes.null()
    if share > writer.grammar.usual:
        rare = _rare_literal(writer, family)
        if rare is not None:
            return rare
    usual, edges = POOLS[writer.choice(KINDS.get(family, ("TEXT",)))]
    return literal(writer.choice(edges if writer.random() < 0.12 else usual))


def _rare_literal(writer: Writer, family: str) -> Node | None:
    """A blob, a truth value, an infinity or a long text."""
    kind = writer.choice(writer.grammar.rare)
    if family == "text" and kind != "long" and not writer.mixed:
        return None
    if kind == "long":
        return text("ab" * LONG) if family == "text" and writer.chance(0.3) else None
    if kind == "blob":
        made: Node = exp.HexString(this=writer.choice(BLOBS))
        return exp.Neg(this=made) if writer.chance(0.2) else made
    if kind == "boolean":
        return exp.Boolean(this=writer.chance(0.5))
    infinite = exp.Literal(this="1e500", is_string=False)
    return exp.Neg(this=infinite) if writer.chance(0.5) else infinite


def stored_literal(writer: Writer, source: Source, of: Column) -> Node:
    """A literal that the column mostly holds, so that comparisons come out true at times.

    At times a text that only some collation takes as equal to one it holds, a number as a text, or
    a text as a blob.
    """
    values = source.values(of)
    if not values or writer.random() < 0.2:
        return some_literal(writer, of.family)
    value = writer.choice(values)
    if type(value) is str:
        share = writer.random()
        if share < 0.4:
            value = value.swapcase() if share < 0.32 else f"{value} "
        elif share > 0.97 and writer.mixed and writer.has("blob"):
            return exp.HexString(this=value.encode("utf-8", "surrogateescape").hex())
    elif type(value) is bytes:
        return exp.HexString(this=value.hex())
    elif writer.random() < 0.1 and writer.mixed:
        return text(str(value))
    return literal(value)
