"""The canary: a claim that must always fail, judged at every gate on the way all claims take.

If it ever stops failing, refutations no longer reach the report, and nothing the gate says counts.
The code it judges is written anew for each run with a number nobody knows beforehand, so neither a
remembered answer nor a worker that always says the same can pass for it.
"""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Hashable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from refute import plain
from refute.budget import Budget
from refute.check import check
from refute.claim import Claim, Statement, Verdict, Where
from refute.evidence import Evidence, Finding
from refute.record import ClaimResult
from refute.replay import HASH_SEEDS, Counterexample, Playback
from refute.sandbox import Limits, Worker, open_worker
from refute.site import Site
from refute.verifiers import Progress

NAME = "canary"
_SOURCE = "def shifted(x: int) -> int:\n    return x + {shift}\n"
_LIMITS = Limits(cpu_s=5.0, wall_s=10.0)

CANARY = Claim(
    name=NAME,
    statement=Statement(
        kind="canary",
        text="shifted(x) is x, which is false: a harness that reports this as refuted is awake",
        subject="canary:shifted",
    ),
    where=Where("canary.py", 1),
)


class Canary:
    """Starts its workers at once, so that they come up while the change is being read.

    work: an existing directory; the canary makes one of its own in it.
    """

    def __init__(self, work: Path) -> None:
        tree = Path(tempfile.mkdtemp(prefix="canary-", dir=work))
        self.shift = secrets.randbelow(2**40) + 1
        (tree / "canary.py").write_text(_SOURCE.format(shift=self.shift), encoding="ascii")
        self._site = Site(tree, tree, (".",))
        self._pool = ThreadPoolExecutor(len(HASH_SEEDS))
        self._opened = {seed: self._pool.submit(self._open, seed) for seed in HASH_SEEDS}
        self.isolation = ""

    def _open(self, hash_seed: int) -> Worker:
        site = self._site
        return open_worker(
            site.subject_tree, ["canary.py"], site.roots, _LIMITS, hash_seed=hash_seed
        )

    def take(self, hash_seed: int) -> Worker:
        """A fresh worker with this hash seed: the one already started, or another."""
        waiting: Future[Worker] | None = self._opened.pop(hash_seed, None)
        worker = waiting.result() if waiting is not None else self._open(hash_seed)
        self.isolation = worker.isolation
        return worker

    def judge(self) -> ClaimResult:
        """The canary's result; `unmet` says what is wrong when it was not refuted."""
        engine = _CanaryEngine(self)
        (evidence,) = check([CANARY], Budget(), self._site, engines=lambda _: (engine,))
        return ClaimResult(CANARY, evidence, unmet=_unmet(evidence), role="canary")

    def close(self) -> None:
        """Kill workers that were started and not used."""
        for waiting in self._opened.values():
            if waiting.exception() is None:
                waiting.result().close()
        self._opened.clear()
        self._pool.shutdown()


def _unmet(evidence: Evidence) -> str:
    if evidence.verdict is Verdict.REFUTED and not evidence.reason:
        return ""
    return f"the canary was not refuted: {evidence.verdict.value}, {evidence.reason}"


class _CanaryEngine:
    name = "canary"
    version = "1"
    cost = 0

    def __init__(self, canary: Canary) -> None:
        self._canary = canary

    def declines(self, claim: Claim) -> str:
        return "" if claim == CANARY else "not the canary"

    def group(self, claim: Claim) -> Hashable:
        return claim.name

    def run(
        self, claims: Sequence[Claim], budget: Budget, site: Site, progress: Progress
    ) -> list[Finding]:
        case = Counterexample(
            engine=self.name,
            inputs={"x": secrets.randbelow(2**40)},
            expected="x itself",
            observed="another number",
        )
        reason = "proposed for replay"
        return [
            Finding(self.name, self.version, Verdict.UNKNOWN, reason, counterexamples=(case,))
            for _ in claims
        ]

    def replayer(self, claim: Claim, site: Site, budget: Budget) -> _CanaryReplayer:
        return _CanaryReplayer(self._canary)


class _CanaryReplayer:
    def __init__(self, canary: Canary) -> None:
        self._canary = canary

    def play(self, counterexample: Counterexample, hash_seed: int) -> Playback:
        x = counterexample.inputs["x"]
        with self._canary.take(hash_seed) as worker:
            outcome = worker.call("canary:shifted", x)
        if outcome.kind != "returned":
            return Playback(False, error=f"the worker {outcome.kind}: {outcome.detail}")
        if not plain.same(outcome.value, x + self._canary.shift):
            return Playback(False, outcome.value, "the worker gave an answer of its own")
        return Playback(broke=not plain.same(outcome.value, x), output=outcome.value)
