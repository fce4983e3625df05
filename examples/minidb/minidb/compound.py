"""UNION, UNION ALL, INTERSECT and EXCEPT, from left to right with equal precedence.

Rows are compared as DISTINCT does, by the collation that the leftmost SELECT has for a column.
Names and affinities of the columns are those of the leftmost SELECT.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlglot import exp

from minidb.collation import Fold, fold_of
from minidb.errors import NotSupportedError, OperationalError
from minidb.ordering import (
    Term,
    checked_position,
    cut,
    in_order,
    limits,
    marked,
    position_of,
    term_of,
    without_collate,
)
from minidb.scope import Builder, Query, Row, Scope
from minidb.syntax import bare, expect

Rows = Callable[[], Iterator[Row]]


def compile_compound(builder: Builder, node: exp.Expr, parent: Scope | None) -> Query:
    """The query of one set operation with what is to its left and right."""
    expect(node, "this", "expression", "distinct", "order", "limit", "offset")
    left = builder.query(_operand(node.this), parent)
    right = builder.query(_operand(node.expression), parent)
    if len(left.columns) != len(right.columns):
        raise OperationalError(
            f"SELECTs to the left and right of {node.key.upper()} "
            "do not have the same number of result columns"
        )
    collations = [
        one.collation if one.collation is not None else other.collation
        for one, other in zip(left.codes, right.codes, strict=True)
    ]
    rows = _combined(node, left.rows, right.rows, collations)
    terms = _order(node, left, collations)
    limit = limits(builder, node, parent)

    def finished() -> Iterator[Row]:
        wanted = limit()
        found: Iterator[Row] = rows() if wanted[0] != 0 else iter(())
        if terms:
            places, ordered = [place for place, _ in terms], [term for _, term in terms]
            keyed = ((row, tuple(row[place] for place in places)) for row in found)
            found = (row for row, _ in in_order(keyed, ordered))
        return cut(found, wanted)

    return Query(left.columns, right.codes, finished, left.depends | right.depends)


def _operand(node: exp.Expr) -> exp.Expr:
    """One side of the operator, which has no order or limit of its own."""
    while isinstance(node, exp.Subquery):
        expect(node, "this")
        node = node.this
    if any(node.args.get(part) is not None for part in ("order", "limit", "offset")):
        raise OperationalError("ORDER BY or LIMIT clause should come after UNION, not before")
    return node


def _combined(node: exp.Expr, left: Rows, right: Rows, collations: list[str | None]) -> Rows:
    """The rows of both sides under the operator, in the order of their values unless UNION ALL."""
    folds = [fold_of(collation) for collation in collations]
    terms = [Term(fold, False, True) for fold in folds]
    if isinstance(node, exp.Union) and not node.args.get("distinct"):

        def appended() -> Iterator[Row]:
            yield from left()
            yield from right()

        return appended
    if not node.args.get("distinct"):
        raise NotSupportedError(f"{node.key} ALL")
    ordered = _is_ordered(node)

    def combined() -> Iterator[Row]:
        first, second = _unlike(left(), folds, ordered), _unlike(right(), folds, ordered)
        if isinstance(node, exp.Union):
            first.update(second)
        else:
            wanted = isinstance(node, exp.Intersect)
            first = {mark: row for mark, row in first.items() if (mark in second) is wanted}
        return iter([row for row, _ in in_order(((r, r) for r in first.values()), terms)])

    return combined


def _unlike(rows: Iterator[Row], folds: list[Fold], ordered: bool) -> dict[Row, Row]:
    """The rows by their marks. Of duplicates, SQLite keeps the first where ORDER BY makes it sort
    each side, and else the last.
    """
    found: dict[Row, Row] = {}
    for row in rows:
        mark = marked(row, folds)
        if not ordered or mark not in found:
            found[mark] = row
    return found


def _is_ordered(node: exp.Expr | None) -> bool:
    """Whether the compound, or the one that it is a side of, has an ORDER BY."""
    while isinstance(node, exp.SetOperation | exp.Subquery):
        if node.args.get("order") is not None:
            return True
        node = node.parent
    return False


def _order(node: exp.Expr, left: Query, collations: list[str | None]) -> list[tuple[int, Term]]:
    """The terms of ORDER BY, each of which must be a result column."""
    order = node.args.get("order")
    terms = []
    for item in order.expressions if order is not None else []:
        expect(item, "this", "desc", "nulls_first")
        inner, collation = without_collate(item.this)
        place = _place(inner, node, left)
        terms.append((place, term_of(item, fold_of(collation or collations[place]))))
    return terms


def _place(node: exp.Expr, compound: exp.Expr, left: Query) -> int:
    number = position_of(node)
    if number is not None:
        return checked_position(number, len(left.columns), "ORDER BY")
    for select in _selects(compound):
        place = _place_in(node, select.expressions)
        if place is not None:
            return place
    for place, column in enumerate(left.columns):
        if isinstance(node, exp.Column) and column.name.lower() == node.name.lower():
            return place
    raise OperationalError("ORDER BY term does not match any column in the result set")


def _place_in(node: exp.Expr, items: list[exp.Expr]) -> int | None:
    """The result column of one SELECT that a term means: by its alias, else by its expression."""
    if any(isinstance(item, exp.Star) for item in items):
        return None
    wanted = node.name.lower() if isinstance(node, exp.Column) and not node.table else ""
    for place, item in enumerate(items):
        if wanted and isinstance(item, exp.Alias) and item.alias.lower() == wanted:
            return place
    for place, item in enumerate(items):
        written = bare(item.this if isinstance(item, exp.Alias) else item)
        if written == node or (
            wanted and isinstance(written, exp.Column) and written.name.lower() == wanted
        ):
            return place
    return None


def _selects(node: exp.Expr) -> Iterator[exp.Expr]:
    """The SELECTs of a compound from left to right."""
    if isinstance(node, exp.SetOperation):
        yield from _selects(node.this)
        yield from _selects(node.expression)
    elif isinstance(node, exp.Subquery):
        yield from _selects(node.this)
    else:
        yield node
