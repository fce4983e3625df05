"""Bugs of an old SQLite that generation alone finds, and which known ones they are.

    python benchmarks/bench_old_sqlite.py BUGS.json DIRECTORY --prepare
    python benchmarks/bench_old_sqlite.py BUGS.json DIRECTORY [--budget 30m] [--jobs 2] [--seed 0]

`refute fuzz sql` runs on one old library, which is given nothing. Each finding, reduced, is then
asked of a dozen releases of SQLite, as is the SQL of each known bug, reduced under the oracle that
flags it. A finding counts for a bug only if

* it fails on exactly the releases on which the bug fails, as far as both can be asked there, and
* it uses all that the bug needs: the constructs of the bug's reduced SQL, indexes and views in
  them one by one (`refute.verifiers.sql.fuzz_causes`); the way in which a comparison is spelled
  and values themselves do not count.

That is necessary and not sufficient for the same mistake in SQLite's code, so findings and bugs are
printed side by side. Bar: 10 of the library's known bugs within 30 minutes on 2 cores.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import re
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from sql_environments import LIBRARIES, Unavailable, library_in, newest_library, unpack

from refute.budget import parse_duration
from refute.oracles.sql.sqlite import VERSION
from refute.verifiers.sql.conform_engine import EngineLost
from refute.verifiers.sql.conform_run import Choice
from refute.verifiers.sql.fuzz_asking import Desk
from refute.verifiers.sql.fuzz_causes import shape_of
from refute.verifiers.sql.fuzz_oracles import ORACLES, opened
from refute.verifiers.sql.fuzz_plan import Counts, Finding, Plan, Quiet
from refute.verifiers.sql.fuzz_run import fuzz
from refute.verifiers.sql.fuzz_seeds import SeedScript
from refute.verifiers.sql.fuzz_seeds_text import statements

WANTED = 10
INSTALL = "pyproj==2.4.0"  # SQLite 3.24.0
SEEDS = 8
ENOUGH_S = 20.0  # for a bug's own SQL


class Fails(NamedTuple):
    """On which releases a case fails: "x" where it does, "." where not, "?" where it cannot."""

    marks: str

    def agrees(self, other: Fails) -> bool:
        """Whether both fail on the same releases, and on some."""
        pairs = [p for p in zip(self.marks, other.marks, strict=True) if "?" not in p]
        return all(one == two for one, two in pairs) and ("x", "x") in pairs


class Known(NamedTuple):
    """A known bug, reduced under each oracle that flags it."""

    name: str
    title: str
    findings: tuple[Finding, ...]
    fails: tuple[Fails, ...]


class Kept(Quiet):
    """Writes each finding with its time to a file as it comes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._began = time.monotonic()
        path.write_text("", encoding="utf-8")

    def found(self, finding: Finding) -> None:
        """A line of JSON."""
        seconds = round(time.monotonic() - self._began, 1)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"seconds": seconds, "finding": finding.to_json()}) + "\n")
        print(f"{seconds:7.1f} s  {finding.oracle:7} {finding.title}", flush=True)


class Releases:
    """Libraries of many releases, each with an engine that is opened once."""

    def __init__(self, place: Path) -> None:
        paths = list(_there(place))
        choices = [Choice(f"sqlite:{path}", "sqlite", 10.0) for path in paths]
        choices.append(Choice("sqlite", "sqlite", 10.0))
        choices.append(Choice(f"sqlite:{newest_library()}", "sqlite", 10.0))
        self._desks = [Desk(choice, opened(ORACLES), Counts()) for choice in choices]
        self.versions: list[str] = []
        for desk in self._desks:
            desk.begin(())
            said = str(getattr(desk.engine, "version", "")) or f"SQLite {VERSION}"
            self.versions.append(said.split()[1])

    def fails(self, finding: Finding) -> Fails:
        """Where a finding fails."""
        return Fails("".join(_mark(desk, finding) for desk in self._desks))

    def close(self) -> None:
        """Let all go."""
        for desk in self._desks:
            desk.close()


def _there(place: Path) -> Iterator[Path]:
    for _, name in LIBRARIES:
        try:
            yield library_in(place / name)
        except Unavailable as error:
            print(f"not compared with: {error}")


def _mark(desk: Desk, finding: Finding) -> str:
    """What an oracle says of a finding's case, asked with a few seeds of its own choices."""
    desk.counts = Counts()
    for seed in range(SEEDS):
        try:
            broken = desk.breaks(finding.oracle, finding.setup, finding.query, seed)
        except EngineLost:
            return "x"
        if broken:
            return "x"
    return "." if desk.counts.compared and not desk.counts.rejected else "?"


def main() -> int:
    """Print the run and the table; 1 when the bar is missed."""
    given = _parser().parse_args()
    place = Path(given.directory).resolve()
    if given.prepare:
        return _prepare(place)
    known = [b for b in json.loads(Path(given.bugs).read_text()) if b["engine"] == "sqlite"]
    kept = Path(given.out)
    engine = f"sqlite:{library_in(place / given.install)}"
    if not given.match:
        oracles = tuple(given.oracle.split(","))
        plan = Plan(
            Choice(engine, "sqlite", 10.0),
            oracles,
            seed=given.seed,
            time_s=parse_duration(given.budget),
            jobs=given.jobs,
        )
        run = fuzz(plan, Kept(kept))
        counts = run.counts
        print(f"{run.version}: {counts.programs:,} databases, {counts.queries:,} queries, ")
        print(f"  {len(run.findings)} causes, {run.pending} failures not looked into")
    releases = Releases(place)
    bugs = list(_bugs(known, engine, releases, kept.with_suffix(f".{given.install}.json")))
    lines = [json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines()]
    found = _matched(lines, bugs, releases)
    releases.close()
    return int(found < WANTED)


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description="bugs of an old SQLite by generation alone")
    made.add_argument("bugs")
    made.add_argument("directory")
    made.add_argument("--prepare", action="store_true")
    made.add_argument("--install", default=INSTALL)
    made.add_argument("--oracle", default=",".join(ORACLES))
    made.add_argument("--budget", default="30m")
    made.add_argument("--jobs", type=int, default=2)
    made.add_argument("--seed", type=int, default=0)
    made.add_argument("--out", default="old_sqlite.jsonl", help="where findings are kept")
    made.add_argument("--match", action="store_true", help="only match what is kept")
    return made


def _prepare(place: Path) -> int:
    for version, name in LIBRARIES:
        try:
            unpack(name, version, place)
            print(f"{name}: {library_in(place / name)}", flush=True)
        except Unavailable as error:
            print(f"{name}: cannot be had: {error}", flush=True)
    return 0


def _bugs(known: Sequence[Any], engine: str, releases: Releases, kept: Path) -> Iterator[Known]:
    """The bugs that the library has, each reduced under all oracles; once, and then from a file."""
    reduced: dict[str, Any] = json.loads(kept.read_text()) if kept.exists() else {}
    for bug in known:
        name = bug["id"]
        if name not in reduced:
            sql = tuple(one.sql for text in bug["sql"] for one in statements(text))
            plan = Plan(
                Choice(engine, "sqlite", 10.0),
                tuple(ORACLES),
                programs=0,
                time_s=ENOUGH_S,
                seeds=(SeedScript(name, sql),),
            )
            reduced[name] = [finding.to_json() for finding in fuzz(plan).findings]
            kept.write_text(json.dumps(reduced), encoding="utf-8")
        findings = tuple(map(Finding.from_json, reduced[name]))
        yield Known(name, bug["title"], findings, tuple(map(releases.fails, findings)))


def _matched(lines: Sequence[Any], bugs: Sequence[Known], releases: Releases) -> int:
    """Print what belongs together; the number of bugs that were found."""
    print(f"releases: {' '.join(releases.versions)}")
    for bug in bugs:
        for known, fails in zip(bug.findings, bug.fails, strict=True):
            sql = "; ".join((*known.setup, known.query))
            print(f"{bug.name}: {fails.marks} {known.oracle}: {sql}")
    first: dict[str, float] = {}
    for line in lines:
        finding = Finding.from_json(line["finding"])
        fails = releases.fails(finding)
        names = [bug.name for bug in bugs if _same(finding, fails, bug)]
        for name in names:
            first.setdefault(name, line["seconds"])
        print(f"{line['seconds']:7.1f} s {fails.marks} {finding.oracle} {', '.join(names) or '-'}")
        print(f"    {'; '.join((*finding.setup, finding.query))}")
    for bug in bugs:
        marks = ", ".join(sorted({fails.marks for fails in bug.fails})) or "not flagged here"
        when = f"{first[bug.name]:.0f} s" if bug.name in first else "not found"
        print(f"{bug.name:22} {when:>10}  {marks}  {bug.title}")
    has = sum(bool(bug.findings) for bug in bugs)
    print(f"{len(first)} of the {has} bugs that this library has were found by generation")
    return len(first)


def _same(finding: Finding, fails: Fails, bug: Known) -> bool:
    """Whether the finding may be the bug; see the top."""
    used = _plain(finding)
    return any(
        other.agrees(fails) and _plain(known) <= used
        for known, other in zip(bug.findings, bug.fails, strict=True)
    )


def _plain(finding: Finding) -> frozenset[str]:
    """The constructs of a finding, spelled in one way."""
    setup = tuple(map(_spelled, finding.setup))
    return shape_of(dataclasses.replace(finding, setup=setup, query=_spelled(finding.query))).plain


def _spelled(sql: str) -> str:
    sql = re.sub(r"\bIF NOT EXISTS\b", "", sql, flags=re.IGNORECASE)
    sql = re.sub(r"\bISNULL\b", "IS NULL", sql, flags=re.IGNORECASE)
    return re.sub(r"\b(?:NOTNULL|(?<!IS )NOT NULL)\b", "IS NOT NULL", sql, flags=re.IGNORECASE)


if __name__ == "__main__":
    sys.exit(main())
