"""Samples of domains from a seeded generator, edge cases among them.

Sampling is refute's own, because it must be fast enough to feed a subject that answers in
microseconds and the same whatever else the process has loaded. Hypothesis, which draws more
cleverly and slowly, is one source among others (`refute.fuzz.strategies`).
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Sequence

from refute.fuzz.values import LONG, edges, enumerate_values, nearest
from refute.plain import Plain
from refute.specs.domains import (
    Bools,
    Bytes,
    Dicts,
    Domain,
    Either,
    Floats,
    Ints,
    Lists,
    OneOf,
    Records,
    Sets,
    Text,
    Tuples,
)

Sampler = Callable[[random.Random], Plain]

EDGE_SHARE = 0.125  # of the sampled values of a single-valued domain
FREE_LENGTH = 8  # mean length of what has no upper bound


def sampler(domain: Domain) -> Sampler:
    """A function from a random generator to a value of the domain; edge cases come often."""
    base = _sampler(domain)
    special = edges(domain) if isinstance(domain, Ints | Floats | Text | Bytes) else []
    if not special:
        return base

    def with_edges(rng: random.Random) -> Plain:
        return rng.choice(special) if rng.random() < EDGE_SHARE else base(rng)

    return with_edges


def _sampler(domain: Domain) -> Sampler:
    match domain:
        case Bools():
            return lambda rng: rng.random() < 0.5
        case OneOf(values=values):
            return _choice_sampler(values)
        case Ints(lo=lo, hi=hi):
            return _int_sampler(lo, hi)
        case Floats():
            return _float_sampler(domain)
        case Text(min=low, max=high, alphabet=alphabet):
            letter = _character if alphabet is None else _choice_sampler(alphabet)
            return lambda rng: "".join(letter(rng) for _ in range(_length(rng, low, high)))
        case Bytes(min=low, max=high):
            return lambda rng: rng.randbytes(_length(rng, low, high))
        case Lists(of=of, min=low, max=high):
            item = sampler(of)
            return lambda rng: [item(rng) for _ in range(_length(rng, low, high))]
        case Tuples(of=parts):
            parts_of = [sampler(d) for d in parts]
            return lambda rng: tuple(s(rng) for s in parts_of)
        case Records(of=fields):
            named = {k: sampler(d) for k, d in fields.items()}
            return lambda rng: {k: s(rng) for k, s in named.items()}
        case Either(of=parts):
            choices = [sampler(d) for d in parts]
            return lambda rng: rng.choice(choices)(rng)
        case Sets(of=of, min=low, max=high):
            distinct = _distinct_sampler(of, low, high)
            return lambda rng: set(distinct(rng))
        case Dicts(keys=keys, values=values, min=low, max=high):
            names, body = _distinct_sampler(keys, low, high), sampler(values)
            return lambda rng: {k: body(rng) for k in names(rng)}
    raise TypeError(f"no sampler of {type(domain).__name__}")


def _choice_sampler(values: Sequence[Plain]) -> Sampler:
    return lambda rng: rng.choice(values)


def _length(rng: random.Random, low: int, high: int | None) -> int:
    """Short more often than long; the greatest length comes as an edge case."""
    if high is not None and rng.random() < 0.5:
        return rng.randint(low, min(high, low + LONG))
    length = low + int(rng.expovariate(1 / FREE_LENGTH))
    return length if high is None else min(high, length)


def _int_sampler(lo: int | None, hi: int | None) -> Sampler:
    if lo is not None and hi is not None:
        if hi - lo < 2**10:
            return lambda rng: rng.randint(lo, hi)
        mid = nearest(lo, hi)
        return lambda rng: (
            rng.randint(lo, hi) if rng.random() < 0.5 else min(hi, max(lo, mid + _spread(rng)))
        )
    if lo is not None:
        return lambda rng: max(lo, 0) + abs(_spread(rng)) if lo >= 0 else max(lo, _spread(rng))
    if hi is not None:
        return lambda rng: min(hi, 0) - abs(_spread(rng)) if hi <= 0 else min(hi, _spread(rng))
    return _spread


def _spread(rng: random.Random) -> int:
    """An integer of 1 to 80 bits, every bit length equally likely, either sign."""
    value = rng.getrandbits(rng.randint(1, 80))
    return value if rng.random() < 0.5 else -value


def _float_sampler(domain: Floats) -> Sampler:
    lo, hi = domain.lo, domain.hi
    low = lo if lo is not None else -(1e6 if hi is None else abs(hi) + 1e6)
    high = hi if hi is not None else abs(low) + 1e6

    def draw(rng: random.Random) -> float:
        shape = rng.random()
        if shape < 0.4:
            value = struct.unpack("<d", rng.randbytes(8))[0]
        elif shape < 0.7:
            value = float(rng.randint(-1000, 1000)) / 2
        else:
            value = rng.uniform(low, high)
        return value if domain.contains(value) else rng.uniform(low, high)

    return draw


def _character(rng: random.Random) -> str:
    shape = rng.random()
    if shape < 0.6:
        return chr(rng.randint(0x20, 0x7E))
    if shape < 0.9:
        return chr(rng.randrange(0x800))
    code = rng.randrange(0x110000 - 0x800)
    return chr(code if code < 0xD800 else code + 0x800)


def _distinct_sampler(of: Domain, low: int, high: int | None) -> Sampler:
    """Lists of low..high distinct values; drawn again, or enumerated where the domain is small."""
    size = of.size
    if size is not None and size <= 1024:
        pool = list(dict.fromkeys(enumerate_values(of)))
        top = min(len(pool), len(pool) if high is None else high)
        return lambda rng: rng.sample(pool, min(top, _length(rng, low, top)))
    item = sampler(of)

    def draw(rng: random.Random) -> list[Plain]:
        wanted = _length(rng, low, high)
        found: dict[Plain, None] = {}
        for _ in range(20 * wanted + 20):
            if len(found) >= wanted:
                break
            found[item(rng)] = None
        return list(found)

    return draw
