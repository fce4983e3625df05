"""INSERT, UPDATE and DELETE: rows are computed first and changed then, in the order of rowids."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from minidb.compiler import Compiler, evaluate_constant, run_query
from minidb.database import Database
from minidb.errors import NotSupportedError, OperationalError
from minidb.joins import every
from minidb.scope import Column, Row, Scope, Source
from minidb.syntax import expect, name_of, table_name
from minidb.table import Table
from minidb.values import Value


def insert(database: Database, compiler: Compiler, node: exp.Expr) -> tuple[int, int | None]:
    """INSERT; how many rows, and the rowid of the last."""
    expect(node, "this", "expression", "default")
    target = node.this
    named = target.expressions if isinstance(target, exp.Schema) else None
    table = database.table(table_name(target.this if named is not None else target))
    places = [table.place(name_of(item)) for item in named or []]
    if len(set(places)) < len(places):
        raise NotSupportedError("INSERT with a column named twice")
    if named is None:
        places = list(range(len(table.columns)))
    if node.args.get("default"):
        places = []
    rows = list(_rows(compiler, node.args.get("expression")))
    last: int | None = None
    for row in rows:
        if len(row) != len(places):
            raise OperationalError(_mismatch(table, named, len(places), len(row)))
        values = [column.default for column in table.columns]
        for place, value in zip(places, row, strict=True):
            values[place] = value
        last = table.insert(values, database.log)
    return len(rows), last


def _mismatch(table: Table, named: object, columns: int, values: int) -> str:
    if named is None:
        return f"table {table.name} has {columns} columns but {values} values were supplied"
    return f"{values} values for {columns} columns"


def _rows(compiler: Compiler, node: exp.Expr | None) -> Iterator[Row]:
    """What VALUES lists or a SELECT finds; DEFAULT VALUES is one row without any."""
    if node is None:
        yield ()
        return
    if not isinstance(node, exp.Values):
        yield from run_query(compiler, node)[1]
        return
    expect(node, "expressions")
    for item in node.expressions:
        values = item.expressions if isinstance(item, exp.Tuple) else [item]
        yield tuple(evaluate_constant(compiler, value) for value in values)


def update(database: Database, compiler: Compiler, node: exp.Expr) -> int:
    """UPDATE; how many rows."""
    expect(node, "this", "expressions", "where")
    table, scope = _target(database, node.this)
    sets = []
    for item in node.expressions:
        if not isinstance(item, exp.EQ) or not isinstance(item.this, exp.Column):
            raise NotSupportedError(f"SET {item.sql('sqlite')}")
        if item.expression.find(exp.Select):
            raise NotSupportedError("a subquery in SET")
        code = compiler.code(item.expression, scope)
        sets.append((table.place(item.this.name), code.evaluate))
    changed: list[tuple[int, list[Value]]] = []
    for row in _chosen(compiler, node, table, scope):
        values = list(row[:-1])
        for place, evaluate in sets:
            values[place] = evaluate()
        changed.append((int(row[-1] or 0), values))
    for rowid, values in changed:
        table.delete(rowid, database.log)
        table.insert(values, database.log, rowid)
    return len(changed)


def delete(database: Database, compiler: Compiler, node: exp.Expr) -> int:
    """DELETE; how many rows."""
    expect(node, "this", "where")
    table, scope = _target(database, node.this)
    rows = list(_chosen(compiler, node, table, scope))
    for row in rows:
        table.delete(int(row[-1] or 0), database.log)
    return len(rows)


def _target(database: Database, node: exp.Expr) -> tuple[Table, Scope]:
    """The table to change, and a scope with its columns."""
    expect(node, "this", "db")
    table = database.table(table_name(node))
    scope = Scope(None)
    columns = [Column(c.name, c.affinity, c.collation) for c in table.columns]
    scope.add(Source(table.name, columns, table.scan, has_rowid=True))
    return table, scope


def _chosen(compiler: Compiler, node: exp.Expr, table: Table, scope: Scope) -> Iterator[Row]:
    """The rows that WHERE accepts, each in the scope's frame while it is looked at."""
    where = node.args.get("where")
    accepted = every([compiler.code(where.this, scope).evaluate] if where is not None else [])
    for row in table.scan():
        scope.frame[0] = row
        if accepted():
            yield row
