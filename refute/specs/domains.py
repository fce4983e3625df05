"""Domains: the sets of values that a claim's inputs range over, as plain data.

`Ints(0, 9)`, `Lists(Text(max=3), max=2)`, `Optional(Bools())` … describe; `refute.fuzz` enumerates,
samples and shrinks. The domains of single values and the reasons for the shape of all of them are
in `refute.specs.scalars`; they are named here too, so that a spec imports from one place.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

from refute.errors import IllegalClaim
from refute.plain import Plain
from refute.specs.scalars import (
    HUGE,
    Bools,
    Bytes,
    Domain,
    Floats,
    Ints,
    OneOf,
    Text,
    count_words,
    need,
    need_domain,
    need_lengths,
    within,
)

__all__ = [
    "Bools",
    "Bytes",
    "Dicts",
    "Domain",
    "Either",
    "Floats",
    "Ints",
    "Lists",
    "OneOf",
    "Optional",
    "Records",
    "Sets",
    "Text",
    "Tuples",
    "from_plain",
    "inputs",
    "product_size",
]


def product_size(sizes: Iterable[int | None]) -> int | None:
    """The product of the sizes, at most HUGE; None when one of them has no bound."""
    total: int | None = 1
    for size in sizes:
        if size == 0:
            return 0
        total = None if size is None or total is None else min(HUGE, total * size)
    return total


def _choices(keys: int | None, values: int | None, low: int, high: int | None) -> int | None:
    """The number of maps from low..high of `keys` to `values`, at most HUGE."""
    if high == 0:
        return 1 if low == 0 else 0
    if keys is None or values is None:
        return None
    total = 0
    for count in range(low, min(keys, keys if high is None else high) + 1):
        total += math.comb(keys, count) * values**count
        if total > HUGE:
            return HUGE
    return total


@dataclasses.dataclass(frozen=True)
class Lists(Domain):
    """Lists of min..max values of one domain."""

    kind: ClassVar[str] = "lists"
    of: Domain
    min: int = 0
    max: int | None = None

    def __post_init__(self) -> None:
        need_domain(self.of, "Lists(of)")
        need_lengths(self.min, self.max, "Lists")

    @property
    def size(self) -> int | None:
        """The number of lists."""
        return count_words(self.of.size, self.min, self.max)

    def contains(self, value: Plain) -> bool:
        """Whether it is a list of the right length with the right items."""
        good = type(value) is list and within(len(value), self.min, self.max)
        return good and all(self.of.contains(v) for v in value)


@dataclasses.dataclass(frozen=True, init=False)
class Tuples(Domain):
    """Tuples with one value of each domain, in order."""

    kind: ClassVar[str] = "tuples"
    of: tuple[Domain, ...]

    def __init__(self, *of: Domain) -> None:
        for item in of:
            need_domain(item, "every argument of Tuples")
        object.__setattr__(self, "of", of)

    @property
    def size(self) -> int | None:
        """The product of the sizes."""
        return product_size(d.size for d in self.of)

    def contains(self, value: Plain) -> bool:
        """Whether it is a tuple with the right items."""
        if type(value) is not tuple or len(value) != len(self.of):
            return False
        return all(d.contains(v) for d, v in zip(self.of, value, strict=True))

    def __str__(self) -> str:
        return f"Tuples({', '.join(map(str, self.of))})"


@dataclasses.dataclass(frozen=True, init=False)
class Records(Domain):
    """Dicts with exactly the given string keys, each with a value of its domain."""

    kind: ClassVar[str] = "records"
    of: Mapping[str, Domain]

    def __init__(self, of: Mapping[str, Domain]) -> None:
        for name, item in of.items():
            need(type(name) is str, f"Records: key {name!r} must be a str", name)
            need_domain(item, f"Records: the value of {name!r}")
        object.__setattr__(self, "of", dict(of))

    @property
    def size(self) -> int | None:
        """The product of the sizes."""
        return product_size(d.size for d in self.of.values())

    def contains(self, value: Plain) -> bool:
        """Whether it is a dict with the right keys and values."""
        if type(value) is not dict or set(value) != set(self.of):
            return False
        return all(d.contains(value[k]) for k, d in self.of.items())

    def to_plain(self) -> dict[str, Plain]:
        """The domain as plain data."""
        return {"domain": self.kind, "of": {k: d.to_plain() for k, d in self.of.items()}}

    def __hash__(self) -> int:
        return hash(tuple(self.of.items()))

    def __str__(self) -> str:
        return f"Records({{{', '.join(f'{k!r}: {d}' for k, d in self.of.items())}}})"


def _must_hash(domain: Domain, where: str) -> None:
    inner = domain.of if isinstance(domain, Tuples | Either) else ()
    for part in inner:
        _must_hash(part, where)
    bad = isinstance(domain, Lists | Dicts | Sets | Records)
    if isinstance(domain, OneOf):
        bad = any(not _hashable(v) for v in domain.values)
    need(not bad, f"{where}: the values of {domain} cannot be hashed", str(domain))


def _hashable(value: Plain) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


@dataclasses.dataclass(frozen=True)
class Sets(Domain):
    """Sets of min..max values of one domain of hashable values."""

    kind: ClassVar[str] = "sets"
    of: Domain
    min: int = 0
    max: int | None = None

    def __post_init__(self) -> None:
        need_domain(self.of, "Sets(of)")
        need_lengths(self.min, self.max, "Sets")
        _must_hash(self.of, "Sets(of)")
        items = self.of.size
        enough = items is None or items >= self.min
        need(enough, f"Sets: {self.of} has fewer than {self.min} values", self.min)

    @property
    def size(self) -> int | None:
        """The number of subsets of the allowed sizes."""
        return _choices(self.of.size, 1, self.min, self.max)

    def contains(self, value: Plain) -> bool:
        """Whether it is a set of the right size with the right items."""
        good = type(value) is set and within(len(value), self.min, self.max)
        return good and all(self.of.contains(v) for v in value)


@dataclasses.dataclass(frozen=True)
class Dicts(Domain):
    """Dicts of min..max entries with keys and values of two domains."""

    kind: ClassVar[str] = "dicts"
    keys: Domain
    values: Domain
    min: int = 0
    max: int | None = None

    def __post_init__(self) -> None:
        need_domain(self.keys, "Dicts(keys)")
        need_domain(self.values, "Dicts(values)")
        need_lengths(self.min, self.max, "Dicts")
        _must_hash(self.keys, "Dicts(keys)")
        keys = self.keys.size
        enough = keys is None or keys >= self.min
        need(enough, f"Dicts: {self.keys} has fewer than {self.min} values", self.min)

    @property
    def size(self) -> int | None:
        """The number of dicts."""
        return _choices(self.keys.size, self.values.size, self.min, self.max)

    def contains(self, value: Plain) -> bool:
        """Whether it is a dict of the right size with the right keys and values."""
        if type(value) is not dict or not within(len(value), self.min, self.max):
            return False
        return all(self.keys.contains(k) and self.values.contains(v) for k, v in value.items())


@dataclasses.dataclass(frozen=True, init=False)
class Either(Domain):
    """The values of any of the domains, those of the first being the simplest."""

    kind: ClassVar[str] = "either"
    of: tuple[Domain, ...]

    def __init__(self, *of: Domain) -> None:
        need(bool(of), "Either() has no values", of, "name at least one domain")
        for item in of:
            need_domain(item, "every argument of Either")
        object.__setattr__(self, "of", of)

    @property
    def size(self) -> int | None:
        """The sum of the sizes; more than the number of values where the domains overlap."""
        sizes = [d.size for d in self.of]
        return None if None in sizes else sum(s for s in sizes if s is not None)

    def contains(self, value: Plain) -> bool:
        """Whether one of the domains contains it."""
        return any(d.contains(value) for d in self.of)

    def __str__(self) -> str:
        return f"Either({', '.join(map(str, self.of))})"


def Optional(of: Domain) -> Either:
    """None, or a value of the domain."""
    return Either(OneOf(None), of)


_SIMPLE: dict[str, Callable[..., Domain]] = {d.kind: d for d in (Bools, Ints, Floats, Text, Bytes)}


def from_plain(data: Plain) -> Domain:
    """The domain that `to_plain` wrote. Raises IllegalClaim for anything else."""
    try:
        fields = dict(data)
        kind = fields.pop("domain")
        return _read(kind, fields)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise IllegalClaim(
            f"not the data of a domain: {data!r}", thing="domain", value=data
        ) from error


def _read(kind: str, fields: dict[str, Any]) -> Domain:
    if kind in _SIMPLE:
        return _SIMPLE[kind](**fields)
    match kind:
        case "lists" | "sets":
            made = Lists if kind == "lists" else Sets
            return made(from_plain(fields["of"]), fields["min"], fields["max"])
        case "dicts":
            keys, values = from_plain(fields["keys"]), from_plain(fields["values"])
            return Dicts(keys, values, fields["min"], fields["max"])
        case "tuples":
            return Tuples(*map(from_plain, fields["of"]))
        case "either":
            return Either(*map(from_plain, fields["of"]))
        case "records":
            return Records({k: from_plain(v) for k, v in fields["of"].items()})
        case "one-of":
            return OneOf(*fields["values"])
    raise KeyError(kind)


def inputs(given: Mapping[str, Domain], thing: str) -> Records:
    """The named inputs of a claim as one domain of dicts. Raises IllegalClaim."""
    for name in given:
        need(
            type(name) is str and name.isidentifier(),
            f"{thing}: {name!r} is not a parameter name",
            name,
        )
    return Records(given)
