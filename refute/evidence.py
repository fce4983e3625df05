"""Evidence: what one verifier found, unable to say more than was done.

The constructor refuses illegal combinations, so that no later code has to wonder: REFUTED without
a replayed witness (or, for an existential claim, a confirmed exhaustive search), SURVIVED with no
cases, UNKNOWN without a reason. `bool(evidence)` raises, because "is there evidence" and "does the
claim hold" are different questions and the first would silently answer the second.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import NoReturn

from refute import plain
from refute.claim import Need, Verdict
from refute.errors import (
    EXIT_ESTABLISHED,
    EXIT_NOT_ESTABLISHED,
    EXIT_REFUTED,
    IllegalEvidence,
)
from refute.frozen import frozen
from refute.plain import Plain
from refute.replay import Counterexample, Witness


@frozen
class Scope:
    """What was covered. bounds: exact values; depths: bounds where more includes less."""

    text: str = ""
    bounds: Mapping[str, Plain] = dataclasses.field(default_factory=dict)
    depths: Mapping[str, int] = dataclasses.field(default_factory=dict)

    def misses(self, name: str, value: Plain) -> str:
        """Why a need of `name=value` is not within this scope; empty when it is."""
        if name in self.depths:
            have = self.depths[name]
            return "" if type(value) is int and have >= value else f"{name}={have}, not {value}"
        if name in self.bounds:
            have_exact = self.bounds[name]
            return "" if plain.same(have_exact, value) else f"{name}={have_exact}, not {value}"
        return f"the evidence has no bound {name}"


@frozen
class Cost:
    """cpu_s: CPU seconds of the workers; wall_s: seconds on the parent's clock."""

    cpu_s: float = 0.0
    wall_s: float = 0.0


@frozen
class Finding:
    """What an engine reports before anything was replayed; it cannot say REFUTED.

    counterexamples: cases it proposes, best first (for an existential claim: examples).
    exhausted: the search was complete; for an existential claim without an example this refutes,
    once `confirmed_by` names a second engine that found the same.
    """

    engine: str
    version: str
    verdict: Verdict
    reason: str = ""
    scope: Scope = Scope()
    tried: int = 0
    discarded: int = 0
    distribution: str = ""
    counterexamples: tuple[Counterexample, ...] = ()
    exhausted: bool = False
    confirmed_by: str = ""
    assumptions: tuple[str, ...] = ()
    isolation: str = ""
    cost: Cost = Cost()
    statistics: Mapping[str, Plain] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.verdict is Verdict.REFUTED:
            raise IllegalEvidence(
                "an engine cannot refute; it proposes counterexamples, and replay refutes",
                thing=self.engine,
                next_step="return UNKNOWN with counterexamples=(…)",
            )


@frozen
class Exhaustion:
    """A complete search without an example, and the second engine that confirmed it."""

    engine: str
    confirmed_by: str
    cases: int


@frozen
class Evidence:
    """The verdict on one claim, with everything needed to weigh and repeat it.

    tried, discarded: cases. distribution: what they were drawn from. seed: repeats the run.
    inputs: name → digest of what it depends on. disputes: engines contradicted by a witness.
    parts: the evidence this was merged from. statistics: engine's counts (e.g. distinct states).
    """

    claim: str
    verdict: Verdict
    engine: str
    version: str
    existential: bool = False
    reason: str = ""
    scope: Scope = Scope()
    tried: int = 0
    discarded: int = 0
    distribution: str = ""
    witness: Witness | None = None
    exhaustion: Exhaustion | None = None
    assumptions: tuple[str, ...] = ()
    isolation: str = ""
    seed: int = 0
    cost: Cost = Cost()
    inputs: Mapping[str, str] = dataclasses.field(default_factory=dict)
    disputes: tuple[str, ...] = ()
    parts: tuple[Evidence, ...] = ()
    statistics: Mapping[str, Plain] = dataclasses.field(default_factory=dict)
    from_ledger: bool = False

    def __post_init__(self) -> None:
        problem = self._problem()
        if problem:
            raise IllegalEvidence(
                f"illegal evidence for claim {self.claim!r}: {problem}",
                thing=self.claim,
                value=self.verdict.value,
                next_step="say UNKNOWN with a reason when nothing was established",
            )

    def _problem(self) -> str:
        if self.tried < 0 or self.discarded < 0:
            return "negative counts"
        if not self.engine:
            return "no engine is named"
        match self.verdict:
            case Verdict.REFUTED:
                return self._refuted_problem()
            case Verdict.UNKNOWN if not self.reason:
                return "UNKNOWN needs a reason"
            case Verdict.SURVIVED if self.tried < 1:
                return "SURVIVED needs at least one case that was tried"
            case Verdict.EXHAUSTED if self.tried < 1:
                return "EXHAUSTED over zero cases is vacuous"
            case Verdict.EXHAUSTED if not (self.scope.bounds or self.scope.depths):
                return "EXHAUSTED needs a scope with bounds"
        if self.existential and self.verdict.strength and self.witness is None:
            return "an existential claim is established only by a replayed witness"
        if not self.existential and self.verdict.strength and self.witness is not None:
            return f"{self.verdict.value} together with a witness against the claim"
        return ""

    def _refuted_problem(self) -> str:
        if self.existential:
            if self.exhaustion is None:
                return "an existential claim is refuted only by exhaustion"
            if self.exhaustion.confirmed_by in ("", self.exhaustion.engine):
                return "exhaustion must be confirmed by a second engine"
            return "" if self.witness is None else "refuted by exhaustion, yet with a witness"
        return "" if self.witness is not None else "REFUTED needs a replayed witness"

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "evidence is not true or false; compare evidence.verdict, or ask evidence.unmet(need)"
        )

    def unmet(self, need: Need) -> str:
        """Why this does not reach the need, in one sentence; empty when it does."""
        if self.parts and self.verdict is not Verdict.REFUTED:
            asked = [p for p in self.parts if not p.reason.startswith("declined")] or self.parts
            reasons = [part.unmet(need) for part in asked]
            return "" if "" in reasons else reasons[0]
        if self.verdict in (Verdict.REFUTED, Verdict.UNKNOWN):
            return self.reason or f"the claim is {self.verdict.value}"
        if self.existential and self.witness is not None:
            return self._unmet_bounds(need)
        if self.verdict.strength < need.grade.strength:
            return f"{self.verdict.value} is weaker than the needed {need}"
        if self.verdict is Verdict.PROVED:
            return self._unmet_assumptions(need)
        if self.verdict is Verdict.SURVIVED:
            if self.tried < need.cases:
                return f"{self.tried} cases tried, {need.cases} needed"
            rate = self.discarded / (self.tried + self.discarded)
            if rate > need.max_discard_rate:
                most = f"at most {need.max_discard_rate:.0%} allowed"
                return f"{rate:.0%} of the cases were discarded, {most}"
        return self._unmet_bounds(need) or self._unmet_assumptions(need)

    def _unmet_bounds(self, need: Need) -> str:
        misses = [self.scope.misses(name, value) for name, value in need.bounds]
        return next((m for m in misses if m), "")

    def _unmet_assumptions(self, need: Need) -> str:
        if need.allow is None:
            return ""
        extra = [a for a in self.assumptions if a not in need.allow]
        return f"rests on an assumption that is not allowed: {extra[0]}" if extra else ""


def exit_code(evidence: Sequence[Evidence], needs: Sequence[Need]) -> int:
    """0 established, 1 refuted, 3 not established (also for no evidence at all)."""
    if any(e.verdict is Verdict.REFUTED for e in evidence):
        return EXIT_REFUTED
    met = [not e.unmet(n) for e, n in zip(evidence, needs, strict=True)]
    return EXIT_ESTABLISHED if met and all(met) else EXIT_NOT_ESTABLISHED


def cpu_seconds(evidence: Iterable[Evidence]) -> float:
    """CPU seconds of the runs that gave this evidence now, not those known from a ledger.

    Claims that one run of an engine judged together carry that run's cost each, and count once.
    """
    parts = [part for e in evidence if not e.from_ledger for part in e.parts or (e,)]
    return sum(cost.cpu_s for _, cost in {(p.engine, p.cost) for p in parts})


def merge(parts: Sequence[Evidence]) -> Evidence:
    """The evidence of several engines on one claim as one. A replayed witness beats any proof.

    An engine that established the opposite of what a witness shows is listed under `disputes`.
    Otherwise the strongest grade stands, and `parts` keeps the rest. Raises IllegalEvidence when
    the parts speak of different claims.
    """
    if not parts or len({(p.claim, p.existential) for p in parts}) != 1:
        raise IllegalEvidence(f"cannot merge evidence on {sorted({p.claim for p in parts})}")
    decided = [p for p in parts if p.witness is not None or p.verdict is Verdict.REFUTED]
    decided.sort(key=lambda p: p.witness is None)
    best = decided[0] if decided else max(parts, key=lambda p: p.verdict.strength)
    disputes = tuple(p.engine for p in parts if _contradicts(p, best)) if decided else ()
    cost = Cost(sum(p.cost.cpu_s for p in parts), sum(p.cost.wall_s for p in parts))
    if len(parts) == 1:
        return best
    return dataclasses.replace(
        best,
        cost=cost,
        disputes=tuple(dict.fromkeys((*best.disputes, *disputes))),
        parts=tuple(parts),
        reason=_merged_reason(best, parts),
        assumptions=(*best.assumptions, *_untried(best, parts)),
    )


def _untried(best: Evidence, parts: Sequence[Evidence]) -> tuple[str, ...]:
    """What a proof assumes if those who doubted it found no case to try: that there is one."""
    doubters = [p for p in parts if p is not best and not p.reason.startswith("declined")]
    if best.verdict is not Verdict.PROVED or best.existential or not doubters:
        return ()
    if any(p.tried or p.verdict is Verdict.PROVED for p in doubters):
        return ()
    who = ", ".join(dict.fromkeys(p.engine for p in doubters))
    return (f"that any input satisfies what is required; {who} found none to try",)


def _contradicts(part: Evidence, best: Evidence) -> bool:
    if part.existential:
        return part.verdict is Verdict.REFUTED and best.witness is not None
    return part.verdict.strength >= 2 and best.verdict is Verdict.REFUTED


def _merged_reason(best: Evidence, parts: Sequence[Evidence]) -> str:
    if best.verdict is not Verdict.UNKNOWN:
        return best.reason
    says: dict[str, dict[str, None]] = {}
    for part in parts:
        says.setdefault(part.reason, {})[part.engine] = None
    return "; ".join(f"{', '.join(engines)}: {reason}" for reason, engines in says.items())
