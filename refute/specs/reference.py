"""Statements about objects: the subject answers every sequence of operations as a reference does.

    claim("the queue is a queue",
          AgreesWith("fast:Queue", reference="specs:SlowQueue", depth=4,
                     operations={"put": {"x": Ints(0, 1)}, "get": {}},
                     observe=[("size",)]))

The reference is a class of the specs, a ready spec of `refute.specs.library`, or `"directory"`, a
real directory on the kernel's filesystem. It defines what is right; where a specification leaves an
error open, the reference's exception lists the other errno values in an attribute `also`. What is
compared, and what is not, is part of the statement.
"""

from __future__ import annotations

import errno
from collections.abc import Iterable, Mapping, Sequence
from typing import TypedDict, Unpack

from refute.claim import Statement, check_reference
from refute.errors import IllegalClaim
from refute.plain import Plain
from refute.specs.domains import Domain, Records, from_plain, inputs

KIND = "agrees-with"
ORACLES = {"directory": "refute.oracles.directory:Directory"}
LONGEST = 12
ERRORS = ("exact", "errno")


class Options(TypedDict, total=False):
    """What `AgreesWith` takes besides the operations."""

    depth: int
    longest: int
    setup: Iterable[Sequence[Plain]]
    observe: Iterable[Sequence[Plain]]
    device: Mapping[str, int]
    errors: str
    unordered: Iterable[str]
    ignore: Mapping[str, Iterable[str] | Mapping[str, Mapping[str, Plain]]]
    may_refuse: Iterable[str]


def AgreesWith(
    subject: str,
    reference: str,
    operations: Mapping[str, Mapping[str, Domain]],
    **options: Unpack[Options],
) -> Statement:
    """Every sequence of the operations gives the same answers from both, started afresh.

    subject, reference: a class or a function without arguments that makes the object; for the
    reference also "directory". operations: methods, and the domains of their arguments in order.

    depth: all sequences of up to so many operations are tried (2). longest: sampled ones go up to
    this length (12). setup: operations done on both before each sequence. observe: operations asked
    of both at the end of each, to see the state. device: `{"block_count": n, "block_size": n}`,
    the subject is then a class with `format(device)` and `mount(device)` over a device in memory.

    Values are compared exactly, but for what the statement declares: unordered: methods whose list
    is compared without its order; ignore: method → fields of its result that may differ, or field →
    what other fields must be for that: `{"stat": {"ino": {}, "size": {"kind": "dir"}}}`. errors:
    "errno" compares errno values where both errors have one, "exact" always their types too.
    may_refuse: names of errno values that the subject may answer at any time, having done nothing.
    """
    reference = check_reference(ORACLES.get(reference, reference), "reference")
    taken = {name: inputs(args, f"operation {name!r}") for name, args in operations.items()}
    _need(bool(taken), "there are no operations", operations)
    device = options.get("device")
    known = device is None or set(device) == {"block_count", "block_size"}
    _need(known, "a device has a block_count and a block_size", device)
    depth, longest = options.get("depth", 2), options.get("longest", LONGEST)
    _need(type(depth) is int and depth >= 1, f"depth must be at least 1, got {depth!r}", depth)
    _need(type(longest) is int and longest >= depth, "longest is less than depth", longest)
    errors = options.get("errors", "errno")
    _need(errors in ERRORS, f"errors is one of {', '.join(ERRORS)}", errors)
    return Statement(
        kind=KIND,
        text=f"{subject} answers {', '.join(taken)} as {reference} does",
        subject=subject,
        params={
            "reference": reference,
            "operations": [
                [n, [[k, d.to_plain()] for k, d in r.of.items()]] for n, r in taken.items()
            ],
            "depth": depth,
            "longest": longest,
            "setup": _steps(options.get("setup", ())),
            "observe": _steps(options.get("observe", ())),
            "device": None if device is None else dict(device),
            "errors": errors,
            "unordered": sorted(options.get("unordered", ())),
            "ignore": {name: _fields(f) for name, f in options.get("ignore", {}).items()},
            "may_refuse": _numbers(options.get("may_refuse", ())),
        },
        spec=() if reference.startswith("refute.") else (reference,),
    )


def operations_of(statement: Statement) -> dict[str, Records]:
    """The operations of a statement, with the domains of their arguments in order."""
    operations: Sequence[Plain] = statement.params["operations"]
    return {
        name: inputs({k: from_plain(d) for k, d in args}, f"operation {name!r}")
        for name, args in operations
    }


def _steps(operations: Iterable[Sequence[Plain]]) -> list[Plain]:
    steps = [list(operation) for operation in operations]
    for step in steps:
        good = bool(step) and type(step[0]) is str
        _need(good, "an operation is a method's name and its arguments", step)
    return steps


def _fields(fields: Iterable[str] | Mapping[str, Mapping[str, Plain]]) -> list[Plain]:
    if isinstance(fields, Mapping):
        return [[field, dict(condition)] for field, condition in fields.items()]
    _need(not isinstance(fields, str), "ignore takes a list of fields, not one string", fields)
    return [[field, {}] for field in fields]


def _numbers(names: Iterable[str]) -> list[int]:
    for name in names:
        _need(type(getattr(errno, name, None)) is int, f"{name!r} is no errno", name)
    return [getattr(errno, name) for name in names]


def _need(condition: bool, message: str, value: object) -> None:
    if not condition:
        raise IllegalClaim(f"AgreesWith: {message}", thing="statement", value=value)
