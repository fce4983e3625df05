"""Player of sequences: the subject's object in one worker, the reference's in another.

Many sequences travel in one request, and both workers answer without knowing of each other; the
parent compares answer by answer. A single sequence, which is what a replay plays, goes to the plain
subject step by step, so that what a person is shown was seen without the harness beside the
subject, and the step that ends a process is known.

A subject may refuse an operation where the statement allows it (a full disk). The reference then
leaves the operation out, since it must have done nothing; what is observed later shows whether so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from refute import plain
from refute.budget import Budget
from refute.claim import Claim, is_command
from refute.errors import NotPlainData
from refute.plain import Plain, Record
from refute.replay import Step
from refute.sandbox import Outcome
from refute.site import Site
from refute.specs.reference import ORACLES
from refute.verifiers.pair import (
    WorkerPair,
    as_data,
    not_judgeable,
    opaque_type,
    read_answer,
    says,
    shown,
)
from refute.verifiers.playing import Judgement

PLAY = "refute.specs.sequences:play"
COMMAND_OBJECT = "subject"  # what a command is asked to create

Answer = tuple[Outcome, frozenset[int]]


class SequencePlayer(WorkerPair):
    """Plays `AgreesWith`."""

    def __init__(self, claim: Claim, site: Site, budget: Budget, hash_seed: int = 0) -> None:
        super().__init__(claim, site, budget, hash_seed)
        self.reference: str = self.params["reference"]
        self.setup: list[Plain] = self.params["setup"]
        self.observe: list[Plain] = self.params["observe"]
        self.refusals = frozenset(self.params["may_refuse"])
        self.close_reference = "close" if self.reference in ORACLES.values() else ""

    def play(self, cases: Sequence[Plain]) -> list[Judgement]:
        """Judgements of the cases, in order; see `Player`."""
        whole = [[*self.setup, *case, *self.observe] for case in cases]
        lefts = self._subject_answers(whole)
        jobs = [(ops, self._refused(left)) for ops, left in zip(whole, lefts, strict=False)]
        rights = self._reference_answers(jobs)
        if isinstance(rights, str):
            return [Judgement("unfit", observed=rights)]
        judged: list[Judgement] = []
        for operations, left, right in zip(whole, lefts, rights, strict=False):
            judged.append(self._judge(operations, left, right))
            if judged[-1].status in ("broken", "unfit"):
                break
        return judged

    def _subject_answers(self, whole: Sequence[list[Plain]]) -> list[list[Outcome]]:
        """The subject's outcomes; of all sequences, or of those before and with a lost worker."""
        if len(whole) > 1 and not is_command(self.claim.subject):
            jobs = [(operations, ()) for operations in whole]
            outcome = self.subject.call(
                PLAY, self.claim.subject, self.params["device"], "", jobs, timeout_s=self.call_s
            )
            answers = _read(outcome, whole)
            if answers is not None:
                return [[given for given, _ in row] for row in answers]
        found: list[list[Outcome]] = []
        for operations in whole:
            found.append(self._step_by_step(operations))
            if found[-1][-1].kind not in ("returned", "raised"):
                break
        return found

    def _step_by_step(self, operations: Sequence[Plain]) -> list[Outcome]:
        """The outcome of each operation on a new object; ends early when the object is lost.

        The last outcome of an object that could not be made has `loaded` False.
        """
        worker, device = self.subject, self.params["device"]
        target = COMMAND_OBJECT if is_command(self.claim.subject) else self.claim.subject
        if device is None:
            made = worker.create(target, timeout_s=self.call_s)
        else:
            fresh = "refute.specs.sequences:fresh"
            made = worker.create(fresh, target, device, timeout_s=self.call_s)
        if made.kind != "returned":
            return [made]
        outcomes: list[Outcome] = []
        for name, *args in operations:
            outcomes.append(worker.invoke(made.value, name, *args, timeout_s=self.call_s))
            if outcomes[-1].kind not in ("returned", "raised"):
                break
        return outcomes

    def _reference_answers(
        self, jobs: Sequence[tuple[list[Plain], list[int]]]
    ) -> list[list[Answer]] | str:
        """The reference's answers, or why there are none."""
        outcome = self.spec.call(
            PLAY, self.reference, None, self.close_reference, list(jobs), timeout_s=self.wall_s
        )
        answers = _read(outcome, [operations for operations, _ in jobs])
        return f"{self.reference} {says(outcome)}" if answers is None else answers

    def _refused(self, outcomes: Sequence[Outcome]) -> list[int]:
        return [i for i, out in enumerate(outcomes) if self._is_refusal(out)]

    def _is_refusal(self, outcome: Outcome) -> bool:
        return outcome.kind == "raised" and outcome.errno in self.refusals

    def _judge(
        self, operations: Sequence[Plain], left: Sequence[Outcome], right: Sequence[Answer]
    ) -> Judgement:
        steps: list[Step] = []
        for index, operation in enumerate(operations):
            given = left[index] if index < len(left) else left[-1]
            wanted, also = right[index]
            made = len(left) == len(operations) or index < len(left)
            if self._is_refusal(given) or (made and self._same(operation, given, wanted, also)):
                steps.append(Step(f"{_text(operation)} {says(given)}"))
                continue
            return self._difference(operation, given, wanted, steps, left)
        return Judgement("held", asked=len(operations))

    def _difference(
        self,
        operation: Plain,
        given: Outcome,
        wanted: Outcome,
        steps: Sequence[Step],
        left: Sequence[Outcome],
    ) -> Judgement:
        unfit = not_judgeable(f"{self.claim.subject}: {_text(operation)}", given)
        kind = opaque_type(wanted.value)
        if kind:
            unfit = f"{self.reference} returned a value of type {kind}, which is not plain data"
        if unfit:
            return Judgement("unfit", observed=unfit, asked=len(steps) + 1)
        observed, expected = f"the subject {says(given)}", f"the reference {says(wanted)}"
        last = Step(_text(operation), {"subject": says(given), "reference": says(wanted)})
        return Judgement(
            "broken",
            observed=f"{_text(operation)}: {observed}",
            expected=expected,
            output=[as_data(out) for out in left],
            steps=(*steps, last),
            asked=len(steps) + 1,
            slow=given.kind == "timeout",
        )

    def _same(
        self, operation: Plain, given: Outcome, wanted: Outcome, also: frozenset[int]
    ) -> bool:
        if given.kind != wanted.kind:
            return False
        if given.kind == "raised":
            return self._same_error(given, wanted, also)
        name = operation[0]
        values = [self._normal(name, out.value) for out in (given, wanted)]
        return plain.same(*values)

    def _same_error(self, given: Outcome, wanted: Outcome, also: frozenset[int]) -> bool:
        if given.errno is not None and wanted.errno is not None:
            right_number = given.errno == wanted.errno or given.errno in also
            exact = self.params["errors"] == "exact"
            return right_number and (not exact or given.error == wanted.error)
        return given.errno == wanted.errno and given.error == wanted.error

    def _normal(self, name: str, value: Plain) -> Plain:
        """The value without what the statement declares to be irrelevant."""
        ignored = self.params["ignore"].get(name, ())
        if ignored and isinstance(value, dict):
            value = {k: v for k, v in value.items() if not _may_differ(k, value, ignored)}
        if ignored and isinstance(value, Record):
            fields = dict(value.fields)
            kept = [(k, v) for k, v in value.fields if not _may_differ(k, fields, ignored)]
            value = Record(value.type_name, tuple(kept))
        if name in self.params["unordered"] and isinstance(value, list):
            value = sorted(value, key=plain.digest_any)
        return value


def _may_differ(field: Plain, fields: Mapping[Plain, Plain], ignored: Sequence[Plain]) -> bool:
    return any(
        field == name and all(plain.same(fields.get(k), v) for k, v in condition.items())
        for name, condition in ignored
    )


def _text(operation: Plain) -> str:
    name, *args = operation
    return f"{name}({', '.join(map(shown, args))})"


def _read(outcome: Outcome, whole: Sequence[Sequence[Plain]]) -> list[list[Answer]] | None:
    """The answers that `refute.specs.sequences.play` wrote; None when they are not in order."""
    rows = outcome.value
    if outcome.kind != "returned" or type(rows) is not list or len(rows) != len(whole):
        return None
    if any(
        type(row) is not list or len(row) != len(ops) for row, ops in zip(rows, whole, strict=True)
    ):
        return None
    try:
        return [[_answer(text) for text in row] for row in rows]
    except NotPlainData:
        return None


def _answer(text: Plain) -> Answer:
    return (Outcome("returned"), frozenset()) if text == "" else read_answer(text)
