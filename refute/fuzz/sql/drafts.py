"""Tables while they are made: what is in them so far, and the statements that make them."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import random
from collections.abc import Iterator, Mapping, Sequence

from sqlglot import exp

from refute.fuzz.sql.definitions import WithoutRowid, name, table
from refute.fuzz.sql.grammar import Grammar, Source, Writer
from refute.fuzz.sql.queries import PRODUCTIONS
from refute.fuzz.sql.schema import Column, Schema, Shape, Table, affinity, literal
from refute.fuzz.sql.text import Node, look
from refute.plain import Plain

Row = Mapping[str, Plain]
SCALAR = frozenset(  # features of expressions that may stand in a definition
    (
        *("division", "modulo", "concat", "is", "in-list", "in-empty", "between", "like", "escape"),
        *("glob", "case", "coalesce", "cast", "iif", "functions", "text-functions", "sign", "bits"),
        *("number-functions", "min-max", "likelihood", "unary-plus", "collate", "blob", "boolean"),
        *("infinity", "row-values", "row-between"),
    )
)


@dataclasses.dataclass
class Draft:
    """A table that is being made.

    keys: the columns of each UNIQUE and PRIMARY KEY. folded: those of them that have a collation of
    their own. guarded: columns that a unique index looks at. firsts: those that an index begins
    with. picky: whether a CHECK may refuse rows. settled: whether its rows are numbered the same in
    every engine. rows: those that are meant to be accepted.
    """

    name: str
    columns: list[Column]
    keys: list[tuple[str, ...]] = dataclasses.field(default_factory=list)
    constraints: list[Node] = dataclasses.field(default_factory=list)
    properties: list[Node] = dataclasses.field(default_factory=list)
    kind: str = "table"
    without_rowid: bool = False
    strict: bool = False
    picky: bool = False
    settled: bool = True
    folded: set[tuple[str, ...]] = dataclasses.field(default_factory=set)
    guarded: set[str] = dataclasses.field(default_factory=set)
    rows: list[Row] = dataclasses.field(default_factory=list)
    indexes: list[str] = dataclasses.field(default_factory=list)
    firsts: list[str] = dataclasses.field(default_factory=list)
    expressions: list[Node] = dataclasses.field(default_factory=list)
    conditions: list[Node] = dataclasses.field(default_factory=list)

    def plain(self) -> list[Column]:
        """The columns that are not computed."""
        return [column for column in self.columns if column.computed is None]

    def keyed(self) -> set[str]:
        """The columns of all keys and unique indexes."""
        return self.guarded.union(*self.keys)

    def finished(self) -> Table:
        """The table as queries see it."""
        held = {
            c.name: tuple(r[c.name] for r in self.rows if r.get(c.name) is not None)
            for c in self.columns
        }
        return Table(
            self.name,
            tuple(self.columns),
            held,
            kind=self.kind,
            rowid=self.settled and not self.without_rowid,
            indexes=tuple(self.indexes),
            indexed=tuple(dict.fromkeys([*(key[0] for key in self.keys), *self.firsts])),
            expressions=tuple(self.expressions),
            conditions=tuple(self.conditions),
        )

    def definition(self) -> Node:
        """CREATE TABLE."""
        parts = [*map(_definition, self.columns), *self.constraints]
        made = exp.Create(kind="TABLE", this=exp.Schema(this=table(self.name), expressions=parts))
        properties = [*self.properties]
        if self.strict:
            properties.append(exp.StrictProperty())
        if self.without_rowid:
            properties.append(WithoutRowid())
        if properties:
            made.set("properties", exp.Properties(expressions=properties))
        return made


@dataclasses.dataclass
class Drafting:
    """A database that is being made: its random choices, tables, views and statements so far.

    mixed: as of a `Grammar`.
    """

    rng: random.Random
    shape: Shape
    drafts: list[Draft] = dataclasses.field(default_factory=list)
    views: list[Table] = dataclasses.field(default_factory=list)
    statements: list[Node] = dataclasses.field(default_factory=list)
    mixed: bool = True

    def __post_init__(self) -> None:
        self._numbers = itertools.count()

    def has(self, feature: str, share: float) -> bool:
        """Whether to use an allowed feature here."""
        return self.shape.has(self.rng, feature, share)

    def fresh(self, letter: str) -> str:
        """A name that nothing has yet."""
        return f"{letter}{next(self._numbers)}"

    def schema(self) -> Schema:
        """All that is there so far."""
        return Schema((*(draft.finished() for draft in self.drafts), *self.views))

    def writer(self, of: Draft) -> Writer:
        """A writer of expressions over one table that may stand in definitions."""
        grammar = _grammar(frozenset(self.shape.features & SCALAR), self.mixed)
        made = of.finished()
        writer = Writer(self.rng, grammar, Schema((made,)))
        writer.sources = (Source(of.name, made.columns, made),)
        return writer


@functools.lru_cache(maxsize=64)
def _grammar(features: frozenset[str], mixed: bool) -> Grammar:
    return Grammar(PRODUCTIONS, features, mixed=mixed)


def bare(tree: Node) -> Node:
    """The tree with its columns named without their table, as definitions need it."""
    for column in list(tree.find_all(exp.Column)):
        column.set("table", None)
    return tree


def column_of(column: Column) -> Node:
    """A column by its own name."""
    return exp.Column(this=name(column.name))


def insert(
    into: str, columns: Sequence[str], rows: Sequence[Sequence[Plain]], alternative: str = ""
) -> Node:
    """INSERT of these values; without names of columns where there are none."""
    this: Node = table(into)
    if columns:
        this = exp.Schema(this=this, expressions=[name(column) for column in columns])
    tuples = [exp.Tuple(expressions=[literal(value) for value in row]) for row in rows]
    made = exp.Insert(this=this, expression=exp.Values(expressions=tuples))
    if alternative:
        made.set("alternative", alternative)
    return made


def equals(column: Column, value: Plain) -> Node:
    """A comparison of a column with a value; IS NULL for NULL."""
    kind = exp.Is if value is None else exp.EQ
    return kind(this=column_of(column), expression=literal(value))


def where(condition: Node | None) -> Node | None:
    """WHERE, or nothing."""
    return None if condition is None else exp.Where(this=condition)


@functools.cache
def _declared(words: str) -> Node | None:
    tree = look(f"CREATE TABLE t (a {words})")
    assert isinstance(tree, exp.Create)
    found = tree.this.expressions[0]
    kind = found.args.get("kind") if isinstance(found, exp.ColumnDef) else None
    return kind if isinstance(kind, exp.DataType) else None


def type_of(words: str) -> Node | None:
    """The tree of a declared type, as it would be read."""
    kind = _declared(words) if words else None
    return None if kind is None else kind.copy()


def _constraints(column: Column) -> Iterator[Node]:
    if column.computed is not None:
        inside = exp.Paren(this=column.computed)
        yield exp.ComputedColumnConstraint(this=inside, persisted=column.stored)
    if column.key == "PRIMARY KEY":
        yield exp.PrimaryKeyColumnConstraint()
    if column.key == "UNIQUE":
        yield exp.UniqueColumnConstraint()
    if column.not_null:
        yield exp.NotNullColumnConstraint()
    if column.collation:
        yield exp.CollateColumnConstraint(this=exp.Var(this=column.collation))
    if column.default is not None:
        yield exp.DefaultColumnConstraint(this=literal(column.default))


def _definition(column: Column) -> Node:
    return exp.ColumnDef(
        this=name(column.name),
        kind=type_of(column.type),
        constraints=[exp.ColumnConstraint(kind=kind) for kind in _constraints(column)],
    )


def is_rowid(draft: Draft, column: Column) -> bool:
    """Whether the column is the number of the row."""
    whole = column.type.upper() == "INTEGER" and column.key == "PRIMARY KEY"
    return whole and not draft.without_rowid


def numeric(column: Column) -> bool:
    """Whether the column converts texts that look like numbers."""
    return affinity(column.type) in ("INTEGER", "REAL", "NUMERIC")
