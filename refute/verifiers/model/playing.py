"""Replay of a machine's traces: the real class, in a fresh worker, judged by itself and by the IR.

The class is the subject and its own judge, so a play also walks the trace on the IR and compares
every state. If the two disagree, the play is void and says that refute has a bug: neither meaning
may refute alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from refute.budget import Budget
from refute.claim import Claim
from refute.errors import RefuteError
from refute.plain import Plain
from refute.replay import Counterexample, Playback
from refute.sandbox import Limits, Worker
from refute.site import Site
from refute.specs.machine.asking import answer, describe
from refute.verifiers.model.confirm import differences

PLAY = "refute.specs.machine.loading:play"
WALK = "refute.verifiers.model.confirm:walk"


class MachineReplayer:
    """Plays the traces of counterexamples to one claim."""

    def __init__(self, claim: Claim, site: Site, budget: Budget) -> None:
        self.claim = claim
        self.site = site
        self.limits = Limits.from_budget(budget)
        self.prop = str(claim.statement.params["prop"])
        self.constants: Mapping[str, int] = claim.statement.params["constants"]

    def play(self, counterexample: Counterexample, hash_seed: int) -> Playback:
        """Play every trace of the case; broke when each of them shows what it should."""
        cases = _cases(counterexample.inputs)
        if not cases:
            return Playback(broke=False, error="the case holds no trace")
        wrong = [c["property"] for c in cases if self.prop and c.get("property") != self.prop]
        if wrong:
            return Playback(broke=False, error=f"the case is about {wrong[0]}, not {self.prop}")
        try:
            with self.site.subject_worker(self.claim, self.limits, hash_seed) as worker:
                return self._play(worker, cases)
        except RefuteError as error:
            return Playback(broke=False, error=error.message)

    def _play(self, worker: Worker, cases: Sequence[Mapping[str, Plain]]) -> Playback:
        subject = self.claim.subject
        ir = describe(worker, subject, self.constants)
        plays = answer(worker.call(PLAY, subject, dict(self.constants), list(cases)), subject)
        if type(plays) is not list or len(plays) != len(cases):
            return Playback(broke=False, error="the worker did not play every trace")
        data = ir.to_plain()
        for case, made in zip(cases, plays, strict=True):
            if made.get("unplayable"):
                return Playback(False, {"plays": plays}, error="")
            walked = worker.call(WALK, data, case)
            if walked.kind != "returned":
                return Playback(broke=False, error=f"the walk on the IR {walked.kind}")
            parted = differences(made["states"], walked.value)
            if parted:
                return Playback(broke=False, error=f"a bug of refute: {parted}")
        return Playback(all(made["broke"] is True for made in plays), {"plays": plays})


def _cases(inputs: Plain) -> list[Mapping[str, Plain]]:
    cases = inputs.get("cases") if type(inputs) is dict else None
    if type(cases) is not list:
        return []
    keys = ("property", "start", "steps")
    return [c for c in cases if type(c) is dict and all(k in c for k in keys)]
