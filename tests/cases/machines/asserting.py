"""A helper that asserts what type checkers cannot know, and one that asserts too much."""

from __future__ import annotations

from typing import Annotated

from refute.machine import Machine, Map, Range, Sort, Var, action, invariant, var, when


class Node(Sort, size=3):
    """Nodes of a list."""


class Linked(Machine):
    """Nodes are put at the end of a list; the helper follows it, and knows that there is a next."""

    after: Var[Map[Node, Node | None]] = var(each=None)
    length: Var[Annotated[int, Range(0, 2)]] = var(0)

    def following(self, n: Node) -> Node:
        found = self.after[n]
        assert found is not None, "the end"
        return found

    def end(self) -> Node:
        at = Node(0)
        for _ in range(self.length):
            at = self.following(at)
        return at

    @action
    def append(self, n: Node) -> None:
        when(n != Node(0) and all(m != n for m in self.after.values()))
        self.after[self.end()] = n
        self.length += 1

    @action
    def full(self) -> None:
        when(self.length == 2)

    @invariant
    def ends(self) -> bool:
        return self.after[self.end()] is None


class Eager(Linked):
    """The same, and a step that looks behind the end."""

    @action
    def look(self) -> None:
        when(self.length > 0)
        n = self.following(self.end())
        self.after[n] = None
