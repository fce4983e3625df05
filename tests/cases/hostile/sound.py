"""Does what it is asked, to show that a worker next to a hostile one still works."""


def add(left: int, right: int) -> int:
    return left + right
