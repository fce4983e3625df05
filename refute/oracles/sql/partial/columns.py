"""Columns: what a query's columns are for SQLite, read off the statements that made the tables.

Only what decides how SQLite compares is kept: the affinity and the collation (the rules stand in
"Datatypes In SQLite", sections 3 and 7), and in what form values come. The query of a view is read
when something asks for the view. What cannot be told is not there, and an oracle then leaves alone
what depends on it.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator

from sqlglot import exp

from refute.fuzz.sql.nodes import everything
from refute.fuzz.sql.text import Node, look
from refute.oracles.sql.partial.tables import (
    BINARY,
    FORMS,
    MOST_LITERALS,
    NONE,
    ROWIDS,
    TOKENS,
    UNDEFINED,
    UNSURE,
    Column,
    Relation,
    affinity_of,
    collect,
    definitions,
    unquoted,
)
from refute.oracles.sql.partial.trees import bare, below, items, plus


class Catalog:
    """The tables and views of a setup."""

    def __init__(self, setup: tuple[str, ...]) -> None:
        self._tables: dict[str, Relation] = {}
        self._views: dict[str, str] = {}
        self._bodies: dict[str, Node] = {}
        self._made: set[str] = set()
        literals: dict[str, list[str]] = {}
        for sql in setup:
            words = sql[:200].split(None, 4)
            first = words[0].upper() if words else ""
            if first == "CREATE":
                self._create(sql)
            elif first in ("INSERT", "REPLACE"):
                collect(sql, literals)
            elif first in ("ALTER", "DROP"):
                self._forget(sql)
        for name, found in literals.items():
            known = self._tables.get(name)
            if known is not None:
                some = tuple(dict.fromkeys(found))[:MOST_LITERALS]
                self._tables[name] = dataclasses.replace(known, literals=some)

    def relation(self, name: str) -> Relation | None:
        """The table or view of a name; None when it is not known."""
        low = name.lower()
        if low in self._views:
            text = self._views.pop(low)
            found = self._view(low, text)
            if found is not None:
                self._tables[low] = found
        return self._tables.get(low)

    def body(self, name: str) -> Node | None:
        """The query of a view; None where the name is no view's, or its query cannot be read."""
        self.relation(name)
        return self._bodies.get(name.lower())

    def is_table(self, name: str) -> bool:
        """Whether it is the name of a table, and not of a view."""
        return name.lower() in self._tables and name.lower() not in self._made

    def _create(self, sql: str) -> None:
        tokens = [t for t in TOKENS.findall(sql) if not t.startswith(("--", "/*"))]
        words = [t.upper() for t in tokens[:8]]
        if "VIEW" in words[:4]:
            place = words.index("VIEW") + 1
            place += 3 if words[place : place + 3] == ["IF", "NOT", "EXISTS"] else 0
            self._views[unquoted(tokens[place]).lower()] = sql
            self._made.add(unquoted(tokens[place]).lower())
        elif "TABLE" in words[:3] and "VIRTUAL" not in words[:3]:
            place = words.index("TABLE") + 1
            place += 3 if words[place : place + 3] == ["IF", "NOT", "EXISTS"] else 0
            if tokens[place + 1 : place + 2] == ["("]:
                columns = tuple(definitions(tokens[place + 2 :]))
                self._tables[unquoted(tokens[place]).split(".")[-1].lower()] = Relation(columns)

    def _forget(self, sql: str) -> None:
        """What is altered or dropped is not known any more."""
        for word in TOKENS.findall(sql):
            self._tables.pop(unquoted(word).lower(), None)
            self._views.pop(unquoted(word).lower(), None)
            self._bodies.pop(unquoted(word).lower(), None)

    def _view(self, low: str, sql: str) -> Relation | None:
        tree = look(sql)
        if not isinstance(tree, exp.Create) or not isinstance(tree.expression, exp.Query):
            return None
        self._bodies[low] = tree.expression
        made = Scope(self, tree.expression).output(tree.expression)
        if made is not None and isinstance(tree.this, exp.Schema):
            names = [n.name for n in tree.this.expressions]
            if len(names) != len(made.columns):
                return None
            pairs = zip(made.columns, names, strict=True)
            return Relation(tuple(dataclasses.replace(c, name=n) for c, n in pairs))
        return made


@functools.lru_cache(maxsize=64)
def catalog_of(setup: tuple[str, ...]) -> Catalog:
    """The catalog of a setup, kept for the queries that come."""
    return Catalog(setup)


class Scope:
    """Every name that an item of FROM has anywhere in a query, and what it stands for.

    A name that stands for two things is not known. The query is walked when a name is looked up.
    """

    def __init__(self, catalog: Catalog, query: Node) -> None:
        self._catalog = catalog
        self._query = query
        self._doing: set[str] = set()
        self._stored: set[str] = set()

    @functools.cached_property
    def _nodes(self) -> list[Node]:
        return everything(self._query)

    @functools.cached_property
    def _ctes(self) -> dict[str, Node]:
        return {n.alias.lower(): n for n in self._nodes if isinstance(n, exp.CTE)}

    @functools.cached_property
    def _sources(self) -> dict[str, Relation | None]:
        found: dict[str, Relation | None] = {}
        self.__dict__["_sources"] = found  # what is looked up on the way sees those before it
        for node in reversed(self._nodes):  # what is inside comes first
            if isinstance(node, exp.Select):
                for item in items(node):
                    self._add(item, found)
        return found

    def view(self, item: Node) -> tuple[Node, Scope] | None:
        """The query of a view that an item of FROM is, with its names; None of anything else."""
        if not isinstance(item, exp.Table) or item.name.lower() in self._ctes:
            return None
        body = self._catalog.body(item.name)
        return None if body is None else (body, Scope(self._catalog, body))

    def relation(self, item: Node) -> Relation | None:
        """What an item of FROM stands for."""
        if isinstance(item, exp.Subquery):
            return self.output(item.this)
        if not isinstance(item, exp.Table):
            return None
        low = item.name.lower()
        cte = self._ctes.get(low)
        if cte is None:
            return self._catalog.relation(low)
        if low in self._doing:  # a recursive one
            return None
        self._doing.add(low)
        made = self.output(cte.this)
        self._doing.discard(low)
        names = [n.name for n in cte.args["alias"].args.get("columns") or ()]
        if made is None or not names:
            return made
        if len(names) != len(made.columns):
            return None
        pairs = zip(made.columns, names, strict=True)
        return Relation(tuple(dataclasses.replace(c, name=n) for c, n in pairs))

    def output(self, query: Node) -> Relation | None:
        """The result columns of a query; None when one of them has no certain name."""
        while isinstance(query, exp.Subquery):
            query = query.this
        if isinstance(query, exp.SetOperation):
            return self._compound(query)
        if not isinstance(query, exp.Select):
            return None
        columns: list[Column] = []
        for output in query.expressions:
            inner = output.unalias()
            if isinstance(inner, exp.Star) or isinstance(inner.this, exp.Star):
                return None
            unknown = (UNDEFINED,) * 2 if self.undefined(inner) else ("?", "?")
            affinity, collation = self.kind(inner) or unknown
            form = self.form(inner)
            columns.append(Column(output.alias_or_name, affinity, collation, form))
        return Relation(tuple(columns))

    def _compound(self, query: Node) -> Relation | None:
        """Known columns where both sides agree: which side's affinity counts is undefined."""
        left, right = self.output(query.this), self.output(query.expression)
        if left is None or right is None or len(left.columns) != len(right.columns):
            return None
        columns = []
        for one, other in zip(left.columns, right.columns, strict=True):
            same = (one.affinity, one.collation) == (other.affinity, other.collation)
            same = same and "?" not in (one.affinity, one.collation)
            form = _merged([one.form, other.form])
            kept = (one.affinity, one.collation) if same else (UNDEFINED, UNDEFINED)
            columns.append(Column(one.name, *kept, form))
        return Relation(tuple(columns))

    def kind(self, node: Node) -> tuple[str, str] | None:
        """Affinity and collation of an expression as an operand; None when they are not known.

        A column of a subquery that is an expression inside has the collation UNSURE: NONE or
        BINARY, as the subquery is moved into the query around it or not.
        """
        node = bare(node)
        if isinstance(node, exp.Column):
            found = self._column(node)
            if found is None or found.affinity in ("?", UNDEFINED) or found.collation == "?":
                return None
            return found.affinity, found.collation or UNSURE
        if isinstance(node, exp.Subquery):
            made = self.output(node.this)
            first = made.columns[0] if made is not None and len(made.columns) == 1 else None
            if first is None or first.affinity in ("?", UNDEFINED):
                return None
            return first.affinity, NONE
        if any(isinstance(n, exp.Collate) for n in _values(node)):
            return None  # it reaches up through operators and calls
        if plus(node):
            inner = self.kind(node.this)
            return None if inner is None else (NONE, inner[1])
        if isinstance(node, exp.Cast):
            inner = self.kind(node.this)
            target = affinity_of(_type_name(node))
            return None if inner is None else (target, inner[1])
        return NONE, NONE

    def form(self, node: Node) -> str:
        """In what form equal values of an expression come: always the same one, or "".

        "int": whole numbers as integers. "real": all numbers as floats. "text": no numbers, and
        texts compared byte by byte. Values of one form that are equal are the same.
        """
        node = bare(node)
        if isinstance(node, exp.Column):
            found = self._column(node)
            return "" if found is None else found.form
        if isinstance(node, exp.Null):
            return "none"
        if isinstance(node, exp.Literal):
            return "text" if node.is_string else "int" if str(node.this).isdigit() else "real"
        if isinstance(node, exp.Neg) and isinstance(node.this, exp.Literal):
            return self.form(node.this)
        if any(isinstance(n, exp.Collate) for n in _values(node)) and not _is_truth(node):
            return ""
        if isinstance(node, exp.Subquery):
            made = self.output(node.this)
            return made.columns[0].form if made is not None and len(made.columns) == 1 else ""
        if _is_truth(node) or isinstance(node, exp.Count | exp.Length):
            return "int"
        if isinstance(node, exp.Cast):
            return FORMS.get(affinity_of(_type_name(node)), "")
        if isinstance(node, exp.DPipe | exp.Typeof | exp.Upper | exp.Lower | exp.Substring):
            return "text"
        if isinstance(node, exp.Avg):
            return "real"
        if isinstance(node, exp.Coalesce):
            return _merged([self.form(n) for n in (node.this, *node.expressions)])
        if isinstance(node, exp.Case):
            values = [arm.args["true"] for arm in node.args["ifs"]]
            default = node.args.get("default")
            return _merged([self.form(n) for n in (*values, *([default] if default else []))])
        if isinstance(node, exp.Nullif | exp.Min | exp.Max) and not node.expressions:
            return self.form(node.this)
        return ""

    def undefined(self, node: Node) -> bool:
        """Whether it is a column of a compound query whose parts differ, or the rowid of no table.

        Releases of SQLite give the rowid of a view or subquery or refuse it, as they are built.
        """
        node = bare(node)
        if isinstance(node, exp.Column) and node.name.lower() in ROWIDS:
            return not self.stored(node)
        found = self._column(node) if isinstance(node, exp.Column) else None
        return found is not None and found.affinity == UNDEFINED

    def stored(self, node: Node) -> bool:
        """Whether it is a column of a table, by its full name: its values fit its affinity."""
        if not isinstance(node, exp.Column) or node.table.lower() not in self._sources:
            return False
        return node.table.lower() in self._stored

    def exact(self, node: Node) -> bool:
        """Whether sums of it are the same in any order: whole numbers of no great size."""
        node = bare(node)
        if isinstance(node, exp.Literal):
            return not node.is_string and str(node.this).isdigit() and len(str(node.this)) < 10
        return _is_truth(node) or isinstance(node, exp.Count | exp.Length | exp.Null)

    def _column(self, node: Node) -> Column | None:
        table, name = node.args.get("table"), str(node.name)
        if table is not None:
            found = self._sources.get(table.name.lower())
            column = None if found is None else found.column(name)
            if column is None and found is not None and name.lower() in ROWIDS:
                return Column(name, "INTEGER", BINARY, "int")
            return column
        if any(source is None for source in self._sources.values()):
            return None
        sources = [s for s in self._sources.values() if s is not None]
        columns = [c for s in sources if (c := s.column(name)) is not None]
        return columns[0] if len(columns) == 1 else None

    def _add(self, item: Node, found: dict[str, Relation | None]) -> None:
        alias = item.alias_or_name.lower()
        made = self.relation(item)
        if alias in found and found[alias] != made:
            made = None
        found[alias] = made
        low = item.name.lower() if isinstance(item, exp.Table) else ""
        if made is not None and low and low not in self._ctes and self._catalog.is_table(low):
            self._stored.add(alias)
        else:
            self._stored.discard(alias)


def _is_truth(node: Node) -> bool:
    """Whether it is 1, 0 or NULL."""
    return isinstance(node, exp.Predicate | exp.Connector | exp.Not | exp.Boolean) and not (
        isinstance(node, exp.SubqueryPredicate) and not isinstance(node, exp.Exists)
    )


def _merged(forms: list[str]) -> str:
    """The form of values that come from several expressions; texts never equal numbers."""
    found = sorted({f for f in forms if f != "none"})
    if "" in found:
        return ""
    if len(found) == 2 and found[1] == "text":
        return found[0]
    return found[0] if len(found) == 1 else "" if found else "none"


def _values(node: Node) -> Iterator[Node]:
    """The node and its operands, without subqueries."""
    stack = [node]
    while stack:
        found = stack.pop()
        yield found
        stack += [n for n in below(found) if not isinstance(n, exp.Query)]


def _type_name(cast: Node) -> str:
    kind = cast.args["to"].this
    named = getattr(kind, "value", str(kind)).upper()
    return {"DECIMAL": "NUMERIC", "VARCHAR": "TEXT", "VARBINARY": "BLOB"}.get(named, named)
