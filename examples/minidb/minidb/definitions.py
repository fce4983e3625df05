"""CREATE and DROP: tables with their column constraints, and indexes."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from minidb.affinity import Affinity, affinity_of_type
from minidb.collation import fold_of
from minidb.compiler import Compiler, evaluate_constant, run_query
from minidb.database import Database
from minidb.errors import NotSupportedError, OperationalError
from minidb.syntax import bare, declared_type, expect, name_of, table_name
from minidb.table import Table, TableColumn, Unique
from minidb.values import Value


def create(database: Database, compiler: Compiler, node: exp.Expr) -> None:
    """CREATE TABLE or CREATE INDEX."""
    expect(node, "this", "kind", "exists", "expression", "unique")
    kind = str(node.args["kind"]).upper()
    if kind == "INDEX":
        _create_index(database, node)
    elif kind == "TABLE":
        _create_table(database, compiler, node)
    else:
        raise NotSupportedError(f"CREATE {kind}")


def drop(database: Database, node: exp.Expr) -> None:
    """DROP TABLE or DROP INDEX."""
    expect(node, "tables", "kind", "exists")
    kind = str(node.args["kind"]).upper()
    for item in node.args["tables"]:
        name = table_name(item)
        if node.args.get("exists") and not database.has(name):
            continue
        if kind not in ("TABLE", "INDEX"):
            raise NotSupportedError(f"DROP {kind}")
        if kind == "TABLE":
            database.drop(name)
        else:
            database.drop_index(name)


def _create_table(database: Database, compiler: Compiler, node: exp.Expr) -> None:
    schema = node.this
    name = table_name(schema.this if isinstance(schema, exp.Schema) else schema)
    if database.has(name):
        if node.args.get("exists"):
            return
        raise OperationalError(f"table {name} already exists")
    if isinstance(schema, exp.Schema):
        if node.args.get("expression") is not None:
            raise OperationalError("near AS: a table has columns or a SELECT, not both")
        database.create(Definition(name, compiler, schema.expressions).table)
        return
    names, rows = run_query(compiler, node.args["expression"])
    query = compiler.query(node.args["expression"], None)
    columns = [
        TableColumn(name, column.affinity or Affinity.BLOB)
        for name, column in zip(names, query.columns, strict=True)
    ]
    table = Table(name, columns)
    for row in list(rows):
        table.insert(list(row), [])
    database.create(table)


class Definition:
    """A table read from the list between the parentheses of CREATE TABLE."""

    def __init__(self, name: str, compiler: Compiler, items: list[exp.Expr]) -> None:
        self._compiler = compiler
        self.table = Table(name, [])
        self._types: list[str] = []
        for item in items:
            if isinstance(item, exp.Identifier | exp.ColumnDef):
                self._column(item)
            else:
                self._constraint(item)
        if not self.table.columns:
            raise OperationalError(f"table {name} has no columns")

    def _column(self, item: exp.Expr) -> None:
        place, name = len(self.table.columns), name_of(item)
        if any(name.lower() == other.name.lower() for other in self.table.columns):
            raise OperationalError(f"duplicate column name: {name}")
        if isinstance(item, exp.ColumnDef):
            expect(item, "this", "kind", "constraints")
        words = declared_type(item.args.get("kind"))
        self._types.append(words.upper())
        self.table.columns.append(TableColumn(name, affinity_of_type(words)))
        for constraint in item.args.get("constraints") or []:
            expect(constraint, "kind")
            self._column_constraint(place, constraint.args["kind"])

    def _column_constraint(self, place: int, kind: exp.Expr) -> None:
        if isinstance(kind, exp.PrimaryKeyColumnConstraint):
            expect(kind)
            self._primary_key((place,))
        elif isinstance(kind, exp.NotNullColumnConstraint):
            expect(kind, "allow_null")
            self._change(place, not_null=not kind.args.get("allow_null"))
        elif isinstance(kind, exp.UniqueColumnConstraint):
            expect(kind)
            self.table.uniques.append(Unique((place,)))
        elif isinstance(kind, exp.CollateColumnConstraint):
            self._collate(place, kind.this)
        elif isinstance(kind, exp.DefaultColumnConstraint):
            self._default(place, kind.this)
        else:
            raise NotSupportedError(f"a column with {kind.key}")

    def _default(self, place: int, value: exp.Expr) -> None:
        """DEFAULT; a COLLATE behind its value is a constraint of its own."""
        if isinstance(value, exp.Collate):
            self._collate(place, value.expression)
            value = value.this
        self._change(place, default=evaluate_constant(self._compiler, value))

    def _collate(self, place: int, name: exp.Expr) -> None:
        collation = name_of(name).upper()
        fold_of(collation)
        self._change(place, collation=collation)

    def _change(self, place: int, **changes: Value) -> None:
        self.table.columns[place] = replace(self.table.columns[place], **changes)  # type: ignore[arg-type]

    def _constraint(self, item: exp.Expr) -> None:
        if isinstance(item, exp.Constraint):
            for inner in item.expressions:
                self._constraint(inner)
        elif isinstance(item, exp.PrimaryKey):
            expect(item, "expressions", "include")
            self._primary_key(tuple(self._place(column) for column in item.expressions))
        elif isinstance(item, exp.UniqueColumnConstraint) and isinstance(item.this, exp.Schema):
            expect(item, "this")
            places = tuple(self._place(column) for column in item.this.expressions)
            self.table.uniques.append(Unique(places))
        else:
            raise NotSupportedError(f"a table with {item.key}")

    def _place(self, item: exp.Expr) -> int:
        """The column that a constraint of the table names."""
        inner = item.this if isinstance(item, exp.Ordered) else item
        if not isinstance(inner, exp.Identifier | exp.Column):
            raise NotSupportedError(f"constraint on {item.sql('sqlite')}")
        return self.table.place(name_of(inner))

    def _primary_key(self, places: tuple[int, ...]) -> None:
        """INTEGER PRIMARY KEY is the rowid; any other key is unique columns."""
        if self.table.key is not None or any(u.name == "primary key" for u in self.table.uniques):
            raise OperationalError(f"table {self.table.name} has more than one primary key")
        if len(places) == 1 and self._types[places[0]] == "INTEGER":
            self.table.key = places[0]
        else:
            self.table.uniques.append(Unique(places, "primary key"))


def _create_index(database: Database, node: exp.Expr) -> None:
    index = node.this
    expect(index, "this", "table", "params")
    name = index.name
    if database.has(name):
        if node.args.get("exists"):
            return
        raise OperationalError(f"index {name} already exists")
    table = database.table(table_name(index.args["table"]))
    expect(index.args["params"], "columns")
    places = []
    for item in index.args["params"].args["columns"]:
        column = bare(item.this)
        if not isinstance(column, exp.Column):
            raise NotSupportedError(f"index on {item.sql('sqlite')}")
        places.append(table.place(column.name))
    unique = Unique(tuple(places)) if node.args.get("unique") else None
    database.create_index(name, table, unique)
