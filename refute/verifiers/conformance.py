"""The conformance kit: what every verifier promises, as checks that its author runs in a test.

The protocol's types cannot say that an engine declines what it does not understand, keeps to its
cases, repeats itself for a seed, never calls unplayed cases broken, or comes back at all. `conform`
tries it on claims of its kind whose answer is known, some false and some sound, and lists every
promise that is broken; an empty list is a pass.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Sequence

from refute.budget import Budget
from refute.claim import Claim, Statement, Verdict
from refute.evidence import Finding
from refute.replay import Counterexample, replay
from refute.site import Site
from refute.verifiers import Verifier

PATIENCE_S = 30.0  # wall seconds beyond the budget's that a run may take to wind up

STRANGER = Statement(kind="no-such-kind", text="nothing that any engine knows", subject="m:f")


@dataclasses.dataclass(frozen=True)
class Kit:
    """Claims whose answers are known. false: the engine must find a counterexample within the
    budget. sound: it must not. unfit: they cannot be judged, and must be UNKNOWN with a reason.
    """

    site: Site
    false: Sequence[Claim]
    sound: Sequence[Claim]
    unfit: Sequence[Claim] = ()
    budget: Budget = dataclasses.field(default_factory=lambda: Budget(cases=200, wall_s=30.0))


@dataclasses.dataclass(frozen=True)
class Breach:
    """A broken promise: which one, on which claim, and what was seen."""

    promise: str
    claim: str
    seen: str

    def __str__(self) -> str:
        return f"{self.promise} ({self.claim}): {self.seen}"


def conform(verifier: Verifier, kit: Kit) -> list[Breach]:
    """Every promise of the protocol that the verifier breaks on the kit's claims."""
    return _Inspection(verifier, kit).breaches()


class _Inspection:
    def __init__(self, verifier: Verifier, kit: Kit) -> None:
        self.verifier = verifier
        self.kit = kit
        self.found: list[Breach] = []

    def breaches(self) -> list[Breach]:
        """Run everything; what is found, in order."""
        self._names_itself()
        self._declines()
        for claim in self.kit.false:
            self._refutes(claim)
        for claim in self.kit.sound:
            self._spares(claim)
        for claim in self.kit.unfit:
            self._does_not_judge(claim)
        return self.found

    def _must(self, holds: bool, promise: str, claim: str, seen: object) -> None:
        if not holds:
            self.found.append(Breach(promise, claim, str(seen)))

    def _names_itself(self) -> None:
        engine = self.verifier
        named = all(type(t) is str and t for t in (engine.name, engine.version))
        self._must(named, "has a name and a version", "-", (engine.name, engine.version))
        self._must(type(engine.cost) is int, "has an int as cost", "-", engine.cost)

    def _declines(self) -> None:
        first = next(iter([*self.kit.false, *self.kit.sound]))
        stranger = dataclasses.replace(first, statement=STRANGER)
        why = self.verifier.declines(stranger)
        self._must(bool(why), "declines other kinds with a reason", STRANGER.kind, repr(why))
        for claim in [*self.kit.false, *self.kit.sound]:
            why = self.verifier.declines(claim)
            self._must(why == "", "takes claims of its kind", claim.name, repr(why))
            group = self.verifier.group(claim)
            again = self.verifier.group(Claim.from_json(claim.to_json()))
            self._must(group == again, "groups equal claims alike", claim.name, (group, again))

    def _refutes(self, claim: Claim) -> None:
        finding = self._finding(claim)
        if finding is None:
            return
        cases = finding.counterexamples
        self._must(bool(cases), "finds planted defects", claim.name, finding.verdict.value)
        unknown = finding.verdict is Verdict.UNKNOWN
        said = f"{finding.verdict.value} with {len(cases)} counterexamples"
        self._must(unknown, "establishes nothing that is false", claim.name, said)
        for case in cases[:1]:
            self._replays(claim, case)
        again = self._finding(claim)
        if again is not None:
            same = _repeatable(again) == _repeatable(finding)
            self._must(same, "repeats itself for a seed", claim.name, "two runs differ")

    def _replays(self, claim: Claim, case: Counterexample) -> None:
        back = Counterexample.from_json(case.to_json())
        self._must(back == case, "its cases survive JSON", claim.name, case.inputs)
        player = self.verifier.replayer(claim, self.kit.site, self.kit.budget)
        done = replay(back, player)
        self._must(done.witness is not None, "its counterexamples replay", claim.name, done.reason)
        nonsense = dataclasses.replace(case, inputs={"no such": "input"})
        played = player.play(nonsense, 0)
        refused = bool(played.error) and not played.broke
        self._must(refused, "refuses to replay nonsense", claim.name, played)

    def _spares(self, claim: Claim) -> None:
        finding = self._finding(claim)
        if finding is None:
            return
        accused = finding.counterexamples
        self._must(not accused, "spares the sound", claim.name, [c.observed for c in accused])
        established = finding.verdict.strength > 0
        said = f"{finding.verdict.value}: {finding.reason}"
        self._must(established, "establishes the sound", claim.name, said)

    def _does_not_judge(self, claim: Claim) -> None:
        finding = self._finding(claim)
        if finding is not None:
            nothing = finding.verdict is Verdict.UNKNOWN and not finding.counterexamples
            said = f"{finding.verdict.value} with {len(finding.counterexamples)} counterexamples"
            self._must(nothing, "judges nothing it cannot judge", claim.name, said)

    def _finding(self, claim: Claim) -> Finding | None:
        """The finding on one claim, if there is exactly one and it is in order."""
        budget = self.kit.budget
        ran = _watched(
            lambda: self.verifier.run([claim], budget, self.kit.site, lambda _: None),
            budget.wall_s + PATIENCE_S,
        )
        if isinstance(ran, str):
            self._must(False, "comes back without raising", claim.name, ran)
            return None
        findings = list(ran)
        if len(findings) != 1 or not isinstance(findings[0], Finding):
            self._must(False, "gives one finding per claim", claim.name, f"{len(findings)} of 1")
            return None
        self._in_order(claim, findings[0])
        return findings[0]

    def _in_order(self, claim: Claim, finding: Finding) -> None:
        name, verdict = claim.name, finding.verdict
        named = (finding.engine, finding.version) == (self.verifier.name, self.verifier.version)
        self._must(named, "signs its findings", name, (finding.engine, finding.version))
        within = 0 <= finding.tried <= self.kit.budget.cases and finding.discarded >= 0
        self._must(within, "keeps to the budget's cases", name, f"{finding.tried} tried")
        reasoned = verdict is not Verdict.UNKNOWN or bool(finding.reason)
        self._must(reasoned, "gives a reason with UNKNOWN", name, "no reason")
        if verdict in (Verdict.SURVIVED, Verdict.EXHAUSTED):
            self._must(finding.tried > 0, "tries what it establishes", name, "no case tried")
        if verdict is Verdict.EXHAUSTED:
            scope = finding.scope
            bounded = bool(scope.bounds or scope.depths)
            self._must(bounded, "says what it exhausted", name, "no bounds")
        if verdict is Verdict.SURVIVED:
            told = bool(finding.distribution)
            self._must(told, "says where its cases came from", name, "no distribution")


def _repeatable(finding: Finding) -> object:
    """What of a finding the seed determines: not what it cost."""
    first = [case.to_json() for case in finding.counterexamples[:1]]
    return finding.verdict, finding.tried, finding.discarded, finding.distribution, first


def _watched(run: Callable[[], Sequence[Finding]], wall_s: float) -> Sequence[Finding] | str:
    """What `run` returns, or what became of it instead."""
    box: list[Sequence[Finding] | str] = []

    def target() -> None:
        try:
            box.append(run())
        except Exception as error:
            box.append(f"raised {type(error).__name__}: {error}")

    thread = threading.Thread(target=target, daemon=True)
    thread.start()
    thread.join(wall_s)
    return box[0] if box else f"did not come back within {wall_s:g} s"
