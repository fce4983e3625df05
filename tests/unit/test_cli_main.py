"""The command line's frame: exit codes that never say more than was done, errors without traces."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from refute.cli import main as entry
from refute.cli.output import Outputs, has_colour
from refute.errors import UsageError
from refute.record import Run

REFUTE = Path(sys.executable).with_name("refute")


@pytest.fixture(autouse=True)
def _keep_the_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield
    signal.signal(signal.SIGTERM, before)


def refute(*arguments: str, **kwargs: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(REFUTE), *arguments], capture_output=True, text=True, timeout=60, check=False, **kwargs
    )


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    """A command whose `run` a test can choose."""
    module = SimpleNamespace(run=lambda argv: 0)
    monkeypatch.setitem(sys.modules, "chosen_command", module)
    monkeypatch.setitem(entry.COMMANDS, "gate", ("chosen_command", ""))
    monkeypatch.setitem(entry.COMMANDS, "hook", ("chosen_command", ""))
    yield module


def raising(error: BaseException) -> object:
    def run(argv: object) -> int:
        raise error

    return run


@pytest.mark.parametrize("code", [0, 1, 2, 3])
def test_the_exit_code_is_the_verdict(command: SimpleNamespace, code: int) -> None:
    command.run = lambda argv: code
    assert entry.main(["gate"]) == code
    assert entry.main(["hook"]) == (0 if code == 0 else 2)


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("x"),
        MemoryError(),
        RecursionError(),
        SystemExit(0),
        SystemExit(1),
        SystemExit("words"),
        AssertionError(),
        GeneratorExit(),
        OSError(5, "I/O"),
        BrokenPipeError(),
        UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"),
    ],
    ids=repr,
)
def test_no_accident_reads_as_a_verdict(
    command: SimpleNamespace, error: BaseException, capfd: pytest.CaptureFixture[str]
) -> None:
    command.run = raising(error)
    assert entry.main(["gate"]) == 3
    assert entry.main(["hook"]) == 2
    assert "Traceback" not in capfd.readouterr().err


def test_a_bug_is_called_a_bug_and_traced_only_on_request(
    command: SimpleNamespace, capfd: pytest.CaptureFixture[str]
) -> None:
    command.run = raising(ZeroDivisionError("by zero"))
    assert entry.main(["gate"]) == 3
    words = capfd.readouterr().err
    assert "a bug of refute, not a verdict: ZeroDivisionError: by zero" in words
    assert entry.main(["gate", "--debug"]) == 3
    assert "Traceback" in capfd.readouterr().err


def test_an_interrupt_is_not_a_verdict(
    command: SimpleNamespace, capfd: pytest.CaptureFixture[str]
) -> None:
    command.run = raising(KeyboardInterrupt())
    assert entry.main(["gate"]) == 130
    assert "interrupted; nothing was established" in capfd.readouterr().err


INTERRUPTED = """
import importlib, os, signal, sys, types
from refute.cli import program

def interrupt():
    os.kill(os.getpid(), signal.SIGINT)

def run():
    interrupt() if {where!r} == "running" else print("done", flush=True)
    return 0

def imported(name):
    interrupt() if {where!r} == "importing" else None
    return types.SimpleNamespace(main=run)

program.importlib = types.SimpleNamespace(import_module=imported)
program.atexit = types.SimpleNamespace(_run_exitfuncs=interrupt)
sys.argv[1:] = {words!r}
program.main()
"""


@pytest.mark.parametrize(
    "where, words, code",
    [
        ("importing", ["gate"], 130),
        ("running", ["gate"], 130),
        ("ending", ["gate"], 130),
        ("importing", ["hook"], 2),
    ],
)
def test_an_interrupt_at_any_moment_is_one_line(where: str, words: list[str], code: int) -> None:
    script = INTERRUPTED.format(where=where, words=words)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (code, "refute: interrupted\n")
    assert done.stdout == ("done\n" if where == "ending" else "")


def test_a_process_that_is_to_ignore_interrupts_does() -> None:
    script = INTERRUPTED.format(where="importing", words=["gate"])
    ignoring = f"import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n{script}"
    done = subprocess.run([sys.executable, "-c", ignoring], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


def test_an_error_prints_thing_value_possible_and_next_step(
    command: SimpleNamespace, capfd: pytest.CaptureFixture[str]
) -> None:
    error = UsageError(
        "no such constant", thing="--set", value="QM", possible=["RM"], next_step="x"
    )
    command.run = raising(error)
    assert entry.main(["gate", "--json", "-"]) == 2
    out, err = capfd.readouterr()
    assert err == "refute: no such constant\n  possible: RM\n  next: x\n"
    assert json.loads(out)["schema"] == "refute.error/1"
    assert json.loads(out)["value"] == "QM"
    assert entry.main(["gate"]) == 2
    assert capfd.readouterr().out == ""


def test_help_and_version() -> None:
    version = refute("--version")
    assert (version.returncode, version.stdout) == (0, "refute 0.1.0\n")
    shown = refute("--help")
    assert shown.returncode == 0
    assert all(name in shown.stdout for name in entry.COMMANDS)
    assert "examples:" in shown.stdout


def test_no_command_and_a_wrong_one_are_usage_errors(capfd: pytest.CaptureFixture[str]) -> None:
    assert entry.main([]) == 2
    assert entry.main(["gaet"]) == 2
    assert f"possible: {', '.join(entry.COMMANDS)}" in capfd.readouterr().err


def test_version_loads_nothing_heavy() -> None:
    code = (
        "import sys; from refute.cli.main import main; main(['--version']);"
        "heavy = {'typer', 'rich', 'z3', 'hypothesis', 'pytest', 'refute.gate'};"
        "sys.exit(len(heavy & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_closed_reader_does_not_change_the_exit_code(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [str(REFUTE), "--help"], stdout=writer, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writer)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr and "Broken" not in done.stderr


def test_output_that_cannot_be_written_is_no_success() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [str(REFUTE), "--version"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 2
    assert "could not be written" in done.stderr


def test_a_terminal_without_unicode_gets_escapes() -> None:
    done = refute("gaet\u2026", env={**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C"})
    assert done.returncode == 2
    assert "there is no command" in done.stderr


@pytest.mark.parametrize(
    ("outputs", "words"),
    [
        ({"json": "/nonexistent/x.json"}, "does not exist"),
        ({"sarif": "/"}, "is a directory"),
        ({"json": "-", "junit": "-"}, "one document only"),
    ],
)
def test_targets_are_looked_at_before_the_work(outputs: dict[str, str], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        Outputs(**outputs)


def test_a_file_that_is_no_report_is_not_lost(tmp_path: Path) -> None:
    spec = tmp_path / "spec.py"
    spec.write_text("# a spec")
    for option in ("json", "sarif", "junit"):
        with pytest.raises(UsageError, match="other content"):
            Outputs(**{option: str(spec)})
    for words in ("{}", '{"name": "a-package"}', '{"schema": "refute.witness/1"}', "<html></html>"):
        spec.write_text(words)
        for option in ("json", "sarif", "junit"):
            with pytest.raises(UsageError, match="other content"):
                Outputs(**{option: str(spec)})
    spec.write_text("")
    Outputs(json=str(spec))


def test_an_earlier_document_is_replaced(tmp_path: Path) -> None:
    run = Run("check", "not established", 3, reasons=("x",))
    for option in ("json", "sarif", "junit"):
        target = str(tmp_path / option)
        Outputs(**{option: target}).write(run, {})
        Outputs(**{option: target}).write(run, {})
        for other in {"json", "sarif", "junit"} - {option}:
            with pytest.raises(UsageError, match="other content"):
                Outputs(**{other: target})


def test_json_on_stdout_sends_text_to_stderr(capfd: pytest.CaptureFixture[str]) -> None:
    run = Run("check", "not established", 3, reasons=("nothing was there",))
    Outputs(json="-").write(run, {})
    out, err = capfd.readouterr()
    assert json.loads(out)["exit_code"] == 3
    assert err.startswith("NOT ESTABLISHED")


def test_every_target_gets_its_document(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    names = {"json": "r.json", "sarif": "r.sarif", "junit": "r.xml"}
    run = Run("check", "not established", 3, reasons=("x",))
    Outputs(**{k: str(tmp_path / v) for k, v in names.items()}).write(run, {})
    starts = [(tmp_path / v).read_text()[:1] for v in names.values()]
    assert starts == ["{", "{", "<"]
    assert capfd.readouterr().out.startswith("NOT ESTABLISHED")


def test_colour_needs_a_terminal_and_a_welcome(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert has_colour(Terminal())
    assert not has_colour(io.StringIO())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not has_colour(Terminal())
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert not has_colour(Terminal())


@pytest.mark.parametrize("start", [[str(REFUTE)], [sys.executable, "-m", "refute.cli.main"]])
def test_a_judged_tree_lends_the_parent_no_module(tmp_path: Path, start: list[str]) -> None:
    for name in ("hypothesis", "tomllib", "z3", "ctypes", "sqlite3"):
        (tmp_path / f"{name}.py").write_text("open('was_imported', 'w'); raise SystemExit(0)\n")
    (tmp_path / "code.py").write_text("def one(x):\n    return 2\n")
    (tmp_path / "claims.py").write_text(
        "from refute import claim\n"
        "from refute.specs.domains import Ints\n"
        "from refute.specs.function import Holds\n"
        "def is_one(x, one): return one(x) == 1\n"
        "claim('one', Holds('code:one', prop='claims:is_one', given={'x': Ints()}))\n"
    )
    done = subprocess.run(
        [*start, "check", "claims.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert not (tmp_path / "was_imported").exists()


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_change_no_verdict(closed: str, tmp_path: Path) -> None:
    """Their numbers go to no other file, which messages would then be written into."""
    script = f'"$0" -m refute.cli.main nothing-like-this {closed}'
    done = subprocess.run(
        ["sh", "-c", script, sys.executable], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert ("no command" in done.stderr) is ("2>" not in closed)


@pytest.mark.parametrize(
    "arguments",
    [
        ["check"],
        ["prove"],
        ["replay"],
        ["fuzz", "sql", "--engine", "sqlite", "--budget", "1s", "--write-known"],
        ["fuzz", "sql", "--engine", "sqlite", "--budget", "1s", "--json"],
        ["conform", "a.test", "--html"],
    ],
    ids=lambda arguments: arguments[-1],
)
def test_a_path_that_the_system_refuses_is_the_users(arguments: list[str], tmp_path: Path) -> None:
    (tmp_path / "a.test").write_text("statement ok\nSELECT 1\n")
    done = refute(*arguments, "x" * 300, cwd=tmp_path)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "File name too long" in done.stderr and "a bug of refute" not in done.stderr


def test_a_path_that_nobody_gave_is_not(
    command: SimpleNamespace, capfd: pytest.CaptureFixture[str]
) -> None:
    command.run = raising(FileNotFoundError(2, "No such file or directory", "/own/file"))
    assert entry.main(["gate", "/other/file"]) == 3
    assert "a bug of refute" in capfd.readouterr().err
