"""What a machine class declares: constants, variables, parts, and how to refuse.

The translation of its methods, `frontend`, stands on this.
"""

from __future__ import annotations

import inspect
import sys
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from refute.errors import Unsupported, UsageError
from refute.specs.machine.composing import constants_of, missing_of, seats_of, settle
from refute.specs.machine.ir import Expr
from refute.specs.machine.language import Const, Var
from refute.specs.machine.marks import mark_of
from refute.specs.machine.parts import Part, Port, Seat
from refute.specs.machine.resolve import Resolver
from refute.specs.machine.scope import Build
from refute.specs.machine.source import attribute_place, class_line
from refute.specs.machine.variables import typed


class Declared:
    """One machine class under some constants. Raises Unsupported and UsageError."""

    def __init__(
        self,
        cls: type,
        constants: Mapping[str, int | str],
        bare: bool = False,
        seat: Seat | None = None,
        outer: Declared | None = None,
    ) -> None:
        """bare: without what it refines, for a machine that is itself refined. seat, outer: of a
        part, its place, and the machine around it."""
        self.cls = cls
        self.bare = bare
        self.home: Declared = self if outer is None else outer.home  # the whole machine
        self.seats: dict[str, Seat] = {}
        self.part: tuple[str, tuple[Expr, ...]] | None = None  # the one that is translated
        self.crashes = bool(getattr(cls, "_crashes", False))
        self.given = dict(constants)
        self.members = dict(members_of(cls))
        declared = {n: c for n, c in self.members.items() if isinstance(c, Const)}
        values = {n: c.value(self.given.get(n, c.default)) for n, c in declared.items()}
        missing = [n for n, v in values.items() if v is None]
        known = {n: v for n, v in values.items() if v is not None}
        self.build = Build(cls, Resolver({**self.given, **known}, self._named))
        self.build.constants = {**known, **{n: declared[n].value(1) or 1 for n in missing}}
        self.resolver = self.build.resolver
        self.resolver.constants = {**self.given, **self.build.constants}
        self.missing = missing
        if seat is not None and outer is not None:
            settle(self.build, seat, outer.build)
        try:
            self.file = inspect.getsourcefile(cls) or "<unknown>"
            self.line = class_line(cls)
        except (OSError, TypeError) as error:
            raise Unsupported(
                f"the source of {cls.__name__} cannot be read",
                thing=cls.__name__,
                next_step="define machines in a file",
            ) from error

    def _named(self, name: str) -> Any:
        modules = [sys.modules.get(c.__module__) for c in self.cls.__mro__]
        return next((vars(m)[name] for m in modules if m and name in vars(m)), None)

    def open(self) -> None:
        """Find the types of the variables, and the parts. Raises Unsupported."""
        typed(self)
        self.seats = self.build.seats = seats_of(self)

    def inside(self, seat: Seat) -> Declared:
        """The frontend of a part's class, in its place."""
        given = {**self.given, **self.build.constants, **seat.constants}
        for name in self.missing:
            given.pop(name, None)
        made = type(self)(seat.cls, given, self.bare, seat, self)
        made.open()
        return made

    def constants(self) -> tuple[tuple[str, int | str], ...]:
        """The constants and sizes by name, in order, those of parts included."""
        known = {**self.resolver.used, **constants_of(self)}
        plain = {n: value if isinstance(value, str) else int(value) for n, value in known.items()}
        return tuple(sorted(plain.items()))

    def check_constants(self) -> None:
        """Refuse names that nothing has, and constants without a value. Raises UsageError."""
        wanted = missing_of(self) + self.resolver.unsized
        possible = [*constants_of(self), *self.resolver.sizes, *self.resolver.unsized]
        unknown = [n for n in self.given if n not in possible]
        if unknown:
            raise UsageError(
                f"{self.cls.__name__} has no constant or Sort called {unknown[0]}",
                thing=unknown[0],
                value=self.given[unknown[0]],
                possible=sorted(set(possible)),
                next_step=f"drop {unknown[0]}={self.given[unknown[0]]}",
            )
        if wanted:
            hint, first = " ".join(f"--set {n}=3" for n in wanted), wanted[0]
            sort = first in self.resolver.unsized
            raise UsageError(
                f"{self.cls.__name__} needs {', '.join(wanted)}: no {_WANTED[sort]} was given",
                thing=first,
                possible=tuple(f"{n}=<number>" for n in wanted),
                next_step=f"give {hint}, or a default: {_DEFAULTS[sort].format(first)}",
            )

    def refuse(self, thing: Any, construct: str, instead: str) -> Unsupported:
        """`Unsupported` for a construct and what to write instead, at the line of a thing."""
        try:
            line = inspect.getsourcelines(thing)[1]
        except (OSError, TypeError):
            line = self.line
        return _refused(f"{Path(self.file).name}:{line}", construct, instead)

    def refuse_at(self, line: int, construct: str, instead: str) -> Unsupported:
        """`refuse` at a line of the machine's file."""
        return _refused(f"{Path(self.file).name}:{line}", construct, instead)

    def place_of(self, name: str) -> str:
        """Where a variable is declared, as `file:line`."""
        file, line = attribute_place(self.cls, name) or (self.file, self.line)
        return f"{Path(file).name}:{line}"

    def refuser_of(self, name: str) -> Callable[[str, str], Exception]:
        """`refuse` at the line of a variable."""
        return lambda construct, instead: _refused(self.place_of(name), construct, instead)

    def refuser(self, thing: Any) -> Callable[[str, str], Exception]:
        """`refuse` with the thing filled in."""
        return lambda construct, instead: self.refuse(thing, construct, instead)

    def line_of(self, function: types.FunctionType) -> int:
        """The line of a method; that of the whole machine for a part from another file."""
        here = inspect.getsourcefile(function) == self.home.file
        return function.__code__.co_firstlineno if here or self is self.home else self.home.line

    def vars(self) -> list[tuple[str, Var[Any]]]:
        """The variables that the class declares."""
        return [(n, v) for n, v in self.members.items() if isinstance(v, Var)]

    def hints(self, thing: Any) -> dict[str, Any]:
        """The resolved annotations of a class or function. Raises Unsupported."""
        try:
            return typing.get_type_hints(thing, include_extras=True)
        except (NameError, TypeError, AttributeError) as error:
            raise self.refuse(
                thing, f"an annotation that cannot be resolved ({error})", "names of the module"
            ) from error


def _refused(place: str, construct: str, instead: str) -> Unsupported:
    return Unsupported(
        f"{place}: {construct} is not in the machine language",
        thing=place,
        value=construct,
        next_step=f"write instead: {instead}",
    )


_WANTED = {True: "size", False: "value"}
_DEFAULTS = {True: "class {}(Sort, size=3)", False: "{}: Const[int] = const(3)"}


def members_of(cls: type) -> Iterator[tuple[str, Any]]:
    """Class attributes in the order of the source, bases first, overridden ones once."""
    names = dict.fromkeys(n for base in reversed(cls.__mro__) for n in vars(base))
    for name in names:
        found = inspect.getattr_static(cls, name)
        if isinstance(found, Var | Const | Part | Port) or mark_of(found) is not None:
            yield name, found
