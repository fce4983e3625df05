"""Expressions that compute: literals, columns, operators, CAST, COLLATE, CASE.

Each handler takes the builder, a node and its scope, and returns Code. Affinity and collation
travel as SQLite has them: a column and a CAST have an affinity, an operator has none; COLLATE
inside an operand stays in force outside of it.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from minidb import arithmetic
from minidb.affinity import cast
from minidb.collation import fold_of
from minidb.comparing import comparison, inheriting
from minidb.errors import NotSupportedError, OperationalError
from minidb.scope import Builder, Code, Scope, resolve
from minidb.syntax import cast_affinity, expect
from minidb.values import Value, fits, truth

Handler = Callable[[Builder, exp.Expr, Scope], Code]


def constant(value: Value) -> Code:
    """Code that always has the same value."""
    return Code(lambda: value)


def literal(builder: Builder, node: exp.Expr, scope: Scope) -> Code:
    """A number or a string."""
    text = node.name
    if node.args["is_string"]:
        return constant(text)
    if text.lstrip("-").isdigit() and fits(int(text)):
        return constant(int(text))
    try:
        return constant(float(text))
    except ValueError:
        raise NotSupportedError(f"number {text}: write spaces around operators") from None


def blob(builder: Builder, node: exp.Expr, scope: Scope) -> Code:
    """`x'…'`."""
    try:
        return constant(bytes.fromhex(node.name))
    except ValueError:
        raise OperationalError(f"unrecognized token: x'{node.name}'") from None


def null(builder: Builder, node: exp.Expr, scope: Scope) -> Code:
    """NULL."""
    return constant(None)


def boolean(builder: Builder, node: exp.Expr, scope: Scope) -> Code:
    """TRUE is 1, FALSE is 0."""
    return constant(int(node.this))


def placeholder(builder: Builder, node: exp.Expr, scope: Scope) -> Code:
    """`?` or `:name`."""
    return constant(builder.parameter(node))


def column(builder: Builder, node: exp.Expr, scope: Scope) -> Code:
    """A column, or an alias of a result column."""
    expect(node, "this", "table", "db")
    if not isinstance(node.this, exp.Identifier):
        raise OperationalError(f"no such column: {node.sql('sqlite')}")
    if node.text("db").lower() not in ("", "main"):
        raise OperationalError(f"no such column: {node.sql('sqlite')}")
    return resolve(builder, scope, node.text("table"), node.name)


def parenthesis(builder: Builder, node: exp.Expr, scope: Scope) -> Code:
    """Parentheses change nothing."""
    expect(node, "this")
    return builder.code(node.this, scope)


def minus(builder: Builder, node: exp.Expr, scope: Scope) -> Code:
    """Unary minus; the smallest integer can only be written with it."""
    inner = node.this
    if isinstance(inner, exp.Literal) and not inner.args["is_string"] and inner.name.isdigit():
        number = -int(inner.name)
        return constant(number if fits(number) else float(number))
    operand = builder.code(inner, scope)
    evaluate = operand.evaluate
    return inheriting(lambda: arithmetic.negate(evaluate()), operand)


def complement(builder: Builder, node: exp.Expr, scope: Scope) -> Code:
    """Unary `~`."""
    operand = builder.code(node.this, scope)
    evaluate = operand.evaluate
    return inheriting(lambda: arithmetic.invert(evaluate()), operand)


def binary(operator: arithmetic.Operator) -> Handler:
    """The handler of an operator with two operands that are values."""

    def handler(builder: Builder, node: exp.Expr, scope: Scope) -> Code:
        left, right = builder.code(node.this, scope), builder.code(node.expression, scope)
        first, second = left.evaluate, right.evaluate
        return inheriting(lambda: operator(first(), second()), left, right)

    return handler


def cast_expression(builder: Builder, node: exp.Expr, scope: Scope) -> Code:
    """`CAST(x AS type)` has the affinity of the type and the collation of x."""
    expect(node, "this", "to")
    operand = builder.code(node.this, scope)
    affinity, evaluate = cast_affinity(node.args["to"]), operand.evaluate
    return Code(lambda: cast(evaluate(), affinity), affinity, operand.collation, operand.explicit)


def collate(builder: Builder, node: exp.Expr, scope: Scope) -> Code:
    """`x COLLATE name` is x under another order."""
    operand, name = builder.code(node.this, scope), node.expression.name.upper()
    fold_of(name)
    return Code(operand.evaluate, operand.affinity, name, True)


def case(builder: Builder, node: exp.Expr, scope: Scope) -> Code:
    """`CASE [x] WHEN … THEN … [ELSE …] END`: the first WHEN that is true, or equals x."""
    expect(node, "this", "ifs", "default")
    base = builder.code(node.this, scope) if node.this is not None else None
    branches, operands = [], [base] if base else []
    for branch in node.args["ifs"]:
        when, then = builder.code(branch.this, scope), builder.code(branch.args["true"], scope)
        test = comparison("=", base, when) if base else when
        branches.append((test.evaluate, then.evaluate))
        operands += [when, then]
    otherwise = constant(None)
    if node.args.get("default") is not None:
        otherwise = builder.code(node.args["default"], scope)
    default = otherwise.evaluate

    def evaluate() -> Value:
        for test, result in branches:
            if truth(test()):
                return result()
        return default()

    return inheriting(evaluate, *operands, otherwise)


HANDLERS: dict[type[exp.Expr], Handler] = {
    exp.Literal: literal,
    exp.HexString: blob,
    exp.Null: null,
    exp.Boolean: boolean,
    exp.Placeholder: placeholder,
    exp.Column: column,
    exp.Paren: parenthesis,
    exp.Neg: minus,
    exp.BitwiseNot: complement,
    exp.Add: binary(arithmetic.add),
    exp.Sub: binary(arithmetic.subtract),
    exp.Mul: binary(arithmetic.multiply),
    exp.Div: binary(arithmetic.divide),
    exp.Mod: binary(arithmetic.modulo),
    exp.BitwiseAnd: binary(arithmetic.bit_and),
    exp.BitwiseOr: binary(arithmetic.bit_or),
    exp.BitwiseLeftShift: binary(arithmetic.shift_left),
    exp.BitwiseRightShift: binary(arithmetic.shift_right),
    exp.DPipe: binary(arithmetic.concatenate),
    exp.Cast: cast_expression,
    exp.Collate: collate,
    exp.Case: case,
}
