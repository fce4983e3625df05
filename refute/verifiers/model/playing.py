"""Replay of a machine's traces: the real class, in a fresh worker, judged by itself and by the IR.

The class is the subject and its own judge, so a play also walks the trace on the IR and compares
every state. If the two disagree, the play is void and says that refute has a bug: neither meaning
may refute alone.
"""

from __future__ import annotations

import contextlib
from collections.abc import Hashable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait

from refute import plain
from refute.budget import Budget
from refute.claim import Claim
from refute.errors import RefuteError
from refute.plain import Plain
from refute.replay import HASH_SEEDS, Counterexample, Playback
from refute.sandbox import Limits, Worker, stopped_workers
from refute.site import Site
from refute.specs.machine.asking import answer, describe
from refute.specs.machine.ir import MachineIR
from refute.verifiers.model.confirm import differences

PLAY = "refute.specs.machine.loading:play"
WALK = "refute.verifiers.model.confirm:walk"
REFINED = "refute.verifiers.model.refined:not_a_departure"
LASSO = "refute.verifiers.model.lasso:not_a_witness"


Played = dict[Hashable, Playback]


def play_together(
    proposed: Sequence[tuple[Claim, Counterexample]], site: Site, budget: Budget
) -> Played:
    """The cases of several claims about one machine, played in one fresh worker per hash seed.

    The workers play at the same time. A case that could not be played is left out, and so are
    those after a worker's death: they are played again, each in a worker of its own.
    """
    if len(proposed) < 2:
        return {}
    with ThreadPoolExecutor(len(HASH_SEEDS)) as pool:
        plays = [pool.submit(_play_all, proposed, site, budget, seed) for seed in HASH_SEEDS]
        try:
            return {key: playback for play in plays for key, playback in play.result().items()}
        except BaseException:
            with stopped_workers():
                wait(plays)
            raise


def _play_all(
    proposed: Sequence[tuple[Claim, Counterexample]], site: Site, budget: Budget, seed: int
) -> Played:
    """The plays under one hash seed, up to what went wrong."""
    played: Played = {}
    first = proposed[0][0]
    with (
        contextlib.suppress(RefuteError),
        site.subject_worker(first, Limits.from_budget(budget), seed) as worker,
    ):
        ir = describe(worker, first.subject, first.statement.params["constants"])
        for claim, case in proposed:
            playback = MachineReplayer(claim, site, budget).play_in(worker, ir, case)
            if claim.covers == first.covers and not playback.error:
                played[_key(claim, case, site, seed)] = playback
    return played


def _key(claim: Claim, case: Counterexample, site: Site, seed: int) -> Hashable:
    return claim.name, site, seed, plain.digest(claim.statement.params), plain.digest(case.inputs)


class MachineReplayer:
    """Plays the traces of counterexamples to one claim."""

    def __init__(
        self, claim: Claim, site: Site, budget: Budget, played: Played | None = None
    ) -> None:
        """played: plays of this group's cases, each of which is used once."""
        self.played = {} if played is None else played
        self.claim = claim
        self.site = site
        self.limits = Limits.from_budget(budget)
        self.prop = str(claim.statement.params["prop"])
        self.constants: Mapping[str, int] = claim.statement.params["constants"]

    def play(self, counterexample: Counterexample, hash_seed: int) -> Playback:
        """Play every trace of the case; broke when each of them shows what it should."""
        known = self.played.pop(_key(self.claim, counterexample, self.site, hash_seed), None)
        if known is not None:
            return known
        try:
            with self.site.subject_worker(self.claim, self.limits, hash_seed) as worker:
                ir = describe(worker, self.claim.subject, self.constants)
                return self.play_in(worker, ir, counterexample)
        except RefuteError as error:
            return Playback(broke=False, error=error.message)

    def play_in(self, worker: Worker, ir: MachineIR, counterexample: Counterexample) -> Playback:
        """Play the case in a worker that did nothing but play. Raises RefuteError."""
        cases = _cases(counterexample.inputs)
        if not cases:
            return Playback(broke=False, error="the case holds no trace")
        wrong = [c["property"] for c in cases if self.prop and c.get("property") != self.prop]
        if wrong:
            return Playback(broke=False, error=f"the case is about {wrong[0]}, not {self.prop}")
        return self._play(worker, ir, cases)

    def _play(
        self, worker: Worker, ir: MachineIR, cases: Sequence[Mapping[str, Plain]]
    ) -> Playback:
        subject = self.claim.subject
        plays = answer(worker.call(PLAY, subject, dict(self.constants), list(cases)), subject)
        if type(plays) is not list or len(plays) != len(cases):
            return Playback(broke=False, error="the worker did not play every trace")
        data, refined = ir.to_plain(), {r.name for r in ir.refinements}
        for case, made in zip(cases, plays, strict=True):
            if made.get("unplayable"):
                return Playback(False, {"plays": plays}, error="")
            walked = worker.call(WALK, data, case)
            if walked.kind != "returned":
                return Playback(broke=False, error=f"the walk on the IR {walked.kind}")
            parted = differences(made["states"], walked.value)
            if parted:
                return Playback(broke=False, error=f"a bug of refute: {parted}")
            judge = REFINED if case["property"] in refined else LASSO if "loop" in case else ""
            if judge:
                judged = worker.call(judge, data, case)
                if judged.kind != "returned" or judged.value != "":
                    why = judged.value if judged.kind == "returned" else judged.kind
                    return Playback(broke=False, error=f"not so on the IR: {why}")
        return Playback(all(made["broke"] is True for made in plays), {"plays": plays})


def _cases(inputs: Plain) -> list[Mapping[str, Plain]]:
    cases = inputs.get("cases") if type(inputs) is dict else None
    if type(cases) is not list:
        return []
    keys = ("property", "start", "steps")
    return [c for c in cases if type(c) is dict and all(k in c for k in keys)]
