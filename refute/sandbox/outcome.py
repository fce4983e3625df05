"""Outcomes: what became of one call in a worker, as the parent saw it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Literal

from refute.frozen import frozen
from refute.plain import Plain

Kind = Literal["returned", "raised", "died", "timeout", "protocol"]
Handler = Callable[[str, tuple[Plain, ...]], Plain]


@frozen
class Outcome:
    """What became of one call.

    kind: "returned", "raised" (any exception, SystemExit too), "died" (the process ended without
    an answer), "timeout" (wall clock or CPU seconds; the parent killed it) or "protocol" (what
    came back was not an answer to this question). After the last three the worker is dead, unless
    the call was made `fresh` and only its own process died.

    value: what was returned, `Opaque` where it is not plain data. error: the exception's type, as
    "ValueError" for a builtin and "module.Name" otherwise; message, errno: what it carried.
    loaded: False when the target itself could not be imported, so that nothing was called.
    detail: where it was raised, or how the process ended, for people. mutated: the call changed
    its arguments, as the worker itself says, so for information only. starved: it timed out while
    other processes had the CPU; on an idle machine it might have answered. stdout: what was printed
    (standard output and error), cut to the limit.
    """

    kind: Kind
    value: Plain = None
    error: str = ""
    message: str = ""
    errno: int | None = None
    detail: str = ""
    mutated: bool = False
    stdout: str = ""
    loaded: bool = True
    starved: bool = False


@frozen
class Handle:
    """An object that lives in a worker; it means nothing in any other worker."""

    worker: int
    number: int


@dataclasses.dataclass(frozen=True, eq=False)
class Remote:
    """An argument that appears in the worker as an object whose methods the parent answers.

    handler: called with the method's name and its arguments; what it returns is returned there,
    and an OSError it raises is raised there with the same errno. callable: it appears as a
    function instead, and the method's name is "". attributes: plain values that the object has
    besides its methods, fixed when it is passed.
    """

    handler: Handler
    callable: bool = False
    attributes: Mapping[str, Plain] = dataclasses.field(default_factory=dict)
