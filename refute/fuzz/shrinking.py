"""The shrinker: from a case that breaks a claim to one that nothing simpler breaks.

`simpler(domain, value)` lists candidates that stay inside the domain, boldest first; `minimise`
takes the first candidate that still breaks the claim and starts again from it, until none does.
Candidates are tried in batches, because a batch costs one round trip to the workers. Every
candidate is strictly simpler in a well-founded order (shorter, or of the same length and with one
part simpler), so that the loop ends even without a budget.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence

from refute import plain
from refute.fuzz.values import edges, nearest
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

BATCH = 16

Simpler = Callable[[Plain], Iterator[Plain]]
Breaks = Callable[[Sequence[Plain]], int | None]


def minimise(case: Plain, candidates: Simpler, first_broken: Breaks, tries: int) -> Plain:
    """The simplest case found within `tries` trials.

    candidates: simpler cases than a given one, boldest first. first_broken: the index of the first
    case of a batch that breaks the claim, None when none does.
    """
    seen = {plain.dumps(case)}
    while tries > 0:
        fresh = _unseen(candidates(case), seen)
        while batch := list(itertools.islice(fresh, min(BATCH, tries))):
            tries -= len(batch)
            index = first_broken(batch)
            if index is not None:
                case = batch[index]
                break
        else:
            return case
    return case


def _unseen(cases: Iterator[Plain], seen: set[str]) -> Iterator[Plain]:
    for case in cases:
        text = plain.dumps(case)
        if text not in seen:
            seen.add(text)
            yield case


def simpler(domain: Domain, value: Plain) -> Iterator[Plain]:
    """Simpler values of the domain than `value`, boldest first."""
    return (v for v in _simpler(domain, value) if domain.contains(v))


def _simpler(domain: Domain, value: Plain) -> Iterator[Plain]:
    match domain:
        case Bools():
            return iter((False,) if value else ())
        case OneOf(values=values):
            return itertools.takewhile(lambda v: not plain.same(v, value), iter(values))
        case Ints(lo=lo, hi=hi):
            return _simpler_int(value, nearest(lo, hi))
        case Floats():
            return _simpler_float(value)
        case Text(alphabet=alphabet):
            letters = alphabet if alphabet is not None else "a"
            return ("".join(s) for s in shorter_or_simpler(value, _simpler_letter(letters)))
        case Bytes():
            return (bytes(s) for s in shorter_or_simpler(value, lambda b: _simpler_int(b, 0)))
        case Lists(of=of):
            return (list(s) for s in shorter_or_simpler(value, lambda v: simpler(of, v)))
        case Tuples(of=parts):
            return _simpler_part(parts, value)
        case Records(of=fields):
            rows = _simpler_part(tuple(fields.values()), tuple(value[k] for k in fields))
            return (dict(zip(fields, row, strict=True)) for row in rows)
        case Either(of=parts):
            return _simpler_either(parts, value)
        case Sets(of=of):
            items = sorted(value, key=plain.dumps)
            return (set(s) for s in shorter_or_simpler(items, lambda v: simpler(of, v)))
        case Dicts(keys=keys, values=values):
            entry = Tuples(keys, values)
            items = sorted(value.items(), key=plain.dumps)
            return (dict(s) for s in shorter_or_simpler(items, lambda v: simpler(entry, v)))
    raise TypeError(f"no shrinking of {type(domain).__name__}")


def shorter_or_simpler(items: Sequence[Plain], item: Simpler) -> Iterator[tuple[Plain, ...]]:
    """The sequence with runs removed (long runs first), then with one item made simpler."""
    whole = tuple(items)
    run = len(whole)
    while run:
        for start in range(0, len(whole) - run + 1, max(1, run // 2)):
            yield whole[:start] + whole[start + run :]
        run //= 2
    for index, value in enumerate(whole):
        for better in item(value):
            yield (*whole[:index], better, *whole[index + 1 :])


def _simpler_int(value: int, target: int) -> Iterator[int]:
    """Towards the target: it, then by halves of the distance; the positive twin of a negative."""
    if value == target:
        return
    yield target
    if value < 0:
        yield -value
    sign, step = (1, value - target) if value > target else (-1, target - value)
    while step := step // 2:
        yield value - sign * step


def _simpler_float(value: float) -> Iterator[float]:
    if math.isnan(value) or math.isinf(value):
        yield from (0.0, 1.0)
        if value < 0:
            yield -value
        return
    if math.copysign(1.0, value) < 0:
        yield -value
    if value.is_integer():
        yield from map(float, _simpler_int(int(value), 0)) if abs(value) < 2.0**1000 else (0.0,)
        return
    yield float(math.trunc(value))
    for digits in range(1, 12):
        if round(value, digits) != value:
            yield round(value, digits)


def _simpler_letter(letters: str) -> Simpler:
    def candidates(letter: str) -> Iterator[str]:
        for better in itertools.chain(letters[:3], "0 "):
            if better == letter:
                return
            yield better
        if letters.find(letter) > 3:
            yield letters[letters.find(letter) // 2]

    return candidates


def _simpler_part(parts: Sequence[Domain], row: Sequence[Plain]) -> Iterator[tuple[Plain, ...]]:
    whole = tuple(row)
    for index, domain in enumerate(parts):
        for better in simpler(domain, whole[index]):
            yield (*whole[:index], better, *whole[index + 1 :])


def _simpler_either(parts: Sequence[Domain], value: Plain) -> Iterator[Plain]:
    for domain in parts:
        if domain.contains(value):
            yield from simpler(domain, value)
            return
        yield from edges(domain)[:1]
