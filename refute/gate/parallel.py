"""Independent questions of the gate, asked at once on all cores.

Controls and knock-outs are judged on trees of their own and mostly wait for workers, so threads do.
Answers come in the order of the questions, as soon as that order allows, so that an interrupted run
keeps those it has; the workers of the others are killed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from refute.sandbox import stopped_workers

T = TypeVar("T")


def at_once(questions: Sequence[Callable[[], T]]) -> Iterator[T]:
    """The answers, in order. What a question raises is raised when its turn comes."""
    pool = ThreadPoolExecutor(max(2, os.cpu_count() or 1))
    try:
        for future in [pool.submit(question) for question in questions]:
            yield future.result()
    except BaseException:
        with stopped_workers():
            pool.shutdown(cancel_futures=True)
        raise
    pool.shutdown()
