"""The Stop hook: 0 only on acceptance or when nothing changed; every accident is 2."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import report_samples as samples

from refute.agents.claude_code import JUDGED, Event, answer, read_event
from refute.agents.deadline import Deadline
from refute.errors import RefuteError
from refute.record import Run

REFUTE = Path(sys.executable).with_name("refute")
STOP = {
    "session_id": "abc",
    "transcript_path": "/tmp/transcript.jsonl",
    "cwd": ".",
    "permission_mode": "default",
    "hook_event_name": "Stop",
    "stop_hook_active": False,
}
GIT = [
    "git",
    "-c",
    "user.name=t",
    "-c",
    "user.email=t@example.invalid",
    "-c",
    "commit.gpgsign=false",
]


def hook(
    stdin: bytes | str, cwd: Path, *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    kept = {k: v for k, v in os.environ.items() if k != "CLAUDE_PROJECT_DIR"}
    return subprocess.run(
        [str(REFUTE), "hook", "claude-code", *arguments],
        input=stdin.decode("latin-1") if isinstance(stdin, bytes) else stdin,
        cwd=cwd,
        env={**kept, **environment},
        encoding="latin-1",
        capture_output=True,
        timeout=60,
        check=False,
    )


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    for arguments in (
        ["init", "-q", "-b", "main", "."],
        ["commit", "-q", "--allow-empty", "-m", "one"],
        ["commit", "-q", "--allow-empty", "-m", "two"],
    ):
        subprocess.run([*GIT, *arguments], cwd=tmp_path, check=True, capture_output=True)
    return tmp_path


def test_the_event_is_read() -> None:
    event = read_event(json.dumps({**STOP, "cwd": "/x", "stop_hook_active": True}).encode())
    assert event == Event("Stop", Path("/x"), repeated=True)
    assert not read_event(json.dumps({**STOP, "stop_hook_active": "yes"}).encode()).repeated
    assert read_event(b'{"hook_event_name": "SubagentStop"}').cwd == Path()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[]",
        b"null",
        b"{}",
        b'{"hook_event_name": 5}',
        b'{"hook_event_name": "Stop", "cwd": 5}',
        b"[" * 100_000,
        b'"' + b"x" * (17 * 2**20) + b'"',
        b'{"hook_event_name": "PreToolUse", "cwd": "."}',
    ],
    ids=lambda d: repr(d[:30]),
)
def test_what_is_no_stop_event_is_refused(data: bytes) -> None:
    with pytest.raises(RefuteError) as caught:
        read_event(data)
    assert caught.value.next_step


def test_only_acceptance_and_an_empty_difference_let_the_agent_stop() -> None:
    event = Event("Stop", Path())
    assert answer(samples.gate_accepted(), {}, event)[0] == 0
    assert answer(samples.nothing(), {}, event)[0] == 0
    for run in samples.every_run():
        code, words = answer(run, {}, event)
        well = run.decision in ("accepted", "nothing to judge")
        assert code == (0 if well else 2)
        assert words


def test_a_run_that_contradicts_itself_does_not_pass() -> None:
    event = Event("Stop", Path())
    assert answer(Run("gate", "accepted", 3), {}, event)[0] == 2
    assert answer(Run("gate", "refuted", 0), {}, event)[0] == 2


def test_the_feedback_is_the_counterexample_and_short() -> None:
    run = samples.gate_refuted()
    event = Event("Stop", Path(), repeated=True)
    words = answer(run, {run.results[1].claim.digest(): "w.json"}, event)[1]
    for part in (
        "refute, still: REFUTED",
        "step 3",
        "after write 7",
        "/a or /b",
        "refute replay w.json",
        "not covered: store.py:40 Store.swap",
    ):
        assert part in words
    assert len(words.splitlines()) <= 40
    many = Run("gate", "not established", 3, reasons=tuple(f"reason {i}" for i in range(100)))
    assert len(answer(many, {}, event)[1].splitlines()) <= 40
    hostile = answer(samples.hostile(), {}, event)[1]
    assert all(c.isprintable() or c == "\n" for c in hostile)


@pytest.mark.parametrize("event", JUDGED)
def test_an_empty_difference_lets_the_agent_stop(repository: Path, event: str) -> None:
    done = hook(json.dumps({**STOP, "hook_event_name": event}), repository)
    assert (done.returncode, done.stderr) == (0, "")
    assert "nothing to judge" in done.stdout


def test_an_uncovered_change_blocks(repository: Path) -> None:
    (repository / "code.py").write_text("def f():\n    return 1\n")
    done = hook(json.dumps({**STOP, "cwd": str(repository)}), repository.parent)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "NOT ESTABLISHED" in done.stderr
    assert "code.py" in done.stderr


def test_a_linked_worktree_is_judged_although_the_project_is_clean(
    repository: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    linked = tmp_path_factory.mktemp("linked") / "tree"
    subprocess.run(
        [*GIT, "worktree", "add", "-q", "-b", "topic", str(linked)],
        cwd=repository,
        check=True,
        capture_output=True,
    )
    (linked / "code.py").write_text("def f():\n    return 1\n")
    event = json.dumps({**STOP, "cwd": str(linked)})
    done = hook(event, repository, CLAUDE_PROJECT_DIR=str(repository))
    assert done.returncode == 2
    assert "code.py" in done.stderr


@pytest.mark.parametrize(
    ("stdin", "arguments"),
    [
        (b"", ()),
        (b"\xff\x00", ()),
        (b'{"hook_event_name": "PreToolUse"}', ()),
        (json.dumps(STOP), ("--base", "no-such-branch")),
        (json.dumps(STOP), ("--budget", "soon")),
        (json.dumps({**STOP, "cwd": "/nonexistent"}), ()),
        (json.dumps({**STOP, "cwd": "/"}), ()),
    ],
)
def test_every_failing_path_is_2(repository: Path, stdin: bytes, arguments: tuple[str]) -> None:
    done = hook(stdin, repository, *arguments)
    assert done.returncode == 2
    assert done.stderr.startswith("refute: ")
    assert "Traceback" not in done.stderr


def test_another_agent_and_no_agent_are_2(repository: Path) -> None:
    for arguments in ([], ["other-agent"]):
        done = subprocess.run(
            [str(REFUTE), "hook", *arguments], capture_output=True, input=b"", check=False
        )
        assert done.returncode == 2


def test_its_own_crash_is_2(repository: Path, tmp_path: Path) -> None:
    """A module that cannot be imported stands for any defect of refute itself."""
    code = (
        "import sys; sys.modules['refute.gate.flow'] = None;"
        "from refute.cli.main import main; sys.exit(main(['hook', 'claude-code']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps(STOP),
        cwd=repository,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "a bug of refute, not a verdict" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_are_2(repository: Path, number: signal.Signals) -> None:
    process = subprocess.Popen(
        [str(REFUTE), "hook", "claude-code"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=repository,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    waited = Path(f"/proc/{process.pid}/wchan")
    until = time.monotonic() + 20
    while "pipe" not in waited.read_text() and time.monotonic() < until:
        time.sleep(0.02)  # until it reads stdin
    process.send_signal(number)
    _, words = process.communicate(timeout=20)
    assert process.returncode == 2
    assert b"interrupted" in words


def test_a_deadline_interrupts_and_then_leaves(tmp_path: Path) -> None:
    code = """
import time
from refute.agents import deadline
deadline.GRACE_S = 0.2
with deadline.Deadline(0.1, 2, "too late"):
    while True:
        try:
            time.sleep(5)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=20, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (2, "interrupted\n", "too late\n")


def test_a_deadline_that_was_kept_changes_nothing() -> None:
    before = signal.getsignal(signal.SIGALRM)
    with Deadline(3600, 2, "never"):
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 3000
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0
    assert signal.getsignal(signal.SIGALRM) is before
