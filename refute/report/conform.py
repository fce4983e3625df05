"""Reports of a conformance run: lines for people as files end, and JSON.

One line per failed record, `path:line: expected … got …`, because that is what an editor and a
person can jump to. The number of lines for one file is capped in text; JSON has them all.
"""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

from refute import __version__
from refute.report.conform_causes import cause_data, cause_lines
from refute.report.conform_differences import asked_lines, difference_data, difference_lines
from refute.report.conform_scope import scope_data, scope_lines
from refute.report.visible import shortened, visible
from refute.verifiers.sql.conform_file import Failure, FileResult
from refute.verifiers.sql.conform_run import EXCEPT, UPDATED, ConformRun

if TYPE_CHECKING:
    from refute.verifiers.sql.conform_known import KnownUse

SCHEMA = "refute.conform/1"
SHOWN = 10  # failures of one file
WIDEST = 240  # characters of what was expected, and of what came


@dataclasses.dataclass(frozen=True)
class Counts:
    """Failed records: all, and of those how many are known, listed without being excused, updated,
    shown to follow from an earlier failure, or may follow from one."""

    failed: int
    known: int
    listed: int
    follow: int
    may_follow: int
    updated: int


def counts(run: ConformRun) -> Counts:
    """The failed records of a run, counted."""
    failures = [failure for file in run.files for failure in file.failures]
    return Counts(
        failed=len(failures),
        known=sum(bool(f.known) for f in failures),
        listed=sum(bool(f.listed) and not f.known for f in failures),
        follow=sum(f.follows > 0 for f in failures),
        may_follow=sum(f.may_follow > 0 for f in failures),
        updated=run.updated,
    )


def file_lines(file: FileResult, most: int = SHOWN) -> list[str]:
    """What to say of one file: its failures and what kept it from being run; often nothing.

    Failures that follow from others give way where not all can be shown; known ones are counted.
    """
    unknown = [failure for failure in file.failures if not failure.known]
    first = sorted(unknown, key=lambda f: bool(f.follows or f.may_follow))[:most]
    lines = [
        line
        for f in sorted(first, key=lambda f: (f.path, f.line))
        for line in (failure_line(file.path, f), *asked_lines(f))
    ]
    left = len(unknown) - len(first)
    if left > 0:
        lines.append(f"{visible(file.path)}: … and {left} more failed records")
    known = len(file.failures) - len(unknown)
    if known:
        lines.append(f"{visible(file.path)}: {known} known failure{'' if known == 1 else 's'}")
    if file.error:
        lines.append(f"error: {visible(file.error)}")
    if file.lost:
        number = f"{file.not_run} record{'' if file.not_run == 1 else 's'} not run"
        where = "" if file.lost.startswith(f"{file.path}:") else f"{visible(file.path)}: "
        lines.append(f"{where}{visible(file.lost)}; {number}")
    if file.unmet:
        lines.append(f"{visible(file.path)}: skipped from {visible(file.unmet)}")
    if file.unstable:
        lines.append(f"{visible(file.path)}: not deterministic: {visible(file.unstable)}")
    if file.says:
        lines.append(visible(file.says))
    lines += [
        f"{visible(file.path)}:{line}: depends on the release of SQLite, whose own %.3f here shows"
        " a value otherwise"
        for line in file.by_release[:most]
    ]
    if len(file.by_release) > most:
        left = len(file.by_release) - most
        lines.append(f"{visible(file.path)}: … and {left} more that depend on the release")
    lines += [visible(f"{words} (it only had to prepare)") for words in file.setup_failed[:most]]
    if file.cut:
        lines.append(f"{visible(file.path)}: interrupted after {_records(file.run)}")
    elif not (file.run or file.error or file.lost or file.unchosen):
        lines.append(f"{visible(file.path)}: no record was run, {file.skipped} skipped")
    return lines


def failure_line(path: str, failure: Failure) -> str:
    """One failed record on one line; of a long answer its beginning, JSON has it all."""
    expected, got = (shortened(text, WIDEST) for text in (failure.expected, failure.got))
    wanted = f"expected {expected}, got {got}"
    notes = "".join(f" ({note})" for note in notes_of(failure))
    looped = f" [{failure.round}]" if failure.round else ""
    return visible(f"{failure.path or path}:{failure.line}:{looped} {wanted}{notes}")


def notes_of(failure: Failure) -> list[str]:
    """What is known of a failure besides what was expected and what came."""
    notes = []
    if failure.confirmed is False:
        notes.append("passed when it was run again")
    if failure.follows:
        notes.append(f"follows from line {failure.follows}")
    if failure.may_follow:
        notes.append(f"may follow from line {failure.may_follow}")
    if failure.known:
        notes.append(f"known: {failure.known}")
    elif failure.listed:
        notes.append(failure.listed)
    return notes


def summary(run: ConformRun) -> str:
    """The last lines: the verdict and why, then what was run, how fast."""
    anew = run.run - run.kept_records
    rate = f", {anew / run.wall_s:,.0f} records/s" if run.wall_s and (anew or not run.kept) else ""
    engine = run.choice.shown + (f" ({run.version})" if run.version else "")
    numbers = f"{_records(run.run)} run, {run.skipped:,} skipped, {run.failed:,} failed"
    files = f"{len(run.files)} file{'' if len(run.files) == 1 else 's'}"
    lines = [f"engine {visible(engine)}: {files}, {numbers}{_of_those(counts(run))}"]
    lines.append(f"{run.wall_s:.2f} s{rate}")
    native = sum(file.native for file in run.files)
    if native:
        again = sum(file.doubted for file in run.files)
        plainly = f"; {again} of them also without it, with the same result" if again else ""
        lines.append(f"{native} of the files were run by compiled code{plainly}")
    unchecked = sum(file.unchecked for file in run.files)
    if unchecked:
        lines.append(f"{_records(unchecked)} expected nothing and only had to run")
    lines += difference_lines(run)
    lines = [*cause_lines(run), *lines]
    lines += scope_lines(run)
    if run.known is not None:
        lines += known_lines(run.known)
    reasons = [f"  {visible(reason)}" for reason in run.reasons[:8]]
    more = len(run.reasons) - len(reasons)
    if more:
        reasons.append(f"  … and {more} more")
    return "\n".join([*lines, verdict(run), *reasons]) + "\n"


def verdict(run: ConformRun) -> str:
    """The decision in capitals, with the number of known failures or of updated records."""
    decision = run.decision
    if decision.endswith(EXCEPT):
        number = run.known_failures
        known = f"{number:,} known failure{'' if number == 1 else 's'}"
        decision = f"{decision.removesuffix(EXCEPT)} except {known}"
    if decision == UPDATED:
        decision = f"updated {_records(run.updated)}"
    return decision.upper()


def known_lines(use: KnownUse, most: int = SHOWN) -> list[str]:
    """What is to be done about the list of known failures."""
    lines = []
    remarks = {
        "take it out": use.passing,
        "take it out, or list the record anew": use.gone,
        "its failures count again": use.expired,
        "raise `most` only for what was looked at": use.over,
        "if that stays so, take it out": use.idle,
        "--write-known to a new file gives the new lines": use.moved,
    }
    for advice, found in remarks.items():
        lines += [visible(f"{remark}; {advice}") for remark in found[:most]]
        if len(found) > most:
            lines.append(visible(f"{use.path}: … and {len(found) - most} more; {advice}"))
    if use.unreviewed:
        excused = (
            "is listed, but nobody has reviewed it"
            if use.unreviewed == 1
            else ("are listed, but nobody has reviewed them")
        )
        lines.append(f"{visible(use.path)}: {_failures(use.unreviewed)} {excused}")
    return lines


def _of_those(number: Counts) -> str:
    parts = [
        f"{number.known:,} known" if number.known else "",
        f"{number.follow:,} follow from an earlier failure" if number.follow else "",
        f"{number.may_follow:,} may follow from one" if number.may_follow else "",
        f"{number.updated:,} updated" if number.updated else "",
    ]
    told = ", ".join(part for part in parts if part)
    return f" (of those {told})" if told else ""


def _failures(number: int) -> str:
    return f"{number:,} failure{'' if number == 1 else 's'}"


def document(run: ConformRun) -> dict[str, Any]:
    """The run as JSON data, as `conform.schema.json` describes it."""
    number = counts(run)
    return {
        "schema": SCHEMA,
        "refute": __version__,
        "engine": run.choice.shown,
        "version": run.version,
        "name": run.choice.name,
        "decision": run.decision,
        "exit_code": run.exit_code,
        "reasons": run.reasons,
        "interrupted": run.interrupted,
        "records": {
            "run": run.run,
            "skipped": run.skipped,
            "failed": number.failed,
            "known": number.known,
            "listed": number.listed,
            "follow": number.follow,
            "may_follow": number.may_follow,
            "updated": number.updated,
        },
        "known": None if run.known is None else dataclasses.asdict(run.known),
        "update": None if run.update is None else dataclasses.asdict(run.update),
        "causes": cause_data(run),
        "scope": scope_data(run),
        "wall_s": round(run.wall_s, 3),
        "files": [_file(file) for file in run.files],
    }


def json_text(run: ConformRun) -> str:
    """The run as the text of a JSON file."""
    return json.dumps(document(run), indent=2, allow_nan=False) + "\n"


def _file(file: FileResult) -> dict[str, Any]:
    return {
        "path": file.path,
        "run": file.run,
        "skipped": file.skipped,
        "unchecked": file.unchecked,
        "not_run": file.not_run,
        "error": file.error,
        "lost": file.lost,
        "unmet": file.unmet,
        "unstable": file.unstable,
        "interrupted": file.cut,
        "wall_s": round(file.wall_s, 3),
        "unchosen": file.unchosen,
        "setup": file.setup,
        "setup_failed": file.setup_failed,
        "stopped": file.stopped,
        "says": file.says,
        "by_release": file.by_release,
        "native": file.native,
        "doubted": file.doubted,
        **difference_data(file),
        "failures": [_failure(file, failure) for failure in file.failures],
    }


def _failure(file: FileResult, failure: Failure) -> dict[str, Any]:
    return {
        "path": failure.path or file.path,
        "line": failure.line,
        "round": failure.round,
        "sql": failure.sql,
        "asked": failure.asked,
        "kind": failure.kind,
        "expected": failure.expected,
        "got": failure.got,
        "confirmed": failure.confirmed,
        "follows": failure.follows or None,
        "may_follow": failure.may_follow or None,
        "known": failure.known,
        "listed": failure.listed,
        "updated": failure.updated,
        "cause": failure.cause or None,
    }


def _records(number: int) -> str:
    return f"{number:,} record{'' if number == 1 else 's'}"
