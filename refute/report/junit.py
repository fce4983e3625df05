"""A run as JUnit XML, for CI servers that count tests.

JUnit has `failure`, `error` and `skipped`; a CI server paints the last one green. So REFUTED is a
failure, everything not established is an error, and nothing is ever skipped. Where the run is not
accepted and no case says why, a case named "decision" does.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from xml.etree import ElementTree

from refute.claim import Verdict
from refute.record import ClaimResult, Run
from refute.report.text import headline, scope_text
from refute.report.trace import trace_lines
from refute.report.visible import visible, visible_lines


@dataclasses.dataclass(frozen=True)
class _Case:
    """outcome: "" when it is well, or the name of JUnit's element, "failure" or "error"."""

    name: str
    group: str
    outcome: str = ""
    kind: str = ""
    message: str = ""
    body: str = ""
    out: str = ""
    file: str = ""
    line: int = 0
    time: float = 0.0


def junit(run: Run) -> str:
    """The run as an XML document of one test suite."""
    judged = [r for r in run.results if r.role != "unaffected"]  # the others are no cases at all
    cases = [_claim(r) for r in judged] + _coverage(run) + _specs(run) + _checks(run)
    if run.exit_code and not any(c.outcome for c in cases):
        cases.append(_decision(run))
    counts = {
        "tests": str(len(cases)),
        "failures": str(sum(c.outcome == "failure" for c in cases)),
        "errors": str(sum(c.outcome == "error" for c in cases)),
        "skipped": "0",
        "time": f"{run.cost.wall_s:.3f}",
    }
    suites = ElementTree.Element("testsuites", {"name": "refute", **counts})
    suite = ElementTree.SubElement(suites, "testsuite", {"name": f"refute {run.command}", **counts})
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in _properties(run).items():
        ElementTree.SubElement(properties, "property", {"name": name, "value": _xml(value)})
    for case in cases:
        _append(suite, case)
    ElementTree.indent(suites)
    text = ElementTree.tostring(suites, encoding="unicode", xml_declaration=False)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def junit_text(run: Run, _files: Mapping[str, str]) -> str:
    """The run as the text of a JUnit file."""
    return junit(run)


def _properties(run: Run) -> dict[str, str]:
    pairs = {
        "decision": headline(run),
        "exit_code": str(run.exit_code),
        "mode": run.mode,
        "base": run.base,
        "head": run.head,
        "seed": str(run.seed),
        "unaffected_claims": str(sum(1 for r in run.results if r.role == "unaffected")),
    }
    return {name: value for name, value in pairs.items() if value}


def _append(suite: ElementTree.Element, case: _Case) -> None:
    attributes = {
        "name": _xml(case.name),
        "classname": _xml(case.group),
        "time": f"{case.time:.3f}",
    }
    if case.file:
        attributes |= {"file": _xml(case.file), "line": str(case.line)}
    element = ElementTree.SubElement(suite, "testcase", attributes)
    if case.outcome:
        inside = {"type": _xml(case.kind), "message": _xml(case.message)}
        ElementTree.SubElement(element, case.outcome, inside).text = _xml_lines(case.body)
    if case.out:
        ElementTree.SubElement(element, "system-out").text = _xml_lines(case.out)


def _claim(result: ClaimResult) -> _Case:
    claim, evidence = result.claim, result.evidence
    made = _Case(
        name=claim.name,
        group=claim.where.file or "claims",
        file=claim.where.file,
        line=claim.where.line,
        time=evidence.cost.wall_s,
        kind=evidence.verdict.value + (" (pre-existing)" if result.pre_existing else ""),
        out=f"{evidence.verdict.value}: {scope_text(evidence)}",
    )
    if evidence.verdict is Verdict.REFUTED:
        return _refuted(made, result)
    if result.unmet or evidence.verdict is Verdict.UNKNOWN:
        why = result.unmet or evidence.reason
        return dataclasses.replace(made, outcome="error", message=why, body=why)
    return made


def _refuted(case: _Case, result: ClaimResult) -> _Case:
    witness = result.evidence.witness
    body = result.evidence.reason
    if witness is not None:
        body = "\n".join(trace_lines(witness.counterexample))
    message = result.claim.statement.text or result.claim.name
    return dataclasses.replace(case, outcome="failure", message=message, body=body)


def _coverage(run: Run) -> list[_Case]:
    return [
        _Case(
            name=c.unit,
            group="coverage",
            outcome="" if c.status in ("covered", "exempt") else "error",
            kind=c.status,
            message=f"{c.status}: {c.unit}",
            body=c.detail,
            file=c.file,
            line=c.line,
        )
        for c in run.coverage
    ]


def _specs(run: Run) -> list[_Case]:
    return [
        _Case(
            name=f"{e.kind}: {e.thing}",
            group="specs",
            outcome="" if e.kind == "added" else "error",
            kind="spec change",
            message=f"{e.kind}: {e.thing}",
            body=e.detail,
            file=e.file,
            line=e.line,
        )
        for e in run.spec_events
    ]


def _checks(run: Run) -> list[_Case]:
    made = []
    for result in [*run.controls, *([run.canary] if run.canary else [])]:
        well = result.evidence.verdict is Verdict.REFUTED
        why = result.evidence.reason or f"{result.evidence.verdict.value}, must be REFUTED"
        made.append(
            _Case(
                name=result.control or result.claim.name,
                group=f"{result.role}: {result.claim.name}",
                outcome="" if well else "error",
                kind="not refuted",
                message=why,
                body=why,
                time=result.evidence.cost.wall_s,
            )
        )
    return made


def _decision(run: Run) -> _Case:
    return _Case(
        name="decision",
        group=f"refute {run.command}",
        outcome="error",
        kind=headline(run),
        message=headline(run),
        body="\n".join(run.reasons),
    )


def _xml(text: str) -> str:
    """`text` without characters that XML 1.0 forbids; they are shown as escapes."""
    return visible(text).replace("\ufffe", r"\ufffe").replace("\uffff", r"\uffff")


def _xml_lines(text: str) -> str:
    return "\n".join(_xml(line) for line in visible_lines(text))
