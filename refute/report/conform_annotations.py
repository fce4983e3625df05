"""Failed records as workflow commands of GitHub Actions, which shows them at the lines of a change.

The form is that of GitHub's page "Workflow commands for GitHub Actions": `::error
file=…,line=…,title=…::message`, with `%`, line ends, and in properties `:` and `,` escaped.
GitHub shows ten errors of a step, so known failures and those that follow from others stay out.
"""

from __future__ import annotations

from refute.report.visible import shortened, visible
from refute.verifiers.sql.conform_file import Failure, FileResult
from refute.verifiers.sql.conform_run import ConformRun

MOST = 50  # of a run
WIDEST = 300


def annotations_text(run: ConformRun) -> str:
    """One line for each failure that is neither known nor follows from another, for each file that
    could not be run, and for each entry of the list of known failures that is out of date."""
    lines = []
    for file in run.files:
        lines += _problems(file)
        lines += [_failure(file, failure) for failure in file.failures if _new(failure)]
    if run.known is not None:
        level = "error" if run.known.strict else "warning"
        lines += [_at(level, remark) for remark in run.known.stale]
    left = len(lines) - MOST
    if left > 0:
        lines[MOST:] = [f"::notice::{left} more annotations of refute conform are left out"]
    return "".join(f"{line}\n" for line in lines)


def _new(failure: Failure) -> bool:
    return not (failure.known or failure.updated or failure.follows)


def _failure(file: FileResult, failure: Failure) -> str:
    text = f"expected {failure.expected}, got {failure.got}: {failure.sql}"
    place = f"file={_property(failure.path or file.path)},line={failure.line}"
    return f"::error {place},title=refute conform::{_message(text)}"


def _problems(file: FileResult) -> list[str]:
    problems = filter(None, (file.error, file.lost, file.unstable))
    return [f"::error file={_property(file.path)}::{_message(problem)}" for problem in problems]


def _at(level: str, remark: str) -> str:
    """A remark that begins with `path:line: `."""
    place, _, text = remark.partition(": ")
    path, _, line = place.rpartition(":")
    return f"::{level} file={_property(path)},line={line}::{_message(text)}"


def _message(text: str) -> str:
    return shortened(visible(text), WIDEST).replace("%", "%25")


def _property(text: str) -> str:
    return visible(text).replace("%", "%25").replace(":", "%3A").replace(",", "%2C")
