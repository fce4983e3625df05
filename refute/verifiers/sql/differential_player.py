"""Player of SQL cases: the engine in the subject's worker, SQLite in this process, row by row.

Cases in a row that share their setup share their database, because making it costs more than a
query. Where an engine's answer depends on the queries before, the search finds it with these as
part of the counterexample; every other case breaks on a database of its own as well.

A case may say as what it must break ("as"), so that a smaller case that breaks as something else
is not taken for the same defect.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter
from collections.abc import Sequence
from typing import Any

from refute.budget import Budget
from refute.claim import Claim
from refute.fuzz.sql.features import features_of
from refute.oracles.sql.compare import STEPS, compare, overflow_is_open
from refute.oracles.sql.said import said
from refute.oracles.sql.sqlite import SQLite
from refute.plain import Plain
from refute.replay import Step
from refute.sandbox import Outcome
from refute.site import Site
from refute.verifiers.pair import WorkerPair
from refute.verifiers.playing import Judgement
from refute.verifiers.sql.conform_worker import ended
from refute.verifiers.sql.differential_session import EngineSession

ROWS, REFUSED, CRASHED, ACCEPTED = "rows", "refused", "crash", "accepted"
KINDS = (ROWS, REFUSED, CRASHED, ACCEPTED)
TOO_LARGE = "is too large"  # what the driver says of a result that it could not carry
CONSTRAINT = "sqlite3.IntegrityError"

Answer = Sequence[Any]


@dataclasses.dataclass
class Tally:
    """Counts of one run, over all its players. refused: why the engine refused → how often.

    kinds: text of a broken case → as what it broke.
    """

    same: int = 0
    open: int = 0
    both: int = 0
    refused: Counter[str] = dataclasses.field(default_factory=Counter)
    kinds: dict[str, str] = dataclasses.field(default_factory=dict)


class QueryPlayer(WorkerPair):
    """Plays cases `{"setup": [sql, …], "query": sql}` of `AgreesWithSQLite`."""

    def __init__(
        self,
        claim: Claim,
        site: Site,
        budget: Budget,
        hash_seed: int = 0,
        tally: Tally | None = None,
    ) -> None:
        super().__init__(claim, site, budget, hash_seed)
        self.tally = tally or Tally()
        self.must = frozenset(self.params["must_support"])
        self.may_refuse = frozenset(self.params["features"]) - self.must
        self.session = EngineSession(lambda: self.subject, claim.subject, self.call_s)
        self._setup: list[str] | None = None
        self._rights: Sequence[Answer] = []
        self._lefts: Sequence[Answer] = []
        self._oracle = SQLite(STEPS)

    def play(self, cases: Sequence[Plain]) -> list[Judgement]:
        """Judgements of the cases, in order; see `Player`."""
        judged: list[Judgement] = []
        for setup, group in itertools.groupby(cases, key=lambda case: case["setup"]):
            judged += self._play_group(list(setup), list(group))
            if judged[-1].status in ("broken", "unfit"):
                break
        return judged

    def _play_group(self, setup: list[str], cases: Sequence[Plain]) -> list[Judgement]:
        """Judgements of cases that share a database; of those up to one that breaks."""
        queries = [case["query"] for case in cases]
        lost = self._prepare(setup)
        whole = self._whole_setup(cases[0], lost)
        if whole is not None:
            return [whole] if whole.status != "discarded" else [whole] * len(cases)
        rights = self._oracle.run(queries)
        lefts, lost = self.session.go_on(queries)
        judged: list[Judgement] = []
        for case, right, left in zip(cases, rights, lefts, strict=False):
            judged.append(self._query(case, right, left))
            if judged[-1].status in ("broken", "unfit"):
                return judged
        if lost is not None:
            self._setup = None
            case = cases[len(judged)]
            judged.append(self._lost(case, rights[len(judged)], lost))
        return judged

    def _prepare(self, setup: list[str]) -> Outcome | None:
        """A database with that setup on both sides; how the engine was lost over making it."""
        if self._setup == setup and self.session.open:
            return None
        self._setup = setup
        self._oracle.close()
        self._oracle = SQLite(STEPS)
        self._rights = self._oracle.run(setup)
        self._lefts, lost = self.session.start(setup)
        if lost is not None:
            self._setup = None
        return lost

    def _whole_setup(self, case: Plain, lost: Outcome | None) -> Judgement | None:
        """What the setup itself says about a case; None when its query is to be asked."""
        for place, right in enumerate(self._rights):
            if place >= len(self._lefts):
                return self._lost(case, right, lost or Outcome("protocol"), place)
            left = self._lefts[place]
            if left[0] == "crash":
                return self._broken(case, CRASHED, right, left, place)
            if (right[0] == "error") == (left[0] == "error"):
                continue
            if right[0] == "error" and right[1] == CONSTRAINT:
                return self._broken(case, ACCEPTED, right, left, place)
            if left[0] == "error":
                return self._refused(case, right, left, place)
            self.tally.open += 1
            return Judgement("discarded")
        return None

    def _query(self, case: Plain, right: Answer, left: Answer) -> Judgement:
        match left[0]:
            case "crash":
                return self._broken(case, CRASHED, right, left)
            case "error" if right[0] != "rows":
                self.tally.both += 1
                return Judgement("discarded", asked=1)
            case "error":
                return self._refused(case, right, left)
            case "unfit" if left[1].endswith(TOO_LARGE):
                return Judgement("unfit", observed=f"{self.claim.subject}: {left[1]}", asked=1)
            case "unfit" if right[0] == "rows":
                return self._broken(case, ROWS, right, left)
            case "unfit":
                self.tally.open += 1
                return Judgement("discarded", asked=1)
        compared = compare(case["setup"], case["query"], right, left)
        if compared.status == "different":
            kind = ACCEPTED if right[0] == "error" else ROWS
            return self._broken(case, kind, right, left, why=compared.why)
        if compared.status == "open":
            self.tally.open += 1
            return Judgement("discarded", asked=1)
        self.tally.same += 1
        return Judgement("held", asked=1)

    def _refused(
        self, case: Plain, right: Answer, left: Answer, place: int | None = None
    ) -> Judgement:
        """The engine ended with an SQL error where SQLite did not.

        A query is only about its own features: what its tables have was accepted before.
        """
        statement = case["query"] if place is None else case["setup"][place]
        used = features_of([statement])
        if statement.upper().startswith("INSERT"):
            used |= {"conversion"} & self.may_refuse
        if overflow_is_open(case["setup"], case["query"], left[2]):
            self.tally.open += 1
            return Judgement("discarded", asked=1)
        if self.must and not used & self.may_refuse:
            return self._broken(case, REFUSED, right, left, place)
        self.tally.refused[left[2]] += 1
        return Judgement("discarded", asked=1)

    def _lost(
        self, case: Plain, right: Answer, outcome: Outcome, place: int | None = None
    ) -> Judgement:
        if outcome.error == "ModuleNotFoundError":
            observed = f"{self.claim.subject} cannot be loaded: {outcome.message}"
            return Judgement("unfit", observed=observed)
        slow = outcome.kind == "timeout"
        return self._broken(case, CRASHED, right, ["lost", ended(outcome)], place, slow=slow)

    def _broken(
        self,
        case: Plain,
        kind: str,
        right: Answer,
        left: Answer,
        place: int | None = None,
        *,
        why: str = "",
        slow: bool = False,
    ) -> Judgement:
        """The judgement of a broken case. place: of the statement in the setup; None: the query."""
        if case.get("as", kind) != kind:
            return Judgement("held", asked=1)
        self.tally.kinds[repr(case)] = kind
        statement = case["query"] if place is None else case["setup"][place]
        subject = self.claim.subject
        steps = [Step(text) for text in case["setup"][:place]]
        steps.append(Step(statement, {"SQLite": said(right), subject: said(left)}))
        differs = f" ({why})" if why else ""
        return Judgement(
            "broken",
            observed=f"{subject}: {said(left)}{differs}",
            expected=f"SQLite: {said(right)}",
            output=list(left),
            steps=tuple(steps),
            asked=1,
            slow=slow,
        )
