"""The decorators of a machine's methods: steps, what must hold, fairness.

A decorator only marks; what a mark means is read when the machine is built.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar, overload

from refute.frozen import frozen

F = TypeVar("F", bound=Callable[..., object])


@frozen
class Mark:
    """What a decorator says about a method. fair, fair_any: "", "weak" or "strong".

    abstract, constants: of a refinement, the machine that is implemented and its constants.
    inductive: of an invariant.
    """

    kind: str
    fair: str = ""
    fair_any: str = ""
    abstract: type | None = None
    constants: Mapping[str, int | str] = dataclasses.field(default_factory=dict)
    inductive: bool = False


def mark_of(function: object) -> Mark | None:
    """The mark on a method; None for a helper."""
    found = getattr(function, "__machine_mark__", None)
    return found if isinstance(found, Mark) else None


def _marking(mark: Mark, function: F | None) -> Any:
    def put(target: F) -> F:
        target.__machine_mark__ = mark  # type: ignore[attr-defined]
        return target

    return put if function is None else put(function)


class _Decorator(Protocol):
    def __call__(self, function: F, /) -> F: ...


@overload
def action(function: F, /) -> F:
    """`@action`."""


@overload
def action(*, fair: str = "", fair_any: str = "") -> _Decorator:
    """`@action(fair="weak")`."""


def action(function: F | None = None, /, *, fair: str = "", fair_any: str = "") -> Any:
    """A step of the machine; parameters range over their whole types.

    fair: "weak" or "strong", for each choice of parameters by itself. fair_any: for all of them
    together: some of them must be taken.
    """
    return _marking(Mark("action", fair, fair_any), function)


@overload
def process(function: F, /) -> F:
    """`@process`."""


@overload
def process(*, fair: str = "", fair_any: str = "") -> _Decorator:
    """`@process(fair="weak")`."""


def process(function: F | None = None, /, *, fair: str = "", fair_any: str = "") -> Any:
    """A generator: one process for each value of its parameters; `self = yield` ends a step.

    fair and fair_any: as for actions.
    """
    return _marking(Mark("process", fair, fair_any), function)


@overload
def invariant(function: F, /) -> F:
    """`@invariant`."""


@overload
def invariant(*, inductive: bool = False) -> _Decorator:
    """`@invariant(inductive=True)`."""


def invariant(function: F | None = None, /, *, inductive: bool = False) -> Any:
    """Holds in every reachable state.

    inductive: together with the machine's other invariants it is kept by every step, from whatever
    state; that is to be proved, so that a search of all states is not enough.
    """
    return _marking(Mark("invariant", inductive=inductive), function)


def reachable(function: F) -> F:
    """Holds in some reachable state."""
    return _marking(Mark("reachable"), function)  # type: ignore[no-any-return]


def transition(function: F) -> F:
    """`def grows(self, after: Self) -> bool`: holds for every step that changes something."""
    return _marking(Mark("transition"), function)  # type: ignore[no-any-return]


def terminal(function: F) -> F:
    """Where the machine may stop: no deadlock."""
    return _marking(Mark("terminal"), function)  # type: ignore[no-any-return]


def initial(function: F) -> F:
    """Filters the product of the variables' starting values."""
    return _marking(Mark("initial"), function)  # type: ignore[no-any-return]


def constraint(function: F) -> F:
    """States outside it are checked, but neither counted as distinct nor expanded (as in TLC)."""
    return _marking(Mark("constraint"), function)  # type: ignore[no-any-return]


@overload
def recover(function: F, /) -> F:
    """`@recover`."""


@overload
def recover(*, fair: str = "") -> _Decorator:
    """`@recover(fair="weak")`."""


def recover(function: F | None = None, /, *, fair: str = "") -> Any:
    """What runs right after a crash, in the same step; of a machine with `crashes=True`.

    With `self = yield` inside it takes steps, and the next crash may come before its end. fair: of
    these steps, "weak" or "strong".
    """
    return _marking(Mark("recover", fair), function)


def observe(function: F) -> F:
    """Holds after a crash in any state, when `@recover` has run."""
    return _marking(Mark("observe"), function)  # type: ignore[no-any-return]


def temporal(function: F) -> F:
    """`def served(self, c: Client) -> Formula`: holds for every fair behaviour."""
    return _marking(Mark("temporal"), function)  # type: ignore[no-any-return]


def fair(kind: str) -> _Decorator:
    """`@fair("weak") def name(self, after: Self) -> bool`: fairness of the steps it is true of.

    For conditions that are no single action: WF_vars(A \\/ B), or of an action in some cases.
    With parameters, for each choice of them by itself.
    """
    made: _Decorator = _marking(Mark("fair", kind), None)
    return made


def refines(abstract: type, **constants: int | str) -> _Decorator:
    """`@refines(TCommit) def commits(self): return {"phase": self.phase}`.

    Every behaviour of this machine is one of the other, looked at through the mapping of its
    variables; steps that change nothing there are allowed. The other machine's Sorts and constants
    have the sizes of those with the same names here, or the ones given: `N="RM - 1"`.
    """
    mark = Mark("refines", abstract=abstract, constants=constants)
    made: _Decorator = _marking(mark, None)
    return made
