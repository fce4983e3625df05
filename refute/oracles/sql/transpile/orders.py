"""ORDER BY and LIMIT written for another engine, and different names for result columns."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from refute.fuzz.sql.nodes import make, put
from refute.fuzz.sql.text import Node
from refute.oracles.sql.transpile.kinds import Column, Inexpressible, Unresolved
from refute.oracles.sql.transpile.scopes import Scope
from refute.oracles.sql.transpile.window_functions import WindowFunctions
from refute.oracles.sql.transpile.writer import integer, named

_LIMITLESS = 2**63 - 1


class Orders(WindowFunctions):
    """Rewrites the ends of queries."""

    def in_order(
        self, node: Node, made: Node, scope: Scope | None, columns: Sequence[Column]
    ) -> None:
        """Set ORDER BY. columns: of the result. scope: None after a compound query."""
        order = node.args.get("order")
        if order is None:
            return
        names = [column.name for column in columns]
        terms = []
        for term in order.expressions:
            terms.append(self.ordered(term, self._order_term(term.this, scope, names)))
        put(made, "order", make(exp.Order, expressions=terms))

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
            return make(exp.Add, this=typed.node, expression=self.number(0).node)
        return typed.node

    def limited(self, node: Node, made: Node) -> None:
        """Set LIMIT and OFFSET, which are numbers."""
        limit, offset = node.args.get("limit"), node.args.get("offset")
        most = -1 if limit is None else self._count(limit.expression)
        skipped = 0 if offset is None else max(0, self._count(offset.expression))
        if most >= 0:
            put(made, "limit", make(exp.Limit, expression=integer(most)))
        elif skipped and self.target.quote == "`":
            put(made, "limit", make(exp.Limit, expression=integer(_LIMITLESS)))
        if skipped:
            put(made, "offset", make(exp.Offset, expression=integer(skipped)))

    def _count(self, node: Node) -> int:
        """The number of rows that a constant of LIMIT or OFFSET says."""
        while isinstance(node, exp.Paren):
            node = node.this
        typed = self.numeric(self.value(node, Scope()))
        if not isinstance(typed.constant, int):
            raise Inexpressible("a LIMIT that is computed")
        return typed.constant


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
        if not all(given) or len({name.lower() for name in given}) < len(given):
            rename(query, [f"c{place}" for place in range(1, len(given) + 1)])


def rename(query: Node, names: Sequence[str]) -> None:
    """Give the result columns these names."""
    if isinstance(query, exp.Subquery):
        rename(query.this, names)
    elif isinstance(query, exp.SetOperation):
        rename(query.this, names)
        rename(query.expression, names)
    elif isinstance(query, exp.Select):
        outputs = [
            make(exp.Alias, this=output.unalias(), alias=named(name))
            for output, name in zip(query.expressions, names, strict=True)
        ]
        put(query, "expressions", outputs)


def different(columns: Sequence[Column]) -> list[str]:
    """Names for columns, each once: SQLite shows all by `*`, also those of one name."""
    names: list[str] = []
    for place, column in enumerate(columns, 1):
        name = column.name or f"column {place}"
        names.append(name if name not in names else f"{name}:{place}")
    return names


def told_apart(query: Node, columns: Sequence[Column]) -> list[Column]:
    """The columns of a query in FROM, which gets names for them where they are not different."""
    names = different(columns)
    if names == [column.name for column in columns]:
        return list(columns)
    rename(query, names)
    return [column._replace(name=name) for column, name in zip(columns, names, strict=True)]
