"""Tables and their first rows: mostly very small ones, because they show most of what goes wrong.

Rows are drawn so that they keep the table's keys, taking texts as equal that are so under any
collation or type; those meant to be refused are marked as such by being in no table's rows.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterator, Sequence

from sqlglot import exp

from refute.fuzz.sql.definitions import name
from refute.fuzz.sql.drafts import (
    Draft,
    Drafting,
    Row,
    bare,
    column_of,
    insert,
    is_rowid,
)
from refute.fuzz.sql.schema import (
    BLOBS,
    CONVERTED,
    INFINITIES,
    INTEGERS,
    LONG,
    POOLS,
    THEMES,
    Column,
    Shape,
    affinity,
    literal,
)
from refute.fuzz.sql.text import Node
from refute.plain import Plain

NULLS = 0.3  # of the values in columns that take them
NULLS_IN_KEYS = 0.06  # which SQLite takes in a PRIMARY KEY that is not the number of the row
EDGES = 0.12  # of the other values
THEMED = {"TEXT": 0.35, "INTEGER": 0.05}  # of the columns of that type
TOGETHER = 0.5  # of the rows that are refused, in one INSERT with a row that would be accepted
NEAR = 0.2  # of the values: a text that only some collations take as equal to one before
TINY = 0.6  # of the databases
NAMES = "abcdef"
TYPES = ("INTEGER", "INTEGER", "INTEGER", "TEXT", "TEXT", "REAL")
TYPES_OF_TEXT = ("TEXT", "TEXT", "INTEGER")
OTHER_WORDS = {
    "INTEGER": ("INT", "BIGINT", "SMALLINT", "INT"),
    "TEXT": ("VARCHAR(10)", "CHAR(5)", "VARCHAR(100)"),
    "REAL": ("DOUBLE", "FLOAT"),
    "NUMERIC": ("BOOLEAN", "DECIMAL(10, 2)", "NUMERIC"),
    "": ("BLOB",),
}
STRICT_TYPES = ("INTEGER", "INTEGER", "TEXT", "TEXT", "REAL", "ANY")


def make_tables(drafting: Drafting, most: int) -> None:
    """Adds tables without rows; each as CREATE TABLE."""
    rng, shape = drafting.rng, drafting.shape
    tiny = rng.random() < TINY
    few = min(most, 2) if tiny else most
    count = 1 + min(rng.randrange(few), rng.randrange(few + 1))
    if shape.often == "trigger" and most > 1:
        count = max(2, count)
    for place in range(count):
        width = 1 + min(rng.randrange(3), rng.randrange(3)) if tiny else 1 + rng.randrange(5)
        draft = _table(drafting, f"t{place}", width)
        drafting.drafts.append(draft)
        drafting.statements.append(draft.definition())
        full = min(3, shape.rows) if tiny else shape.rows
        many = 0 if rng.random() < 0.08 else rng.randint(min(1, full), full)
        for row in _rows(drafting, draft, many):
            draft.rows.append(row)  # where the next value looks


def _table(drafting: Drafting, called: str, width: int) -> Draft:
    rng = drafting.rng
    draft = Draft(called, [])
    draft.strict = drafting.has("strict", 0.04)
    draft.columns = [_column(drafting, NAMES[i], strict=draft.strict) for i in range(width)]
    _key(drafting, draft)
    keyed = bool(draft.keys and not draft.strict)
    if keyed and len(draft.keys[0]) > 1:
        keyed = "not-null" in drafting.shape.features
    draft.without_rowid = keyed and drafting.has("without-rowid", 0.5)
    if draft.without_rowid:
        draft.columns = [
            dataclasses.replace(c, not_null=c.not_null or c.name in draft.keys[0])
            if len(draft.keys[0]) > 1
            else c
            for c in draft.columns
        ]
    draft.keys += [(c.name,) for c in draft.columns if c.key == "UNIQUE"]
    if width > 1 and drafting.has("composite-key", 0.06):
        draft.keys.append(tuple(c.name for c in rng.sample(draft.columns, 2)))
        draft.constraints.append(
            exp.UniqueColumnConstraint(this=exp.Schema(expressions=_parts(drafting, draft, -1)))
        )
    if drafting.has("check", 0.08):
        _check(drafting, draft)
    if drafting.has("foreign-key", 0.04):
        _reference(drafting, draft)
    if drafting.has("generated", 0.1):
        _computed(drafting, draft)
    return draft


def _column(drafting: Drafting, called: str, *, strict: bool) -> Column:
    rng, shape = drafting.rng, drafting.shape
    if strict:
        kind = rng.choice(STRICT_TYPES)
    elif drafting.has("untyped", 0.2):
        kind = ""
    elif drafting.has("numeric", 0.12):
        kind = "NUMERIC"
    else:
        kind = rng.choice(TYPES_OF_TEXT if shape.often == "column-collate" else TYPES)
    pool = affinity(kind)
    collating = {"TEXT": 0.25, "": 0.15}.get(pool, 0.03)
    collation = "NOCASE" if drafting.has("column-collate", collating) else ""
    if collation and drafting.has("rtrim", 0.2):
        collation = "RTRIM"
    if not strict and drafting.has("types", 0.15):
        kind = rng.choice(OTHER_WORDS[pool])
    default = drafting.has("default", 0.1)
    themes = THEMES[pool] if rng.random() < THEMED.get(pool, 0.0) else ()
    return Column(
        called,
        kind,
        collation=collation,
        not_null=drafting.has("not-null", 0.1),
        key="UNIQUE" if drafting.has("unique", 0.1) else "",
        default=rng.choice(POOLS[pool][0]) if default else None,
        theme=rng.choice(themes) if themes else (),
    )


def _key(drafting: Drafting, draft: Draft) -> None:
    """Gives the table a primary key: its first column, or several."""
    if not drafting.has("primary-key", 0.3):
        return
    columns = draft.columns
    if len(columns) > 1 and drafting.has("composite-key", 0.25):
        draft.keys.append(tuple(c.name for c in columns[:2]))
        draft.constraints.append(exp.PrimaryKey(expressions=_parts(drafting, draft, 0)))
        return
    kind = columns[0].type
    if not draft.strict and drafting.rng.random() < 0.25:
        kind = "INTEGER"
    theme = columns[0].theme if kind == columns[0].type else ()
    columns[0] = dataclasses.replace(
        columns[0], type=kind, key="PRIMARY KEY", default=None, theme=theme
    )
    draft.keys.append((columns[0].name,))


def _parts(drafting: Drafting, draft: Draft, place: int) -> list[Node]:
    """The columns of a key of several, with collations and directions of their own at times."""
    found: list[Node] = []
    for called in draft.keys[place]:
        part: Node = name(called)
        if "collate" in drafting.shape.features and drafting.has("index-collate", 0.15):
            draft.folded.add(draft.keys[place])
            part = exp.Collate(this=exp.Column(this=part), expression=exp.Var(this="NOCASE"))
        if drafting.rng.random() < 0.15:
            part = exp.Ordered(this=part, desc=True, nulls_first=False)
        found.append(part)
    return found


def _check(drafting: Drafting, draft: Draft) -> None:
    """A CHECK that most rows keep; or any condition, when rows may be left out."""
    rng = drafting.rng
    if "insert-or" in drafting.shape.features and rng.random() < 0.25:
        draft.picky = True
        condition = bare(drafting.writer(draft).condition(1))
    else:
        this = column_of(rng.choice(draft.columns))
        condition = exp.NEQ(this=this, expression=literal(rng.choice((77, "zz", 0.25))))
        if rng.random() < 0.3:
            null = exp.Is(this=this.copy(), expression=exp.Null())
            condition = exp.Or(this=null, expression=condition)
        elif "functions" in drafting.shape.features and rng.random() < 0.3:
            condition = exp.LT(this=exp.Length(this=this), expression=literal(1000))
    draft.constraints.append(exp.CheckColumnConstraint(this=condition))


def _reference(drafting: Drafting, draft: Draft) -> None:
    """REFERENCES of a table's key; SQLite does not check it unless it is told to."""
    for other in drafting.drafts:
        for first, *more in other.keys:
            if not more:
                key = exp.Schema(this=exp.Table(this=name(other.name)), expressions=[name(first)])
                draft.constraints.append(
                    exp.ForeignKey(
                        expressions=[name(draft.columns[-1].name)],
                        reference=exp.Reference(this=key),
                    )
                )
                return


def _computed(drafting: Drafting, draft: Draft) -> None:
    """A generated column at the end."""
    rng = drafting.rng
    writer = drafting.writer(draft)
    of = rng.choice(draft.columns)
    this = column_of(of)
    drawn = rng.random()
    tree: Node
    if drawn < 0.3:
        tree = this
    elif drawn < 0.4:
        tree = exp.Add(this=this, expression=literal(1))
    elif drawn < 0.5 and "concat" in drafting.shape.features:
        tree = exp.DPipe(this=this, expression=literal("x"))
    else:
        tree = bare(writer.value(rng.choice(("number", "text", "any", "truth")), 1))
    kind = rng.choice(("", "REAL", "TEXT", "INTEGER", "NUMERIC"))
    unlike = {"": "untyped", "NUMERIC": "numeric"}.get(kind)
    if unlike and unlike not in drafting.shape.features:
        kind = "INTEGER"
    if draft.strict:
        kind = "ANY"
    collated = kind in ("", "TEXT") and drafting.has("column-collate", 0.2)
    draft.columns.append(
        Column(
            NAMES[len(draft.columns)] if len(draft.columns) < len(NAMES) else "g",
            kind,
            collation="NOCASE" if collated else "",
            computed=tree,
            stored=drafting.has("stored", 0.4),
        )
    )


def _rows(drafting: Drafting, draft: Draft, count: int) -> Iterator[Row]:
    taken: list[set[object]] = [set() for _ in draft.keys]
    for _ in range(count):
        row = {c.name: value_for(drafting, draft, c) for c in draft.plain()}
        found = [identity(draft, row, key, folds=key in draft.folded) for key in draft.keys]
        if any(k is not None and k in t for k, t in zip(found, taken, strict=True)):
            continue
        for known, key in zip(taken, found, strict=True):
            if key is not None:
                known.add(key)
        yield row


def value_for(drafting: Drafting, draft: Draft, column: Column) -> Plain:
    """A value that the column takes: mostly of its type, at times one that it converts or keeps."""
    rng, shape = drafting.rng, drafting.shape
    primary = _primary(draft) and column.name in draft.keys[0]
    filled = column.not_null or is_rowid(draft, column) or (primary and draft.without_rowid)
    if not filled and rng.random() < (NULLS_IN_KEYS if primary else NULLS):
        return None
    pool = affinity(column.type)
    if pool in ("TEXT", "") and draft.rows and rng.random() < NEAR:
        known = rng.choice(draft.rows).get(column.name)
        if type(known) is str:
            return known.swapcase() if rng.random() < 0.8 else f"{known} "
    if is_rowid(draft, column):
        return rng.choice(POOLS["INTEGER"][1] if rng.random() < EDGES else INTEGERS)
    if draft.strict:
        return _value(rng, shape, column, pool)
    if drafting.has("conversion", 0.08):
        return rng.choice(CONVERTED.get(pool, POOLS[pool][1]))
    return _value(rng, shape, column, pool)


def _primary(draft: Draft) -> bool:
    """Whether the first of its keys is its primary key."""
    return any(c.key == "PRIMARY KEY" for c in draft.columns) or any(
        isinstance(constraint, exp.PrimaryKey) for constraint in draft.constraints
    )


def _value(rng: random.Random, shape: Shape, column: Column, pool: str) -> Plain:
    if column.theme:
        return rng.choice(column.theme)
    share = rng.random()
    if share < 0.04:
        if pool in ("REAL", "") and "infinity" in shape.features:
            return rng.choice(INFINITIES)
        if pool == "TEXT":
            return LONG if share < 0.01 else rng.choice(POOLS[pool][1])
    if pool == "" and share > 0.8 and "blob" in shape.features:
        return rng.choice(BLOBS)
    usual, edges = POOLS[pool]
    return rng.choice(edges if rng.random() < EDGES else usual)


def identity(draft: Draft, row: Row, key: Sequence[str], *, folds: bool) -> object:
    """Equal for rows that a key takes as equal; None where it takes none as such, for a NULL.

    folds: whether the key has a collation of its own; then texts are equal under any collation.
    """
    columns = [column for called in key for column in draft.columns if column.name == called]
    values = [row.get(column.name) for column in columns]
    if None in values:
        return None
    return tuple(_kept(c, v, folds=folds) for c, v in zip(columns, values, strict=True))


def _kept(column: Column, value: Plain, *, folds: bool) -> object:
    """What a column makes of a value, and its collation of that."""
    pool = affinity(column.type)
    if type(value) is str and pool in ("INTEGER", "REAL", "NUMERIC"):
        try:
            return float(value)
        except ValueError:
            pass
    if type(value) in (int, float):
        if pool != "TEXT":
            return value
        value = str(value)
    if type(value) is str and (folds or column.collation):
        return value.rstrip(" ").lower()
    return value


def fill(drafting: Drafting, draft: Draft) -> None:
    """The statements that put the first rows into a table."""
    rng = drafting.rng
    refused = _refused(drafting, draft)
    together = rng.random() < 0.5 and not draft.picky
    columns = draft.plain()
    computed = len(columns) < len(draft.columns)
    if together and draft.rows:
        named = _needed(columns, draft.rows)
        names = [c.name for c in named]
        rows = [[row[called] for called in names] for row in draft.rows]
        whole = len(named) == len(columns) and not computed
        drafting.statements.append(insert(draft.name, [] if whole else names, rows))
    else:
        for row in draft.rows:
            drafting.statements.append(one_row(drafting, draft, row))
    names = [c.name for c in columns]
    for group in refused:
        values = [[row[called] for called in names] for row in group]
        drafting.statements.append(insert(draft.name, names, values))


def one_row(drafting: Drafting, draft: Draft, row: Row) -> Node:
    """INSERT of one row; columns that would get their value anyway are left out at times."""
    columns = draft.plain()
    named = [
        c for c in columns if row[c.name] != c.default or drafting.rng.random() < 0.4
    ] or columns
    whole = len(named) == len(draft.columns)
    names = [] if whole and drafting.rng.random() < 0.5 else [c.name for c in named]
    alternative = ""
    if draft.picky:
        alternative = "IGNORE"
    elif drafting.has("insert-or", 0.08):
        alternative = drafting.rng.choice(("REPLACE", "IGNORE"))
    return insert(draft.name, names, [[row[c.name] for c in named]], alternative)


def _needed(columns: Sequence[Column], rows: Sequence[Row]) -> list[Column]:
    """The columns without those whose every value is their default."""
    named = [c for c in columns if c.default is None or any(r[c.name] != c.default for r in rows)]
    return named or list(columns)


def _refused(drafting: Drafting, draft: Draft) -> list[list[Row]]:
    """At most one INSERT whose last row breaks a NOT NULL or a key."""
    if not draft.rows or draft.picky or not drafting.has("violation", 0.08):
        return []
    row = dict(drafting.rng.choice(draft.rows))
    keys = [key for key in draft.keys if None not in [row[called] for called in key]]
    empty = [c.name for c in draft.plain() if c.not_null]
    if not keys and not empty:
        return []
    if not keys:
        row[empty[0]] = None
    before: list[Row] = []
    if len(draft.rows) > 1 and drafting.rng.random() < TOGETHER:
        before = [draft.rows.pop()]  # of such a statement nothing may stay
    return [[*before, row]]
