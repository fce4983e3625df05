"""A Dask cluster of two processes on this machine: the same results, and what goes wrong there."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from refute.cli.conform import run
from refute.errors import UsageError
from refute.verifiers.sql.conform_run import Choice, ConformRun, run_files

distributed = pytest.importorskip("distributed", reason="needs Dask: pip install distributed")
dask = pytest.importorskip("dask", reason="needs Dask: pip install distributed")

CASES = Path(__file__).parents[1] / "cases" / "sqllogictest"
CHOICE = Choice("sqlite", "sqlite", 30.0)
COUNT = (
    "WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r LIMIT {0}) SELECT max(x) FROM r"
)
LONG = f"query I\n{COUNT.format(4_000_000)}\n----\n4000000\n"  # seconds
MANY = f"query I\n{COUNT.format(20_000)}\n----\n20000\n\n" * 4000


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with dask.config.set({"distributed.scheduler.allowed-failures": 1}):
        cluster = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
        )
    with cluster:
        yield cluster.scheduler_address.replace("tcp://", "dask://")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    shutil.copy(CASES / "engines.py", tmp_path)
    shutil.copy(CASES / "basics.test", tmp_path)
    for i in range(4):
        Path(f"bad{i}.test").write_text(f"query I\nSELECT {i}\n----\n2\n")
    Path("cut.test").write_text("statement perhaps\nSELECT 1\n")
    return tmp_path


def document(*args: str) -> dict[str, Any]:
    code = run([".", *args, "--json", "out.json"])
    made: dict[str, Any] = json.loads(Path("out.json").read_text())
    assert made["exit_code"] == code
    made["wall_s"] = 0.0
    for file in made["files"]:
        file["wall_s"] = 0.0
    return made


@pytest.mark.parametrize("engine", [[], ["--engine", "engines:one_wrong", "--as", "sqlite"]])
def test_a_cluster_finds_what_this_machine_finds(
    here: Path, address: str, engine: list[str]
) -> None:
    local = document(*engine)
    assert document(*engine, "--executor", address) == local
    assert local["exit_code"] == 2
    assert local["records"]["failed"] == (3 if not engine else 4)


class Running:
    """A run on the cluster in a thread, and the client that sees what the workers do."""

    def __init__(self, address: str, path: str) -> None:
        self.client = distributed.Client(address.replace("dask", "tcp"), set_as_default=False)
        self.result: ConformRun | None = None
        self.stop = False
        self._thread = threading.Thread(target=self._run, args=(address, path))
        self._thread.start()

    def _run(self, address: str, path: str) -> None:
        module = __import__("refute.verifiers.sql.conform_dask", fromlist=["connected"])

        def progress(_: int) -> None:
            if self.stop:
                raise KeyboardInterrupt

        with module.connected(address) as cluster:
            self.result = run_files(CHOICE, [path], executor=cluster, progress=progress)

    def worker(self) -> str:
        """The worker that has the task."""
        for _ in range(400):
            busy = [name for name, keys in self.client.processing().items() if keys]
            if busy:
                return str(busy[0])
            time.sleep(0.05)
        raise AssertionError("no worker has the task")

    def kill_worker(self) -> None:
        time.sleep(0.1)  # for it to be in the query
        name = self.worker()
        pid = self.client.run(os.getpid, workers=[name])[name]
        os.kill(pid, signal.SIGKILL)

    def ended(self) -> ConformRun:
        self._thread.join(60.0)
        assert self.result is not None
        return self.result


def test_a_worker_that_dies_costs_a_second_try(here: Path, address: str) -> None:
    Path("long.test").write_text(LONG)
    running = Running(address, "long.test")
    try:
        running.kill_worker()
        result = running.ended()
    finally:
        running.client.close()
    assert (result.exit_code, result.run) == (0, 1)


def test_a_file_that_kills_workers_is_told(here: Path, address: str) -> None:
    Path("long.test").write_text(LONG)
    running = Running(address, "long.test")
    try:
        for _ in range(2):
            running.kill_worker()
        result = running.ended()
    finally:
        running.client.close()
    assert (result.exit_code, result.run) == (3, 0)
    assert "2 workers died while they ran it" in result.files[0].lost


def test_ctrl_c_ends_what_runs_on_workers(here: Path, address: str) -> None:
    Path("many.test").write_text(MANY)  # half a minute
    running = Running(address, "many.test")
    try:
        running.worker()
        running.stop = True
        result = running.ended()
        for _ in range(100):
            if not any(_executing(running.client)):
                break
            time.sleep(0.1)
        assert not any(_executing(running.client))
    finally:
        running.client.close()
    assert (result.interrupted, result.exit_code) == (True, 3)


def _executing(client: Any) -> list[int]:
    """How many tasks each worker's threads are in, whatever the scheduler believes."""
    counts = client.run(lambda dask_worker: len(dask_worker.active_threads))
    return list(counts.values())


def test_clusters_that_cannot_be_used(
    here: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match="there is no such executor"):
        document("--executor", "dask://nowhere")
    with pytest.raises(UsageError, match="possible: local, dask"):
        document("--executor", "spark://x:1")
    this = os.getpid()
    monkeypatch.setattr(
        "refute.verifiers.sql.conform_dask.own_code",
        lambda: "0.0.1" if os.getpid() == this else "0.0.2",
    )
    with pytest.raises(UsageError, match=r"worker at tcp://\S+ has refute 0.0.2; here it is 0.0.1"):
        document("--executor", address)
    monkeypatch.setattr("refute.verifiers.sql.conform_dask.CONNECT_S", 1)
    with pytest.raises(UsageError, match="no scheduler answers"):
        document("--executor", "dask://127.0.0.1:1")
    monkeypatch.delitem(sys.modules, "refute.verifiers.sql.conform_dask")
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UsageError, match="pip install distributed"):
        document("--executor", address)
