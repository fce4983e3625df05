"""What a worker says of its isolation, and that it says less where there is less."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from refute.errors import SandboxError
from refute.sandbox import Limits, open_worker
from refute.sandbox.layout import layout

LIMITS = Limits(wall_s=10.0)
NAMESPACES = "namespaces: user, net, mount, pid, ipc"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "subject.py").write_text(
        "import os\ndef ids(): return [os.getuid(), os.geteuid(), os.getpid(), os.getsid(0)]\n"
        "def listing(path): return sorted(os.listdir(path))\n"
        "def status(): return open('/proc/self/status').read()\n"
    )
    return tmp_path


def status_of(text: str) -> dict[str, str]:
    return dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)


def running(pid: int) -> bool:
    """Whether the process exists and is no zombie that nobody here can wait for."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("isolation", ["auto", "unprivileged"])
def test_namespaces_take_everything_away(tree: Path, isolation: str) -> None:
    try:
        worker = open_worker(tree, ["subject.py"], ["."], LIMITS, isolation=isolation)  # type: ignore[arg-type]
    except SandboxError as error:
        pytest.skip(str(error))
    with worker:
        if not worker.isolation.startswith(NAMESPACES):
            pytest.skip(worker.isolation)
        uid, euid, pid, session = worker.call("subject:ids").value
        assert (uid, euid) == (65534, 65534)
        assert (pid, session) == (2, 2)
        shown = worker.call("subject:listing", "/").value
        assert not {"home", "var", "boot", "mnt", "sys", "run", ".old"} & set(shown)
        assert worker.call("subject:listing", "/tree").value == ["subject.py"]
        status = status_of(worker.call("subject:status").value)
        for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
            assert int(status[name], 16) == 0
        assert status["NoNewPrivs"] == "1"


def test_the_fallback_says_what_it_lacks(tree: Path) -> None:
    with open_worker(tree, ["subject.py"], ["."], LIMITS, isolation="process") as worker:
        assert worker.isolation.startswith("process only")
        assert "no namespaces" in worker.isolation
        assert "files outside the closure are visible" in worker.isolation
        assert worker.call("subject:listing", ".").value == ["subject.py"]
        copy = Path(worker.call("os:getcwd").value)
        assert copy.is_dir()
        assert int(status_of(worker.call("subject:status").value)["CapEff"], 16) == 0
    assert not copy.exists()


def test_where_the_kernel_refuses_the_reason_is_given(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = layout(False)._replace(binds=(("/nowhere", "/does/not/exist"),))
    monkeypatch.setattr("refute.sandbox.launch.layout", lambda command: broken)
    with open_worker(tree, ["subject.py"], ["."], LIMITS) as worker:
        assert worker.isolation.startswith("process only")
        assert "No such file" in worker.isolation or "permitted" in worker.isolation


def test_a_worker_dies_with_its_parent(tree: Path) -> None:
    script = (
        "import os, sys\nfrom pathlib import Path\n"
        "from refute.sandbox import Limits, open_worker\n"
        "from refute.sandbox.processes import descendants\n"
        f"worker = open_worker(Path({str(tree)!r}), ['subject.py'], ['.'], Limits())\n"
        "print(*descendants(os.getpid()), flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    ran = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, check=False)
    pids = [int(word) for word in ran.stdout.split()]
    assert len(pids) >= 2
    deadline = time.monotonic() + 10
    while (left := [pid for pid in pids if running(pid)]) and time.monotonic() < deadline:
        time.sleep(0.005)
    assert not left


def test_the_layout_shows_no_home_and_no_tree() -> None:
    shown = [Path(target) for target, _ in layout(False).binds]
    forbidden = [Path.home(), Path.cwd(), Path("/etc"), Path("/var"), Path("/")]
    assert not set(shown) & set(forbidden)
    for path in layout(False).path:
        assert any(Path(path).is_relative_to(target) for target in shown)
