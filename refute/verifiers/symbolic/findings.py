"""What the symbolic engine says of one claim, and no more than was done.

Nothing found up to a depth is `SURVIVED`, with the depth. `PROVED` is what induction shows of every
behaviour, once a fresh solver in a process of its own has said so too. A counterexample to
induction is told as that, beside whatever else is known; it refutes nothing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from refute.claim import Claim, Verdict
from refute.evidence import Cost, Finding, Scope
from refute.frozen import frozen
from refute.plain import Plain
from refute.replay import Counterexample, Step
from refute.specs.machine.ir import MachineIR
from refute.specs.machine.statement import ALL, ALL_FIRE, DEADLOCK_FREE, WELL_DEFINED
from refute.specs.machine.types import ANY
from refute.verifiers.model.stating import expected, misstated

NAME = "symbolic (Z3)"
VERSION = "1"
TRUSTED = "that Z3 is right: two of its solvers, each in a process of its own, agree"
REPEATED = "that Z3 is right: asked again in another process, from scratch, it says the same"
VACUOUS = "vacuous: the machine has no initial state within its constraint"
NOT_SHOWN = "not reached"
NOTHING_BEYOND = "nothing is known beyond that; see well_defined"

Report = Mapping[str, Plain]


@frozen
class Solved:
    """What was found of one machine. asked: all properties that claims are about.

    report: of the search, or of the proof; recheck: of its repetition, empty where there was none.
    tried: what else was done, in words. sizes: the machine's sizes that traces are of, if they are
    not the claim's.
    """

    ir: MachineIR
    report: Report
    recheck: Report
    cost: Cost
    isolation: str
    tried: str = ""
    sizes: Mapping[str, int] = dataclasses.field(default_factory=dict)

    @property
    def open(self) -> bool:
        """Whether some Sort has any number of members."""
        return any(size == ANY for _, size in self.ir.constants)


def finding(claim: Claim, solved: Solved) -> Finding:
    """The finding on one claim."""
    prop = str(claim.statement.params["prop"])
    problem = misstated(prop, claim.statement.existential, solved.ir)
    if problem:
        return made(solved, Verdict.UNKNOWN, problem)
    cases = _cases(prop, solved)
    if claim.statement.existential:
        why = "shown" if cases else _not_shown(prop, solved)
        return made(solved, Verdict.UNKNOWN, why, cases)
    if cases:
        return made(solved, Verdict.UNKNOWN, "a trace breaks it", cases)
    if solved.report.get("vacuous"):
        why = str(solved.report.get("limited", {}).get(WELL_DEFINED, VACUOUS))
        return made(solved, Verdict.UNKNOWN, why)
    parts = parts_of(prop, solved.ir)
    if all(name in proved(solved) for name in parts):
        return _proved(parts, solved)
    return _searched(parts, solved)


def parts_of(prop: str, ir: MachineIR) -> tuple[str, ...]:
    """The properties that a claim is about: one, or all that the machine states."""
    if prop != ALL:
        return (prop,)
    kinds = ("invariant", "transition", "observe", "reachable")
    found = [p.name for kind in kinds for p in ir.of_kind(kind)]
    found += [*(p.name for p in ir.temporals), *(p.name for p in ir.refinements)]
    return (*found, DEADLOCK_FREE, WELL_DEFINED, ALL_FIRE)


def asked_of(claims: Sequence[Claim], ir: MachineIR) -> list[str]:
    """All properties that claims are about, and whether anything raises: proofs lean on that."""
    parts = [n for c in claims for n in parts_of(str(c.statement.params["prop"]), ir)]
    return list(dict.fromkeys((*parts, *([WELL_DEFINED] if parts else []))))


def proved(solved: Solved) -> Mapping[str, Plain]:
    """What was proved, and repeated by a fresh solver; nothing where something may raise."""
    if not solved.recheck or solved.recheck.get("said") or solved.recheck.get("stopped"):
        return {}
    limited = solved.report.get("limited", {})  # more is claimed than formulas say
    names = [name for name in solved.recheck["props"] if name not in limited]
    if WELL_DEFINED not in names or solved.report.get("vacuous"):
        return {}
    return {name: solved.report["proved"][name] for name in names}


def with_ways(report: Report) -> Report:
    """The report, with each proof's way in words."""
    found: Mapping[str, Plain] = report.get("proved", {})
    return {**report, "proved": {name: {**p, "by": _way(p)} for name, p in found.items()}}


def _way(proof: Mapping[str, Plain]) -> str:
    if "ended" in proof:
        return f"bounded search, as no behaviour has more than {_steps(int(proof['ended']))}"
    return f"{proof['k']}-induction"


def made(
    solved: Solved,
    verdict: Verdict,
    reason: str,
    cases: tuple[Counterexample, ...] = (),
    text: str = "",
    notes: Sequence[str] = (),
    statistics: Mapping[str, Plain] | None = None,
) -> Finding:
    """A finding with what all findings of one run have in common."""
    depth = int(solved.report.get("depth", -1))
    constraints = [p.name for p in solved.ir.of_kind("constraint")]
    assumed = tuple(f"nothing is claimed beyond the constraint {c}" for c in constraints)
    counts: dict[str, Plain] = {"queries": int(solved.report.get("queries", 0))}
    proof = verdict is Verdict.PROVED  # which tries no case
    trusted = TRUSTED if solved.report.get("finite") else REPEATED
    if depth >= 0 and not proof:
        counts["steps"] = depth
    lines = {"notes": list(notes)} if notes else {}
    return Finding(
        NAME,
        VERSION,
        verdict,
        reason=reason,
        scope=Scope(
            text=text or _reach(solved, depth),
            bounds=dict(solved.ir.constants),
            depths={"steps": depth} if depth >= 0 and not proof else {},
        ),
        tried=0 if proof else depth + 1,
        distribution="" if proof or depth < 0 else "all behaviours of so many steps: 0, 1, 2 …",
        counterexamples=cases,
        assumptions=(*assumed, *((trusted,) if proof else ())),
        isolation=solved.isolation,
        cost=solved.cost,
        statistics={**counts, **(statistics or {}), **lines},
    )


def _reach(solved: Solved, depth: int) -> str:
    if depth < 0:
        return "no depth was searched"
    renamed = solved.report.get("renamed")
    up_to = f", up to permutations of {renamed}" if renamed else ""
    return f"all behaviours of at most {_steps(depth)}{up_to}"


def _steps(count: int) -> str:
    return f"{count} step{'' if count == 1 else 's'}"


def _proved(parts: Sequence[str], solved: Solved) -> Finding:
    known = proved(solved)
    by = ", ".join(dict.fromkeys(str(known[name]["by"]) for name in parts))
    sizes = ", ".join(f"{n}={size}" for n, size in solved.ir.constants if size != ANY)
    everywhere = ", ".join(n for n, size in solved.ir.constants if size == ANY)
    text = "every behaviour, of any length"
    text += f", for every size of {everywhere}" if everywhere else ""
    text += f", with {sizes}" if sizes else ""
    notes = [_leaning(name, known, solved) for name in parts]
    lemmas = [str(line) for line in solved.report.get("lemmas_text", ())]
    own = {p.name for p in solved.ir.properties} | set(parts)
    if lemmas and any(n not in own for name in parts for n in closure(name, known)):
        head = "the lemmas that were found, which can be pasted into the machine:"
        notes.append("\n".join([head, *lemmas]))
    return made(solved, Verdict.PROVED, "", (), f"{text}: by {by}", notes)


def closure(name: str, known: Mapping[str, Plain]) -> tuple[str, ...]:
    """What a proof leans on, and what the proofs of that lean on, in the order they are met."""
    found: dict[str, None] = {}
    open_ = [name]
    while open_:
        fresh = [str(n) for n in known.get(open_.pop(0), {}).get("needed", ())]
        fresh = [n for n in fresh if n not in found and n != name]
        found |= dict.fromkeys(fresh)
        open_ += fresh
    return tuple(found)


def _leaning(name: str, known: Mapping[str, Plain], solved: Solved) -> str:
    """How a property was proved, and which invariants that needed, and did not."""
    invariants = [p.name for p in solved.ir.of_kind("invariant")]
    needed = closure(name, known)
    own = [n for n in needed if n in invariants]
    lemmas = len(needed) - len(own)
    said = [*own, *([f"{lemmas} lemma{'' if lemmas == 1 else 's'}"] if lemmas else [])]
    line = f"{name}: {known[name]['by']}" + (f", with {', '.join(said)}" if said else "")
    unneeded = [n for n in invariants if n not in (*needed, name)]
    return line + (f"; not needed: {', '.join(unneeded)}" if unneeded else "")


def _searched(parts: Sequence[str], solved: Solved) -> Finding:
    """SURVIVED up to a depth where one was searched, else UNKNOWN."""
    solved = _as_far(parts, solved)
    report = solved.report
    beyond = _beyond(solved)
    if beyond and set(parts) != {WELL_DEFINED}:
        return made(solved, Verdict.UNKNOWN, beyond)
    why = [_why_open(name, solved) for name in parts if name not in proved(solved)]
    notes = [block for name in parts for block in _lines(name, solved)]
    depth = int(report.get("depth", -1))
    unsaid = [name for name in parts if _unsaid(name, solved)]
    reason = "; ".join(dict.fromkeys(filter(None, [*why, solved.tried])))
    if depth < 1 or unsaid:
        seen = "of the behaviours only the starts were searched" if depth == 0 else ""
        words = "; ".join(filter(None, [seen, reason])) or "it was not decided"
        return made(solved, Verdict.UNKNOWN, words, notes=notes)
    found = f"no violation up to depth {depth}"
    return made(solved, Verdict.SURVIVED, f"{found}; {reason}" if reason else found, notes=notes)


def _as_far(parts: Sequence[str], solved: Solved) -> Solved:
    """The search as deep as it decided these properties, and whether anything raises."""
    given_up = solved.report.get("unanswered", {})
    names = [n for n in (*parts, WELL_DEFINED) if n in given_up and n not in proved(solved)]
    depth = int(solved.report.get("depth", -1))
    least = min([depth, *(int(given_up[n]["depth"]) - 1 for n in names)])
    return dataclasses.replace(solved, report={**solved.report, "depth": least})


def _unsaid(name: str, solved: Solved) -> bool:
    """Whether the bounded search does not say anything of a property."""
    report = solved.report
    left = {**report.get("outside", {}), **report.get("limited", {}), **report.get("parted", {})}
    existential = {p.name for p in solved.ir.of_kind("reachable")} | {ALL_FIRE}
    shown = {*report.get("hits", {}), *([] if report.get("silent") else [ALL_FIRE])}
    return name in left or (name in existential and name not in shown)


def _why_open(name: str, solved: Solved) -> str:
    """Why a property is not proved."""
    report = solved.report
    for kind in ("parted", "outside", "limited"):
        if name in report.get(kind, {}):
            return str(report[kind][name])
    if name in report.get("proved", {}) and WELL_DEFINED not in report["proved"]:
        return f"it is kept where nothing raises, but {_may_raise(report)}; see well_defined"
    if name in report.get("proved", {}):
        unsaid = solved.recheck.get("unsaid", {})
        again = (
            unsaid.get(name)
            or unsaid.get(WELL_DEFINED)
            or solved.recheck.get("stopped")
            or solved.recheck.get("said")
            or "its time ended"
        )
        return f"a proof was found and not confirmed: {again}"
    told = report.get("inductions", {}).get(name)
    said = [f"a counterexample to {told['k']}-induction is no bug, see below"] if told else []
    for kind in ("open", "no_induction"):
        reason = report.get(kind, "")
        reason = reason.get(name, "") if isinstance(reason, Mapping) else reason
        said += [f"induction: {reason}"] if reason and not told else []
    given_up = report.get("unanswered", {}).get(name)
    said += [str(given_up["why"])] if given_up else []
    said += [str(report["stopped"])] if report.get("stopped") else []
    return "; ".join(dict.fromkeys(said))


def _beyond(solved: Solved) -> str:
    """Why nothing is said of properties without a trace: what lies behind a step that raises."""
    report = solved.report
    hit = report.get("hits", {}).get(WELL_DEFINED)
    if hit:
        case, steps = hit["case"], hit["steps"]
        what = str(case.get("predicate", "")) or str(steps[-1]["text"])
        return f"{what} raises or leaves a type's range, and {NOTHING_BEYOND}"
    limited = report.get("limited", {}).get(WELL_DEFINED)  # what is known of the starts
    if limited:
        return f"{limited}; see well_defined"
    for kind in ("parted", "outside"):
        why = report.get(kind, {}).get(WELL_DEFINED)
        if why:
            return f"what may raise is not known, and {NOTHING_BEYOND}: {why}"
    return ""


def _may_raise(report: Report) -> str:
    """That `well_defined` is not proved, with the step or predicate that it fails at."""
    told = report.get("inductions", {}).get(WELL_DEFINED)
    if not told:
        return "it is not proved that nothing does"
    last = f"{told['steps'][-1]} " if told["why"] == "raises" else ""
    return f"not proved is that nothing does: from some state, reached or not, {last}{told['why']}"


def _not_shown(prop: str, solved: Solved) -> str:
    report = solved.report
    if report.get("vacuous"):
        return VACUOUS
    known = {**report.get("outside", {}), **report.get("parted", {})}
    silent = ", ".join(report.get("silent", ()))
    what = f"never taken: {silent}" if prop == ALL_FIRE else f"{prop} holds in no state"
    depth = int(report.get("depth", -1))
    said = [str(known[prop])] if prop in known else []
    said += [f"{what} within {_steps(depth)}"] if depth >= 0 else [NOT_SHOWN]
    said += [str(report["stopped"])] if report.get("stopped") else []
    return "; ".join([*said, *([solved.tried] if solved.tried else [])])


def _lines(name: str, solved: Solved) -> list[str]:
    told = solved.report.get("inductions", {}).get(name)
    return [induction_text(name, told)] if told and name not in proved(solved) else []


def induction_text(name: str, told: Mapping[str, Plain]) -> str:
    """A counterexample to induction as lines of text."""
    assumed = ", ".join(told["assumed"]) or "nothing"
    sizes = ", ".join(f"{n}={size}" for n, size in told["sizes"].items())
    head = f"{name}: a counterexample to {told['k']}-induction, no bug: "
    lines = [head + "its first state may be one that is never reached"]
    lines.append(f"  assumed before the last state: {assumed}" + (f"; {sizes}" if sizes else ""))
    for at, state in enumerate(told["states"]):
        lines.append(f"  then {told['steps'][at - 1]}" if at else "  in some state")
        lines += [f"    {variable} = {value}" for variable, value in state.items()]
    lines += [f"  then {step}" for step in told["steps"][len(told["states"]) - 1 :]]
    return "\n".join([*lines, f"  {told['why']}"])


def _cases(prop: str, solved: Solved) -> tuple[Counterexample, ...]:
    """The counterexamples (or examples) for a claim, as traces."""
    report = solved.report
    hits: Mapping[str, Plain] = report.get("hits", {})
    if prop == ALL_FIRE:
        fired = list(report.get("fired", {}).values())
        return () if report.get("silent", True) or not fired else (case_of(fired, solved.sizes),)
    if prop:
        return (case_of([hits[prop]], solved.sizes),) if prop in hits else ()
    shown = {p.name for p in solved.ir.of_kind("reachable")}
    return tuple(case_of([h], solved.sizes) for name, h in hits.items() if name not in shown)


def case_of(traces: Sequence[Plain], sizes: Mapping[str, int]) -> Counterexample:
    """Traces as one case; sizes: of the machine they are of, where the claim leaves them open."""
    last = max(traces, key=lambda trace: len(trace["steps"]))
    inputs: dict[str, Plain] = {"cases": [trace["case"] for trace in traces]}
    if sizes:
        inputs["constants"] = dict(sizes)
    return Counterexample(
        engine=NAME,
        inputs=inputs,
        steps=tuple(Step(s["text"], s["changes"]) for s in last["steps"]),
        observed=str(last["why"]),
        expected=expected(str(last["case"]["property"])),
    )
