"""From Python annotations to machine types, with constants and Sort sizes filled in.

Also the bridge between a machine's own objects (Enum members, Sort members, dataclass instances)
and the values that engines hold: `freeze` and `thaw`.
"""

from __future__ import annotations

import dataclasses
import enum
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, get_args, get_origin

from refute.errors import Unsupported, UsageError
from refute.specs.machine import types as t
from refute.specs.machine.annotations import (
    container_of,
    instead_of,
    literal,
    named_fields,
    unnamed,
)
from refute.specs.machine.bounds import Bounds
from refute.specs.machine.channels import Channel
from refute.specs.machine.containers import Bag, Map, Seq, Set
from refute.specs.machine.errors import OutOfRange
from refute.specs.machine.language import OrderedSort, Range, Sort, Upto
from refute.specs.machine.values import (
    MAX_DOMAIN,
    Value,
    atom,
    cardinality,
    choosable,
    conforms,
    domain,
    members,
    order,
    quantifiable,
    tag,
    tag_of,
)

Refuse = Callable[[str, str], Exception]


class Resolver(Bounds):
    """Types of one machine under given constants."""

    def sort_size(self, sort: type[Sort]) -> int | str:
        """The size of a Sort, or `ANY`; an unsized one is noted, and one until reported."""
        name = sort.__name__
        self._know(name, sort)
        size = self.constants.get(name, sort.default_size)
        if size is None:
            if name not in self.unsized:
                self.unsized.append(name)
            return 1
        if size == t.ANY:
            self.sizes[name] = self.used[name] = t.ANY
            return t.ANY
        if type(size) is not int or size < 1:
            raise UsageError(
                f"{name} must have at least one member, got {size!r}",
                thing=name,
                value=size,
                next_step=f"give a positive number, --set {name}=3, or any",
            )
        if size > MAX_DOMAIN:
            raise UsageError(
                f"{name} may have at most {MAX_DOMAIN:,} members, got {size:,}",
                thing=name,
                value=size,
                next_step=f"give a smaller number: --set {name}=3",
            )
        self.sizes[name] = self.used[name] = size
        return size

    def _know(self, name: str, cls: type) -> None:
        if self.classes.setdefault(name, cls) is not cls:
            raise Unsupported(
                f"two different classes are called {name} in one machine",
                thing=name,
                next_step="rename one of them",
            )

    def type_of(self, annotation: Any, refuse: Refuse) -> t.Type:
        """The machine type of an annotation. refuse makes the error: (construct, instead)."""
        annotation = unnamed(annotation)
        origin = container_of(get_origin(annotation))
        if origin is Literal:
            return literal(get_args(annotation), refuse)
        if origin is Annotated:
            return self._annotated(annotation, refuse)
        if origin in (typing.Union, types.UnionType):
            return self._union(annotation, refuse)
        if origin in (Set, Seq, Map, Bag, tuple):
            return self._container(origin, get_args(annotation), refuse)
        if origin is Channel:
            what = "a Channel in another type, or without channel(…)"
            raise refuse(what, "c: Var[Channel[T]] = channel(capacity=…), or a Map of channels")
        if annotation is bool:
            return t.Bool()
        if annotation is int:
            return t.Int()
        if annotation in (None, type(None)):
            return t.Nothing()
        if isinstance(annotation, type):
            return self.class_type(annotation, refuse)
        raise refuse(f"the type {annotation!r}", instead_of(annotation, _TYPES))

    def values(self, annotation: Any) -> list[Any]:
        """All values of an annotation's type, as the machine's own code sees them."""
        return self.thawed(self.type_of(annotation, _no_type))

    def thawed(self, kind: t.Type) -> list[Any]:
        """All values of a type, as the machine's own code sees them."""
        return [self.thaw(v, kind) for v in domain(kind)]

    def class_type(self, cls: type, refuse: Refuse) -> t.Type:
        """The type of a Sort, Enum or frozen dataclass."""
        name = cls.__name__
        if issubclass(cls, Sort):
            ordered = issubclass(cls, OrderedSort)
            size = self.sort_size(cls)
            if isinstance(size, str):
                return t.Atoms(name, (), t.OPEN_ORDERED if ordered else t.OPEN)
            kind = "ordered" if ordered else "sort"
            return t.Atoms(name, tuple(f"{name}{i}" for i in range(size)), kind)
        if issubclass(cls, enum.Enum):
            if not all(cls):
                raise refuse(f"the Enum {name} with a member that is false", "other values")
            if cls.__eq__ not in (object.__eq__, int.__eq__, str.__eq__):
                raise refuse(f"the Enum {name} with its own __eq__", "a plain Enum")
            self._know(name, cls)
            return t.Atoms(name, tuple(f"{name}.{m.name}" for m in cls), "enum")
        if dataclasses.is_dataclass(cls):
            if not cls.__dataclass_params__.frozen:  # type: ignore[attr-defined]
                raise refuse(
                    f"the dataclass {name}, which is not frozen", "@dataclass(frozen=True)"
                )
            if not _plain_equality(cls):
                raise refuse(f"the dataclass {name} with its own equality", "all fields compared")
            return self._record(cls, [f.name for f in dataclasses.fields(cls)], refuse)
        named = named_fields(cls)
        if named is not None:
            return self._record(cls, named, refuse)
        raise refuse(f"the type {name}", instead_of(cls, _TYPES))

    def _record(self, cls: type, names: Sequence[str], refuse: Refuse) -> t.Type:
        self._know(cls.__name__, cls)
        if cls in self.inside:
            what = f"the type {cls.__name__}, which contains itself"
            raise refuse(what, "a Seq of its parts, or a Map from a Sort of its nodes to the next")
        hints = typing.get_type_hints(cls, include_extras=True)
        self.inside.append(cls)
        try:
            return t.Rec(cls.__name__, tuple((n, self.type_of(hints[n], refuse)) for n in names))
        finally:
            self.inside.pop()

    def _annotated(self, annotation: Any, refuse: Refuse) -> t.Type:
        base, *notes = get_args(annotation)
        kind = self.type_of(base, refuse)
        for note in notes:
            if isinstance(note, Range) and isinstance(kind, t.Int):
                kind = t.Int(self.bound(note.lo), self.bound(note.hi))
            elif isinstance(note, Upto) and isinstance(kind, t.SeqOf):
                kind = t.SeqOf(kind.elem, self.bound(note.limit))
            elif isinstance(note, Upto) and isinstance(kind, t.BagOf):
                kind = _bag(kind.elem.items[0], self.bound(note.limit))  # type: ignore[union-attr]
            else:
                raise refuse(f"the annotation {note!r}", "Range on int, Upto on Seq and Bag")
        return kind

    def _union(self, annotation: Any, refuse: Refuse) -> t.Type:
        options = [self.type_of(a, refuse) for a in get_args(annotation)]
        containers = [o for o in options if isinstance(o, t.SetOf | t.MapOf | t.SeqOf)]
        if containers and any(o not in containers and o != t.Nothing() for o in options):
            raise refuse("a union of a container with something else than None", "two variables")
        rows = [o for o in options if isinstance(o, t.Tuple) or self.is_named_tuple(o)]
        if len(containers) > 1 or len(rows) > 1:
            raise refuse("a union of several containers or tuples", "a frozen dataclass for each")
        return t.join(options)

    def _container(self, origin: type, args: tuple[Any, ...], refuse: Refuse) -> t.Type:
        if origin is tuple:
            if len(args) == 2 and args[1] is Ellipsis:
                return t.SeqOf(self.type_of(args[0], refuse))
            return t.Tuple(tuple(self.type_of(a, refuse) for a in args))
        kinds = [self.type_of(a, refuse) for a in args]
        if origin is Bag:
            return _bag(kinds[0], None)
        if origin is Map:
            self.keyed(kinds[0])
            return t.MapOf(kinds[0], kinds[1])
        return t.SeqOf(kinds[0]) if origin is Seq else t.SetOf(kinds[0])

    def walked(self, kind: t.Type) -> None:
        """Note a type that a parameter or quantifier goes through. Raises UsageError for one that
        has too many values to list, and no quantifiers of first order."""
        if cardinality(kind) > MAX_DOMAIN and quantifiable(kind):
            self.vast = True
        else:
            domain(kind)

    def chosen(self, kind: t.Type) -> None:
        """As `walked`, of what is chosen: sets of members of a Sort of any size too."""
        if not t.open_sorts(kind) or not choosable(kind):
            self.walked(kind)

    def keyed(self, kind: t.Type) -> None:
        """Refuse a type that no Map can have as keys. Raises UsageError."""
        if not t.open_sorts(kind) or not quantifiable(kind):
            domain(kind)

    def is_named_tuple(self, kind: t.Type) -> bool:
        """Whether values of the type are NamedTuples, which Python finds equal to tuples."""
        return isinstance(kind, t.Rec) and issubclass(self.classes[kind.name], tuple)

    def freeze(self, value: Any, kind: t.Type) -> Value:
        """A live object as a value of the type. Raises OutOfRange when it is not one."""
        frozen = self._freeze(value, kind)
        if frozen is _UNFIT or not conforms(frozen, kind):
            raise OutOfRange(f"{value!r} is not in {t.show(kind)}")
        return frozen

    def _freeze(self, value: Any, kind: t.Type) -> Value:
        if isinstance(kind, t.Union):
            tries = (self._freeze(value, option) for option in kind.options)
            pairs = zip(tries, kind.options, strict=True)
            return next((f for f, o in pairs if f is not _UNFIT and conforms(f, o)), _UNFIT)
        if isinstance(kind, t.Atoms):
            return self._freeze_atom(value, kind)
        if isinstance(kind, t.Rec):
            if type(value) is not self.classes.get(kind.name):
                return _UNFIT
            row = tuple(self._freeze(getattr(value, n), f) for n, f in kind.fields)
            return _UNFIT if _UNFIT in row else (tag_of(kind), *row)
        return self._freeze_container(value, kind)

    def _freeze_atom(self, value: Any, kind: t.Atoms) -> Value:
        if type(value) is not self.classes.get(kind.name):
            return _UNFIT
        every: Any = type(value)
        member: Any = value
        at = list(every).index(member) if kind.kind == "enum" else member._index
        return members(kind)[at] if at < len(kind.members) else _UNFIT

    def _freeze_container(self, value: Any, kind: t.Type) -> Value:
        row: tuple[Value, ...] = ()
        match kind:
            case t.BagOf(t.Tuple((elem, _))):
                if not isinstance(value, Bag):
                    return _UNFIT
                row = tuple((self._freeze(v, elem), n) for v, n in value._counts.items())
                return _UNFIT if any(v is _UNFIT for v, _ in row) else frozenset(row)
            case t.SetOf():
                if not isinstance(value, set | frozenset):
                    return _UNFIT
                row = tuple(self._freeze(v, kind.elem) for v in value)
                return _UNFIT if _UNFIT in row else frozenset(row)
            case t.MapOf():
                if not isinstance(value, Mapping):
                    return _UNFIT
                pairs = {self._freeze(k, kind.key): v for k, v in value.items()}
                if set(pairs) != set(domain(kind.key)):
                    return _UNFIT
                row = tuple(self._freeze(pairs[k], kind.value) for k in domain(kind.key))
            case t.SeqOf():
                if not isinstance(value, list | tuple):
                    return _UNFIT
                row = tuple(self._freeze(v, kind.elem) for v in value)
            case t.Tuple():
                if not isinstance(value, tuple) or len(value) != len(kind.items):
                    return _UNFIT
                row = tuple(map(self._freeze, value, kind.items))
            case _:
                return value if value is None or type(value) in (bool, int, str) else _UNFIT
        return _UNFIT if _UNFIT in row else row

    def thaw(self, value: Value, kind: t.Type) -> Any:
        """A value as the machine's own code sees it."""
        match kind:
            case t.Union():
                return self.thaw(value, next(o for o in kind.options if conforms(value, o)))
            case t.Atoms():
                cls: Any = self.classes[kind.name]
                return list(cls)[value.i] if kind.kind == "enum" else cls(value.i)
            case t.Rec():
                fields = [self.thaw(v, f) for v, (_, f) in zip(value[1:], kind.fields, strict=True)]
                return self.classes[kind.name](*fields)
            case t.BagOf(t.Tuple((elem, _))):
                return Bag.of({self.thaw(v, elem): n for v, n in sorted(value, key=order)})
            case t.SetOf():
                return Set(self.thaw(v, kind.elem) for v in sorted(value, key=order))
            case t.MapOf():
                pairs = zip(domain(kind.key), value, strict=True)
                return Map([(self.thaw(k, kind.key), self.thaw(v, kind.value)) for k, v in pairs])
            case t.SeqOf():
                return Seq(self.thaw(v, kind.elem) for v in value)
            case t.Tuple():
                return tuple(map(self.thaw, value, kind.items))
        return value


def _bag(elem: t.Type, upto: int | None) -> t.BagOf:
    return t.BagOf(t.Tuple((elem, t.Int(1, upto))))


def _plain_equality(cls: Any) -> bool:
    """Whether a dataclass compares all of its fields, by the method that dataclass wrote."""
    written = getattr(cls.__eq__, "__code__", None)
    compared = all(f.compare for f in dataclasses.fields(cls))
    return compared and written is not None and written.co_filename == "<string>"


def _no_type(construct: str, instead: str) -> Exception:
    return Unsupported(f"{construct} is no type of a machine", next_step=f"write {instead}")


class _Unfit:
    """Stands for an object that is no value of the type."""


_UNFIT: Any = _Unfit()
_TYPES = (
    "bool, Annotated[int, Range(lo, hi)], Enum, Sort, OrderedSort, tuple, frozen dataclass, "
    "T | None, Set, Bag, Map, Annotated[Seq[T], Upto(n)]"
)


def embed(value: Any) -> Value:
    """A live object as a value, by its own class; for comparing choices."""
    if value is None or type(value) in (bool, int, str):
        return value
    name = type(value).__name__
    if isinstance(value, Sort):
        return atom(name, value._index, repr(value))
    if isinstance(value, enum.Enum):
        return atom(name, list(type(value)).index(value), f"{name}.{value.name}")
    names = named_fields(type(value))
    if dataclasses.is_dataclass(value):
        names = tuple(f.name for f in dataclasses.fields(value))
    if names is not None:
        return (tag(name, names), *(embed(getattr(value, n)) for n in names))
    if isinstance(value, set | frozenset):
        return frozenset(map(embed, value))
    if isinstance(value, Bag):
        return frozenset((embed(v), n) for v, n in value._counts.items())
    if isinstance(value, Mapping):
        return tuple(map(embed, value.values()))
    if isinstance(value, list | tuple):
        return tuple(map(embed, value))
    return _UNFIT
