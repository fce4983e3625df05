"""Replay: the only maker of witnesses.

An engine's word is not evidence. It proposes a `Counterexample`; `replay` plays it on the plain
subject in fresh workers under two hash seeds and only then makes a `Witness`. Always broken is
refuted; sometimes is refuted and flaky; never is not a witness, and the engine is called wrong only
if the subject answered the same each time (otherwise the subject itself is not deterministic).

How a case is played depends on the kind of subject, so `replay` knows only `Replayer`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from refute import plain
from refute.errors import IllegalEvidence, UnreadableInput
from refute.frozen import frozen
from refute.plain import Plain

HASH_SEEDS = (0, 1)
EXTRA_RUNS = 4  # more runs when the first two do not agree that the claim broke


@frozen
class Step:
    """One line of a trace: what happened, and what it changed (name → new value, as text)."""

    text: str
    changes: Mapping[str, str] = dataclasses.field(default_factory=dict)


@frozen
class Counterexample:
    """A case an engine believes breaks the claim (or, for an existential claim, shows it).

    inputs: all that a replayer needs. steps: the trace a person reads. point: where a crash or
    fault falls. observed, expected: what happened and what the spec allows. engine: who says so.
    """

    engine: str
    inputs: Plain
    steps: tuple[Step, ...] = ()
    observed: str = ""
    expected: str = ""
    point: str = ""

    def to_json(self) -> dict[str, object]:
        """The counterexample as JSON data."""
        return {
            "engine": self.engine,
            "inputs": plain.encode(self.inputs),
            "steps": [{"text": s.text, "changes": dict(s.changes)} for s in self.steps],
            "observed": self.observed,
            "expected": self.expected,
            "point": self.point,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> Counterexample:
        """The inverse of `to_json`. Raises UnreadableInput."""
        raw: Plain = data
        try:
            return cls(
                engine=raw["engine"],
                inputs=plain.decode(raw["inputs"]),
                steps=tuple(Step(s["text"], dict(s["changes"])) for s in raw["steps"]),
                observed=raw["observed"],
                expected=raw["expected"],
                point=raw["point"],
            )
        except (KeyError, TypeError, ValueError) as error:
            raise UnreadableInput(
                f"not the data of a counterexample: {error!r}", thing="counterexample"
            ) from error


@frozen
class Playback:
    """One replay. broke: the claim broke (or was shown). output: what the subject gave, as data.

    error: why the case could not be played at all; then `broke` is False and says nothing.
    seen: the case as this replay tells it. A case that was kept may break again for another reason.
    """

    broke: bool
    output: Plain = None
    error: str = ""
    seen: Counterexample | None = None


class Replayer(Protocol):
    """How a kind of subject plays one case, in a fresh worker, under a hash seed."""

    def play(self, counterexample: Counterexample, hash_seed: int) -> Playback:
        """Play the case once. Called from several threads; must not keep state between calls."""
        ...


_MINT = object()


class Witness:
    """A counterexample that was replayed and broke the claim. Only `replay` makes one."""

    def __init__(self, token: object, counterexample: Counterexample, broke: int, runs: int):
        if token is not _MINT:
            raise IllegalEvidence(
                "a witness is made by replaying a counterexample, not by its constructor",
                thing="witness",
                next_step="call refute.replay.replay(…)",
            )
        self.counterexample = counterexample
        self.broke = broke
        self.runs = runs

    @property
    def flaky(self) -> bool:
        """Whether some replays did not break the claim."""
        return self.broke < self.runs

    def to_json(self) -> dict[str, object]:
        """The witness as JSON data; reading it back gives a counterexample to replay again."""
        return {
            "counterexample": self.counterexample.to_json(),
            "broke": self.broke,
            "runs": self.runs,
        }

    def __repr__(self) -> str:
        return f"Witness(broke={self.broke}, runs={self.runs}, by={self.counterexample.engine!r})"


@frozen
class Replayed:
    """The outcome of `replay`: a witness, or the reason there is none.

    deterministic: whether every run gave the same output. engine_wrong: the claim never broke,
    although the subject answered the same each time.
    """

    witness: Witness | None
    broke: int
    runs: int
    deterministic: bool
    errors: tuple[str, ...] = ()

    @property
    def engine_wrong(self) -> bool:
        """Whether the engine that proposed the case is to be named as wrong."""
        return self.witness is None and not self.errors and self.deterministic

    @property
    def reason(self) -> str:
        """Why there is no witness, in one sentence; empty when there is one."""
        if self.witness is not None:
            return ""
        if self.errors:
            return f"the case could not be replayed: {self.errors[0]}"
        if self.deterministic:
            return f"the case did not break the claim in {self.runs} replays; the engine is wrong"
        return f"the case broke the claim in none of {self.runs} replays of a subject that varies"


def replay(counterexample: Counterexample, replayer: Replayer) -> Replayed:
    """Play the case under two hash seeds, and some more when they do not both break the claim.

    The first two are played at once, in threads: each waits for workers of its own.
    """
    with ThreadPoolExecutor(len(HASH_SEEDS)) as pool:
        plays = list(pool.map(lambda seed: replayer.play(counterexample, seed), HASH_SEEDS))
    if not all(p.broke for p in plays) and not all(p.error for p in plays):
        plays += [replayer.play(counterexample, seed) for seed in range(2, 2 + EXTRA_RUNS)]
    valid = [p for p in plays if not p.error]
    broke = sum(p.broke for p in valid)
    outputs = {plain.digest_any(p.output) for p in valid}
    told = next((p.seen for p in valid if p.broke and p.seen is not None), counterexample)
    witness = Witness(_MINT, told, broke, len(valid)) if broke else None
    return Replayed(
        witness=witness,
        broke=broke,
        runs=len(valid),
        deterministic=len(outputs) <= 1,
        errors=tuple(p.error for p in plays if p.error),
    )
