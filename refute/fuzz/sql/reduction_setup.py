"""Reduction of databases: fewer statements, rows, columns and constraints, and simpler values.

Which statements a query needs is read off their names: those that make what it names and what that
is made of, and those that change these. Whether it was enough shows when the case is tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from refute.fuzz.sql.definitions import Trigger
from refute.fuzz.sql.reduction_statements import plainer
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
    used = _used(setup, trees, query)
    if len(used) < len(setup):
        yield used
    yield from _fewer(setup)
    columns = {column.name for column in query.find_all(exp.Column)}
    if not any(isinstance(column, exp.Star) for column in query.find_all(exp.Star)):
        yield from _without_unused(setup, trees, columns)
    for place, tree in enumerate(trees):
        if isinstance(tree, exp.Insert):
            for fewer in _fewer_rows(tree):
                yield [*setup[:place], fewer, *setup[place + 1 :]]
        if tree is not None:
            for other in plainer(tree):
                yield [*setup[:place], other, *setup[place + 1 :]]


def _fewer(setup: Sequence[str]) -> Iterator[list[str]]:
    """Without some statements in a row, later ones first: halves, quarters, one by one."""
    runs = [len(setup) // 2, len(setup) // 4, 1]
    for run in dict.fromkeys(r for r in runs if r):
        for end in range(len(setup), 0, -run):
            yield [*setup[: max(0, end - run)], *setup[end:]]


def _used(setup: Sequence[str], trees: Sequence[Node | None], query: Node) -> list[str]:
    """The statements that have to do with what the query names."""
    names = {table.name for table in query.find_all(exp.Table)}
    while True:
        about = [tree is None or _is_about(tree, names) for tree in trees]
        more = set(names)
        for tree, kept in zip(trees, about, strict=True):
            if tree is not None and kept:
                more |= {table.name for table in tree.find_all(exp.Table)}
        if more == names:
            return [statement for statement, kept in zip(setup, about, strict=True) if kept]
        names = more


def _is_about(tree: Node, names: set[str]) -> bool:
    """Whether a statement makes or changes one of these tables and views."""
    if isinstance(tree, exp.Analyze | exp.Command):
        return True
    if isinstance(tree, Trigger):
        return any(table.name in names for table in tree.find_all(exp.Table))
    return _table(tree) in names


def without_columns(setup: Sequence[str], query: Node) -> Iterator[list[str]]:
    """Without columns that the query does not name itself, though a `*` may show them."""
    trees = [read(statement) for statement in setup]
    yield from _without_unused(setup, trees, {column.name for column in query.find_all(exp.Column)})


def _table(tree: Node) -> str:
    """The table or view that a statement makes or changes."""
    if isinstance(tree, exp.Create) and isinstance(tree.this, exp.Index):
        return str(tree.this.args["table"].name)
    target = tree.this.this if isinstance(tree.this, exp.Schema) else tree.this
    if isinstance(target, exp.Table):
        return target.name
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
    module = create.find(exp.ModuleProperty)
    if module is not None:
        return [column.name for column in module.expressions]
    if create.args.get("kind") != "TABLE" or not isinstance(create.this, exp.Schema):
        return []
    kinds = (exp.ColumnDef, exp.Identifier)
    return [c.name for c in create.this.expressions if isinstance(c, kinds)]


def _without_column(setup: Sequence[str], table: str, name: str) -> list[str] | None:
    """Without one column of a table; None when that leaves no table, or cannot be done.

    What cannot do without the column goes too: constraints and terms of indexes that name it.
    """
    trees = [read(statement) for statement in setup]
    own = [t for t in trees if t is not None and _table(t) == table]
    create = next((t for t in own if isinstance(t, exp.Create) and name in _columns(t)), None)
    if create is None or len(_columns(create)) < 2:
        return None
    place = _columns(create).index(name)
    _drop_column(create, name)
    gone: list[Node] = []
    for tree in own:
        if isinstance(tree, exp.Insert) and not _drop_values(tree, name, place):
            return None
        if isinstance(tree, exp.Create) and isinstance(tree.this, exp.Index):
            gone += [] if _drop_terms(tree, name) else [tree]
    changed = {id(t) for t in own}
    return [
        write(t) if t is not None and id(t) in changed else s
        for s, t in zip(setup, trees, strict=True)
        if not any(t is other for other in gone)
    ]


def _names(tree: Node, name: str) -> bool:
    """Whether a column of that name is in the tree."""
    return any(node.name == name for node in tree.find_all(exp.Column, exp.Identifier))


def _drop_column(create: Node, name: str) -> None:
    of = create.find(exp.ModuleProperty) or create.this
    kept = [
        part
        for part in of.expressions
        if part.name != name and (isinstance(part, exp.ColumnDef) or not _names(part, name))
    ]
    of.set("expressions", kept)


def _drop_values(insert: Node, name: str, place: int) -> bool:
    """Takes a column out of an INSERT; False where that leaves nothing to insert."""
    conflict = insert.args.get("conflict")
    if conflict is not None and _names(conflict, name):
        insert.set("conflict", None)
    if isinstance(insert.this, exp.Schema):
        named = [c.name for c in insert.this.expressions]
        if name not in named:
            return True
        place = named.index(name)
        if len(named) == 1:
            return False
        insert.this.set("expressions", _but(insert.this.expressions, place))
    if isinstance(insert.expression, exp.Select):
        insert.expression.set("expressions", _but(insert.expression.expressions, place))
        return True
    if not isinstance(insert.expression, exp.Values):
        return False
    for row in insert.expression.expressions:
        row.set("expressions", _but(row.expressions, place))
    return True


def _drop_terms(index: Node, name: str) -> bool:
    """Takes a column out of an index; False where nothing is left of it."""
    params = index.this.args["params"]
    where = params.args.get("where")
    if where is not None and _names(where, name):
        params.set("where", None)
    kept = [term for term in params.args["columns"] if not _names(term, name)]
    params.set("columns", kept)
    return bool(kept)


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
