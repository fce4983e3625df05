"""Claims about machines with Sorts of any size: small sizes first, then a proof for all of them.

A bug mostly shows with two or three members, and explicit search finds it in no time, with a trace
that replays; that is also what a proof is doubted with. Only a claim that small sizes do not break
is worth a proof. For what is not proved, more members and different numbers of each Sort are
searched, for as long again. What is only known of some sizes is said of these, by number.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence

from refute.claim import Claim, Verdict
from refute.errors import RefuteError, UsageError
from refute.evidence import Cost, Finding
from refute.plain import Plain
from refute.sandbox import Limits
from refute.site import Site
from refute.specs.machine.asking import described
from refute.specs.machine.ir import MachineIR
from refute.specs.machine.types import ANY
from refute.verifiers import Interrupted
from refute.verifiers.model.choice import Choice
from refute.verifiers.model.engine import ModelChecker
from refute.verifiers.model.playing import at_sizes
from refute.verifiers.symbolic.errands import Errand
from refute.verifiers.symbolic.findings import VACUOUS, Solved, asked_of, finding, made, with_ways
from refute.verifiers.symbolic.repeating import recheck

SMALL = (1, 2, 3)  # members of every open Sort that explicit search tries
SAMPLED = (2, 3, 4)  # those that lemmas are sampled from
LARGEST = 9  # members of any open Sort that explicit search tries for what is not proved
SMALL_SHARE = 0.1  # of the wall clock, for each of the small sizes
MOST_STARTS = 20_000  # starting values of a machine that lemmas are sampled from
READ_SHARE = 0.2  # of what is left, to read the machine at one of those sizes
PROOF_SHARE = 0.65  # of what is left then


@dataclasses.dataclass
class Sized:
    """What explicit search found at small sizes. cases: by claim's number, one with its sizes.

    whole: for each claim, the sizes at which nothing breaks it. begun: for each size, whether there
    may be a start within the constraint. cpu_s: of all of them.
    """

    cases: dict[int, Finding] = dataclasses.field(default_factory=dict)
    whole: dict[int, list[str]] = dataclasses.field(default_factory=dict)
    begun: dict[str, bool] = dataclasses.field(default_factory=dict)
    cpu_s: float = 0.0
    interrupted: bool = False

    @property
    def vacuous(self) -> bool:
        """Whether the machine has no start within its constraint at any size that was searched."""
        return bool(self.begun) and not any(self.begun.values())


def prove_for_all(
    ir: MachineIR, claims: Sequence[Claim], site: Site, errand: Errand, choice: Choice
) -> Sequence[Finding]:
    """One finding for each claim about a machine of which some Sort is open."""
    sized = Sized()
    every = range(len(claims))
    for size in SMALL:
        sizes = dict.fromkeys(_open(ir), size)
        _search(ir, claims, every, sizes, SMALL_SHARE * errand.budget.wall_s, site, errand, sized)
        if sized.interrupted or len(sized.cases) == len(claims):
            break
    left = [n for n in every if n not in sized.cases]
    universal = [claims[n] for n in left if not claims[n].statement.existential]
    solved = _solved(ir, universal, site, errand, choice, sized)
    if solved.report.get("vacuous"):
        left = []
    elif not sized.vacuous:
        left = [n for n in left if finding(claims[n], solved).verdict is not Verdict.PROVED]
    until = 2 * errand.clock.spent
    for sizes in [*_suggested(solved, _open(ir)), *_larger(_open(ir))]:
        over = errand.clock.over or errand.clock.spent > until
        if over or errand.interrupted or sized.interrupted or sized.cases.keys() >= {*left}:
            break
        _search(ir, claims, left, sizes, errand.clock.left / 2, site, errand, sized)
    findings = [
        sized.cases[n] if n in sized.cases else _finding(claims[n], n, sized, solved)
        for n in range(len(claims))
    ]
    if sized.interrupted or errand.interrupted:
        raise Interrupted(findings)
    return findings


def _open(ir: MachineIR) -> list[str]:
    """The Sorts of any size."""
    return [name for name, given in ir.constants if given == ANY]


def _suggested(solved: Solved, names: Sequence[str]) -> list[dict[str, int]]:
    """Sizes at which formulas break a property, or induction, where a behaviour may break it."""
    told = [dict(sizes) for sizes in solved.report.get("breaking", ())]
    told += [dict(induction["sizes"]) for induction in solved.report.get("inductions", {}).values()]
    alike = [dict.fromkeys(names, size) for size in SMALL]
    return [s for n, s in enumerate(told) if s not in (*alike, *told[:n]) and s.keys() == {*names}]


def _larger(names: Sequence[str]) -> Iterator[dict[str, int]]:
    """Sizes beyond the small ones that are alike: few members first."""
    for most in range(2, LARGEST + 1):
        rows = itertools.product(range(1, most + 1), repeat=len(names))
        for row in sorted((r for r in rows if max(r) == most), key=sum):
            if len({*row}) > 1 or most not in SMALL:
                yield dict(zip(names, row, strict=True))


def _search(
    ir: MachineIR,
    claims: Sequence[Claim],
    asked: Sequence[int],
    sizes: Mapping[str, int],
    wall_s: float,
    site: Site,
    errand: Errand,
    sized: Sized,
) -> None:
    """Explicit search with so many members of the open Sorts, for the claims of these numbers."""
    numbers = [n for n in asked if n not in sized.cases]
    own = [at_sizes(claims[n], sizes) for n in numbers]
    wall_s = min(wall_s, errand.clock.left)
    if wall_s <= 0:
        return
    shown = ", ".join(f"{name}={n}" for name, n in sizes.items())
    budget = dataclasses.replace(errand.budget, wall_s=wall_s, cpu_s=wall_s)
    try:
        found = ModelChecker().run(
            own, budget, site, lambda words: errand.progress(f"{shown}: {words}")
        )
    except Interrupted as stopped:
        found, sized.interrupted = list(stopped.found), True
    except RefuteError:
        return  # this size is none of the machine's
    sized.cpu_s += found[0].cost.cpu_s if found else 0.0
    for one in found[:1]:
        counts = one.statistics
        sized.begun[shown] = bool(counts.get("distinct") or not counts.get("finished"))
    for number, one in zip(numbers, found, strict=True):
        if one.counterexamples:
            sized.cases[number] = _with_sizes(one, ir, sizes)
        elif one.verdict is Verdict.EXHAUSTED:
            sized.whole.setdefault(number, []).append(shown.replace(",", ""))


def _with_sizes(found: Finding, ir: MachineIR, sizes: Mapping[str, int]) -> Finding:
    """A finding whose cases say which sizes they are of, in a scope that has them open."""
    cases = tuple(
        dataclasses.replace(case, inputs={**case.inputs, "constants": dict(sizes)})
        for case in found.counterexamples
    )
    shown = ", ".join(f"{name}={n}" for name, n in sizes.items())
    scope = dataclasses.replace(found.scope, text=f"with {shown}", bounds=dict(ir.constants))
    return dataclasses.replace(found, counterexamples=cases, scope=scope)


def _solved(
    ir: MachineIR,
    claims: Sequence[Claim],
    site: Site,
    errand: Errand,
    choice: Choice,
    sized: Sized,
) -> Solved:
    """The proof, and its repetition."""
    data = ir.to_plain()
    asked = asked_of(claims, ir)
    report: Mapping[str, Plain] = {"stopped": "not begun"}
    again: Mapping[str, Plain] = {}
    if asked and not sized.interrupted and not errand.clock.over:
        small = _small(ir, claims[0], site, errand)
        wall_s = PROOF_SHARE * errand.clock.left
        order = {
            "job": "prove",
            "props": list(asked),
            "small": small,
            "induct": choice.induct,
            "query_s": wall_s,
            "wall_s": wall_s,
        }
        report = errand.run(data, order)
        found: Mapping[str, Plain] = report.get("proved", {})
        if found and not errand.interrupted and not errand.clock.over:
            again = recheck(data, found, report.get("lemmas", ()), errand)
    cost = Cost(errand.cpu_s + sized.cpu_s, errand.clock.spent)
    tried = "; ".join(str(words) for words in report.get("tried", ()))
    return Solved(ir, with_ways(report), again, cost, errand.isolation, tried)


def _small(ir: MachineIR, claim: Claim, site: Site, errand: Errand) -> list[Plain]:
    """The machine at sizes that lemmas are sampled from; those that are soon read."""
    found: list[Plain] = []
    for size in SAMPLED:
        sizes = dict.fromkeys(_open(ir), size)
        wall_s = READ_SHARE * errand.clock.left
        if wall_s <= 0:
            break
        limits = Limits.from_budget(dataclasses.replace(errand.budget, wall_s=wall_s))
        try:
            one = described(at_sizes(claim, sizes), site, limits)
        except UsageError:
            continue  # this size is none of the machine's
        except RefuteError:
            break  # more members take longer
        if sum(len(v.initial) for v in one.variables) > MOST_STARTS:
            break
        found.append(one.to_plain())
    return found


def _finding(claim: Claim, number: int, sized: Sized, solved: Solved) -> Finding:
    """Of a claim that no small size broke: proved, or known of these sizes."""
    found, sizes = finding(claim, solved), sized.whole.get(number, [])
    if sized.vacuous and not solved.report.get("vacuous"):
        return made(solved, Verdict.UNKNOWN, f"{VACUOUS}, with {' or '.join(sized.begun)}")
    if found.verdict is Verdict.PROVED or not sizes or claim.statement.existential:
        return found
    kept = made(
        solved,
        Verdict.SURVIVED,
        f"not proved for every size: {found.reason}",
        text=f"all reachable states with {', '.join(sizes)}",
        notes=[str(line) for line in found.statistics.get("notes", ())],
    )
    return dataclasses.replace(
        kept, tried=len(sizes), distribution="these sizes, each searched whole"
    )
