"""A run as one JSON document, described by `run.schema.json` and docs/json.md.

The schema's name carries its version. Adding a key keeps the version; renaming, removing or giving
a key another meaning raises it. Seeds are strings of digits, because a 63-bit number does not
survive readers that keep every number in a double.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from refute import __version__, plain
from refute.evidence import Cost, Evidence
from refute.record import ClaimResult, Run

SCHEMA = "refute.run/1"


def document(run: Run, files: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The run as JSON data. files: claim digest → the witness file it was saved to."""
    saved = files or {}
    return {
        "schema": SCHEMA,
        "refute": __version__,
        "command": run.command,
        "decision": run.decision,
        "exit_code": run.exit_code,
        "reasons": list(run.reasons),
        "mode": run.mode,
        "mode_reason": run.mode_reason,
        "base": run.base,
        "head": run.head,
        "changed": list(run.changed),
        "results": [_result(r, saved) for r in run.results],
        "controls": [_result(r, {}) for r in run.controls],
        "canary": None if run.canary is None else _result(run.canary, {}),
        "coverage": [
            {
                "unit": c.unit,
                "file": c.file,
                "line": c.line,
                "status": c.status,
                "by": list(c.by),
                "detail": c.detail,
            }
            for c in run.coverage
        ],
        "spec_events": [
            {"kind": e.kind, "thing": e.thing, "detail": e.detail, "file": e.file, "line": e.line}
            for e in run.spec_events
        ],
        "not_done": list(run.not_done),
        "interrupted": run.interrupted,
        "seed": str(run.seed),
        "cost": _cost(run.cost),
        "environment": dict(run.environment),
    }


def json_text(run: Run, files: Mapping[str, str]) -> str:
    """The run as the text of a JSON file."""
    return dumps(document(run, files))


def dumps(data: Mapping[str, Any]) -> str:
    """The document as ASCII text that ends with a line end; equal runs give equal text."""
    return json.dumps(data, indent=2, allow_nan=False) + "\n"


@functools.cache
def schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) that every document follows."""
    text = Path(__file__).with_name("run.schema.json").read_text("utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def _result(result: ClaimResult, files: Mapping[str, str]) -> dict[str, Any]:
    return {
        "claim": result.claim.to_json(),
        "role": result.role,
        "verdict": result.evidence.verdict.value,
        "unmet": result.unmet,
        "pre_existing": result.pre_existing,
        "control": result.control,
        "declined": dict(result.declined),
        "evidence": evidence_document(result.evidence),
        "witness_file": files.get(result.claim.digest(), ""),
    }


def evidence_document(evidence: Evidence) -> dict[str, Any]:
    """One claim's evidence as JSON data, its parts included."""
    exhaustion = evidence.exhaustion
    return {
        "verdict": evidence.verdict.value,
        "engine": evidence.engine,
        "version": evidence.version,
        "existential": evidence.existential,
        "reason": evidence.reason,
        "scope": {
            "text": evidence.scope.text,
            "bounds": _plain(dict(evidence.scope.bounds)),
            "depths": dict(evidence.scope.depths),
        },
        "tried": evidence.tried,
        "discarded": evidence.discarded,
        "distribution": evidence.distribution,
        "witness": None if evidence.witness is None else evidence.witness.to_json(),
        "exhaustion": exhaustion
        and {
            "engine": exhaustion.engine,
            "confirmed_by": exhaustion.confirmed_by,
            "cases": exhaustion.cases,
        },
        "assumptions": list(evidence.assumptions),
        "isolation": evidence.isolation,
        "seed": str(evidence.seed),
        "cost": _cost(evidence.cost),
        "inputs": dict(evidence.inputs),
        "disputes": list(evidence.disputes),
        "statistics": _plain(dict(evidence.statistics)),
        "from_ledger": evidence.from_ledger,
        "parts": [evidence_document(part) for part in evidence.parts],
    }


def _plain(value: plain.Plain) -> Any:
    return plain.encode(value, opaque=True)


def _cost(cost: Cost) -> dict[str, float]:
    return {"cpu_s": round(cost.cpu_s, 6), "wall_s": round(cost.wall_s, 6)}
