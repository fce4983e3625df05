"""Differential testing: sequences of operations on a subject and on a reference, answer by answer.

All short sequences come first, so that the first difference is found with few operations; then
longer ones are sampled for as long as there is budget.
"""

from __future__ import annotations

from refute.budget import Budget, derive_seed
from refute.claim import Claim, is_command
from refute.evidence import Finding, Scope
from refute.fuzz.sequences import (
    Operations,
    all_sequences,
    number_of_instances,
    number_of_sequences,
    sampled_sequences,
    simpler_sequence,
)
from refute.plain import Plain
from refute.replay import Replayer
from refute.site import Site
from refute.specs.reference import KIND, operations_of
from refute.verifiers import Progress
from refute.verifiers.one_by_one import OneByOne
from refute.verifiers.playing import CaseReplayer
from refute.verifiers.search import Quarry, Search, Source
from refute.verifiers.sequences import SequencePlayer

SHORT_SHARE = 0.5  # of the cases, for all short sequences, when not all can be tried


class Differential(OneByOne):
    """The engine for `AgreesWith`."""

    kind = KIND
    name = "differential"
    version = "1"
    cost = 20

    def _unfit(self, claim: Claim) -> str:
        """Why this engine does not take a claim of its kind; empty when it does."""
        if is_command(claim.subject) and claim.statement.params["device"] is not None:
            return "gives no device to commands"
        return ""

    def replayer(self, claim: Claim, site: Site, budget: Budget) -> Replayer:
        """Plays a sequence step by step in fresh workers."""
        operations = operations_of(claim.statement)
        return CaseReplayer(
            lambda hash_seed: SequencePlayer(claim, site, budget, hash_seed),
            lambda case: _admits(operations, case),
        )

    def _run(self, claim: Claim, budget: Budget, site: Site, progress: Progress) -> Finding:
        operations = operations_of(claim.statement)
        params = claim.statement.params
        quarry = Quarry(
            engine=self.name,
            version=self.version,
            scope=_scope(operations, params["depth"]),
            sources=sources(operations, params["depth"], params["longest"], budget),
            open_player=lambda hash_seed: SequencePlayer(claim, site, budget, hash_seed),
            simpler=lambda case: simpler_sequence(operations, case),
            progress=progress,
        )
        return Search(quarry, budget).finding()


def _admits(operations: Operations, case: Plain) -> bool:
    """Whether the case is a sequence of the operations, each with arguments of its domains."""
    return type(case) is list and all(
        type(step) in (list, tuple)
        and len(step) > 0
        and type(step[0]) is str
        and step[0] in operations
        and len(step) - 1 == len(operations[step[0]].of)
        and all(map(lambda d, v: d.contains(v), operations[step[0]].of.values(), step[1:]))
        for step in case
    )


def _scope(operations: Operations, depth: int) -> Scope:
    text = ", ".join(f"{n}({', '.join(map(str, r.of.values()))})" for n, r in operations.items())
    bounds = {name: [str(d) for d in r.of.values()] for name, r in operations.items()}
    return Scope(
        text=f"sequences to depth {depth} of {text}", bounds=bounds, depths={"depth": depth}
    )


def sources(operations: Operations, depth: int, longest: int, budget: Budget) -> list[Source]:
    """Where sequences come from: all short ones, then sampled ones up to the longest length."""
    count = number_of_instances(operations)
    seed = derive_seed(budget.seed, "sequences")
    if count is not None and number_of_sequences(count, depth) <= budget.cases:
        shortest, name = depth + 1, f"of all sequences to depth {depth}"
        short = [Source(name, all_sequences(operations, depth), budget.cases, complete=True)]
    else:
        shortest, reach = 1, _reach(count, depth, int(budget.cases * SHORT_SHARE))
        name = f"of all sequences to depth {reach}"
        short = [Source(name, all_sequences(operations, reach), budget.cases)] if reach else []
    if shortest > longest:
        return short
    sampled = sampled_sequences(operations, shortest, longest, seed)
    return [*short, Source(f"sampled sequences of up to {longest}", sampled, budget.cases)]


def _reach(count: int | None, depth: int, cases: int) -> int:
    """The greatest depth to which all sequences are at most `cases`."""
    if count is None:
        return 0
    fitting = (d for d in range(depth, 0, -1) if number_of_sequences(count, d) <= cases)
    return next(fitting, 0)
