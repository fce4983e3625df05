"""Productions of values: arithmetic, text, CASE, COALESCE, CAST and functions of one row."""

from __future__ import annotations

from sqlglot import exp

from refute.fuzz.sql.grammar import Production, Writer, closed, number
from refute.fuzz.sql.text import Node

ALL = ("number", "text", "any")
CASTS = {
    "number": (exp.DType.INT, exp.DType.INT, exp.DType.FLOAT),
    "text": (exp.DType.TEXT,),
    "any": (exp.DType.INT, exp.DType.TEXT, exp.DType.FLOAT, exp.DType.DECIMAL),
}


def _leaf(writer: Writer, family: str, depth: int) -> Node:
    return writer.leaf(writer, family)


def _arithmetic(writer: Writer, family: str, depth: int) -> Node:
    kind = writer.rng.choice((exp.Add, exp.Sub, exp.Mul))
    left, right = (writer.operand("number", depth - 1) for _ in range(2))
    return kind(this=left, expression=right)


def _negation(writer: Writer, family: str, depth: int) -> Node:
    return exp.Neg(this=closed(writer.value("number", depth - 1)))


def _division(writer: Writer, family: str, depth: int) -> Node:
    left, right = (writer.operand("number", depth - 1) for _ in range(2))
    return exp.Div(this=left, expression=right, typed=True, safe=True)


def _modulo(writer: Writer, family: str, depth: int) -> Node:
    left, right = (writer.operand("number", depth - 1) for _ in range(2))
    return exp.Mod(this=left, expression=right)


def _concat(writer: Writer, family: str, depth: int) -> Node:
    left = writer.operand("text", depth - 1)
    right = writer.operand(writer.rng.choice(("text", "text", "any")), depth - 1)
    return exp.DPipe(this=left, expression=right, safe=True)


def _case(writer: Writer, family: str, depth: int) -> Node:
    base = writer.value("any", 0) if writer.chance(0.25) else None
    arms = [
        exp.If(
            this=writer.condition(depth - 2) if base is None else writer.value("any", 0),
            true=writer.value(family, depth - 1),
        )
        for _ in range(1 + writer.chance(0.3))
    ]
    default = writer.value(family, depth - 1) if writer.chance(0.6) else None
    return exp.Case(this=base, ifs=arms, default=default)


def _coalesce(writer: Writer, family: str, depth: int) -> Node:
    first = writer.value(family, depth - 1)
    others = [writer.value(family, depth - 1) for _ in range(1 + writer.chance(0.25))]
    return exp.Coalesce(this=first, expressions=others)


def _nullif(writer: Writer, family: str, depth: int) -> Node:
    return exp.Nullif(this=writer.value(family, depth - 1), expression=writer.value(family, 0))


def _cast(writer: Writer, family: str, depth: int) -> Node:
    kind = writer.rng.choice(CASTS[family])
    return exp.Cast(this=writer.value("any", depth - 1), to=exp.DataType(this=kind))


def _text_function(writer: Writer, family: str, depth: int) -> Node:
    kind = writer.rng.choice((exp.Upper, exp.Lower, exp.Typeof, exp.Substring))
    if kind is exp.Substring:
        start, length = number(writer.rng.randint(1, 3)), number(writer.rng.randint(0, 2))
        arguments = [writer.value("text", depth - 1), start, length]
        return exp.Anonymous(this="SUBSTR", expressions=arguments)
    return kind(this=writer.value("any" if kind is exp.Typeof else "text", depth - 1))


def _number_function(writer: Writer, family: str, depth: int) -> Node:
    if writer.chance(0.6):
        return exp.Length(this=writer.value("text", depth - 1))
    return exp.Abs(this=writer.value("number", depth - 1))


def _truth(writer: Writer, family: str, depth: int) -> Node:
    """A condition as a value: 1, 0 or NULL."""
    return exp.Paren(this=writer.condition(depth - 1))


PRODUCTIONS = (
    Production("", 6, ALL, _leaf),
    Production("", 2.5, ("number",), _arithmetic),
    Production("", 0.5, ("number",), _negation),
    Production("", 0.6, ("any",), _arithmetic),
    Production("", 1.5, ("number", "any"), _truth),
    Production("division", 0.8, ("number", "any"), _division),
    Production("modulo", 0.5, ("number",), _modulo),
    Production("concat", 1.5, ("text",), _concat),
    Production("case", 0.9, ALL, _case),
    Production("coalesce", 0.7, ALL, _coalesce),
    Production("coalesce", 0.3, ALL, _nullif),
    Production("cast", 0.6, ALL, _cast),
    Production("functions", 0.8, ("text",), _text_function),
    Production("functions", 0.5, ("number",), _number_function),
)
