"""The boldest steps of reduction: a part of a query as a whole query.

A wrong value deep inside of a query is often wrong alone. So each value is offered as the output of
a query of its own, small ones first: without tables, then with the tables of the SELECT around it.
What a condition decides becomes a value that way, so that one defect of an operator comes out in
one form, wherever the operator stood.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sqlglot import exp

from refute.fuzz.sql.schema import literal
from refute.fuzz.sql.text import Node, look, write

_VALUES = exp.Condition | exp.Subquery | exp.Case
_ROWS = 6  # of the tables that are put in place of their columns
_LONGEST = 40  # characters of a value that is put in place of an expression

Evaluate = Callable[[str], Sequence[Sequence[Any]]]
"""Rows of a query; none where it fails."""

_ATOMS = exp.Column | exp.Literal | exp.Null | exp.Boolean | exp.Star | exp.Identifier | exp.Neg
_NO_VALUES = exp.Column | exp.Table | exp.DataType | exp.TableAlias | exp.Alias | exp.Schema


def hoisted(text: str) -> list[str]:
    """Queries that are parts of this one, shortest first. Empty when it cannot be read."""
    query = look(text)
    if not isinstance(query, exp.Query):
        return []
    found = {*_parts(query), *_values(query)}
    found.discard(text)
    return sorted(found, key=lambda t: (len(t), t))


def tables_in(text: str) -> int:
    """How many tables a query names, those named twice counted twice; 0 when it cannot be read."""
    query = look(text)
    return 0 if query is None else sum(1 for _ in query.find_all(exp.Table))


def with_values(text: str, evaluate: Evaluate) -> Iterator[str]:
    """The query with values in place of expressions: of all columns at once, then of constants.

    Two columns that have to be equal for the query to be wrong cannot be made simpler one by one.
    """
    query = look(text)
    if isinstance(query, exp.Select) and query.args.get("from_"):
        yield from _without_tables(query, evaluate)
    if query is not None:
        yield from _folded(query, evaluate)


def _without_tables(query: Node, evaluate: Evaluate) -> Iterator[str]:
    """The outputs alone, with each of the first rows' values in place of the columns."""
    inner = {id(c) for s in query.find_all(exp.Select) if s is not query for c in s.walk()}
    columns = [c for o in query.expressions for c in o.find_all(exp.Column) if id(c) not in inner]
    columns = [c for c in columns if not isinstance(c.this, exp.Star)]
    if not columns:
        return
    names = list(dict.fromkeys(write(column) for column in columns))
    source = [query.args["from_"], *(query.args.get("joins") or ())]
    around = " ".join(map(write, source)).replace(" ,", ",")
    for row in evaluate(f"SELECT {', '.join(names)} {around} LIMIT {_ROWS}"):
        values = dict(zip(names, row, strict=True))
        copy = exp.Select(expressions=[o.copy() for o in query.expressions])
        for column in list(copy.find_all(exp.Column)):
            if write(column) in values and column.find_ancestor(exp.Select) is copy:
                column.replace(_literal(values[write(column)]))
        yield write(copy)


def _folded(query: Node, evaluate: Evaluate) -> Iterator[str]:
    """One constant expression less each time: its value stands for it."""
    for place, node in enumerate(query.walk()):
        if not isinstance(
            node, exp.Binary | exp.Unary | exp.Func | exp.Case | exp.Between | exp.In
        ):
            continue
        if isinstance(node, exp.AggFunc) or node.find(exp.Column, exp.Star, exp.AggFunc):
            continue
        if node.parent is None or len(write(node)) < 3:
            continue
        rows = evaluate(f"SELECT {write(node)}")
        if len(rows) != 1 or len(repr(rows[0][0])) > _LONGEST:
            continue
        copy = query.copy()
        at = next(n for i, n in enumerate(copy.walk()) if i == place)
        at.replace(_literal(rows[0][0]))
        yield write(copy)


def _literal(value: Any) -> Node:
    made = literal(value)
    return made.copy()


def whole_tables(names: Sequence[str]) -> list[str]:
    """Queries that show everything that is in these tables."""
    return [f"SELECT * FROM {name}" for name in names]


def _parts(query: Node) -> Iterator[str]:
    """Queries inside of the query."""
    for part in query.find_all(exp.Query):
        if part is not query and not isinstance(part, exp.Subquery):
            yield write(part)
            yield from _with_end(part)


def _with_end(part: Node) -> Iterator[str]:
    """A part of a compound query with the ORDER BY and LIMIT of the whole."""
    whole = part.parent
    if not isinstance(whole, exp.SetOperation) or not isinstance(part, exp.Select):
        return
    ends = {name: whole.args[name] for name in ("order", "limit", "offset") if whole.args.get(name)}
    if ends:
        copy = part.copy()
        for name, end in ends.items():
            copy.set(name, end.copy())
        yield write(copy)


def _values(query: Node) -> Iterator[str]:
    """Every value as the output of a query."""
    for node in query.walk():
        if not isinstance(node, _VALUES) or isinstance(node, _ATOMS | exp.Distinct):
            continue
        if isinstance(node.parent, _NO_VALUES) and not isinstance(node.parent, exp.Alias):
            continue
        if isinstance(node.parent, exp.From | exp.Join) and node.arg_key == "this":
            continue
        inner = node.unnest() if isinstance(node, exp.Paren) else node
        yield from _alone(write(inner), node)


def _alone(value: str, node: Node) -> Iterator[str]:
    """The value without tables where it names no column, and with those around it."""
    if node.find(exp.Column) is None:
        yield f"SELECT {value}"
    select = node.find_ancestor(exp.Select)
    source = select.args.get("from_") if select is not None else None
    if select is None or source is None:
        return
    joins = select.args.get("joins") or ()
    around = " ".join([write(source), *map(write, joins)]).replace(" ,", ",")
    if node.find_ancestor(exp.Join) is None or node.find_ancestor(exp.Join) not in joins:
        yield f"SELECT {value} {around}"
    else:  # a condition of ON is about all pairs of rows
        tables = ", ".join(write(j.this) for j in joins)
        yield f"SELECT {value} {write(source)}, {tables}"
    if select.args.get("group"):
        yield f"SELECT {value} {around} {write(select.args['group'])}"
