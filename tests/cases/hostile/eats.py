"""Eats memory, processor time and disk."""

import time


def memory() -> int:
    return len(bytearray(64 * 2**30))


def memory_bit_by_bit() -> int:
    kept = []
    while True:
        kept.append(bytearray(16 * 2**20))


def processor() -> None:
    while True:
        sum(range(10_000))


def processor_for(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def disk(path: str) -> None:
    with open(path, "wb") as file:
        while True:
            file.write(bytes(2**20))
