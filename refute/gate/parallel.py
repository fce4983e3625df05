"""Independent questions of the gate, asked at once on all cores.

Groups of claims, controls and knock-outs mostly wait for workers, so threads do. An interrupted run
keeps the answers it has; the workers of the others are killed, and a killed worker has no outcome.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from typing import TypeVar

from refute.sandbox import stopped_workers

T = TypeVar("T")


def at_once(questions: Sequence[Callable[[], T]]) -> Iterator[T]:
    """The answers, in order. What a question raises is raised when its turn comes."""
    with contextlib.closing(_ask(questions, iter)) as answers:
        for _, answer in answers:
            yield answer


def as_answered(
    questions: Sequence[Callable[[], T]],
) -> Generator[tuple[int, T], None, None]:
    """The number of each question and its answer, as they come.

    Whoever has heard enough closes the iterator, which kills the workers of what is still open.
    """
    with contextlib.closing(_ask(questions, as_completed)) as answers:
        yield from answers


def _ask(
    questions: Sequence[Callable[[], T]],
    order: Callable[[dict[Future[T], int]], Iterator[Future[T]]],
) -> Generator[tuple[int, T], None, None]:
    pool = ThreadPoolExecutor(max(2, os.cpu_count() or 1))
    try:
        futures = {pool.submit(question): number for number, question in enumerate(questions)}
        for future in order(futures):
            yield futures[future], future.result()
    except BaseException:  # among them GeneratorExit: whoever asked has heard enough
        with stopped_workers():
            pool.shutdown(cancel_futures=True)
        raise
    pool.shutdown()
