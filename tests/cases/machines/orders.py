"""Any order of a sequence, and any subset of what may be one of many: counted by hand.

Three letters, two of them equal, have three orders. From nothing sent, one of two messages, then
one of two more; any non-empty subset of what is there is received.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from refute.machine import (
    Machine,
    Range,
    Seq,
    Set,
    Upto,
    Var,
    action,
    any_of,
    empty_set,
    permutations,
    subsets,
    terminal,
    var,
    when,
)

Letter = Annotated[int, Range(1, 2)]


@dataclass(frozen=True)
class Message:
    """One of two hundred."""

    number: Annotated[int, Range(0, 99)]
    letter: Letter


class Shuffled(Machine):
    """Three states, each of which leads to all three."""

    word: Var[Annotated[Seq[Letter], Upto(3)]] = var((1, 1, 2))

    @action
    def shuffle(self) -> None:
        self.word = any_of(permutations(self.word))


class Post(Machine):
    """1, 3 and 9 sets with none, one and two sent; 8 sends, 18 receptions and the start."""

    sent: Var[Annotated[int, Range(0, 2)]] = var(0)
    net: Var[Set[Message]] = var(empty_set)

    @action
    def send(self, letter: Letter) -> None:
        when(self.sent < 2)
        self.net.add(Message(self.sent, letter))
        self.sent += 1

    @action
    def receive(self) -> None:
        some = any_of(subsets(self.net))
        when(some)
        self.net -= some

    @terminal
    def all_received(self) -> bool:
        return self.sent == 2
