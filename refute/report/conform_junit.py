"""A conformance run as JUnit XML, for CI servers that count tests; nothing is ever `<skipped>`."""

from __future__ import annotations

from xml.etree import ElementTree

from refute.report.visible import visible
from refute.verifiers.sql.conform_file import FileResult
from refute.verifiers.sql.conform_run import ConformRun


def junit_text(run: ConformRun) -> str:
    """The run as the text of a JUnit file: a suite for each file, a case for each failed record.

    The records that passed are one case together, since most files have thousands.
    """
    top = ElementTree.Element("testsuites", {"name": f"refute conform {run.choice.shown}"})
    totals = {"tests": 0, "failures": 0, "errors": 0}
    for file in run.files:
        suite = _suite(top, file)
        for count in totals:
            totals[count] += int(suite.get(count, "0"))
    if run.exit_code and not (totals["failures"] or totals["errors"]):
        suite = ElementTree.SubElement(top, "testsuite", {"name": "decision"})
        _case(suite, run.decision, "error", "\n".join(run.reasons))
        totals["tests"] += 1
        totals["errors"] += 1
        suite.attrib |= {"tests": "1", "failures": "0", "errors": "1"}
    top.attrib |= {name: str(number) for name, number in totals.items()}
    top.set("time", f"{run.wall_s:.3f}")
    ElementTree.indent(top)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(top, "unicode")}\n'


def _suite(top: ElementTree.Element, file: FileResult) -> ElementTree.Element:
    suite = ElementTree.SubElement(top, "testsuite", {"name": _xml(file.path)})
    passed = file.run - len(file.failures)
    if passed > 0:
        _case(suite, f"{passed} records passed", "", "")
    for failure in file.failures:
        name = f"{file.path}:{failure.line}"
        _case(suite, name, "failure", f"expected {failure.expected}, got {failure.got}")
    problems = [file.error, file.lost, file.unstable, "interrupted" if file.cut else ""]
    for problem in filter(None, problems):
        _case(suite, file.path, "error", problem)
    cases = list(suite)
    suite.attrib |= {
        "tests": str(len(cases)),
        "failures": str(sum(case.find("failure") is not None for case in cases)),
        "errors": str(sum(case.find("error") is not None for case in cases)),
        "skipped": "0",
        "time": f"{file.wall_s:.3f}",
    }
    return suite


def _case(suite: ElementTree.Element, name: str, outcome: str, message: str) -> None:
    case = ElementTree.SubElement(
        suite, "testcase", {"name": _xml(name), "classname": suite.get("name", "")}
    )
    if outcome:
        ElementTree.SubElement(case, outcome, {"message": _xml(message)}).text = _xml(message)


def _xml(text: str) -> str:
    """`text` without characters that XML 1.0 forbids; they are shown as escapes."""
    return visible(text).replace("\ufffe", r"\ufffe").replace("\uffff", r"\uffff")
