"""How an action begins: the statements before it writes, and choices there that become loops.

Until an action writes it reads the state it began in, so that nothing is copied for an instance
that a `when` ends. A choice made there is a loop over the options around all that follows: what
comes before it is worked out once, and not once for each option. The order is that of the vectors
of choices, as in the plain engine. Where what follows changes a local from before the choice, or
chooses inside of a branch or a loop, the action is run again for every vector instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from refute.specs.machine.ir import Action, Assign, Choose, Die, For, If, Leave, Stmt, Write


def early(body: Sequence[Stmt]) -> int:
    """How many statements come before the first that may write or end the action."""
    for at, stmt in enumerate(body):
        if any(_acts(inner) for inner in _all(stmt)):
            return at
    return len(body)


def loops_over_choices(action: Action) -> bool:
    """Whether all choices of the action can be loops around what follows each."""
    found = [at for at, stmt in enumerate(action.body[: early(action.body)]) if _picks(stmt)]
    total = sum(_picks(inner) for stmt in action.body for inner in _all(stmt))
    if not found or len(found) != total:
        return False
    given = {p.name for p in action.params}
    return all(_separate(action.body, at, given) for at in found)


def chooses(body: Sequence[Stmt]) -> bool:
    """Whether the statements hold a choice."""
    return any(_picks(inner) for stmt in body for inner in _all(stmt))


def _separate(body: Sequence[Stmt], at: int, given: set[str]) -> bool:
    """Whether nothing after a choice sets a local that was set before it."""
    before = given | {name for stmt in body[:at] for name in _set(stmt)}
    return before.isdisjoint(name for stmt in body[at + 1 :] for name in _set(stmt))


def _all(stmt: Stmt) -> Iterator[Stmt]:
    yield stmt
    match stmt:
        case If():
            inner: tuple[Stmt, ...] = (*stmt.then, *stmt.orelse)
        case For():
            inner = tuple(stmt.body)
        case _:
            inner = ()
    for each in inner:
        yield from _all(each)


def _acts(stmt: Stmt) -> bool:
    return isinstance(stmt, Write | Die) or (isinstance(stmt, Leave) and stmt.word == "return")


def _picks(stmt: Stmt) -> bool:
    return isinstance(stmt, Choose)


def _set(stmt: Stmt) -> Iterator[str]:
    for inner in _all(stmt):
        if isinstance(inner, Assign | Choose | For):
            yield inner.name
