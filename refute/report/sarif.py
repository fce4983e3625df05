"""A run as SARIF 2.1.0 (OASIS), for code hosts and editors that show findings at a line.

Everything that keeps a change from being accepted is a result, so that a viewer of SARIF alone
never sees green where the exit code is not 0. A claim is a rule. The fingerprint is made of the
claim's name and subject only: it survives new runs, other counterexamples and moved lines.
Standard: https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/sarif-v2.1.0-os.html
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from refute import __version__
from refute.claim import Claim, Verdict
from refute.record import ClaimResult, Coverage, Run, SpecEvent
from refute.report.document import dumps
from refute.report.text import headline
from refute.report.trace import trace_lines
from refute.report.visible import visible

SCHEMA_URI = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
UNCOVERED = "refute/uncovered"
SPEC_CHANGE = "refute/spec-change"
CONTROL = "refute/control"
DECISION = "refute/decision"
_OWN_RULES = {
    UNCOVERED: "Every changed function is covered by a claim that a knock-out refutes.",
    SPEC_CHANGE: "A change of specs, controls or policy needs approval.",
    CONTROL: "Known-wrong variants and the canary are refuted.",
    DECISION: "The run establishes what it was asked.",
}


def sarif(run: Run, files: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The run as a SARIF log. files: claim digest → saved witness file."""
    results = _results(run, files or {})
    if run.exit_code and not results:
        results.append(_decision(run))
    rules = _rules(run)
    index = {rule["id"]: i for i, rule in enumerate(rules)}
    for result in results:
        result["ruleIndex"] = index[result["ruleId"]]
    return {
        "$schema": SCHEMA_URI,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {"name": "refute", "semanticVersion": __version__, "rules": rules}
                },
                "columnKind": "unicodeCodePoints",
                "invocations": [
                    {
                        "executionSuccessful": not run.interrupted,
                        "exitCode": run.exit_code,
                        "exitCodeDescription": headline(run),
                    }
                ],
                "originalUriBaseIds": {
                    "SRCROOT": {"description": {"text": "The top directory of the repository."}}
                },
                "results": results,
            }
        ],
    }


def sarif_text(run: Run, files: Mapping[str, str]) -> str:
    """The run as the text of a SARIF file."""
    return dumps(sarif(run, files))


def _rules(run: Run) -> list[dict[str, Any]]:
    rules: dict[str, dict[str, Any]] = {}
    for result in run.results:
        claim = result.claim
        rules.setdefault(claim.name, _rule(claim.name, claim.statement.text or claim.name))
    for name, words in _OWN_RULES.items():
        rules.setdefault(name, _rule(name, words))
    return list(rules.values())


def _rule(name: str, words: str) -> dict[str, Any]:
    return {"id": name, "shortDescription": {"text": visible(words) or name}}


def _results(run: Run, files: Mapping[str, str]) -> list[dict[str, Any]]:
    judged = [r for r in run.results if r.role != "unaffected"]
    found = [_claim_result(r, files) for r in judged if r.unmet or _refuted(r)]
    found += [_uncovered(c) for c in run.coverage if c.status not in ("covered", "exempt")]
    found += [_spec_change(e) for e in run.spec_events if e.kind != "added"]
    checks = [*run.controls, *([run.canary] if run.canary else [])]
    return found + [_control(c) for c in checks if not _refuted(c)]


def _refuted(result: ClaimResult) -> bool:
    return result.evidence.verdict is Verdict.REFUTED


def _claim_result(result: ClaimResult, files: Mapping[str, str]) -> dict[str, Any]:
    claim = result.claim
    level = "error" if _refuted(result) else "warning"
    if result.pre_existing:
        level = "note"
    made = _result(claim.name, level, _message(result), _fingerprint(claim))
    made["locations"] = [_location(claim.where.file, claim.where.line, claim.subject)]
    made["properties"] = {
        "verdict": result.evidence.verdict.value,
        "preExisting": result.pre_existing,
        "engine": result.evidence.engine,
        "witnessFile": files.get(claim.digest(), ""),
    }
    return made


def _message(result: ClaimResult) -> str:
    """The claim's sentence, then the counterexample or the reason."""
    claim, evidence = result.claim, result.evidence
    first = f"{evidence.verdict.value}: {visible(claim.statement.text or claim.name)}"
    if evidence.witness is not None and _refuted(result):
        return "\n".join([first, *trace_lines(evidence.witness.counterexample)])
    return f"{first}\n{visible(result.unmet or evidence.reason)}"


def _fingerprint(claim: Claim) -> str:
    return hashlib.sha256(f"{claim.name}\0{claim.subject}".encode()).hexdigest()


def _result(rule: str, level: str, message: str, fingerprint: str) -> dict[str, Any]:
    return {
        "ruleId": rule,
        "kind": "fail",
        "level": level,
        "message": {"text": message},
        "partialFingerprints": {"refuteClaim/v1": fingerprint},
    }


def _location(file: str, line: int, subject: str = "") -> dict[str, Any]:
    made: dict[str, Any] = {
        "physicalLocation": {
            "artifactLocation": {"uri": quote(file.encode("utf-8", "surrogateescape"))},
            "region": {"startLine": max(1, line)},
        }
    }
    if not file.startswith("/"):
        made["physicalLocation"]["artifactLocation"]["uriBaseId"] = "SRCROOT"
    if subject:
        made["logicalLocations"] = [{"fullyQualifiedName": subject}]
    return made


def _uncovered(unit: Coverage) -> dict[str, Any]:
    words = f"{unit.status}: {unit.unit}" + (f": {unit.detail}" if unit.detail else "")
    made = _result(UNCOVERED, "error", visible(words), _digest(UNCOVERED, unit.file, unit.unit))
    made["locations"] = [_location(unit.file, unit.line, unit.unit)]
    return made


def _spec_change(event: SpecEvent) -> dict[str, Any]:
    words = f"{event.kind}: {event.thing}" + (f": {event.detail}" if event.detail else "")
    made = _result(SPEC_CHANGE, "error", visible(words), _digest(SPEC_CHANGE, event.thing))
    if event.file:
        made["locations"] = [_location(event.file, event.line)]
    return made


def _control(result: ClaimResult) -> dict[str, Any]:
    name = result.control or result.claim.name
    words = f"not refuted: {name}: {result.evidence.reason or result.evidence.verdict.value}"
    made = _result(CONTROL, "error", visible(words), _digest(CONTROL, result.claim.name, name))
    made["locations"] = [_location(result.claim.where.file, result.claim.where.line)]
    return made


def _decision(run: Run) -> dict[str, Any]:
    words = "; ".join([headline(run), *run.reasons])
    return _result(DECISION, "error", visible(words), _digest(DECISION, run.decision))


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()
