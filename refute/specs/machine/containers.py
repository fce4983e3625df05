"""Set, Map and Seq as a machine's own code sees them: values, with mutating statements.

A container read from `self.x` knows the place it was read from; `self.x.add(e)` computes a new
value and writes it there, so a local that held the old value still holds it. Iteration follows the
canonical order, as in every other meaning of a machine.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, Generic, SupportsIndex, TypeVar, overload

from refute.specs.machine.errors import NotAPlace

E = TypeVar("E")
E_co = TypeVar("E_co", covariant=True)
K = TypeVar("K")
V = TypeVar("V")
D = TypeVar("D")

Home = Callable[[Any], None]


def _no_place(_: Any) -> None:
    raise NotAPlace("a value was mutated that is not a path from self")


class Set(frozenset[E]):
    """A finite set; `add`, `discard`, `remove`, `clear` and `update` are statements on `self.x`."""

    _home: Home = staticmethod(_no_place)

    def __iter__(self) -> Iterator[E]:
        return iter(sorted(frozenset.__iter__(self), key=live_order))

    def __or__(self, other: AbstractSet[D]) -> Set[E | D]:
        return Set(frozenset.__or__(self, other))

    def __and__(self, other: AbstractSet[object]) -> Set[E]:
        return Set(frozenset.__and__(self, other))

    def __sub__(self, other: AbstractSet[object]) -> Set[E]:
        return Set(frozenset.__sub__(self, other))

    def __xor__(self, other: AbstractSet[D]) -> Set[E | D]:
        return Set(frozenset.__xor__(self, other))

    def union(self, *others: Iterable[D]) -> Set[E | D]:
        """As `|`, with any collections; a Set, so that its order is fixed."""
        return Set(frozenset.union(self, *others))

    def intersection(self, *others: Iterable[object]) -> Set[E]:
        """As `&`, with any collections."""
        return Set(frozenset.intersection(self, *others))

    def difference(self, *others: Iterable[object]) -> Set[E]:
        """As `-`, with any collections."""
        return Set(frozenset.difference(self, *others))

    def symmetric_difference(self, other: Iterable[D]) -> Set[E | D]:
        """As `^`, with any collection."""
        return Set(frozenset.symmetric_difference(self, other))

    def add(self, element: E) -> None:
        """Write the set with the element."""
        self._home(frozenset(self) | {hashable(element)})

    def discard(self, element: E) -> None:
        """Write the set without the element."""
        self._home(frozenset(self) - {hashable(element)})

    def remove(self, element: E) -> None:
        """As `discard`; KeyError when the element is not in the set."""
        if element not in self:
            raise KeyError(element)
        self._home(frozenset(self) - {hashable(element)})

    def clear(self) -> None:
        """Write the empty set."""
        self._home(frozenset())

    def update(self, elements: Iterable[E]) -> None:
        """Write the union with the elements."""
        self._home(frozenset(self) | frozenset(map(hashable, elements)))


class Bag(Generic[E]):
    """A multiset; `add`, `remove`, `discard` (of one copy) and `clear` are statements."""

    _home: Home = staticmethod(_no_place)

    def __init__(self, elements: Iterable[E] = ()) -> None:
        found: dict[E, int] = {}
        for element in elements:
            found[element] = found.get(element, 0) + 1
        self._counts = found

    @classmethod
    def of(cls, counts: Mapping[E, int]) -> Bag[E]:
        """The bag that has each key so often; none of it where that is not positive."""
        made: Bag[E] = cls()
        made._counts = {element: n for element, n in counts.items() if n > 0}
        return made

    def count(self, element: E) -> int:
        """How often the element is there."""
        return self._counts.get(element, 0)

    def total(self) -> int:
        """How many copies there are together."""
        return sum(self._counts.values())

    def distinct(self) -> Set[E]:
        """The different elements."""
        return Set(self._counts)

    def __contains__(self, element: object) -> bool:
        return element in self._counts

    def __bool__(self) -> bool:
        return bool(self._counts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Bag) and self._counts == other._counts

    def __hash__(self) -> int:
        return hash(frozenset(self._counts.items()))

    def __repr__(self) -> str:
        return f"Bag.of({self._counts!r})"

    def add(self, element: E) -> None:
        """Write the bag with one copy more."""
        made = hashable(element)
        self._home(Bag.of({**self._counts, made: self.count(made) + 1}))

    def discard(self, element: E) -> None:
        """Write the bag with one copy less, if there is one."""
        self._home(Bag.of({**self._counts, element: self.count(element) - 1}))

    def remove(self, element: E) -> None:
        """As `discard`; KeyError when there is none."""
        if element not in self._counts:
            raise KeyError(element)
        self.discard(element)

    def clear(self) -> None:
        """Write the empty bag."""
        self._home(Bag())


def _row(other: Iterable[E]) -> tuple[E, ...]:
    """A list as a tuple, which is what a Seq compares with."""
    return tuple(other) if isinstance(other, list) else other  # type: ignore[return-value]


class Seq(tuple[E, ...]):
    """A sequence; `append`, `extend`, `pop` and `clear` are statements on `self.x`."""

    _home: Home = staticmethod(_no_place)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, list | tuple) and tuple.__eq__(self, tuple(other))

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = tuple.__hash__

    def __lt__(self, other: Iterable[E]) -> bool:
        return tuple.__lt__(self, _row(other))

    def __le__(self, other: Iterable[E]) -> bool:
        return tuple.__le__(self, _row(other))

    def __gt__(self, other: Iterable[E]) -> bool:
        return tuple.__gt__(self, _row(other))

    def __ge__(self, other: Iterable[E]) -> bool:
        return tuple.__ge__(self, _row(other))

    def __add__(self, other: Iterable[E]) -> Seq[E]:  # type: ignore[override]
        return Seq((*self, *other))

    def __radd__(self, other: Iterable[E]) -> Seq[E]:
        return Seq((*other, *self))

    def __mul__(self, times: SupportsIndex) -> Seq[E]:
        return Seq(tuple.__mul__(self, times))

    __rmul__ = __mul__

    @overload
    def __getitem__(self, key: SupportsIndex) -> E: ...

    @overload
    def __getitem__(self, key: slice) -> Seq[E]: ...

    def __getitem__(self, key: SupportsIndex | slice) -> E | Seq[E]:
        found: Any = tuple.__getitem__(self, key)
        if isinstance(key, slice):
            return Seq(found)
        made: E = placed(found, lambda new: self.__setitem__(key, new))
        return made

    def __setitem__(self, key: SupportsIndex, value: E) -> None:
        items = list(self)
        items[key] = value
        self._home(tuple(items))

    def append(self, element: E) -> None:
        """Write the sequence with the element at its end."""
        self._home((*self, element))

    def extend(self, elements: Iterable[E]) -> None:
        """Write the sequence with the elements at its end."""
        self._home((*self, *elements))

    def pop(self, at: int = -1) -> E:
        """Write the sequence without one element, and give that. IndexError when absent."""
        items = list(self)
        taken = items.pop(at)
        self._home(tuple(items))
        return taken

    def __delitem__(self, key: SupportsIndex) -> None:
        items = list(self)
        del items[key]
        self._home(tuple(items))

    def clear(self) -> None:
        """Write the empty sequence."""
        self._home(())


class Map(Mapping[K, V], Generic[K, V]):
    """A total map from a finite type; `self.x[k] = v` writes one entry."""

    _home: Home = staticmethod(_no_place)

    def __init__(self, entries: Mapping[K, V] | Iterable[tuple[K, V]] = ()) -> None:
        found = dict(entries)
        self._entries = {k: found[k] for k in sorted(found, key=live_order)}

    def __getitem__(self, key: K) -> V:
        return placed(self._entries[key], lambda new: self.__setitem__(key, new))

    def __setitem__(self, key: K, value: V) -> None:
        if key not in self._entries:
            raise KeyError(key)
        self._home(Map({**self._entries, key: value}))

    def __or__(self, other: Mapping[K, V]) -> Map[K, V]:
        """The map with other values for some keys; KeyError of one that it does not have."""
        unknown = [key for key in other if key not in self._entries]
        if unknown:
            raise KeyError(unknown[0])
        return Map({**self._entries, **other})

    def __ror__(self, other: Mapping[K, V]) -> Map[K, V]:
        return Map(other) | self

    def update(self, entries: Mapping[K, V]) -> None:
        """Write the map with other values for some keys; KeyError of one that it does not have."""
        self._home(self | entries)

    def __iter__(self) -> Iterator[K]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mapping) and self._entries == dict(other)

    def __hash__(self) -> int:
        return hash(frozenset(self._entries.items()))

    def __repr__(self) -> str:
        return f"Map({self._entries!r})"


def hashable(value: Any) -> Any:
    """A builtin set or list as Set or Seq, so that it can be an element of a set."""
    if isinstance(value, set):
        return Set(map(hashable, value))
    return Seq(map(hashable, value)) if isinstance(value, list) else value


def placed(value: D, home: Home) -> D:
    """`value`; a container comes as a copy that writes through `home`."""
    copy: Any
    if isinstance(value, Set):
        copy = Set(frozenset(value))
    elif isinstance(value, Seq):
        copy = Seq(value)
    elif isinstance(value, Map):
        copy = Map(value._entries)
    elif isinstance(value, Bag):
        copy = Bag.of(value._counts)
    else:
        return value
    copy._home = home
    return copy  # type: ignore[no-any-return]


def live_order(value: Any) -> tuple[Any, ...]:
    """The canonical order of `values.order`, over the objects of the user's own classes."""
    if value is None:
        return (0,)
    if isinstance(value, enum.Enum):
        kind: Any = type(value)
        return (2, kind.__name__, list(kind).index(value))
    if isinstance(value, bool | int):
        return (1, int(value))
    if isinstance(value, str):
        return (2, "", value)
    key = getattr(value, "__machine_order__", None)
    if key is not None:
        return (2, *key())
    fields = getattr(type(value), "__dataclass_fields__", None)
    if fields is not None:
        inside = tuple(live_order(getattr(value, name)) for name in fields)
        return (4, type(value).__name__, inside)
    if isinstance(value, frozenset):
        return (5, tuple(sorted(map(live_order, frozenset.__iter__(value)))))
    if isinstance(value, Bag):
        return live_order(frozenset(value._counts.items()))
    if isinstance(value, Mapping):
        return (3, tuple(live_order(v) for v in value.values()))
    named = getattr(type(value), "_fields", None)
    row = tuple(map(live_order, value))
    return (3, row) if named is None else (4, type(value).__name__, row)
