"""Reports of a run of the SQL fuzzer: findings for people as they come, a summary, and JSON."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from refute import __version__
from refute.report.fuzz_verdict import (
    FuzzReport,
    KnownUse,
    most_frequent,
    refusals,
    warnings,
)
from refute.report.visible import shortened, visible
from refute.verifiers.sql.fuzz_plan import Counts, Finding

SCHEMA = "refute.fuzz/1"
STATEMENTS = 20  # of one finding in text
WIDEST = 240  # characters of a statement, and of an answer
REASONS = 5
FEATURES = 8
ALSO = 4  # programs in which a cause was met again


def finding_lines(finding: Finding, number: int, again: str) -> list[str]:
    """A finding as it is told when it is met. again: see `FuzzReport`."""
    made = [f"{number}. {finding.title or finding.why} (oracle {finding.oracle})"]
    statements = [*finding.setup, finding.query]
    made += [f"     {shortened(sql, WIDEST)};" for sql in _cut(statements)]
    if finding.asked not in ((), (finding.query,)):
        made.append("   asked of the engine")
        made += [f"     {shortened(sql, WIDEST)};" for sql in _cut(finding.asked)]
    if finding.title:
        made.append(f"   {finding.why}")
    made.append(f"   expected   {shortened(finding.expected, WIDEST)}")
    made.append(f"   observed   {shortened(finding.observed, WIDEST)}")
    if finding.confirmed:
        made.append(f"   confirmed  {finding.confirmed}")
    made.append(f"   cause      {finding.cause}")
    made.append(f"   again      {again} {finding.again}")
    return [visible(line) for line in made]


def _cut(statements: tuple[str, ...] | list[str]) -> list[str]:
    if len(statements) <= STATEMENTS:
        return list(statements)
    left = len(statements) - STATEMENTS + 1
    return [
        *statements[: STATEMENTS // 2],
        f"-- … {left} more",
        *statements[-STATEMENTS // 2 + 1 :],
    ]


def summary(report: FuzzReport) -> str:
    """What was done, and what came of it; the verdict last."""
    run = report.run
    version = f" ({run.version})" if run.version else ""
    lines = [f"engine {report.engine}{version}, seed {report.plan.seed}, {_programs(report)}"]
    lines += _done_lines(report)
    if report.known is not None:
        lines += known_lines(report.known)
    lines += cause_lines(report)
    lines += [f"warning: {text}" for text in (*warnings(report), *report.notes)]
    lines.append(report.decision.upper())
    lines += [f"  {reason}" for reason in report.reasons]
    return "".join(f"{visible(line)}\n" for line in lines)


def _programs(report: FuzzReport) -> str:
    plan, last = report.plan, report.run.next - 1
    told = [_number(len(plan.seeds), "script")] if plan.seeds else []
    if last >= plan.first:
        many = last > plan.first
        told.append(f"programs {plan.first} to {last}" if many else f"program {last}")
    return ", ".join(told) or "no program"


def _done_lines(report: FuzzReport) -> list[str]:
    counts = report.run.counts
    refused, unwritten = refusals(counts)
    plans = f"; {counts.plans:,} query plans" if counts.plans else ""
    lines = [
        f"generated  {_number(counts.programs, 'database')}, {_queries(counts.queries)} of "
        f"{counts.median_nodes} syntax-tree nodes (median); "
        f"{counts.statements:,} statements asked{plans}",
        f"accepted   {counts.accepted:,} of {_queries(counts.queries)}",
        f"refused    {_share(sum(refused.values()), counts.statements)} by the engine"
        + _reasons(refused),
    ]
    both = sum(counts.refused_by_sqlite.values())
    if both:
        lines.append(f"           {both:,} by SQLite as well")
    if unwritten:
        lines.append(
            f"unwritten  {_number(sum(unwritten.values()), 'statement')} that the engine's dialect "
            f"cannot say{_reasons(unwritten)}"
        )
    if counts.features_refused:
        lines.append(f"dropped    {_dropped(counts.features_refused)}")
    lines.append(f"compared   {counts.compared:,}: {_by_oracle(report.plan.oracles, counts)}")
    left = sum(counts.open.values())
    if left:
        lines.append(f"open       {left:,}{_reasons(counts.open)}")
    if counts.not_asked:
        lines.append(f"not asked  {counts.not_asked:,}, each of which needs a new database")
    if counts.lost:
        lines.append(f"lost       the engine {counts.lost:,} times")
    return [*lines, _speed(report)]


def _number(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _queries(number: int) -> str:
    return f"{number:,} quer{'y' if number == 1 else 'ies'}"


def _share(number: int, of: int) -> str:
    return f"{number:,} of {of:,} statements ({100 * number / max(1, of):.1f}%)"


def _reasons(reasons: Mapping[str, int]) -> str:
    return f": {most_frequent(reasons, REASONS)}" if reasons else ""


def _dropped(refused: Mapping[str, str]) -> str:
    told = [f"{name} ({shortened(why, 60)})" for name, why in sorted(refused.items())]
    more = f", and {len(told) - FEATURES} more" if len(told) > FEATURES else ""
    return f"{len(told)} features that the engine refuses: {', '.join(told[:FEATURES])}{more}"


def _by_oracle(oracles: tuple[str, ...], counts: Counts) -> str:
    told = []
    for name in oracles:
        broken = f" ({counts.broken[name]:,} broken)" if counts.broken[name] else ""
        told.append(f"{name} {counts.held[name] + counts.broken[name]:,}{broken}")
    return ", ".join(told)


def _speed(report: FuzzReport) -> str:
    counts, wall = report.run.counts, max(report.wall_s, 0.001)
    a_core = f", {counts.queries / counts.cpu_s:,.0f} queries a CPU second" if counts.cpu_s else ""
    ended = {"time": ", until the time was over", "interrupted": ", until it was interrupted"}
    rate = f"{counts.queries / wall:,.0f} queries a second{a_core}"
    if report.goes_on:
        rate = f"going on from what was kept{a_core}"
    return f"took       {report.wall_s:.1f} s{ended.get(report.run.stopped, '')}; {rate}"


def known_lines(use: KnownUse) -> list[str]:
    """What the file of known bugs did, and what is to be done about it."""
    lines = [f"known      {label}: met {times:,} times" for label, times in use.suppressed.items()]
    if use.idle:
        lines.append(f"           not met: {', '.join(use.idle)}")
    if use.ended:
        lines.append(f"           past their day, and suppress nothing: {', '.join(use.ended)}")
    if use.unreviewed:
        many = "is" if use.unreviewed == 1 else "are"
        lines.append(
            f"           {use.unreviewed:,} of the new {many} listed in {use.path}, but nobody has"
            " reviewed them"
        )
    return lines


def cause_lines(report: FuzzReport) -> list[str]:
    """Each cause with how often it was met, and what was saved of it."""
    lines = []
    for place, finding in enumerate(report.run.findings):
        if finding.known:
            continue
        times = "once" if finding.times == 1 else f"{finding.times:,} times"
        files = report.saved.get(place, ())
        title = finding.title or finding.why
        oracles = ", ".join(finding.oracles or (finding.oracle,))
        lines.append(f"cause {finding.cause}  {title} ({oracles}), met {times}")
        if finding.also:
            more = f", and {len(finding.also) - ALSO} more" if len(finding.also) > ALSO else ""
            lines.append(f"           also {', '.join(finding.also[:ALSO])}{more}")
        if files:
            lines.append(f"           {' and '.join(files)}")
    return lines


def document(report: FuzzReport) -> dict[str, Any]:
    """The run as JSON data, as `fuzz.schema.json` describes it."""
    plan, run, counts = report.plan, report.run, report.run.counts
    return {
        "schema": SCHEMA,
        "refute": __version__,
        "engine": report.engine,
        "version": run.version,
        "decision": report.decision,
        "exit_code": report.exit_code,
        "reasons": report.reasons,
        "warnings": [*warnings(report), *report.notes],
        "stopped": run.stopped,
        "seed": plan.seed,
        "first": plan.first,
        "next": run.next,
        "queries": plan.queries,
        "oracles": list(plan.oracles),
        "features": None if plan.features is None else sorted(plan.features),
        "seeds": [script.name for script in plan.seeds],
        "counts": {**counts.to_json(), "median_nodes": counts.median_nodes},
        "pending": run.pending,
        "known": None if report.known is None else dataclasses.asdict(report.known),
        "findings": [
            {
                **finding.to_json(),
                "again": f"{report.again} {finding.again}",
                "saved": list(report.saved.get(place, ())),
            }
            for place, finding in enumerate(run.findings)
        ],
        "wall_s": round(report.wall_s, 3),
    }


def json_text(report: FuzzReport) -> str:
    """The run as the text of a JSON file."""
    return json.dumps(document(report), indent=2, allow_nan=False) + "\n"
