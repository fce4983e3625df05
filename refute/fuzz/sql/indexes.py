"""Indexes: of columns and expressions, of all rows or some.

An index is where an engine may find other rows than a scan: where its collation is another than a
comparison's, where a query's condition seems to imply that of the index and does not, where an
expression is taken for the one that is stored. A constant as the only term is an index too: all
that matters then is its WHERE.
"""

from __future__ import annotations

from sqlglot import exp

from refute.fuzz.sql.definitions import index
from refute.fuzz.sql.drafts import Draft, Drafting, bare, column_of, type_of
from refute.fuzz.sql.schema import Column, literal
from refute.fuzz.sql.tables import identity
from refute.fuzz.sql.text import Node

CASTS = ("NUMERIC", "INTEGER", "TEXT", "REAL", "BLOB")
CONSTANTS = ("1", "1", "0", "2")


def add_index(drafting: Drafting, draft: Draft) -> None:
    """Adds a CREATE INDEX on the table, if the shape allows any."""
    rng, columns = drafting.rng, draft.columns
    whole = drafting.has("expression-index", 0.3)
    if not whole and "index" not in drafting.shape.features:
        return
    some = rng.sample(columns, min(len(columns), rng.choice((1, 1, 1, 2, 2, 3))))
    terms = [_term(drafting, draft, column, whole=whole) for column in some]
    if "index" not in drafting.shape.features and all(map(_is_column, terms)):
        return
    condition = _condition(drafting, draft) if drafting.has("partial-index", 0.35) else None
    called = drafting.fresh("i")
    made = index(draft.name, called, terms)
    if condition is not None:
        made.this.args["params"].set("where", exp.Where(this=condition))
    unique = not whole and drafting.has("unique-index", 0.25)
    names = tuple(column.name for column in some)
    if unique and draft.kind == "table" and _distinct(draft, names):
        made.set("unique", True)
        draft.guarded.update(names)
        if condition is None:
            draft.keys.append(names)
    drafting.statements.append(made)
    draft.indexes.append(called)
    if _is_column(terms[0]):
        draft.firsts.append(some[0].name)
    draft.expressions += [term.this for term in terms if not _is_column(term)]
    if condition is not None:
        draft.conditions.append(condition)


def _is_column(term: Node) -> bool:
    """Whether a term is a column, with or without a collation of its own."""
    this = term.this.this if isinstance(term.this, exp.Collate) else term.this
    return isinstance(this, exp.Column)


def _distinct(draft: Draft, names: tuple[str, ...]) -> bool:
    """Whether a unique index takes the rows that the table has or gets."""
    if any(column.computed is not None for column in draft.columns if column.name in names):
        return False
    found = [identity(draft, row, names, folds=True) for row in draft.rows]
    keys = [key for key in found if key is not None]
    return len(keys) == len(set(keys))


def _term(drafting: Drafting, draft: Draft, column: Column, *, whole: bool) -> Node:
    """One term of an index. whole: whether it may be any expression."""
    rng = drafting.rng
    this = _expression(drafting, draft, column) if whole and rng.random() < 0.75 else None
    if this is None:
        this = column_of(column)
        if "collate" in drafting.shape.features and drafting.has("index-collate", 0.3):
            words = ("NOCASE", "NOCASE", "BINARY", "RTRIM")
            word = rng.choice(words if "rtrim" in drafting.shape.features else words[:3])
            this = exp.Collate(this=this, expression=exp.Var(this=word))
    desc = rng.random() < 0.15
    return exp.Ordered(this=this, desc=desc or None, nulls_first=not desc)


def _expression(drafting: Drafting, draft: Draft, column: Column) -> Node:
    rng, features = drafting.rng, drafting.shape.features
    drawn, this = rng.random(), column_of(column)
    if drawn < 0.2:
        return exp.Literal(this=rng.choice(CONSTANTS), is_string=False)
    if drawn < 0.4 and "cast" in features:
        kinds = CASTS if "blob" in drafting.shape.features else CASTS[:-1]
        return exp.Cast(this=this, to=type_of(rng.choice(kinds)))
    if drawn < 0.55:
        return exp.Add(this=this, expression=literal(1))
    if drawn < 0.6:
        return exp.Neg(this=this)
    family = rng.choice(("number", "text", "any", "truth"))
    made = bare(drafting.writer(draft).value(family, 1))
    return column_of(column) if isinstance(made, exp.Literal) else made  # a text would be a name


def _condition(drafting: Drafting, draft: Draft) -> Node:
    """The WHERE of an index: mostly such as queries imply, or seem to."""
    rng = drafting.rng
    drawn, column = rng.random(), rng.choice(draft.columns)
    this: Node = column_of(column)
    if drawn < 0.15:
        family = rng.choice(("number", "text", "any"))
        this = exp.Paren(this=bare(drafting.writer(draft).value(family, 1)))
    elif drawn < 0.2 and "bits" in drafting.shape.features:
        this = exp.Paren(this=exp.BitwiseNot(this=this))
    if drawn < 0.5:
        return exp.Not(this=exp.Is(this=this, expression=exp.Null()))
    if drawn < 0.65:
        return exp.Is(this=this, expression=exp.Null())
    if drawn < 0.75:
        other = column_of(rng.choice(draft.columns))
        return rng.choice((exp.GT, exp.GTE, exp.EQ, exp.LTE))(this=this, expression=other)
    return bare(drafting.writer(draft).condition(rng.choice((0, 0, 1))))
