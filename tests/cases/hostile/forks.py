"""Forks as often as it can, and leaves processes behind that have a session of their own."""

import os
import time


def bomb() -> tuple[int, int]:
    made = 0
    while made < 500:
        try:
            child = os.fork()
        except OSError as error:
            return made, error.errno
        if child == 0:
            os.setsid()
            time.sleep(1000)
        made += 1
    return made, 0


def leave_one_behind() -> None:
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(1000)
        os._exit(0)


def sleeping_children(count: int) -> None:
    for _ in range(count):
        if os.fork() == 0:
            time.sleep(1000)
    time.sleep(1000)
