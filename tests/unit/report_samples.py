"""Runs to render: every verdict, every block of a report, and text that tries to break it."""

from __future__ import annotations

from refute.claim import Claim, Need, Statement, Verdict, Where
from refute.evidence import Cost, Evidence, Exhaustion, Scope
from refute.record import ClaimResult, Coverage, Run, SpecEvent
from refute.replay import Counterexample, Playback, Step, Witness, replay

HOSTILE = "\x1b[2J\x00\r\n]]><x a='\"'> \ud800 \u202e \ufffe \U0001f600 é"


class Breaks:
    """A replayer under which the case breaks in the first `broke` runs."""

    def __init__(self, broke: int = 99, error: str = "") -> None:
        self.broke, self.error = broke, error

    def play(self, counterexample: Counterexample, hash_seed: int) -> Playback:
        return Playback(hash_seed < self.broke, output=hash_seed < self.broke, error=self.error)


def case(steps: int = 3, **changes: str) -> Counterexample:
    texts = [Step(f"step {i}", {"x": str(i)}) for i in range(1, steps + 1)]
    fields = {"observed": "/a and /b both exist", "expected": "/a or /b", "point": "after write 7"}
    return Counterexample("crash-explorer", {"depth": steps}, tuple(texts), **{**fields, **changes})


def witness(steps: int = 3, broke: int = 99, **changes: str) -> Witness:
    made = replay(case(steps, **changes), Breaks(broke)).witness
    assert made is not None
    return made


def claim(name: str = "rename is atomic", *, line: int = 7, existential: bool = False) -> Claim:
    statement = Statement(
        kind="holds",
        text=f"{name}: at every instant exactly one of the names exists",
        subject="store:Store.rename",
        existential=existential,
    )
    return Claim(name, statement, Where("claims.py", line), need=Need(cases=10))


def refuted(name: str = "rename is atomic", steps: int = 3, **kwargs: object) -> ClaimResult:
    evidence = Evidence(
        name,
        Verdict.REFUTED,
        "crash-explorer",
        "1",
        tried=12,
        witness=witness(steps),
        cost=Cost(0.5, 1.25),
        seed=2**62 + 1,
    )
    return ClaimResult(claim(name), evidence, unmet="the claim is REFUTED", **kwargs)


def survived(name: str = "reads are pure", **kwargs: object) -> ClaimResult:
    evidence = Evidence(
        name,
        Verdict.SURVIVED,
        "sampling",
        "1",
        tried=1200,
        discarded=3,
        cost=Cost(0.1, 0.2),
        from_ledger=bool(kwargs.pop("from_ledger", False)),
    )
    return ClaimResult(claim(name), evidence, **kwargs)


def exhausted(name: str = "fsync is durable") -> ClaimResult:
    evidence = Evidence(
        name,
        Verdict.EXHAUSTED,
        "crash-explorer",
        "1",
        tried=2880,
        scope=Scope("all sequences of 2 operations", depths={"depth": 2}),
        assumptions=("64-bit fingerprints do not collide",),
        isolation="namespaces: user, net",
        statistics={"states": 2880},
    )
    return ClaimResult(claim(name), evidence)


def unknown(
    name: str = "writes commute", reason: str = "the budget ran out", **kwargs: object
) -> ClaimResult:
    evidence = Evidence(name, Verdict.UNKNOWN, "sampling", "1", reason=reason)
    return ClaimResult(claim(name), evidence, unmet=reason, **kwargs)


def unreachable(name: str = "can commit") -> ClaimResult:
    evidence = Evidence(
        name,
        Verdict.REFUTED,
        "model-checker",
        "1",
        existential=True,
        tried=288,
        exhaustion=Exhaustion("model-checker", "second-search", 288),
        reason="a complete search found no example",
    )
    return ClaimResult(claim(name, existential=True), evidence, unmet="the claim is REFUTED")


def reached(name: str = "can abort") -> ClaimResult:
    evidence = Evidence(
        name, Verdict.PROVED, "model-checker", "1", existential=True, tried=5, witness=witness(4)
    )
    return ClaimResult(claim(name, existential=True), evidence)


def gate_refuted() -> Run:
    """A gate's run with one broken claim and every block of the report filled."""
    return Run(
        command="gate",
        decision="refuted",
        exit_code=1,
        reasons=("rename is atomic is REFUTED",),
        mode="advisory",
        mode_reason="base and policy were chosen locally",
        base="main",
        head="worktree",
        changed=("store.py",),
        results=(survived(from_ledger=True), refuted(), exhausted(), unknown(pre_existing=True)),
        controls=(refuted("rename is atomic", role="control", control="changes/two-steps.patch"),),
        canary=refuted("canary", role="canary"),
        coverage=(
            Coverage("Store.rename", "store.py", 12, "covered", by=("rename is atomic",)),
            Coverage("Store.swap", "store.py", 40, "uncovered", detail="raise survived"),
        ),
        spec_events=(SpecEvent("added", "swap is fair", file="claims.py", line=30),),
        not_done=("mutants of changed lines",),
        seed=2**62 + 1,
        cost=Cost(1.5, 2.5),
        environment={"python": "3.11.7", "isolation": "namespaces: user, net"},
    )


def gate_accepted() -> Run:
    return Run(
        "gate",
        "accepted",
        0,
        mode="deciding",
        base="main",
        head="topic",
        results=(
            survived(),
            exhausted(),
            reached(),
            unknown("far away", "not run", role="unaffected", pre_existing=True),
        ),
        canary=refuted("canary", role="canary"),
    )


def gate_needs_approval() -> Run:
    return Run(
        "gate",
        "not established",
        3,
        reasons=("claim 'x' was removed and needs approval", "and more"),
        mode="advisory",
        results=(survived(),),
        spec_events=(SpecEvent("removed", "x", "was at claims.py:9", "claims.py", 9),),
    )


def nothing() -> Run:
    return Run("gate", "nothing to judge", 3, reasons=("the two trees do not differ",))


def hostile() -> Run:
    bad = claim("hostile")
    evidence = Evidence(
        "hostile", Verdict.REFUTED, "e", "1", tried=1, witness=witness(observed=HOSTILE)
    )
    return Run(
        "check",
        "refuted",
        1,
        reasons=(HOSTILE,),
        results=(ClaimResult(bad, evidence, unmet=HOSTILE), unknown(reason=HOSTILE)),
    )


def every_run() -> list[Run]:
    check = Run("check", "accepted", 0, results=(exhausted(), reached()))
    missing = Run("check", "not established", 3, results=(unknown(), unreachable()))
    return [
        gate_refuted(),
        gate_accepted(),
        gate_needs_approval(),
        nothing(),
        hostile(),
        check,
        Run("check", "refuted", 1, results=(unreachable(),)),
        missing,
        Run("gate", "not established", 3, reasons=("the canary did not fail",), interrupted=True),
    ]
