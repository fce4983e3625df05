"""Statements of SQLite written for another engine: tables, indexes and views; rows in `changes`.

Foreign keys are left out, since SQLite does not check them unless it is told to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from refute.fuzz.sql.definitions import WithoutRowid
from refute.fuzz.sql.text import Node, write
from refute.oracles.sql.transpile.changes import Changes
from refute.oracles.sql.transpile.kinds import (
    BLOB,
    NULL,
    TEXT,
    Column,
    Inexpressible,
    Unresolved,
    type_affinity,
)
from refute.oracles.sql.transpile.orders import name_apart
from refute.oracles.sql.transpile.queries import Look, Queries
from refute.oracles.sql.transpile.scopes import Scope, Source
from refute.oracles.sql.transpile.targets import Target
from refute.oracles.sql.transpile.writer import named

_UNLIKE = (WithoutRowid, exp.StrictProperty, exp.VirtualProperty)


class Statements(Changes):
    """Rewrites statements. unique: how many keys besides a row's place a table has."""

    def __init__(
        self, target: Target, look: Look, index_of: Callable[[str], str], *, strict: bool = False
    ) -> None:
        super().__init__(target, Queries(target, look, strict=strict), look)
        self._index_of = index_of

    def rewritten(self, node: Node) -> tuple[Node, list[Column]]:
        """The statement for the engine, and a query's result columns.

        Raises Inexpressible and Unresolved.
        """
        self.queries.doubts.clear()
        if isinstance(node, exp.Query | exp.Values):
            made, columns = self.queries.query(node, None)
            if self.target.unique_names:
                name_apart(made)
            return made, columns
        return self._change(node), []

    def _change(self, node: Node) -> Node:
        if isinstance(node, exp.Create):
            return self._create(node)
        if isinstance(node, exp.Insert):
            return self.insert(node)
        if isinstance(node, exp.Update):
            return self.update(node)
        if isinstance(node, exp.Delete):
            return self.delete(node)
        if isinstance(node, exp.Drop):
            return self._drop(node)
        if isinstance(node, exp.Alter):
            return self._alter(node)
        if isinstance(node, exp.Transaction | exp.Commit | exp.Rollback):
            return node
        if isinstance(node, exp.Analyze) and self.target.analyzes and not node.args.get("tables"):
            return exp.Command(this="ANALYZE")
        raise Inexpressible(type(node).__name__.upper())

    # Tables, views, indexes

    def _create(self, node: exp.Create) -> Node:
        kind = str(node.args["kind"]).upper()
        if kind == "TABLE":
            return self._create_table(node)
        if kind == "VIEW":
            return self._create_view(node)
        if kind == "INDEX":
            return self._create_index(node)
        raise Inexpressible(kind.lower())

    def _temporary(self, node: exp.Create) -> bool:
        properties = node.args.get("properties")
        if properties is not None and properties.find(*_UNLIKE) is not None:
            raise Inexpressible("a table WITHOUT ROWID, STRICT or VIRTUAL")
        found = properties is not None and properties.find(exp.TemporaryProperty) is not None
        if found and "temporary" in self.target.lacks:
            raise Inexpressible("a temporary table or view")
        return found

    def _create_table(self, node: exp.Create) -> Node:
        made = exp.Create(kind="TABLE", exists=bool(node.args.get("exists")))
        if self._temporary(node):
            made.set("properties", exp.Properties(expressions=[exp.TemporaryProperty()]))
        if node.expression is not None:
            query, columns = self.queries.query(node.expression, None)
            if any(column.kind == NULL for column in columns):
                raise Inexpressible("untyped column")
            made.set("this", exp.Table(this=named(node.this.name)))
            made.set("expression", query)
            return made
        name = node.this.this.name
        columns_of = [d for d in node.this.expressions if isinstance(d, exp.ColumnDef)]
        own = Source(name.lower(), [_column(d) for d in columns_of])
        parts: list[Node] = [self._column_definition(d, own) for d in columns_of]
        for constraint in node.this.expressions:
            if not isinstance(constraint, exp.ColumnDef):
                parts += self._constraint(constraint, own, columns_of)
        this = exp.Schema(this=exp.Table(this=named(name)), expressions=parts)
        made.set("this", this)
        return made

    def _column_definition(self, node: exp.ColumnDef, own: Source) -> Node:
        column = _column(node)
        if column.affinity == BLOB and node.kind is None:
            raise Inexpressible("untyped column")
        type_name = self.target.types[column.kind]
        if column.kind == TEXT and self.target.binary:
            type_name = f"{type_name} {self.target.binary}"
        constraints: list[Node] = []
        for constraint in node.constraints:
            constraints += self._column_constraint(constraint.kind, node, column, own)
        return exp.ColumnDef(
            this=named(node.name), kind=exp.Var(this=type_name), constraints=constraints
        )

    def _column_constraint(
        self, kind: Node, node: exp.ColumnDef, column: Column, own: Source
    ) -> list[Node]:
        if isinstance(kind, exp.NotNullColumnConstraint):
            return [] if kind.args.get("allow_null") else [exp.ColumnConstraint(kind=kind.copy())]
        if isinstance(kind, exp.UniqueColumnConstraint | exp.PrimaryKeyColumnConstraint):
            if "key" in self.target.lacks:
                return []  # what a key refuses is not asked; see `Translator`
            primary = isinstance(kind, exp.PrimaryKeyColumnConstraint) and is_rowid(node)
            found = exp.PrimaryKeyColumnConstraint() if primary else exp.UniqueColumnConstraint()
            return [exp.ColumnConstraint(kind=found)]
        if isinstance(kind, exp.DefaultColumnConstraint):
            typed = self.queries.value(kind.this, Scope())
            value = exp.DefaultColumnConstraint(this=self.stored(typed, column))
            return [exp.ColumnConstraint(kind=value)]
        if isinstance(kind, exp.CheckColumnConstraint):
            test = self.queries.truth(kind.this, Scope(sources=[own]))
            return [exp.ColumnConstraint(kind=exp.CheckColumnConstraint(this=test))]
        if isinstance(kind, exp.CollateColumnConstraint):
            if kind.this.name.upper() == "BINARY":
                return []
            raise Inexpressible(f"collation {kind.this.name.upper()}")
        if isinstance(kind, exp.AutoIncrementColumnConstraint | exp.Reference):
            return []
        raise Inexpressible("a constraint of a column")

    def _constraint(self, node: Node, own: Source, columns: Sequence[exp.ColumnDef]) -> list[Node]:
        if isinstance(node, exp.Constraint):
            return [
                part for inner in node.expressions for part in self._constraint(inner, own, columns)
            ]
        if isinstance(node, exp.ForeignKey):
            return []
        if isinstance(node, exp.Identifier | exp.Column):
            raise Inexpressible("untyped column")
        if isinstance(node, exp.PrimaryKey | exp.UniqueColumnConstraint):
            if "key" in self.target.lacks:
                return []
            listed = node.expressions if isinstance(node, exp.PrimaryKey) else node.this.expressions
            names = [named(_ordered_name(n)) for n in listed]
            return [exp.UniqueColumnConstraint(this=exp.Schema(expressions=names))]
        if isinstance(node, exp.CheckColumnConstraint):
            return [
                exp.CheckColumnConstraint(this=self.queries.truth(node.this, Scope(sources=[own])))
            ]
        raise Inexpressible("a constraint of a table")

    def _create_view(self, node: exp.Create) -> Node:
        this = node.this
        names = []
        if isinstance(this, exp.Schema):
            names = [n.name for n in this.expressions]
            this = this.this
        query, columns = self.queries.query(node.expression, None)
        if names and len(names) != len(columns):
            raise Unresolved("another number of names than of columns")
        if self.target.name == "postgresql" and query.args.get("offset") is None:
            # PostgreSQL would change rows through a simple view, which SQLite refuses.
            query.set("offset", exp.Offset(expression=exp.Literal(this="0", is_string=False)))
        view: Node = exp.Table(this=named(this.name))
        if names:
            view = exp.Schema(this=view, expressions=[named(n) for n in names])
        made = exp.Create(kind="VIEW", this=view, expression=query)
        if self._temporary(node):
            made.set("properties", exp.Properties(expressions=[exp.TemporaryProperty()]))
        return made

    def _create_index(self, node: exp.Create) -> Node:
        self.need("index")
        index = node.this
        params = index.args["params"]
        source = self.table(index.args["table"].name)
        where, scope = params.args.get("where"), Scope(sources=[source])
        if where is not None:
            self.need("partial index")
            where = exp.Where(this=self.queries.truth(where.this, scope))
        plain = [self._indexed(term.this, source, scope) for term in params.args["columns"]]
        if self.target.quote == "`" and any(
            (found := source.find(c.name)) is not None and found.kind == TEXT for c in plain
        ):
            raise Inexpressible("an index on a long text")
        made = exp.Index(
            this=named(index.name),
            table=exp.Table(this=named(source.alias)),
            params=exp.IndexParameters(columns=plain, where=where),
        )
        exists = bool(node.args.get("exists"))
        return exp.Create(
            kind="INDEX", this=made, unique=bool(node.args.get("unique")), exists=exists
        )

    def _indexed(self, of: Node, source: Source, scope: Scope) -> Node:
        """A term of an index."""
        if isinstance(of, exp.Collate):
            raise Inexpressible("an index with a collation")
        if isinstance(of, exp.Column) and source.find(of.name.lower()) is not None:
            return exp.Column(this=named(of.name))
        self.need("expression index")
        typed = self.queries.value(of, scope)
        if typed.constant is not None or typed.kind == NULL:
            raise Inexpressible("an index on a constant")
        return exp.Paren(this=typed.node)

    def _drop(self, node: exp.Drop) -> Node:
        kind = str(node.args["kind"]).upper()
        if kind not in ("TABLE", "VIEW", "INDEX"):
            raise Inexpressible(kind.lower())
        name = node.args["tables"][0].name
        if kind == "INDEX":
            self.need("index")
            if self.target.quote == "`":
                of = self._index_of(name.lower())
                return exp.Command(this="DROP", expression=f" INDEX `{name.lower()}` ON `{of}`")
        table, exists = exp.Table(this=named(name)), bool(node.args.get("exists"))
        cascade = self.target.cascades and kind != "INDEX"
        return exp.Drop(kind=kind, tables=[table], exists=exists, cascade=cascade)

    def _alter(self, node: exp.Alter) -> Node:
        source = self.table(node.this.name)
        [action] = node.args["actions"]
        if isinstance(action, exp.AlterRename):
            new: Node = exp.AlterRename(this=exp.Table(this=named(action.this.name)))
        elif isinstance(action, exp.RenameColumn):
            new = exp.RenameColumn(this=named(action.this.name), to=named(action.args["to"].name))
        elif isinstance(action, exp.ColumnDef):
            new = self._column_definition(action, source)
        else:
            raise Inexpressible("ALTER TABLE … DROP COLUMN")
        return exp.Alter(this=exp.Table(this=named(source.alias)), kind="TABLE", actions=[new])


def is_rowid(node: exp.ColumnDef) -> bool:
    """Whether INTEGER PRIMARY KEY makes the column the row's own number."""
    return node.kind is not None and write(node.kind).upper() == "INTEGER"


def _column(node: exp.ColumnDef) -> Column:
    found = BLOB if node.kind is None else type_affinity(node.kind)
    return Column(node.name.lower(), found, found)


def _ordered_name(node: Node) -> str:
    return node.this.name if isinstance(node, exp.Ordered) else node.name
