"""Rule 1: no spec, no code. Every changed unit is covered, which is tested, not declared.

Each changed unit is knocked out in a tree of its own, and some claim must be refuted by every
knock-out; claims whose `covers` names the file are asked first, with a small budget, then all that
can reach it, with a larger one. A knock-out that was refuted is remembered under the digests of
everything it depended on; one that survived is tried again next time.
"""

from __future__ import annotations

import dataclasses
import functools
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from refute import plain
from refute.budget import Budget
from refute.change.difference import DELETED, FileChange
from refute.change.trees import copy_part, write_file
from refute.change.units import FUNCTION, IMPORT, STATEMENT, UNREADABLE, Unit, all_units
from refute.check import check
from refute.claim import Claim, Verdict, is_command
from refute.closure import module_file, module_names
from refute.config import DOCUMENT_GLOBS, needs_no_claim, read_exemptions
from refute.gate.contract_changes import is_contract
from refute.gate.hints import Hints
from refute.gate.judging import SPENT, groups, ran_out
from refute.gate.mutants import Knockout, Unsplittable, knockouts
from refute.gate.parallel import at_once
from refute.gate.session import Findings, Session, frozen
from refute.gate.spec_changes import spec_files
from refute.globs import matches
from refute.record import Coverage
from refute.site import Site

COVERED, UNCOVERED, EXEMPT, UNDECIDED = "covered", "uncovered", "exempt", "unknown"
SHARE = 0.8
SMALL_CASES = 50
SMALL_WALL_S = 5.0
VACUITY_TRIES = 12
FILE = "file"
_LOADING = (STATEMENT, IMPORT)  # in a claims module these state claims
_OPENING = re.compile(rb"open|read_|resources|get_data|listdir|scandir|iterdir|glob|mmap|ctypes")
_FILE_KNOCKOUT = (Knockout("file emptied", (b"",)),)


def judge_coverage(session: Session, findings: Findings) -> None:
    """Record one `Coverage` for every changed unit and file that needs a claim."""
    units = charged_units(session)
    exempt = read_exemptions(session.base_dir, session.config)
    judge = _Judge(session)

    def ask(unit: Unit, share: float) -> Coverage:
        if str(unit) in exempt:
            return _line(unit, EXEMPT, detail="on the base's exemption list")
        session.progress(f"knocking out {unit}")
        return judge.cover(unit, share)

    questions = [
        functools.partial(ask, unit, SHARE / (len(units) - number))
        for number, unit in enumerate(units)
    ]
    for line in at_once(questions):
        findings.coverage.append(line)


def charged_units(session: Session) -> tuple[Unit, ...]:
    """The changed units that rule 1 asks about, in file order; whole files have no qualname."""
    imported, read = subject_files(session), read_files(session)
    specs = spec_files(session) | _new_spec_files(session, imported)
    found: list[Unit] = []
    for change in session.changes:
        borrowed = change.path in read and matches(change.path, session.config.claims)
        if change.kind == DELETED or (change.path in specs and not borrowed):
            continue
        if needs_no_claim(change.path, session.config, read) or _is_own_file(session, change):
            continue
        if change.path in session.ignored and change.path not in imported:
            continue
        units = (Unit(change.path, "", FILE, 1),) if change.opaque else change.units
        found += [u for u in units if not (borrowed and u.kind in _LOADING)]
    return tuple(found)


def subject_files(session: Session) -> frozenset[str]:
    """Every file in the closure of some claim's subject, on the head."""
    files: set[str] = set()
    for claim in (*session.claims, *session.new_claims):
        files |= set(session.head_site.subject_closure(claim).files)
    return frozenset(files)


def read_files(session: Session) -> frozenset[str]:
    """The files that some subject imports, or could open, on the head.

    A subject among the claims (a machine, say) makes no code of the claims modules it imports. A
    document that `covers` names counts where the subject has code that opens files.
    """
    found: set[str] = set()
    for claim in (*session.claims, *session.new_claims):
        files = session.head_site.subject_closure(claim).files
        claims = {path for path in files if matches(path, session.config.claims)}
        module = claim.subject.partition(":")[0]
        own = any(module in module_names(path, session.config.roots) for path in claims)
        papers = {p for p in files if not p.endswith(".py") and matches(p, DOCUMENT_GLOBS)}
        code = [session.head_dir / path for path in files if path not in papers]
        opens = papers and any(_OPENING.search(path.read_bytes()) for path in code)
        found |= set(files) - (claims if own else set()) - (set() if opens else papers)
    return frozenset(found)


def _new_spec_files(session: Session, imported: frozenset[str]) -> frozenset[str]:
    """Files that came with new claims and only judge."""
    files: set[str] = set()
    for claim in session.new_claims:
        files |= set(session.new_site.spec_closure(claim).files)
    return frozenset(files - imported - set(session.base.entries))


def _is_own_file(session: Session, change: FileChange) -> bool:
    """The exemption list, controls and configuration have events of their own."""
    controls = {c for claim in (*session.claims, *session.new_claims) for c in claim.controls}
    return change.path in controls or change.path == session.config.exemptions


def _line(unit: Unit, status: str, by: Sequence[str] = (), detail: str = "") -> Coverage:
    return Coverage(
        unit.qualname or unit.file, unit.file, unit.line, status, tuple(dict.fromkeys(by)), detail
    )


@dataclasses.dataclass(frozen=True)
class _Answer:
    """by: the claim that was refuted. ran_out: why more budget might have refuted one."""

    by: str = ""
    ran_out: str = ""


class _Judge:
    """Knocks units out. Knock-outs of one file share the list of claims that reach it."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._candidates: dict[str, list[list[Claim]]] = {}
        self._noticed: dict[str, Claim] = {}

    def cover(self, unit: Unit, share: float) -> Coverage:
        """The coverage of one unit."""
        reaching = self._reaching(unit.file)
        if unit.kind == UNREADABLE:
            return _line(unit, UNCOVERED, detail="the file cannot be parsed")
        if self.session.clock.over:
            return _line(unit, UNDECIDED, detail=SPENT)
        if not reaching:
            return _line(unit, UNCOVERED, detail="no claim's subject depends on this file")
        source = (self.session.head_dir / unit.file).read_bytes()
        try:
            wanted = _FILE_KNOCKOUT if unit.kind == FILE else knockouts(unit, source)
        except Unsplittable as error:
            return _line(unit, UNDECIDED, detail=f"cannot be knocked out: {error}")
        by: list[str] = []
        for knockout in wanted:
            found = self._refuted_by(unit, knockout, reaching, share / len(wanted))
            if not found.by:
                status = UNDECIDED if found.ran_out else UNCOVERED
                why = found.ran_out or "no claim was refuted"
                return _line(unit, status, by, f"{knockout.how}: {why}")
            by.append(found.by)
        return _line(unit, COVERED, by, "; ".join(k.how for k in wanted))

    def _reaching(self, file: str) -> list[list[Claim]]:
        """Groups of claims whose subject depends on the file, the likeliest to notice first."""
        if file not in self._candidates:
            session = self.session
            found = []
            for claims in (session.claims, session.new_claims):
                found += groups(session, [c for c in claims if self._reaches(c, file)])
            found.sort(key=lambda group: min(self._distance(claim, file) for claim in group))
            self._candidates[file] = found
        return self._candidates[file]

    def _reaches(self, claim: Claim, file: str) -> bool:
        closure = self.session.head_site.subject_closure(claim)
        return not claim.statement.existential and file in closure.files

    def _distance(self, claim: Claim, file: str) -> int:
        own = claim.subject.partition(":")[0] in module_names(file, self.session.config.roots)
        return 2 - own - matches(file, claim.covers)

    def _refuted_by(
        self, unit: Unit, knockout: Knockout, reaching: list[list[Claim]], share: float
    ) -> _Answer:
        answer = _Answer()
        for source in knockout.sources:
            answer = self._refuted(unit, source, reaching, share / len(knockout.sources))
            if answer.by:
                break
        return answer

    def _refuted(
        self, unit: Unit, source: bytes, reaching: list[list[Claim]], share: float
    ) -> _Answer:
        """What the claims said of one knocked-out tree."""
        ledger = self.session.ledger
        claims = [claim for group in reaching for claim in group]
        keys = [ledger.key(claim, self.session.site_of(claim)) for claim in claims]
        key = plain.digest([str(unit), source, keys])
        known = ledger.fact("knockout", key)
        if type(known) is str:
            return _Answer(known)
        tree = self._tree(unit.file, source, claims)
        answer = _Answer()
        for group, small in self._plan(unit, reaching):
            part = self._budget(unit, small, share / len(reaching), group)
            answer = self._ask(unit, group, part, tree)
            if answer.by:
                ledger.put_fact("knockout", key, answer.by)
                self._noticed[unit.file] = next(c for c in group if c.name == answer.by)
                break
        return answer

    def _plan(self, unit: Unit, reaching: list[list[Claim]]) -> Iterator[tuple[list[Claim], bool]]:
        """Whom to ask, and whether with a small budget; who noticed last goes first."""
        last = self._noticed.get(unit.file)
        for small in (True, False):
            for group in sorted(reaching, key=lambda group: last not in group):
                yield group, small

    def _tree(self, file: str, source: bytes, claims: Sequence[Claim]) -> Path:
        session = self.session
        wanted: set[str] = set()
        for claim in claims:
            wanted |= set(session.head_site.subject_closure(claim).files)
        tree = session.tree("knockout")
        copy_part(session.head_dir, tree, sorted(wanted - {file}))
        place = tree / file
        place.parent.mkdir(parents=True, exist_ok=True)
        write_file(place, source, executable=session.head.entries[file].kind == "exec")
        return frozen(tree)

    def _budget(self, unit: Unit, small: bool, share: float, group: Sequence[Claim]) -> Budget:
        part = self.session.part(
            f"knockout/{unit}", self.session.clock.left * share, () if small else group
        )
        part = dataclasses.replace(part, shrink=False)
        if not small:
            return part
        wall_s = min(SMALL_WALL_S, part.wall_s)
        cases = min(SMALL_CASES, part.cases)
        return dataclasses.replace(part, cases=cases, wall_s=wall_s, cpu_s=wall_s)

    def _ask(self, unit: Unit, group: Sequence[Claim], part: Budget, tree: Path) -> _Answer:
        session = self.session
        site = Site(tree, session.site_of(group[0]).spec_tree, session.config.roots)
        hints = Hints(session.ledger, "knockout case", str(unit))
        started = time.monotonic()
        evidence = check(group, part, site, store=hints, engines=session.engines)
        spent = time.monotonic() - started
        for claim, found in zip(group, evidence, strict=True):
            if found.verdict is Verdict.REFUTED:
                return _Answer(claim.name)
        open_ones = [
            found.reason or f"{found.verdict.value} after {found.tried} cases"
            for claim, found in zip(group, evidence, strict=True)
            if found.unmet(claim.need) and ran_out(found, part, spent)
        ]
        return _Answer(
            ran_out=f"not refuted within the budget ({open_ones[0]})" if open_ones else ""
        )

    def vacuous(self, claim: Claim) -> str:
        """Why a new claim counts for nothing: no knock-out of its subject refutes it."""
        units = self._units_of(claim)
        share = SHARE / max(1, len(units))
        for unit in units:
            source = (self.session.head_dir / unit.file).read_bytes()
            try:
                tried = _FILE_KNOCKOUT if unit.kind == FILE else knockouts(unit, source)
            except Unsplittable:
                continue
            if any(self._refuted_by(unit, k, [[claim]], share / len(tried)).by for k in tried):
                return ""
        return f"vacuous: none of {len(units)} knock-outs of its subject refuted it"

    def _units_of(self, claim: Claim) -> list[Unit]:
        """Units of a claim's subject: the named function or methods, wherever they are defined."""
        session = self.session
        closure = session.head_site.subject_closure(claim)
        if is_command(claim.subject):
            return [Unit(path, "", FILE, 1) for path in closure.files][:VACUITY_TRIES]
        module, _, qualname = claim.subject.partition(":")
        own = module_file(session.head_dir, session.config.roots, module)
        found: list[Unit] = []
        for path in sorted(closure.files, key=lambda p: p != own):
            if path.endswith(".py"):
                units = all_units(path, (session.head_dir / path).read_bytes())
                found += [u for u in units if f"{u.qualname}.".startswith(qualname + ".")]
        return sorted(found, key=lambda u: u.kind != FUNCTION)[:VACUITY_TRIES]


def judge_new_claims(session: Session, findings: Findings) -> None:
    """Each new claim must be refuted by some knock-out of its own subject, or it is vacuous.

    A claim about a spec (a machine is its own subject) has no code to knock out.
    """
    judge = _Judge(session)
    covering = {name for line in findings.coverage for name in line.by}
    for index, result in enumerate(findings.results):
        claim = result.claim
        if result.role != "new" or result.unmet or claim.name in covering:
            continue
        if claim.statement.existential or _is_its_own_spec(claim):
            continue
        why = judge.vacuous(claim)
        if why:
            findings.results[index] = dataclasses.replace(result, unmet=why)


def _is_its_own_spec(claim: Claim) -> bool:
    return claim.subject in claim.statement.spec and not is_contract(claim)
