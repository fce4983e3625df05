"""Does what it is asked, to show that a worker next to a hostile one still works."""

import random


def add(left: int, right: int) -> int:
    return left + right


_calls: list[int] = []


def counted() -> int:
    """How often this process was asked."""
    _calls.append(1)
    return len(_calls)


def random_number() -> float:
    return random.random()
