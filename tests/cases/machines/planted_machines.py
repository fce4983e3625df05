"""Small machines, each with one planted defect, and sound ones next to them."""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace
from typing import Annotated, Self

from refute.machine import (
    Machine,
    Map,
    OrderedSort,
    Range,
    Seq,
    Set,
    Sort,
    Steps,
    Upto,
    Var,
    action,
    any_of,
    constraint,
    empty_set,
    initial,
    invariant,
    process,
    reachable,
    terminal,
    transition,
    var,
    when,
)

Small = Annotated[int, Range(0, 3)]


class P(Sort, size=2):
    """Processes."""


class Node(OrderedSort, size=3):
    """Nodes in a line."""


class Light(enum.Enum):
    """A lamp."""

    RED = enum.auto()
    GREEN = enum.auto()


class Mutex(Machine):
    """Sound: test and set in one step."""

    held: Var[bool] = var(False)
    inside: Var[Set[P]] = var(empty_set)

    @process
    def worker(self, p: P) -> Steps[Self]:
        while True:
            when(not self.held)
            self.held = True
            self.inside.add(p)
            self = yield
            self.inside.remove(p)
            self.held = False
            self = yield

    @invariant
    def exclusive(self) -> bool:
        return len(self.inside) <= 1


class MissingGuard(Machine):
    """The test and the set of the lock are two steps."""

    held: Var[bool] = var(False)
    inside: Var[Set[P]] = var(empty_set)

    @process
    def worker(self, p: P) -> Steps[Self]:
        while True:
            when(not self.held)
            self = yield
            self.held = True
            self.inside.add(p)
            self = yield
            self.inside.discard(p)
            self.held = False
            self = yield

    @invariant
    def exclusive(self) -> bool:
        return len(self.inside) <= 1


class WrongInitial(Machine):
    """One of the starting values breaks the invariant at once."""

    n: Var[Small] = var(one_of=range(4))

    @initial
    def small(self) -> bool:
        return self.n != 2

    @action
    def down(self) -> None:
        when(self.n > 0)
        self.n -= 1

    @terminal
    def zero(self) -> bool:
        return self.n == 0

    @invariant
    def below_three(self) -> bool:
        return self.n < 3


class Deadlock(Machine):
    """Two locks, taken in opposite orders."""

    owner: Var[Map[P, P | None]] = var(each=None)

    @process
    def worker(self, p: P) -> Steps[Self]:
        when(self.owner[p] is None)
        self.owner[p] = p
        self = yield
        other = any_of(P)
        when(other != p)
        when(self.owner[other] is None)
        self.owner[other] = p
        self = yield
        for q in P:
            self.owner[q] = None


class Unreachable(Machine):
    """The goal needs an odd number, steps are even; `never` cannot be taken."""

    n: Var[Annotated[int, Range(0, 6)]] = var(0)

    @action
    def up(self) -> None:
        self.n = (self.n + 2) % 6

    @action
    def never(self) -> None:
        when(self.n == 5)
        self.n = 0

    @reachable
    def odd(self) -> bool:
        return self.n % 2 == 1


class OutOfRange(Machine):
    """Counts past its type's end."""

    n: Var[Small] = var(0)

    @action
    def up(self) -> None:
        self.n += 1


class IllDefined(Machine):
    """Reads the head of an empty queue in one state."""

    queue: Var[Annotated[Seq[Light], Upto(2)]] = var(())
    last: Var[Light] = var(Light.RED)

    @action
    def put(self, light: Light) -> None:
        when(len(self.queue) < 2)
        self.queue.append(light)

    @action
    def take(self) -> None:
        self.last = self.queue[0]
        self.queue.pop(0)


class BadPredicate(Machine):
    """The invariant itself divides by zero after one step."""

    n: Var[Small] = var(3)

    @action
    def down(self) -> None:
        when(self.n > 0)
        self.n -= 1

    @terminal
    def zero(self) -> bool:
        return self.n == 0

    @invariant
    def ratio(self) -> bool:
        return 6 // self.n >= 1


class Shrinks(Machine):
    """The log loses an entry, against its transition property."""

    log: Var[Set[Light]] = var(empty_set)

    @action
    def add(self, light: Light) -> None:
        self.log.add(light)

    @action
    def forget(self) -> None:
        when(len(self.log) == 2)
        self.log.clear()

    @transition
    def grows(self, after: Self) -> bool:
        return self.log <= after.log


@dataclass(frozen=True)
class Message:
    """Where it is, and how often it was passed on."""

    at: Node
    hops: Small


class Ring(Machine):
    """Sound, with records, an OrderedSort, None and a sequence."""

    token: Var[Message | None] = var(None)
    seen: Var[Annotated[Seq[Node], Upto(3)]] = var(())

    @action
    def send(self) -> None:
        when(self.token is None and len(self.seen) == 0)
        self.token = Message(any_node(), 0)

    @action
    def move(self) -> None:
        token = self.token
        when(token is not None)
        assert token is not None
        self.seen.append(token.at)
        after = token.at.next
        self.token = None if after is None else replace(token, at=after, hops=token.hops + 1)

    @terminal
    def done(self) -> bool:
        return self.token is None and len(self.seen) > 0

    @invariant
    def in_line(self) -> bool:
        return all(self.seen[i] < self.seen[i + 1] for i in range(len(self.seen) - 1))

    @reachable
    def all_seen(self) -> bool:
        return len(self.seen) == len(Node)


def any_node() -> Node:
    """The first node."""
    return min(n for n in Node)


class Counter(Machine):
    """Sound within its constraint, endless without."""

    n: Var[int] = var(0)

    @action
    def up(self) -> None:
        self.n += 1

    @constraint
    def few(self) -> bool:
        return self.n <= 5

    @invariant
    def natural(self) -> bool:
        return self.n >= 0

    @reachable
    def ten(self) -> bool:
        return self.n == 10


class Stops(Machine):
    """Sound: all processes return, so the end is no deadlock."""

    done: Var[Map[P, bool]] = var(each=False)

    @process
    def worker(self, p: P) -> Steps[Self]:
        tries = 0
        while tries < 2:
            tries += 1
            self = yield
        self.done[p] = True


class RaisesByChoice(Machine):
    """Only the last choice leaves the range."""

    n: Var[Annotated[int, Range(0, 3)]] = var(0)

    @action
    def up(self) -> None:
        more = any_of(range(1, 3))
        self.n += more


class RaisesByLaterChoice(Machine):
    """A process whose second choice decides whether it raises."""

    n: Var[Annotated[int, Range(0, 3)]] = var(0)

    @process
    def worker(self) -> Steps[Self]:
        while True:
            low, high = any_of((False, True)), any_of(range(2))
            assert not low or high == self.n
            self = yield
            self.n = 0
