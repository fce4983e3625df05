"""Candidates: inputs of a function that its contract speaks of, where random ones seldom are.

A `require` such as `0 <= i < len(xs)` or "sorted" leaves almost nothing of what is drawn blindly,
and the interesting inputs lie beside the constants of the code. So values are drawn near those
constants and near the values drawn for other parameters, and candidates that satisfy more conjuncts
of the requires than others are varied further. The conditions are evaluated beside the specs; no
code under test runs, so what is dropped here was never a case.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence

from refute import plain
from refute.plain import Plain
from refute.specs.contract_types import Type

ROUND = 96  # candidates that are scored together
ELITE = 16
PATIENCE = 25  # rounds without any candidate that satisfies the requires
LONGEST = 40

Score = tuple[int, bool]
Scorer = Callable[[Sequence[Plain]], Sequence[Score]]


class Drawer:
    """Draws cases of given types from a seeded generator, near constants and near each other."""

    def __init__(self, types: Mapping[str, Type], constants: Sequence[Plain], seed: int) -> None:
        self.types = types
        self.rng = random.Random(seed)
        self.numbers = _near(c for c in constants if type(c) in (int, bool))
        self.texts = [c for c in dict.fromkeys(constants) if type(c) is str]
        self.bytes = [c for c in dict.fromkeys(constants) if type(c) is bytes]
        self.relatives: list[Plain] = []

    def case(self) -> dict[str, Plain]:
        """A fresh case; the parameters are drawn in any order, each may relate to those before."""
        names = list(self.types)
        self.rng.shuffle(names)
        self.relatives = []
        drawn: dict[str, Plain] = {}
        for name in names:
            drawn[name] = self.value(self.types[name])
            self.relatives.append(drawn[name])
        return {name: drawn[name] for name in self.types}

    def varied(self, case: Mapping[str, Plain]) -> dict[str, Plain]:
        """The case with one parameter drawn again, or changed a little."""
        name = self.rng.choice(list(self.types))
        self.relatives = [v for n, v in case.items() if n != name]
        old, kind = case[name], self.types[name]
        new = self._changed(kind, old) if self.rng.random() < 0.7 else self.value(kind)
        return {**case, name: new}

    def value(self, kind: Type) -> Plain:
        """A value of the type."""
        rng = self.rng
        match kind.kind:
            case "bool":
                return rng.random() < 0.5
            case "int":
                return self._int()
            case "float":
                return rng.choice((0.0, 0.5, 1.0, -1.0)) if rng.random() < 0.3 else self._int() / 2
            case "str":
                return self._text()
            case "bytes":
                return self._bytes()
            case "literal":
                return rng.choice(kind.values)
            case "either":
                return self.value(rng.choice(kind.of))
            case "tuple":
                return tuple(self.value(part) for part in kind.of)
            case "dict":
                keys = self._items(kind.of[0])
                return {key: self.value(kind.of[1]) for key in keys}
            case "None":
                return None
        return _collection(kind, self._items(kind.of[0]))

    def _int(self) -> int:
        """Small, near a constant, near a value of the case, or of any bit length up to 72."""
        rng, shape = self.rng, self.rng.random()
        if shape < 0.35:
            return rng.randint(-2, 9)
        related = self._related_numbers()
        if shape < 0.65 and related:
            return rng.choice(related) + rng.choice((0, 0, 0, 1, -1))
        if shape < 0.9 and self.numbers:
            return rng.choice(self.numbers)
        size = rng.getrandbits(rng.randint(1, 72 if shape > 0.95 else 10))
        return size if rng.random() < 0.6 else -size

    def _related_numbers(self) -> list[int]:
        found: list[int] = []
        for value in self.relatives:
            if type(value) is int:
                found += [value, value // 2, value * 2]
            elif isinstance(value, list | tuple | set | frozenset | dict | str | bytes):
                found.append(len(value))
                items = value if len(value) <= LONGEST else ()
                found += sorted(v for v in items if type(v) is int)  # a set has no order
        return found

    def _length(self) -> int:
        small = [n for n in self._related_numbers() if 0 <= n <= LONGEST]
        if small and self.rng.random() < 0.3:
            return self.rng.choice(small)
        return min(LONGEST, int(self.rng.expovariate(0.35)))

    def _items(self, kind: Type) -> list[Plain]:
        """Items of a collection: drawn one by one, equal, in order, or those of another one."""
        rng, shape = self.rng, self.rng.random()
        others = [list(v) for v in self.relatives if isinstance(v, list | tuple)]
        others = [items for items in others if all(kind.admits(v) for v in items)]
        if others and shape < 0.25:
            items = rng.choice(others)
            return rng.sample(items, len(items)) if shape < 0.1 else items
        if shape < 0.35:
            return [self.value(kind)] * self._length()
        items = [self.value(kind) for _ in range(self._length())]
        return _in_order(items) if shape < 0.6 else items

    def _text(self) -> str:
        rng = self.rng
        words = [*self.texts, *(v for v in self.relatives if type(v) is str)]
        shape = rng.random()
        if words and shape < 0.5:
            word = rng.choice(words)
            return word if shape < 0.3 else word[rng.randint(0, len(word)) :]
        letters = "".join(self.texts) + "ab0 -é"
        return "".join(rng.choice(letters) for _ in range(self._length()))

    def _bytes(self) -> bytes:
        known = [*self.bytes, *(v for v in self.relatives if type(v) is bytes)]
        if known and self.rng.random() < 0.4:
            return self.rng.choice(known)
        return self.rng.randbytes(self._length())

    def _changed(self, kind: Type, value: Plain) -> Plain:
        """A neighbour of the value."""
        rng = self.rng
        if type(value) is int:
            return value + rng.choice((1, -1, -value, -2 * value, rng.randint(-9, 9)))
        if kind.kind == "tuple":
            index = rng.randrange(len(value) or 1)
            parts = [
                self._changed(part, v) if i == index else v
                for i, (part, v) in enumerate(zip(kind.of, value, strict=True))
            ]
            return tuple(parts)
        if kind.kind in ("list", "tuples") and type(value) in (list, tuple):
            return _collection(kind, self._changed_items(kind.of[0], list(value)))
        return self.value(kind)

    def _changed_items(self, kind: Type, items: list[Plain]) -> list[Plain]:
        rng = self.rng
        match rng.randrange(6):
            case 0:
                return _in_order(items)
            case 1:
                return _in_order(_distinct(items))
            case 2:
                return [*items, self.value(kind)]
            case 3:
                return items[:-1]
            case 4:
                return items[::-1]
        if not items:
            return [self.value(kind)]
        index = rng.randrange(len(items))
        return [*items[:index], self._changed(kind, items[index]), *items[index + 1 :]]


def satisfying(drawer: Drawer, score: Scorer | None) -> Iterator[Plain]:
    """Distinct cases that satisfy the requires, until none was found for a while.

    score: how many conjuncts of the requires hold, and whether all do; None where there are none.
    """
    seen: set[str] = set()
    elite: list[tuple[int, dict[str, Plain]]] = []
    waited = 0
    while waited < PATIENCE:
        fresh = [drawer.case() for _ in range(ROUND if not elite else ROUND // 2)]
        fresh += [drawer.varied(drawer.rng.choice(elite)[1]) for _ in range(ROUND - len(fresh))]
        batch = [c for c in fresh if not _known(seen, c)]
        scores = [(0, True)] * len(batch) if score is None else score(batch)
        good = [c for c, (_, holds) in zip(batch, scores, strict=False) if holds]
        waited = 0 if good else waited + 1
        yield from good
        ranked = [(n, c) for c, (n, _) in zip(batch, scores, strict=False)]
        drawer.rng.shuffle(ranked)
        elite = sorted([*ranked, *elite], key=lambda entry: -entry[0])[:ELITE]


def _known(seen: set[str], case: Plain) -> bool:
    text = plain.dumps(case)
    if text in seen:
        return True
    seen.add(text)
    return False


def _near(constants: Iterator[int]) -> list[int]:
    found = {c + d: None for c in constants for d in (0, 1, -1)}
    return list(found)


def _collection(kind: Type, items: list[Plain]) -> Plain:
    made = {"list": list, "tuples": tuple, "set": set, "frozenset": frozenset}[kind.kind]
    return made(items)


def _in_order(items: list[Plain]) -> list[Plain]:
    try:
        return sorted(items)
    except TypeError:  # items of several types have no order
        return items


def _distinct(items: list[Plain]) -> list[Plain]:
    return list({plain.dumps(v): v for v in items}.values())
