"""Values of domains: all of them in a fixed order, and the edge cases.

Enumeration is simple-first, so that the first value that breaks a claim is already small: integers
by distance from zero, sequences by length, products along their diagonals (by the sum of the
positions of their parts, so that no part runs to its end before the others have begun).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence

from refute import plain
from refute.errors import IllegalClaim
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

LONG = 257  # one more than fits a byte: the long edge case of unbounded text, bytes and lists
LONGEST = 5000  # no edge case is longer, whatever the bound
MAX_EDGES = 64  # edge cases of a compound domain


def enumerate_values(domain: Domain) -> Iterator[Plain]:
    """Every value of a finite domain, simple first. Raises IllegalClaim for an unbounded one."""
    if domain.size is None:
        raise IllegalClaim(
            f"{domain} has no bound and cannot be enumerated",
            thing="domain",
            value=str(domain),
            next_step="give bounds: Ints(lo, hi), Text(max=…, alphabet=…), Lists(…, max=…)",
        )
    return _enumerate(domain)


def _enumerate(domain: Domain) -> Iterator[Plain]:
    match domain:
        case Bools():
            return iter((False, True))
        case Ints(lo=lo, hi=hi):
            return _ints_outwards(lo or 0, hi or 0)
        case OneOf(values=values):
            return iter(values)
        case Text(min=low, max=high, alphabet=alphabet):
            letters = alphabet if alphabet is not None else _all_characters()
            return ("".join(w) for w in _words(letters, low, high))
        case Bytes(min=low, max=high):
            return (bytes(w) for w in _words(range(256), low, high))
        case Lists(of=of, min=low, max=high):
            return (list(w) for w in _diagonal_words(of, low, high))
        case Tuples(of=parts):
            return diagonal([_enumerate(d) for d in parts])
        case Records(of=fields):
            rows = diagonal([_enumerate(d) for d in fields.values()])
            return (dict(zip(fields, row, strict=True)) for row in rows)
        case Either(of=parts):
            return _either(parts)
        case Sets(of=of, min=low, max=high):
            return (set(c) for c in _subsets(of, low, high))
        case Dicts():
            return _dicts(domain)
    raise TypeError(f"no enumeration of {type(domain).__name__}")


def _ints_outwards(lo: int, hi: int) -> Iterator[int]:
    start = min(max(0, lo), hi)
    yield start
    for distance in range(1, max(hi - start, start - lo) + 1):
        if start + distance <= hi:
            yield start + distance
        if start - distance >= lo:
            yield start - distance


def _all_characters() -> Iterator[str]:
    plain_first = itertools.chain(range(0x61, 0x7F), range(0x20, 0x61), range(0x20))
    rest = itertools.chain(range(0x7F, 0xD800), range(0xE000, 0x110000))
    return map(chr, itertools.chain(plain_first, rest))


def _words(letters: Iterable[Plain], low: int, high: int | None) -> Iterator[tuple[Plain, ...]]:
    items = tuple(letters) if high else ()
    for length in range(low, (high or 0) + 1):
        yield from itertools.product(items, repeat=length)


def _diagonal_words(of: Domain, low: int, high: int | None) -> Iterator[tuple[Plain, ...]]:
    for length in range(low, (high or 0) + 1):
        yield from diagonal([_enumerate(of) for _ in range(length)])
        if length and of.size == 0:
            return


def _either(parts: Sequence[Domain]) -> Iterator[Plain]:
    for index, part in enumerate(parts):
        earlier = parts[:index]
        for value in _enumerate(part):
            if not any(d.contains(value) for d in earlier):
                yield value


def _subsets(of: Domain, low: int, high: int | None) -> Iterator[tuple[Plain, ...]]:
    if high == 0:
        yield ()
        return
    items = list(dict.fromkeys(_enumerate(of)))
    most = len(items) if high is None else min(high, len(items))
    for count in range(low, most + 1):
        yield from itertools.combinations(items, count)


def _dicts(domain: Dicts) -> Iterator[dict[Plain, Plain]]:
    for keys in _subsets(domain.keys, domain.min, domain.max):
        for values in diagonal([_enumerate(domain.values) for _ in keys]):
            yield dict(zip(keys, values, strict=True))


class _Lazy:
    """An iterator's items by index, fetched when first asked for."""

    def __init__(self, source: Iterator[Plain]) -> None:
        self.source = source
        self.items: list[Plain] = []
        self.done = False

    def has(self, index: int) -> bool:
        """Whether there is an item at the index."""
        while not self.done and len(self.items) <= index:
            try:
                self.items.append(next(self.source))
            except StopIteration:
                self.done = True
        return index < len(self.items)


def diagonal(sources: Sequence[Iterator[Plain]]) -> Iterator[tuple[Plain, ...]]:
    """The product of the sources, ordered by the sum of the positions, then by position."""
    lazies = [_Lazy(s) for s in sources]
    if not all(lazy.has(0) for lazy in lazies):
        return
    for total in itertools.count():
        found = False
        for row in _rows(lazies, 0, total):
            found = True
            yield row
        if not found:
            return


def _rows(lazies: Sequence[_Lazy], first: int, total: int) -> Iterator[tuple[Plain, ...]]:
    if first == len(lazies):
        if total == 0:
            yield ()
        return
    lazy = lazies[first]
    if first == len(lazies) - 1:
        if lazy.has(total):
            yield (lazy.items[total],)
        return
    for index in range(total + 1):
        if not lazy.has(index):
            return
        for rest in _rows(lazies, first + 1, total - index):
            yield (lazy.items[index], *rest)


_INT_EDGES = sorted(
    {
        s * (2**b + d)
        for b in (0, 7, 8, 15, 16, 31, 32, 53, 63, 64)
        for d in (-1, 0, 1)
        for s in (1, -1)
    },
    key=lambda n: (abs(n), n < 0),
)
_FLOAT_EDGES = (
    *(0.0, -0.0, 1.0, -1.0, 0.5, 0.1, 1 / 3, 1e16, 2.0**53 + 2, 5e-324, 2.2250738585072014e-308),
    *(1.7976931348623157e308, -1.7976931348623157e308, math.inf, -math.inf, math.nan),
)
_TEXT_EDGES = (
    *("", "a", "A", "0", " ", "\n", "\x00", "ab", "aa", "-1", "\\", "'", '"', "%", "/", "\r\n"),
    *("é", "e\u0301", "ß", "İ", "\u2028", "\ufeff", "\U0001f600", "a" * LONG),
)
_BYTE_EDGES = (
    b"",
    b"\x00",
    b"\xff",
    b"\x80",
    b"a",
    b"\n",
    b"\x00\x00",
    b"\xff" * 4,
    bytes(range(256)),
)


def edges(domain: Domain) -> list[Plain]:
    """The edge cases of a domain, simplest first, without duplicates; some if it has values."""
    found: dict[str, Plain] = {}
    for value in _edges(domain):
        if domain.contains(value):
            found.setdefault(plain.dumps(value), value)
        if len(found) >= MAX_EDGES:
            break
    return list(found.values())


def _edges(domain: Domain) -> Iterator[Plain]:
    match domain:
        case Bools() | OneOf():
            yield from _enumerate(domain)
        case Ints(lo=lo, hi=hi):
            yield nearest(lo, hi)
            yield from (e + d for e in (lo, hi) if e is not None for d in (0, 1, -1))
            yield from _INT_EDGES
        case Floats(lo=lo, hi=hi):
            yield from (e for e in (lo, hi) if e is not None)
            yield from _FLOAT_EDGES
        case Text(min=low, max=high, alphabet=alphabet):
            for letter in (alphabet or "a\x00\U0001f600")[:3]:
                yield from (letter * n for n in _lengths(low, high))
            yield from _TEXT_EDGES
        case Bytes(min=low, max=high):
            yield from (b * n for n in _lengths(low, high) for b in (b"\x00", b"\xff", b"a"))
            yield from _BYTE_EDGES
        case Either(of=parts):
            for part in parts:
                yield from edges(part)[: MAX_EDGES // len(parts) + 1]
        case Lists(of=of, min=low, max=high):
            yield from ([v] * n for n in _lengths(low, high) for v in edges(of)[:3])
            yield from ([v] for v in edges(of))
            yield [] if low == 0 else edges(of)[:low]
            yield edges(of)[:high]
        case Tuples(of=parts):
            yield from _product_edges([edges(d) for d in parts])
        case Records(of=fields):
            rows = _product_edges([edges(d) for d in fields.values()])
            yield from (dict(zip(fields, row, strict=True)) for row in rows)
        case Sets(of=of, min=low, max=high):
            items = list(dict.fromkeys(edges(of)))
            yield from (set(items[:n]) for n in (low, low + 1, high or len(items)))
            yield from ({v} for v in items)
        case Dicts(keys=keys, values=values, min=low, max=high):
            names, bodies = list(dict.fromkeys(edges(keys))), edges(values)
            for n in (low, low + 1, high or len(names)):
                yield from (dict.fromkeys(names[:n], v) for v in bodies[:3])
            yield from ({k: bodies[0]} for k in names if bodies)


def nearest(lo: int | None, hi: int | None) -> int:
    """The integer of lo..hi nearest to zero."""
    at_least = 0 if lo is None else max(0, lo)
    return at_least if hi is None else min(at_least, hi)


def _lengths(low: int, high: int | None) -> tuple[int, ...]:
    return (low, low + 1, low + 2, LONG if high is None else min(high, low + LONGEST))


def _product_edges(columns: Sequence[list[Plain]]) -> Iterator[tuple[Plain, ...]]:
    """All simplest; then each part's edges with the others simplest; then along the diagonal."""
    if not all(columns):
        return
    first = tuple(c[0] for c in columns)
    yield first
    for value in itertools.zip_longest(*columns):
        for index, part in enumerate(value):
            if part is not None or None in columns[index]:
                yield (*first[:index], part, *first[index + 1 :])
    yield from zip(*columns, strict=False)
    yield from diagonal([iter(c) for c in columns])
