"""What can be claimed of a machine, as statements and claims.

Every property of a machine is a claim of its own; all of one machine share one search. The subject
is the machine's own module, which is also the code that judges.
"""

from __future__ import annotations

from collections.abc import Mapping

from refute.claim import Claim, Need, Statement, Verdict, Where
from refute.errors import IllegalClaim
from refute.specs.machine.ir import UNIVERSAL, MachineIR
from refute.specs.machine.types import ANY

DEADLOCK_FREE = "deadlock-free"
WELL_DEFINED = "well_defined"
ALL_FIRE = "every-step-fires"
ALL = ""

_IMPLICIT = {
    DEADLOCK_FREE: "some step is enabled wherever the machine may not stop",
    WELL_DEFINED: "no step or predicate raises or leaves a type's range",
    ALL_FIRE: "every action and process can take a step",
}


def Satisfies(
    subject: str, prop: str = ALL, constants: Mapping[str, int | str] | None = None
) -> Statement:
    """The machine `module:Class`, with these constants, satisfies a property that always holds.

    prop: an @invariant, @transition, @temporal or @refines, "deadlock-free" or "well_defined";
    without it, everything the machine states. constants: the size of a Sort may be "any". For
    @reachable use `Reaches`. Raises IllegalClaim.
    """
    if prop == ALL_FIRE:
        raise IllegalClaim(f"{ALL_FIRE} says what can happen", next_step="use Reaches(…)")
    what = _IMPLICIT.get(prop, f"{prop} holds" if prop else "everything it states holds")
    return _statement(subject, prop, constants, what, existential=False)


def Reaches(subject: str, prop: str, constants: Mapping[str, int | str] | None = None) -> Statement:
    """The machine can reach a state where its @reachable `prop` holds ("every-step-fires" too)."""
    what = _IMPLICIT.get(prop, f"a state with {prop} is reachable")
    return _statement(subject, prop, constants, what, existential=True)


def _statement(
    subject: str, prop: str, constants: Mapping[str, int | str] | None, what: str, existential: bool
) -> Statement:
    sizes = dict(constants or {})
    if not all(type(v) is int or v == ANY for v in sizes.values()):
        raise IllegalClaim(
            f"constants must be numbers, or {ANY!r}, got {sizes!r}", thing="constants", value=sizes
        )
    return Statement(
        kind="machine",
        text=f"{shown(subject.rpartition(':')[2], sizes)}: {what}",
        subject=subject,
        params={"prop": prop, "constants": dict(sorted(sizes.items()))},
        spec=(subject,),
        existential=existential,
    )


def shown(name: str, constants: Mapping[str, int | str]) -> str:
    """`TwoPhase(RM=3)`."""
    inside = ", ".join(f"{k}={v}" for k, v in sorted(constants.items()))
    return f"{name}({inside})" if inside else name


def claims_of(ir: MachineIR, reference: str, file: str) -> tuple[Claim, ...]:
    """One claim per property of the machine; each needs a complete search with its constants.

    With Sorts of any size there is none: what always holds needs a proof. So does an invariant that
    is marked as inductive.
    reference: `module:qualname`. file: the module's path, relative to its tree.
    """
    constants = dict(ir.constants)
    name = shown(ir.name, constants)
    universal = [(p.name, p.line) for k in UNIVERSAL for p in ir.of_kind(k)]
    universal += [(p.name, p.line) for p in ir.temporals]
    universal += [(p.name, p.line) for p in ir.refinements]
    universal += [(DEADLOCK_FREE, ir.line), (WELL_DEFINED, ir.line)]
    existential = [(p.name, p.line) for p in ir.of_kind("reachable")] + [(ALL_FIRE, ir.line)]
    made = [(n, line, Satisfies(reference, n, constants)) for n, line in universal]
    made += [(n, line, Reaches(reference, n, constants)) for n, line in existential]
    bounds = tuple(sorted(constants.items()))
    shown_by = Need(Verdict.EXHAUSTED, bounds)
    proof = Need(Verdict.PROVED, bounds)
    marked = {p.name for p in ir.properties if p.inductive}

    def need(prop: str, statement: Statement) -> Need:
        proved = ANY in constants.values() or prop in marked
        return proof if proved and not statement.existential else shown_by

    return tuple(
        Claim(f"{name}.{prop}", statement, Where(file, line), (file,), need(prop, statement))
        for prop, line, statement in made
    )
