"""Queries of SQLite written for another engine: FROM, GROUP BY, ORDER BY, LIMIT, compounds."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from sqlglot import exp

from refute.fuzz.sql.nodes import make, put
from refute.fuzz.sql.text import Node, write
from refute.oracles.sql.transpile.conditions import bare
from refute.oracles.sql.transpile.functions import aggregates
from refute.oracles.sql.transpile.kinds import (
    NULL,
    NUMBERS,
    TEXT,
    WIDE_DOUBT,
    Column,
    Inexpressible,
    Typed,
    Unresolved,
)
from refute.oracles.sql.transpile.orders import Orders, different, told_apart
from refute.oracles.sql.transpile.scopes import Scope, Source
from refute.oracles.sql.transpile.targets import Target
from refute.oracles.sql.transpile.writer import integer, named

Look = Callable[[str], Source | None]

_CLAUSES = ("qualify", "locks", "sample", "laterals", "connect", "into", "hint")


class Queries(Orders):
    """Rewrites queries. look: the table or view of a name, None when there is none."""

    def __init__(self, target: Target, look: Look, *, strict: bool = False) -> None:
        super().__init__(target)
        self.strict = strict
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
        recursive = bool(clause.args.get("recursive"))
        self._named.append({})
        try:
            made = []
            for part in clause.expressions:
                names = [n.name for n in part.args["alias"].args.get("columns") or []]
                alias = part.alias.lower()
                if recursive and _names(part.this, alias):
                    query, columns = self._recursive(part.this, alias, names)
                else:
                    query, columns = self.query(part.this, scope)
                    columns = _renamed(columns, names or different(columns))
                self._named[-1][alias] = Source(alias, columns)
                table = make(
                    exp.TableAlias, this=named(alias), columns=[named(c.name) for c in columns]
                )
                made.append(make(exp.CTE, this=query, alias=table))
            query, columns = self._without_with(node, scope)
        finally:
            self._named.pop()
        put(query, "with_", make(exp.With, expressions=made, recursive=recursive))
        return query, columns

    def _recursive(self, node: Node, alias: str, names: Sequence[str]) -> tuple[Node, list[Column]]:
        """A query that reads what it gives: its first part says of what kinds that is."""
        if not isinstance(node, exp.Union) or _names(node.this, alias):
            raise Inexpressible("a recursive query of this form")
        first, columns = self.query(node.this, None)
        known = _renamed(columns, names)
        if self.target.quote == "`" and any(column.kind == TEXT for column in columns):
            raise Inexpressible("a recursive query with texts")  # cut to the first one's length
        self._named[-1][alias] = Source(alias, [column._replace(affinity="") for column in known])
        again, found = self.query(node.expression, None)
        if len(found) != len(known):
            raise Unresolved("a compound query with different numbers of columns")
        for place, (one, other) in enumerate(zip(known, found, strict=True)):
            if one.kind == NULL or other.kind not in (one.kind, NULL):
                raise Inexpressible("a recursive query whose rows change their types")
            if other.kind == NULL:
                self.type_nulls(again, place, one.kind)
        distinct = bool(node.args.get("distinct"))
        return make(exp.Union, this=first, expression=again, distinct=distinct), known

    def _without_with(self, node: Node, scope: Scope | None) -> tuple[Node, list[Column]]:
        """The query behind WITH."""
        clause = node.args["with_"]
        node.args["with_"] = None
        try:
            return self.query(node, scope)
        finally:
            node.args["with_"] = clause

    def _select(self, node: exp.Select, parent: Scope | None) -> tuple[Node, list[Column]]:
        for name in _CLAUSES:
            if node.args.get(name):
                raise Inexpressible(name)
        scope = Scope(parent)
        made = make(exp.Select)
        if node.args.get("from_") is not None:
            self._from(node, scope, made)
        scope.aliases = {
            o.alias.lower(): o.this for o in node.expressions if isinstance(o, exp.Alias)
        }
        where = node.args.get("where")
        if where is not None:
            put(made, "where", make(exp.Where, this=self.truth(where.this, scope)))
        self._group(node, scope, made)
        outputs = self._outputs(node, scope)
        put(made, "expressions", [shown for shown, _ in outputs])
        if node.args.get("distinct"):
            put(made, "distinct", make(exp.Distinct))
        if node.args.get("windows"):
            put(made, "windows", self.windows(node, scope))
        having = node.args.get("having")
        if having is not None:
            scope.having = True
            put(made, "having", make(exp.Having, this=self.truth(having.this, scope)))
            scope.having = False
        columns = [column for _, column in outputs]
        self.in_order(node, made, scope, columns)
        self.limited(node, made)
        return made, columns

    # FROM

    def _from(self, node: exp.Select, scope: Scope, made: Node) -> None:
        put(made, "from_", make(exp.From, this=self._source(node.args["from_"].this, scope)))
        for join in node.args.get("joins") or []:
            made.append("joins", self._join(join, scope))

    def _source(self, node: Node, scope: Scope) -> Node:
        if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
            return self._table(node, scope)
        if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Table):
            inner = self._source(node.this, scope)  # a join in parentheses
            made = make(exp.Subquery, this=inner)
            for join in [*(node.this.args.get("joins") or []), *(node.args.get("joins") or [])]:
                inner.append("joins", self._join(join, scope))
            return made
        if isinstance(node, exp.Subquery | exp.Values):
            query, columns = self.query(node, scope.parent)
            alias = (node.alias or f"sub {len(scope.sources)}").lower()
            renamed = node.args.get("alias")
            names = [n.name for n in (renamed.args.get("columns") or [])] if renamed else []
            columns = _renamed(columns, names)
            if not names:
                columns = told_apart(query, columns)
            scope.sources.append(Source(alias, columns))
            word = make(exp.TableAlias, this=named(alias))
            if names or isinstance(
                bare(node), exp.Values
            ):  # whose columns have own names elsewhere
                if self.target.quote == "`":
                    raise Inexpressible("VALUES in FROM, or columns renamed there")
                put(word, "columns", [named(column.name) for column in columns])
            return make(exp.Subquery, this=query, alias=word)
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
        made = make(exp.Table, this=named(name))
        if alias:
            put(made, "alias", make(exp.TableAlias, this=named(alias)))
        return made

    def _join(self, node: exp.Join, scope: Scope) -> Node:
        before = len(scope.sources)
        side, kind = node.side.upper(), node.kind.upper()
        on, using = node.args.get("on"), node.args.get("using")
        if side == "FULL" and self.target.quote == "`":
            raise Inexpressible("FULL JOIN")
        this = self._source(node.this, scope)
        made = make(exp.Join, this=this, side=side or None)
        if node.method.upper() == "NATURAL" and not _shared(scope, before):
            kind = "" if side else "CROSS"  # SQLite joins all rows then, others refuse it
            if side:
                put(made, "on", make(exp.Boolean, this=True))
        elif node.method.upper() == "NATURAL":
            put(made, "method", "NATURAL")
        elif using:
            put(made, "using", [named(name.name) for name in using])
        elif on is not None:
            put(made, "on", self.truth(on, scope))
        elif side:
            put(made, "on", make(exp.Boolean, this=True))
        else:
            kind = "CROSS"
        put(made, "kind", "CROSS" if kind == "CROSS" and on is None else None)
        if using or node.method:
            names = {n.name.lower() for n in using} if using else _shared(scope, before)
            scope.merged = scope.merged or side in ("RIGHT", "FULL")
            self._merge(scope, before, names)
        return made

    def _merge(self, scope: Scope, before: int, names: set[str]) -> None:
        """The right source of USING or NATURAL has the shared columns no more, for `*`."""
        for place in range(before, len(scope.sources)):
            source = scope.sources[place]
            merged = source.merged | names
            scope.sources[place] = dataclasses.replace(source, merged=frozenset(merged))
        for name in sorted(names):
            kinds = {c.kind for s in scope.sources for c in s.columns if c.name == name} - {NULL}
            if len(kinds) > 1:
                self.doubts.add(WIDE_DOUBT)
                if not kinds <= NUMBERS:
                    raise Inexpressible("USING of columns of different types")

    # GROUP BY and results

    def _group(self, node: exp.Select, scope: Scope, made: Node) -> None:
        group = node.args.get("group")
        outputs = [*node.expressions, *_parts(node, "having", "order")]
        totals = any(map(aggregates, outputs))
        if group is None:
            scope.groups = set() if totals else None
            return
        if any(group.args.get(n) for n in ("grouping_sets", "cube", "rollup")):
            raise Inexpressible("grouping sets")
        terms = [self._meant(term, node, scope) for term in group.expressions]
        put(made, "group", make(exp.Group, expressions=[self._as_term(t, scope) for t in terms]))
        scope.groups = set()
        for term in terms:
            found = scope.find(term) if isinstance(term, exp.Column) else None
            if found is not None:
                scope.groups.add((found[0].alias, found[1].name))
            elif any(True for _ in term.find_all(exp.Column)):
                scope.texts.add(write(term).lower())

    def _as_term(self, term: Node, scope: Scope) -> Node:
        typed = self.value(term, scope)
        if typed.constant is not None and not self.target.narrow:
            return make(exp.Paren, this=make(exp.Add, this=typed.node, expression=integer(0)))
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
                if scope.merged:
                    raise Inexpressible("* of RIGHT or FULL JOIN with USING")
                found += [self._starred_output(source, column, scope)
                          for source, column in scope.starred(table)]  # fmt: skip
                continue
            inner = output.unalias()
            typed = self.value(inner, scope)
            name = (output.alias or (inner.name if isinstance(inner, exp.Column) else "")).lower()
            shown = typed.node
            if output.alias or (name and not isinstance(shown, exp.Column)):
                shown = make(exp.Alias, this=shown, alias=named(name))
            found.append((shown, Column(name, typed.kind, typed.affinity)))
        return found

    def _starred_output(self, source: Source, column: Column, scope: Scope) -> tuple[Node, Column]:
        of = make(exp.Column, this=named(column.name), table=named(source.alias))
        typed = self.value(of, scope)
        if isinstance(typed.node, exp.Column):
            return typed.node, column
        return make(exp.Alias, this=typed.node, alias=named(column.name)), column

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
                    self.type_nulls(query, place, kind)
            columns.append(Column(one.name, kind, one.affinity))
        distinct = bool(node.args.get("distinct"))
        if isinstance(node, exp.Intersect) and isinstance(left, exp.SetOperation):
            left = make(
                exp.Subquery, this=left
            )  # elsewhere INTERSECT binds tighter than the others
        made = type(node)(this=left, expression=right, distinct=distinct)
        self.in_order(node, made, None, columns)
        self.limited(node, made)
        return made, columns

    def type_nulls(self, query: Node, place: int, kind: str) -> None:
        """Have a column that is NULL in every row be of the other part's type."""
        if isinstance(query, exp.Subquery):
            self.type_nulls(query.this, place, kind)
        elif isinstance(query, exp.SetOperation):
            self.type_nulls(query.this, place, kind)
            self.type_nulls(query.expression, place, kind)
        elif isinstance(query, exp.Select):
            outputs = query.args["expressions"]
            output = outputs[place]
            if isinstance(output, exp.Alias):
                put(output, "this", self.retyped(Typed(output.this, NULL), kind).node)
            else:
                outputs[place] = self.retyped(Typed(output, NULL), kind).node

    def _values(self, node: exp.Values) -> tuple[Node, list[Column]]:
        rows = [
            [self.value(v, Scope()) for v in (r.expressions if isinstance(r, exp.Tuple) else [r])]
            for r in node.expressions
        ]
        if len({len(row) for row in rows}) > 1:
            raise Unresolved("VALUES with rows of different widths")
        kinds = [self.joined(t.kind for t in place) for place in zip(*rows, strict=True)]
        made = make(
            exp.Values,
            expressions=[
                make(
                    exp.Tuple,
                    expressions=[self.as_kind(t, k) for t, k in zip(row, kinds, strict=True)],
                )
                for row in rows
            ],
        )
        return made, [Column(f"column{n}", k, "") for n, k in enumerate(kinds, 1)]


def _names(node: Node, table: str) -> bool:
    """Whether a query reads a table of this name."""
    return any(found.name.lower() == table for found in node.find_all(exp.Table))


def _shared(scope: Scope, before: int) -> set[str]:
    """The names that the columns of the sources up to a place share with the others."""
    left, right = (
        {c.name for source in part for c in source.columns}
        for part in (scope.sources[:before], scope.sources[before:])
    )
    return left & right


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
