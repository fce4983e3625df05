"""Learning what an engine has: by rounds, and from nothing but its answers."""

from __future__ import annotations

from refute.oracles.sql.partial.written import tree_of
from refute.specs.sql import FEATURES
from refute.verifiers.sql.fuzz_learn import LEAST, ROUND, Learner, Uses

LIKE = tree_of("SELECT a LIKE 'x' FROM t")
CASE = tree_of("SELECT CASE WHEN a THEN b LIKE 'x' END FROM t")
PLAIN = tree_of("SELECT a FROM t")


def run_of(learner: Learner, uses: Uses, rounds: int = 1) -> None:
    """Rounds of programs of which each showed this."""
    first = 0
    while learner.ready(first):
        first += ROUND
    for unit in range(rounds * ROUND):
        learner.take(first + unit, uses)


def test_what_the_probes_say_is_left_out_with_what_needs_it() -> None:
    learner = Learner(frozenset(FEATURES), {"group-by": "no"})
    assert not {"group-by", "having"} & learner.features(0) and "like" in learner.features(0)


def test_a_feature_that_is_always_refused_is_dropped_two_rounds_later() -> None:
    learner = Learner(frozenset(FEATURES), {})
    uses = Uses()
    for tree, refused in ((LIKE, True), (CASE, True), (PLAIN, False)):
        uses.note(tree, refused=refused)
    assert learner.ready(2 * ROUND - 1) and not learner.ready(2 * ROUND)
    run_of(learner, uses)
    assert "like" in learner.features(2 * ROUND - 1)
    assert "like" not in learner.features(2 * ROUND) and "case" in learner.features(2 * ROUND)
    assert "were refused" in learner.refused["like"]


def test_a_feature_over_which_the_engine_ends_is_dropped() -> None:
    learner = Learner(frozenset(FEATURES), {})
    uses = Uses()
    uses.note(LIKE, refused=False)
    uses.note_end(LIKE)
    run_of(learner, uses)
    assert "like" not in learner.features(2 * ROUND) and "ended" in learner.refused["like"]


def test_what_is_refused_at_times_stays() -> None:
    learner = Learner(frozenset(FEATURES), {})
    uses = Uses()
    for refused in (True, False):
        uses.note(LIKE, refused=refused)
    run_of(learner, uses, 3)
    assert "like" in learner.features(4 * ROUND) and not learner.refused


def test_it_comes_back_from_plain_data() -> None:
    learner = Learner(frozenset(FEATURES), {"glob": "no"})
    uses = Uses()
    uses.note(LIKE, refused=True)
    run_of(learner, uses)
    again = Learner.from_json(learner.to_json())
    assert again.to_json() == learner.to_json()
    assert again.features(2 * ROUND) == learner.features(2 * ROUND)


def test_what_was_dropped_by_then_is_part_of_playing_again() -> None:
    learner = Learner(frozenset(FEATURES), {"trigger": "no"})
    for unit in range(ROUND * 2):
        uses = Uses()
        uses.asked["left-join"] = uses.refused["left-join"] = LEAST
        learner.take(unit, uses)
    assert learner.dropped(0) == learner.dropped(ROUND) == ()
    late = learner.dropped(ROUND * 2)
    assert "left-join" in late and "trigger" not in late
    again = Learner(frozenset(FEATURES) - set(late), {"trigger": "no"})
    assert again.features(0) == learner.features(ROUND * 2), "what --without makes of it"
