"""Temporal formulas as a machine writes them, and what they mean on a lasso.

A lasso is a run that ends in a cycle: states 0 … n - 1, of which those from `loop` on are repeated
for ever. There is no next-step operator, so that a formula cannot tell whether others have moved
in between (it is closed under stuttering).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from refute.frozen import frozen
from refute.specs.machine.language import every


@frozen
class Formula:
    """op: "holds" (predicate), "not", "and", "or", "always" or "eventually" (of args)."""

    op: str
    args: tuple[Formula, ...] = ()
    predicate: Any = None

    def __and__(self, other: Formula) -> Formula:
        return Formula("and", (self, formula(other)))

    def __or__(self, other: Formula) -> Formula:
        return Formula("or", (self, formula(other)))

    def __invert__(self) -> Formula:
        return Formula("not", (self,))

    def __bool__(self) -> bool:
        raise TypeError("a formula is not a bool: combine formulas with &, | and ~")


Part: TypeAlias = Formula | Callable[[], bool]


def formula(part: Part) -> Formula:
    """A predicate (a lambda without arguments, or a helper of the machine) as a formula."""
    return part if isinstance(part, Formula) else Formula("holds", (), part)


def always(part: Part) -> Formula:
    """From now on for ever (□)."""
    return Formula("always", (formula(part),))


def eventually(part: Part) -> Formula:
    """Now or later (◇)."""
    return Formula("eventually", (formula(part),))


def leads_to(cause: Part, effect: Part) -> Formula:
    """Whenever the cause holds, the effect holds then or later (⇝)."""
    return always(implies(cause, eventually(effect)))


def infinitely_often(part: Part) -> Formula:
    """Again and again (□◇)."""
    return always(eventually(part))


def eventually_always(part: Part) -> Formula:
    """From some time on for ever (◇□)."""
    return eventually(always(part))


def implies(cause: Part, effect: Part) -> Formula:
    """If the one holds now, so does the other."""
    return ~formula(cause) | formula(effect)


def for_all(kind: Any, part: Callable[[Any], Part]) -> Formula:
    """For all values of a finite type: `for_all(Node, lambda n: eventually(lambda: …))`."""
    return conjunction([formula(part(value)) for value in every(kind)])


def exists(kind: Any, part: Callable[[Any], Part]) -> Formula:
    """For some value of a finite type."""
    return ~conjunction([~formula(part(value)) for value in every(kind)])


def conjunction(parts: list[Formula]) -> Formula:
    """All of at least one formula."""
    made = parts[0]
    for part in parts[1:]:
        made = made & part
    return made


def leaves(formula: Formula) -> list[Formula]:
    """The predicates of a formula."""
    if formula.op == "holds":
        return [formula]
    return [leaf for part in formula.args for leaf in leaves(part)]


def true_at(
    formula: Any, at: int, count: int, loop: int, holds: Callable[[Any, int], bool]
) -> bool:
    """Whether a formula is true at a position of a lasso with `count` states.

    formula: anything with op and args, as Formula and its IR. holds: whether a "holds" node is
    true in the state at a position.
    """
    later = range(min(at, loop), count)
    match formula.op:
        case "holds":
            return holds(formula, at)
        case "not":
            return not true_at(formula.args[0], at, count, loop, holds)
        case "and":
            return all(true_at(a, at, count, loop, holds) for a in formula.args)
        case "or":
            return any(true_at(a, at, count, loop, holds) for a in formula.args)
        case "always":
            return all(true_at(formula.args[0], i, count, loop, holds) for i in later)
        case "eventually":
            return any(true_at(formula.args[0], i, count, loop, holds) for i in later)
    raise ValueError(f"{formula.op!r} is no operator of temporal formulas")
