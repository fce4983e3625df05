"""Rows that are inserted, updated and deleted, written for another engine.

Values that a column's type could not hold there, such as a text in an INTEGER column, are not
expressible.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

from sqlglot import exp

from refute.fuzz.sql.text import Node
from refute.oracles.sql.sqlite import SQLite
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
)
from refute.oracles.sql.transpile.queries import Look, Queries
from refute.oracles.sql.transpile.scopes import Scope, Source
from refute.oracles.sql.transpile.targets import Target
from refute.oracles.sql.transpile.writer import named

AFFINITY = "a value of another type than its column's (affinity)"
_IGNORED = ("ABORT", "FAIL", "ROLLBACK")


class Changes:
    """Rewrites statements that change rows. look: the table of a name, None when there is none."""

    def __init__(self, target: Target, queries: Queries, look: Look) -> None:
        self.target = target
        self.queries = queries
        self._look = look

    def need(self, construct: str) -> None:
        """Raise Inexpressible where the engine lacks a construct."""
        if construct in self.target.lacks:
            raise Inexpressible(construct)

    def table(self, name: str) -> Source:
        """The table of a name. Raises Unresolved when it is not known."""
        found = self._look(name.lower())
        if found is None:
            raise Unresolved(name)
        return found

    def insert(self, node: exp.Insert) -> Node:
        """INSERT for the engine. Raises Inexpressible."""
        this = node.this
        listed = []
        if isinstance(this, exp.Schema):
            listed = [n.name.lower() for n in this.expressions]
            this = this.this
        source = self.table(this.name)
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
        self.need("key")
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
        if kind == TEXT and isinstance(constant, float):
            return exp.Literal(this=_text_of(constant), is_string=True)
        raise Inexpressible(AFFINITY)

    def update(self, node: exp.Update) -> Node:
        """UPDATE for the engine. Raises Inexpressible."""
        source = self.table(node.this.name)
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

    def delete(self, node: exp.Delete) -> Node:
        """DELETE for the engine. Raises Inexpressible."""
        source = self.table(node.this.name)
        if any(node.args.get(n) for n in ("using", "returning", "order", "limit")):
            raise Inexpressible("DELETE with RETURNING, ORDER BY or LIMIT")
        made = exp.Delete(this=exp.Table(this=named(source.alias)))
        self._where(node, made, Scope(sources=[source]))
        return made

    def _where(self, node: Node, made: Node, scope: Scope) -> None:
        where = node.args.get("where")
        if where is not None:
            made.set("where", exp.Where(this=self.queries.truth(where.this, scope)))


@functools.lru_cache(maxsize=1000)
def _text_of(number: float) -> str:
    """The text that SQLite makes of a number with a point."""
    database = SQLite()
    [answer] = database.run([f"SELECT CAST({number!r} AS TEXT)"])
    database.close()
    return str(answer[2][0][0])
