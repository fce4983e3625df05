"""Players of claims about functions: a property, or a reference that the subject must equal.

The property's stand-ins for the subjects ask here, so the parent sees every call: it can say what
the subject answered, and it knows of a dead subject whatever the property makes of it.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from refute import plain
from refute.budget import Budget
from refute.claim import Claim, is_command
from refute.plain import Plain
from refute.replay import Step
from refute.sandbox import Outcome, Remote
from refute.site import Site
from refute.verifiers.pair import (
    WorkerPair,
    as_data,
    call_each,
    not_judgeable,
    opaque_type,
    says,
    shown,
)
from refute.verifiers.playing import Judgement

Call = tuple[str, Sequence[Plain], Outcome]


def given_steps(case: Plain, calls: Sequence[Call]) -> tuple[Step, ...]:
    """The trace of one case: its inputs, then every call of a subject."""
    inputs = Step("given", {k: shown(v) for k, v in case.items()})
    return (inputs, *(Step(_call_text(name, args, out)) for name, args, out in calls))


def _call_text(name: str, args: Sequence[Plain], outcome: Outcome) -> str:
    return f"{name}({', '.join(map(shown, args))}) {says(outcome)}"


class FunctionPlayer(WorkerPair):
    """What both kinds of claims about functions ask of the subject."""

    def __init__(self, claim: Claim, site: Site, budget: Budget, hash_seed: int = 0) -> None:
        super().__init__(claim, site, budget, hash_seed)
        self.subjects: dict[str, str] = dict(self.params["subjects"])

    def ask(self, name: str, args: Sequence[Plain], kwargs: dict[str, Plain]) -> Outcome:
        """Call the subject of that name with copies of the arguments."""
        reference = self.subjects[name]
        target = name if is_command(reference) else reference
        return self.subject.call(target, *args, kwargs=kwargs, timeout_s=self.call_s)

    def ask_each(self, name: str, rows: Sequence[Sequence[Plain]]) -> list[Outcome]:
        """As `ask` for each row of arguments; ends with the first that lost the worker."""
        return call_each(lambda: self.subject, self.subjects[name], name, rows, self.call_s)


class PropertyPlayer(FunctionPlayer):
    """Plays `Holds`: the property runs beside the specs and asks the subject through here."""

    def __init__(self, claim: Claim, site: Site, budget: Budget, hash_seed: int = 0) -> None:
        super().__init__(claim, site, budget, hash_seed)
        self._calls: list[list[Call]] = []
        self._unfit: dict[int, str] = {}
        self._asks_once = False

    def play(self, cases: Sequence[Plain]) -> list[Judgement]:
        """Judgements of the cases, in order; see `Player`."""
        self._calls = [[] for _ in cases]
        self._unfit = {}
        outcome = self.spec.call(
            "refute.specs.property:judge",
            self.params["prop"],
            self.params["assume"],
            list(self.subjects),
            list(cases),
            Remote(self._relay, callable=True),
            self._asks_once and len(cases) > 1,
            timeout_s=min(self.wall_s, self.call_s * (len(cases) + 2)),
        )
        verdicts = outcome.value
        if outcome.kind != "returned" or type(verdicts) is not list:
            return [Judgement("unfit", observed=f"{self.params['prop']} {says(outcome)}")]
        self._asks_once = max(map(len, self._calls), default=0) <= 1
        return [
            self._judgement(index, case, status, why)
            for index, (case, (status, why)) in enumerate(zip(cases, verdicts, strict=False))
        ]

    def _relay(self, _: str, args: tuple[Plain, ...]) -> Plain:
        """Answer one call that the property makes of a subject, or the first calls of many."""
        kind, *asked = args
        if kind == "ask":
            index, name, values, kwargs = asked
            if not self._given_plain(index, name, [values, kwargs]):
                return ("lost",)
            outcome = self.ask(name, values, kwargs)
            return self._answer(index, name, [*values, *kwargs.values()], outcome)
        answers: list[Plain] = []
        for name, group in itertools.groupby(asked[0], key=lambda question: question[1]):
            questions = list(group)
            if not all(self._given_plain(index, name, values) for index, _, values in questions):
                break
            outcomes = self.ask_each(name, [values for _, _, values in questions])
            for (index, _, values), outcome in zip(questions, outcomes, strict=False):
                answers.append(self._answer(index, name, values, outcome))
            if len(outcomes) < len(questions) or not _answered(outcomes[-1]):
                break
        return answers + [("lost",)] * (len(asked[0]) - len(answers))

    def _given_plain(self, index: int, name: str, values: Plain) -> bool:
        kind = opaque_type(values)
        if kind:
            self._unfit[index] = f"{name} was given a value of type {kind}, which is not plain data"
        return not kind

    def _answer(self, index: int, name: str, values: list[Plain], outcome: Outcome) -> Plain:
        self._calls[index].append((name, values, outcome))
        if outcome.kind == "returned":
            return ("returned", outcome.value)
        if _answered(outcome):
            return ("raised", outcome.error, outcome.message, outcome.errno)
        return ("lost",)

    def _judgement(self, index: int, case: Plain, status: str, why: str) -> Judgement:
        """The judgement on one case; a property cannot hold over a subject that was lost."""
        calls = self._calls[index]
        last = calls[-1] if calls else None
        lost = last is not None and not _answered(last[2])
        unfit = self._unfit.get(index, "") or (why if status == "unfit" and not lost else "")
        if lost or status == "broken":
            unfit = unfit or next((w for n, _, out in calls if (w := not_judgeable(n, out))), "")
        if unfit:
            return Judgement("unfit", observed=unfit, asked=len(calls))
        if not lost and status in ("held", "discarded"):
            return Judgement("held" if status == "held" else "discarded", asked=len(calls))
        return Judgement(
            "broken",
            observed=f"{last[0]} {says(last[2])}" if lost and last is not None else why,
            expected=f"{self.params['prop']} holds",
            output=[[name, as_data(out)] for name, _, out in calls],
            steps=given_steps(case, calls),
            asked=len(calls),
            slow=last is not None and last[2].kind == "timeout",
        )


def _answered(outcome: Outcome) -> bool:
    return outcome.kind == "returned" or (outcome.kind == "raised" and outcome.loaded)


class EqualsPlayer(FunctionPlayer):
    """Plays `Equals`: subject and reference are called alike, and the parent compares."""

    def play(self, cases: Sequence[Plain]) -> list[Judgement]:
        """Judgements of the cases, in order; see `Player`."""
        names = [name for name, _ in self.params["given"]]
        cases = [{name: case[name] for name in names} for case in cases]  # called by position
        verdicts = list(zip(cases, self._assumed(cases), strict=False))
        kept = [list(case.values()) for case, (status, _) in verdicts if status == "held"]
        reference = self.params["reference"]
        rights = iter(call_each(lambda: self.spec, reference, reference, kept, self.call_s))
        lefts = iter(self.ask_each(next(iter(self.subjects)), kept))
        judged: list[Judgement] = []
        for case, (status, why) in verdicts:
            if status == "held":
                left, right = next(lefts, None), next(rights, None)
                if left is None or right is None:
                    break
                judged.append(self._compare(case, left, right))
            elif status == "discarded":
                judged.append(Judgement("discarded"))
            else:
                judged.append(Judgement("unfit", observed=why))
            if judged[-1].status in ("broken", "unfit"):
                break
        return judged

    def _assumed(self, cases: Sequence[Plain]) -> Sequence[tuple[str, str]]:
        assume = self.params["assume"]
        if assume is None:
            return [("held", "")] * len(cases)
        outcome = self.spec.call("refute.specs.property:assumed", assume, list(cases))
        verdicts: Plain = outcome.value
        if outcome.kind != "returned" or type(verdicts) is not list:
            return [("unfit", f"{assume} {says(outcome)}")]
        return [(str(status), str(why)) for status, why in verdicts]

    def _compare(self, case: Plain, given: Outcome, right: Outcome) -> Judgement:
        name, values = next(iter(self.subjects)), list(case.values())
        reference = self.params["reference"]
        unfit = not_judgeable(reference, right)
        if unfit or right.kind not in ("returned", "raised") or not right.loaded:
            return Judgement("unfit", observed=unfit or f"{reference} {says(right)}")
        if agree(given, right):
            return Judgement("held", asked=1)
        unfit = not_judgeable(name, given)
        if unfit:
            return Judgement("unfit", observed=unfit, asked=1)
        return Judgement(
            "broken",
            observed=f"{name} {says(given)}",
            expected=f"{reference} {says(right)}",
            output=as_data(given),
            steps=given_steps(case, [(name, values, given), (reference, values, right)]),
            asked=1,
            slow=given.kind == "timeout",
        )


def agree(left: Outcome, right: Outcome) -> bool:
    """The same value, or an exception of the same type."""
    if left.kind != right.kind or left.kind not in ("returned", "raised"):
        return False
    if left.kind == "raised":
        return left.loaded and left.error == right.error
    return plain.same(left.value, right.value)
