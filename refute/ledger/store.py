"""What `check` and the gate ask of the ledger: evidence, witnesses, and facts of their own.

Evidence is found only under the digest of its claim's statement, both closures, the engines, the
surroundings and the isolation; the claim's need is no part of it, so stronger evidence serves
weaker needs. UNKNOWN, disputed and flaky evidence is not kept, and REFUTED is not either: its case
is, and it is replayed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from refute import plain
from refute.budget import Budget
from refute.claim import Claim
from refute.errors import RefuteError
from refute.evidence import Evidence
from refute.ledger.file import LedgerFile, open_file
from refute.ledger.key import Key, read_key
from refute.ledger.rows import case_of, from_row, to_row
from refute.ledger.surroundings import surroundings
from refute.plain import Plain
from refute.replay import Counterexample, Witness, replay
from refute.site import Site
from refute.verifiers import Verifier
from refute.verifiers.registry import ENGINES, engines_for

WITNESSES_REPLAYED = 3  # the newest ones; older ones stay in the file
LEDGER_NAME = Path(".refute", "ledger.db")

EnginesFor = Callable[[str], Sequence[Verifier]]


class Ledger:
    """The store of one machine's evidence. isolation: what workers are like here, part of keys."""

    def __init__(
        self, file: LedgerFile, key: Key, isolation: str = "", engines: EnginesFor = engines_for
    ) -> None:
        self.isolation = isolation
        self._file = file
        self._key = key
        self._engines = engines

    @property
    def note(self) -> str:
        """Why nothing is kept beyond this run; empty when it is."""
        if self._file.note:
            return self._file.note
        return (
            "" if self._key.lasting else "the ledger's key cannot be kept; rows serve this run only"
        )

    @property
    def path(self) -> Path | None:
        """The file, or None when rows are kept in memory."""
        return self._file.path

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def seed(self, text: str) -> int:
        """A seed for a run, which nobody without the key can foresee."""
        return self._key.seed(text)

    def inputs(self, claim: Claim, site: Site) -> dict[str, str]:
        """Name → digest of everything the evidence on a claim depends on."""
        subject, spec = site.subject_closure(claim), site.spec_closure(claim)
        kind = claim.statement.kind
        if self._engines is engines_for:  # their versions are those of refute's own source
            engines: Plain = ENGINES.get(kind)
        else:
            engines = [[e.name, e.version] for e in self._engines(kind)]
        return {
            "statement": plain.digest([claim.name, claim.statement.to_json()]),
            "subject": subject.digest,
            "spec": spec.digest,
            "roots": plain.digest(list(site.roots)),
            "engines": plain.digest(engines),
            **self.surroundings(),
        }

    def surroundings(self) -> dict[str, str]:
        """What everything kept here depends on besides code: see `surroundings`, and isolation."""
        return {"isolation": self.isolation, **surroundings()}

    def key(self, claim: Claim, site: Site) -> str:
        """The digest under which evidence on the claim is kept."""
        return plain.digest(self.inputs(claim, site))

    def lookup(self, claim: Claim, site: Site) -> Evidence | None:
        """Kept evidence that meets the claim's need for exactly these inputs, or None.

        Evidence that rests on a witness is replayed now, and serves only if that succeeds.
        """
        for row in self._file.get("evidence", self.key(claim, site)):
            evidence = self._revive(row, claim, site)
            if evidence is not None and not evidence.unmet(claim.need):
                return evidence
        return None

    def _revive(self, row: Plain, claim: Claim, site: Site) -> Evidence | None:
        try:
            case = case_of(row)
            if case is None:
                return from_row(row, None)
            witness = self._replay(case, claim, site)
            return from_row(row, witness) if witness is not None else None
        except (RefuteError, KeyError, TypeError, ValueError, AttributeError):
            return None

    def _replay(self, case: Counterexample, claim: Claim, site: Site) -> Witness | None:
        for engine in self._engines(claim.statement.kind):
            if not engine.declines(claim):
                replayed = replay(case, engine.replayer(claim, site, Budget()))
                if replayed.witness is not None:
                    return replayed.witness
        return None

    def record(self, claim: Claim, site: Site, evidence: Evidence) -> None:
        """Keep evidence that establishes something and that nothing disputes."""
        self._file.put("cost", claim.name, "", evidence.cost.wall_s)
        if not _keepable(evidence):
            return
        inputs = self.inputs(claim, site)
        row = {**to_row(evidence), "inputs": inputs}
        self._file.put("evidence", plain.digest(inputs), plain.digest(row), row)

    def witnesses(self, claim: Claim) -> Sequence[Counterexample]:
        """Cases that once broke the claim, newest first."""
        return self.cases("witness", claim.name)

    def keep(self, claim: Claim, witness: Witness) -> None:
        """Keep a witness's case with its claim for ever."""
        self.put_case("witness", claim.name, witness.counterexample)

    def fact(self, kind: str, key: str) -> Plain:
        """The value put under (kind, key), or None."""
        found = self._file.get(kind, key)
        return found[0] if found else None

    def cases(self, kind: str, key: str) -> tuple[Counterexample, ...]:
        """Cases put under (kind, key), newest first: where to look first, never evidence."""
        found = []
        for row in self._file.get(kind, key)[:WITNESSES_REPLAYED]:
            try:
                found.append(Counterexample.from_json(row))
            except RefuteError:
                continue
        return tuple(found)

    def put_case(self, kind: str, key: str, case: Counterexample) -> None:
        """Remember a case under (kind, key)."""
        row = case.to_json()
        self._file.put(kind, key, plain.digest(row["inputs"]), row)

    def put_fact(self, kind: str, key: str, value: Plain) -> None:
        """Keep something that was established and follows from what `key` digests."""
        self._file.put(kind, key, "", value)

    def expected_cost(self, claim: Claim) -> float | None:
        """Seconds the claim took last time; a hint for the order, never evidence."""
        cost = self.fact("cost", claim.name)
        return float(cost) if type(cost) in (int, float) else None


def _keepable(evidence: Evidence) -> bool:
    """Whether it establishes something; a refutation is found again by replaying its witness."""
    if evidence.disputes or evidence.from_ledger or not evidence.verdict.strength:
        return False
    return evidence.witness is None or not evidence.witness.flaky


def open_ledger(
    path: Path, *, key: Path | None = None, isolation: str = "", engines: EnginesFor = engines_for
) -> Ledger:
    """The ledger at `path`, made if missing; in memory, with a note, where it cannot be kept.

    Raises LedgerError for a file that is damaged or something else.
    """
    secret = read_key(key)
    return Ledger(open_file(path, secret), secret, isolation, engines)


def open_without_file(reason: str, *, engines: EnginesFor = engines_for) -> Ledger:
    """A ledger in memory for one run."""
    secret = read_key()
    return Ledger(LedgerFile(None, secret, reason), secret, "", engines)
