"""Inside: what the prover does in its worker, from source texts to plain data.

1. The function is executed symbolically; every way to break its contract is an obligation.
2. Each obligation is discharged by a query of its own. Contracts of functions that it calls are
   proved in the same way, or else listed as assumptions.
3. If all are, two questions remain that a proof could hide behind: can the requirements be met at
   all, and can the function return under everything that was assumed?
4. If some are not, inputs are searched by bounded execution. Whether they break the contract is
   for others to find out; without such inputs an open obligation stays open.
"""

from __future__ import annotations

import ast
import dataclasses
import itertools
import time
from collections.abc import Iterator, Mapping

import z3

from refute.errors import RefuteError
from refute.plain import Plain
from refute.specs.contract_source import contract_in, function_in
from refute.verifiers.contracts.context import TooLarge
from refute.verifiers.contracts.program import Found, Program
from refute.verifiers.contracts.run import UNSUPPORTED, Mode, Obligation, Refused
from refute.verifiers.contracts.solving import Answer, discharge, satisfiable
from refute.verifiers.contracts.verification import Task, Verified, verify
from refute.verifiers.contracts.witnesses import inputs, search

PROVING = 0.5  # share of the time for the obligations, the rest is for witnesses and callees
ONE = 0.4  # share of the time that one obligation may take
MOST_CASES = 6


@dataclasses.dataclass
class Proof:
    """What became of one task. open: (obligation, answer) of those that were not discharged."""

    task: Task
    verified: Verified | None = None
    reason: str = ""
    answers: list[tuple[Obligation, Answer]] = dataclasses.field(default_factory=list)

    @property
    def open(self) -> list[tuple[Obligation, Answer]]:
        """The obligations that were not discharged, with the answers."""
        return [(o, a) for o, a in self.answers if a.status != "proved"]

    @property
    def proved(self) -> bool:
        """Whether every obligation was discharged."""
        return not self.reason and not self.open


def prove(order: Mapping[str, Plain]) -> dict[str, Plain]:
    """Try to prove that a function meets its contract, for all inputs.

    order: `subject` ("module:function"), `raises`, `wall_s`, and for both trees `sources`, a dict
    of module name → [path, text]: `subject_sources` and `spec_sources`.
    """
    return _Prover(order).answer()


class _Prover:
    def __init__(self, order: Mapping[str, Plain]) -> None:
        self.started = time.monotonic()
        self.wall_s: float = order["wall_s"]
        self.program = _program(order["subject_sources"])
        self.specs = _program(order["spec_sources"])
        self.subject: str = order["subject"]
        self.raises: tuple[str, ...] = tuple(order["raises"])
        self.assumptions: dict[str, None] = {}
        self.solver_s = 0.0

    def left(self, share: float = 1.0) -> float:
        """Seconds until that share of the time is spent."""
        return max(0.0, self.started + self.wall_s * share - time.monotonic())

    def answer(self) -> dict[str, Plain]:
        """The answer as plain data."""
        try:
            task = self._task()
        except (RefuteError, Refused) as error:
            return self._said("unknown", str(error))
        proof = self._prove(task, PROVING)
        if proof.proved and task.renamed:  # callers may name the arguments as the contract does
            proof = self._prove(dataclasses.replace(task, by_name=True), PROVING)
        cases: list[Plain] = []
        if not proof.proved:
            cases = list(self._cases(proof))
            return self._said("unknown", proof.reason or _told(proof), proof, cases)
        assert proof.verified is not None
        self.assumptions |= proof.verified.run.sinks.assumptions
        broken = self._callees(proof)
        if broken:
            return self._said("unknown", broken, proof, list(self._cases(proof)))
        empty = self._vacuous(proof)
        return self._said("unknown" if empty else "proved", empty, proof, cases)

    def _task(self) -> Task:
        module, _, qualname = self.subject.partition(":")
        held, spec = self.program.module(module), self.specs.module(module)
        if held is None or spec is None:
            raise Refused(f"the module {module}, which cannot be read,", module)
        contract = contract_in(spec.tree, spec.path, qualname)
        function = function_in(held.tree, held.path, qualname)
        found = self.program.lookup(held, qualname)
        if found.node is not function:
            place = f"{held.path}:{function.lineno}"
            raise Refused(f"{qualname}, a name with more than one meaning,", place)
        foreign = contract_in(held.tree, held.path, qualname).decorators
        if foreign:
            place = f"{held.path}:{foreign[0].lineno}"
            raise Refused(f"the decorator {ast.unparse(foreign[0])[:60]}", place)
        return Task(found, contract, spec, (*contract.raises, *self.raises))

    def _prove(self, task: Task, share: float) -> Proof:
        proof = Proof(task)
        try:
            deadline = time.monotonic() + self.left(0.85)
            proof.verified = verify(self.program, task, Mode(deadline=deadline))
        except (Refused, TooLarge) as error:
            proof.reason = str(error)
            return proof
        except RecursionError:
            proof.reason = f"{task.name} is nested too deeply"
            return proof
        for obligation in proof.verified.run.sinks.obligations:
            limit = min(self.left(share), self.wall_s * ONE)
            answer = Answer("open", reason="the budget ended")
            if limit > 0:
                answer = discharge(proof.verified.run, obligation, limit)
            self.solver_s += answer.seconds
            proof.answers.append((obligation, answer))
            if answer.status != "proved" and obligation.kind != UNSUPPORTED:
                break  # time for a counterexample; the rest cannot save the proof
        return proof

    def _cases(self, proof: Proof) -> Iterator[Plain]:
        """Inputs to be tried: of bounded execution, and of the models of open obligations."""
        deadline = time.monotonic() + self.left(0.9)
        if proof.verified is None:
            return
        found = search(self.program, proof.task, deadline)
        yield from itertools.islice(found, MOST_CASES)
        for _, answer in proof.open:
            if answer.model is not None:
                yield from inputs(proof.verified, answer.model)

    def _callees(self, proof: Proof) -> str:
        """Prove the contracts that the proof used; which of them seems not to hold, if any does.

        One that could not be looked at is an assumption.
        """
        assert proof.verified is not None
        seen = {proof.task.name}
        calls: dict[str, list[str]] = {proof.task.name: list(proof.verified.run.sinks.callees)}
        todo = list(calls[proof.task.name])
        while todo:
            name = todo.pop(0)
            if name in seen:
                continue
            seen.add(name)
            found = self._found(name)
            other = self._callee(found)
            if other.proved and other.verified is not None:
                self.assumptions |= other.verified.run.sinks.assumptions
                calls[name] = list(other.verified.run.sinks.callees)
                todo += calls[name]
            else:
                why = other.reason or _told(other)
                if not other.reason and other.open[0][0].kind != UNSUPPORTED:
                    return f"it calls {name}, of whose contract is {why}"
                place = f"{other.task.contract.path}:{other.task.contract.line}"
                said = f"the contract of {name} ({place}), which was not proved here: {why}"
                self.assumptions[said] = None
        for name in _mutual(calls):
            self.assumptions[f"termination of the mutual recursion of {name}"] = None
        return ""

    def _found(self, name: str) -> Found:
        module, _, qualname = name.partition(":")
        held = self.program.module(module)
        assert held is not None
        return self.program.lookup(held, qualname)

    def _callee(self, found: Found) -> Proof:
        contract = self.program.contract(found)
        assert contract is not None and found.module is not None
        task = Task(found, contract, found.module, contract.raises)
        if self.left() < 0.05 * self.wall_s:
            return Proof(task, reason="the budget ended")
        return self._prove(task, 0.95)

    def _vacuous(self, proof: Proof) -> str:
        """Why the proof says nothing; empty when it does say something."""
        verified = proof.verified
        assert verified is not None
        limit = max(0.2, min(2.0, self.left()))
        if satisfiable(verified.run, verified.entry, limit) == z3.unsat:
            return "vacuous: no input satisfies what the contract requires"
        ends = [*verified.returns, *verified.raised]
        if all(satisfiable(verified.run, state, limit) == z3.unsat for state in ends):
            return "vacuous: under what the proof assumes, the function never returns"
        return ""

    def _said(
        self, status: str, reason: str, proof: Proof | None = None, cases: Plain = None
    ) -> dict[str, Plain]:
        answers = proof.answers if proof is not None else []
        verified = proof.verified if proof is not None else None
        return {
            "status": status,
            "reason": reason,
            "obligations": [
                [o.kind, o.text, o.place, a.status, round(a.seconds, 4)] for o, a in answers
            ],
            "assumptions": list(self.assumptions),
            "cases": cases or [],
            "returns": len(verified.returns) if verified is not None else 0,
            "ensures": len(proof.task.contract.ensures) if proof is not None else 0,
            "solver_s": round(self.solver_s, 4),
        }


def _program(sources: Mapping[str, Plain]) -> Program:
    return Program({name: (path, text) for name, (path, text) in sources.items()})


def _told(proof: Proof) -> str:
    """What was not proved, the unsupported first."""
    opened = proof.open
    obligation, answer = opened[0]
    if obligation.kind == UNSUPPORTED:
        return f"{obligation.text} is not supported, at {obligation.place}"
    assert proof.verified is not None
    loops = list(proof.verified.run.sinks.loops)
    if answer.status == "open":
        why = f" (the solver gave up: {answer.reason})"
    elif loops:
        why = f" (in a state that the invariants of the loop at {', '.join(loops[:3])} allow)"
    else:
        why = ""
    return f"not proved: {_named(obligation)}{why}"


def _named(obligation: Obligation) -> str:
    names = {"invariant": "the loop invariant ", "decreases": "the measure falls: "}
    return f"{names.get(obligation.kind, '')}{obligation.text} at {obligation.place}"


def _mutual(calls: Mapping[str, list[str]]) -> list[str]:
    """Functions that reach themselves through another one."""
    found = []
    for name in calls:
        seen: set[str] = set()
        todo = [c for c in calls[name] if c != name]
        while todo:
            other = todo.pop()
            if other not in seen:
                seen.add(other)
                todo += calls.get(other, [])
        if name in seen:
            found.append(name)
    return found
