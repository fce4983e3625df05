"""Rendezvous: the step that sends and the step that receives become one action.

Each way of two movers to meet over a channel is an action: all of the sending step, then all of the
receiving one, which therefore sees what the sender has written. By themselves such steps are not
enabled.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from refute.frozen import frozen
from refute.specs.machine import types as t
from refute.specs.machine.expressions import BOOL, number
from refute.specs.machine.ir import (
    Action,
    Assign,
    Check,
    Choose,
    Expr,
    For,
    If,
    Meet,
    Param,
    Stmt,
    When,
)
from refute.specs.machine.placing import some_value
from refute.specs.machine.values import cardinality, pack_value

Fresh = Callable[[str], str]
NEVER = When(Expr("const", BOOL, (), False))
MAX_CHECKED = 10_000  # values of a type that a message is looked up in


@frozen
class Mover:
    """An action that may meet another one. keys: how many of its parameters say which part it is.

    alone: a process, which may meet another one of its part.
    """

    action: Action
    keys: int = 0
    alone: bool = False


def meets(body: Sequence[Stmt]) -> Iterator[Meet]:
    """The ends of rendezvous in a body."""
    for stmt in body:
        match stmt:
            case Meet():
                yield stmt
            case If():
                yield from meets((*stmt.then, *stmt.orelse))
            case For():
                yield from meets(stmt.body)


def joined(movers: Sequence[Mover], fresh: Fresh) -> tuple[Action, ...]:
    """All actions of these movers: each by itself, and each two that may meet."""
    made = [dataclasses.replace(m.action, body=solo(m.action.body)) for m in movers]
    ends = [(m, {(e.var, e.word) for e in meets(m.action.body)}) for m in movers]
    channels = sorted({var for _, found in ends for var, _ in found})
    for var in channels:
        for sender, sends in ends:
            for receiver, receives in ends:
                if (var, "send") in sends and (var, "receive") in receives:
                    made += _pair(sender, receiver, var, len(channels) > 1, fresh)
    return tuple(made)


def solo(body: Sequence[Stmt]) -> tuple[Stmt, ...]:
    """The body without a partner."""
    return _replaced(body, _missed)


def _missed(end: Meet) -> tuple[Stmt, ...]:
    """An end that meets nobody: not enabled. What comes after never runs, but has its locals."""
    never = dataclasses.replace(NEVER, line=end.line)
    if not end.name:
        return (never,)
    unknown = Expr("const", end.type, (), pack_value(some_value(end.type)))
    return (never, Assign(end.name, unknown, end.line))


def _replaced(body: Sequence[Stmt], made: Callable[[Meet], tuple[Stmt, ...]]) -> tuple[Stmt, ...]:
    found: list[Stmt] = []
    for stmt in body:
        match stmt:
            case Meet():
                found += made(stmt)
            case If():
                ways = _replaced(stmt.then, made), _replaced(stmt.orelse, made)
                found.append(If(stmt.condition, *ways, stmt.line))
            case _:
                found.append(stmt)
    return tuple(found)


def _pair(sender: Mover, receiver: Mover, var: str, named: bool, fresh: Fresh) -> Iterator[Action]:
    """The action of two movers that meet over a channel, if they ever can."""
    left, right = sender.action, _renamed(receiver.action, fresh)
    apart = _apart(sender, receiver, left.params, right.params)
    if apart is None or not (_can(left.body, var, "send") and _can(right.body, var, "receive")):
        return
    slots = [e for e in meets(left.body) if e.var == var and e.word == "send"]
    keys = [(fresh("key"), k.type) for k in slots[0].keys]
    message = fresh("message")
    name = f"{left.name} → {right.name}" + (f" over {var}" if named else "")
    line = left.line

    def send(end: Meet) -> tuple[Stmt, ...]:
        if (end.var, end.word) != (var, "send") or end.value is None:
            return _missed(end)
        known = [Assign(n, k, end.line) for (n, _), k in zip(keys, end.keys, strict=True)]
        checked = _checked(end.value, end.type, end.line)
        return (*known, *checked, Assign(message, end.value, end.line))

    def receive(end: Meet) -> tuple[Stmt, ...]:
        if (end.var, end.word) != (var, "receive"):
            return _missed(end)
        same = [
            When(Expr("==", BOOL, (Expr("local", kind, (), n), k)), end.line)
            for (n, kind), k in zip(keys, end.keys, strict=True)
        ]
        return (*same, Assign(end.name, Expr("local", end.type, (), message), end.line))

    body = (
        *apart,
        *_once(left.body, var, "send", send, fresh, line),
        *_once(right.body, var, "receive", receive, fresh, line),
    )
    both = ((left.name, len(left.params)), (right.name, len(right.params)))
    yield Action(name, (*left.params, *right.params), body, line=line, meets=both)


def _apart(
    sender: Mover, receiver: Mover, left: Sequence[Param], right: Sequence[Param]
) -> tuple[Stmt, ...] | None:
    """What keeps a mover from meeting itself; None where the two can never meet."""
    same = sender.action.name == receiver.action.name
    owners = [m.action.name.rpartition(".")[0] for m in (sender, receiver)]
    if owners[0] != owners[1] or (sender.alone and receiver.alone and not same):
        return ()
    if not owners[0]:
        if not same:
            return ()
        pairs = list(zip(left, right, strict=True))
    else:
        pairs = list(zip(left[: sender.keys], right[: receiver.keys], strict=True))
        if sender.alone and receiver.alone:
            pairs = list(zip(left, right, strict=True))
    if not pairs:
        return None
    differ = tuple(
        Expr("!=", BOOL, tuple(Expr("local", p.type, (), p.name) for p in pair)) for pair in pairs
    )
    return (When(differ[0] if len(differ) == 1 else Expr("or", BOOL, differ)),)


def _once(
    body: Sequence[Stmt],
    var: str,
    word: str,
    made: Callable[[Meet], tuple[Stmt, ...]],
    fresh: Fresh,
    line: int,
) -> tuple[Stmt, ...]:
    """The body where it meets exactly once: other ways through it are not enabled."""
    body = _cut(body, var, word)
    if _counts(body, var, word) <= {1}:
        return _replaced(body, made)
    met = fresh("met")
    known = Expr("local", BOOL, (), met)

    def noted(end: Meet) -> tuple[Stmt, ...]:
        inside = made(end)
        if (end.var, end.word) != (var, word):
            return inside
        first = When(Expr("not", BOOL, (known,)), end.line)
        return (first, *inside, Assign(met, Expr("const", BOOL, (), True), end.line))

    start = Assign(met, Expr("const", BOOL, (), False), line)
    return (start, *_replaced(body, noted), When(known, line))


def _can(body: Sequence[Stmt], var: str, word: str) -> bool:
    """Whether some way through a body meets once."""
    return 1 in _counts(body, var, word)


def _cut(body: Sequence[Stmt], var: str, word: str) -> tuple[Stmt, ...]:
    """The body without code that does not meet at all, as that of a process at other places."""
    if _counts(body, var, word) <= {0}:
        return (dataclasses.replace(NEVER, line=body[0].line if body else 0),)
    *before, last = body
    if isinstance(last, If) and _counts(before, var, word) == {0}:
        ways = _cut(last.then, var, word), _cut(last.orelse, var, word)
        last = If(last.condition, *ways, last.line)
    return (*before, last)


def _counts(body: Sequence[Stmt], var: str, word: str) -> set[int]:
    """How often the ways through a body that are not cut anyway meet; 2 is more than once."""
    found = {0}
    for stmt in body:
        here = {0}
        match stmt:
            case Meet():
                if (stmt.var, stmt.word) != (var, word):
                    return set()
                here = {1}
            case If():
                here = _counts(stmt.then, var, word) | _counts(stmt.orelse, var, word)
            case When(condition=Expr(op="const", data=False)):
                return set()
        found = {min(a + b, 2) for a in found for b in here}
    return found


def _checked(value: Expr, kind: t.Type, line: int) -> tuple[Stmt, ...]:
    """An error of the step where the message is outside of its type."""
    if t.included(value.type, kind):
        return ()
    if isinstance(kind, t.Int) and isinstance(value.type, t.Int):
        ends = [(">=", kind.lo), ("<=", kind.hi)]
        tests = [Expr(op, BOOL, (value, number(end))) for op, end in ends if end is not None]
        return tuple(Check(test, line) for test in tests)
    if cardinality(kind) > MAX_CHECKED:
        return ()
    return (Check(Expr("in", BOOL, (value, Expr("domain", t.SeqOf(kind)))), line),)


def _renamed(action: Action, fresh: Fresh) -> Action:
    """The action with other names for its parameters and locals."""
    names: dict[str, str] = {}

    def name(old: str) -> str:
        if old not in names:
            names[old] = fresh(old.partition(".")[0])
        return names[old]

    def again(value: Any) -> Any:
        match value:
            case Expr():
                data = value.data
                if value.op in ("local", "for", "let"):
                    data = name(data)
                elif value.op == "fold":
                    data = tuple(map(name, data))
                return Expr(value.op, value.type, tuple(map(again, value.args)), data)
            case tuple():
                return tuple(map(again, value))
            case Assign() | Choose() | For() | Meet() | Param():
                made = _fields(value, again)
                return dataclasses.replace(made, name=name(value.name)) if value.name else made
        return _fields(value, again) if dataclasses.is_dataclass(value) else value

    params, body = again(action.params), again(action.body)
    return dataclasses.replace(action, params=params, body=body)


def _fields(value: Any, again: Callable[[Any], Any]) -> Any:
    """The dataclass with its expressions and statements renamed, and its types as they are."""
    changed = {
        f.name: again(getattr(value, f.name))
        for f in dataclasses.fields(value)
        if isinstance(getattr(value, f.name), Expr | tuple)
    }
    return dataclasses.replace(value, **changed)
