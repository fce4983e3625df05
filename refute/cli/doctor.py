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
from refute.change.git import Repository
from refute.cli.parsing import Parser
from refute.cli.printing import print_all
from refute.errors import (
    EXIT_ESTABLISHED,
    EXIT_NOT_ESTABLISHED,
    GitError,
    LedgerError,
    RefuteError,
)
from refute.ledger.key import key_path, read_key
from refute.ledger.store import LEDGER_NAME, open_ledger
from refute.report.visible import visible
from refute.sandbox import Limits, open_worker

EXAMPLES = """
refute doctor
refute doctor && refute gate --base main
"""


BAD = ("missing", "broken")


@dataclasses.dataclass(frozen=True)
class Finding:
    """One thing looked at. status: "ok", "limited", "missing" or "broken". enables: what for."""

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
    return EXIT_NOT_ESTABLISHED if _wrong(findings) else EXIT_ESTABLISHED


def examine(directory: Path) -> list[Finding]:
    """Everything there is to say about this machine and the project in `directory`."""
    return [
        _python(),
        _isolation(),
        _program("git", ("git",), "the gate reads changes from it", required=True),
        _program("C compiler", ("cc", "gcc", "clang"), _COMPILER),
        _fuse(),
        _key(),
        _ledger(directory),
        *(_library(name, enables) for name, enables in _LIBRARIES.items()),
    ]


_COMPILER = "the native model checker; without it machines are searched in Python"
_LIBRARIES = {
    "hypothesis": "a first source of cases for claims about functions",
    "z3-solver": "proofs of contracts (refute prove)",
    "crosshair-tool": "inputs that break a contract, found by symbolic execution",
    "icontract": "functions that carry contracts can be loaded",
    "sqlglot": "generated SQL for AgreesWithSQLite",
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


def _key() -> Finding:
    """The key that authenticates the ledger; looked at, not made."""
    place, enables = key_path(), "evidence that later gates may trust"
    if not place.exists():
        return Finding("ledger key", "ok", f"none yet; the first gate makes {place}", enables)
    try:
        lasting = read_key(place).lasting
    except LedgerError as error:
        return Finding("ledger key", "broken", error.message, error.next_step, required=True)
    if not lasting:
        return Finding("ledger key", "limited", f"{place} cannot be read", enables)
    return Finding("ledger key", "ok", str(place), enables)


def _ledger(directory: Path) -> Finding:
    enables = "claims that a change does not touch are answered from it"
    try:
        with Repository.open(directory) as repository:
            place = repository.main_worktree / LEDGER_NAME
    except (GitError, OSError):
        return Finding("ledger", "limited", "no git repository here, so no ledger", enables)
    if not place.exists() or not key_path().exists():
        return Finding("ledger", "ok", f"none yet; the first gate makes {place}", enables)
    try:
        ledger = open_ledger(place)
    except LedgerError as error:
        return Finding("ledger", "broken", error.message, error.next_step, required=True)
    note = ledger.note
    ledger.close()
    return Finding("ledger", "limited" if note else "ok", note or str(place), enables)


def _library(name: str, enables: str) -> Finding:
    try:
        return Finding(name, "ok", importlib.metadata.version(name), enables)
    except importlib.metadata.PackageNotFoundError:
        return Finding(name, "missing", f"pip install {name}", enables)


def _text(findings: Sequence[Finding]) -> str:
    lines = [f"refute {__version__} on {platform.platform()}", ""]
    for finding in findings:
        loud = finding.required and finding.status in BAD
        mark = finding.status.upper() if loud else finding.status
        lines.append(f"  {mark:<8} {finding.name:<15} {visible(finding.value)}")
        if finding.status != "ok" and finding.enables:
            lines.append(f"{'':27}for: {visible(finding.enables)}")
    wrong = _wrong(findings)
    last = (
        f"required, and not right: {', '.join(wrong)}"
        if wrong
        else "all that verdicts need is here"
    )
    return "\n".join([*lines, "", last]) + "\n"


def _wrong(findings: Sequence[Finding]) -> list[str]:
    return [f.name for f in findings if f.required and f.status in BAD]
