"""What minidb claims to be: the engine answers as SQLite does, and its parts are what they say.

The first two claims judge the whole: queries that refute makes up, and the records of suite/. The
rest judge pure pieces by themselves, where every case can be tried.
"""

from __future__ import annotations

from refute import EXHAUSTED, SURVIVED, claim
from refute.specs.conformance import Conforms
from refute.specs.domains import Bools, Ints, OneOf, Optional
from refute.specs.function import Equals
from refute.specs.sql import AgreesWithSQLite

PACKAGE = ("minidb/**",)

claim(
    "minidb answers as SQLite does",
    AgreesWithSQLite("minidb:connect", must_support="all"),
    covers=PACKAGE,
    need=SURVIVED(cases=100),
)

claim(
    "minidb passes its suite",
    Conforms("minidb:connect", files=["suite/*.test"]),
    covers=PACKAGE,
)

TRUTH = Optional(Bools())


def kleene(left, right, combine):
    """The answer that is the same whatever the unknown operands are, if there is one."""
    lefts = [True, False] if left is None else [left]
    rights = [True, False] if right is None else [right]
    answers = {combine(one, other) for one in lefts for other in rights}
    return answers.pop() if len(answers) == 1 else None


def conjunction(left, right):
    """AND."""
    return kleene(left, right, lambda one, other: one and other)


def disjunction(left, right):
    """OR."""
    return kleene(left, right, lambda one, other: one or other)


for operator in ("conjunction", "disjunction"):
    claim(
        f"{operator} has three values",
        Equals(f"minidb.logic:{operator}", f"claims:{operator}", {"left": TRUTH, "right": TRUTH}),
        covers=["minidb/logic.py"],
        need=EXHAUSTED(),
    )


def truncated(dividend, divisor):
    """Division that drops the fraction, by counting how often the divisor fits."""
    times, rest = 0, abs(dividend)
    while rest >= abs(divisor):
        times, rest = times + 1, rest - abs(divisor)
    return times if (dividend < 0) == (divisor < 0) else -times


claim(
    "integers divide towards zero",
    Equals(
        "minidb.arithmetic:quotient",
        "claims:truncated",
        {"dividend": Ints(-20, 20), "divisor": OneOf(*range(-6, 0), *range(1, 7))},
    ),
    covers=["minidb/arithmetic.py"],
    need=EXHAUSTED(),
)


def in_64_bits(number, by):
    """Shifting by multiplying and dividing, and what 64 bits keep of it."""
    if by < 0:
        return number // 2**-by
    kept = number * 2**by % 2**64
    return kept - 2**64 if kept >= 2**63 else kept


claim(
    "a shift keeps 64 bits",
    Equals(
        "minidb.arithmetic:shifted",
        "claims:in_64_bits",
        {"number": OneOf(1, -1, 5, -5, 2**62, -(2**63), 2**63 - 1), "by": Ints(-66, 66)},
    ),
    covers=["minidb/arithmetic.py"],
    need=EXHAUSTED(),
)
