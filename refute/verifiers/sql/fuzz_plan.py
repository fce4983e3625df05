"""What a run of the SQL fuzzer is asked to do, what it counts, and what it finds: plain data.

Nothing here runs anything. Counts and findings go to files and come back (`to_json`, `from_json`),
so that a run can be stopped and go on, and they are sums: the counts of a run are those of its
units added up, in whatever processes these ran.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from refute.verifiers.sql.conform_run import Choice

if TYPE_CHECKING:
    from refute.verifiers.sql.fuzz_seeds import SeedScript

QUERIES = 60  # on one database
ORACLES = ("sqlite", "tlp", "norec", "eet", "crash")
TABLES, ROWS = 3, 8
HOPELESS = 0.5  # of the statements refused: the run says so

Data = dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Finding:
    """An engine's answer that an oracle refutes.

    setup, query: reduced, in SQLite's dialect. asked_setup, asked: as the engine was asked them,
    in its own: what made the database, and the oracle's question. program: its number; a seed
    script's is negative. kind: of the break: "wrong", "crash", "lost", "error". first_setup,
    first_query: before reduction. confirmed: how often it broke again, and what a second SQLite
    says. cause: key of its group.
    title: the cause in one line. known: the entry of the user's file that it matches. times: how
    often the run met it, this once included, as far as that is known without reducing each.
    oracles: all that saw it. also: "SEED/PROGRAM (oracle)" of the first of the other times.
    without: features that were not generated any more when its program was.
    """

    oracle: str
    setup: tuple[str, ...]
    query: str
    asked_setup: tuple[str, ...]
    asked: tuple[str, ...]
    expected: str
    observed: str
    why: str
    seed: int
    program: int
    kind: str = "wrong"
    first_setup: tuple[str, ...] = ()
    first_query: str = ""
    confirmed: str = ""
    cause: str = ""
    title: str = ""
    known: str = ""
    times: int = 1
    oracles: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    without: tuple[str, ...] = ()

    @property
    def again(self) -> str:
        """What plays its program again, after `--repeat`."""
        place = f"{self.seed}/{self.program}"
        return f"{place} --without {','.join(self.without)}" if self.without else place

    def to_json(self) -> Data:
        """As plain data."""
        return dataclasses.asdict(self)

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Finding:
        """From plain data. Raises TypeError for what is none."""
        given: dict[str, Any] = {k: tuple(v) if type(v) is list else v for k, v in data.items()}
        return Finding(**given)


class KnownBugs(Protocol):
    """What a user knows already."""

    def match(self, finding: Finding) -> str:
        """The name of the entry that a finding belongs to; empty when it is new."""
        ...


class NothingKnown:
    """No file of known bugs."""

    def match(self, finding: Finding) -> str:
        """Nothing is known."""
        return ""


@dataclasses.dataclass(frozen=True)
class Plan:
    """What a run does; it can be sent to other processes.

    oracles: names of `fuzz_oracles.ORACLES`. programs: how many; None for as long as there is time.
    time_s: wall seconds; None for as long as there are programs. features: names of
    `refute.specs.sql.FEATURES`; None for all. first: number of the first program. guided: whether
    databases change where queries show no new plans.
    """

    choice: Choice
    oracles: tuple[str, ...] = ORACLES
    seed: int = 0
    programs: int | None = None
    queries: int = QUERIES
    time_s: float | None = None
    jobs: int = 1
    features: frozenset[str] | None = None
    seeds: tuple[SeedScript, ...] = ()
    known: KnownBugs = NothingKnown()
    first: int = 0
    tables: int = TABLES
    rows: int = ROWS
    guided: bool = True


@dataclasses.dataclass
class Counts:
    """What was generated, asked and compared.

    statements: that the engine was asked. queries: generated and given. accepted: of the queries,
    those that the engine answered. rejected: statements it refused, by reason. refused_by_sqlite:
    by reason, those that SQLite refuses too. compared: questions that were judged one way or the
    other. open: judgements that say nothing, by reason. questions, held, broken: by oracle. sizes:
    syntax-tree nodes of a query → how many queries, of those that were measured. plans: different
    query plans seen. not_asked: questions left out because each needs a new database.
    features_refused: what is not generated any more, and why. lost: how often the engine ended.
    unfinished: programs that ended the process that ran them, engine and all.
    """

    programs: int = 0
    statements: int = 0
    queries: int = 0
    accepted: int = 0
    compared: int = 0
    nodes: int = 0
    not_asked: int = 0
    plans: int = 0
    lost: int = 0
    unconfirmed: int = 0
    unfinished: int = 0
    cpu_s: float = 0.0
    rejected: Counter[str] = dataclasses.field(default_factory=Counter)
    refused_by_sqlite: Counter[str] = dataclasses.field(default_factory=Counter)
    open: Counter[str] = dataclasses.field(default_factory=Counter)
    questions: Counter[str] = dataclasses.field(default_factory=Counter)
    held: Counter[str] = dataclasses.field(default_factory=Counter)
    broken: Counter[str] = dataclasses.field(default_factory=Counter)
    sizes: Counter[int] = dataclasses.field(default_factory=Counter)
    features_refused: dict[str, str] = dataclasses.field(default_factory=dict)

    def add(self, other: Counts) -> None:
        """Take the counts of another part of the run."""
        for field in dataclasses.fields(self):
            mine, more = getattr(self, field.name), getattr(other, field.name)
            if isinstance(mine, dict):
                mine.update(more)
            else:
                setattr(self, field.name, mine + more)

    @property
    def median_nodes(self) -> int:
        """Syntax-tree nodes of a query, in the middle of those that were measured."""
        left = sum(self.sizes.values()) / 2
        for size in sorted(self.sizes):
            left -= self.sizes[size]
            if left <= 0:
                return size
        return 0

    @property
    def refusals(self) -> int:
        """Statements that the engine refused."""
        return sum(self.rejected.values())

    @property
    def mostly_refused(self) -> bool:
        """Whether so many statements were refused that the run says little."""
        return self.refusals > HOPELESS * max(1, self.statements)

    def to_json(self) -> Data:
        """As plain data."""
        data: Data = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        data = {name: dict(v) if isinstance(v, dict) else v for name, v in data.items()}
        data["sizes"] = {str(size): n for size, n in sorted(self.sizes.items())}
        return data

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Counts:
        """From plain data. Raises TypeError, KeyError or ValueError for what is none."""
        made = Counts()
        for field in dataclasses.fields(made):
            value = data[field.name]
            if field.name == "sizes":
                value = Counter({int(size): int(n) for size, n in value.items()})
            elif isinstance(getattr(made, field.name), Counter):
                value = Counter(value)
            setattr(made, field.name, value)
        return made


@dataclasses.dataclass(frozen=True)
class FuzzRun:
    """What came of a run.

    stopped: why it ended: "programs", "time", "interrupted", "engine gone". findings: one of each
    cause, in the order in which they were met. pending: failures that it had no time to look into.
    next: number of the program that would have come next. version: of the engine, as it says.
    """

    counts: Counts
    findings: tuple[Finding, ...]
    stopped: str
    pending: int = 0
    next: int = 0
    version: str = ""
    notes: tuple[str, ...] = ()

    @property
    def new(self) -> tuple[Finding, ...]:
        """The findings that are not in the user's file of known bugs."""
        return tuple(finding for finding in self.findings if not finding.known)


class Progress(Protocol):
    """Told how a run gets on."""

    def found(self, finding: Finding) -> None:
        """A finding of a cause that was not met before."""
        ...

    def tick(self, counts: Counts, findings: int, elapsed_s: float) -> None:
        """About once a second."""
        ...


class Quiet:
    """Progress that nobody looks at."""

    def found(self, finding: Finding) -> None:
        """Nothing."""

    def tick(self, counts: Counts, findings: int, elapsed_s: float) -> None:
        """Nothing."""
