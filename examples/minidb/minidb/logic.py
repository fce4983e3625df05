"""Logic with three values: true, false, and unknown, which SQL writes NULL.

An unknown operand decides nothing: `unknown AND false` is false whatever the unknown would be.
"""

from __future__ import annotations


def conjunction(left: bool | None, right: bool | None) -> bool | None:
    """`left AND right`: false if either is, else unknown if either is."""
    if left is False or right is False:
        return False
    if left is None or right is None:
        return None
    return True


def disjunction(left: bool | None, right: bool | None) -> bool | None:
    """`left OR right`: true if either is, else unknown if either is."""
    if left is True or right is True:
        return True
    if left is None or right is None:
        return None
    return False


def negation(operand: bool | None) -> bool | None:
    """`NOT operand`: unknown stays unknown."""
    if operand is None:
        return None
    return not operand


def membership(equal: bool, unknown: bool) -> bool | None:
    """`x IN (…)`, once it is known whether some item equals x, and whether some comparison was
    unknown: without an equal item, an unknown one leaves open whether x is in the list.
    """
    if equal:
        return True
    return None if unknown else False
