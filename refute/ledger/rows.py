"""Evidence as plain data, and back.

What comes back passes the same constructor as new evidence, so a row cannot say more than an engine
could. Witnesses do not come back at all: only their cases do, and those are replayed.
"""

from __future__ import annotations

import dataclasses

from refute import plain
from refute.claim import Verdict
from refute.evidence import Cost, Evidence, Exhaustion, Scope
from refute.plain import Plain
from refute.replay import Counterexample, Witness


def to_row(evidence: Evidence) -> Plain:
    """The evidence as plain data; its witness as the case to replay."""
    return {
        "claim": evidence.claim,
        "verdict": evidence.verdict.value,
        "engine": evidence.engine,
        "version": evidence.version,
        "existential": evidence.existential,
        "reason": evidence.reason,
        "scope": [evidence.scope.text, dict(evidence.scope.bounds), dict(evidence.scope.depths)],
        "tried": evidence.tried,
        "discarded": evidence.discarded,
        "distribution": evidence.distribution,
        "case": evidence.witness.counterexample.to_json() if evidence.witness else None,
        "exhaustion": dataclasses.astuple(evidence.exhaustion) if evidence.exhaustion else None,
        "assumptions": list(evidence.assumptions),
        "isolation": evidence.isolation,
        "seed": evidence.seed,
        "cost": [evidence.cost.cpu_s, evidence.cost.wall_s],
        "inputs": dict(evidence.inputs),
        "parts": [to_row(p) for p in evidence.parts],
        "statistics": plain.decode(plain.encode(dict(evidence.statistics), opaque=True)),
    }


def case_of(row: Plain) -> Counterexample | None:
    """The case that a row's witness was made from. Raises UnreadableInput."""
    return Counterexample.from_json(row["case"]) if row["case"] is not None else None


def from_row(row: Plain, witness: Witness | None) -> Evidence:
    """The evidence again, `from_ledger`. Raises IllegalEvidence, KeyError, TypeError, ValueError.

    witness: from a replay just made, for a row that has a case.
    """
    text, bounds, depths = row["scope"]
    parts = (
        [] if witness is not None else [from_row(p, None) for p in row["parts"] if not p["case"]]
    )
    return Evidence(
        claim=row["claim"],
        verdict=Verdict(row["verdict"]),
        engine=row["engine"],
        version=row["version"],
        existential=row["existential"],
        reason=row["reason"],
        scope=Scope(text, bounds, depths),
        tried=row["tried"],
        discarded=row["discarded"],
        distribution=row["distribution"],
        witness=witness,
        exhaustion=Exhaustion(*row["exhaustion"]) if row["exhaustion"] else None,
        assumptions=tuple(row["assumptions"]),
        isolation=row["isolation"],
        seed=row["seed"],
        cost=Cost(*row["cost"]),
        inputs=row["inputs"],
        parts=tuple(parts),
        statistics=row["statistics"],
        from_ledger=True,
    )
