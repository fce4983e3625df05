"""Channels: variables that steps send to and receive from.

`data: Var[Channel[Packet]] = channel(capacity=2)` is a queue that blocks when it is full. A step
that cannot send or receive is not enabled, as with a false `when`. What a channel holds is an
ordinary value for engines, a sequence or a bag; without room (`capacity=0`) it holds nothing, and a
send is one step with its receive.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar, overload

from refute.frozen import frozen
from refute.specs.machine.containers import Bag, Map, Seq, Set
from refute.specs.machine.errors import Disabled
from refute.specs.machine.handover import Meeting
from refute.specs.machine.language import Store, Var, any_of, meeting_here

T = TypeVar("T")

LOSE = "lose"  # the step that a lossy channel has of its own


@frozen
class Kind:
    """How a channel behaves. capacity: a number, or arithmetic over constants in a string."""

    capacity: int | str | None = None
    lossy: bool = False
    duplicating: bool = False
    reordering: bool = False


@frozen
class Ends:
    """Where a live channel lies. name: of the variable in its machine; room: None is any number.

    empty: what the variable holds where no messages are kept, as a rendezvous has no state. admit:
    raises OutOfRange for what is no message.
    """

    name: str
    keys: tuple[Any, ...]
    room: int | None
    empty: Any
    admit: Callable[[Any], None]
    kind: Kind = Kind()
    put: Callable[[Any], None] = lambda value: None


class Channel(Generic[T]):
    """Messages on their way. `send` and `receive` are statements; reading it is for predicates."""

    def __init__(self, held: Any, ends: Ends) -> None:
        self._held = held
        self._ends = ends

    def send(self, message: T) -> None:
        """Put a message in; not enabled while there is no room."""
        ends = self._ends
        if ends.room == 0:
            ends.admit(message)
            self._meeting().send((ends.name, ends.keys), message)
            return
        if ends.room is not None and len(self) >= ends.room:
            raise Disabled
        if isinstance(self._held, Bag):
            ends.put(Bag.of({**self._held._counts, message: self._held.count(message) + 1}))
        else:
            ends.put((*self._held, message))

    def receive(self) -> T:
        """Take the first message out, of a reordering channel any; not enabled without one."""
        ends = self._ends
        if ends.room == 0:
            met: T = self._meeting().receive((ends.name, ends.keys))
            return met
        if not len(self):
            raise Disabled
        message: T = any_of(self._held.distinct()) if ends.kind.reordering else self._held[0]
        if not (ends.kind.duplicating and any_of((False, True))):
            self._without(0, message)
        return message

    def _meeting(self) -> Meeting:
        found = meeting_here()
        if found is None:
            raise Disabled
        return found

    def _without(self, at: int, message: T) -> None:
        if isinstance(self._held, Bag):
            fewer = self._held.count(message) - 1
            self._ends.put(Bag.of({**self._held._counts, message: fewer}))
        else:
            self._ends.put((*self._held[:at], *self._held[at + 1 :]))

    def _lose(self) -> None:
        """The step of a lossy channel: any message is gone."""
        if isinstance(self._held, Bag):
            self._without(0, any_of(self._held.distinct()))
        else:
            at = any_of(range(len(self._held)))
            self._without(at, self._held[at])

    def count(self, message: T) -> int:
        """How often a message is in the channel."""
        return int(self._held.count(message))

    def distinct(self) -> Set[T]:
        """The different messages."""
        return Set(self._held.distinct() if isinstance(self._held, Bag) else self._held)

    def __len__(self) -> int:
        return self._held.total() if isinstance(self._held, Bag) else len(self._held)

    def __contains__(self, message: object) -> bool:
        return message in self._held

    def __iter__(self) -> Iterator[T]:
        """The messages, the first one first; of a reordering channel each different one once."""
        return iter(self._held.distinct() if isinstance(self._held, Bag) else self._held)

    @overload
    def __getitem__(self, at: int) -> T: ...

    @overload
    def __getitem__(self, at: slice) -> Seq[T]: ...

    def __getitem__(self, at: int | slice) -> T | Seq[T]:
        found: T | Seq[T] = self._held[at]
        return found

    def __eq__(self, other: object) -> bool:
        return bool(self._held == (other._held if isinstance(other, Channel) else other))

    def __hash__(self) -> int:
        return hash(self._held)


class ChannelVar(Var[Any]):
    """A variable that holds a channel, or a Map of channels."""

    def __init__(self, kind: Kind, initial: Any) -> None:
        super().__init__(each=initial)
        self.kind = kind

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        store: Store = instance
        ends: Ends = store._ends(self.name)
        kept = self.name in store._state
        held = store._state[self.name] if kept else ends.empty
        return self._inside(held, ends, lambda new: self._write(store, new))

    def _inside(self, held: Any, ends: Ends, put: Callable[[Any], None]) -> Any:
        """The channel at a place, or the channels of a Map there."""
        if not isinstance(held, Map):
            return Channel(held, dataclasses.replace(ends, kind=self.kind, put=put))

        def entry(key: Any) -> Any:
            here = dataclasses.replace(ends, keys=(*ends.keys, key))
            return self._inside(
                held._entries[key], here, lambda new: put(Map({**held._entries, key: new}))
            )

        return Map({key: entry(key) for key in held})


def channel(
    *,
    capacity: int | str | None = None,
    lossy: bool = False,
    duplicating: bool = False,
    reordering: bool = False,
    initial: Any = (),
) -> Any:
    """A channel, or a Map of channels of this kind.

    capacity: how many messages fit, a number or arithmetic over constants in a string; a send
    waits for room. 0 is a rendezvous: a send is one step with its receive. None is any number.
    lossy: any message may be lost, in a step of the channel's own. duplicating: a message that is
    received may stay, and be received again. reordering: any message may be received first.
    initial: messages to start with, or a function of the key.
    """
    return ChannelVar(Kind(capacity, lossy, duplicating, reordering), initial)
