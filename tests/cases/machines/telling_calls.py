"""What a helper compares depends on its call, and its functions have names of their own."""

from __future__ import annotations

from typing import Annotated, Literal

from refute.machine import Machine, Map, Range, Var, action, invariant, reachable, var, when

Node = Literal["root", "left", "right"]
NEXT: dict[Node, Node] = {"root": "left", "left": "right", "right": "left"}
NODES: tuple[Node, ...] = ("root", "left", "right")


class TellingCalls(Machine):
    """A walk through a graph whose first node nothing leads to."""

    on: Var[Map[Node, bool]] = var(each=lambda n: n == "root")
    n: Var[Annotated[int, Range(0, 3)]] = var(0)

    turns: Var[Annotated[int, Range(0, 15)]] = var(0)

    def is_root(self, node: Node) -> bool:
        return node == "root"

    def before(self, node: Node) -> list[Node]:
        return [n for n in NODES if NEXT[n] == node]

    def same(self, x: int, y: Node) -> bool:
        return NEXT[NODES[x]] != y

    def longest(self, most: int) -> int:
        n = most

        def room(k: int) -> int:
            n = k + 1
            return sum(n for n in [n, k]) - max(k for k in [n])

        found = room(n)
        n = 2
        return found + room(n)

    @action
    def step(self, node: Node) -> None:
        when(self.on[node])
        match node:
            case "root" | "left":
                self.n = len(self.before(NEXT[node]))
            case _:
                when(False)
        self.on[NEXT[node]] = True
        self.turns = (self.turns + 1) % 16

    @invariant
    def rooted(self) -> bool:
        return self.is_root("root") and not self.is_root("left") and not self.before("root")

    @invariant
    def reads(self) -> bool:
        return self.same(self.n, "root") and self.longest(self.n) == self.n + 2

    @invariant
    def raising(self) -> bool:
        return self.n < 2 or self.same(self.n + 1, "root")

    @reachable
    def goes(self) -> bool:
        return self.on["right"] and self.n == 2
