"""Differential testing against SQLite: generated databases and queries, asked of both.

First the engine is asked a smallest query of each feature; what it refuses is not generated, unless
the claim says that it must be there. Then come small queries of every feature in turn, so that few
cases see all of SQL; then queries that mix them for as long as there is budget.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from refute.budget import Budget, derive_seed
from refute.claim import Claim, Verdict, is_command
from refute.evidence import Finding, Scope
from refute.fuzz.sql.cases import cases, featured
from refute.fuzz.sql.features import PROBE_SETUP, PROBES, TABLE_PROBES, speaks_of, supported
from refute.fuzz.sql.reduction import simpler
from refute.fuzz.sql.schema import Shape
from refute.oracles.sql.sqlite import VERSION
from refute.plain import Plain
from refute.replay import HASH_SEEDS, Replayer
from refute.site import Site
from refute.specs.sql import FEATURES, KIND
from refute.verifiers import Progress
from refute.verifiers.one_by_one import OneByOne
from refute.verifiers.playing import CaseReplayer
from refute.verifiers.search import Quarry, Search, Source
from refute.verifiers.sql.differential_player import KINDS, QueryPlayer, Tally

ROUNDS = 10  # of small queries of each feature
MOSTLY = 0.5  # refused, and the evidence says so
HOPELESS = 512  # queries of which none was answered end the search
SHOWN = 5  # reasons for refusals that the evidence lists


class SQLDifferential(OneByOne):
    """The engine for `AgreesWithSQLite`."""

    kind = KIND
    name = "sql-differential"
    version = f"1 (SQLite {VERSION})"
    cost = 20

    def _unfit(self, claim: Claim) -> str:
        """Why this engine does not take a claim of its kind; empty when it does."""
        return "takes module:function, no command" if is_command(claim.subject) else ""

    def replayer(self, claim: Claim, site: Site, budget: Budget) -> Replayer:
        """Plays a case on a database of its own in fresh workers."""
        return CaseReplayer(lambda hash_seed: QueryPlayer(claim, site, budget, hash_seed), _is_case)

    def _run(self, claim: Claim, budget: Budget, site: Site, progress: Progress) -> Finding:
        tally = Tally()
        features = claim.statement.params["features"]
        missing = _refused_features(claim, site, budget)
        chosen = supported(features, missing)
        left_out = [name for name in features if name not in chosen]
        quarry = Quarry(
            engine=self.name,
            version=self.version,
            scope=_scope(claim, chosen),
            sources=_sources(claim, chosen, budget, tally),
            open_player=lambda hash_seed: QueryPlayer(claim, site, budget, hash_seed, tally),
            simpler=lambda case: _simpler(claim, case, tally),
            progress=progress,
        )
        return _told(Search(quarry, budget).finding(), tally, left_out)


def _simpler(claim: Claim, case: Plain, tally: Tally) -> Iterator[Plain]:
    """Simpler cases that the claim speaks of, and that say as what they must break."""
    kind = tally.kinds.get(repr(case))
    candidates = simpler(case if kind is None else {**case, "as": kind})
    return (other for other in candidates if _is_of(claim, other))


def _is_of(claim: Claim, case: Plain) -> bool:
    features = frozenset(claim.statement.params["features"])
    return speaks_of(features, case["setup"], case["query"])


def _refused_features(claim: Claim, site: Site, budget: Budget) -> list[str]:
    """The features that the engine refuses to a smallest query, but for those it must support."""
    must, chosen = claim.statement.params["must_support"], claim.statement.params["features"]
    asked = [name for name in chosen if name not in must]
    queries = [name for name in asked if name in PROBES]
    tables = [name for name in asked if name in TABLE_PROBES]
    refused: list[str] = []
    if not asked:
        return refused
    with QueryPlayer(claim, site, budget, HASH_SEEDS[0]) as player:
        answers, lost = player.session.start([*PROBE_SETUP, *(PROBES[name] for name in queries)])
        if lost is not None or any(answer[0] == "error" for answer in answers[: len(PROBE_SETUP)]):
            return []
        found = answers[len(PROBE_SETUP) :]
        refused += [n for n, answer in zip(queries, found, strict=True) if answer[0] == "error"]
        for name in tables:
            answers, lost = player.session.start([*PROBE_SETUP, TABLE_PROBES[name]])
            if lost is not None:
                break
            refused += [name] if answers[-1][0] == "error" else []
    return refused


def _hopeful(drawn: Iterator[Plain], tally: Tally) -> Iterator[Plain]:
    """The cases, until it is clear that nothing comes of them."""
    for number, case in enumerate(drawn):
        if number and number % HOPELESS == 0 and tally.same == 0:
            return
        yield case


def _sources(claim: Claim, features: Sequence[str], budget: Budget, tally: Tally) -> list[Source]:
    """Where cases come from: small queries of each feature, then any."""
    params = claim.statement.params
    shape = Shape(frozenset(features), params["tables"], params["rows"])
    seed = derive_seed(budget.seed, "sql")
    small = ROUNDS * len(features)
    kinds = f"of {len(features)} features" if features else "of the core of SQL"
    mixed = _hopeful(cases(seed, shape), tally)
    sources = [Source(f"generated queries {kinds}", mixed, budget.cases)]
    if small:
        each = featured(seed, shape, ROUNDS)
        sources.insert(0, Source("small queries of one feature", each, small))
    return sources


def _scope(claim: Claim, features: Sequence[str]) -> Scope:
    params = claim.statement.params
    size = f"queries on up to {params['tables']} tables of up to {params['rows']} rows"
    left_out = [name for name in params["features"] if name not in features]
    if left_out:
        return Scope(text=f"{size}, without {', '.join(left_out)}, which the engine refuses")
    whole = len(features) == len(FEATURES)
    used = f"all {len(features)} features" if whole else ", ".join(features)
    return Scope(text=f"{size}, with {used or 'the core of SQL only'}")


def _told(finding: Finding, tally: Tally, left_out: Sequence[str]) -> Finding:
    """The finding with what was refused, and what was therefore not looked at."""
    refused = tally.refused.total()
    statistics: dict[str, Plain] = {
        **finding.statistics,
        "refused": refused,
        "refused by both": tally.both,
        "open": tally.open,
        "features the engine refuses": list(left_out),
        "refusals": dict(tally.refused.most_common(SHOWN)),
    }
    notes = []
    if left_out:
        notes.append(f"not generated, because the engine refuses them: {', '.join(left_out)}")
    whole = finding.tried + finding.discarded
    if refused > MOSTLY * whole:
        most = next(iter(tally.refused.most_common(1)))[0]
        notes.append(f"the engine refused {refused} of {whole} queries, most often with {most!r}")
    reason = "; ".join(filter(None, (finding.reason, *notes)))
    keeps = finding.counterexamples and finding.verdict is Verdict.UNKNOWN
    reason = finding.reason if keeps else reason
    return dataclasses.replace(finding, reason=reason, statistics=statistics)


def _is_case(case: Plain) -> bool:
    """Whether the case has the form of one: an old witness may come from another version."""
    return (
        type(case) is dict
        and set(case) - {"as"} == {"setup", "query"}
        and type(case["query"]) is str
        and type(case["setup"]) is list
        and all(type(statement) is str for statement in case["setup"])
        and case.get("as", KINDS[0]) in KINDS
    )
