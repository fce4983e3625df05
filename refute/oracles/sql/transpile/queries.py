"""Queries of SQLite written for another engine: FROM, GROUP BY, ORDER BY, LIMIT, compounds."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from refute.fuzz.sql.text import Node
from refute.oracles.sql.transpile.conditions import bare
from refute.oracles.sql.transpile.functions import Functions, aggregate, own_nodes
from refute.oracles.sql.transpile.kinds import (
    NULL,
    Column,
    Inexpressible,
    Typed,
    Unresolved,
)
from refute.oracles.sql.transpile.scopes import Scope, Source
from refute.oracles.sql.transpile.targets import Target
from refute.oracles.sql.transpile.writer import integer, named

Look = Callable[[str], Source | None]

_LIMITLESS = 2**63 - 1
_CLAUSES = ("qualify", "windows", "locks", "sample", "laterals", "connect", "into", "hint")


class Queries(Functions):
    """Rewrites queries. look: the table or view of a name, None when there is none."""

    def __init__(self, target: Target, look: Look) -> None:
        super().__init__(target)
        self._look = look
        self._named: list[dict[str, Source]] = []

    def query(self, node: Node, scope: Scope | None) -> tuple[Node, list[Column]]:
        """A query and its result columns. Raises Inexpressible and Unresolved."""
        node = bare(node)
        if node.args.get("with_") is not None:
            return self._with(node, scope)
        if isinstance(node, exp.Select):
            return self._select(node, scope)
        if isinstance(node, exp.SetOperation):
            return self._compound(node, scope)
        if isinstance(node, exp.Values):
            return self._values(node)
        raise Inexpressible(f"a query of the form {type(node).__name__.lower()}")

    def _with(self, node: Node, scope: Scope | None) -> tuple[Node, list[Column]]:
        clause = node.args["with_"]
        if clause.args.get("recursive"):
            raise Inexpressible("a recursive query")
        self._named.append({})
        try:
            made = []
            for part in clause.expressions:
                query, columns = self.query(part.this, scope)
                names = part.args["alias"].args.get("columns") or []
                columns = _renamed(columns, [n.name for n in names])
                alias = part.alias.lower()
                self._named[-1][alias] = Source(alias, columns)
                table = exp.TableAlias(this=named(alias), columns=[named(c.name) for c in columns])
                made.append(exp.CTE(this=query, alias=table))
            plain = node.copy()
            plain.set("with_", None)
            query, columns = self.query(plain, scope)
        finally:
            self._named.pop()
        query.set("with_", exp.With(expressions=made))
        return query, columns

    def _select(self, node: exp.Select, parent: Scope | None) -> tuple[Node, list[Column]]:
        for name in _CLAUSES:
            if node.args.get(name):
                raise Inexpressible(name)
        scope = Scope(parent)
        made = exp.Select()
        if node.args.get("from_") is not None:
            self._from(node, scope, made)
        scope.aliases = {
            o.alias.lower(): o.this for o in node.expressions if isinstance(o, exp.Alias)
        }
        where = node.args.get("where")
        if where is not None:
            made.set("where", exp.Where(this=self.truth(where.this, scope)))
        self._group(node, scope, made)
        outputs = self._outputs(node, scope)
        made.set("expressions", [shown for shown, _ in outputs])
        if node.args.get("distinct"):
            made.set("distinct", exp.Distinct())
        having = node.args.get("having")
        if having is not None:
            scope.having = True
            made.set("having", exp.Having(this=self.truth(having.this, scope)))
            scope.having = False
        columns = [column for _, column in outputs]
        self._ordered(node, made, scope, columns)
        self._limited(node, made)
        return made, columns

    # FROM

    def _from(self, node: exp.Select, scope: Scope, made: exp.Select) -> None:
        made.set("from_", exp.From(this=self._source(node.args["from_"].this, scope)))
        for join in node.args.get("joins") or []:
            made.append("joins", self._join(join, scope))

    def _source(self, node: Node, scope: Scope) -> Node:
        if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
            return self._table(node, scope)
        if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Table):
            inner = self._source(node.this, scope)  # a join in parentheses
            made = exp.Subquery(this=inner)
            for join in [*(node.this.args.get("joins") or []), *(node.args.get("joins") or [])]:
                inner.append("joins", self._join(join, scope))
            return made
        if isinstance(node, exp.Subquery | exp.Values):
            query, columns = self.query(node, scope.parent)
            alias = (node.alias or f"sub {len(scope.sources)}").lower()
            renamed = node.args.get("alias")
            names = [n.name for n in (renamed.args.get("columns") or [])] if renamed else []
            columns = _renamed(columns, names)
            scope.sources.append(Source(alias, columns))
            return exp.Subquery(this=query, alias=exp.TableAlias(this=named(alias)))
        raise Inexpressible("a table-valued function")

    def _table(self, node: exp.Table, scope: Scope) -> Node:
        if node.args.get("db") is not None:
            raise Inexpressible("the name of a database before that of a table")
        name = node.name.lower()
        found = next((part[name] for part in reversed(self._named) if name in part), None)
        found = found or self._look(name)
        if found is None:
            raise Unresolved(name)
        alias = node.alias.lower()
        scope.sources.append(Source(alias or name, found.columns, found.key))
        made = exp.Table(this=named(name))
        if alias:
            made.set("alias", exp.TableAlias(this=named(alias)))
        return made

    def _join(self, node: exp.Join, scope: Scope) -> Node:
        before = len(scope.sources)
        side, kind = node.side.upper(), node.kind.upper()
        on, using = node.args.get("on"), node.args.get("using")
        this = self._source(node.this, scope)
        made = exp.Join(this=this, side=side or None)
        if node.method.upper() == "NATURAL":
            made.set("method", "NATURAL")
        elif using:
            made.set("using", [named(name.name) for name in using])
        elif on is not None:
            made.set("on", self.truth(on, scope))
        elif side:
            made.set("on", exp.Boolean(this=True))
        else:
            kind = "CROSS"
        made.set("kind", "CROSS" if kind == "CROSS" and on is None else None)
        if using or node.method:
            self._merge(scope, before, using)
        return made

    def _merge(self, scope: Scope, before: int, using: Sequence[Node] | None) -> None:
        """The right source of USING or NATURAL has the shared columns no more, for `*`."""
        left = {c.name for s in scope.sources[:before] for c in s.columns}
        shared = {n.name.lower() for n in using} if using else left
        for place in range(before, len(scope.sources)):
            source = scope.sources[place]
            kept = [c for c in source.columns if c.name not in shared]
            scope.sources[place] = Source(source.alias, kept, source.key)

    # GROUP BY and results

    def _group(self, node: exp.Select, scope: Scope, made: exp.Select) -> None:
        group = node.args.get("group")
        outputs = [*node.expressions, *_parts(node, "having", "order")]
        totals = any(aggregate(n) for output in outputs for n in own_nodes(output))
        if group is None:
            scope.groups = set() if totals else None
            return
        if any(group.args.get(n) for n in ("grouping_sets", "cube", "rollup")):
            raise Inexpressible("grouping sets")
        terms = [self._meant(term, node, scope) for term in group.expressions]
        made.set("group", exp.Group(expressions=[self._as_term(t, scope) for t in terms]))
        scope.groups = set()
        for term in terms:
            found = scope.find(term) if isinstance(term, exp.Column) else None
            if found is not None:
                scope.groups.add((found[0].alias, found[1].name))
            elif any(True for _ in term.find_all(exp.Column)):
                scope.texts.add(term.sql(dialect="sqlite").lower())

    def _as_term(self, term: Node, scope: Scope) -> Node:
        typed = self.value(term, scope)
        if typed.constant is not None and not self.target.narrow:
            return exp.Paren(this=exp.Add(this=typed.node, expression=integer(0)))
        return typed.node

    def _meant(self, term: Node, node: exp.Select, scope: Scope) -> Node:
        """A term of GROUP BY without positions, aliases and parentheses."""
        while isinstance(term, exp.Paren):
            term = term.this
        if isinstance(term, exp.Literal) and not term.is_string and term.name.isdigit():
            place = int(term.name) - 1
            if not 0 <= place < len(node.expressions):
                raise Unresolved(f"GROUP BY {term.name}")
            return self._meant_output(node.expressions[place])
        if isinstance(term, exp.Column) and not term.table and scope.find(term) is None:
            return scope.aliases.get(term.name.lower(), term)
        return term

    def _meant_output(self, output: Node) -> Node:
        if output.find(exp.Star):
            raise Inexpressible("GROUP BY the position of *")
        output = output.unalias()
        while isinstance(output, exp.Paren):
            output = output.this
        return output

    def _outputs(self, node: exp.Select, scope: Scope) -> list[tuple[Node, Column]]:
        found: list[tuple[Node, Column]] = []
        for output in node.expressions:
            table = _starred(output)
            if table is not None:
                found += [self._starred_output(source, column, scope)
                          for source, column in scope.starred(table)]  # fmt: skip
                continue
            inner = output.unalias()
            typed = self.value(inner, scope)
            name = (output.alias or (inner.name if isinstance(inner, exp.Column) else "")).lower()
            shown = typed.node
            if output.alias or (name and not isinstance(shown, exp.Column)):
                shown = exp.Alias(this=shown, alias=named(name))
            found.append((shown, Column(name, typed.kind, typed.affinity)))
        return found

    def _starred_output(self, source: Source, column: Column, scope: Scope) -> tuple[Node, Column]:
        of = exp.Column(this=named(column.name), table=named(source.alias))
        typed = self.value(of, scope)
        if isinstance(typed.node, exp.Column):
            return typed.node, column
        return exp.Alias(this=typed.node, alias=named(column.name)), column

    # Compound queries

    def _compound(self, node: Node, scope: Scope | None) -> tuple[Node, list[Column]]:
        left, first = self.query(node.this, scope)
        right, second = self.query(node.expression, scope)
        if len(first) != len(second):
            raise Unresolved("a compound query with different numbers of columns")
        columns = []
        for place, (one, other) in enumerate(zip(first, second, strict=True)):
            kind = self.joined((one.kind, other.kind))
            for query, kinds in ((left, first), (right, second)):
                if kinds[place].kind == NULL and kind != NULL:
                    self._type_nulls(query, place, kind)
            columns.append(Column(one.name, kind, one.affinity))
        distinct = bool(node.args.get("distinct"))
        if isinstance(node, exp.Intersect) and isinstance(left, exp.SetOperation):
            left = exp.Subquery(this=left)  # elsewhere INTERSECT binds tighter than the others
        made = type(node)(this=left, expression=right, distinct=distinct)
        self._ordered(node, made, None, columns)
        self._limited(node, made)
        return made, columns

    def _type_nulls(self, query: Node, place: int, kind: str) -> None:
        """Have a column that is NULL in every row be of the other part's type."""
        if isinstance(query, exp.Subquery):
            self._type_nulls(query.this, place, kind)
        elif isinstance(query, exp.SetOperation):
            self._type_nulls(query.this, place, kind)
            self._type_nulls(query.expression, place, kind)
        elif isinstance(query, exp.Select):
            output = query.expressions[place]
            inner = output.this if isinstance(output, exp.Alias) else output
            inner.replace(self.retyped(Typed(inner.copy(), NULL), kind).node)

    def _values(self, node: exp.Values) -> tuple[Node, list[Column]]:
        rows = [
            [self.value(v, Scope()) for v in (r.expressions if isinstance(r, exp.Tuple) else [r])]
            for r in node.expressions
        ]
        kinds = [self.joined(t.kind for t in place) for place in zip(*rows, strict=True)]
        made = exp.Values(
            expressions=[
                exp.Tuple(expressions=[self.as_kind(t, k) for t, k in zip(row, kinds, strict=True)])
                for row in rows
            ]
        )
        return made, [Column(f"column{n}", k, "") for n, k in enumerate(kinds, 1)]

    # ORDER BY and LIMIT

    def _ordered(
        self, node: Node, made: Node, scope: Scope | None, columns: Sequence[Column]
    ) -> None:
        order = node.args.get("order")
        if order is None:
            return
        names = [column.name for column in columns]
        terms = []
        for term in order.expressions:
            nulls_first = bool(term.args.get("nulls_first"))
            desc = bool(term.args.get("desc"))
            if not self.target.nulls and nulls_first == desc:
                raise Inexpressible("NULLS FIRST or NULLS LAST")
            this = self._order_term(term.this, scope, names)
            terms.append(exp.Ordered(this=this, desc=desc, nulls_first=nulls_first))
        made.set("order", exp.Order(expressions=terms))

    def _order_term(self, term: Node, scope: Scope | None, names: Sequence[str]) -> Node:
        while isinstance(term, exp.Paren):
            term = term.this
        if isinstance(term, exp.Literal) and not term.is_string and term.name.isdigit():
            if not 0 < int(term.name) <= len(names):
                raise Unresolved(f"ORDER BY {term.name}")
            return integer(int(term.name))
        if isinstance(term, exp.Column) and not term.table and term.name.lower() in names:
            own = scope is None or term.name.lower() in scope.aliases
            if own:
                return integer(names.index(term.name.lower()) + 1)
        if scope is None:
            raise Inexpressible("ORDER BY an expression after a compound query")
        typed = self.value(term, scope)
        if typed.constant is not None:
            return exp.Add(this=typed.node, expression=self.number(0).node)
        return typed.node

    def _limited(self, node: Node, made: Node) -> None:
        limit, offset = node.args.get("limit"), node.args.get("offset")
        most = -1 if limit is None else self._count(limit.expression)
        skipped = 0 if offset is None else max(0, self._count(offset.expression))
        if most >= 0:
            made.set("limit", exp.Limit(expression=integer(most)))
        elif skipped and self.target.quote == "`":
            made.set("limit", exp.Limit(expression=integer(_LIMITLESS)))
        if skipped:
            made.set("offset", exp.Offset(expression=integer(skipped)))

    def _count(self, node: Node) -> int:
        """The number of rows that a constant of LIMIT or OFFSET says."""
        while isinstance(node, exp.Paren):
            node = node.this
        typed = self.numeric(self.value(node, Scope()))
        if not isinstance(typed.constant, int):
            raise Inexpressible("a LIMIT that is computed")
        return typed.constant


def _parts(node: Node, *names: str) -> list[Node]:
    return [part for name in names if (part := node.args.get(name)) is not None]


def _starred(output: Node) -> str | None:
    """The table before `.*`, "" for `*` alone, None for anything else."""
    if isinstance(output, exp.Star):
        return ""
    if isinstance(output, exp.Column) and isinstance(output.this, exp.Star):
        return output.table.lower()
    return None


def _renamed(columns: Sequence[Column], names: Sequence[str]) -> list[Column]:
    if names and len(names) != len(columns):
        raise Unresolved("another number of names than of columns")
    if not names:
        return list(columns)
    return [c._replace(name=n.lower()) for c, n in zip(columns, names, strict=True)]


def name_apart(query: Node) -> None:
    """Give the result columns, whose names are not compared, different names.

    Those that a query gives itself stay, if they do for each column: an engine may be wrong for
    just such a name.
    """
    if isinstance(query, exp.Subquery):
        name_apart(query.this)
    elif isinstance(query, exp.SetOperation):
        name_apart(query.this)
        name_apart(query.expression)
    elif isinstance(query, exp.Select):
        given = [output.alias for output in query.expressions]
        keeps = all(given) and len({name.lower() for name in given}) == len(given)
        outputs = [
            exp.Alias(this=output.unalias(), alias=named(name if keeps else f"c{place}"))
            for place, (output, name) in enumerate(zip(query.expressions, given, strict=True), 1)
        ]
        query.set("expressions", outputs)
