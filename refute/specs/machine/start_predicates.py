"""What a variable may start with, as a predicate: where the values are too many to be listed.

`var(each=v)` of a Map from a Sort of any size says `all(self.x[k] == v for k in RM)`, `one_of` is
an `or`, `anything` is true of all. Only constants are known here: what depends on the key, or on
members of such a Sort, is for an `@initial` predicate.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from refute.specs.machine import types as t
from refute.specs.machine.errors import OutOfRange
from refute.specs.machine.expressions import BOOL, constant
from refute.specs.machine.ir import Expr
from refute.specs.machine.language import Sort, anything
from refute.specs.machine.resolve import Refuse, Resolver
from refute.specs.machine.values import domain

Fresh = Callable[[str], str]
YES = Expr("const", BOOL, (), True)


class StartPredicates:
    """Makes the predicates of one variable. refuse: at its line. fresh: names of locals."""

    def __init__(self, resolver: Resolver, name: str, refuse: Refuse, fresh: Fresh) -> None:
        self.resolver = resolver
        self.name = name
        self.refuse = refuse
        self.fresh = fresh

    def of(self, way: str, argument: Any, place: Expr) -> Expr | None:
        """That the place holds what `var(way=argument)` stands for; None for no such way.

        Raises Unsupported, OutOfRange and UsageError.
        """
        match way:
            case "initial":
                return self._equal(place, argument)
            case "one_of":
                return self._one_of(place, argument)
            case "each" if isinstance(place.type, t.MapOf):
                return self._each(place, argument)
            case "each_of" if isinstance(place.type, t.MapOf):
                return self._entries(place, argument, self._one_of)
        return None

    def everywhere(self, place: Expr, test: Callable[[Expr], Expr]) -> Expr:
        """That the test is true of every entry of a map."""
        assert isinstance(place.type, t.MapOf)
        key = Expr("local", place.type.key, (), self.fresh("key"))
        entry = Expr("index", place.type.value, (place, key))
        item = Expr("item", BOOL, (test(entry),))
        walk = Expr("for", BOOL, (Expr("domain", t.SeqOf(key.type)), item), key.data)
        return Expr("all", BOOL, (walk,))

    def _each(self, place: Expr, argument: Any) -> Expr:
        """The argument in every entry, and in those of the maps inside."""
        if not isinstance(place.type, t.MapOf) or isinstance(argument, Mapping):
            return self._equal(place, argument)
        return self._entries(place, argument, self._each)

    def _entries(self, place: Expr, argument: Any, test: Callable[[Expr, Any], Expr]) -> Expr:
        """The test of every entry; the argument may be a function of the key."""
        if not isinstance(argument, types.FunctionType):
            return self.everywhere(place, lambda entry: test(entry, argument))
        return self._by_key(place, lambda key: argument(key), test)

    def _by_key(
        self, place: Expr, given: Callable[[Any], Any], test: Callable[[Expr, Any], Expr]
    ) -> Expr:
        assert isinstance(place.type, t.MapOf)
        kind = place.type.key
        for sort in t.open_sorts(kind):
            what = f"{self.name}, which starts with a function of {sort}, of any size,"
            raise self.refuse(what, f"one_of=anything, and {_said(sort, self.name)}")
        tests = []
        for value in domain(kind):
            entry = Expr("index", place.type.value, (place, constant(value, kind)))
            tests.append(test(entry, given(self.resolver.thaw(value, kind))))
        return _joined("and", tests)

    def _one_of(self, place: Expr, argument: Any) -> Expr:
        if argument is anything:
            return YES
        found = argument() if isinstance(argument, types.FunctionType) else argument
        if isinstance(found, type) and issubclass(found, Sort):
            return self._member(place, found)
        assert isinstance(found, Iterable)
        return _joined("or", [self._equal(place, value) for value in found])

    def _member(self, place: Expr, sort: type[Sort]) -> Expr:
        """That the place holds some member of a Sort."""
        kind = self.resolver.class_type(sort, self.refuse)
        if place.type == kind:
            return YES
        member = Expr("local", kind, (), self.fresh("member"))
        item = Expr("item", BOOL, (Expr("==", BOOL, (place, member)),))
        walk = Expr("for", BOOL, (Expr("domain", t.SeqOf(kind)), item), member.data)
        return Expr("any", BOOL, (walk,))

    def _equal(self, place: Expr, value: Any) -> Expr:
        if isinstance(place.type, t.MapOf) and isinstance(value, Mapping):
            return self._by_key(place, lambda key: value[key], self._equal)
        mapped = self._maps(place.type)
        if mapped:
            what = f"{self.name}, which starts with a Map from {mapped}, of any size,"
            raise self.refuse(what, "var(each=…), with a value for every key")
        try:
            frozen = self.resolver.freeze(value, place.type)
            return Expr("==", BOOL, (place, constant(frozen, place.type)))
        except OutOfRange:
            sorts = t.open_sorts(place.type)
            if not sorts:
                raise
            what = f"{value!r} at the start of {self.name}, in place of a value that holds no "
            what += f"member of {sorts[0]}, of any size,"
            raise self.refuse(what, f"one_of=anything, and {_said(sorts[0], self.name)}") from None

    def _maps(self, kind: t.Type) -> str:
        """The Sort of any size that keys of a map inside are made of; empty for none."""
        if isinstance(kind, t.MapOf) and t.open_sorts(kind.key):
            return t.open_sorts(kind.key)[0]
        options = kind.options if isinstance(kind, t.Union) else ()
        inside = () if options or isinstance(kind, t.SetOf | t.SeqOf) else t.parts(kind)
        return next((name for name in map(self._maps, inside) if name), "")


def _joined(op: str, tests: list[Expr]) -> Expr:
    if not tests:
        return Expr("const", BOOL, (), op == "and")
    return tests[0] if len(tests) == 1 else Expr(op, BOOL, tuple(tests))


def _said(sort: str, name: str) -> str:
    return f"@initial: all(self.{name}… for x in {sort})"
