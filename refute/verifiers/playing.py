"""Playing cases: what an engine that tries cases one by one says about each.

A player holds the workers of one run and knows how a case of its kind of claim is played; the
search, the reduction of what it finds and the replay are the same for all kinds.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Literal, Protocol, Self

from refute.plain import Plain
from refute.replay import Counterexample, Playback, Step

Status = Literal["held", "broken", "discarded", "unfit"]


@dataclasses.dataclass(frozen=True)
class Judgement:
    """What one case did. "unfit": it says nothing, because the spec or its values do not fit.

    output: what the subject answered, as data. steps: the same for people. asked: how often the
    subject was asked. slow: it broke by not answering in time, so it is costly to play again.
    """

    status: Status
    observed: str = ""
    expected: str = ""
    output: Plain = None
    steps: tuple[Step, ...] = ()
    asked: int = 0
    slow: bool = False


class Player(Protocol):
    """Plays cases on the subject in workers of its own; a context manager."""

    isolation: str

    @property
    def cpu_s(self) -> float:
        """CPU seconds of its workers so far."""
        ...

    def play(self, cases: Sequence[Plain]) -> list[Judgement]:
        """Judgements of the cases in order; after a broken or unfit one the rest may be missing.

        A player whose worker was lost starts another one at the next call.
        """
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


def play_last(player: Player, history: Sequence[Plain], case: Plain) -> Judgement:
    """The judgement of the case, played after the history; of the history where that breaks."""
    todo = [*history, case]
    while True:
        judged = player.play(todo)
        if not judged:
            return Judgement("unfit", observed="a player played no case")
        ended = next((j for j in judged if j.status in ("broken", "unfit")), None)
        if ended is not None and len(judged) < len(todo):
            return ended
        if len(judged) == len(todo):
            return judged[-1]
        todo = todo[len(judged) :]


def tell(
    engine: str, history: Sequence[Plain], case: Plain, judgement: Judgement
) -> Counterexample:
    """The case, after the cases of the history, as a counterexample told by this judgement."""
    note = f" (after {len(history)} other cases in the same process)" if history else ""
    return Counterexample(
        engine=engine,
        inputs={"case": case, "before": list(history)},
        steps=judgement.steps,
        observed=judgement.observed + note,
        expected=judgement.expected,
    )


class CaseReplayer:
    """Replays counterexamples of this search, in a fresh player under the given hash seed.

    admits: whether a case is one that the claim speaks of. An old witness of a claim of the same
    name may lie outside, and would accuse a subject of what nobody claims.
    """

    def __init__(
        self, open_player: Callable[[int], Player], admits: Callable[[Plain], bool]
    ) -> None:
        self.open_player = open_player
        self.admits = admits

    def play(self, counterexample: Counterexample, hash_seed: int) -> Playback:
        """Play the case once, after the cases that go before it."""
        inputs: Plain = counterexample.inputs
        if type(inputs) is not dict or set(inputs) != {"case", "before"}:
            return Playback(False, error="the counterexample is not one of this kind of claim")
        if not self.admits(inputs["case"]) or not all(map(self.admits, inputs["before"])):
            return Playback(False, error="the case is outside of what the claim ranges over")
        with self.open_player(hash_seed) as player:
            judgement = play_last(player, inputs["before"], inputs["case"])
        if judgement.status == "unfit":
            return Playback(False, error=judgement.observed)
        seen = tell(counterexample.engine, inputs["before"], inputs["case"], judgement)
        return Playback(judgement.status == "broken", output=judgement.output, seen=seen)
