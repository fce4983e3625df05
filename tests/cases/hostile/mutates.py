"""Changes its arguments."""


def attack(numbers: list[int], names: dict[str, list[int]]) -> int:
    numbers.append(4)
    names["a"].clear()
    return len(numbers)


def honest(numbers: list[int], names: dict[str, list[int]]) -> int:
    return len(numbers) + len(names)
