"""The words of a machine: variables, constants, Sorts, actions, processes, properties.

All of it is ordinary Python that `mypy --strict` understands, and it runs as written: this module
is the plain meaning that witnesses are replayed on. While a machine runs, `running` says which
sizes the Sorts have and where `any_of` takes its choices from.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import sys
import types
from collections.abc import (
    Callable,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    MutableMapping,
    Sequence,
)
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeAlias, TypeVar, overload

from refute.errors import UsageError
from refute.frozen import frozen
from refute.specs.machine.containers import Map, Seq, Set, live_order, placed
from refute.specs.machine.errors import Disabled, OutOfRange
from refute.specs.machine.handover import Meeting

T = TypeVar("T")
E = TypeVar("E")
K = TypeVar("K")
V = TypeVar("V")
S = TypeVar("S", bound="Sort")
O = TypeVar("O", bound="OrderedSort")  # noqa: E741 - the usual letter pattern of this module
F = TypeVar("F", bound=Callable[..., object])

Steps: TypeAlias = Generator[None, T, None]

_UNSET: Any = object()


class Chooser(Protocol):
    """Where `any_of` takes its choice from."""

    def __call__(self, options: Sequence[Any]) -> Any: ...


@dataclasses.dataclass
class Running:
    """sizes: of the Sorts by name. choose: answers any_of. values: all values of a type.

    meeting: while two steps meet over a rendezvous.
    """

    sizes: Mapping[str, int | str]
    choose: Chooser
    values: Callable[[Any], Sequence[Any]]
    meeting: Meeting | None = None


_running: list[Running] = []


@contextlib.contextmanager
def running(context: Running) -> Iterator[None]:
    """Evaluate a machine's code with these sizes and choices."""
    _running.append(context)
    try:
        yield
    finally:
        _running.pop()


def _place() -> str:
    """File and line of the user's code that runs."""
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__") == __name__:
        frame = frame.f_back
    return f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}" if frame else "?"


def _context(what: str) -> Running:
    if not _running:
        raise UsageError(
            f"{_place()}: {what} is known only while a machine is evaluated",
            thing=what,
            next_step="read it in a helper or step; where a Map starts, in a function of the key: "
            "var(each=lambda k: …)",
        )
    return _running[-1]


def meeting_here() -> Meeting | None:
    """The rendezvous that is going on."""
    return _context("a channel without room").meeting


class _SortMeta(type):
    def __iter__(cls: type[E]) -> Iterator[E]:
        made: Any = cls
        return iter([made(i) for i in range(len(made))])

    def __bool__(cls) -> bool:
        return True  # the class itself, not whether it has members

    def __len__(cls) -> int:
        name = cls.__name__
        size = _context(f"the size of {name}").sizes[name]
        if isinstance(size, str):
            raise UsageError(
                f"{_place()}: {name} has any number of members, which are not listed",
                thing=name,
                value=size,
                next_step=f"give a number, --set {name}=3; or start as one_of=anything, and say "
                "in an @initial predicate which of the values are meant",
            )
        return size


class Sort(metaclass=_SortMeta):
    """A finite set of things that only `==` tells apart; its size is a constant of the machine.

    `class RM(Sort): …` is sized by `build(RM=3)`; `class RM(Sort, size=3): …` has a default.
    """

    default_size: ClassVar[int | None] = None

    def __init_subclass__(cls, size: int | None = None) -> None:
        cls.default_size = size

    def __init__(self, index: int) -> None:
        self._index = index

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other._index == self._index

    def __hash__(self) -> int:
        return hash((type(self).__name__, self._index))

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self._index}"

    def __machine_order__(self) -> tuple[str, int]:
        return (type(self).__name__, self._index)


class OrderedSort(Sort):
    """A Sort whose members stand in a line: `<`, `.index` from 0, `.next` (None for the last)."""

    @property
    def index(self) -> int:
        """The place in the line, from 0."""
        return self._index

    @property
    def next(self: O) -> O | None:
        """The one after this; None for the last."""
        return type(self)(self._index + 1) if self._index + 1 < len(type(self)) else None

    def __lt__(self: O, other: O) -> bool:
        return self._index < other._index if type(other) is type(self) else NotImplemented

    def __le__(self: O, other: O) -> bool:
        return self._index <= other._index if type(other) is type(self) else NotImplemented

    def __gt__(self: O, other: O) -> bool:
        return self._index > other._index if type(other) is type(self) else NotImplemented

    def __ge__(self: O, other: O) -> bool:
        return self._index >= other._index if type(other) is type(self) else NotImplemented


@frozen
class Range:
    """`Annotated[int, Range(lo, hi)]`: both ends included; a bound may be arithmetic over constants
    in a string, `Range(0, "N - 1")`."""

    lo: int | str
    hi: int | str


@frozen
class Upto:
    """`Annotated[Seq[T], Upto(n)]`: at most n long; n may name a constant, as in Range."""

    limit: int | str


class Store(Protocol):
    """A running machine, as `Var` and `Const` see it: state, constants, and what a type admits."""

    _state: MutableMapping[str, Any]
    _constants: Mapping[str, int | str]

    def _admit(self, name: str, value: Any) -> Any: ...

    def _ends(self, name: str) -> Any: ...


class Var(Generic[T]):
    """A state variable; reading gives a value, writing checks the declared type."""

    def __init__(
        self,
        initial: Any = _UNSET,
        each: Any = _UNSET,
        one_of: Any = _UNSET,
        each_of: Any = _UNSET,
        volatile: bool = False,
    ) -> None:
        self.initial = initial
        self.each = each
        self.one_of = one_of
        self.each_of = each_of
        self.volatile = volatile
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Var[T]: ...

    @overload
    def __get__(self, instance: object, owner: type) -> T: ...

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        store: Store = instance
        return placed(store._state[self.name], lambda new: self._write(store, new))

    @overload
    def __set__(self: Var[Set[E]], instance: Any, value: AbstractSet[E]) -> None: ...

    @overload
    def __set__(self: Var[Map[K, V]], instance: Any, value: Mapping[K, V]) -> None: ...

    @overload
    def __set__(self: Var[Seq[E]], instance: Any, value: Sequence[E]) -> None: ...

    @overload
    def __set__(self, instance: Any, value: T) -> None: ...

    def __set__(self, instance: Any, value: Any) -> None:
        self._write(instance, value)

    def _write(self, store: Store, value: Any) -> None:
        if self.name not in store._state:
            raise OutOfRange(f"{self.name} is read-only here")
        store._state[self.name] = store._admit(self.name, value)

    def given(self) -> tuple[str, Any]:
        """Which way to start was given ("" for none), and its argument."""
        for way in ("initial", "each", "one_of", "each_of"):
            if getattr(self, way) is not _UNSET:
                return way, getattr(self, way)
        return "", None


def var(
    initial: Any = _UNSET,
    *,
    each: Any = _UNSET,
    one_of: Any = _UNSET,
    each_of: Any = _UNSET,
    volatile: bool = False,
) -> Any:
    """A variable that starts as `initial`; as any `one_of` several; as a Map with this in `each`
    place (a value, or a function of the key); or as a Map with any `each_of` several in each place.

    Give exactly one. `one_of=anything` is every value of the type.
    """
    return Var(initial, each, one_of, each_of, volatile)


class Const(Generic[T]):
    """A number or bool that `build(NAME=…)` or `--set NAME=…` gives; read as `self.NAME`."""

    def __init__(self, default: int | None) -> None:
        self.default = default
        self.name = ""
        self.truth = isinstance(default, bool)

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name
        annotation = vars(owner).get("__annotations__", {}).get(name)
        self.truth = self.truth or annotation in ("Const[bool]", Const[bool])

    def value(self, given: int | str | None) -> int | None:
        """The value as it is meant. Raises UsageError for what no constant can be."""
        if given is None:
            return None
        if isinstance(given, int) and not isinstance(given, bool) and not self.truth:
            return given
        if self.truth and given in (0, 1):
            return bool(given)
        raise UsageError(
            f"the constant {self.name} is {given!r}",
            thing=self.name,
            value=given,
            possible=("true", "false") if self.truth else ("a whole number",),
            next_step="declare Const[int] or Const[bool]; other values are attributes of the "
            "class, and any is the size of a Sort",
        )

    @overload
    def __get__(self, instance: None, owner: type) -> Const[T]: ...

    @overload
    def __get__(self, instance: object, owner: type) -> T: ...

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        value = instance._constants[self.name]
        return bool(value) if self.truth else value


def const(default: int | None = None) -> Any:
    """A constant; without a default it must be given."""
    return Const(default)


empty_set: Any = frozenset()
anything: Any = object()  # for `one_of=` and `each_of=`: every value of the type


def when(condition: bool) -> None:
    """Go on only if the condition holds; otherwise the whole atomic step is undone."""
    if not condition:
        raise Disabled


def any_of(choices: Iterable[T]) -> T:
    """Any one of the choices: the machine is checked for every one. Nothing disables the step."""
    options = list(choices)
    if not options:
        raise Disabled
    chosen: T = _context("any_of").choose(options)
    return chosen


def every(kind: Any) -> Seq[Any]:
    """All values of a finite type, in canonical order: `for s in every(Set[RM])`."""
    return Seq(_context("every(…)").values(kind))


def choose(elements: Iterable[T]) -> T:
    """The first one in canonical order, always the same (CHOOSE); IndexError of nothing."""
    found = list(elements)
    if not found:
        raise IndexError("choose of nothing")
    return min(found, key=live_order)


def subsets(elements: Iterable[T]) -> Seq[Set[T]]:
    """All subsets, the empty one and the whole included."""
    items = list(Set(elements))
    sizes = range(len(items) + 1)
    found = [Set(chosen) for n in sizes for chosen in itertools.combinations(items, n)]
    return Seq(sorted(found, key=live_order))


def permutations(elements: Iterable[T]) -> Seq[Seq[T]]:
    """The elements in every order; equal ones of a sequence may be anywhere in it."""
    found = {Seq(chosen) for chosen in itertools.permutations(elements)}
    return Seq(sorted(found, key=live_order))
