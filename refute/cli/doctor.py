"""`refute doctor`: what is available here, and what each missing thing would enable.

Exit 0 unless something that every verdict needs is missing (3: nothing could be established here).
"""

from __future__ import annotations

import dataclasses
import importlib.metadata
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from refute import __version__
from refute.cli.parsing import Parser
from refute.cli.printing import print_all
from refute.errors import EXIT_ESTABLISHED, EXIT_NOT_ESTABLISHED, RefuteError
from refute.report.visible import visible
from refute.sandbox import Limits, open_worker

EXAMPLES = """
refute doctor
refute doctor && refute gate --base main
"""


@dataclasses.dataclass(frozen=True)
class Finding:
    """One thing looked at. status: "ok", "missing" or "limited". enables: what it is for."""

    name: str
    status: str
    value: str
    enables: str = ""
    required: bool = False


ABOUT = """\
Show what is available here and what each missing thing would enable.

Exit 0: all that verdicts need is here. 3: something required is missing."""


def run(argv: Sequence[str]) -> int:
    """Run the command; returns its exit code."""
    Parser("doctor", ABOUT, EXAMPLES).read(argv)
    findings = examine(Path.cwd())
    print_all(_text(findings), sys.stdout)
    missing = [f.name for f in findings if f.required and f.status == "missing"]
    return EXIT_NOT_ESTABLISHED if missing else EXIT_ESTABLISHED


def examine(directory: Path) -> list[Finding]:
    """Everything there is to say about this machine and the project in `directory`."""
    return [
        _python(),
        _isolation(),
        _program("git", ("git",), "the gate reads changes from it", required=True),
        _program("C compiler", ("cc", "gcc", "clang"), _COMPILER),
        _fuse(),
        *(_library(name, enables) for name, enables in _LIBRARIES.items()),
    ]


_COMPILER = "the compiled model checker of later versions; machines are searched in Python now"
_LIBRARIES = {
    "hypothesis": "a first source of cases for claims about functions",
    "z3-solver": "proofs by SMT in later versions; no engine uses it yet",
    "crosshair-tool": "symbolic search for counterexamples in later versions",
    "sqlglot": "SQL engines as subjects in later versions",
    "pytest": "claims as test items, witnesses as tests",
    "mfusepy": "mounting examples/journalfs (extra: fuse)",
}


def _python() -> Finding:
    version = f"{platform.python_implementation()} {platform.python_version()}"
    status = "ok" if sys.version_info >= (3, 11) else "missing"
    return Finding("python", status, f"{version}, {sys.executable}", "3.11 or newer", required=True)


def _isolation() -> Finding:
    """Start a worker, which is the only way to know what the kernel allows here."""
    enables = "subjects run apart from this process"
    with tempfile.TemporaryDirectory() as empty:
        try:
            with open_worker(Path(empty), (), (".",), Limits()) as worker:
                isolation = worker.isolation
        except (RefuteError, OSError) as error:
            return Finding("isolation", "missing", str(error), enables, required=True)
    limited = not isolation.startswith("namespaces")
    note = "user namespaces would also keep subjects off the network and other files"
    return Finding(
        "isolation", "limited" if limited else "ok", isolation, note if limited else enables, True
    )


def _program(name: str, commands: Sequence[str], enables: str, required: bool = False) -> Finding:
    for command in commands:
        path = shutil.which(command)
        if path:
            return Finding(name, "ok", _version_of(path), enables, required)
    return Finding(name, "missing", "not on PATH", enables, required)


def _version_of(path: str) -> str:
    try:
        done = subprocess.run(
            [path, "--version"], capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{path} ({error})"
    return (done.stdout.splitlines() or [path])[0]


def _fuse() -> Finding:
    enables = "mounting examples/journalfs and comparing it with a kernel filesystem"
    device = Path("/dev/fuse")
    mount = shutil.which("fusermount3") or shutil.which("fusermount")
    if device.exists() and os.access(device, os.R_OK | os.W_OK) and mount:
        return Finding("FUSE", "ok", mount, enables)
    lacking = [
        *([] if device.exists() else ["no /dev/fuse"]),
        *([] if os.access(device, os.R_OK | os.W_OK) else ["/dev/fuse is not accessible"]),
        *([] if mount else ["no fusermount3 on PATH"]),
    ]
    return Finding("FUSE", "missing", ", ".join(lacking), enables)


def _library(name: str, enables: str) -> Finding:
    try:
        return Finding(name, "ok", importlib.metadata.version(name), enables)
    except importlib.metadata.PackageNotFoundError:
        return Finding(name, "missing", f"pip install {name}", enables)


def _text(findings: Sequence[Finding]) -> str:
    lines = [f"refute {__version__} on {platform.platform()}", ""]
    for finding in findings:
        mark = (
            finding.status.upper()
            if finding.required and finding.status != "ok"
            else finding.status
        )
        lines.append(f"  {mark:<8} {finding.name:<15} {visible(finding.value)}")
        if finding.status != "ok" and finding.enables:
            lines.append(f"{'':27}for: {finding.enables}")
    missing = [f.name for f in findings if f.required and f.status == "missing"]
    lines += [
        "",
        f"required and missing: {', '.join(missing)}"
        if missing
        else "all that verdicts need is here",
    ]
    return "\n".join(lines) + "\n"
