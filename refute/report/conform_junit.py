"""A conformance run as JUnit XML, for CI servers that count tests.

A suite for each file, a case for each record that failed, and one for all that passed, since most
files have thousands. A known failure is `<skipped>` with its reason, as a test that is expected to
fail is elsewhere; an update is one too, since the record expects something else now. A list of
known failures that is out of date is a suite of its own.
"""

from __future__ import annotations

from xml.etree import ElementTree

from refute.report.conform import notes_of
from refute.report.visible import visible, visible_lines
from refute.verifiers.sql.conform_file import Failure, FileResult
from refute.verifiers.sql.conform_run import ConformRun

LONGEST = 4_000  # characters of SQL in a case


def junit_text(run: ConformRun) -> str:
    """The run as the text of a JUnit file."""
    top = ElementTree.Element("testsuites", {"name": f"refute conform {run.choice.shown}"})
    for file in run.files:
        _suite(top, file)
    if run.known is not None and run.known.strict and run.known.stale:
        suite = ElementTree.SubElement(top, "testsuite", {"name": _xml(run.known.path)})
        for remark in run.known.stale:
            _case(suite, remark, "error", remark, "")
        _count(suite, 0.0)
    totals = {name: _total(top, name) for name in ("tests", "failures", "errors", "skipped")}
    if run.exit_code and not (totals["failures"] or totals["errors"]):
        suite = ElementTree.SubElement(top, "testsuite", {"name": "decision"})
        _case(suite, run.decision, "error", "\n".join(run.reasons), "")
        _count(suite, 0.0)
        totals = {name: _total(top, name) for name in totals}
    top.attrib |= {name: str(number) for name, number in totals.items()}
    top.set("time", f"{run.wall_s:.3f}")
    ElementTree.indent(top)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(top, "unicode")}\n'


def _suite(top: ElementTree.Element, file: FileResult) -> None:
    suite = ElementTree.SubElement(
        top, "testsuite", {"name": _xml(file.path), "file": _xml(file.path)}
    )
    passed = file.run - len(file.failures)
    if passed > 0:
        case = _case(suite, f"{passed} records passed", "", "", "")
        case.set("time", f"{file.wall_s:.3f}")
    for failure in file.failures:
        _failure(suite, file, failure)
    problems = [file.error, file.lost, file.unstable, "interrupted" if file.cut else ""]
    for problem in filter(None, problems):
        _case(suite, file.path, "error", problem, "")
    _count(suite, file.wall_s)


def _failure(suite: ElementTree.Element, file: FileResult, failure: Failure) -> None:
    path = failure.path or file.path
    place = f"{path}:{failure.line}" + (f" [{failure.round}]" if failure.round else "")
    message = f"expected {failure.expected}, got {failure.got}"
    outcome = "failure"
    if failure.known or failure.updated:
        outcome = "skipped"
        message = f"known: {failure.known}" if failure.known else f"updated; {message}"
    notes = [message, *notes_of(failure)]
    sql = failure.sql if len(failure.sql) <= LONGEST else f"{failure.sql[:LONGEST]}…"
    case = _case(suite, place, outcome, message, "\n".join([*notes, "", sql]))
    case.attrib |= {"file": _xml(path), "line": str(failure.line)}
    if outcome == "failure":
        case[0].set("type", failure.kind or "failure")


def _case(
    suite: ElementTree.Element, name: str, outcome: str, message: str, text: str
) -> ElementTree.Element:
    """A test case. outcome: "failure", "error", "skipped", or "" for one that passed."""
    case = ElementTree.SubElement(
        suite,
        "testcase",
        {"name": _xml(name), "classname": suite.get("name", ""), "time": "0.000"},
    )
    if outcome:
        found = ElementTree.SubElement(case, outcome, {"message": _xml(message)})
        found.text = "\n".join(map(_xml, visible_lines(text or message)))
    return case


def _count(suite: ElementTree.Element, wall_s: float) -> None:
    cases = list(suite)
    outcomes = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    numbers = {name: sum(c.find(tag) is not None for c in cases) for name, tag in outcomes.items()}
    suite.attrib |= {"tests": str(len(cases)), **{n: str(v) for n, v in numbers.items()}}
    suite.set("time", f"{wall_s:.3f}")


def _total(top: ElementTree.Element, name: str) -> int:
    return sum(int(suite.get(name, "0")) for suite in top)


def _xml(text: str) -> str:
    """`text` on one line without characters that XML 1.0 forbids; they are shown as escapes."""
    return visible(text).replace("\ufffe", r"\ufffe").replace("\uffff", r"\uffff")
