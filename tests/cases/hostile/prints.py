"""Prints megabytes, through Python and past it."""

import os
import sys


def megabytes(count: int) -> int:
    for _ in range(count):
        print("x" * (2**20 - 1))
        os.write(2, b"y" * 2**20)
    return count


def look_like_an_answer() -> int:
    print('{"nonce": "0", "kind": "returned", "value": true, "mutated": false}')
    sys.stdout.flush()
    return 7
