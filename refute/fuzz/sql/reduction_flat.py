"""Subqueries in FROM that become part of the query around them.

What fails on a view or a subquery often fails on its tables as well, which is shorter to read. The
tables and conditions of the inner query move out, and what it shows stands where its columns did.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from refute.fuzz.sql.text import Node, write

_ROWS_ONLY = ("group", "having", "distinct", "limit", "offset", "with_", "windows")


def flattened(query: Node) -> Iterator[str]:
    """Texts of the query with one subquery less in a FROM."""
    for place, node in enumerate(query.walk()):
        if _fits(node):
            copy = query.copy()
            other = next(n for i, n in enumerate(copy.walk()) if i == place)
            _flatten(other)
            yield write(copy)


def uncommon(query: Node) -> Iterator[str]:
    """Texts of the query with a table of WITH less: gone, or as a subquery where it is named."""
    for place, node in enumerate(query.walk()):
        if not isinstance(node, exp.With):
            continue
        for index, common in enumerate(node.expressions):
            copy = query.copy()
            clause = next(n for i, n in enumerate(copy.walk()) if i == place)
            _put_in_place(clause, index)
            if not any(table.name == common.alias for table in copy.find_all(exp.Table)):
                yield write(copy)


def _put_in_place(clause: Node, index: int) -> None:
    """Takes one table out of WITH and puts its query where it is named."""
    around, common = clause.parent, clause.expressions[index]
    assert around is not None
    left = [other for place, other in enumerate(clause.expressions) if place != index]
    clause.set("expressions", left)
    if not left:
        around.set("with_", None)
    first, names = common.this.find(exp.Select), common.args["alias"].args.get("columns") or ()
    for output, called in zip(first.expressions if first else (), names, strict=False):
        output.replace(exp.Alias(this=output.unalias().copy(), alias=called.copy()))
    for table in list(around.find_all(exp.Table)):
        if table.name == common.alias:
            alias = exp.TableAlias(this=exp.Identifier(this=table.alias_or_name, quoted=False))
            table.replace(exp.Subquery(this=common.this.copy(), alias=alias))


def _fits(node: Node) -> bool:
    """Whether it is a subquery in FROM that only takes rows of one table as they are."""
    if not isinstance(node, exp.Subquery) or not isinstance(node.parent, exp.From | exp.Join):
        return False
    inner = node.this
    if not isinstance(inner, exp.Select) or inner.args.get("from_") is None:
        return False
    return node.find_ancestor(exp.Select) is not None and not (
        any(inner.args.get(name) for name in _ROWS_ONLY)
        or inner.args.get("joins")
        or any(output.find(exp.AggFunc, exp.Window) for output in inner.expressions)
    )


def _flatten(subquery: Node) -> None:
    outer, inner, alias = subquery.find_ancestor(exp.Select), subquery.this, subquery.alias
    assert outer is not None
    values = {output.alias_or_name: output.unalias() for output in inner.expressions}
    condition = inner.args.get("where")
    subquery.replace(inner.args["from_"].this)
    for column in list(outer.find_all(exp.Column)):
        value = values.get(column.name)
        if value is not None and column.table in ("", alias) and column.parent is not None:
            new = value.copy()
            column.replace(new if isinstance(new, exp.Column) else exp.Paren(this=new))
    if condition is None:
        return
    known = outer.args.get("where")
    both: Node = condition.this
    if known is not None:
        both = exp.And(this=exp.Paren(this=known.this), expression=exp.Paren(this=both))
    outer.set("where", exp.Where(this=both))
