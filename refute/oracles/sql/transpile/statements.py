"""Statements of SQLite written for another engine: tables, indexes, views, rows that are changed.

Values that a column's type could not hold there, such as a text in an INTEGER column, are not
expressible. Foreign keys are left out, since SQLite does not check them unless it is told to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from refute.fuzz.sql.definitions import WithoutRowid
from refute.fuzz.sql.text import Node, write
from refute.oracles.sql.transpile.kinds import (
    BLOB,
    INT,
    NULL,
    NUM,
    REAL,
    TEXT,
    Column,
    Inexpressible,
    Typed,
    Unresolved,
    number_of,
    type_affinity,
)
from refute.oracles.sql.transpile.orders import name_apart
from refute.oracles.sql.transpile.queries import Look, Queries
from refute.oracles.sql.transpile.scopes import Scope, Source
from refute.oracles.sql.transpile.targets import Target
from refute.oracles.sql.transpile.writer import named

AFFINITY = "a value of another type than its column's (affinity)"
_IGNORED = ("ABORT", "FAIL", "ROLLBACK")
_UNLIKE = (WithoutRowid, exp.StrictProperty, exp.VirtualProperty)


class Statements:
    """Rewrites statements. unique: how many keys besides a row's place a table has."""

    def __init__(
        self, target: Target, look: Look, index_of: Callable[[str], str], *, strict: bool = False
    ) -> None:
        self.target = target
        self.queries = Queries(target, look, strict=strict)
        self._look = look
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
            return self._insert(node)
        if isinstance(node, exp.Update):
            return self._update(node)
        if isinstance(node, exp.Delete):
            return self._delete(node)
        if isinstance(node, exp.Drop):
            return self._drop(node)
        if isinstance(node, exp.Alter):
            return self._alter(node)
        if isinstance(node, exp.Transaction | exp.Commit | exp.Rollback):
            return node
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

    def _need(self, construct: str) -> None:
        if construct in self.target.lacks:
            raise Inexpressible(construct)

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
        self._need("index")
        index = node.this
        params = index.args["params"]
        source = self._table(index.args["table"].name)
        if params.args.get("where") is not None:
            raise Inexpressible("an index of a part of the rows")
        names = []
        for term in params.args["columns"]:
            of = term.this
            if not isinstance(of, exp.Column) or source.find(of.name.lower()) is None:
                raise Inexpressible("an index on an expression or with a collation")
            names.append(exp.Ordered(this=exp.Column(this=named(of.name)), nulls_first=True))
        plain = [term.this for term in names]
        if self.target.quote == "`" and any(
            (found := source.find(c.name)) is not None and found.kind == TEXT for c in plain
        ):
            raise Inexpressible("an index on a long text")
        made = exp.Index(
            this=named(index.name),
            table=exp.Table(this=named(source.alias)),
            params=exp.IndexParameters(columns=plain),
        )
        exists = bool(node.args.get("exists"))
        return exp.Create(
            kind="INDEX", this=made, unique=bool(node.args.get("unique")), exists=exists
        )

    def _drop(self, node: exp.Drop) -> Node:
        kind = str(node.args["kind"]).upper()
        if kind not in ("TABLE", "VIEW", "INDEX"):
            raise Inexpressible(kind.lower())
        name = node.args["tables"][0].name
        if kind == "INDEX":
            self._need("index")
            if self.target.quote == "`":
                of = self._index_of(name.lower())
                return exp.Command(this="DROP", expression=f" INDEX `{name.lower()}` ON `{of}`")
        table, exists = exp.Table(this=named(name)), bool(node.args.get("exists"))
        cascade = self.target.cascades and kind != "INDEX"
        return exp.Drop(kind=kind, tables=[table], exists=exists, cascade=cascade)

    def _alter(self, node: exp.Alter) -> Node:
        source = self._table(node.this.name)
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

    def _table(self, name: str) -> Source:
        found = self._look(name.lower())
        if found is None:
            raise Unresolved(name)
        return found

    # Rows

    def _insert(self, node: exp.Insert) -> Node:
        this = node.this
        listed = []
        if isinstance(this, exp.Schema):
            listed = [n.name.lower() for n in this.expressions]
            this = this.this
        source = self._table(this.name)
        columns = [self._known(source, n) for n in listed] if listed else list(source.columns)
        if node.args.get("default") or node.args.get("returning") or node.args.get("conflict"):
            raise Inexpressible("INSERT with DEFAULT VALUES, RETURNING or ON CONFLICT")
        if source.key and source.key not in [c.name for c in columns]:
            raise Inexpressible("a rowid that SQLite chooses")
        target: Node = exp.Table(this=named(source.alias))
        names = [named(c.name) for c in columns]
        target = exp.Schema(this=target, expressions=names)
        made = exp.Insert(this=target)
        self._alternative(str(node.args.get("alternative") or ""), made, source, columns)
        query = node.expression
        if isinstance(query, exp.Values):
            rows = [self._row(r.expressions, columns, source) for r in query.expressions]
            made.set("expression", exp.Values(expressions=rows))
            return made
        rewritten, outputs = self.queries.query(query, None)
        if len(outputs) != len(columns):
            raise Unresolved("another number of values than of columns")
        for output, column in zip(outputs, columns, strict=True):
            self.stored(Typed(rewritten, output.kind), column)
        made.set("expression", rewritten)
        return made

    def _alternative(
        self, alternative: str, made: exp.Insert, source: Source, columns: Sequence[Column]
    ) -> None:
        """What happens to rows whose keys are there; nothing is to be said where no key is."""
        if not alternative or alternative in _IGNORED or not source.unique:
            return
        self._need("key")
        said = {"IGNORE": self.target.ignore, "REPLACE": self.target.replace}.get(alternative)
        one = len(source.unique) == 1 and len(columns) == len(source.columns)
        if not said or (alternative == "REPLACE" and self.target.quote != "`" and not one):
            raise Inexpressible(f"INSERT OR {alternative} into this table")
        if said == "ON CONFLICT":
            keys = ", ".join(f'"{name}"' for name in source.unique[0])
            sets = ", ".join(f'"{c.name}" = excluded."{c.name}"' for c in columns)
            said = f"ON CONFLICT ({keys}) DO UPDATE SET {sets}"
        made.set("hint", exp.Var(this=said))

    def _row(self, values: Sequence[Node], columns: Sequence[Column], source: Source) -> Node:
        if len(values) != len(columns):
            raise Unresolved("another number of values than of columns")
        made = []
        for value, column in zip(values, columns, strict=True):
            typed = self.queries.value(value, Scope())
            if typed.kind == NULL and column.name == source.key:
                raise Inexpressible("a rowid that SQLite chooses")
            made.append(self.stored(typed, column))
        return exp.Tuple(expressions=made)

    def _known(self, source: Source, name: str) -> Column:
        found = source.find(name)
        if found is None:
            raise Unresolved(name)
        return found

    def stored(self, typed: Typed, column: Column) -> Node:
        """The value as the column keeps it. Raises Inexpressible when it cannot there."""
        kind, constant = column.kind, typed.constant
        if typed.kind == NULL:
            return self.queries.null(kind).node if kind != BLOB else exp.Null()
        if kind in (INT, REAL, NUM) and isinstance(constant, str):
            number = number_of(constant)
            if number is None:
                raise Inexpressible(AFFINITY)
            typed = self.queries.number(number)
            constant = number
        if kind == INT and isinstance(constant, float) and constant == int(constant):
            return self.queries.number(int(constant)).node
        if kind == typed.kind or (kind in (REAL, NUM) and typed.kind in (INT, REAL, NUM)):
            return typed.node
        if kind == TEXT and typed.kind == INT:
            return self.queries.text(typed).node
        raise Inexpressible(AFFINITY)

    def _update(self, node: exp.Update) -> Node:
        source = self._table(node.this.name)
        if any(node.args.get(n) for n in ("from_", "returning", "order", "limit", "alternative")):
            raise Inexpressible("UPDATE OR, with FROM, RETURNING, ORDER BY or LIMIT")
        scope = Scope(sources=[source])
        values: dict[str, Node] = {}
        for pair in node.expressions:
            if not isinstance(pair.this, exp.Column):
                raise Inexpressible("UPDATE of several columns at once")
            column = self._known(source, pair.this.name.lower())
            values[column.name] = self.stored(self.queries.value(pair.expression, scope), column)
        pairs = [exp.EQ(this=exp.Column(this=named(n)), expression=v) for n, v in values.items()]
        made = exp.Update(this=exp.Table(this=named(source.alias)), expressions=pairs)
        self._where(node, made, scope)
        return made

    def _delete(self, node: exp.Delete) -> Node:
        source = self._table(node.this.name)
        if any(node.args.get(n) for n in ("using", "returning", "order", "limit")):
            raise Inexpressible("DELETE with RETURNING, ORDER BY or LIMIT")
        made = exp.Delete(this=exp.Table(this=named(source.alias)))
        self._where(node, made, Scope(sources=[source]))
        return made

    def _where(self, node: Node, made: Node, scope: Scope) -> None:
        where = node.args.get("where")
        if where is not None:
            made.set("where", exp.Where(this=self.queries.truth(where.this, scope)))


def is_rowid(node: exp.ColumnDef) -> bool:
    """Whether INTEGER PRIMARY KEY makes the column the row's own number."""
    return node.kind is not None and write(node.kind).upper() == "INTEGER"


def _column(node: exp.ColumnDef) -> Column:
    found = BLOB if node.kind is None else type_affinity(node.kind)
    return Column(node.name.lower(), found, found)


def _ordered_name(node: Node) -> str:
    return node.this.name if isinstance(node, exp.Ordered) else node.name
