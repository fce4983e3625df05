"""A failure asked again: on a new database, in fresh processes, alone.

Nothing is told that was seen once.
"""

from __future__ import annotations

from refute.oracles.sql.partial.question import Case, Judged, Question
from refute.oracles.sql.partial.written import tree_of
from refute.verifiers.sql.conform_engine import EngineLost
from refute.verifiers.sql.fuzz_asking import Desk, Failure, plain_reason
from refute.verifiers.sql.fuzz_plan import Finding

RUNS = 2


def looked_into(desk: Desk, failure: Failure, seed: int) -> Finding | None:
    """The finding of a failure that breaks again in each of a few fresh processes."""
    seen = 0
    for _ in range(RUNS):
        seen += broken_again(desk, failure, failure.setup, failure.query, fresh=True) is not None
    if not seen:
        return None
    again = f"{seen} of {RUNS} fresh processes"
    return finding_of(failure, failure.setup, failure.query, seed, again)


def broken_again(
    desk: Desk, failure: Failure, setup: tuple[str, ...], query: str, *, fresh: bool = False
) -> tuple[Question, Judged] | None:
    """The first of the oracle's questions about this case that breaks as the failure did."""
    oracle = next(o for o in desk.oracles if o.name == failure.oracle)
    try:
        desk.begin(map(tree_of, setup), fresh=fresh)
        case = Case(desk.setup, tree_of(query), failure.seed, desk.dialect)
        for question in oracle.questions(case):
            judged = desk.ask_alone(case, question)
            if judged is not None and judged.status == "broken":
                return question, judged
    except EngineLost:
        return None
    return None


def finding_of(
    failure: Failure, setup: tuple[str, ...], query: str, seed: int, confirmed: str
) -> Finding:
    """A finding as the failure has it."""
    return Finding(
        oracle=failure.oracle,
        setup=setup,
        query=query,
        asked_setup=failure.asked_setup,
        asked=failure.asked,
        expected=failure.expected,
        observed=failure.observed,
        why=failure.why,
        seed=seed,
        program=failure.program,
        kind=failure.kind,
        first_setup=failure.setup,
        first_query=failure.query,
        confirmed=confirmed,
        cause=f"{failure.oracle}: {failure.kind}: {plain_reason(failure.why)}",
    )
