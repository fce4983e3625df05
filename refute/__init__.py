"""refute: nothing lands until every attempt to refute it has failed.

State claims with `claim(…)`, attach evidence with `check(…)`; see the README for the commands.
The machine language lives in `refute.machine`; statements live in `refute.specs`.
"""

from refute.budget import Budget
from refute.check import check
from refute.claim import Claim, Need, Verdict, claim
from refute.evidence import Evidence

__version__ = "0.1.0"

PROVED = Verdict.PROVED
EXHAUSTED = Verdict.EXHAUSTED
SURVIVED = Verdict.SURVIVED

__all__ = [
    "EXHAUSTED",
    "PROVED",
    "SURVIVED",
    "Budget",
    "Claim",
    "Evidence",
    "Need",
    "Verdict",
    "__version__",
    "check",
    "claim",
]
