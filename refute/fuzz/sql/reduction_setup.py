"""Reduction of databases: fewer tables, rows, columns and constraints, and simpler values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from refute.fuzz.sql.schema import literal
from refute.fuzz.sql.text import Node, read, write
from refute.plain import Plain

SIMPLEST: tuple[Plain, ...] = (0, 1, "", "a", None, "A", 2, -1, "1", "b", 0.5)


def simpler_setups(setup: Sequence[str], query: Node, *, fine: bool) -> Iterator[list[str]]:
    """Setups simpler than this one, for this query. fine: by small steps only, or by large ones."""
    trees = [read(statement) for statement in setup]
    if fine:
        yield from _fine(setup, trees)
        return
    names = {table.name for table in query.find_all(exp.Table)}
    used = [s for s, t in zip(setup, trees, strict=True) if t is None or _table(t) in names]
    if len(used) < len(setup):
        yield used
    for place, tree in enumerate(trees):
        if isinstance(tree, exp.Insert):
            yield [*setup[:place], *setup[place + 1 :]]
    columns = {column.name for column in query.find_all(exp.Column)}
    if not any(isinstance(column, exp.Star) for column in query.find_all(exp.Star)):
        yield from _without_unused(setup, trees, columns)
    for place, tree in enumerate(trees):
        if isinstance(tree, exp.Insert):
            for fewer in _fewer_rows(tree):
                yield [*setup[:place], fewer, *setup[place + 1 :]]


def without_columns(setup: Sequence[str], query: Node) -> Iterator[list[str]]:
    """Without columns that the query does not name itself, though a `*` may show them."""
    trees = [read(statement) for statement in setup]
    yield from _without_unused(setup, trees, {column.name for column in query.find_all(exp.Column)})


def _table(tree: Node) -> str:
    found = tree.find(exp.Table)
    return found.name if found is not None else ""


def _without_unused(
    setup: Sequence[str], trees: Sequence[Node | None], used: set[str]
) -> Iterator[list[str]]:
    """Without columns that the query does not name: all of them, then one by one."""
    unused = [
        (_table(tree), name)
        for tree in trees
        if isinstance(tree, exp.Create)
        for name in _columns(tree)
        if name not in used
    ]
    for some in ([unused] if len(unused) > 1 else []) + [[one] for one in unused]:
        statements = list(setup)
        for table, name in some:
            changed = _without_column(statements, table, name)
            statements = statements if changed is None else changed
        yield statements


def _columns(create: Node) -> list[str]:
    if not isinstance(create.this, exp.Schema):
        return []
    kinds = (exp.ColumnDef, exp.Identifier)
    return [c.name for c in create.this.expressions if isinstance(c, kinds)]


def _without_column(setup: Sequence[str], table: str, name: str) -> list[str] | None:
    """Without one column of a table; None when that leaves no table, or cannot be done."""
    trees = [read(statement) for statement in setup]
    own = [t for t in trees if isinstance(t, exp.Create | exp.Insert) and _table(t) == table]
    create = next((t for t in own if isinstance(t, exp.Create)), None)
    if create is None or len(_columns(create)) < 2 or name not in _columns(create):
        return None
    place = _columns(create).index(name)
    create.this.set("expressions", _but(create.this.expressions, place))
    for insert in (t for t in own if isinstance(t, exp.Insert)):
        if not isinstance(insert.expression, exp.Values):
            return None
        at = place
        if isinstance(insert.this, exp.Schema):
            named = [c.name for c in insert.this.expressions]
            if name not in named:
                continue
            at = named.index(name)
            if len(named) == 1:
                return None
            insert.this.set("expressions", _but(insert.this.expressions, at))
        for row in insert.expression.expressions:
            row.set("expressions", _but(row.expressions, at))
    changed = {id(t) for t in own}
    return [
        write(t) if t is not None and id(t) in changed else s
        for s, t in zip(setup, trees, strict=True)
    ]


def _but(items: Sequence[Node], place: int) -> list[Node]:
    return [item for index, item in enumerate(items) if index != place]


def _fewer_rows(insert: Node) -> Iterator[str]:
    """The INSERT with half of its rows, and with one less."""
    if not isinstance(insert.expression, exp.Values):
        return
    rows = insert.expression.expressions
    runs = [len(rows) // 2, len(rows) // 4, 1]
    for run in dict.fromkeys(r for r in runs if r):
        for start in range(0, len(rows) if len(rows) > 1 else 0, run):
            copy = insert.copy()
            kept = copy.expression.expressions
            copy.expression.set("expressions", kept[:start] + kept[start + run :])
            if copy.expression.expressions:
                yield write(copy)


def _fine(setup: Sequence[str], trees: Sequence[Node | None]) -> Iterator[list[str]]:
    for place, tree in enumerate(trees):
        if isinstance(tree, exp.Create):
            for text in _plainer_table(tree):
                yield [*setup[:place], text, *setup[place + 1 :]]
        elif isinstance(tree, exp.Insert) and isinstance(tree.expression, exp.Values):
            for text in _simpler_values(tree):
                yield [*setup[:place], text, *setup[place + 1 :]]


def _plainer_table(create: Node) -> Iterator[str]:
    """The table with a constraint less, or a column without its type."""
    for index, column in enumerate(create.find_all(exp.ColumnDef)):
        for constraint in range(len(column.constraints)):
            copy = create.copy()
            found = list(copy.find_all(exp.ColumnDef))[index]
            found.set("constraints", _but(found.constraints, constraint))
            yield write(copy)
        if column.args.get("kind") is not None:
            copy = create.copy()
            list(copy.find_all(exp.ColumnDef))[index].set("kind", None)
            yield write(copy)


def _simpler_values(insert: Node) -> Iterator[str]:
    for number, row in enumerate(insert.expression.expressions):
        for place, value in enumerate(row.expressions):
            for simple in SIMPLEST:
                other = literal(simple)
                if other == value:
                    break
                copy = insert.copy()
                copy.expression.expressions[number].expressions[place].replace(other)
                yield write(copy)
