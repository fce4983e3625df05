"""Plans: the same query planned otherwise must have the same rows.

Each question asks a query twice, and in between something changes that decides how it is run and
not what it means: settings and hints of the engine (`plans_settings`), another form of the query
(`plans_queries`), an index made for it and dropped again (also a partial one, or one of an
expression that the query has), statistics that say what is not so. After J. Ba and M. Rigger,
"Keep It Simple: Testing Databases via Differential Query Plans", SIGMOD 2024.

Sees: a wrong result that only some plans have: an index that loses rows, a join in the wrong order,
a condition pushed down or left out wrongly, a sort left out although it was needed.

Does not see: a mistake that all plans share, among them every wrong function, conversion and
comparison; anything of an engine that has neither indexes nor settings known here.

Compared are rows in any order, and where ORDER BY names result columns, their order. LIMIT is left
out. What may differ otherwise is what `bags` says. A setting, index or hint that the engine refuses
makes the question open.
"""

from __future__ import annotations

import dataclasses
import functools
import random
import re
from collections.abc import Iterator, Sequence

from sqlglot import exp

from refute.fuzz.sql.nodes import everything
from refute.fuzz.sql.script_reduction import tables_in
from refute.fuzz.sql.text import Node, write
from refute.oracles.sql.partial.bags import Pair, Row, close, loose, rows_of
from refute.oracles.sql.partial.columns import catalog_of
from refute.oracles.sql.partial.openness import deterministic
from refute.oracles.sql.partial.plans_queries import FORMS
from refute.oracles.sql.partial.plans_settings import Setting, setting
from refute.oracles.sql.partial.question import Answer, Case, Judged, Question
from refute.oracles.sql.partial.trees import bare, below, changed, make, swapped
from refute.oracles.sql.partial.written import asked
from refute.oracles.sql.said import said

PLANS = 2  # of a query
MADE = "refute_index"
COLLATIONS = ("", "", "", " COLLATE NOCASE", " COLLATE BINARY", " COLLATE RTRIM")
SIZES = ("1", "2", "100", "1000000")
REFUSED = "the engine refuses what would change the plan"

_INDEX = re.compile(
    r"\s*CREATE\s+(?:UNIQUE\s+)?INDEX\s+(?:IF\s+NOT\s+EXISTS\s+)?"
    r'("[^"]+"|\w+)\s+ON\s+("[^"]+"|\w+)',
    re.IGNORECASE,
)
_SETS = re.compile(r"\s*(?:PRAGMA|RESET|SET(?:\s+SESSION)?)\s+([\w.]+)", re.IGNORECASE)
_PREDICATES = (exp.Predicate, exp.Not, exp.Is)


@dataclasses.dataclass(frozen=True)
class Change:
    """between: statements after which the query is asked again. query: in its other form.

    lasting: whether nothing brings the database back to what it was.
    """

    between: tuple[str, ...] = ()
    query: Node | None = None
    undo: tuple[str, ...] = ()
    lasting: bool = False


class Plans:
    """The oracle `plans`."""

    name = "plans"

    def questions(self, case: Case) -> Iterator[Question]:
        """The query under a few other plans."""
        tree = case.query
        if not isinstance(tree, exp.Query) or not deterministic(tree):
            return
        tree = changed(tree, limit=None, offset=None)
        rng = random.Random(f"{case.seed}/plans")
        for _ in range(PLANS):
            change = _change(case, tree, rng)
            if change is not None:
                yield self._question(case, tree, change)

    def _question(self, case: Case, tree: Node, change: Change) -> Question:
        first = asked(tree, case.dialect)
        second = first if change.query is None else asked(change.query, case.dialect)

        def judge(answers: Sequence[Answer]) -> Judged:
            return _judged(case, tree, answers)

        between = (first, *change.between, second)
        return Question(self.name, between, judge, change.undo, changes=change.lasting)


def _judged(case: Case, tree: Node, answers: Sequence[Answer]) -> Judged:
    if any(answer[0] == "error" for answer in answers[1:-1]):
        return Judged("open", REFUSED)
    rows = rows_of((answers[0], answers[-1]))
    if isinstance(rows, Judged):
        return rows
    before, after = rows
    judged = Pair(case, tree, before, after, "planned otherwise").judged()
    if judged.status != "held" or _in_one_order(tree, before, after):
        return judged
    why = "planned otherwise: the order of rows"
    return Judged("broken", why, said(answers[0]), said(answers[-1]))


def _in_one_order(tree: Node, before: Sequence[Row], after: Sequence[Row]) -> bool:
    """Whether the columns that ORDER BY names come in one order."""
    places = _places(tree)
    keys = [[tuple(row[p] for p in places) for row in rows] for rows in (before, after)]
    pairs = zip(*keys, strict=True)
    return all(close(one, other, loose) for one, other in pairs)


def _places(query: Node) -> list[int]:
    """The result columns that are the first terms of ORDER BY."""
    order = query.args.get("order")
    while isinstance(query, exp.SetOperation):
        query = query.this
    names = [output.alias for output in query.expressions]
    places: list[int] = []
    for term in order.expressions if order is not None else ():
        this = bare(term.this)
        if isinstance(this, exp.Literal) and str(this.this).isdigit():
            places.append(int(str(this.this)) - 1)
        elif isinstance(this, exp.Column) and not this.table and names.count(this.name) == 1:
            places.append(names.index(this.name))
        else:
            break
    stars = any(output.is_star for output in query.expressions)
    return [] if stars else places


def _change(case: Case, tree: Node, rng: random.Random) -> Change | None:
    """A change that the engine's dialect has; None where nothing is found to be changed."""
    form = rng.random()
    if case.dialect != "sqlite":
        return _index(case, tree, rng) if form < 0.25 else _set(case, rng)
    if form < 0.12:
        return _set(case, rng)
    if form < 0.25:
        return _statistics(case, rng)
    if form < 0.55:
        return _index(case, tree, rng)
    tables = _tables(case.setup)
    for other in rng.sample(FORMS, len(FORMS)):
        made = other(rng, tree, tables)
        if made is not None:
            return Change(query=made)
    return _index(case, tree, rng)


def _set(case: Case, rng: random.Random) -> Change | None:
    found: Setting | None = setting(case.dialect, rng)
    if found is not None and any(map(_SETS.match, case.setup)) and _is_own(case, found):
        return None
    lasting = case.dialect == "datafusion"  # which has no RESET to what the session began with
    return None if found is None else Change(found.do, undo=found.undo, lasting=lasting)


def _is_own(case: Case, found: Setting) -> bool:
    """Whether the case has set one of the settings itself, which then would not come back."""
    own = " ".join(s.lower() for s in case.setup if _SETS.match(s))
    names = [match[1].lower() for s in (*found.do, *found.undo) if (match := _SETS.match(s))]
    return any(name in own for name in names)


@functools.lru_cache(maxsize=64)
def _tables(setup: tuple[str, ...]) -> frozenset[str]:
    return frozenset(name.strip('"').lower() for name in tables_in(setup))


def _statistics(case: Case, rng: random.Random) -> Change:
    """ANALYZE, and at times other numbers than it found.

    What SQLite does without statistics does not come back once there were some, even where they
    are deleted and the schema is loaded again.
    """
    if rng.random() < 0.3:
        return Change(("ANALYZE",), lasting=True)
    rows = []
    for table in sorted(_tables(case.setup)):
        size = rng.choice(SIZES)
        rows.append(f"('{table}', NULL, '{size}')")
        rows.append(f"('{table}', 'sqlite_autoindex_{table}_1', '{size} {rng.choice(SIZES)}')")
    for statement in case.setup:
        match = _INDEX.match(statement)
        if match:
            name, table = (word.strip('"') for word in match.groups())
            rows.append(f"('{table}', '{name}', '{rng.choice(SIZES)} {rng.choice(SIZES)}')")
    return Change(
        (
            "ANALYZE",
            "DELETE FROM sqlite_stat1",
            f"INSERT INTO sqlite_stat1 VALUES {', '.join(rows)}",
            "ANALYZE sqlite_master",
        ),
        lasting=True,
    )


def _index(case: Case, tree: Node, rng: random.Random) -> Change | None:
    """An index on a table of the query, of columns or of an expression that it has."""
    tables = _tables(case.setup)
    found = [t for t in everything(tree) if type(t) is exp.Table and t.name.lower() in tables]
    if not found:
        return None
    table = rng.choice(found)
    relation = catalog_of(case.setup).relation(table.name)
    if relation is None or not relation.columns:
        return None
    names = [column.name for column in relation.columns]
    terms = rng.sample(names, min(len(names), rng.choice((1, 1, 2))))
    if case.dialect != "sqlite":
        made = ", ".join(terms)
        return Change((f"CREATE INDEX {MADE} ON {table.name} ({made})",), undo=_drop())
    own = _expressions(tree, table.alias_or_name, frozenset(n.lower() for n in names))
    if own and rng.random() < 0.5:
        terms[0] = f"({write(_without_alias(rng.choice(own)))})"
    written = [f"{t}{rng.choice(COLLATIONS)}{rng.choice(('', ' DESC'))}" for t in terms]
    conditions = [e for e in own if isinstance(e, _PREDICATES)]
    partial = ""
    if rng.random() < 0.4:
        one = rng.choice(names)
        choices = [*conditions, f"{one} IS NOT NULL", f"{one} IS NULL"]
        chosen = rng.choice(choices)
        text = chosen if isinstance(chosen, str) else write(_without_alias(chosen))
        partial = f" WHERE {text}"
    made = f"CREATE INDEX {MADE} ON {table.name} ({', '.join(written)}){partial}"
    return Change((made,), undo=_drop())


def _drop() -> tuple[str, ...]:
    return (f"DROP INDEX IF EXISTS {MADE}",)


def _expressions(tree: Node, alias: str, names: frozenset[str]) -> list[Node]:
    """Expressions of the query that read nothing but columns of the table of that name."""
    found: list[Node] = []
    _own(tree, alias, names, found)
    return found


def _own(node: Node, alias: str, names: frozenset[str], found: list[Node]) -> bool | None:
    """Whether all columns in it are the table's; None where there are none. Such are `found`."""
    if isinstance(node, exp.Column):
        return node.table == alias and node.name.lower() in names
    inside = [_own(part, alias, names, found) for part in below(node)]
    if False in inside or isinstance(node, exp.Query | exp.AggFunc | exp.Window | exp.Star):
        return False
    if True not in inside:
        return None
    if isinstance(node, exp.Condition | exp.Cast) and not isinstance(node, exp.Paren | exp.Tuple):
        found.append(node)
    return True


def _without_alias(node: Node) -> Node:
    """The expression with columns that have no table."""
    columns = [part for part in everything(node) if isinstance(part, exp.Column)]
    return swapped(node, {id(part): make(exp.Column, this=part.this) for part in columns})
