"""Reduction: from the first broken case to a small counterexample that breaks in a fresh process.

A subject may carry state from one case to the next. So a broken case is played again alone in a
fresh player, and only if it does not break there do the cases before it become part of the
counterexample. Whatever is believed here, `refute.replay` decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set

from refute import plain
from refute.budget import Clock
from refute.fuzz.shrinking import Simpler, minimise, shorter_or_simpler
from refute.plain import Plain
from refute.replay import Counterexample
from refute.verifiers.playing import Judgement, Player, play_last, tell

SHRINK_TRIES = 1000
HISTORY_TRIES = 60
SHRINK_S = 5.0  # wall seconds; they decide how small a counterexample gets, never a verdict


class Shrinker:
    """Makes a small counterexample of a broken case, within what is left of the wall clock."""

    def __init__(
        self,
        engine: str,
        open_player: Callable[[], Player],
        simpler: Simpler,
        held: Set[str],
        wall_s: float,
    ) -> None:
        """`held`: the texts of cases that were played before and did not break."""
        self.engine = engine
        self.open_player = open_player
        self.simpler = simpler
        self.held = held
        self.clock = Clock(min(SHRINK_S, wall_s))
        self.cpu_s = 0.0

    def smallest(
        self, history: Sequence[Plain], case: Plain, judgement: Judgement
    ) -> Counterexample:
        """The simplest case found that breaks alone, or else with cases before it."""
        if judgement.slow:
            return self.unshrunk((), case, judgement)
        with self.open_player() as player:
            alone = play_last(player, (), case)
            small = self._shrunk(player, case) if alone.status == "broken" else case
            self.cpu_s += player.cpu_s
        if alone.status == "broken":
            again = None if small is case else self._after((), small)
            return self.unshrunk((), *((case, alone) if again is None else (small, again)))
        after = self._after(history, case)
        if after is None:
            return self.unshrunk((), case, judgement)
        history = self._shorter(history, case)
        return self.unshrunk(history, case, self._after(history, case) or after)

    def _shrunk(self, player: Player, case: Plain) -> Plain:
        def first_broken(batch: Sequence[Plain]) -> int | None:
            return None if self.clock.over else _first_broken(player, batch)

        def candidates(larger: Plain) -> Iterator[Plain]:
            return (c for c in self.simpler(larger) if plain.dumps(c) not in self.held)

        return minimise(case, candidates, first_broken, SHRINK_TRIES)

    def _shorter(self, history: Sequence[Plain], case: Plain) -> list[Plain]:
        def first_broken(batch: Sequence[Plain]) -> int | None:
            for index, kept in enumerate(batch):
                if self.clock.over:
                    return None
                if self._after(kept, case) is not None:
                    return index
            return None

        shortened = minimise(list(history), _without_some, first_broken, HISTORY_TRIES)
        return list(shortened)

    def _after(self, history: Sequence[Plain], case: Plain) -> Judgement | None:
        """The judgement of the case after the history in a fresh player, if it breaks there."""
        with self.open_player() as player:
            last = play_last(player, history, case)
            self.cpu_s += player.cpu_s
        return last if last.status == "broken" else None

    def unshrunk(
        self, history: Sequence[Plain], case: Plain, judgement: Judgement
    ) -> Counterexample:
        """The case as it is, after the cases of the history."""
        return tell(self.engine, history, case, judgement)


def _without_some(history: Sequence[Plain]) -> Iterator[list[Plain]]:
    return (list(kept) for kept in shorter_or_simpler(history, lambda _: iter(())))


def _first_broken(player: Player, batch: Sequence[Plain]) -> int | None:
    start = 0
    while start < len(batch):
        judged = player.play(batch[start:])
        for index, judgement in enumerate(judged):
            if judgement.status == "broken":
                return start + index
        if not judged:
            return None
        start += len(judged)
    return None
