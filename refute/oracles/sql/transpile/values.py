"""Values of SQLite written for another engine, with the kinds of their operands in hand.

`value` gives an expression where a value is wanted: a condition becomes 0 or 1 there. `truth` (see
`conditions`) gives it where a condition is wanted: a number becomes `number <> 0` there.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sqlglot import exp

from refute.fuzz.sql.nodes import binary, literal, make, null, put
from refute.fuzz.sql.text import Node
from refute.oracles.sql.transpile.kinds import (
    BLOB,
    INT,
    NULL,
    NUM,
    NUMBERS,
    REAL,
    TEXT,
    WIDE_DOUBT,
    Column,
    Inexpressible,
    Typed,
    joined,
    leading_integer,
    leading_number,
    number_of,
    type_affinity,
)
from refute.oracles.sql.transpile.scopes import Scope
from refute.oracles.sql.transpile.targets import Target
from refute.oracles.sql.transpile.writer import call, cast, integer, paren

COMPARED = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ)
CONDITIONS = (
    *COMPARED, exp.Is, exp.In, exp.Between, exp.Like, exp.Glob, exp.Escape, exp.And, exp.Or,
    exp.Not, exp.Exists, exp.Boolean,
)  # fmt: skip
_ADDING = (exp.Add, exp.Sub, exp.Mul)
_BITS = (exp.BitwiseAnd, exp.BitwiseOr)
_SHIFTS = (exp.BitwiseLeftShift, exp.BitwiseRightShift)
_LARGEST = 2**63


class Values(abc.ABC):
    """Rewrites expressions. The parts that need queries or functions are the subclasses'."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.doubts: set[str] = set()
        self._made_by: dict[type[Node], Callable[[Any, Scope], Typed]] = {
            exp.Paren: self._in_parentheses,
            exp.Literal: lambda node, _: self.literal(node),
            exp.Null: lambda node, _: self.null(INT),
            exp.Neg: self._negative,
            exp.Cast: self._cast,
            exp.BitwiseNot: self._inverted,
            exp.DPipe: self._concatenation,
            exp.Case: self._case,
            exp.Collate: self._collated,
            **dict.fromkeys(CONDITIONS, self._truth_value),
            **dict.fromkeys((exp.Div, exp.Mod, exp.IntDiv), self._quotient),
            **dict.fromkeys((*_ADDING, *_BITS), self._arithmetic),
            **dict.fromkeys(_SHIFTS, self._shifted),
        }

    @abc.abstractmethod
    def query(self, node: Node, scope: Scope | None) -> tuple[Node, list[Column]]:
        """A query and its result columns."""

    @abc.abstractmethod
    def function(self, node: Node, scope: Scope) -> Typed:
        """A column, function, or anything else that is no operator."""

    # Values

    def value(self, node: Node, scope: Scope) -> Typed:
        """The expression where a value is wanted. Raises Inexpressible and Unresolved."""
        rewrite = self._made_by.get(type(node))
        return self.function(node, scope) if rewrite is None else rewrite(node, scope)

    def _in_parentheses(self, node: Node, scope: Scope) -> Typed:
        """As without them; behind a plus, a column has no affinity."""
        inner = self.value(node.this, scope)
        made = inner._replace(node=paren(inner.node))
        return made._replace(affinity="") if node.args.get("plus") else made

    def _truth_value(self, node: Node, scope: Scope) -> Typed:
        return Typed(self.as_integer(self.truth(node, scope)), INT)

    def _inverted(self, node: Node, scope: Scope) -> Typed:
        operand = self._integer(self.value(node.this, scope))
        return Typed(self._signed(make(exp.BitwiseNot, this=paren(operand.node))), INT)

    def literal(self, node: Node) -> Typed:
        """A literal as a value; whole numbers get 64 bits where the engine would take 32."""
        text = str(node.args["this"])
        if node.args["is_string"]:
            return Typed(literal(text, is_string=True), TEXT, constant=text)
        number = int(text, 16) if text[:2] in ("0x", "0X") else number_of(text)
        if number is None:
            raise Inexpressible("a literal of an unknown form")
        return self.number(number)

    def number(self, number: int | float) -> Typed:
        """A number as a value."""
        if isinstance(number, int):
            node: Node = integer(number)
            if self.target.narrow:
                node = cast(node, self.target.types[INT])
            return Typed(node, INT, constant=number)
        if number != number or abs(number) == float("inf"):
            raise Inexpressible("an infinite number")
        node = literal(repr(number), is_string=False)
        return Typed(cast(node, self.target.types[REAL]), REAL, constant=number)

    def null(self, kind: str) -> Typed:
        """NULL, typed where the engine types it."""
        if self.target.quote == "`" and kind != INT:
            return Typed(make(exp.Null), NULL)
        name = self.target.types[kind]
        return Typed(cast(null(), "SIGNED" if self.target.quote == "`" else name), NULL)

    def as_kind(self, typed: Typed, kind: str) -> Node:
        """The value's node in a place of this kind: NULL gets its type, the rest has it."""
        return self.retyped(typed, kind).node if typed.kind == NULL != kind else typed.node

    def retyped(self, typed: Typed, kind: str) -> Typed:
        """A value that is always NULL, of this type; it may hold an aggregate, so it is kept."""
        node = typed.node
        if isinstance(node, exp.Null) or (
            isinstance(node, exp.Cast) and isinstance(node.this, exp.Null)
        ):
            return self.null(kind)
        if self.target.quote == "`":
            return typed
        return Typed(cast(node, self.target.types[kind]), NULL)

    def joined(self, kinds: Iterable[str]) -> str:
        """The kind of a place where values of these kinds meet. Raises Inexpressible."""
        kind = joined(kinds)
        if kind == NUM:
            self.doubts.add(WIDE_DOUBT)
        return kind

    def as_integer(self, condition: Node) -> Node:
        """1, 0 or NULL for a condition."""
        if not self.target.boolean:
            return paren(condition)
        if self.target.types[TEXT] == "TEXT":  # PostgreSQL has no cast from boolean to bigint
            condition = cast(condition, "INTEGER")
        return cast(condition, self.target.types[INT])

    def as_real(self, typed: Typed) -> Node:
        """The number as a float."""
        return typed.node if typed.kind == REAL else cast(typed.node, self.target.types[REAL])

    def numeric(self, typed: Typed) -> Typed:
        """An operand of arithmetic."""
        if typed.kind in NUMBERS:
            return typed
        if isinstance(typed.constant, str):
            return self.number(leading_number(typed.constant))
        raise Inexpressible("a text used as a number")

    def _integer(self, typed: Typed) -> Typed:
        """An operand of what takes whole numbers: others are cut off, as in SQLite."""
        typed = self.numeric(typed)
        if typed.kind == NULL:
            return self.retyped(typed, INT)
        return typed if typed.kind == INT else Typed(self.cut(typed), INT)

    def cut(self, typed: Typed) -> Node:
        """A number without what is behind the point, as an integer."""
        cut = call(self.target.truncate, typed.node)
        if self.target.quote == "`":
            cut.append("expressions", integer(0))
        return cast(cut, "SIGNED" if self.target.quote == "`" else self.target.types[INT])

    def _negative(self, node: exp.Neg, scope: Scope) -> Typed:
        if isinstance(node.this, exp.Literal) and not node.this.is_string:
            if str(node.this.this) == str(_LARGEST):
                return self.number(-_LARGEST)
            typed = self.literal(node.this)
            assert isinstance(typed.constant, int | float)
            return self.number(-typed.constant)
        typed = self.numeric(self.value(node.this, scope))
        if typed.kind == NULL:
            return typed
        return Typed(make(exp.Neg, this=paren(typed.node)), typed.kind)

    def _arithmetic(self, node: Node, scope: Scope) -> Typed:
        left = self.numeric(self.value(node.this, scope))
        right = self.numeric(self.value(node.expression, scope))
        if isinstance(node, _BITS):
            left, right = self._integer(left), self._integer(right)
        made = binary(type(node), paren(left.node), paren(right.node))
        if isinstance(node, _BITS):
            made = self._signed(made)
        return Typed(made, _result(left, right), constant=_folded(node, left, right))

    def _shifted(self, node: Node, scope: Scope) -> Typed:
        """Bits shifted by a number that is known; MySQL's would have no sign on the way."""
        left = self._integer(self.value(node.this, scope))
        by = self.value(node.expression, scope).constant
        if not isinstance(by, int) or not -64 < by < 64:
            raise Inexpressible("a shift by a number that is computed")
        up = isinstance(node, exp.BitwiseLeftShift) == (by >= 0)
        if not up and self.target.quote == "`":
            raise Inexpressible("bitwise right shift")
        made = (exp.BitwiseLeftShift if up else exp.BitwiseRightShift)(
            this=paren(left.node), expression=integer(abs(by))
        )
        return Typed(self._signed(made), left.kind)

    def _signed(self, node: Node) -> Node:
        """Bits as a signed number, which MySQL's are not."""
        return cast(node, "SIGNED") if self.target.quote == "`" else node

    def _quotient(self, node: Node, scope: Scope) -> Typed:
        left = self.numeric(self.value(node.this, scope))
        right = self.numeric(self.value(node.expression, scope))
        kind = _result(left, right)
        if isinstance(node, exp.Mod):
            return self._remainder(left, right, kind)
        if kind == NUM:
            raise Inexpressible("division of values that are integers or not")
        made = exp.Div if REAL in (left.kind, right.kind) else exp.IntDiv
        return Typed(made(this=paren(left.node), expression=_divisor(right)), kind)

    def _remainder(self, left: Typed, right: Typed, kind: str) -> Typed:
        """Of whole numbers, whatever the operands are, as one of their kinds."""
        left, right = self._integer(left), self._integer(right)
        made = Typed(make(exp.Mod, this=paren(left.node), expression=_divisor(right)), INT)
        return made._replace(kind=kind) if kind in (INT, NULL) else Typed(self.as_real(made), kind)

    def _cast(self, node: exp.Cast, scope: Scope) -> Typed:
        typed = self.value(node.this, scope)
        declared = type_affinity(node.args["to"])
        if typed.kind == NULL:
            kind = TEXT if declared == BLOB else declared
            return self.retyped(typed, kind)._replace(affinity=declared)
        made = self._cast_to(typed, declared)
        return made._replace(affinity=declared)

    def _cast_to(self, typed: Typed, declared: str) -> Typed:
        if declared in (INT, NUM) and isinstance(typed.constant, str):
            text = typed.constant
            found = leading_integer(text) if declared == INT else leading_number(text)
            return self.number(found)
        if declared == REAL and isinstance(typed.constant, str):
            return self.number(float(leading_number(typed.constant)))
        if declared == TEXT:
            return self.text(typed)
        if declared == BLOB or typed.kind not in NUMBERS:
            raise Inexpressible("a cast between text, blob and numbers")
        if declared == REAL:
            return Typed(self.as_real(typed), REAL)
        if declared == NUM or typed.kind == INT:
            return typed
        return Typed(self.cut(typed), INT)

    def text(self, typed: Typed) -> Typed:
        """The value as a text."""
        if typed.kind == TEXT:
            return typed
        if typed.kind == NULL:
            return self.retyped(typed, TEXT)
        if typed.kind != INT:
            raise Inexpressible("the text of a number with a point")
        name = "CHAR" if self.target.quote == "`" else self.target.types[TEXT]
        return Typed(cast(typed.node, name), TEXT)

    def _concatenation(self, node: Node, scope: Scope) -> Typed:
        left = self.text(self.value(node.this, scope))
        right = self.text(self.value(node.expression, scope))
        if self.target.quote == "`":
            return Typed(call("CONCAT", left.node, right.node), TEXT)
        return Typed(make(exp.DPipe, this=paren(left.node), expression=paren(right.node)), TEXT)

    def _collated(self, node: Node, scope: Scope) -> Typed:
        if node.expression.name.upper() != "BINARY":
            raise Inexpressible(f"collation {node.expression.name.upper()}")
        return self.value(node.this, scope)._replace(affinity="")

    def _case(self, node: exp.Case, scope: Scope) -> Typed:
        operand = None if node.this is None else self.value(node.this, scope)
        tests = []
        for branch in node.args["ifs"]:
            if operand is None:
                tests.append(self.truth(branch.this, scope))
            else:
                tests.append(self.compared(exp.EQ, operand, self.value(branch.this, scope)))
        results = [self.value(branch.args["true"], scope) for branch in node.args["ifs"]]
        default = node.args.get("default")
        last = None if default is None else self.value(default, scope)
        return self.chosen(tests, results, last)

    def chosen(self, tests: Sequence[Node], results: Sequence[Typed], last: Typed | None) -> Typed:
        """CASE WHEN test THEN result … ELSE last END."""
        kind = self.joined([r.kind for r in results] + ([] if last is None else [last.kind]))
        ifs = [
            make(exp.If, this=test, true=self.as_kind(result, kind))
            for test, result in zip(tests, results, strict=True)
        ]
        made = make(exp.Case, ifs=ifs)
        if last is not None:
            put(made, "default", self.as_kind(last, kind))
        return Typed(made, kind)

    # Conditions: those that compare and combine are the subclass's

    @abc.abstractmethod
    def truth(self, node: Node, scope: Scope) -> Node:
        """The expression where a condition is wanted. Raises Inexpressible and Unresolved."""

    @abc.abstractmethod
    def compared(self, kind: type[Node], left: Typed, right: Typed) -> Node:
        """A comparison, after SQLite's conversions."""


def _divisor(typed: Typed) -> Node:
    """NULL in place of zero."""
    if typed.constant:
        return paren(typed.node)
    return make(exp.Nullif, this=typed.node, expression=integer(0))


def _folded(node: Node, left: Typed, right: Typed) -> int | None:
    """The value of a sum, difference or product of two integers that are known."""
    a, b = left.constant, right.constant
    if not isinstance(a, int) or not isinstance(b, int):
        return None
    results: dict[type[Node], int] = {exp.Add: a + b, exp.Sub: a - b, exp.Mul: a * b}
    found = results.get(type(node))
    return found if found is not None and -_LARGEST <= found < _LARGEST else None


def _result(left: Typed, right: Typed) -> str:
    """The kind of a sum, difference or product."""
    kinds = {left.kind, right.kind}
    if NULL in kinds:
        return NULL
    return INT if kinds == {INT} else REAL if REAL in kinds else NUM
