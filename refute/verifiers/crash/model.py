"""What the model says after each sequence of operations, each step asked only once.

States of the model are numbers to the engine. The filesystem spec of refute itself runs here; a
model from the judged project's specs runs in a spec worker, never in this process.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Protocol

from refute import plain
from refute.errors import RefuteError
from refute.fuzz.operations import Operation, Operations
from refute.plain import Plain
from refute.sandbox import Worker
from refute.specs.library.filesystem import Filesystem

HARNESS = "refute.verifiers.crash.inside"
UNMOUNT = ("unmount",)  # followed by a mount; to a model it is nothing


class ModelBroke(RefuteError):
    """The spec itself failed: nothing can be judged with it."""


@dataclasses.dataclass(frozen=True)
class Answer:
    """What an operation gives. error: 0, or the errno; also: errno values that are as good."""

    value: Plain = None
    error: int = 0
    also: frozenset[int] = frozenset()


class Stepper(Protocol):
    """A model that can be advanced from a numbered state; 0 is the initial one."""

    def start(self) -> Plain:
        """The view of state 0."""
        ...

    def step(self, state: int, operation: Operation, new: int) -> tuple[Answer, Plain]:
        """The answer in `state`, and the view of the state after it, to be called `new`."""
        ...


class Model:
    """Numbered states, each with its view, and memoised steps between them."""

    def __init__(self, stepper: Stepper) -> None:
        self._stepper = stepper
        self._steps: dict[tuple[int, Operation], tuple[Answer, int]] = {}
        self.views: list[Plain] = [stepper.start()]
        self.keys: list[str] = [plain.digest_any(self.views[0])]

    def step(self, state: int, operation: Operation) -> tuple[Answer, int]:
        """The answer to the operation in the state, and the state after it."""
        if operation == UNMOUNT:
            return Answer(), state
        known = self._steps.get((state, operation))
        if known is None:
            answer, view = self._stepper.step(state, operation, len(self.views))
            after = state
            if not answer.error:
                after = len(self.views)
                self.views.append(view)
                self.keys.append(plain.digest_any(view))
            known = self._steps[(state, operation)] = (answer, after)
        return known

    def after(self, operations: Operations, state: int = 0) -> int:
        """The state after all of the operations."""
        for operation in operations:
            state = self.step(state, operation)[1]
        return state


class Library:
    """The filesystem spec, in this process."""

    def __init__(self) -> None:
        self._states: dict[int, Filesystem] = {0: Filesystem()}

    def start(self) -> Plain:
        """The empty tree."""
        return self._states[0].view()

    def step(self, state: int, operation: Operation, new: int) -> tuple[Answer, Plain]:
        """As `Stepper.step`."""
        twin = self._states[state].copy()
        try:
            value = twin.apply(operation[0], operation[1:])
        except OSError as error:
            return Answer(error=error.errno or -1, also=getattr(error, "also", frozenset())), None
        except (TypeError, AttributeError, ValueError) as error:
            raise ModelBroke(f"the filesystem spec does not take {operation!r}: {error}") from error
        self._states[new] = twin
        return Answer(value), twin.view()


class Foreign:
    """A model from the specs of the project, in a spec worker, replayed from its start."""

    def __init__(self, reference: str, worker: Callable[[], Worker]) -> None:
        self._reference = reference
        self._worker = worker
        self._paths: dict[int, Operations] = {0: ()}

    def start(self) -> Plain:
        """The view of the new model."""
        return self._follow(())[0][1]

    def step(self, state: int, operation: Operation, new: int) -> tuple[Answer, Plain]:
        """As `Stepper.step`."""
        path = (*self._paths[state], operation)
        raw, view = self._follow(path)[-1]
        if raw[0] == "error":
            return Answer(error=raw[1] or -1, also=frozenset(raw[2])), None
        self._paths[new] = path
        return Answer(raw[1]), view

    def _follow(self, operations: Operations) -> Plain:
        outcome = self._worker().call(f"{HARNESS}:follow", self._reference, list(operations))
        if outcome.kind != "returned":
            raise ModelBroke(
                f"the model {self._reference} failed: {outcome.kind} {outcome.error}"
                f" {outcome.message}".rstrip(),
                thing="model",
                value=self._reference,
            )
        return outcome.value


def entry(view: Plain, key: Plain) -> Plain:
    """The part of a view that a promise about `key` speaks of: its entry, or everything."""
    return view.get(key) if isinstance(view, Mapping) and type(key) is str else view
