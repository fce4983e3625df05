"""Never answers, and ignores polite requests to stop."""

import signal
import time


def spin() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        pass


def sleep() -> None:
    while True:
        time.sleep(1000)


def stop_itself() -> None:
    signal.raise_signal(signal.SIGSTOP)
