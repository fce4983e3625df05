"""What a claim about a machine says, in words, and whether it says anything."""

from __future__ import annotations

from refute.specs.machine.ir import UNIVERSAL, MachineIR
from refute.specs.machine.statement import ALL, ALL_FIRE, DEADLOCK_FREE, WELL_DEFINED


def expected(prop: str) -> str:
    """What a trace that breaks the property should have shown instead."""
    known = {
        DEADLOCK_FREE: "a step is enabled, or the machine may stop here",
        WELL_DEFINED: "every step and predicate has a value within its type",
    }
    return known.get(prop, f"{prop} is True")


def misstated(prop: str, existential: bool, ir: MachineIR) -> str:
    """Why a claim names no property of the machine in this way; empty when it does."""
    universal = [p.name for k in UNIVERSAL for p in ir.of_kind(k)]
    universal += [t.name for t in ir.temporals] + [r.name for r in ir.refinements]
    shown = [p.name for p in ir.of_kind("reachable")] + [ALL_FIRE]
    if prop in ([*shown] if existential else [*universal, DEADLOCK_FREE, WELL_DEFINED, ALL]):
        return ""
    if existential and prop in universal:
        return f"{prop} must always hold: state it with Satisfies"
    if not existential and prop in shown:
        return f"{prop} is @reachable: state it with Reaches"
    possible = ", ".join(universal + shown)
    return f"{ir.name} has no property {prop!r}; possible: {possible}"


def walks_taken(depth: int) -> str:
    """How random walks are distributed."""
    return (
        f"random walks of at most {depth} steps from a random start; of the steps that change "
        "something each is as likely as the others"
    )


def undecided(prop: str, ir: MachineIR, walks: bool, stopped: str) -> str:
    """Why a search that was stopped, or walks, do not decide a property."""
    if walks and prop in {t.name for t in ir.temporals} | {r.name for r in ir.refinements}:
        return f"random walks do not judge what happens for ever, nor refinement: search for {prop}"
    return stopped
