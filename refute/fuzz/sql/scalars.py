"""Productions of values: arithmetic, text, CASE, COALESCE, CAST and functions of one row."""

from __future__ import annotations

from sqlglot import exp

from refute.fuzz.sql import nodes
from refute.fuzz.sql.grammar import Production, Writer, closed, number, text
from refute.fuzz.sql.nodes import make, put
from refute.fuzz.sql.text import Node

ALL = ("number", "text", "any")
ALSO_ANY = ("text", "text", "any")
CASTS = {
    "number": (exp.DType.INT, exp.DType.INT, exp.DType.FLOAT),
    "text": (exp.DType.TEXT,),
    "any": (exp.DType.INT, exp.DType.TEXT, exp.DType.FLOAT, exp.DType.DECIMAL),
}
BITS = (exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseLeftShift, exp.BitwiseRightShift)
FORMATS = ("%d", "%s", "%5d|", "%-4s|", "%x", "%c", "%q", "%Q", "%.2f", "%04d", "a%%b")


def _leaf(writer: Writer, family: str, depth: int) -> Node:
    return writer.leaf(writer, family)


def _arithmetic(writer: Writer, family: str, depth: int) -> Node:
    kind = writer.choice((exp.Add, exp.Sub, exp.Mul))
    left, right = (writer.operand("number", depth - 1) for _ in range(2))
    return nodes.binary(kind, left, right)


def _negation(writer: Writer, family: str, depth: int) -> Node:
    return nodes.unary(exp.Neg, closed(writer.value("number", depth - 1)))


def _division(writer: Writer, family: str, depth: int) -> Node:
    left, right = (writer.operand("number", depth - 1) for _ in range(2))
    return make(exp.Div, this=left, expression=right, typed=True, safe=True)


def _modulo(writer: Writer, family: str, depth: int) -> Node:
    left, right = (writer.operand("number", depth - 1) for _ in range(2))
    return nodes.binary(exp.Mod, left, right)


def _concat(writer: Writer, family: str, depth: int) -> Node:
    left = writer.operand("text", depth - 1)
    right = writer.operand(writer.choice(ALSO_ANY) if writer.mixed else "text", depth - 1)
    return make(exp.DPipe, this=left, expression=right, safe=True)


def _case(writer: Writer, family: str, depth: int) -> Node:
    tested = writer.apart("any")
    base = writer.value(tested, 0) if writer.chance(0.25) else None
    arms = [
        exp.If(
            this=writer.condition(depth - 2) if base is None else writer.value(tested, 0),
            true=writer.value(family, depth - 1),
        )
        for _ in range(1 + writer.chance(0.3))
    ]
    default = writer.value(family, depth - 1) if writer.chance(0.6) else None
    return make(exp.Case, this=base, ifs=arms, default=default)


def _coalesce(writer: Writer, family: str, depth: int) -> Node:
    first = writer.value(family, depth - 1)
    if writer.chance(0.4):
        second = writer.value(family, depth - 1)
        return make(exp.Coalesce, this=first, expressions=[second], is_nvl=True)
    others = [writer.value(family, depth - 1) for _ in range(1 + writer.chance(0.25))]
    return make(exp.Coalesce, this=first, expressions=others)


def _nullif(writer: Writer, family: str, depth: int) -> Node:
    return make(
        exp.Nullif, this=writer.value(family, depth - 1), expression=writer.value(family, 0)
    )


def _cast(writer: Writer, family: str, depth: int) -> Node:
    kind = writer.choice(CASTS[family])
    if writer.turns_to("blob", 0.12):
        kind = exp.DType.BLOB
    of = "any" if writer.mixed else family
    return make(exp.Cast, this=writer.value(of, depth - 1), to=make(exp.DataType, this=kind))


def _text_function(writer: Writer, family: str, depth: int) -> Node:
    kind = writer.choice((exp.Upper, exp.Lower, exp.Typeof, exp.Substring))
    if kind is exp.Substring:
        start, length = number(writer.choice((1, 2, 3))), number(writer.choice((0, 1, 2)))
        if writer.chance(0.15):
            start = nodes.unary(exp.Neg, start)
        return make(exp.Substring, this=writer.value("text", depth - 1), start=start, length=length)
    return make(kind, this=writer.value("any" if kind is exp.Typeof else "text", depth - 1))


def _number_function(writer: Writer, family: str, depth: int) -> Node:
    if writer.chance(0.6):
        return make(exp.Length, this=writer.value("text", depth - 1))
    return make(exp.Abs, this=writer.value("number", depth - 1))


def _more_of_text(writer: Writer, family: str, depth: int) -> Node:
    """A function that gives a text and is in SQLite's core."""
    value, depth = writer.value, depth - 1
    match int(writer.random() * 7):
        case 0:
            parts = [value("text", 0) for _ in range(2)]
            this = value("text", depth)
            return make(exp.Replace, this=this, expression=parts[0], replacement=parts[1])
        case 1 | 2:
            made = make(exp.Trim, this=value("text", depth), position=writer.choice(TRIMS))
            if writer.chance(0.4):
                put(made, "expression", value("text", 0))
            return made
        case 3:
            return make(exp.Hex, this=value(writer.choice(("text", "any")), depth))
        case 4:
            return make(exp.Anonymous, this="QUOTE", expressions=[value("any", depth)])
        case 5:
            codes = [
                number(writer.choice((65, 97, 49, 233))) for _ in range(1 + writer.chance(0.3))
            ]
            return make(exp.Chr, expressions=codes, charset=False)
    of = text(writer.choice(FORMATS))
    return make(exp.Anonymous, this="PRINTF", expressions=[of, value("any", depth)])


TRIMS = (None, None, "LEADING", "TRAILING")


def _more_of_numbers(writer: Writer, family: str, depth: int) -> Node:
    """A function that gives a number and is in SQLite's core."""
    value, depth = writer.value, depth - 1
    match int(writer.random() * 4):
        case 0:
            return make(exp.Round, this=value("number", depth))
        case 1:
            return make(
                exp.Round, this=value("number", depth), decimals=number(writer.choice((0, 1, 2)))
            )
        case 2:
            return make(exp.Unicode, this=value("text", depth))
    of = writer.choice(ALSO_ANY) if writer.mixed else "text"
    return make(exp.StrPosition, this=value(of, depth), substr=value(of, 0))


def _sign(writer: Writer, family: str, depth: int) -> Node:
    return make(exp.Sign, this=writer.value("number", depth - 1))


def _extreme(writer: Writer, family: str, depth: int) -> Node:
    """MIN or MAX of several values."""
    kind = writer.choice((exp.Least, exp.Greatest))
    others = [writer.value(family, 0) for _ in range(1 + writer.chance(0.3))]
    return make(kind, this=writer.value(family, depth - 1), expressions=others, ignore_nulls=False)


def _iif(writer: Writer, family: str, depth: int) -> Node:
    values = [writer.value(family, depth - 1) for _ in range(2)]
    return make(exp.If, this=writer.condition(depth - 2), true=values[0], false=values[1])


def _likely(writer: Writer, family: str, depth: int) -> Node:
    """A value with a hint for the planner."""
    name = writer.choice(("LIKELY", "UNLIKELY", "LIKELIHOOD"))
    given = [writer.value(family, depth - 1)]
    if name == "LIKELIHOOD":
        given.append(make(exp.Literal, this=writer.choice(("0.0", "0.5", "0.9")), is_string=False))
    return make(exp.Anonymous, this=name, expressions=given)


def _zeroblob(writer: Writer, family: str, depth: int) -> Node:
    return make(exp.Anonymous, this="ZEROBLOB", expressions=[number(writer.choice((0, 1, 3)))])


def _bits(writer: Writer, family: str, depth: int) -> Node:
    if writer.chance(0.3):
        return make(exp.BitwiseNot, this=writer.operand("number", depth - 1))
    left, right = writer.operand("number", depth - 1), writer.operand("number", 0)
    return nodes.binary(writer.choice(BITS), left, right)


def _plus(writer: Writer, family: str, depth: int) -> Node:
    """The value without a column's affinity and without the use of its indexes."""
    return nodes.plus(closed(writer.value(family, 0)))


def _truth(writer: Writer, family: str, depth: int) -> Node:
    """A condition as a value: 1, 0 or NULL."""
    return nodes.unary(exp.Paren, writer.condition(depth - 1))


PRODUCTIONS = (
    Production("", 6, ALL, _leaf),
    Production("", 2.5, ("number",), _arithmetic),
    Production("", 0.5, ("number",), _negation),
    Production("", 0.6, ("any",), _arithmetic),
    Production("", 1.5, ("number", "any"), _truth),
    Production("division", 0.8, ("number", "any"), _division),
    Production("modulo", 0.5, ("number",), _modulo),
    Production("concat", 2.5, ("text",), _concat),
    Production("case", 0.9, ALL, _case),
    Production("coalesce", 0.7, ALL, _coalesce),
    Production("coalesce", 0.3, ALL, _nullif),
    Production("cast", 0.6, ALL, _cast),
    Production("functions", 0.8, ("text",), _text_function),
    Production("functions", 0.5, ("number",), _number_function),
    Production("text-functions", 0.7, ("text",), _more_of_text),
    Production("number-functions", 0.6, ("number",), _more_of_numbers),
    Production("sign", 0.2, ("number",), _sign),
    Production("min-max", 0.5, ALL, _extreme),
    Production("iif", 0.3, ALL, _iif),
    Production("likelihood", 0.3, ALL, _likely),
    Production("zeroblob", 0.2, ("any",), _zeroblob),
    Production("bits", 0.7, ("number", "any"), _bits),
    Production("unary-plus", 0.6, ALL, _plus),
)
