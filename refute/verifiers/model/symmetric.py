"""What a search up to permutations can say, and what it leaves open.

Which permutations there are is found out by `specs.machine.symmetry`.
"""

from __future__ import annotations

from collections.abc import Mapping

from refute.errors import Unsupported
from refute.plain import Plain
from refute.specs.machine.ir import MachineIR
from refute.specs.machine.statement import WELL_DEFINED
from refute.specs.machine.symmetry import Symmetry, refused, symmetry_of
from refute.verifiers.model.choice import Choice


def chosen_symmetry(ir: MachineIR, choice: Choice) -> Symmetry | None:
    """The symmetry to search by; None when none was asked for.

    Raises Unsupported when no Sort of the machine can be permuted.
    """
    if not choice.symmetry:
        return None
    found = symmetry_of(ir)
    why = refused(found)
    if why:
        raise Unsupported(
            f"--symmetry: no permutation leaves {ir.name} as it is: {why}; check it without "
            "--symmetry",
            thing=ir.name,
        )
    return found


def left_open(ir: MachineIR, symmetry: Symmetry | None) -> dict[str, str]:
    """The properties that a search up to permutations does not decide, and why."""
    if symmetry is None:
        return {}
    found = {t.name: _of_behaviours("temporal property", t.name) for t in ir.temporals}
    found |= {r.name: _of_behaviours("refinement", r.name) for r in ir.refinements}
    if symmetry.lazy:
        why = (
            "up to permutations it stays open whether something raises: an any or all ends early "
            f"in an order that permutations change ({'; '.join(symmetry.lazy)}); check it without "
            "--symmetry"
        )
        found |= dict.fromkeys((WELL_DEFINED, *symmetry.unsure), why)
    return found


def _of_behaviours(what: str, name: str) -> str:
    return (
        f"a {what} is not decided up to permutations, as a cycle of orbits need not be one of "
        f"states: check {name} by itself, without --symmetry"
    )


def searched_states(report: Mapping[str, Plain]) -> str:
    """How many states a search saw, in words; orbits if it saw one of each."""
    if "whole" in report:
        return f"{report.get('distinct', 0)} orbits of {report['whole']} states"
    return f"{report.get('distinct', 0)} distinct states"
