"""EET, equivalent expression transformation (Jiang and Su, "Detecting Logic Bugs in Database
Engines via Equivalent Expression Transformation", OSDI 2024): the same query, written otherwise.

A query is asked as it is, and then with one thing in it written in a way that means the same by
SQL's rules for every database: conditions (`eet_conditions`: a true one beside it, BETWEEN as two
comparisons, IN as OR or EXISTS, rows by their elements …), values (`eet_values`: CASE with equal
branches …), FROM (`eet_sources`: WHERE as ON, joins in another order, LEFT JOIN as the pairs that
match and the rest, tables as subqueries, CTEs or UNION ALL of their parts …) and other clauses
(`eet_clauses`: EXCEPT as NOT EXISTS …). Each rule is one question, so that what breaks it names the
rule. A case gets two rules, chosen by its seed: one of those that few queries have anything for, if
one applies, and any other; the order of rows is not compared.

Sees: whatever one way of writing gets wrong and another does not: an operator's special case, a
plan that only one of them allows, a rewrite of the engine itself, in any clause, of rows as well as
of values and their types.

Does not see: what both ways get wrong alike, such as the meaning of an operator that has no other
way of writing; ORDER BY and LIMIT at the end, which are left out; in SQLite anything whose other
form would lose an affinity or a collation that counts (see `places`), and columns whose affinity is
not known; windows, which are only moved as a whole. A query that calls something like RANDOM() is
not asked.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Iterator, Sequence
from typing import Any, cast

from sqlglot import exp

from refute.fuzz.sql.text import Node
from refute.oracles.sql.partial import eet_clauses, eet_conditions, eet_values
from refute.oracles.sql.partial.bags import Pair, rows_of
from refute.oracles.sql.partial.columns import Scope, catalog_of
from refute.oracles.sql.partial.openness import deterministic
from refute.oracles.sql.partial.places import Place, places
from refute.oracles.sql.partial.question import Answer, Case, Judged, Question
from refute.oracles.sql.partial.trees import freely, parens, statement, swapped, without_ends

NAME = "eet"
OF_EXPRESSIONS = {**eet_conditions.RULES, **eet_values.RULES}
_COMPARED = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
OF_KINDS: dict[str, tuple[type[Node], ...]] = {  # the only nodes that a rule changes
    **dict.fromkeys(("De Morgan", "AND and OR exchanged"), (exp.And, exp.Or)),
    **dict.fromkeys(("comparison negated", "comparison mirrored"), _COMPARED),
    "comparison split": (exp.EQ, exp.NEQ),
    "BETWEEN as comparisons": (exp.Between,),
    **dict.fromkeys(("IN as OR", "IN as EXISTS"), (exp.In,)),
    "EXISTS as COUNT": (exp.Exists,),
    "IS as CASE": (exp.NullSafeEQ, exp.NullSafeNEQ),
    "rows by elements": (*_COMPARED, exp.NullSafeEQ, exp.NullSafeNEQ),
    "COALESCE as CASE": (exp.Coalesce,),
    "CASE searched": (exp.Case,),
    "COUNT as SUM": (exp.Count,),
    "FILTER as CASE": (exp.Filter,),
}
ENDS = ("order", "limit", "offset")
RULES = (*OF_EXPRESSIONS, *eet_clauses.RULES)
ANYWHERE = frozenset(
    {  # rules that apply to most queries
        *("NOT NOT", "AND true", "OR false", "condition as CASE", "comparison negated"),
        *("comparison split", "comparison mirrored", "CASE of one value", "COALESCE of one value"),
        *("NULLIF of NULL", "value as subquery", "constant hidden", "no affinity"),
        *("tables as subqueries", "table as CTE", "table in parts", "one row joined"),
        *("other join order", "whole in a subquery", "whole in a CTE", "ORDER BY added"),
        "LIMIT added",
    }
)


class EET:
    """The oracle `eet`. most: rules that are tried on one case."""

    name = NAME

    def __init__(self, most: int = 2, rules: Sequence[str] = RULES) -> None:
        self._most = most
        self._rare = tuple(r for r in rules if r not in ANYWHERE)
        self._usual = tuple(r for r in rules if r in ANYWHERE)

    def questions(self, case: Case) -> Iterator[Question]:
        """The query beside the same query by some of the rules that apply to it."""
        if not isinstance(case.query, exp.Query) or not deterministic(case.query):
            return
        query = without_ends(case.query)
        scope = Scope(catalog_of(case.setup), query)
        found = list(places(query))
        plain: Node | str | None = None
        left = self._most
        for rules, share in ((self._rare, (left + 1) // 2), (self._usual, left)):
            until = left - min(share, left)
            for rule in _order(case.seed, rules):
                if left == until:
                    break
                made = transformed(rule, case, scope, query, found)
                if made is not None:
                    plain = _plain(case, query) if plain is None else plain
                    yield _question(rule, case, query, plain, made)
                    left -= 1


@functools.lru_cache(maxsize=16)
def _order(seed: int, rules: tuple[str, ...]) -> tuple[str, ...]:
    """The rules in an order of the seed: the same rule comes first while a case is made smaller."""
    draw = random.Random(f"{seed}/{NAME}").random
    return tuple(sorted(rules, key=lambda _: draw()))


class _Late:
    """A `random.Random` that is made when it is first used, which most rules never do."""

    def __init__(self, seed: str) -> None:
        self._seed = seed

    def __getattr__(self, name: str) -> Any:
        made = random.Random(self._seed)
        self.__dict__.update({n: getattr(made, n) for n in ("random", "choice", "randint")})
        return getattr(made, name)


def _plain(case: Case, query: Node) -> Node | str:
    """The query as it is; its text is the case's own where nothing was left out at its end."""
    if case.dialect == "sqlite" and not any(case.query.args.get(end) for end in ENDS):
        return case.text
    return statement(query, case.dialect)


def transformed(
    rule: str, case: Case, scope: Scope, query: Node, found: Sequence[Place]
) -> Node | None:
    """The query by one rule, at all of its places where it applies; None where there is none."""
    rng = cast(random.Random, _Late(f"{case.seed}/{NAME}/{rule}"))
    change = OF_EXPRESSIONS.get(rule)
    if change is None:
        return eet_clauses.rewritten(rule, scope, query, rng, case.dialect)
    deep = rule in eet_values.WRAPPING and rng.random() < 0.5
    kinds = OF_KINDS.get(rule, (exp.Expr,))
    by: dict[int, Node] = {}
    for place in found:
        if not isinstance(place.node, kinds):
            continue
        if deep and place.position == "free" and not isinstance(place.node, exp.Column):
            continue
        made = change(scope, place, case.dialect)
        if made is not None:
            loose = isinstance(made, exp.Binary | exp.Connector | exp.Not | exp.Is)
            by[id(place.node)] = parens(made) if loose else made
    return swapped(query, by) if by else None


def _question(rule: str, case: Case, query: Node, plain: Node | str, made: Node) -> Question:
    def judge(answers: Sequence[Answer]) -> Judged:
        rows = rows_of(answers)
        if isinstance(rows, Judged):
            return rows
        return Pair(case, query, rows[0], rows[1], rule).judged()

    return Question(NAME, (plain, freely(made, case.dialect)), judge)
