"""Variants: the same question, asked so that SQLite works in another order.

What SQL leaves open, SQLite decides by the order in which it meets the rows, and by when it
computes what. So scans run backwards, from before the first statement on where statements depend on
it; tables are copied with their rows reversed or shuffled, without keys and indexes or with one on
every column; operands that may be exchanged are; joins get another order, what stands in FROM one
of its own, subqueries and tables of WITH are computed first, conditions later. An answer that
changes under any of these was open from the start: which of several equal values DISTINCT keeps,
the order inside GROUP_CONCAT, the last bits of a sum of floats, a column that GROUP BY does not
fix. One that never changes is SQLite's.

Where a query looks at rowids, rows keep theirs, and so the order that these give.
"""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sqlglot import exp

from refute.fuzz.sql.text import Node, look, write
from refute.oracles.sql.partial.columns import Catalog, Scope, catalog_of
from refute.oracles.sql.partial.plans_queries import FORMS
from refute.oracles.sql.partial.tables import NONE, PLAIN, UNSURE
from refute.oracles.sql.partial.trees import unhinted
from refute.oracles.sql.sqlite import SQLite
from refute.oracles.sql.stored import ROWIDS, Row, Stored, Table, literal, quoted, stored_in

BACKWARDS = "PRAGMA reverse_unordered_selects = ON"
STEPS = 5_000_000  # instructions of SQLite for one statement
OVERFLOW = "integer overflow"

_ENDS = ("order", "limit", "offset")
_ROWID = re.compile(rf"\b(?:{'|'.join(ROWIDS)})\b", re.IGNORECASE)

Rows = Sequence[Row]
Order = Callable[[Rows], Rows]


def answered(
    setup: Sequence[str], query: Node
) -> Iterator[tuple[SQLite, Node, Sequence[Any]] | None]:
    """Each variant's database, its query and SQLite's answer; it is closed afterwards.

    setup: without the statements that SQLite refuses, since which row breaks a constraint depends
    on the order of rows. None stands for a variant that cannot be answered in its order. A form
    that SQLite does not take at all is none.
    """
    for statements, text in variants(setup, query):
        database = SQLite(STEPS)
        try:
            refused = any(r[0] == "error" for r in database.run(statements))
            [answer] = database.run([text])
            tree = look(text)
            if refused or tree is None or (answer[0] == "error" and OVERFLOW in answer[2]):
                yield None
            elif answer[0] == "rows":
                yield database, tree, answer
            elif answer[0] != "error":
                yield None
        finally:
            database.close()


def variants(setup: Sequence[str], query: Node) -> Iterator[tuple[list[str], str]]:
    """Statements and query of each variant; see `answered`."""
    given, query = (
        query,
        unhinted(query),
    )  # a named index fixes an order, but no answer
    text, exchanged = write(query), write(_exchanged(setup, query))
    if query is not given:
        yield list(setup), text
    yield [*setup, BACKWARDS], text
    yield list(setup), exchanged
    if any(_depends(statement) for statement in setup):
        yield [BACKWARDS, *setup], text
    database = SQLite(STEPS)
    database.run(setup)
    stored = stored_in(database)
    database.close()
    names = frozenset(table.name.lower() for table in stored.tables)
    for place, form in enumerate(FORMS):
        other = form(random.Random(place), query, names)
        if other is not None:
            yield list(setup), write(other)
    # A query of what could not be described is refused on the copies, and so is no variant.
    numbered = any(map(_ROWID.search, (text, *stored.views)))
    if not numbered:  # GROUP BY and DISTINCT sort their rows, and others may hash them
        for down in (False, True):
            yield list(setup), write(_in_order(query, down=down))
    yield from _on_copies(stored, numbered, text, exchanged)


def _in_order(query: Node, *, down: bool) -> Node:
    """The query with all that stands in FROM sorted by its first column."""
    query = query.copy()
    for place in list(query.find_all(exp.From, exp.Join)):
        inner = place.this.this
        if isinstance(place.this, exp.Table):
            name = exp.to_identifier(place.this.alias_or_name)
            bare = exp.Table(this=exp.to_identifier(place.this.name))
            inner = exp.Select(expressions=[exp.Star()], from_=exp.From(this=bare))
            place.set("this", exp.Subquery(this=inner, alias=exp.TableAlias(this=name)))
        if isinstance(inner, exp.Query) and not any(map(inner.args.get, _ENDS)):
            term = exp.Ordered(this=exp.Literal.number(1), desc=down)
            inner.set("order", exp.Order(expressions=[term]))
    return query


def _depends(statement: str) -> bool:
    """Whether what a statement does may depend on the order of rows."""
    words = statement.split(None, 1)
    first = words[0].upper() if words else ""
    return first in ("UPDATE", "DELETE") or (
        first in ("INSERT", "REPLACE") and "SELECT" in statement.upper()
    )


def _on_copies(
    stored: Stored, numbered: bool, text: str, exchanged: str
) -> Iterator[tuple[list[str], str]]:
    made = functools.partial(_copied, stored, numbered)
    yield made(lambda rows: rows[::-1]), text
    yield [*made(lambda rows: rows), BACKWARDS], exchanged
    for seed in range(3):
        yield made(functools.partial(_shuffled, seed)), text
    indexed = [*made(lambda rows: rows[::-1]), *_indexes(stored)]
    yield indexed, text
    yield [*indexed, BACKWARDS], exchanged


def _copied(stored: Stored, numbered: bool, order: Order) -> list[str]:
    """Statements that make the tables again, with their rows in another order."""
    made = []
    for table in stored.tables:
        made.append(f"CREATE TABLE {quoted(table.name)} {table.definition}")
        if table.rows:
            made.append(_filled(table, numbered, order))
    return [*made, *stored.views]


def _filled(table: Table, numbered: bool, order: Order) -> str:
    """One INSERT of all rows, with their rowids if these must stay."""
    names, rows = [quoted(name) for name in table.columns], table.values
    if numbered and table.rowid and not table.numbered:
        names, rows = [table.rowid, *names], list(table.rows)
    values = ", ".join(f"({', '.join(map(literal, row))})" for row in order(rows))
    return f"INSERT INTO {quoted(table.name)} ({', '.join(names)}) VALUES {values}"


def _indexes(stored: Stored) -> Iterator[str]:
    """An index on every column."""
    for table in stored.tables:
        for column in table.columns:
            name = quoted(f"i {table.name} {column}")
            yield f"CREATE INDEX {name} ON {quoted(table.name)} ({quoted(column)})"


def _shuffled(seed: int, rows: Rows) -> Rows:
    return random.Random(seed).sample(list(rows), len(rows))


def _exchanged(setup: Sequence[str], query: Node) -> Node:
    """UNION and INTERSECT with their operands exchanged, and inner joins of two tables."""
    query = query.copy()
    collated = any("COLLATE" in sql.upper() for sql in (*setup, write(query)))
    catalog = catalog_of(tuple(setup)) if collated else None
    for node in list(query.walk()):
        if isinstance(node, exp.Union | exp.Intersect) and not _named_order(node):
            left, right = node.this, node.expression
            if isinstance(left, exp.Select) and isinstance(right, exp.Select):
                collations = [] if catalog is None else _collations(catalog, left, right)
                if collations is not None:
                    _collate(right, collations)
                    node.set("this", right)
                    node.set("expression", left)
        elif isinstance(node, exp.Select):
            _exchange_tables(node)
    return query


def _collations(catalog: Catalog, left: Node, right: Node) -> list[str] | None:
    """By which collation each column of a compound is compared; None where that is not known.

    It is that of the left operand's expression, or the right one's if the left brings none.
    """
    found = []
    kinds = [_kinds(Scope(catalog, select), select) for select in (left, right)]
    if len(kinds[0]) != len(kinds[1]):
        return None
    for one, other in zip(*kinds, strict=True):
        decided = other if one == NONE or (one == UNSURE and other in PLAIN) else one
        if decided is None or decided == UNSURE:
            return None
        found.append(decided)
    return found


def _kinds(scope: Scope, select: Node) -> list[str | None]:
    """The collations of a SELECT's columns; None for one that is not known."""
    kinds: list[str | None] = []
    for output in select.expressions:
        inner = output.unalias()
        if isinstance(inner, exp.Collate):
            kinds.append(str(inner.expression.name).upper())
        else:
            kind = None if inner.is_star else scope.kind(inner)
            kinds.append(None if kind is None else kind[1])
    return kinds


def _collate(select: Node, collations: Sequence[str]) -> None:
    """Have the columns of a SELECT bring these collations."""
    for output, collation in zip(select.expressions, collations, strict=False):
        if collation != NONE:
            inner = output.unalias()
            made = exp.Collate(
                this=exp.Paren(this=inner.copy()), expression=exp.Var(this=collation)
            )
            inner.replace(made)


def _named_order(node: Node) -> bool:
    """Whether ORDER BY uses names, which are those of the first operand."""
    order = node.args.get("order")
    return order is not None and order.find(exp.Column) is not None


def _exchange_tables(select: Node) -> None:
    first, joins = select.args.get("from_"), select.args.get("joins") or []
    if first is None or len(joins) != 1 or joins[0].side or select.find(exp.Star):
        return
    left, right = first.this, joins[0].this
    first.set("this", right)
    joins[0].set("this", left)
