"""What `case C():`, `isinstance` and `assert` leave of a union, methods and `replace` take."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Self, assert_never

from refute.machine import (
    Machine,
    Map,
    Range,
    Set,
    Steps,
    Var,
    action,
    any_of,
    empty_set,
    every,
    invariant,
    process,
    var,
    when,
)

N = Annotated[int, Range(0, 2)]


@dataclass(frozen=True)
class Ask:
    """A number."""

    n: N

    def more(self) -> Ask:
        """One more."""
        return replace(self, n=(self.n + 1) % 3)

    @property
    def large(self) -> bool:
        """Whether nothing is larger."""
        return self.n == 2


@dataclass(frozen=True)
class Tell:
    """Something else under the same name, and a number."""

    n: bool
    m: N

    def turned(self) -> Tell:
        """The other way round."""
        return replace(self, n=not self.n)


@dataclass(frozen=True)
class Off:
    """Nothing."""


Message = Ask | Tell | Off


class Narrowed(Machine):
    """Messages change as their class says."""

    last: Var[Message] = var(Off())
    box: Var[Map[bool, Message]] = var(each=Off())
    got: Var[Ask] = var(Ask(0))
    sent: Var[Set[Message]] = var(empty_set)

    @action
    def put(self, b: bool) -> None:
        m = self.box[b]
        if isinstance(m, Off):
            self.box[b] = Tell(True, 2) if any_of([True, False]) else Ask(1)
            return
        match m:
            case Ask():
                self.got = m
                self.sent.add(replace(m, n=0))
                self.box[b] = Tell(False, m.n) if m.large else m.more()
            case Tell():
                when(m.m > 0)
                self.box[b] = replace(m.turned(), m=m.m - 1)
            case _:
                assert_never(m)

    @action
    def turn(self) -> None:
        match self.last:
            case Ask(n):
                self.last = replace(self.last, n=(n + 1) % 3)
                if isinstance(self.last, Ask) and not self.last.more().large:
                    self.last = self.last.more()
            case Off():
                self.last = Tell(False, 1)
            case Tell():
                self.last = Ask(self.last.m) if self.last.turned().n else self.last.turned()

    @action
    def walk(self) -> None:
        m = self.last
        when(isinstance(m, Ask))
        assert isinstance(m, Ask)
        for b in every(bool):
            found = self.box[b]
            if not isinstance(found, Tell):
                continue
            self.box[b] = replace(found, m=m.n)
            found = Off()
            assert isinstance(found, Off)
        self.got = m.more()

    @process
    def taker(self) -> Steps[Self]:
        while True:
            m = any_of(self.sent)
            assert isinstance(m, Ask)
            self.sent.discard(m)
            self = yield
            self.last = m.more()
            self = yield

    def level(self, m: Message) -> int:
        """A number of any message."""
        if isinstance(m, Off):
            return 0
        if isinstance(m, Ask):
            return m.more().n
        return m.turned().m

    @invariant
    def within(self) -> bool:
        later = [m.more() for m in self.sent if isinstance(m, Ask)]
        return (
            all(m.n <= 2 for m in later)
            and all(not isinstance(m, Tell) or m.turned().m <= 2 for m in self.box.values())
            and self.level(self.last) <= 2
            and (self.last.more().n <= 2 if isinstance(self.last, Ask) else True)
        )
