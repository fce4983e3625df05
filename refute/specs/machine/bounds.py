"""Numbers in types: bounds, as arithmetic over constants and sizes of Sorts."""

from __future__ import annotations

import abc
import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any

from refute.errors import UsageError
from refute.specs.machine import types as t
from refute.specs.machine.annotations import whole
from refute.specs.machine.language import Sort


class Bounds(abc.ABC):
    """Constants and Sorts of one machine. sizes: of every Sort met. used: constants met."""

    def __init__(
        self, constants: Mapping[str, int | str], named: Callable[[str], Any] = lambda name: None
    ) -> None:
        """named: what a name stands for where the machine is written, for Sorts in bounds."""
        self.constants = constants
        self.named = named
        self.used: dict[str, int | str] = {}
        self.sizes: dict[str, int | str] = {}
        self.vast = False  # whether a type was met that only quantifiers go through
        self.unsized: list[str] = []
        self.classes: dict[str, type] = {}
        self.inside: list[type] = []  # records whose fields are being resolved

    @property
    def quantifies(self) -> bool:
        """Whether some type is not gone through value by value: a Sort of any size, or all ints."""
        return self.vast or t.ANY in self.sizes.values()

    @abc.abstractmethod
    def sort_size(self, sort: type[Sort]) -> int | str:
        """The size of a Sort, or `ANY`."""

    def bound(self, value: int | str | None) -> int | None:
        """A bound as a number; a string is arithmetic over constants and Sort sizes: "2 * N - 1".

        Raises UsageError.
        """
        return None if value is None else self.number(value)

    def number(self, value: int | str) -> int:
        """As `bound`, of what is never left open."""
        if not isinstance(value, str):
            return whole(value)
        try:
            return self._arithmetic(ast.parse(value.strip(), mode="eval").body, value)
        except (SyntaxError, ValueError, ZeroDivisionError) as error:
            raise UsageError(
                f"the bound {value!r} is no number: {error}",
                thing=value,
                next_step="write numbers, constants and + - * // only",
            ) from error

    def _arithmetic(self, node: ast.expr, whole: str) -> int:
        match node:
            case ast.Constant(value=int() as number):
                return number
            case ast.Name(id=name):
                return self._named(name)
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                return -self._arithmetic(inner, whole)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _BOUND:
                sides = self._arithmetic(left, whole), self._arithmetic(right, whole)
                made: int = _BOUND[type(op)](*sides)
                return made
        raise ValueError(f"{ast.unparse(node)} is not one of numbers, names and + - * //")

    def _named(self, name: str) -> int:
        known: dict[str, int | str] = {**self.sizes, **dict.fromkeys(self.unsized, 1)}
        known |= self.constants
        sort = self.named(name)
        if name not in known and isinstance(sort, type) and issubclass(sort, Sort):
            known[name] = self.sort_size(sort)
        if name not in known:
            raise UsageError(
                f"the bound {name!r} names no constant",
                thing=name,
                possible=tuple(known),
                next_step=f"declare {name}: Const[int] = const(), or write a number",
            )
        self.used[name] = size = known[name]
        if isinstance(size, str):
            raise UsageError(
                f"a number that depends on {name}, which has any number of members",
                thing=name,
                value=size,
                next_step=f"give a number, --set {name}=3; or drop the bound, and count nothing",
            )
        return size


_BOUND: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
}
