"""Hypothesis strategies of domains, and Hypothesis as a generator of cases. Only here is it loaded.

Hypothesis never meets a subject: it draws inputs into a list, and the sandbox plays them. It draws
through a provider of ours without its pool of constants, because that pool is collected from
whatever local modules the process has loaded, so that one seed would give other cases in another
process (seen with Hypothesis 6.170); refute brings its own edge cases. No database, no deadline,
no profile of the environment has a say.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import hypothesis
from hypothesis import HealthCheck, Phase
from hypothesis import strategies as st
from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, HypothesisProvider

from refute.claim import Claim
from refute.plain import Plain
from refute.specs.domains import (
    Bools,
    Bytes,
    Dicts,
    Domain,
    Either,
    Floats,
    Ints,
    Lists,
    OneOf,
    Records,
    Sets,
    Text,
    Tuples,
)
from refute.specs.function import given_of

VERSION = hypothesis.__version__
BACKEND = "refute"


class _WithoutConstants(HypothesisProvider):
    """Hypothesis's own generator, blind to the constants of the modules that are loaded."""

    def _maybe_draw_constant(self, *_: Any, **__: Any) -> None:
        return None


AVAILABLE_PROVIDERS[BACKEND] = f"{__name__}.{_WithoutConstants.__name__}"


# Not st.characters: it builds a table of Unicode, and keeps it in a file in the current directory.
_CHARACTERS = st.one_of(
    st.integers(0x20, 0x7E), st.integers(0, 0xD7FF), st.integers(0xE000, 0x10FFFF)
).map(chr)


def strategy(domain: Domain) -> st.SearchStrategy[Any]:
    """The Hypothesis strategy whose values are the domain's."""
    match domain:
        case Bools():
            return st.booleans()
        case Ints(lo=lo, hi=hi):
            return st.integers(lo, hi)
        case Floats(lo=lo, hi=hi, nan=nan, inf=inf):
            free = lo is None and hi is None
            bounded = lo is not None and hi is not None
            return st.floats(lo, hi, allow_nan=nan and free, allow_infinity=inf and not bounded)
        case Text(min=low, max=high, alphabet=alphabet):
            letters = _CHARACTERS if alphabet is None else st.sampled_from(alphabet)
            return st.lists(letters, min_size=low, max_size=high).map("".join)
        case Bytes(min=low, max=high):
            return st.binary(min_size=low, max_size=high)
        case OneOf(values=values):
            return st.sampled_from(values)
        case Either(of=parts):
            return st.one_of(*map(strategy, parts))
        case Tuples(of=parts):
            return st.tuples(*map(strategy, parts))
        case Records(of=fields):
            return st.fixed_dictionaries({k: strategy(d) for k, d in fields.items()})
        case Lists(of=of, min=low, max=high):
            return st.lists(strategy(of), min_size=low, max_size=high)
        case Sets(of=of, min=low, max=high):
            return st.sets(strategy(of), min_size=low, max_size=high)
        case Dicts(keys=keys, values=values, min=low, max=high):
            return st.dictionaries(strategy(keys), strategy(values), min_size=low, max_size=high)
    raise TypeError(f"no strategy of {type(domain).__name__}")


def inputs(claim: Claim) -> st.SearchStrategy[dict[str, Any]]:
    """The inputs that a claim is about, as keyword arguments, for use in ordinary tests.

    For `Holds(…)` and `Equals(…)`; a statement without inputs gives the empty dict.
    """
    return strategy(given_of(claim.statement))


# Claims are judged in several threads, and not every Hypothesis from 6.100 on bears that.
_GENERATING = threading.Lock()


def generate(domain: Domain, cases: int, seed: int) -> Sequence[Plain]:
    """At most `cases` values drawn by Hypothesis, the same for the same seed and version."""
    drawn: list[Plain] = []

    def collect(value: Plain) -> None:
        drawn.append(value)

    run = hypothesis.given(strategy(domain))(collect)
    run = hypothesis.settings(
        max_examples=cases,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        derandomize=False,
        suppress_health_check=list(HealthCheck),
        backend=BACKEND,
    )(run)
    with _GENERATING:
        hypothesis.seed(seed)(run)()
    return drawn[:cases]
