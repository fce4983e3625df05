"""Virtual tables, where the engine has them: of full-text search and of R-trees."""

from __future__ import annotations

from sqlglot import exp

from refute.fuzz.sql.definitions import name, table
from refute.fuzz.sql.drafts import Draft, Drafting, insert
from refute.fuzz.sql.schema import Column
from refute.plain import Plain

TEXTS = ("a", "b", "A", "ab", "a b", "1", "", "x y z")
BOUNDS = (0, 1, -1, 2, 0.5, 5, 10)


def add_virtual(drafting: Drafting) -> None:
    """Adds a virtual table with its rows, where the shape has one."""
    if drafting.has("fts5", 0.03):
        _text(drafting)
    elif drafting.has("rtree", 0.03):
        _tree(drafting)


def _created(called: str, module: str, columns: list[Column]) -> exp.Create:
    names = [name(column.name) for column in columns]
    properties = [
        exp.VirtualProperty(),
        exp.ModuleProperty(this=name(module), expressions=names),
    ]
    return exp.Create(
        kind="TABLE", this=table(called), properties=exp.Properties(expressions=properties)
    )


def _added(drafting: Drafting, draft: Draft, module: str, count: int) -> None:
    drafting.drafts.append(draft)
    drafting.statements.append(_created(draft.name, module, draft.columns))
    rows = draft.rows[:count]
    for row in rows:
        drafting.statements.append(insert(draft.name, list(row), [list(row.values())]))


def _text(drafting: Drafting) -> None:
    rng = drafting.rng
    columns = [Column(letter, "") for letter in "ab"[: rng.randint(1, 2)]]
    draft = Draft(drafting.fresh("f"), columns, kind="virtual", settled=True)
    for _ in range(rng.randrange(4)):
        draft.rows.append({c.name: rng.choice((*TEXTS, 0, 1, None)) for c in columns})
    _added(drafting, draft, "fts5", len(draft.rows))


def _tree(drafting: Drafting) -> None:
    rng = drafting.rng
    columns = [Column("a", "INTEGER"), Column("b", "REAL"), Column("c", "REAL")]
    draft = Draft(drafting.fresh("r"), columns, kind="virtual", settled=False)
    for place in range(rng.randrange(4)):
        low, high = sorted((rng.choice(BOUNDS), rng.choice(BOUNDS)))
        row: dict[str, Plain] = {"a": place, "b": low, "c": high}
        if rng.random() < 0.3:
            row["c"] = None if low <= 0 else high
        draft.rows.append(row)
    _added(drafting, draft, "rtree", len(draft.rows))
