"""One comparison of two expressions: which affinity converts the operands, which collation orders.

An explicit COLLATE wins, the left operand's first; else the left column's collation; else the
right's (https://sqlite.org/datatype3.html, sections 4.2 and 7.1).
"""

from __future__ import annotations

import operator
from collections.abc import Callable

from minidb.affinity import Affinity, compared_as, converted
from minidb.collation import Fold, fold_of, order
from minidb.scope import Code
from minidb.values import Value

TESTS: dict[str, Callable[[int, int], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def collation_of(left: Code, right: Code) -> str | None:
    """The collation of a comparison; None where neither operand has one."""
    if left.explicit or (left.collation is not None and not right.explicit):
        return left.collation
    return right.collation


def compare(left: Value, right: Value, affinity: Affinity | None, fold: Fold) -> int | None:
    """The order of two operands after conversion; None, which is unknown, if either is NULL."""
    if left is None or right is None:
        return None
    if affinity is not None:
        left, right = converted(left, affinity), converted(right, affinity)
    return order(left, right, fold)


def comparison(sign: str, left: Code, right: Code) -> Code:
    """`left sign right`: 1, 0 or NULL. Two integers take a short cut."""
    affinity, fold = compared_as(left.affinity, right.affinity), fold_of(collation_of(left, right))
    test, first, second = TESTS[sign], left.evaluate, right.evaluate
    direct = affinity is not Affinity.TEXT

    def evaluate() -> Value:
        one, other = first(), second()
        if direct and one.__class__ is int and other.__class__ is int:
            return 1 if test(one, other) else 0
        found = compare(one, other, affinity, fold)
        return None if found is None else int(test(found, 0))

    return inheriting(evaluate, left, right)


def same(left: Code, right: Code, positive: bool) -> Code:
    """`left IS right` or `left IS NOT right`: NULL is the same as NULL, and nothing is unknown."""
    affinity, fold = compared_as(left.affinity, right.affinity), fold_of(collation_of(left, right))
    first, second = left.evaluate, right.evaluate

    def evaluate() -> Value:
        one, other = first(), second()
        if one is None or other is None:
            return int((one is other) is positive)
        return int((compare(one, other, affinity, fold) == 0) is positive)

    return inheriting(evaluate, left, right)


def inheriting(evaluate: Callable[[], Value], *operands: Code) -> Code:
    """The code of an operator: no affinity, and the collation of the first COLLATE inside."""
    for operand in operands:
        if operand.explicit:
            return Code(evaluate, None, operand.collation, True)
    return Code(evaluate)
