"""Changes after the first rows: INSERT in its forms, UPDATE, DELETE, and of the tables themselves.

Their outcome must not depend on the order in which an engine goes through rows. So columns of keys
are changed in one row at a time, a query's rows are only put where no key can refuse some of them,
and tables whose rows are numbered by such an order are marked: no query asks for the numbers.
"""

from __future__ import annotations

import dataclasses

from sqlglot import exp

from refute.fuzz.sql.definitions import ALTERNATIVE, name, table
from refute.fuzz.sql.drafts import (
    Draft,
    Drafting,
    bare,
    column_of,
    equals,
    is_rowid,
    numeric,
    type_of,
)
from refute.fuzz.sql.schema import POOLS, Column, affinity, literal
from refute.fuzz.sql.tables import one_row, value_for
from refute.fuzz.sql.text import Node
from refute.plain import Plain

CHANGES = ("update", "update", "delete", "upsert", "insert-or", "insert-select", "insert")


def add_change(drafting: Drafting) -> None:
    """Adds one statement that changes rows of a table."""
    rng = drafting.rng
    draft = rng.choice(drafting.drafts)
    allowed = [kind for kind in CHANGES if kind == "insert" or kind in drafting.shape.features]
    often = drafting.shape.often
    kind = often if often in allowed and rng.random() < 0.5 else rng.choice(allowed)
    if draft.kind == "virtual" and kind not in ("delete", "insert"):
        return
    if kind == "update":
        _update(drafting, draft)
    elif kind == "delete":
        made = exp.Delete(this=table(draft.name))
        if rng.random() < 0.95:
            made.set("where", exp.Where(this=_condition(drafting, draft)))
        drafting.statements.append(made)
    elif kind == "insert-select":
        _insert_select(drafting, draft)
    elif draft.kind == "table":
        _insert(drafting, draft, kind)


def _condition(drafting: Drafting, draft: Draft) -> Node:
    """Which rows: mostly those with one value."""
    rng = drafting.rng
    if draft.rows and rng.random() < 0.6:
        column = rng.choice(draft.plain())
        return equals(column, rng.choice(draft.rows)[column.name])
    return bare(drafting.writer(draft).condition(rng.choice((0, 1, 1))))


def _single(drafting: Drafting, draft: Draft) -> Node | None:
    """A condition that at most one row meets; None where no key of one column tells rows apart."""
    firsts = [key[0] for key in draft.keys if len(key) == 1]
    columns = [c for c in draft.columns if c.name in firsts]
    if not columns or not draft.rows:
        return None
    column = drafting.rng.choice(columns)
    value = drafting.rng.choice(draft.rows)[column.name]
    return None if value is None else equals(column, value)


def _update(drafting: Drafting, draft: Draft) -> None:
    rng, keyed = drafting.rng, draft.keyed()
    column = rng.choice(draft.plain())
    made = exp.Update(this=table(draft.name))
    if column.name in keyed:
        condition = _single(drafting, draft)
        if condition is None:
            return
        alternatives = ("IGNORE", "REPLACE", "IGNORE", "REPLACE", "")
        value = literal(value_for(drafting, draft, column))
    else:
        condition = _condition(drafting, draft) if rng.random() < 0.85 else None
        alternatives = ("", "", "", "IGNORE", "REPLACE")
        value = _new_value(drafting, draft, column)
    alternative = rng.choice(alternatives) if "update-or" in drafting.shape.features else ""
    if draft.picky and not alternative:
        return
    if column.name in keyed and not alternative:
        return  # it would break the key too often
    made.set("expressions", [exp.EQ(this=column_of(column), expression=value)])
    others = [c for c in draft.plain() if c.name not in keyed and c is not column]
    if others and rng.random() < 0.25:  # it sees the first one as it was before
        also = rng.choice(others)
        value = column_of(column) if _takes(draft, also) else _new_value(drafting, draft, also)
        made.append("expressions", exp.EQ(this=column_of(also), expression=value))
    if condition is not None:
        made.set("where", exp.Where(this=condition))
    if alternative:
        made.set(ALTERNATIVE, "IGNORE" if draft.picky else alternative)
    drafting.statements.append(made)


def _takes(draft: Draft, column: Column) -> bool:
    """Whether any value may be put into a column."""
    return not column.not_null and not draft.strict


def _new_value(drafting: Drafting, draft: Draft, column: Column) -> Node:
    rng = drafting.rng
    if _takes(draft, column) and rng.random() < 0.3:
        of = rng.choice(draft.plain())
        this = column_of(of)
        if numeric(of) and rng.random() < 0.5:
            return exp.Add(this=this, expression=literal(1))
        return this if rng.random() < 0.5 else bare(drafting.writer(draft).value(column.family, 1))
    return literal(value_for(drafting, draft, column))


def _insert(drafting: Drafting, draft: Draft, kind: str) -> None:
    """INSERT of one more row, which a key may refuse where something else is said for that."""
    rng = drafting.rng
    row = {c.name: value_for(drafting, draft, c) for c in draft.plain()}
    if draft.rows and rng.random() < 0.5:  # a key that is there already
        known = rng.choice(draft.rows)
        for key in draft.keys[:1] or [tuple(sorted(draft.guarded))]:
            row.update({called: known[called] for called in key if called in row})
    keyless = not draft.keyed()
    if kind == "insert" and not keyless:
        return
    made = one_row(drafting, draft, row)
    if kind == "insert-or":
        made.set("alternative", "IGNORE" if draft.picky else rng.choice(("REPLACE", "IGNORE")))
    if kind == "upsert":
        if draft.picky:
            return
        made.args.pop("alternative", None)
        made.set("conflict", _conflict(drafting, draft))
    drafting.statements.append(made)


def _conflict(drafting: Drafting, draft: Draft) -> Node:
    """ON CONFLICT: nothing, or an update of a column that is in no key."""
    rng = drafting.rng
    free = [c for c in draft.plain() if c.name not in draft.keyed() and not is_rowid(draft, c)]
    plain = [key for key in draft.keys if not _collated(draft, key)]
    whole = len(draft.keys) == 1 and len(plain) == 1 and not draft.guarded
    if not (whole and free and rng.random() < 0.75):
        return exp.OnConflict(action=exp.Var(this="DO NOTHING"))
    column = rng.choice(free)
    excluded = exp.Column(this=name(column.name), table=name("excluded"))
    value = excluded if rng.random() < 0.5 else literal(value_for(drafting, draft, column))
    made = exp.OnConflict(
        action=exp.Var(this="DO UPDATE"),
        conflict_keys=[name(called) for called in plain[0]],
        expressions=[exp.EQ(this=column_of(column), expression=value)],
    )
    if rng.random() < 0.25:
        this = exp.Column(this=name(column.name), table=name(draft.name))
        made.set("where", exp.Where(this=exp.Not(this=exp.Is(this=this, expression=exp.Null()))))
    return made


def _collated(draft: Draft, key: tuple[str, ...]) -> bool:
    """Whether a key of several columns may compare otherwise than these columns do."""
    return len(key) > 1 and any(
        isinstance(c.find(exp.Collate), exp.Collate) for c in draft.constraints
    )


def _insert_select(drafting: Drafting, draft: Draft) -> None:
    """INSERT of the rows of a table, where no key and no CHECK can refuse some."""
    rng = drafting.rng
    if draft.keyed() or draft.picky or draft.strict or draft.constraints:
        return
    other = rng.choice(drafting.drafts)
    found = [c for c in draft.plain() if not c.not_null]
    if not found or other.kind == "virtual":
        return
    into = rng.sample(found, min(len(found), len(other.columns), rng.choice((1, 1, 2))))
    if len(into) < len(draft.plain()) and any(c.not_null for c in draft.plain()):
        return
    shown = rng.sample(other.columns, len(into))
    query = exp.Select(
        expressions=[column_of(c) for c in shown], from_=exp.From(this=table(other.name))
    )
    query.set("where", exp.Where(this=_condition(drafting, other)))
    this = exp.Schema(this=table(draft.name), expressions=[name(c.name) for c in into])
    drafting.statements.append(exp.Insert(this=this, expression=query))
    draft.settled = False


def add_alteration(drafting: Drafting) -> None:
    """Adds an ALTER TABLE: one column more, or one under another name."""
    rng = drafting.rng
    tables = [draft for draft in drafting.drafts if draft.kind == "table"]
    plain = [draft for draft in tables if not _entangled(draft)]
    if plain and drafting.has("rename-column", 0.4):
        _rename(drafting, rng.choice(plain))
        return
    draft = rng.choice(tables)
    kinds = ("INTEGER", "TEXT", "REAL", "NUMERIC")
    kind = rng.choice(kinds if "numeric" in drafting.shape.features else kinds[:3])
    default: Plain = rng.choice(POOLS[affinity(kind)][0]) if rng.random() < 0.5 else None
    if draft.strict and kind == "NUMERIC":
        return
    column = Column(
        drafting.fresh("n"), kind, default=default if drafting.has("default", 0.9) else None
    )
    definition = exp.ColumnDef(this=name(column.name), kind=type_of(kind), constraints=[])
    if column.default is not None:
        made = exp.DefaultColumnConstraint(this=literal(column.default))
        definition.set("constraints", [exp.ColumnConstraint(kind=made)])
    drafting.statements.append(
        exp.Alter(this=table(draft.name), kind="TABLE", actions=[definition])
    )
    draft.columns.append(column)
    draft.rows[:] = [{**row, column.name: column.default} for row in draft.rows]


def _entangled(draft: Draft) -> bool:
    """Whether something kept of the table names its columns in a tree."""
    computed = any(column.computed is not None for column in draft.columns)
    return bool(computed or draft.constraints or draft.expressions or draft.conditions)


def _rename(drafting: Drafting, draft: Draft) -> None:
    old = drafting.rng.choice(draft.columns)
    new = drafting.fresh("n")
    action = exp.RenameColumn(this=column_of(old), to=column_of(Column(new, "")))
    drafting.statements.append(exp.Alter(this=table(draft.name), kind="TABLE", actions=[action]))
    place = draft.columns.index(old)
    draft.columns[place] = dataclasses.replace(old, name=new)
    draft.keys = [tuple(new if c == old.name else c for c in key) for key in draft.keys]
    draft.firsts = [new if c == old.name else c for c in draft.firsts]
    draft.guarded = {new if c == old.name else c for c in draft.guarded}
    draft.rows[:] = [{new if c == old.name else c: v for c, v in r.items()} for r in draft.rows]
