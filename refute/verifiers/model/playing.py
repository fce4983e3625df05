"""Replay of a machine's traces: the real class, in a fresh worker, judged by itself and by the IR.

The class is the subject and its own judge, so a play also walks the trace on the IR and compares
every state. If the two disagree, the play is void and says that refute has a bug: neither meaning
may refute alone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait

from refute import plain
from refute.budget import Budget
from refute.claim import Claim
from refute.errors import RefuteError, UnreadableInput
from refute.plain import Plain
from refute.replay import HASH_SEEDS, Counterexample, Playback
from refute.sandbox import Limits, Worker, stopped_workers
from refute.site import Site
from refute.specs.machine.asking import answer, described
from refute.specs.machine.ir import MachineIR
from refute.specs.machine.types import ANY

PLAY = "refute.specs.machine.loading:play"
JUDGE = "refute.verifiers.model.walking:walked"


Played = dict[Hashable, Playback]


def play_together(
    proposed: Sequence[tuple[Claim, Counterexample]], site: Site, budget: Budget
) -> Played:
    """The cases of several claims about one machine, played in one fresh worker per hash seed.

    The workers play at the same time. A case that could not be played is left out, and so are
    all of a worker that failed: they are played again, each in a worker of its own.
    """
    if len(proposed) < 2:
        return {}
    with ThreadPoolExecutor(len(HASH_SEEDS)) as pool:
        plays = [pool.submit(_play_all, proposed, site, budget, seed) for seed in HASH_SEEDS]
        try:
            return {key: playback for play in plays for key, playback in play.result().items()}
        except BaseException:
            with stopped_workers():
                wait(plays)
            raise


def _play_all(
    proposed: Sequence[tuple[Claim, Counterexample]], site: Site, budget: Budget, seed: int
) -> Played:
    """The plays under one hash seed, of those cases that could be played."""
    first, limits = proposed[0][0], Limits.from_budget(budget)
    like = [(claim, case) for claim, case in proposed if claim.covers == first.covers]
    try:
        ir = described(first, site, limits)
        with site.subject_worker(first, limits, seed) as worker:
            made = play_in(worker, ir, like)
    except RefuteError:
        return {}
    pairs = zip(like, made, strict=True)
    return {_key(*each, site, seed): playback for each, playback in pairs if not playback.error}


def play_in(
    worker: Worker, ir: MachineIR, proposed: Sequence[tuple[Claim, Counterexample]]
) -> list[Playback]:
    """One play for each case of claims about one machine, in a worker that did nothing but play.

    Raises RefuteError.
    """
    split = [_cases(claim, counterexample.inputs) for claim, counterexample in proposed]
    cases = [case for part in split if not isinstance(part, str) for case in part]
    if not cases:
        return [Playback(broke=False, error=str(part)) for part in split]
    subject, params = proposed[0][0].subject, proposed[0][0].statement.params
    plays = answer(worker.call(PLAY, subject, dict(params["constants"]), cases), subject)
    if type(plays) is not list or len(plays) != len(cases):
        raise UnreadableInput("the worker did not play every trace", thing=subject)
    judged = worker.call(JUDGE, ir.to_plain(), cases)
    if judged.kind != "returned" or type(judged.value) is not list:
        raise UnreadableInput(f"the walk on the IR {judged.kind}", thing=subject)
    rows = iter(zip(plays, judged.value, strict=True))
    return [
        Playback(broke=False, error=part)
        if isinstance(part, str)
        else _playback([next(rows) for _ in part])
        for part in split
    ]


def _playback(rows: Sequence[tuple[Plain, Plain]]) -> Playback:
    """What plays of the traces of one case show, each beside its walk on the IR."""
    plays = [made for made, _ in rows]
    for made, walked in rows:
        if not _has(made, "broke", "states") or not _has(walked, "states", "not"):
            return Playback(broke=False, error="the worker's answer is malformed")
        if made.get("unplayable"):
            return Playback(False, {"plays": plays}, error="")
        parted = _differences(made["states"], walked["states"])
        if parted:
            return Playback(broke=False, error=f"a bug of refute: {parted}")
        if walked["not"]:
            return Playback(broke=False, error=f"not so on the IR: {walked['not']}")
    return Playback(all(made["broke"] is True for made in plays), {"plays": plays})


def _differences(plain: Sequence[Plain], meant: Sequence[Plain]) -> str:
    """Where two runs of one trace part, in words; empty when they agree."""
    for at, (left, right) in enumerate(zip(plain, meant, strict=False)):
        if left != right:
            return f"after {at} steps the class and its IR have different states"
    if len(plain) != len(meant):
        return f"the class goes {len(plain) - 1} steps, its IR {len(meant) - 1}"
    return ""


def _has(data: Plain, *keys: str) -> bool:
    return type(data) is dict and all(key in data for key in keys)


def _key(claim: Claim, case: Counterexample, site: Site, seed: int) -> Hashable:
    return claim.name, site, seed, plain.digest(claim.statement.params), plain.digest(case.inputs)


class MachineReplayer:
    """Plays the traces of counterexamples to one claim."""

    def __init__(
        self, claim: Claim, site: Site, budget: Budget, played: Played | None = None
    ) -> None:
        """played: plays of this group's cases, each of which is used once."""
        self.played = {} if played is None else played
        self.claim = claim
        self.site = site
        self.limits = Limits.from_budget(budget)

    def play(self, counterexample: Counterexample, hash_seed: int) -> Playback:
        """Play every trace of the case; broke when each of them shows what it should."""
        known = self.played.pop(_key(self.claim, counterexample, self.site, hash_seed), None)
        if known is not None:
            return known
        try:
            claim = of_case(self.claim, counterexample.inputs)
            ir = described(claim, self.site, self.limits)
            with self.site.subject_worker(claim, self.limits, hash_seed) as worker:
                return play_in(worker, ir, [(claim, counterexample)])[0]
        except RefuteError as error:
            return Playback(broke=False, error=error.message)


def of_case(claim: Claim, inputs: Plain) -> Claim:
    """The claim about the sizes that a case is of. Raises UnreadableInput; see `at_sizes`."""
    sizes = inputs.get("constants") if type(inputs) is dict else None
    return at_sizes(claim, sizes) if type(sizes) is dict else claim


def at_sizes(claim: Claim, sizes: Mapping[str, Plain]) -> Claim:
    """The claim about the machine with these sizes of the Sorts that it leaves open.

    Raises UnreadableInput for sizes that it does not leave open.
    """
    constants = dict(claim.statement.params["constants"])
    if any(constants.get(name) != ANY or type(size) is not int for name, size in sizes.items()):
        raise UnreadableInput(f"the case is of {dict(sizes)!r}, the claim of {constants!r}")
    params = {**claim.statement.params, "constants": {**constants, **sizes}}
    statement = dataclasses.replace(claim.statement, params=params)
    return dataclasses.replace(claim, statement=statement)


def _cases(claim: Claim, inputs: Plain) -> list[Mapping[str, Plain]] | str:
    """The traces of a case of this claim, or why there are none."""
    cases = inputs.get("cases") if type(inputs) is dict else None
    keys = ("property", "start", "steps")
    if type(cases) is not list or not cases:
        return "the case holds no trace"
    if not all(_has(case, *keys) for case in cases):
        return "the case holds no trace"
    prop = str(claim.statement.params["prop"])
    wrong = [case["property"] for case in cases if prop and case["property"] != prop]
    return f"the case is about {wrong[0]}, not {prop}" if wrong else cases
