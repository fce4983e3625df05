"""PQS: pivoted query synthesis. One row is chosen, and a query made that must have it.

From each table in FROM one row is chosen, the pivot. The embedded SQLite computes the conditions of
the query for these rows alone, in a database where there is nothing to choose (`pqs_reference`); a
condition that is false gets NOT in front of it, one that is unknown IS NULL behind it. Then all are
true for the pivot, and the row that its result columns have must be among the engine's, whatever
else is there. DISTINCT, GROUP BY all columns and ORDER BY may stand around it: they lose no row.
After M. Rigger and Z. Su, "Testing Database Engines via Pivoted Query Synthesis", OSDI 2020.

Sees: a row that is lost by an index, a join, a sort or a condition wrongly computed; a wrong value
in the result columns of the pivot; both also where the same mistake is in all plans of the engine.

Does not see: rows too many, rows too often, any order; anything about aggregates, windows, LIMIT
and compound queries as such, whose parts are asked alone; tables of WITH, views, VALUES, USING and
NATURAL in FROM (inside of subqueries they may stand); what SQLite itself computes wrongly.

First of all the tables themselves are asked for: where they do not hold what SQLite's hold, nothing
is asked of them. A condition that computes with something SQL leaves open says nothing.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable, Hashable, Iterator, Sequence

from sqlglot import exp

from refute.fuzz.sql.nodes import everything
from refute.fuzz.sql.text import Node, write
from refute.oracles.sql.compare import LIKES_BLOBS, NO_TEXT, STEPS
from refute.oracles.sql.digits import is_no_text, with_15_digits
from refute.oracles.sql.likes import depends_on_build
from refute.oracles.sql.partial import across
from refute.oracles.sql.partial.bags import exact, loose
from refute.oracles.sql.partial.columns import Scope, catalog_of
from refute.oracles.sql.partial.openness import deterministic, openness
from refute.oracles.sql.partial.pqs_reference import PivotDatabase
from refute.oracles.sql.partial.question import HELD, Answer, Case, Judged, Question
from refute.oracles.sql.partial.trees import (
    bare,
    blocks,
    changed,
    grouped,
    items,
    literal,
    make,
    negated,
    parens,
    plain_join,
    side,
    unknown,
    where,
    windowed,
)
from refute.oracles.sql.partial.written import asked, text_of
from refute.oracles.sql.said import said
from refute.oracles.sql.sqlite import SQLite
from refute.oracles.sql.stored import Table

PIVOTS = 2  # of a query
OWN = 0.7  # of the queries without WHERE get one of their result columns as their condition
SORTED, UNIQUE, GROUPED = 0.3, 0.2, 0.1
COLUMNS = 0.4  # of the queries show all columns instead of their own
OTHER_TABLES = "the tables are not SQLite's"
DEPENDS = "it computes with what SQL leaves open"

Row = Sequence[object]


@dataclasses.dataclass(frozen=True)
class Pivoted:
    """A SELECT for the engine, and one whose FROM has the pivot rows and that has no conditions.

    empty: no row of it could be chosen, since a table is empty.
    """

    engine: Node
    reference: Node
    empty: bool = False


class PQS:
    """The oracle `pqs`."""

    name = "pqs"

    def __init__(self) -> None:
        self._setup: tuple[str, ...] | None = None
        self._database: PivotDatabase | None = None
        self._other: set[str] = set()

    def questions(self, case: Case) -> Iterator[Question]:
        """Up to a few queries with a pivot each; before them the tables, once for a setup."""
        if not isinstance(case.query, exp.Query):
            return
        fresh = case.setup != self._setup
        database = self._prepare(case.setup)
        if not database.tables:
            return
        if fresh:
            yield from self._tables(case, database)
        rng = random.Random(f"{case.seed}/pqs")
        found = blocks(case.query)
        if not found or not deterministic(case.query):
            return
        ctes = _ctes(case.query)
        for _ in range(PIVOTS):
            made = _Maker(database, rng, ctes).made(rng.choice(found))
            if made is not None:
                yield self._question(case, *made)

    def _prepare(self, setup: tuple[str, ...]) -> PivotDatabase:
        if self._database is None or setup != self._setup:
            if self._database is not None:
                self._database.close()
            self._database, self._setup = PivotDatabase(setup), setup
            self._other = set()
        return self._database

    def _tables(self, case: Case, database: PivotDatabase) -> Iterator[Question]:
        for table in database.tables.values():
            columns = [exp.Column(this=_quoted(column)) for column in table.columns]
            source = exp.From(this=exp.Table(this=_quoted(table.name)))
            tree = exp.Select(expressions=columns, from_=source)
            yield Question(self.name, (asked(tree, case.dialect),), self._same(table))

    def _same(self, table: Table) -> Callable[[Sequence[Answer]], Judged]:
        setup, wanted = self._setup, sorted(map(repr, map(exact, table.values)))

        def judge(answers: Sequence[Answer]) -> Judged:
            rows = _rows(answers[0])
            if rows is not None and sorted(map(repr, map(exact, rows))) == wanted:
                return HELD
            if rows is not None and sorted(map(repr, map(_number, rows))) == sorted(
                map(repr, map(_number, table.values))
            ):
                return HELD  # another dialect's numbers
            if self._setup == setup:
                self._other.add(table.name.lower())
            return Judged("open", OTHER_TABLES)

        return judge

    def _question(self, case: Case, tree: Node, wanted: Sequence[Row]) -> Question:
        setup = self._setup

        def judge(answers: Sequence[Answer]) -> Judged:
            if answers[0][0] != "rows":
                return Judged("open", "it is refused" if answers[0][0] == "error" else "no answer")
            if self._setup == setup and self._other:
                return Judged("open", OTHER_TABLES)
            return _judged(case, tree, wanted, answers[0])

        return Question(self.name, (asked(tree, case.dialect),), judge)


def _judged(case: Case, tree: Node, wanted: Sequence[Row], answer: Answer) -> Judged:
    """Whether the answer has all the rows that are wanted."""
    normal = across.normal(answer[3]) if case.dialect != "sqlite" and len(answer) > 3 else tuple
    rows, wanted = [normal(row) for row in answer[2]], [normal(row) for row in wanted]
    if _among(wanted, rows, exact):
        return HELD
    if any(is_no_text(value) for row in wanted for value in row):
        return Judged("open", NO_TEXT)
    short, short_wanted = [_short(row) for row in rows], [_short(row) for row in wanted]
    if _among(short_wanted, short, exact):
        return HELD
    degree = openness(tree, Scope(catalog_of(case.setup), tree))
    if degree.degree == "mixed" or degree.adds:
        return Judged("open", DEPENDS)
    if degree.degree == "shown" and _among(short_wanted, short, loose):
        return HELD
    if case.dialect == "sqlite" and depends_on_build(case.setup, text_of(tree), STEPS):
        return Judged("open", LIKES_BLOBS)
    if case.dialect != "sqlite" and (reason := _doubt(case, tree, answer)):
        return Judged("open", reason)
    why = "the pivot row is missing"
    return Judged("broken", why, f"among others: {said(['rows', [], wanted])}", said(answer))


def _doubt(case: Case, tree: Node, answer: Answer) -> str:
    """Why an engine of another dialect may have other rows than SQLite; empty when it may not."""
    database = SQLite(STEPS)
    [*_, right] = database.run([*case.setup, write(tree)])
    database.close()
    found = across.compared(case.dialect, case.setup, write(tree), right, answer)
    return found.why if found.status == "open" else ""


def _short(row: Row) -> Row:
    """The row with texts of floats as far as releases agree on them."""
    return tuple(map(with_15_digits, row))


def _among(wanted: Sequence[Row], rows: Sequence[Row], key: Callable[[Row], Hashable]) -> bool:
    return set(map(key, wanted)) <= set(map(key, rows))


def _rows(answer: Answer) -> Sequence[Row] | None:
    return answer[2] if answer[0] == "rows" else None


def _number(row: Row) -> object:
    """The row with one form for equal numbers, be they digits or not."""
    found: list[object] = []
    for value in row:
        try:
            found.append(float(value))  # type: ignore[arg-type]
        except (TypeError, ValueError, OverflowError):
            found.append(value)
    return tuple(found)


def _ctes(query: Node) -> set[str]:
    """The names of WITH, which hide tables."""
    return {node.alias.lower() for node in everything(query) if isinstance(node, exp.CTE)}


def _quoted(word: str) -> Node:
    return exp.Identifier(this=word, quoted=not word.isidentifier())


class _Maker:
    """Makes one query with a pivot."""

    def __init__(self, database: PivotDatabase, rng: random.Random, ctes: set[str]) -> None:
        self._database = database
        self._rng = rng
        self._ctes = ctes
        self._slots = 0

    def made(self, select: Node) -> tuple[Node, list[Row]] | None:
        """The query, and the rows that it must have; None where no pivot can be chosen."""
        pivoted = self._select(select, top=True) if self._tables_only(select) else None
        if pivoted is None:
            return None
        wanted = self._database.rows(pivoted.reference)
        return (pivoted.engine, wanted) if wanted else None

    def _select(self, select: Node, *, top: bool) -> Pivoted | None:
        source = select.args.get("from_")
        joins = select.args.get("joins") or []
        odd = any(select.args.get(n) for n in ("laterals", "connect", "match", "sample"))
        if source is None or odd or not all(map(plain_join, joins)):
            return None
        plain = not (grouped(select) or windowed(select) or select.args.get("distinct"))
        if not top and (not plain or any(select.args.get(n) for n in ("limit", "offset", "with_"))):
            return None
        pivots = [self._item(item) for item in items(select)]
        found = [pivot for pivot in pivots if pivot is not None]
        sides = ["", *map(side, joins)]
        if len(found) < len(pivots) or any(
            p.empty and s != "LEFT" for p, s in zip(found, sides, strict=True)
        ):
            return None
        return self._conditioned(select, found, plain=plain, top=top)

    def _tables_only(self, select: Node) -> bool:
        """Whether FROM has nothing but what can have a pivot, as far as is seen at a glance."""
        return all(
            item.name.lower() in self._database.tables
            if type(item) is exp.Table
            else isinstance(item, exp.Subquery)
            for item in items(select)
        )

    def _item(self, item: Node) -> Pivoted | None:
        """One item of FROM: a table or a subquery."""
        if isinstance(item, exp.Subquery) and isinstance(item.this, exp.Select) and item.alias:
            inner = self._select(item.this, top=False)
            if inner is None or inner.empty:
                return None
            engine = changed(item, this=inner.engine)
            return Pivoted(engine, changed(item, this=inner.reference))
        table = self._database.tables.get(item.name.lower()) if type(item) is exp.Table else None
        if table is None or item.name.lower() in self._ctes or item.args.get("db"):
            return None
        alias = item.args.get("alias")
        if item.args.get("joins") or (alias is not None and alias.args.get("columns")):
            return None
        place = self._rng.randrange(len(table.rows)) if table.rows else -1
        pivot = self._database.pivot(table, self._slots, place)
        self._slots += 1
        known = alias or make(exp.TableAlias, this=_quoted(item.name))
        this = exp.Identifier(this=pivot, quoted=True)
        return Pivoted(item, make(exp.Table, this=this, alias=known), not table.rows)

    def _conditioned(
        self, select: Node, pivots: Sequence[Pivoted], *, plain: bool, top: bool
    ) -> Pivoted | None:
        """The SELECT with its conditions made true."""
        source, joins = select.args["from_"], select.args.get("joins") or []
        condition = where(select)
        if condition is None and plain and self._rng.random() < OWN:
            condition = self._own_condition(select)
        conditions: list[Node | None] = [
            None if pivot.empty else join.args.get("on")
            for join, pivot in zip(joins, pivots[1:], strict=True)
        ]
        first = changed(source, this=pivots[0].reference)
        rest = [make(exp.Join, this=p.reference, side="LEFT", on=literal(1)) for p in pivots[1:]]
        base = make(exp.Select, from_=first, joins=rest, with_=select.args.get("with_"))
        found = self._made_true(base, [*conditions, condition])
        if found is None:
            return None
        *ons, condition = found
        made = [
            changed(join, this=pivot.engine, on=on if on is not None else join.args.get("on"))
            for join, pivot, on in zip(joins, pivots[1:], ons, strict=True)
        ]
        clause = None if condition is None else make(exp.Where, this=condition)
        shown = self._shown(select, plain=plain, top=top)
        engine = make(
            exp.Select,
            **{**shown, "from_": changed(source, this=pivots[0].engine)},
            joins=made or None,
            where=clause,
            with_=select.args.get("with_"),
        )
        return Pivoted(engine, changed(base, expressions=shown["expressions"]))

    def _made_true(self, base: Node, conditions: Sequence[Node | None]) -> list[Node | None] | None:
        """The conditions, each changed so that it is true for the pivot."""
        asked_of = [c for c in conditions if c is not None]
        if not asked_of:
            return list(conditions)
        outputs = [_verdict(condition) for condition in asked_of]
        rows = self._database.rows(changed(base, expressions=outputs))
        if rows is None or len(rows) != 1:
            return None
        verdicts = iter(rows[0])
        return [None if c is None else _rectified(c, next(verdicts)) for c in conditions]

    def _own_condition(self, select: Node) -> Node | None:
        """A result column as a condition."""
        found = [o.unalias() for o in select.expressions]
        found = [o for o in found if not isinstance(bare(o), exp.Star | exp.Literal | exp.Column)]
        found = [o for o in found if not o.is_star]
        return self._rng.choice(found) if found else None

    def _shown(self, select: Node, *, plain: bool, top: bool) -> dict[str, object]:
        """Result columns and what stands around them."""
        outputs = list(select.expressions)
        if not top:
            return {"expressions": outputs}
        if not plain or self._rng.random() < COLUMNS:
            outputs = [exp.Star()]
        shown: dict[str, object] = {"expressions": outputs}
        stars = any(o.is_star for o in outputs)
        if self._rng.random() < UNIQUE:
            shown["distinct"] = exp.Distinct()
        elif not stars and self._rng.random() < GROUPED:
            keys = [literal(place) for place in range(1, len(outputs) + 1)]
            shown["group"] = make(exp.Group, expressions=keys)
        if self._rng.random() < SORTED:
            place = 1 if stars else self._rng.randint(1, len(outputs))
            term = make(exp.Ordered, this=literal(place), nulls_first=True)
            shown["order"] = make(exp.Order, expressions=[term])
        return shown


def _verdict(condition: Node) -> Node:
    """1, 0 or NULL, as the condition is true, false or unknown."""
    yes = make(exp.If, this=parens(condition), true=literal(1))
    no = make(exp.If, this=negated(condition), true=literal(0))
    return make(exp.Case, ifs=[yes, no])


def _rectified(condition: Node, verdict: object) -> Node:
    if verdict is None:
        return unknown(condition)
    return condition if verdict else negated(condition)
