"""The variables of a machine: their types, and what they may start with."""

from __future__ import annotations

import contextlib
import itertools
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from refute.errors import RefuteError, UsageError
from refute.specs.machine import types as t
from refute.specs.machine.channels import ChannelVar
from refute.specs.machine.composing import keyed_variable, placed_variable
from refute.specs.machine.containers import Bag
from refute.specs.machine.errors import OutOfRange
from refute.specs.machine.ir import Expr, Variable
from refute.specs.machine.language import Running, Var, anything, running
from refute.specs.machine.placing import nested
from refute.specs.machine.resolve import Resolver
from refute.specs.machine.sending import channel_type
from refute.specs.machine.start_predicates import YES, StartPredicates
from refute.specs.machine.starts import starting_values
from refute.specs.machine.values import (
    MAX_DOMAIN,
    Value,
    cardinality,
    domain,
    order,
    pack_value,
)

if TYPE_CHECKING:
    from refute.specs.machine.declared import Declared


def typed(front: Declared) -> dict[str, t.Type]:
    """The types of a machine's own variables. Raises Unsupported."""
    hints = front.hints(front.cls)
    for name, made in front.vars():
        annotation = hints.get(name)
        if typing.get_origin(annotation) is not Var:
            instead = f"{name}: Var[T] = var(…)"
            raise front.refuser_of(name)(f"{name} without a type", instead)
        (inner,) = typing.get_args(annotation)
        front.build.variables[name] = _type(front, name, made, inner)
    return front.build.variables


@contextlib.contextmanager
def placed(place: Callable[[], str]) -> Iterator[None]:
    """What is wrong with a type is said with the place where it is written."""
    try:
        yield
    except UsageError as error:
        error.message = f"{place()}: {error.message}"
        raise


def _type(front: Declared, name: str, made: Var[Any], inner: Any) -> t.Type:
    refuse = front.refuser_of(name)
    if not isinstance(made, ChannelVar):
        with placed(lambda: front.place_of(name)):
            return front.resolver.type_of(inner, refuse)
    front.build.rooms[name] = front.resolver.bound(made.kind.capacity)
    return channel_type(front.resolver, inner, made, refuse)


def open_to_all(front: Declared) -> frozenset[str]:
    """The variables that may start with any value of their type; which is left to `settled`."""
    found = (n for n, v in front.vars() if v.given() == ("one_of", anything))
    return frozenset(found) if front.build.seat is None else frozenset()


def starting(front: Declared) -> list[Variable]:
    """A machine's own variables, in their place. Raises Unsupported and UsageError."""
    kept = [(n, v) for n, v in front.vars() if front.build.rooms.get(n) != 0]
    return [_variable(front, n, v, front.build.variables[n]) for n, v in kept]


def _variable(front: Declared, name: str, variable: Var[Any], kind: t.Type) -> Variable:
    way, argument = variable.given()
    if name in open_to_all(front):
        start = YES if t.open_sorts(kind) else None
        return Variable(name, kind, (), front.line, start=start)
    if isinstance(variable, ChannelVar):
        way, argument = _channel_start(argument, kind)
    if t.open_sorts(kind) or _too_many(way, argument, kind):
        return _predicated(front, name, way, argument, kind)
    keys = front.build.keys
    if _of_keys(argument, len(keys)) and (way != "each" and way != "each_of"):
        thawed = [[front.resolver.thaw(v, k) for v in domain(k)] for k in keys]
        rows = [
            _starts(front, name, way, argument(*each), kind) for each in itertools.product(*thawed)
        ]
        return keyed_variable(front, Variable(name, kind, (), front.line), rows)
    packed = tuple(map(pack_value, _starts(front, name, way, argument, kind)))
    return placed_variable(front, Variable(name, kind, packed, front.line))


def _too_many(way: str, argument: Any, kind: t.Type) -> bool:
    """Whether the starting values are more than can be listed."""
    if argument is anything:
        return cardinality(kind) > MAX_DOMAIN
    if way != "each_of" or not isinstance(argument, list | tuple | set | frozenset):
        return False
    return isinstance(kind, t.MapOf) and len(argument) ** cardinality(kind.key) > MAX_DOMAIN


def _predicated(front: Declared, name: str, way: str, argument: Any, kind: t.Type) -> Variable:
    """A variable with a predicate of what it starts with. Raises Unsupported and UsageError."""
    build, refuse = front.build, front.refuser_of(name)
    made = StartPredicates(front.resolver, name, refuse, build.fresh)
    argument = _placed_count(front, name, way, argument, kind)
    whole = nested(build.keys, kind)

    def told(place: Expr, deep: int) -> Expr:
        if deep:
            return made.everywhere(place, lambda entry: told(entry, deep - 1))
        found = made.of(way, argument, place)
        if found is None:
            raise refuse(*_no_way(name, way, kind))
        return found

    try:
        with _evaluating(front.resolver):
            start = told(Expr("read", whole, (), build.prefix + name), len(build.keys))
    except OutOfRange as error:
        raise _outside(front, name, way, argument, kind, error) from error
    return Variable(build.prefix + name, whole, (), front.line, start=start)


def _of_keys(argument: Any, keys: int) -> bool:
    """Whether a starting value is a function of which of several parts it is for."""
    return (
        keys > 0
        and isinstance(argument, types.FunctionType)
        and (argument.__code__.co_argcount == keys)
    )


def _channel_start(argument: Any, kind: t.Type) -> tuple[str, Any]:
    """How channels start: each of them with these messages."""
    last = kind
    while isinstance(last, t.MapOf):
        last = last.value
    made: Callable[[Any], Any] = Bag if isinstance(last, t.BagOf) else tuple
    if isinstance(argument, types.FunctionType):
        return ("each" if last is not kind else "initial"), _then(argument, made)
    return ("each" if last is not kind else "initial"), made(argument)


def _then(first: types.FunctionType, made: Callable[[Any], Any]) -> Callable[..., Any]:
    if first.__code__.co_argcount == 1:
        return lambda key: made(first(key))
    return lambda *keys: made(first(*keys))


def _inside(way: str, kind: t.Type, argument: Any) -> str:
    """What to write instead of a starting value outside its type."""
    if way == "each" and isinstance(kind, t.MapOf):
        empty = {t.SetOf: "empty_set", t.SeqOf: "()"}.get(type(kind.value))
        more = f", such as {empty}" if empty else ""
        return f"each=… is what every place starts with, a {t.show(kind.value)}{more}"
    if isinstance(kind, t.MapOf) and isinstance(argument, Mapping):
        return "give every key a value: var(each=…); for some keys only, Map[K, V | None]"
    return f"start inside {t.show(kind)}"


def _counted(resolver: Resolver, way: str, argument: Any, kind: t.Type) -> Any:
    """Strings where numbers start, as numbers: arithmetic over constants, as bounds are."""
    while way.startswith("each") and isinstance(kind, t.MapOf):
        kind = kind.value
    kinds = {type(option) for option in t.options(kind)}
    if t.Int not in kinds or t.Text in kinds:
        return argument
    if way in ("one_of", "each_of") and isinstance(argument, list | tuple):
        return [resolver.number(a) if isinstance(a, str) else a for a in argument]
    return resolver.number(argument) if isinstance(argument, str) else argument


def _placed_count(front: Declared, name: str, way: str, argument: Any, kind: t.Type) -> Any:
    with placed(lambda: front.place_of(name)):
        return _counted(front.resolver, way, argument, kind)


def _evaluating(resolver: Resolver) -> contextlib.AbstractContextManager[None]:
    """While a machine's own code says what it starts with."""
    return running(Running(resolver.sizes, _no_choice, resolver.values))


def _outside(
    front: Declared, name: str, way: str, argument: Any, kind: t.Type, error: OutOfRange
) -> UsageError:
    return UsageError(
        f"{front.place_of(name)}: {front.cls.__name__}.{name} starts outside its type: {error}",
        thing=name,
        next_step=_inside(way, kind, argument),
    )


def _no_way(name: str, way: str, kind: t.Type) -> tuple[str, str]:
    """What is no starting value, and what to write instead."""
    instead = "var(value), var(one_of=…), or var(each=…) and var(each_of=…) for a Map"
    return f"{name} = var({way}…) for {t.show(kind)}", instead


def _starts(front: Declared, name: str, way: str, argument: Any, kind: t.Type) -> list[Value]:
    argument = _placed_count(front, name, way, argument, kind)
    try:
        with _evaluating(front.resolver):
            starts = starting_values(front.resolver, way, argument, kind)
    except OutOfRange as error:
        raise _outside(front, name, way, argument, kind, error) from error
    if starts is None:
        raise front.refuser_of(name)(*_no_way(name, way, kind))
    return sorted(set(starts), key=order)


def _no_choice(options: Sequence[Any]) -> Any:
    raise RefuteError("any_of has no meaning in a starting value", next_step="use var(one_of=…)")
