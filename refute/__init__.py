"""refute: nothing lands until every attempt to refute it has failed.

State claims with `claim(…)`, attach evidence with `check(…)`; see the README for the commands.
The machine language lives in `refute.machine`; statements live in `refute.specs`.

The names are loaded when they are first asked for, because every command begins with importing this
package and most need only a few of them: the sandbox alone would take longer than some commands do.
"""

from __future__ import annotations

import importlib
import sys
import types

TYPE_CHECKING = False  # as type checkers know it; loading `typing` would take most of the time here
if TYPE_CHECKING:
    from typing import Any

    from refute.budget import Budget
    from refute.check import check
    from refute.claim import Claim, Need, Verdict, claim
    from refute.evidence import Evidence

    PROVED = Verdict.PROVED
    EXHAUSTED = Verdict.EXHAUSTED
    SURVIVED = Verdict.SURVIVED

__version__ = "0.1.0"

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

# exported name → the module that has it; grades are members of Verdict
_HOMES = {
    "Budget": "refute.budget",
    "Claim": "refute.claim",
    "EXHAUSTED": "refute.claim",
    "Evidence": "refute.evidence",
    "Need": "refute.claim",
    "PROVED": "refute.claim",
    "SURVIVED": "refute.claim",
    "Verdict": "refute.claim",
    "check": "refute.check",
    "claim": "refute.claim",
}
_GRADES = ("EXHAUSTED", "PROVED", "SURVIVED")


class _Facade(types.ModuleType):
    """This package as a module. `check` and `claim` are functions, though modules are called so."""

    def __getattr__(self, name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        home = importlib.import_module(_HOMES[name])
        value = getattr(home.Verdict if name in _GRADES else home, name)
        vars(self)[name] = value
        return value

    def __setattr__(self, name: str, value: object) -> None:
        if name not in _HOMES or not isinstance(value, types.ModuleType):
            super().__setattr__(name, value)  # else a submodule that the import system binds here


sys.modules[__name__].__class__ = _Facade
