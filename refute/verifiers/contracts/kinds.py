"""Kinds: the types of the subset, by what a value of them is made of.

A kind says how a value looks in Z3: an int and a bool are terms, a sequence is a length with an
element for each index, a tuple is its items, and a union is one of its options, each under a
condition.
"""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Kind:
    """name: int, bool, None, str, bytes, list, bytearray, tuple, vtuple, union, never or other.

    inner: the kinds inside; one for list and vtuple (`tuple[int, ...]`), several for tuple and
    union. Bytes and bytearrays hold ints.
    """

    name: str
    inner: tuple[Kind, ...] = ()

    @property
    def is_sequence(self) -> bool:
        """Whether a value has a length of its own and elements of one kind."""
        return self.name in ("list", "bytes", "bytearray", "vtuple")

    @property
    def element(self) -> Kind:
        """The kind of the elements of a sequence."""
        return INT if self.name in ("bytes", "bytearray") else self.inner[0]

    def __str__(self) -> str:
        if self.name == "union":
            return " | ".join(map(str, self.inner))
        if self.name == "vtuple":
            return f"tuple[{self.inner[0]}, ...]"
        return self.name + (f"[{', '.join(map(str, self.inner))}]" if self.inner else "")


INT = Kind("int")
BOOL = Kind("bool")
NONE = Kind("None")
STR = Kind("str")
BYTES = Kind("bytes")
BYTEARRAY = Kind("bytearray")
NEVER = Kind("never")
OTHER = Kind("other")


def union(kinds: list[Kind]) -> Kind:
    """One kind for values of any of these."""
    flat: list[Kind] = []
    for kind in kinds:
        for option in kind.inner if kind.name == "union" else (kind,):
            place = next((i for i, k in enumerate(flat) if _category(k) == _category(option)), None)
            if place is None:
                flat.append(option)
            else:
                flat[place] = _joined(flat[place], option)
    flat = [k for k in flat if k != NEVER] or flat[:1]
    return flat[0] if len(flat) == 1 else Kind("union", tuple(flat))


def join(left: Kind, right: Kind) -> Kind:
    """The smallest kind that holds the values of both."""
    return left if left == right else union([left, right])


def _category(kind: Kind) -> object:
    return (kind.name, len(kind.inner)) if kind.name == "tuple" else kind.name


def _joined(left: Kind, right: Kind) -> Kind:
    inner = tuple(join(a, b) for a, b in zip(left.inner, right.inner, strict=True))
    return Kind(left.name, inner)


def fits(kind: Kind, wanted: Kind) -> bool:
    """Whether every value of a kind is one of the wanted kind; a bool is an int."""
    if kind in (wanted, NEVER) or (kind == BOOL and wanted == INT):
        return True
    if kind.name == "union":
        return all(fits(k, wanted) for k in kind.inner)
    if wanted.name == "union":
        return any(fits(kind, k) for k in wanted.inner)
    if wanted.name == "vtuple" and kind.name in ("tuple", "vtuple"):
        return all(fits(k, wanted.inner[0]) for k in kind.inner)
    if kind.name != wanted.name or len(kind.inner) != len(wanted.inner):
        return False
    return all(fits(a, b) for a, b in zip(kind.inner, wanted.inner, strict=True))
