"""A pair of workers: the subject in one, what judges it in another, and the parent between.

What is here is common to all players that ask a subject and compare its answers with something. A
value that is not plain data cannot be judged fairly (it is equal to nothing), so a case that breaks
after one is unfit to be judged rather than broken.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from refute import plain
from refute.budget import Budget
from refute.claim import Claim, is_command
from refute.errors import NotPlainData
from refute.plain import Opaque, Plain, Record
from refute.sandbox import Limits, Outcome, Worker
from refute.site import Site
from refute.verifiers.playing import Judgement

CALL_S = 5.0  # wall seconds that one call of a subject may take
LEAST_CALL_S = 1.0  # however small the budget's share is: less says nothing about a subject
STARVED_S = 30.0  # wall seconds more while other processes have the CPU
SPARE_CPU_S = 60.0  # the search ends at the budget's CPU seconds, long before the worker's limit
SHOWN = 300
NOT_STARTED = "exit status 127"  # of a command that is not found, as the shell reports it


def shown(value: Plain) -> str:
    """The value for people, cut to one line."""
    if isinstance(value, Opaque):
        return f"<{value.type_name}>"
    text = repr(value)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…"


def says(outcome: Outcome) -> str:
    """What became of a call, for people."""
    match outcome.kind:
        case "returned":
            return f"returned {shown(outcome.value)}"
        case "raised" if not outcome.loaded:
            return f"cannot be loaded: {outcome.error}: {outcome.message}"
        case "raised":
            return f"raised {outcome.error}: {outcome.message}"[:SHOWN]
        case "died":
            return f"ended its process: {outcome.detail}"
        case "timeout":
            return f"did not answer in time: {outcome.detail}"
    return f"broke the protocol: {outcome.detail}"


def as_data(outcome: Outcome) -> Plain:
    """What became of a call, as data that is equal when the subject did the same."""
    if outcome.kind == "returned":
        return ["returned", outcome.value]
    return [outcome.kind, outcome.error, outcome.message, outcome.errno]


def opaque_type(value: Plain) -> str:
    """The type of the first value inside that is not plain data; empty when all is."""
    if isinstance(value, Opaque):
        return value.type_name
    if isinstance(value, list | tuple | set | frozenset):
        return next((name for v in value if (name := opaque_type(v))), "")
    if isinstance(value, dict):
        return opaque_type([*value.keys(), *value.values()])
    if isinstance(value, Record):
        return opaque_type([v for _, v in value.fields])
    return ""


def not_judgeable(name: str, outcome: Outcome) -> str:
    """Why an outcome of the subject says nothing; empty when it does say something."""
    kind = opaque_type(outcome.value)
    if kind:
        return f"{name} returned a value of type {kind}, which is not plain data"
    if not outcome.loaded and outcome.error == "ModuleNotFoundError":
        return f"{name} cannot be loaded: {outcome.message}"
    if outcome.kind == "died" and outcome.detail == NOT_STARTED:
        return f"{name} cannot be started: {outcome.stdout.strip()}"
    if outcome.starved:
        return f"{name} did not answer in time, but other processes had the CPU instead of it"
    return ""


def call_each(
    worker: Callable[[], Worker],
    reference: str,
    name: str,
    rows: Sequence[Sequence[Plain]],
    call_s: float,
) -> list[Outcome]:
    """One outcome for each row of arguments, in order; ends with the first that lost the worker.

    Several rows go in one request. When that gets no orderly answer, each row is asked alone in a
    fresh worker, so that the one to blame is found.
    """
    if len(rows) > 1 and not is_command(reference):
        outcome = worker().call(
            "refute.specs.answers:call_each", reference, list(map(list, rows)), timeout_s=call_s
        )
        answers = _answers(outcome)
        if len(answers) == len(rows):
            return answers
    outcomes: list[Outcome] = []
    for row in rows:
        target = name if is_command(reference) else reference
        outcomes.append(worker().call(target, *row, timeout_s=call_s))
        if outcomes[-1].kind not in ("returned", "raised") or not outcomes[-1].loaded:
            break
    return outcomes


def _answers(outcome: Outcome) -> list[Outcome]:
    if outcome.kind != "returned" or type(outcome.value) is not list:
        return []
    try:
        return [read_answer(text)[0] for text in outcome.value]
    except NotPlainData:
        return []


def read_answer(text: Plain) -> tuple[Outcome, frozenset[int]]:
    """What `refute.specs.answers` wrote: an outcome, and the errno values that would do as well.

    Raises NotPlainData for anything else.
    """
    answer = plain.loads(text) if type(text) is str else None
    match answer:
        case ["returned", value]:
            return Outcome("returned", value), frozenset()
        case ["raised", str(error), str(message), errno, str(detail), list(also)]:
            number = errno if type(errno) is int else None
            outcome = Outcome("raised", error=error, message=message, errno=number, detail=detail)
            return outcome, frozenset(n for n in also if type(n) is int)
    raise NotPlainData("not an answer")


class WorkerPair(abc.ABC):
    """Holds the two workers of one run, and starts them again when they were lost."""

    def __init__(self, claim: Claim, site: Site, budget: Budget, hash_seed: int = 0) -> None:
        self.claim = claim
        self.site = site
        self.hash_seed = hash_seed
        self.params = claim.statement.params
        self.wall_s = budget.wall_s
        self.call_s = max(LEAST_CALL_S, min(CALL_S, budget.wall_s / 6))
        self.limits = Limits(
            cpu_s=budget.cpu_s + SPARE_CPU_S,
            wall_s=self.call_s,
            starved_s=STARVED_S,
            memory=budget.memory,
        )
        self.isolation = ""
        self._spent = 0.0
        self._subject: Worker | None = None
        self._spec: Worker | None = None

    @property
    def cpu_s(self) -> float:
        """CPU seconds of all its workers so far."""
        alive = [w.cpu_s for w in (self._subject, self._spec) if w is not None]
        return self._spent + sum(alive)

    @property
    def subject(self) -> Worker:
        """The worker in which the judged code lives."""
        if self._subject is None or not self._subject.alive:
            self._retire(self._subject)
            self._subject = self.site.subject_worker(self.claim, self.limits, self.hash_seed)
            self.isolation = self._subject.isolation
            self._load(self._subject)
        return self._subject

    def _load(self, worker: Worker) -> None:
        """Import the subject's module before any call, whose time then is the subject's own.

        What goes wrong here goes wrong again, or is remembered, in the first call.
        """
        if not is_command(self.claim.subject):
            worker.call("refute.specs.answers:load", self.claim.subject, timeout_s=CALL_S)

    @property
    def spec(self) -> Worker:
        """The worker in which the judging code lives."""
        if self._spec is None or not self._spec.alive:
            self._retire(self._spec)
            self._spec = self.site.spec_worker(self.claim, self.limits, self.hash_seed)
        return self._spec

    @abc.abstractmethod
    def play(self, cases: Sequence[Plain]) -> list[Judgement]:
        """Judgements of the cases, in order; see `Player`."""

    def __enter__(self) -> Self:
        try:
            self.isolation = self.subject.isolation
        except BaseException:  # whoever fails to enter is never asked to leave
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for worker in (self._subject, self._spec):
            self._retire(worker)
        self._subject = self._spec = None

    def _retire(self, worker: Worker | None) -> None:
        if worker is not None:
            worker.close()
            self._spent += worker.cpu_s
