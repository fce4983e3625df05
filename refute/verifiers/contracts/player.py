"""Plays cases of a contract: the function in its own worker, the contract's conditions in another.

Time, memory and stack are not what a contract is about, and a function that counts down from 2**64
is right. So a case that runs out of them is discarded, unless it is so small that only a loop or a
recursion without an end explains it: then the function does not return, and the contract is broken.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from refute import plain
from refute.budget import Budget
from refute.claim import Claim
from refute.errors import NotPlainData
from refute.plain import Plain, Record
from refute.replay import Step
from refute.sandbox import Outcome
from refute.site import Site
from refute.specs.contract_calls import SLOW
from refute.specs.contract_reading import Reading
from refute.verifiers.pair import (
    CALL_S,
    WorkerPair,
    as_data,
    not_judgeable,
    opaque_type,
    says,
    shown,
)
from refute.verifiers.playing import Judgement

CASE_CPU_S = 0.1  # of one among many cases
ENOUGH = 3  # cases given up, after which those of their size are not played any more
TINY = 24  # total size of inputs on which any function that returns does so within seconds
VIOLATION = "icontract.errors.ViolationError"
_EXHAUSTED = ("MemoryError", "RecursionError")
_TOO_LARGE = ("index-sized integer", "C ssize_t", "C long", "too many digits in integer")


@dataclasses.dataclass(frozen=True)
class Answer:
    """What one call gave. after: the arguments as it left them, by name, when it returned."""

    outcome: Outcome
    after: Plain = None
    by_name: bool = False


@dataclasses.dataclass
class Tally:
    """What the players of one run have met. returned: cases in which the function returned.

    given_up: sizes of the cases that ran out of time, memory or stack and were too large to tell
    why; skipped: how many were not played, because they are as large. player: the one at work.
    """

    returned: int = 0
    given_up: list[int] = dataclasses.field(default_factory=list)
    skipped: int = 0
    player: ContractPlayer | None = None

    @property
    def limit(self) -> int | None:
        """The size from which on cases are not played; None while there is no reason to skip.

        Less than what was given up, because a little less costs nearly as much.
        """
        if len(self.given_up) < ENOUGH:
            return None
        return max(TINY + 1, min(self.given_up) // 8)


class ContractPlayer(WorkerPair):
    """Plays cases `{parameter: value}`."""

    def __init__(
        self,
        claim: Claim,
        site: Site,
        budget: Budget,
        reading: Reading,
        hash_seed: int = 0,
        tally: Tally | None = None,
    ) -> None:
        super().__init__(claim, site, budget, hash_seed)
        self.reading = reading
        self.tally = tally or Tally()
        self.contract = plain.dumps(reading.data)
        self.name = claim.subject.rpartition(":")[2]
        self.keywords = frozenset(p.name for p in reading.contract.parameters if p.keyword_only)

    def __enter__(self) -> Self:
        self.tally.player = self
        return super().__enter__()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.tally.player = None
        super().__exit__(kind, error, trace)

    def play(self, cases: Sequence[Plain]) -> list[Judgement]:
        """Judgements of the cases, in order; see `Player`."""
        admitted = self._ask_spec("admit", list(cases))
        if isinstance(admitted, Judgement):
            return [admitted]
        admitted = [
            ("skipped", "") if status == "held" and self._is_too_large(case) else (status, why)
            for case, (status, why) in zip(cases, admitted, strict=True)
        ]
        kept = [case for case, (status, _) in zip(cases, admitted, strict=True) if status == "held"]
        judged = iter(self._called(kept))
        found: list[Judgement] = []
        for _, (status, why) in zip(cases, admitted, strict=True):
            if status == "held":
                judgement = next(judged, None)
                if judgement is None:
                    break
                found.append(judgement)
            elif status == "unfit":
                found.append(Judgement("unfit", observed=why))
            else:
                self.tally.skipped += status == "skipped"
                found.append(Judgement("discarded"))
            if found[-1].status in ("broken", "unfit"):
                break
        return found

    def _is_too_large(self, case: Plain) -> bool:
        limit = self.tally.limit
        return limit is not None and case_size(case) >= limit

    def _called(self, cases: Sequence[Plain]) -> list[Judgement]:
        """Judgements of cases that satisfy the requires; ends with the first that is broken."""
        if not cases:
            return []
        judged = self._judge(cases, self._ask(cases, by_name=False))
        if self.reading.by_name and all(j.status != "unfit" for j in judged):
            named = self._judge(cases[: len(judged)], self._ask(cases[: len(judged)], by_name=True))
            pairs = zip(judged, named, strict=False)
            judged = [by_name if by_name.status == "broken" else first for first, by_name in pairs]
        return judged

    def _ask(self, cases: Sequence[Plain], by_name: bool) -> list[Answer]:
        """The subject's answers; ends with the first that lost its worker."""
        rows = [self._row(case, by_name) for case in cases]
        outcome = self._call(rows, CASE_CPU_S)
        answers = self._read(outcome, cases, by_name)
        if len(answers) < len(cases):
            answers = []
        for case, row in zip(cases[len(answers) :], rows[len(answers) :], strict=True):
            outcome = self._call([row], CASE_CPU_S)
            answers += self._read(outcome, [case], by_name) or [Answer(outcome, by_name=by_name)]
            if answers[-1].outcome.kind not in ("returned", "raised"):
                break
        return self._patiently(cases, rows, answers)

    def _patiently(
        self, cases: Sequence[Plain], rows: Sequence[Plain], answers: Sequence[Answer]
    ) -> list[Answer]:
        """Tiny cases without an answer are asked once more, with all the time a call may take."""
        found: list[Answer] = []
        for case, row, answer in zip(cases, rows, answers, strict=False):
            if answer.outcome.kind == "timeout" and case_size(case) <= TINY:
                outcome = self._call([row], 0, CALL_S)
                read = self._read(outcome, [case], answer.by_name)
                answer = read[0] if read else Answer(outcome, by_name=answer.by_name)
            found.append(answer)
            if answer.outcome.kind == "died":
                break
        return found

    def _row(self, case: Plain, by_name: bool) -> Plain:
        names = () if by_name else [n for n in self.reading.parameters if n not in self.keywords]
        return [[case[n] for n in names], {n: v for n, v in case.items() if n not in names}]

    def _call(self, rows: Sequence[Plain], cpu_s: float, wall_s: float = 0.0) -> Outcome:
        return self.subject.call(
            "refute.specs.contract_calls:call_each",
            self.claim.subject,
            list(rows),
            cpu_s,
            timeout_s=max(self.call_s, wall_s),
        )

    def _read(self, outcome: Outcome, cases: Sequence[Plain], by_name: bool) -> list[Answer]:
        """The answers that a worker gave; empty when it gave anything else."""
        if outcome.kind != "returned" or type(outcome.value) is not list:
            return []
        try:
            rows = [plain.loads(text) for text in outcome.value]
            return [self._answer(row, case, by_name) for row, case in zip(rows, cases, strict=True)]
        except (NotPlainData, TypeError, ValueError):
            return []

    def _answer(self, row: Plain, case: Plain, by_name: bool) -> Answer:
        match row:
            case ["returned", value, list(args), dict(kwargs)]:
                names = [n for n in self.reading.parameters if n not in kwargs]
                after = {**dict(zip(names, args, strict=True)), **kwargs}
                if set(after) != set(case):
                    raise NotPlainData("not the arguments that were given")
                return Answer(Outcome("returned", value), after, by_name)
            case ["raised" | "unloaded" as kind, str(error), str(message), str(detail)]:
                told = " · ".join(message.splitlines())
                outcome = Outcome(
                    "raised", error=error, message=told, detail=detail, loaded=kind == "raised"
                )
                return Answer(outcome, by_name=by_name)
            case ["slow"]:
                return Answer(Outcome("timeout", detail=SLOW), by_name=by_name)
        raise NotPlainData("not an answer")

    def _judge(self, cases: Sequence[Plain], answers: Sequence[Answer]) -> list[Judgement]:
        first = [self._at_once(case, answer) for case, answer in zip(cases, answers, strict=False)]
        open_ones = [i for i, judgement in enumerate(first) if judgement is None]
        told = [_told(answers[i]) for i in open_ones]
        said = self._ask_spec("judge", [cases[i] for i in open_ones], told) if open_ones else []
        if isinstance(said, Judgement):
            return [said]
        for index, (status, why) in zip(open_ones, said, strict=True):
            first[index] = self._judgement(cases[index], answers[index], status, why)
        return [judgement for judgement in first if judgement is not None]

    def _at_once(self, case: Plain, answer: Answer) -> Judgement | None:
        """The judgement where the conditions need not be asked, or cannot be."""
        outcome = answer.outcome
        if _ran_out(outcome):
            if case_size(case) > TINY:
                self.tally.given_up.append(case_size(case))
                return Judgement("discarded", asked=1)
            starved = not_judgeable(self.name, outcome)
            if starved:
                return Judgement("unfit", observed=starved, asked=1)
            return self._broken(case, answer, "the function returns", says(outcome))
        unfit = not_judgeable(self.name, outcome)
        if outcome.kind == "returned" and not unfit:
            wanted, kind = self.reading.returns, _foreign(outcome.value)
            if wanted is not None and not wanted.admits(outcome.value, loosely=True):
                if kind:
                    unfit = f"{self.name} returned a {kind}, which may or may not be a {wanted}"
                else:
                    seen = f"{self.name} {says(outcome)}, which is of type "
                    seen += _type_of(outcome.value)
                    return self._broken(case, answer, f"a result of type {wanted}", seen)
            changed = opaque_type(answer.after)
            if changed:
                unfit = f"{self.name} left a value of type {changed} in an argument"
        if unfit:
            return Judgement("unfit", observed=unfit, asked=1)
        if outcome.kind in ("returned", "raised") and outcome.loaded:
            return None
        return self._broken(case, answer, "the function returns", f"{self.name} {says(outcome)}")

    def _judgement(self, case: Plain, answer: Answer, status: str, why: str) -> Judgement:
        if status in ("held", "allowed"):
            self.tally.returned += status == "held"
            return Judgement("held", asked=1)
        if status != "broken":
            return Judgement("unfit", observed=why, asked=1)
        seen = f"{self.name} {says(answer.outcome)}"
        if answer.outcome.kind == "returned":
            return self._broken(case, answer, why, seen)
        allowed = self.reading.raises
        wanted = f"no exception but {', '.join(allowed)}" if allowed else "no exception"
        if answer.outcome.error == VIOLATION:
            note, promised = self._bare(case, answer)
            seen, wanted = seen + note, promised or wanted
        return self._broken(case, answer, wanted, seen)

    def _bare(self, case: Plain, answer: Answer) -> tuple[str, str]:
        """What the function answers without its decorators, and what that breaks; for people."""
        outcome = self.subject.call(
            "refute.specs.contract_calls:call_bare",
            self.claim.subject,
            *self._row(case, answer.by_name),
            timeout_s=self.call_s,
        )
        read = self._read(Outcome("returned", [outcome.value]), [case], answer.by_name)
        if not read or read[0].outcome.kind != "returned":
            return "", ""
        said = self._ask_spec("judge", [case], [_told(read[0])])
        broken = not isinstance(said, Judgement) and said[0][0] == "broken"
        note = f"; without its decorators it {says(read[0].outcome)}"
        return note, said[0][1] if broken and not isinstance(said, Judgement) else ""

    def _broken(self, case: Plain, answer: Answer, expected: str, observed: str) -> Judgement:
        shown_args = ", ".join(
            shown(v) if not answer.by_name and n not in self.keywords else f"{n}={shown(v)}"
            for n, v in case.items()
        )
        steps = [
            Step("given", {n: shown(v) for n, v in case.items()}),
            Step(f"{self.name}({shown_args}) {says(answer.outcome)}"),
        ]
        after = answer.after if type(answer.after) is dict else {}
        changed = {n: shown(v) for n, v in after.items() if not plain.same(v, case[n])}
        if changed:
            steps.append(Step("afterwards", changed))
        return Judgement(
            "broken",
            observed=observed,
            expected=expected,
            output=as_data(answer.outcome),
            steps=tuple(steps),
            asked=1,
            slow=answer.outcome.kind == "timeout",
        )

    def _ask_spec(self, function: str, *args: Plain) -> list[tuple[str, str]] | Judgement:
        """What the contract says, as pairs; a judgement of "unfit" when it says nothing."""
        outcome = self.spec.call(
            f"refute.specs.contract_judge:{function}",
            self.contract,
            *args,
            timeout_s=max(CALL_S, min(self.wall_s, self.call_s * 2)),
        )
        verdicts = outcome.value
        if outcome.kind == "returned" and type(verdicts) is list and len(verdicts) == len(args[0]):
            return [(str(status), str(why)) for status, why in verdicts]
        place = f"{self.reading.contract.path}:{self.reading.contract.line}"
        said = f"the contract of {self.name} at {place} {says(outcome)}"
        return Judgement("unfit", observed=said)


def case_size(case: Plain) -> int:
    """How large a case is: the sizes of its values, added."""
    return sum(map(size_of, case.values()))


def size_of(value: Plain) -> int:
    """The absolute values of the numbers in a value and the lengths of all else, added.

    Numbers that are not finite count as 1.
    """
    if isinstance(value, dict):
        return sum(map(size_of, value.keys())) + sum(map(size_of, value.values()))
    if isinstance(value, list | tuple | set | frozenset):
        return len(value) + sum(map(size_of, value))
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, int):
        return abs(value)
    if isinstance(value, float):
        return int(abs(value)) if abs(value) < 2**63 else 1
    return 0


def _ran_out(outcome: Outcome) -> bool:
    """Whether the call used up time, memory or stack."""
    if outcome.kind == "timeout":
        return True
    if outcome.kind != "raised":
        return False
    large = outcome.error == "OverflowError" and any(w in outcome.message for w in _TOO_LARGE)
    return large or outcome.error in _EXHAUSTED


def _told(answer: Answer) -> Plain:
    outcome = answer.outcome
    if outcome.kind == "returned":
        return ["returned", outcome.value, answer.after]
    return ["raised", outcome.error]


def _foreign(value: Plain) -> str:
    """The type of the first record inside: it may be a subclass of a builtin, as an IntEnum is."""
    if isinstance(value, Record):
        return value.type_name
    if isinstance(value, list | tuple | set | frozenset):
        return next((name for v in value if (name := _foreign(v))), "")
    if isinstance(value, dict):
        return _foreign([*value.keys(), *value.values()])
    return ""


def _type_of(value: Plain) -> str:
    """The type of a plain result, with those of its parts."""
    name = type(value).__name__
    if isinstance(value, list | tuple | set | frozenset) and value:
        inside = ", ".join(dict.fromkeys(_type_of(v) for v in value))
        return f"{name}[{inside}]"
    return name
