"""Files shared among those that run them: the longest first, so that none is left over at the end.

Who runs them are processes of this machine (`conform_processes`) or an executor
(`conform_executor`); what is decided here is the same for both: what goes next, what is tried once
more because its process died, and when to stop.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

from refute.errors import RefuteError
from refute.verifiers.sql.conform_file import FileResult
from refute.verifiers.sql.conform_task import Done, Task

TICK_S = 0.2  # seconds between two looks at how far things are
TRIES = 2  # of a file whose process dies

Take = Callable[[Task, Done], bool]
"""Told of each file as it ends; returns whether to go on."""


class Died(Exception):
    """What ran a file ended without a result. again: whether to try it once more."""

    def __init__(self, how: str, *, again: bool = True) -> None:
        super().__init__(how)
        self.how = how
        self.again = again


class Hands(Protocol):
    """What runs files, several at once."""

    @property
    def room(self) -> int:
        """How many more files it takes now."""
        ...

    def give(self, task: Task) -> None:
        """Begin a file."""
        ...

    def ended(self, timeout_s: float) -> Sequence[tuple[Task, Done | Exception]]:
        """Files that ended; waits so long for the first of them. Died: its process did."""
        ...

    def records(self) -> int:
        """How many records were run so far, in files that are in work too where that is known."""
        ...

    def stop(self) -> None:
        """Have the files in work end soon."""
        ...


def run_all(hands: Hands, tasks: Sequence[Task], take: Take, ran: Callable[[int], None]) -> None:
    """Run the files. ran: told now and then how many more records were run.

    After Ctrl-C what is in work is ended and taken, and KeyboardInterrupt raised. Raises the
    RefuteError that a file raised, such as that there is no such engine.
    """
    loop = _Loop(hands, tasks, take, ran)
    try:
        loop.run()
    except BaseException:
        loop.wind_up()
        raise


class _Loop:
    def __init__(
        self, hands: Hands, tasks: Sequence[Task], take: Take, ran: Callable[[int], None]
    ) -> None:
        self._hands, self._take, self._ran = hands, take, ran
        self._todo = deque(sorted(tasks, key=lambda task: (-task.weight, task.number)))
        self._in_work = 0
        self._tries: dict[int, int] = {}
        self._told = 0

    def run(self) -> None:
        """Until all is done, or `take` has enough."""
        going = True
        while self._todo or self._in_work:
            while going and self._todo and self._hands.room > 0:
                self._in_work += 1
                self._hands.give(self._todo.popleft())
            for task, came in self._hands.ended(TICK_S):
                self._in_work -= 1
                going = self._came(task, came, going) and going
            self._progress()
            if not going and self._todo:
                self._todo.clear()
                self._hands.stop()

    def wind_up(self) -> None:
        """End what is in work, and take what comes of it."""
        self._hands.stop()
        while self._in_work:
            ended = self._hands.ended(TICK_S)
            self._in_work -= len(ended)
            for task, came in ended:
                if isinstance(came, Done):
                    self._take(task, came)
        self._progress()

    def _came(self, task: Task, came: Done | Exception, going: bool) -> bool:
        """Take what came of a file, or try it again; whether to go on."""
        if isinstance(came, Done):
            return self._take(task, came)
        if isinstance(came, RefuteError) or not isinstance(came, Died):
            raise came
        tries = self._tries[task.number] = self._tries.get(task.number, 0) + 1
        if going and came.again and tries < TRIES:
            self._todo.appendleft(task)
            return True
        times = f", {tries} times" if tries > 1 else ""
        lost = f"{task.path}: {came.how}{times}; what it has was not run"
        return self._take(task, Done(FileResult(task.path, lost=lost)))

    def _progress(self) -> None:
        now = self._hands.records()
        if now > self._told:
            self._ran(now - self._told)
            self._told = now
        else:
            self._ran(0)
