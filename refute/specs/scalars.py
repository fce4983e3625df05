"""Domains of single values, and what all domains share. Import them from `refute.specs.domains`.

A domain is a description and nothing else. Where its values come from (enumeration, sampling,
Hypothesis) is the business of `refute.fuzz`, so a spec that names domains loads no engine, and a
claim that holds them can be compared between two revisions as text.

Every value of a domain is plain data. `size` is the number of values, None when there is no bound;
it is an upper bound where values of different types are equal (a set of `1` and `True`) and where
the parts of an `Either` overlap.
"""

from __future__ import annotations

import abc
import dataclasses
import math
from typing import Any, ClassVar

from refute import plain
from refute.errors import IllegalClaim
from refute.plain import Plain

UNICODE_SCALARS = 0x110000 - 0x800  # every code point that is not a surrogate
HUGE = 10**18  # counting stops here: nothing of this size is ever enumerated


@dataclasses.dataclass(frozen=True)
class Domain(abc.ABC):
    """A set of plain values. Use one of the constructors below."""

    kind: ClassVar[str] = ""

    @property
    @abc.abstractmethod
    def size(self) -> int | None:
        """How many values there are at most; None when there is no bound."""

    @abc.abstractmethod
    def contains(self, value: Plain) -> bool:
        """Whether `value`, of exactly the right type, is one of the domain's values."""

    def to_plain(self) -> dict[str, Plain]:
        """The domain as plain data; `from_plain` reads it back."""
        fields = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        return {"domain": self.kind, **{k: _field_to_plain(v) for k, v in fields.items()}}

    def __str__(self) -> str:
        shown = [
            f"{f.name}={getattr(self, f.name)}"
            for f in dataclasses.fields(self)
            if not _unchanged(getattr(self, f.name), f.default)
        ]
        return f"{type(self).__name__}({', '.join(shown)})"


def _unchanged(value: Any, default: Any) -> bool:
    return type(value) is type(default) and bool(value == default)


def _field_to_plain(value: Any) -> Plain:
    if isinstance(value, Domain):
        return value.to_plain()
    if isinstance(value, tuple):
        return [_field_to_plain(v) for v in value]
    return value


def need(condition: bool, message: str, value: object, next_step: str = "") -> None:
    """Raise IllegalClaim with the message unless the condition holds."""
    if not condition:
        raise IllegalClaim(message, thing="domain", value=value, next_step=next_step)


def need_domain(value: object, where: str) -> None:
    """Raise IllegalClaim unless the value is a domain."""
    need(
        isinstance(value, Domain),
        f"{where} must be a domain, got {value!r}",
        value,
        "use Bools(), Ints(0, 9), Text(max=3), OneOf('a', 'b'), …",
    )


def need_lengths(low: object, high: object, where: str) -> None:
    """Raise IllegalClaim unless 0 <= low <= high, both ints, or high is None."""
    need(type(low) is int and low >= 0, f"{where}: min must be an int >= 0, got {low!r}", low)
    good = high is None or (type(high) is int and type(low) is int and high >= low)
    need(good, f"{where}: max must be None or an int >= min, got {high!r}", high)


def within(length: int, low: int, high: int | None) -> bool:
    """Whether low <= length <= high, None being no bound."""
    return length >= low and (high is None or length <= high)


def count_words(letters: int | None, low: int, high: int | None) -> int | None:
    """The number of sequences of low..high items out of `letters`, at most HUGE."""
    if letters == 0 or high == 0:
        return 1 if low == 0 else 0
    if high is None or letters is None:
        return None
    total = 0
    for length in range(low, high + 1):
        total += letters**length
        if total > HUGE:
            return HUGE
    return total


@dataclasses.dataclass(frozen=True)
class Bools(Domain):
    """False and True."""

    kind: ClassVar[str] = "bools"

    @property
    def size(self) -> int:
        """Two."""
        return 2

    def contains(self, value: Plain) -> bool:
        """Whether it is a bool."""
        return type(value) is bool


@dataclasses.dataclass(frozen=True)
class Ints(Domain):
    """Integers from lo to hi, both included; None means unbounded."""

    kind: ClassVar[str] = "ints"
    lo: int | None = None
    hi: int | None = None

    def __post_init__(self) -> None:
        for bound in (self.lo, self.hi):
            need(bound is None or type(bound) is int, f"Ints: {bound!r} is not an int", bound)
        if self.lo is not None and self.hi is not None:
            need(self.lo <= self.hi, f"Ints({self.lo}, {self.hi}) has no values", self.lo)

    @property
    def size(self) -> int | None:
        """hi - lo + 1."""
        return None if self.lo is None or self.hi is None else self.hi - self.lo + 1

    def contains(self, value: Plain) -> bool:
        """Whether it is an int (no bool) within the bounds."""
        if type(value) is not int:
            return False
        return (self.lo is None or value >= self.lo) and (self.hi is None or value <= self.hi)


@dataclasses.dataclass(frozen=True)
class Floats(Domain):
    """Binary64 numbers from lo to hi; infinities and NaN unless switched off or cut by bounds."""

    kind: ClassVar[str] = "floats"
    lo: float | None = None
    hi: float | None = None
    nan: bool = True
    inf: bool = True

    def __post_init__(self) -> None:
        for bound in (self.lo, self.hi):
            good = bound is None or (type(bound) in (int, float) and math.isfinite(bound))
            need(good, f"Floats: {bound!r} is not a finite number", bound)
        for name in ("lo", "hi"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, float(getattr(self, name)))
        if self.lo is not None and self.hi is not None:
            need(self.lo <= self.hi, f"Floats({self.lo}, {self.hi}) has no values", self.lo)

    @property
    def size(self) -> None:
        """Unbounded for our purpose: 2**64 values are never enumerated."""
        return None

    def contains(self, value: Plain) -> bool:
        """Whether it is a float that the flags and bounds allow."""
        if type(value) is not float:
            return False
        if math.isnan(value):
            return self.nan and self.lo is None and self.hi is None
        if math.isinf(value) and not self.inf:
            return False
        return (self.lo is None or value >= self.lo) and (self.hi is None or value <= self.hi)


@dataclasses.dataclass(frozen=True)
class Text(Domain):
    """Strings of min..max characters, out of `alphabet` or of all Unicode but surrogates."""

    kind: ClassVar[str] = "text"
    min: int = 0
    max: int | None = None
    alphabet: str | None = None

    def __post_init__(self) -> None:
        need_lengths(self.min, self.max, "Text")
        if self.alphabet is not None:
            letters = self.alphabet
            good = type(letters) is str and len(set(letters)) == len(letters) > 0
            need(good, f"Text: alphabet {letters!r} must be distinct characters", letters)

    @property
    def size(self) -> int | None:
        """The number of strings."""
        letters = UNICODE_SCALARS if self.alphabet is None else len(self.alphabet)
        return count_words(letters, self.min, self.max)

    def contains(self, value: Plain) -> bool:
        """Whether it is a str of the right length and letters."""
        if type(value) is not str or not within(len(value), self.min, self.max):
            return False
        if self.alphabet is None:
            return not any("\ud800" <= c <= "\udfff" for c in value)
        return set(value) <= set(self.alphabet)


@dataclasses.dataclass(frozen=True)
class Bytes(Domain):
    """Byte strings of min..max bytes."""

    kind: ClassVar[str] = "bytes"
    min: int = 0
    max: int | None = None

    def __post_init__(self) -> None:
        need_lengths(self.min, self.max, "Bytes")

    @property
    def size(self) -> int | None:
        """The number of byte strings."""
        return count_words(256, self.min, self.max)

    def contains(self, value: Plain) -> bool:
        """Whether it is a bytes of the right length."""
        return type(value) is bytes and within(len(value), self.min, self.max)


@dataclasses.dataclass(frozen=True, init=False)
class OneOf(Domain):
    """Exactly the given values, simplest first."""

    kind: ClassVar[str] = "one-of"
    values: tuple[Plain, ...]

    def __init__(self, *values: Plain) -> None:
        texts = [plain.dumps(v) for v in values]
        need(bool(values), "OneOf() has no values", values, "name at least one value")
        need(len(set(texts)) == len(texts), f"OneOf{values!r} names a value twice", values)
        object.__setattr__(self, "values", values)

    @property
    def size(self) -> int:
        """The number of values."""
        return len(self.values)

    def contains(self, value: Plain) -> bool:
        """Whether it is one of the values, of the same type."""
        return any(plain.same(v, value) for v in self.values)

    def to_plain(self) -> dict[str, Plain]:
        """The domain as plain data."""
        return {"domain": self.kind, "values": list(self.values)}

    def __str__(self) -> str:
        return f"OneOf({', '.join(map(repr, self.values))})"
