"""Results of files as they end, in any order, handed over in the order of the files.

What is printed and reported is thereby the same however many processes ran the files. What is kept
for a later run is kept at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from refute.verifiers.sql.conform_file import FileResult
from refute.verifiers.sql.conform_task import Done, Task

if TYPE_CHECKING:
    from refute.verifiers.sql.conform_resume import Kept
    from refute.verifiers.sql.conform_run import ConformRun

Told = Callable[[FileResult], None]


class Results:
    """Collects what came of the files of a run.

    found: told of each in order. ended: told of each at once. most: failures that end the run.
    kept: where results are kept; options: by file, what they depend on there.
    """

    def __init__(
        self,
        run: ConformRun,
        found: Told,
        ended: Told,
        most: float,
        kept: Kept | None,
        options: dict[int, str],
    ) -> None:
        self._run = run
        self._found, self._ended = found, ended
        self._most = most
        self._kept, self._options = kept, options
        self._waiting: dict[int, FileResult] = {}
        self._next = 0
        self._failed = 0

    def take(self, task: Task, done: Done) -> bool:
        """A file ended; whether the run goes on."""
        if self._kept is not None:
            self._kept.keep(done, task.path, self._options[task.number])
        return self.add(task.number, done.result)

    def add(self, number: int, file: FileResult) -> bool:
        """As `take`, for a result that was there already."""
        self._failed += len(file.failures)
        self._ended(file)
        self._waiting[number] = file
        while self._next in self._waiting:
            self._release(self._next)
            self._next += 1
        if self._failed >= self._most and not self._run.stopped:
            records = "1 failed record" if self._failed == 1 else f"{self._failed:,} failed records"
            self._run.stopped = f"stopped after {records}"
        return not self._run.stopped

    def release_all(self) -> None:
        """Hand over what waits for files that were never run."""
        for number in sorted(self._waiting):
            self._release(number)

    def _release(self, number: int) -> None:
        file = self._waiting.pop(number)
        self._run.files.append(file)
        self._run.interrupted |= file.cut and not self._run.stopped
        self._found(file)
