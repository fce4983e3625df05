"""Bugs that are known already: a file that users keep, so that a run suppresses them and goes on.

An entry says which findings it is for, by the cause that the report names or by a pattern for the
reduced SQL, and may bind itself to engines, versions, oracles and kinds. It has to say why it is
there. One that nobody has reviewed suppresses nothing, nor does one past its day. What an entry
suppressed is counted under its name, so that one that has grown too wide is seen.

    [[bug]]
    name = "EXCEPT forgets the collation"
    reason = "reported on 30 November"
    link = "https://example.org/issues/12"
    engine = "turso"
    version = "0.8.*"
    cause = "9f8e7d6c5b4a"

In place of `cause`, or beside it: `sql`, a regular expression for the reduced statements. TOML, for
what speaks for it in lists of known failures (`conform_known_file`).
"""

from __future__ import annotations

import dataclasses
import datetime
import fnmatch
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from refute.verifiers.sql.conform_known_file import UNREVIEWED
from refute.verifiers.sql.fuzz_oracles import ORACLES
from refute.verifiers.sql.fuzz_plan import Finding
from refute.verifiers.sql.toml_entries import TomlEntry, TomlList

FORMAT = "refute.fuzz-known/1"
KINDS = ("wrong", "error", "crash", "lost", "unfit")  # of `Finding.kind`, before a colon
_KEYS = (
    "name",
    "reason",
    "link",
    "engine",
    "version",
    "oracle",
    "kind",
    "cause",
    "sql",
    "until",
)
_STEP = 'mend it; docs/fuzz.md describes the file ("Known bugs")'
_ABSENT = "name a file of known bugs, or have one begun with --write-known"


@dataclasses.dataclass(frozen=True)
class KnownBug:
    """An entry. label: what it is called in reports, its place where it has no name.

    engines: names in lower case; versions: of the engine, with * and ?; oracles, kinds: of
    findings. Empty: any. causes: keys. sql: for the reduced case. until: its last day.
    """

    where: str
    label: str
    reason: str
    link: str = ""
    engines: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    oracles: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    causes: tuple[str, ...] = ()
    sql: re.Pattern[str] | None = None
    until: datetime.date | None = None

    @property
    def reviewed(self) -> bool:
        """Whether a person has said why."""
        return self.reason.lower().rstrip(".!") != UNREVIEWED

    def is_for(self, engines: Sequence[str], version: str) -> bool:
        """Whether it is for an engine by one of its names, in a version."""
        named = not self.engines or any(name.lower() in self.engines for name in engines)
        words = [version, *version.split()]
        fits = (fnmatch.fnmatchcase(word, glob) for glob in self.versions for word in words)
        return named and (not self.versions or any(fits))

    def fits(self, finding: Finding) -> bool:
        """Whether a finding is what it describes, whatever the engine."""
        if self.oracles and finding.oracle not in self.oracles:
            return False
        if self.kinds and finding.kind.partition(":")[0] not in self.kinds:
            return False
        if self.causes and finding.cause not in self.causes:
            return False
        return self.sql is None or any(self.sql.search(text) for text in _texts(finding))


@dataclasses.dataclass(frozen=True)
class KnownFile:
    """The entries of a file for one engine. engines: its names; version: as it says.

    today: decides which entries have ended.
    """

    path: str
    entries: tuple[KnownBug, ...]
    engines: tuple[str, ...] = ()
    version: str = ""
    today: datetime.date = datetime.date.min

    def match(self, finding: Finding) -> str:
        """The label of the first entry that suppresses a finding; empty when it is new."""
        for entry in self.entries:
            if entry.reviewed and self._counts(entry) and entry.fits(finding):
                return entry.label
        return ""

    def unreviewed(self, findings: Iterable[Finding]) -> list[Finding]:
        """The new ones that are listed, where nobody has said why."""
        return [finding for finding in findings if not finding.known and self.lists(finding)]

    def lists(self, finding: Finding) -> bool:
        """Whether an entry is for a finding, be it unreviewed or past its day."""
        mine = (e for e in self.entries if e.is_for(self.engines, self.version))
        return any(entry.fits(finding) for entry in mine)

    def suppressed(self, findings: Iterable[Finding]) -> dict[str, int]:
        """How often each entry's bugs were met, in the order of the file."""
        times: Counter[str] = Counter()
        for finding in findings:
            times[finding.known] += finding.times
        return {e.label: times[e.label] for e in self.entries if times[e.label]}

    def idle(self, findings: Iterable[Finding]) -> list[str]:
        """The labels of entries for this engine that no finding matched."""
        met = {finding.known for finding in findings}
        mine = (e for e in self.entries if e.reviewed and self._counts(e))
        return [entry.label for entry in mine if entry.label not in met]

    def ended(self) -> list[str]:
        """The labels of entries whose last day is over."""
        return [e.label for e in self.entries if e.until is not None and e.until < self.today]

    def _counts(self, entry: KnownBug) -> bool:
        over = entry.until is not None and entry.until < self.today
        return not over and entry.is_for(self.engines, self.version)


def read_known_bugs(path: str) -> tuple[KnownBug, ...]:
    """The entries of a file. Raises UnreadableInput with file and line."""
    file = TomlList(path, "bug", FORMAT, _STEP, _ABSENT)
    labels: dict[str, str] = {}
    made = []
    for given in file.entries:
        entry = _entry(given)
        if entry.label in labels:
            problem = f"{entry.label!r} is there already, {labels[entry.label]}"
            raise given.wrong("name", problem, "give each its own name")
        labels[entry.label] = entry.where
        made.append(entry)
    return tuple(made)


def _entry(given: TomlEntry) -> KnownBug:
    given.refuse_others(_KEYS)
    step = f'say why it is known, or "{UNREVIEWED}" until somebody has looked at it'
    entry = KnownBug(
        where=given.where,
        label=given.text("name") or given.where,
        reason=given.needed("reason", "a known bug without a reason", step),
        link=given.text("link"),
        engines=tuple(name.lower() for name in given.texts("engine")),
        versions=given.texts("version"),
        oracles=given.texts("oracle"),
        kinds=given.texts("kind"),
        causes=given.texts("cause"),
        sql=given.pattern("sql", re.DOTALL | re.IGNORECASE),
        until=given.day("until"),
    )
    for key, names, possible in (
        ("oracle", entry.oracles, tuple(ORACLES)),
        ("kind", entry.kinds, KINDS),
    ):
        for name in names:
            if name not in possible:
                raise given.wrong(key, f"there is no {key} {name!r}", "", *possible)
    if not (entry.causes or entry.sql):
        problem = "an entry that does not say which bug it is"
        raise given.wrong("", problem, "", "cause", "sql")
    if entry.sql is not None and entry.sql.search(""):
        problem = f"sql = {entry.sql.pattern!r} matches everything"
        raise given.wrong("sql", problem, "give a pattern for what is special about the bug")
    return entry


def _texts(finding: Finding) -> Iterator[str]:
    """The reduced case as `sql` sees it, in SQLite's dialect and as the engine was asked."""
    yield ";\n".join((*finding.setup, finding.query))
    yield ";\n".join((*finding.asked_setup, *finding.asked))
