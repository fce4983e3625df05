"""Values of classes and types that users write: strings, NamedTuples, methods."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple, NewType

from refute.machine import (
    Machine,
    Map,
    Range,
    Set,
    Sort,
    Upto,
    Var,
    action,
    empty_set,
    invariant,
    var,
    when,
)

Small = Annotated[int, Range(0, 2)]
Phase = Literal["working", "prepared", "committed"]
Ticket = NewType("Ticket", Small)
NEXT: dict[Phase, Phase] = {
    "working": "prepared",
    "prepared": "committed",
    "committed": "working",
}


class P(Sort, size=2):
    """Processes."""


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Tag(enum.StrEnum):
    B = "b"
    A = "a"

    @property
    def first(self) -> bool:
        return self is Tag.A


class Place(NamedTuple):
    owner: P
    at: Small = 0


@dataclass(frozen=True)
class Message:
    kind: Literal["request", "answer"]
    at: Small

    @property
    def asks(self) -> bool:
        return self.kind == "request"

    def beyond(self, limit: int) -> bool:
        return self.at > limit


class Tags(Machine):
    phase: Var[Map[P, Phase]] = var(each="working")
    last: Var[Phase | None] = var(None)
    seen: Var[set[Phase]] = var(empty_set)
    level: Var[Level] = var(Level.LOW)
    tags: Var[frozenset[Tag]] = var(one_of=[frozenset(), frozenset({Tag.A})])

    @action
    def go_on(self, p: P) -> None:
        self.last = self.phase[p]
        self.phase[p] = NEXT[self.phase[p]]
        self.seen = self.seen | {self.phase[p]} if self.level.value > 1 else {"prepared"}

    @action
    def back(self, p: P, to: Phase) -> None:
        when(self.phase[p] == "committed" and to in ("working", "prepared"))
        self.phase[p] = to
        self.level = Level.HIGH

    @action
    def tag(self, tag: Tag) -> None:
        when(tag.first or (tag.value == "b" and self.last != "working"))
        for known in Set(self.tags):
            self.level = Level.HIGH if known.first else Level.LOW
        self.tags = self.tags | {tag}

    @invariant
    def prepared_first(self) -> bool:
        return "committed" not in self.seen or self.last in ("prepared", "committed")


class Records(Machine):
    place: Var[Place | None] = var(None)
    places: Var[Set[Place]] = var(empty_set)
    message: Var[Message | None] = var(None)
    queue: Var[Annotated[list[Message], Upto(1)]] = var([])
    row: Var[Annotated[tuple[P, ...], Upto(2)]] = var(())
    line: Var[Annotated[Sequence[P], Upto(1)]] = var(())
    wants: Var[dict[P, bool | None]] = var(each=None)
    ticket: Var[Ticket] = var(0)

    @action
    def take(self, p: P) -> None:
        self.place = Place(p, self.ticket)
        self.places.add(Place(p))
        self.row = (p, *self.row)[:2]
        self.line = [p]

    @action
    def ask(self, ticket: Ticket) -> None:
        when(len(self.queue) < 1 and self.place is not None and self.place.at <= ticket)
        self.message = Message("answer" if self.ticket else "request", ticket)
        self.queue.append(Message("request", ticket))
        self.ticket = Ticket(self.ticket + 1)

    @action
    def answer(self) -> None:
        first = self.queue[0]
        when(first.asks)
        self.queue.pop(0)
        for p in P:
            self.wants[p] = first.beyond(0) if p in self.row else None

    @invariant
    def asks(self) -> bool:
        return self.message is None or self.message.asks or not self.message.beyond(1)


NEEDS: dict[Phase, tuple[Phase, ...]] = {
    "working": (),
    "prepared": ("working",),
    "committed": ("working", "prepared"),
}


class Tables(Machine):
    """A table whose rows are tuples of several lengths, and `_replace`."""

    place: Var[Place] = var(Place(P(0)))
    done: Var[Map[P, Set[Phase]]] = var(each=empty_set)

    @action
    def do(self, p: P, phase: Phase) -> None:
        when(phase not in self.done[p] and all(n in self.done[p] for n in NEEDS[phase]))
        self.done[p].add(phase)
        self.place = self.place._replace(at=len(NEEDS[phase]))

    @action
    def forget(self, p: P) -> None:
        when(len(self.done[p]) == 3 and NEEDS["committed"][1] in self.done[p])
        self.done[p].clear()
        self.place = self.place._replace(owner=p, at=0)

    @invariant
    def before(self, p: P) -> bool:
        return all(n in self.done[p] for phase in self.done[p] for n in NEEDS[phase])
