"""A rendezvous as it happens on the real class: one message from hand to hand."""

from __future__ import annotations

from typing import Any

from refute.specs.machine.errors import Disabled


class Meeting:
    """Two steps, one after the other: the first one sends, the second one receives."""

    def __init__(self) -> None:
        self.left: list[Any] = []
        self.sending = True

    def send(self, channel: Any, message: Any) -> None:
        """Leave a message for the other step. Raises Disabled where that is not expected."""
        if not self.sending or self.left:
            raise Disabled
        self.left += [channel, message]

    def receive(self, channel: Any) -> Any:
        """Take it, from the same channel. Raises Disabled where that is not expected."""
        if self.sending or self.left[0] != channel or len(self.left) != 2:
            raise Disabled
        return self.left.pop()

    def turn(self) -> None:
        """The sending step is over. Raises Disabled if it has sent nothing."""
        if not self.left:
            raise Disabled
        self.sending = False

    def end(self) -> None:
        """Both are over. Raises Disabled if the message was not received."""
        if len(self.left) != 1:
            raise Disabled
