"""Reports of a conformance run: lines for people as files end, and JSON.

One line per failed record, `path:line: expected … got …`, because that is what an editor and a
person can jump to. The number of lines for one file is capped in text; JSON has them all.
"""

from __future__ import annotations

import json
from typing import Any

from refute import __version__
from refute.report.visible import visible
from refute.verifiers.sql.conform_file import Failure, FileResult
from refute.verifiers.sql.conform_run import ConformRun

SCHEMA = "refute.conform/1"
SHOWN = 10  # failures of one file


def file_lines(file: FileResult, most: int = SHOWN) -> list[str]:
    """What to say of one file: its failures and what kept it from being run; often nothing."""
    lines = [failure_line(file.path, failure) for failure in file.failures[:most]]
    left = len(file.failures) - len(lines)
    if left > 0:
        lines.append(f"{visible(file.path)}: … and {left} more failed records")
    if file.error:
        lines.append(f"error: {visible(file.error)}")
    if file.lost:
        lines.append(f"{visible(file.path)}: {visible(file.lost)}; {file.not_run} records not run")
    if file.unstable:
        lines.append(f"{visible(file.path)}: not deterministic: {visible(file.unstable)}")
    if file.cut:
        lines.append(f"{visible(file.path)}: interrupted after {_records(file.run)}")
    elif not (file.run or file.error or file.lost):
        lines.append(f"{visible(file.path)}: no record was run, {file.skipped} skipped")
    return lines


def failure_line(path: str, failure: Failure) -> str:
    """One failed record on one line."""
    once = " (passed when it was run again)" if failure.confirmed is False else ""
    wanted = f"expected {failure.expected}, got {failure.got}{once}"
    return visible(f"{path}:{failure.line}: {wanted}")


def summary(run: ConformRun) -> str:
    """The last lines: the verdict and why, then what was run, how fast."""
    rate = run.run / run.wall_s if run.wall_s else 0
    engine = run.choice.engine + (f" ({run.version})" if run.version else "")
    counts = f"{_records(run.run)} run, {run.skipped:,} skipped, {run.failed:,} failed"
    files = f"{len(run.files)} file{'' if len(run.files) == 1 else 's'}"
    lines = [
        f"engine {engine}: {files}, {counts}",
        f"{run.wall_s:.2f} s, {rate:,.0f} records/s",
    ]
    unchecked = sum(file.unchecked for file in run.files)
    if unchecked:
        lines.append(f"{_records(unchecked)} expected nothing and only had to run")
    reasons = [f"  {visible(reason)}" for reason in run.reasons[:8]]
    more = len(run.reasons) - len(reasons)
    if more:
        reasons.append(f"  … and {more} more")
    return "\n".join([*lines, run.decision.upper(), *reasons]) + "\n"


def document(run: ConformRun) -> dict[str, Any]:
    """The run as JSON data."""
    return {
        "schema": SCHEMA,
        "refute": __version__,
        "engine": run.choice.engine,
        "version": run.version,
        "name": run.choice.name,
        "decision": run.decision,
        "exit_code": run.exit_code,
        "reasons": run.reasons,
        "interrupted": run.interrupted,
        "records": {"run": run.run, "skipped": run.skipped, "failed": run.failed},
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
        "unstable": file.unstable,
        "interrupted": file.cut,
        "wall_s": round(file.wall_s, 3),
        "failures": [
            {
                "line": failure.line,
                "sql": failure.sql,
                "expected": failure.expected,
                "got": failure.got,
                "confirmed": failure.confirmed,
            }
            for failure in file.failures
        ],
    }


def _records(number: int) -> str:
    return f"{number:,} record{'' if number == 1 else 's'}"
