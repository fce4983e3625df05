"""Files run on a Dask cluster. Loaded when one is named, as `distributed` takes a second to load.

Dask itself runs a task again whose worker died, up to `distributed.scheduler.allowed-failures`
times; a file that killed that many workers is told, and not tried further.
"""

from __future__ import annotations

import contextlib
import logging
import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

from distributed import Client, KilledWorker, get_worker

from refute.errors import UsageError
from refute.verifiers.sql.conform_executor import Cluster
from refute.verifiers.sql.conform_identity import own_code
from refute.verifiers.sql.conform_pool import Died

SCHEME = "dask://"
CONNECT_S = 10  # for the scheduler to answer, and for a first worker to be there
ALONE_S = 30.0  # without any worker, until what was sent is given up
_LOOK_S = 2.0  # between two looks at the workers


class DaskCluster(Cluster):
    """The workers of a client, through its executor."""

    stopping = f"{__name__}:cancelled"

    def __init__(self, client: Any) -> None:  # Any: distributed's methods have no types
        self._client = client
        self._executor = client.get_executor(pure=False)
        self.number = sum(client.nthreads().values())
        self._looked = self._seen = time.monotonic()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Send a task. Raises RuntimeError when the client is closed."""
        sent: Future[Any] = self._executor.submit(fn, *args, **kwargs)
        return sent

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Cancel what is not done. The workers go on to live."""
        self._executor.shutdown(wait=wait and not cancel_futures)

    def died(self, error: Exception) -> Died | None:
        """Whether it tells that workers died of a task."""
        if isinstance(error, KilledWorker):
            times = f"{error.allowed_failures + 1} workers died while they ran it"
            return Died(times, again=False)
        return None

    def problem(self) -> str:
        """Why nothing more will come; "" as long as something may."""
        now = time.monotonic()
        if self._client.status in ("closed", "closing"):
            return "the connection to the scheduler was lost"
        if now - self._looked >= _LOOK_S:
            self._looked = now
            if self._client.nthreads():
                self._seen = now
            elif now - self._seen > ALONE_S:
                return f"the cluster has had no worker for {ALONE_S:.0f} s"
        return ""


@contextlib.contextmanager
def connected(address: str) -> Iterator[DaskCluster]:
    """The cluster at dask://HOST:PORT, all of whose workers have this refute. Raises UsageError."""
    with _quiet():
        client = _client(address)
        try:
            _check(client, address)
            cluster = DaskCluster(client)
            try:
                yield cluster
            finally:
                if client.status == "running":
                    cluster.shutdown(cancel_futures=True)
        finally:
            client.close(timeout=CONNECT_S)


def cancelled() -> Callable[[], bool]:
    """On a worker: says whether the task that runs in this thread was cancelled meanwhile."""
    worker = get_worker()
    key = worker.get_current_task()

    def over() -> bool:
        task = worker.state.tasks.get(key)
        return task is None or task.state == "cancelled"

    return over


def _client(address: str) -> Any:
    if not re.fullmatch(r"dask://[^/\s]+:[0-9]{1,5}", address):
        raise UsageError(
            f"--executor {address}: there is no such executor",
            thing="--executor",
            value=address,
            possible=("local", "dask://HOST:PORT"),
            next_step="give the scheduler's address, as `dask scheduler` prints it",
        )
    try:
        make: Any = Client
        return make(address.replace(SCHEME, "tcp://"), timeout=CONNECT_S, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise UsageError(
            f"--executor {address}: no scheduler answers there within {CONNECT_S} s",
            thing="--executor",
            value=address,
            next_step="start one with `dask scheduler` and workers with `dask worker HOST:PORT`",
        ) from error


def _check(client: Any, address: str) -> None:
    """Raise UsageError where there are no workers, or some without this refute."""
    try:
        client.wait_for_workers(1, timeout=CONNECT_S)
    except TimeoutError as error:
        raise UsageError(
            f"--executor {address}: the scheduler has no workers",
            thing="--executor",
            value=address,
            next_step=f"start some with `dask worker {address.replace(SCHEME, 'tcp://')}`",
        ) from error
    own = own_code()
    for worker, found in client.run(own_code, on_error="return").items():
        if found != own:
            what = f"has refute {found}" if isinstance(found, str) else f"has no refute: {found}"
            raise UsageError(
                f"--executor {address}: the worker at {worker} {what}; here it is {own}",
                thing="--executor",
                value=worker,
                next_step="install the same version of refute on all workers",
            )


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Dask's own log would stand between the lines of the report; what matters is told there."""
    logger = logging.getLogger("distributed")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)
