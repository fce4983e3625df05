"""Ends its process, or breaks what the process answers through."""

import os


def exit_zero() -> None:
    os._exit(0)


def abort() -> None:
    os.abort()


def kill_itself() -> None:
    os.kill(os.getpid(), 9)


def close_everything() -> int:
    os.closerange(0, 4096)
    return 1
