"""What has to be known of a machine's starts before anything is said of what follows from them.

A predicate that raises about some starting values leaves open whether the machine starts there, and
a machine that starts nowhere within its constraint satisfies whatever it is asked for: of neither
is anything established.
"""

from __future__ import annotations

from refute.verifiers.symbolic.solving import Answer, Queries
from refute.verifiers.symbolic.transition import Encoding

RAISES = "an @initial predicate raises for some starting values: whether it starts there is unknown"
UNSURE = "whether an @initial predicate raises for some starting values is not known: {}"


def raising(encoding: Encoding, queries: Queries, at_most_s: float) -> str:
    """Why an `@initial` predicate may raise; empty where none does. queries: new ones."""
    world = encoding.candidate("i0")
    judged = encoding.initial(world)
    if judged.error is False:
        return ""
    queries.add(*world.facts, *judged.facts, judged.error)
    answer = queries.ask(at_most_s=at_most_s)
    if answer.said == "unsat":
        return ""
    return RAISES if answer.said == "sat" else UNSURE.format(answer.why)


def some_start(encoding: Encoding, queries: Queries, at_most_s: float) -> Answer:
    """Whether there is an initial state within the constraint. queries: new ones."""
    world = encoding.start("i0")
    inside = encoding.admitted(world)
    queries.add(*world.facts, *inside.facts, inside.holds)
    return queries.ask(at_most_s=at_most_s)
