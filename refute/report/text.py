"""A run as text for people: the verdict first, then the smallest counterexample, then the rest.

A refutation fits one screen, because whoever reads it (often an agent with a short attention) must
see the case before anything else scrolls it away. Everything that was cut is in the JSON.
"""

from __future__ import annotations

import dataclasses
import itertools
import textwrap
from collections.abc import Iterator, Mapping, Sequence

from refute.claim import Verdict
from refute.evidence import Evidence
from refute.frozen import frozen
from refute.record import ClaimResult, Run
from refute.report.trace import ALL_SHOWN, STEPS_SHOWN, trace_lines
from refute.report.visible import shortened, squeezed, visible

WIDTH = 100
CLAIMS_WHEN_REFUTED = 8
LISTED = 5
SCOPE = 3
NOTED = 400

HEADLINES = {
    "accepted": "ACCEPTED",
    "established": "ESTABLISHED",
    "refuted": "REFUTED",
    "not established": "NOT ESTABLISHED",
    "nothing to judge": "NOTHING TO JUDGE",
}
_COLOURS = {"REFUTED": "31", "ACCEPTED": "32", "ESTABLISHED": "32"}
_YELLOW = "33"


@frozen
class Look:
    """How to render. files: claim digest → saved witness file. colour: ANSI colours allowed.

    whole: every counterexample with all of its steps, not the shortest and the ends of it.
    all_shown: what to say of the steps left out.
    """

    files: Mapping[str, str] = dataclasses.field(default_factory=dict)
    colour: bool = False
    width: int = WIDTH
    whole: bool = False
    all_shown: str = ALL_SHOWN


def text(run: Run, look: Look | None = None) -> str:
    """The run as text that ends with a line end."""
    look = look or Look()
    blocks = [
        _headline(run, look),
        _counterexample(run, look),
        _reasons(run, look),
        _claims(run, look),
        _notes(run, look),
        _surroundings(run, look),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def headline(run: Run) -> str:
    """The decision in capitals, e.g. REFUTED; `check` establishes where the gate accepts."""
    word = HEADLINES.get(run.decision, run.decision.upper())
    return "ESTABLISHED" if word == "ACCEPTED" and run.command != "gate" else word


def refuted_first(run: Run) -> list[ClaimResult]:
    """Results that are refuted and charged, the one with the fewest steps first."""
    found = [r for r in run.results if r.evidence.verdict is Verdict.REFUTED and not r.pre_existing]
    return sorted(found, key=_steps)


def _steps(result: ClaimResult) -> int:
    witness = result.evidence.witness
    return len(witness.counterexample.steps) if witness else 10**6


def _headline(run: Run, look: Look) -> list[str]:
    word = headline(run)
    colour = _COLOURS.get(word, _YELLOW)
    shown = f"\x1b[1;{colour}m{word}\x1b[0m" if look.colour else word
    between = f" {visible(run.base)}..{visible(run.head)}" if run.base or run.head else ""
    line = f"{shown}  {run.command}{between}: {summary(run)}"
    return [line, *(["interrupted: this is what was known by then"] if run.interrupted else [])]


def summary(run: Run) -> str:
    """The decision's sentence: how many claims were broken, missed or established."""
    if run.decision == "nothing to judge":
        return visible(run.reasons[0]) if run.reasons else "the two trees do not differ"
    judged = [r for r in run.results if r.role != "unaffected"]
    refuted = len(refuted_first(run))
    if refuted:
        return f"{refuted} of {_count(len(judged), 'claim')} broken"
    missed = sum(1 for r in judged if r.unmet and not r.pre_existing)
    if missed:
        return f"{missed} of {_count(len(judged), 'claim')} not established"
    if run.exit_code:
        return visible(run.reasons[0]) if run.reasons else "see below"
    old = sum(1 for r in judged if r.unmet)
    established = _count(len(judged) - old, "claim")
    parts = [f"{established} established" if judged else "no claim is affected"]
    return ", ".join([*parts, *([f"{old} not established before either"] if old else [])])


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _counterexample(run: Run, look: Look) -> list[str]:
    found = refuted_first(run)
    shown = found if look.whole else found[:1]
    blocks = ("\n".join(result_lines(result, look)) for result in shown)
    return ["\n\n".join(blocks)] if shown else []


def result_lines(result: ClaimResult, look: Look) -> list[str]:
    """One refuted claim: what it says, the case that breaks it and how to replay the case."""
    claim, evidence = result.claim, result.evidence
    lines = [f"{visible(claim.name)}   {visible(str(claim.where))}"]
    lines += [f"  {line}" for line in _wrapped(claim.statement.text, look.width - 2)]
    if evidence.witness is None:
        return [*lines, "", *(f"  {line}" for line in _exhausted(evidence, look.width))]
    witness = evidence.witness
    replays = f"broke in {witness.broke} of {witness.runs} replays"
    if witness.flaky:
        replays = "flaky: " + replays
    lines += ["", f"  counterexample, found by {visible(evidence.engine)}, {replays}"]
    steps, words = None if look.whole else STEPS_SHOWN, look.all_shown
    case, width = witness.counterexample, look.width - 4
    told = trace_lines(case, width=width, steps_shown=steps, all_shown=words)
    lines += [f"    {line}" for line in told]
    path = look.files.get(claim.digest())
    if path:
        lines += ["", f"  replay it: refute replay {visible(path)}"]
    return lines


def _exhausted(evidence: Evidence, width: int) -> list[str]:
    words = evidence.reason or "a complete search found no example"
    if evidence.exhaustion is not None:
        exhaustion = evidence.exhaustion
        words += f" ({exhaustion.cases:,} cases; confirmed by {exhaustion.confirmed_by})"
    return _wrapped(words, width - 2)


def _reasons(run: Run, look: Look) -> list[str]:
    """Why it is not accepted, unless the headline and the counterexample say it all."""
    if not run.exit_code or run.decision == "nothing to judge":
        return []
    said = {f"{r.claim.name}: {r.unmet}" for r in refuted_first(run)}  # the table tells those
    reasons = [reason for reason in run.reasons if reason not in said]
    alone = len(run.reasons) == 1 and bool(said)
    if len(reasons) == 1 and (alone or visible(reasons[0]) == summary(run)):
        return []
    shown = reasons[:LISTED]
    lines = ["Why"]
    for reason in shown:
        wrapped = _wrapped(reason, look.width - 4)
        lines += [f"  - {wrapped[0]}", *(f"    {line}" for line in wrapped[1:])]
    return [*lines, *_more(len(reasons) - len(shown))] if shown else []


def _claims(run: Run, look: Look) -> list[str]:
    """The table of claims. What neighbours share (one search judges many) is said once, below."""
    ordered = sorted((r for r in run.results if r.role != "unaffected"), key=_order)
    if not ordered:
        return []
    refuted = refuted_first(run)
    told = refuted if look.whole else refuted[:1]
    brief = bool(refuted)
    shown = ordered[:CLAIMS_WHEN_REFUTED] if brief else ordered
    column = min(max(len(visible(r.claim.name)) for r in shown), 52)
    lines = ["Claims"]
    for below, group in itertools.groupby(shown, key=lambda r: _below(r, column, look, told)):
        lines += [_row(result, column, look) for result in group]
        lines += [f"{'':13}{line}" for line in below]
    return [*lines, *_more(len(ordered) - len(shown))]


def _notes(run: Run, look: Look) -> list[str]:
    """What an engine has to show of claims besides: lemmas, counterexamples to induction."""
    blocks = dict.fromkeys(_noted(run))
    rows = [line for block in blocks for line in block.split("\n")]
    lines = [part for row in rows for part in _indented(visible(row), look.width - 2)]
    shown = [f"  {line}" for line in lines[:NOTED]]
    return ["Notes", *shown, *_more(len(lines) - NOTED)] if lines else []


def _noted(run: Run) -> Iterator[str]:
    """The notes of each claim, blocks of lines."""
    for result in run.results:
        for evidence in result.evidence.parts or (result.evidence,):
            notes = evidence.statistics.get("notes")
            yield from map(str, notes if type(notes) is list else ())


def _indented(line: str, width: int) -> list[str]:
    """A line wrapped so that what follows is indented like it, and a bit more."""
    own = line[: len(line) - len(line.lstrip())]
    return textwrap.wrap(line, width, initial_indent="", subsequent_indent=own + "    ") or [""]


def _order(result: ClaimResult) -> tuple[bool, bool]:
    return (result.evidence.verdict is not Verdict.REFUTED, not result.unmet)


def _row(result: ClaimResult, column: int, look: Look) -> str:
    evidence = result.evidence
    marks = [f"{evidence.cost.wall_s:.1f} s"]
    marks += ["from the ledger"] if evidence.from_ledger else []
    marks += ["pre-existing"] if result.pre_existing else []
    marks += ["written with the change"] if result.role == "new" else []
    scope = scope_text(evidence) if _fits(result, column, look) else ""
    head = f"  {evidence.verdict.value:<9}  {visible(result.claim.name):<{column}}  "
    return head + " · ".join(filter(None, [scope, *marks]))


def _fits(result: ClaimResult, column: int, look: Look) -> bool:
    """Whether the scope has room beside the name, the time and the marks."""
    return len(scope_text(result.evidence)) <= look.width - column - 40


def _below(result: ClaimResult, column: int, look: Look, told: Sequence[ClaimResult]) -> list[str]:
    """Lines under a claim's row: a scope that is too long for it, remarks and disputes.

    told: the claims whose counterexample is shown above. Beside it one line is enough, and other
    refuted claims say where theirs is.
    """
    evidence, width = result.evidence, look.width - 13
    lines = [] if _fits(result, column, look) else _wrapped(scope_text(evidence), width)
    lines = _cut(lines, SCOPE, width)
    remarks = _remarks(result, width) if evidence.verdict is not Verdict.REFUTED else []
    if told:
        lines = [shortened(scope_text(evidence), width)] if lines and not result.unmet else []
        remarks = _cut(remarks, 1, width) if result.unmet else []
    return lines + remarks + _elsewhere(result, look, told) + _disputes(evidence, width)


def _elsewhere(result: ClaimResult, look: Look, told: Sequence[ClaimResult]) -> list[str]:
    path = look.files.get(result.claim.digest())
    refuted = result.evidence.verdict is Verdict.REFUTED
    return [f"refute replay {visible(path)}"] if path and refuted and result not in told else []


def _remarks(result: ClaimResult, width: int) -> list[str]:
    evidence = result.evidence
    words = [evidence.reason] if evidence.reason else []
    if result.unmet and result.unmet not in evidence.reason:
        words.append(f"need {result.claim.need} is not met: {result.unmet}")
    words += [f"{engine} declined: {why}" for engine, why in sorted(result.declined.items())]
    return [line for word in words for line in _cut(_wrapped(word, width), 3, width)]


def _cut(lines: list[str], most: int, width: int) -> list[str]:
    """At most so many of the lines; the last one shows that there were more."""
    if len(lines) <= most:
        return lines
    return [*lines[: most - 1], lines[most - 1][: width - 1] + "…"]


def _disputes(evidence: Evidence, width: int) -> list[str]:
    if not evidence.disputes:
        return []
    return _wrapped(f"disputed: {', '.join(evidence.disputes)} said otherwise", width)


def scope_text(evidence: Evidence) -> str:
    """What was covered: how many cases, how many were discarded, the scope, engine's counts.

    The cases come first, because a long scope is cut at its end.
    """
    scope = evidence.scope
    parts = [_count(evidence.tried, "case")] if evidence.tried else []
    if evidence.discarded:
        parts.append(f"{evidence.discarded:,} discarded")
    bounds = ", ".join(f"{k}={v}" for k, v in {**scope.bounds, **scope.depths}.items())
    parts.append(squeezed(visible(scope.text or bounds)))
    counts = [f"{k} {v:,}" for k, v in evidence.statistics.items() if type(v) is int][:4]
    parts.append(visible(", ".join(counts)))
    if evidence.existential and evidence.witness is not None:
        steps = len(evidence.witness.counterexample.steps) - 1  # the first line is the start
        parts.append(f"example of {_count(steps, 'step') if steps > 0 else 'the start'} replayed")
    return " · ".join(filter(None, parts))


def _surroundings(run: Run, look: Look) -> list[str]:
    lines = [*_coverage(run), *_controls(run), *_spec_events(run), *_unaffected(run)]
    assumptions = dict.fromkeys(a for r in run.results for a in r.evidence.assumptions)
    lines += _listed("assumes", list(assumptions), look.width)
    lines += _listed("not done", run.not_done, look.width)
    lines += _listed("isolation", _isolations(run), look.width)
    if run.mode:
        reason = f": {visible(run.mode_reason)}" if run.mode_reason else ""
        lines += _listed("mode", [f"{run.mode}{reason}"], look.width)
    cost = f"{run.cost.wall_s:.1f} s, {run.cost.cpu_s:.1f} CPU seconds in workers"
    return [*lines, f"{'cost':<10}{cost}; seed {run.seed}"]


def _isolations(run: Run) -> list[str]:
    found = {r.evidence.isolation for r in run.results if r.evidence.isolation}
    return sorted(found) or [v for v in [run.environment.get("isolation", "")] if v]


def _coverage(run: Run) -> list[str]:
    if not run.coverage:
        return []
    covered = [c for c in run.coverage if c.status == "covered"]
    exempt = [c for c in run.coverage if c.status == "exempt"]
    lines = [f"coverage  {len(covered)} of {_count(len(run.coverage), 'changed unit')} covered"]
    if exempt:
        names = ", ".join(visible(c.unit) for c in exempt[:LISTED])
        lines[0] += shortened(f", {len(exempt)} exempt: {names}", WIDTH - len(lines[0]))
    missing = [c for c in run.coverage if c.status not in ("covered", "exempt")]
    for unit in missing[:LISTED]:
        place = f"{visible(unit.file)}:{unit.line}"
        detail = f": {visible(unit.detail)}" if unit.detail else ""
        lines.append(f"  {unit.status:<9} {place} {visible(unit.unit)}{detail}")
    return [*lines, *_more(len(missing) - LISTED)]


def _controls(run: Run) -> list[str]:
    lines = []
    if run.controls:
        good = [c for c in run.controls if c.evidence.verdict is Verdict.REFUTED]
        lines.append(f"controls  {len(good)} of {len(run.controls)} known-wrong variants refuted")
        for result in [c for c in run.controls if c not in good][:LISTED]:
            reason = visible(result.evidence.reason or result.evidence.verdict.value)
            name = visible(result.control or result.claim.name)
            lines.append(f"  not refuted: {name} by {visible(result.claim.name)}: {reason}")
    if run.canary is not None:
        failed = run.canary.evidence.verdict is Verdict.REFUTED
        words = "failed, as it must" if failed else "did NOT fail: failures do not reach the report"
        lines.append(f"canary    {words}")
    return lines


def _spec_events(run: Run) -> list[str]:
    lines = []
    for event in run.spec_events[: 2 * LISTED]:
        place = f" ({visible(event.file)}:{event.line})" if event.file else ""
        detail = f": {visible(event.detail)}" if event.detail else ""
        lines.append(f"  {event.kind:<9} {visible(event.thing)}{place}{detail}")
    lines += _more(len(run.spec_events) - 2 * LISTED)
    return ["specs     changed by this change", *lines] if lines else []


def _unaffected(run: Run) -> list[str]:
    number = sum(1 for r in run.results if r.role == "unaffected")
    return [f"not run   {_count(number, 'claim')} that the change does not reach"] if number else []


def _listed(label: str, items: Sequence[str], width: int) -> list[str]:
    """The items behind a label, each wrapped, one under the other."""
    lines = [line for item in items for line in _wrapped(item, width - 10)]
    return [f"{label if i == 0 else '':<10}{line}" for i, line in enumerate(lines)]


def _more(number: int) -> list[str]:
    return [f"  … and {number} more, in the JSON (--json FILE)"] if number > 0 else []


def _wrapped(words: str, width: int) -> list[str]:
    return textwrap.wrap(visible(words), max(20, width)) or [""]
