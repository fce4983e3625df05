"""Sequences of operations with arguments from domains: all short ones, sampled long ones, simpler.

An operation is a list, the method's name and then its arguments; a case is a list of operations.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence

from refute.fuzz.samples import sampler
from refute.fuzz.shrinking import shorter_or_simpler, simpler
from refute.fuzz.values import enumerate_values
from refute.plain import Plain
from refute.specs.domains import Records, Tuples

Operations = Mapping[str, Records]


def instances(operations: Operations) -> list[list[Plain]] | None:
    """Every operation with every combination of arguments; None when there is no end to them."""
    if any(arguments.size is None for arguments in operations.values()):
        return None
    return [
        [name, *row]
        for name, arguments in operations.items()
        for row in enumerate_values(Tuples(*arguments.of.values()))
    ]


def number_of_instances(operations: Operations) -> int | None:
    """How many operations with arguments there are at most; None when there is no bound."""
    sizes = [arguments.size for arguments in operations.values()]
    return None if None in sizes else sum(size for size in sizes if size is not None)


def number_of_sequences(count: int, depth: int) -> int:
    """How many sequences of 1 to `depth` operations there are, out of `count`."""
    return sum(count**length for length in range(1, depth + 1))


def all_sequences(operations: Operations, depth: int) -> Iterator[list[Plain]]:
    """Every sequence of 1 to `depth` operations, short ones first."""
    known = instances(operations) or []
    for length in range(1, depth + 1):
        for sequence in itertools.product(known, repeat=length):
            yield list(sequence)


def sampled_sequences(
    operations: Operations, shortest: int, longest: int, seed: int
) -> Iterator[list[Plain]]:
    """Sequences of shortest..longest operations without end, determined by the seed."""
    rng = random.Random(seed)
    names = list(operations)
    draw = {n: sampler(Tuples(*arguments.of.values())) for n, arguments in operations.items()}
    while True:
        chosen = rng.choices(names, k=rng.randint(shortest, longest))
        yield [[name, *draw[name](rng)] for name in chosen]


def simpler_sequence(operations: Operations, case: Sequence[Plain]) -> Iterator[list[Plain]]:
    """The sequence with operations left out, then with one argument made simpler."""

    def arguments(operation: Plain) -> Iterator[Plain]:
        domain = Tuples(*operations[operation[0]].of.values())
        return ([operation[0], *row] for row in simpler(domain, tuple(operation[1:])))

    return (list(kept) for kept in shorter_or_simpler(case, arguments) if kept)
