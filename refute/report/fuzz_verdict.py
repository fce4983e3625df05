"""What a run of the SQL fuzzer comes to: its exit code, the word for it, and why.

Nothing found is no proof, so the word is "survived", and it needs comparisons. A difference that
was met and not looked into, or did not come again, is neither a bug nor nothing: exit 3.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from refute.errors import EXIT_ESTABLISHED, EXIT_NOT_ESTABLISHED, EXIT_REFUTED
from refute.verifiers.sql.fuzz_plan import Counts, FuzzRun, Plan

SHOWN = 3  # reasons of one kind
BUG = "a bug of refute"
UNWRITTEN = "cannot be written: "


@dataclasses.dataclass(frozen=True)
class KnownUse:
    """What came of the file of known bugs.

    suppressed: label → how often met. idle: labels of entries that nothing matched. ended: of
    those past their day. unreviewed: so many new findings are listed and nobody has looked at them.
    """

    path: str
    suppressed: Mapping[str, int]
    idle: tuple[str, ...] = ()
    ended: tuple[str, ...] = ()
    unreviewed: int = 0


@dataclasses.dataclass(frozen=True)
class FuzzReport:
    """A run with all that its reports say of it.

    engine: as it may be printed. again: the command that plays a program again, without the
    program. saved: of each finding, by its place, the files that were written of it. goes_on:
    whether an earlier part of the run was kept, whose time is not in `wall_s`.
    """

    plan: Plan
    run: FuzzRun
    wall_s: float
    engine: str
    again: str = "refute fuzz sql --repeat"
    known: KnownUse | None = None
    saved: Mapping[int, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    notes: tuple[str, ...] = ()
    goes_on: bool = False

    @property
    def exit_code(self) -> int:
        """0, 1 or 3, as the command ends."""
        if self.run.new:
            return EXIT_REFUTED
        return EXIT_NOT_ESTABLISHED if self._open() else EXIT_ESTABLISHED

    @property
    def decision(self) -> str:
        """The word for the exit code."""
        words = {EXIT_REFUTED: "refuted", EXIT_ESTABLISHED: "survived"}
        word = words.get(self.exit_code, "not established")
        known = len(self.run.findings) - len(self.run.new)
        if word == "survived" and known:
            word += f" except {known:,} known bug{'' if known == 1 else 's'}"
        return word

    @property
    def reasons(self) -> list[str]:
        """Why it was decided so."""
        new = len(self.run.new)
        if new:
            return [f"{new:,} cause{'' if new == 1 else 's'} of failure that no file lists"]
        counts = self.run.counts
        broken = sum(counts.broken.values())
        by = f"{broken:,} of them broken, by what is known" if broken else "none of them broken"
        return self._open() or [f"{counts.compared:,} comparisons, {by}"]

    def _open(self) -> list[str]:
        """Why nothing is established."""
        run, counts = self.run, self.run.counts
        reasons = []
        why = most_frequent({**counts.open, **counts.rejected})
        behind = f": {why}" if why else _behind(run.notes)
        if not counts.compared:
            reasons.append(f"nothing was compared{behind}")
        elif counts.queries and not counts.accepted:
            reasons.append(f"the engine answered no query{behind}")
        if run.stopped == "engine gone":
            reasons.append("the engine was lost again and again" + _behind(run.notes))
        if run.stopped == "interrupted":
            reasons.append("the run was interrupted")
        if run.pending:
            reasons.append(f"{_failures(run.pending)} not looked into: the time was over")
        if counts.unfinished:
            many = "1 program" if counts.unfinished == 1 else f"{counts.unfinished:,} programs"
            reasons.append(f"{many} ended the process of the run{_behind(run.notes)}")
        if counts.unconfirmed:
            number = _failures(counts.unconfirmed)
            reasons.append(f"{number} not seen again in fresh processes; the engine's answers vary")
        elif counts.lost and "crash" in self.plan.oracles and not self._ends():
            times = "once" if counts.lost == 1 else f"{counts.lost:,} times"
            reasons.append(
                f"the engine was lost {times}, and nothing that was asked again shows why"
            )
        return reasons

    def _ends(self) -> bool:
        """Whether a finding tells of the engine's end, known or not."""
        kinds = {finding.kind.partition(":")[0] for finding in self.run.findings}
        return not kinds.isdisjoint({"lost", "crash"})


def warnings(report: FuzzReport) -> list[str]:
    """What makes a run say less than it seems to."""
    counts = report.run.counts
    made = []
    missing = counts.queries - counts.accepted
    refused, unwritten = refusals(counts)
    number, left_out = sum(refused.values()), sum(unwritten.values())
    if number + left_out > (counts.statements + left_out) / 2:
        made.append(
            f"MOST STATEMENTS WERE REFUSED: {number + left_out:,} of "
            f"{counts.statements + left_out:,}; this run says little. Most often: "
            f"{most_frequent(counts.rejected)}"
        )
    elif missing > counts.queries / 2:
        made.append(
            f"MOST QUERIES WERE NOT ANSWERED: {missing:,} of {counts.queries:,}; this run says "
            f"little. Most often: {most_frequent(counts.rejected or counts.open)}"
        )
    mute = [
        name
        for name in report.plan.oracles
        if not (counts.held[name] or counts.broken[name]) and counts.compared
    ]
    if mute:
        made.append(f"compared nothing: {_oracles(mute)}, {_why_mute(counts, mute)}")
    bugs = [f"{reason} ({n:,})" for reason, n in counts.open.items() if reason.startswith(BUG)]
    made += bugs[:SHOWN]
    made += report.run.notes[:SHOWN]
    return made


def refusals(counts: Counts) -> tuple[dict[str, int], dict[str, int]]:
    """By reason, what the engine refused, and what cannot be said in its dialect."""
    refused = {why: n for why, n in counts.rejected.items() if not why.startswith(UNWRITTEN)}
    begins = len(UNWRITTEN)
    rest = {why[begins:]: n for why, n in counts.rejected.items() if why not in refused}
    return refused, rest


def most_frequent(reasons: Mapping[str, int], most: int = SHOWN) -> str:
    """The most frequent reasons, each with its number."""
    first = sorted(reasons.items(), key=lambda pair: (-pair[1], pair[0]))
    told = ", ".join(f"{reason} ({number:,})" for reason, number in first[:most])
    return told + (f", and {len(first) - most} more" if len(first) > most else "")


def _why_mute(counts: Counts, mute: list[str]) -> str:
    if any(counts.questions[name] for name in mute):
        return "since every answer was open"
    return "since no query was one that it asks about"


def _oracles(names: list[str]) -> str:
    return f"the oracle{'' if len(names) == 1 else 's'} {', '.join(names)}"


def _behind(notes: tuple[str, ...]) -> str:
    return f": {notes[0]}" if notes else ""


def _failures(number: int) -> str:
    return "1 failure was" if number == 1 else f"{number:,} failures were"
