"""Proofs once more, by a fresh process, before they are believed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from refute.plain import Plain
from refute.specs.machine.statement import WELL_DEFINED
from refute.verifiers.symbolic.errands import Errand, Report

SHARE = 0.8  # of the wall clock that is left
LEAST_S = 1.0  # below which it is not begun


def recheck(
    data: Plain, found: Mapping[str, Plain], lemmas: Sequence[Plain], errand: Errand
) -> Report:
    """What a fresh process says of proofs; empty where none would count, or no time is left.

    found: proofs by name, as the report of a job has them. lemmas: invariants besides the
    machine's, packed. The report has "props", the names; "unsaid", what else was proved, with the
    reason; and "said", why it does not agree at all.
    """
    if WELL_DEFINED not in found or errand.interrupted or errand.clock.left < LEAST_S:
        return {}
    wall_s = errand.clock.left * SHARE
    order = {
        "job": "recheck",
        "props": list(found),
        "lemmas": list(lemmas),
        "k": max((int(p["k"]) for p in found.values() if "k" in p), default=1),
        "ended": next((p["ended"] for p in found.values() if "ended" in p), None),
        "query_s": wall_s,
        "wall_s": wall_s,
    }
    said = errand.run(data, order)
    return {**said, "props": [name for name in found if name not in said.get("unsaid", {})]}
