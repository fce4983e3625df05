"""Writes findings to a directory: `NAME.test` and `NAME.py` for each.

A `.test` is run before it is kept, on the engine, where it has to fail, and where SQLite says what
is right, on the embedded SQLite, where it has to pass. A script is not run: it would have the
engine in a process without walls.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

from refute import __version__
from refute.errors import UsageError
from refute.verifiers.sql.conform_engine import Embedded, Engine
from refute.verifiers.sql.conform_file import FileResult, Run, run_file
from refute.verifiers.sql.conform_replace import replace_file
from refute.verifiers.sql.conform_run import Choice
from refute.verifiers.sql.fuzz_plan import Finding
from refute.verifiers.sql.fuzz_saved import Kept, kept
from refute.verifiers.sql.fuzz_saved_script import script_text
from refute.verifiers.sql.fuzz_saved_test import test_texts
from refute.verifiers.sql.fuzz_writing import dialect_of

_WORD = re.compile(r"[A-Za-z0-9]+")
_LONGEST = 40  # characters of a name, without its digest


class Saver:
    """Writes the findings of one engine. again: the command that plays a program of the run again.

    notes: what could not be written, and why.
    """

    def __init__(self, choice: Choice, folder: Path, again: str) -> None:
        self._choice, self._folder, self._again = choice, folder, again
        self.notes: list[str] = []

    def save(self, finding: Finding) -> tuple[str, ...]:
        """The files that were written. Raises UsageError."""
        name = name_of(finding)
        case = kept(self._choice, finding, dialect_of(self._choice))
        if case is None:
            why = "no rule was found that says what is right without the oracle"
            self.notes.append(f"{name} is not saved: {why}")
            return ()
        about = self._about(finding, case.version)
        script = script_text(
            self._choice, about, [sql for sql, _ in case.setup], case.asked, case.rule
        )
        written = [self._write(f"{name}.py", script)]
        text = self._test(case, about)
        if text:
            written.insert(0, self._write(f"{name}.test", text))
        else:
            self.notes.append(f"{name}.test is left out: the format cannot say what is right")
        return tuple(written)

    def _about(self, finding: Finding, version: str) -> list[str]:
        known = f" ({version})" if version else ""
        lines = [
            f"Found by refute {__version__} on {self._choice.shown}{known}: {finding.title}",
            finding.why,
            f"oracle    {finding.oracle}; cause {finding.cause}; confirmed: {finding.confirmed}",
            f"expected  {finding.expected}",
            f"observed  {finding.observed}",
            f"again     {self._again} {finding.again}",
        ]
        if (*finding.asked_setup, *finding.asked) != (*finding.setup, finding.query):
            lines.append("In SQLite's dialect:")
            lines += [f"  {sql};" for sql in (*finding.setup, finding.query)]
        return [line[:2000] for line in lines]

    def _test(self, case: Kept, about: Sequence[str]) -> str:
        """The first form of the file that was seen to fail here, and to pass on what is right."""
        engine = self._choice.open()
        sound = Embedded(self._choice.timeout_s) if _is_judge(case) else None
        try:
            for text in test_texts(case, about):
                failed = self._run(engine, text)
                if not (failed.failures or failed.lost) or failed.error:
                    continue
                if sound is None or _passes(self._run(sound, text)):
                    return text
        finally:
            engine.close()
            if sound is not None:
                sound.close()
        return ""

    def _run(self, engine: Engine, text: str) -> FileResult:
        run = Run(engine, self._choice.name, dialect="sqlite")
        return run_file(run, "finding.test", text.encode("utf-8", "surrogateescape"), 0)

    def _write(self, name: str, text: str) -> str:
        path = self._folder / name
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(
                f"--save {self._folder}: {error.strerror or error}",
                thing="--save",
                value=str(self._folder),
                next_step="name a directory that can be made and written",
            ) from error
        replace_file(str(path), text.encode("utf-8", "surrogateescape"))
        return str(path)


def name_of(finding: Finding) -> str:
    """The same for the same reduced case, so that runs one after another write it once."""
    whole = "\n".join((finding.oracle, *finding.setup, finding.query))
    digest = hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    words = "_".join(_WORD.findall(f"{finding.oracle} {finding.title or finding.why}".lower()))
    return f"{words[:_LONGEST].strip('_')}_{digest}"


def _is_judge(case: Kept) -> bool:
    """Whether the embedded SQLite is right about the statements as they stand."""
    return bool(case.sqlite) and list(map(list, case.sqlite)) != list(map(list, case.answers))


def _passes(result: FileResult) -> bool:
    return not (result.failures or result.error or result.lost)
