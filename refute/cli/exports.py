"""`refute replay --itf` and `--diagram`: a machine's trace for other tools and for people."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

from refute.budget import Budget
from refute.cli.places import write_document
from refute.errors import UnreadableInput, UsageError
from refute.report.diagram import diagram_text
from refute.report.itf import itf_text
from refute.report.witness_file import WitnessFile
from refute.sandbox import Limits
from refute.site import Site
from refute.specs.machine.asking import described
from refute.specs.machine.statement import WELL_DEFINED
from refute.verifiers.model.playing import of_case
from refute.verifiers.model.second import open_blank

EXPORTED = "refute.verifiers.model.exporting:exported"


def write_itf(file: WitnessFile, tree: Path, target: str, people: TextIO) -> None:
    """Write the trace's states to a file, or "-" for stdout. Raises UsageError, UnreadableInput.

    The states are those that the machine in `tree` passes; a trace it does not have is refused.
    people: where to say that it was written.
    """
    case = _trace(file, "--itf")
    limits = Limits.from_budget(Budget())
    claim = of_case(file.claim, file.case.inputs)
    ir = described(claim, Site(tree, tree, file.roots), limits)
    with open_blank(limits) as worker:
        told = worker.call(EXPORTED, ir.to_plain(), case)
    missing = len(case["steps"]) + 1 - len(told.value["states"]) if told.kind == "returned" else 0
    if told.kind != "returned" or missing > (case["property"] == WELL_DEFINED):
        raise UnreadableInput(
            f"{file.claim.subject} does not take this trace now",
            thing="witness file",
            value=file.claim.name,
            next_step="check the machine again; it saves the traces of today",
        )
    _write(target, itf_text(file.claim.name, file.case, case, told.value), "--itf", people)


def write_diagram(file: WitnessFile, target: str, people: TextIO) -> None:
    """Write the trace as a Mermaid sequence diagram to a file, or "-" for stdout.

    people: where to say that it was written. Raises UsageError, UnreadableInput.
    """
    case = _trace(file, "--diagram")
    machine = file.claim.subject.rpartition(":")[2]
    _write(target, diagram_text(machine, file.case, case), "--diagram", people)


def _trace(file: WitnessFile, option: str) -> Mapping[str, Any]:
    """The trace that the counterexample's lines tell: the longest."""
    inputs = file.case.inputs
    if file.claim.statement.kind != "machine" or type(inputs) is not dict or not file.case.steps:
        raise UsageError(
            f"{option} is for traces of machines, and this is none",
            thing=option,
            value=file.claim.name,
            next_step=f"drop {option}; --to-test writes any case as a test",
        )
    cases: list[Mapping[str, Any]] = inputs.get("cases", [])
    if not cases:
        raise UnreadableInput("the witness file holds no trace", thing="witness file")
    return max(cases, key=lambda case: len(case["steps"]))


def _write(target: str, words: str, option: str, people: TextIO) -> None:
    write_document(option, target, words)
    if target != "-":
        print(f"wrote {target}", file=people)
