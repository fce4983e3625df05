"""`--update` of `refute conform`: files are rewritten once all were run, one after the other."""

from __future__ import annotations

import importlib
from collections.abc import Callable

from refute.errors import RefuteError, UnreadableInput
from refute.oracles.sqllogictest.extended.dialects import READERS
from refute.report.visible import visible
from refute.verifiers.sql.conform_engine import Engine, EngineCannot, EngineLost
from refute.verifiers.sql.conform_file import FileResult, Run
from refute.verifiers.sql.conform_replace import replace_file
from refute.verifiers.sql.conform_run import Choice, ConformRun
from refute.verifiers.sql.conform_task import read_file
from refute.verifiers.sql.conform_update import Updated, UpdateReport, update

SHOWN = 10  # records of a file that are listed because they could not be rewritten

Say = Callable[[str], None]


def update_files(choice: Choice, run: ConformRun, say: Say, *, dry: bool) -> None:
    """Have the records that failed expect what the engine gave; what was done is told and noted.

    dry: show the change instead. Raises RefuteError where a file cannot be written.
    """
    run.update = UpdateReport(written=not dry)
    files = [file for file in run.files if _may_change(file)]
    if not files:
        say("nothing to update\n")
        return
    engine = choice.open()
    try:
        for file in files:
            _update(choice, engine, run.update, file, say, dry)
    except KeyboardInterrupt:
        run.interrupted = True
    finally:
        engine.close()


def _may_change(file: FileResult) -> bool:
    """Whether the file was run to its end, and something in it failed that is not known."""
    whole = not (file.error or file.lost or file.cut)
    return whole and any(not failure.known for failure in file.failures)


def _update(
    choice: Choice, engine: Engine, report: UpdateReport, file: FileResult, say: Say, dry: bool
) -> None:
    run = Run(
        engine, choice.name, dialect=choice.dialect, rules=choice.rules, excuses=choice.excuses()
    )
    try:
        done = _updated(run, file, read_file(file.path))
        if done.lines and not dry:
            replace_file(file.path, done.data, done.before)
    except (EngineLost, EngineCannot, UnreadableInput, OSError) as error:
        why = error.message if isinstance(error, RefuteError) else str(error)
        report.left.append(f"{file.path}: {why}")
        say(visible(f"{file.path}: not updated: {why}") + "\n")
        return
    report.left += [f"{file.path}:{line}: {why}" for line, why in sorted(done.left.items())]
    if done.lines:
        report.updated[file.path] = done.lines
        if not dry:
            for failure in file.failures:
                failure.updated = not failure.path and failure.line in done.lines
    say(_told(done, dry))


def _updated(run: Run, file: FileResult, data: bytes) -> Updated:
    """New text for the file, in whichever dialect it is."""
    refused = UnreadableInput("it is in an extended dialect")
    if run.dialect not in READERS:
        try:
            return update(run, file, data)
        except UnreadableInput as error:
            refused = error
    module = importlib.import_module("refute.verifiers.sql.conform_update_script")
    made: Updated = module.update_script(run, file, data, refused)
    return made


def _told(done: Updated, dry: bool) -> str:
    """What was done with one file, or would be."""
    lines = list(map(visible, done.diff())) if dry else []
    number = len(done.lines)
    if number:
        records = f"{number:,} record{'' if number == 1 else 's'}"
        verb = "would be updated" if dry else "updated"
        lines.append(visible(f"{done.path}: {records} {verb}"))
    left = sorted(done.left.items())
    lines += [visible(f"{done.path}:{line}: not updated: {why}") for line, why in left[:SHOWN]]
    if len(left) > SHOWN:
        lines.append(visible(f"{done.path}: … and {len(left) - SHOWN} more not updated"))
    return "\n".join(lines) + "\n" if lines else ""
