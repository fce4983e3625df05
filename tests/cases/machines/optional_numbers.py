"""A number or None, wherever a number is read."""

from __future__ import annotations

from typing import Annotated

from refute.machine import Machine, Map, Range, Seq, Upto, Var, action, any_of, invariant, var, when

N = Annotated[int, Range(0, 3)]


class OptionalNumbers(Machine):
    """Each action reads it in a way of its own."""

    turned: Var[bool] = var(False)
    x: Var[N | None] = var(one_of=[None, 0, 1, 2, 3])
    y: Var[N] = var(0)
    q: Var[Annotated[Seq[N], Upto(4)]] = var((3, 2, 1, 0))
    m: Var[Map[N, bool]] = var(each=False)

    @action
    def a(self) -> None:
        x = self.x
        self.y = any_of(range(0 if x is None else x, 4))

    @action
    def b(self) -> None:
        x = self.x
        self.y = self.q[0 if x is None else x]

    @action
    def c(self) -> None:
        x = self.x
        when(x is not None)
        assert x is not None
        self.y = sum(self.q[x:]) % 4
        self.m[x] = not self.m[x]

    @action
    def d(self) -> None:
        x = self.x
        self.y = min(3 if x is None else x, self.y)
        self.turned = not self.turned
        self.y = abs(3 if x is None else x)

    @action
    def e(self) -> None:
        x = self.x
        y, _ = divmod(3 if x is None else x, 2)
        self.y = y
        self.q[0 if x is None else x] = 3 if x is None else 3 - x

    @action
    def f(self) -> None:
        if self.x is not None:
            self.y = max(self.x, self.y)
            self.m[self.x] = True
            self.y = 2 if self.m[self.x] else self.x

    @action
    def g(self) -> None:
        x = self.x
        self.y = max([0, 1 if x is None else x])
        self.y = len([i for i in range(4) if x is not None and i < x])
        self.y = len(self.q[: 1 if x is None else x])

    @invariant
    def filtered(self) -> bool:
        found = [n for n in (self.x, None, self.y) if n is not None and n < 4]
        return max(found) <= sum(found) and min(n for n in found if n is not None) >= 0

    @invariant
    def p(self) -> bool:
        return self.x is None or self.q[self.x] == 3 - self.x
