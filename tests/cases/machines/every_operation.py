"""Every operation of the IR, on values of every kind, in predicates of one machine."""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace
from typing import Annotated

from refute.machine import (
    Bag,
    Machine,
    Map,
    OrderedSort,
    Range,
    Seq,
    Set,
    Sort,
    Upto,
    Var,
    action,
    choose,
    every,
    invariant,
    reachable,
    subsets,
    var,
)


class A(Sort, size=2):
    pass


class N(OrderedSort, size=3):
    pass


class C(enum.Enum):
    X = 1
    Y = 2
    Z = 3


Small = Annotated[int, Range(-2, 3)]


@dataclass(frozen=True)
class R:
    a: A
    c: C


@dataclass(frozen=True)
class B:
    n: int
    on: bool


class Every(Machine):
    i: Var[int] = var(0)
    j: Var[int] = var(1)
    s: Var[Small] = var(1)
    u: Var[Small] = var(2)
    on: Var[bool] = var(True)
    n: Var[N] = var(one_of=N)
    a: Var[A] = var(one_of=A)
    o: Var[N | None] = var(None)
    c: Var[C] = var(C.X)
    r: Var[R | B | None] = var(None)
    p: Var[tuple[A, Small]] = var((A(0), 1))
    q: Var[Seq[int]] = var(Seq())
    w: Var[Annotated[Seq[Small], Upto(3)]] = var(Seq([1]))
    m: Var[Map[C, Small]] = var(each=0)
    e: Var[Map[A, Seq[C]]] = var(each=Seq())
    k: Var[Map[tuple[A, C], bool]] = var(each=False)
    t: Var[Set[C]] = var(Set())
    v: Var[Set[int]] = var(Set())
    x: Var[Set[tuple[A, Small]]] = var(Set())
    y: Var[Set[Set[A]]] = var(Set())
    b: Var[Bag[C]] = var(Bag())
    g: Var[Annotated[Bag[A], Upto(2)]] = var(Bag())

    def halves(self, number: int) -> int:
        found, left = 0, number
        while left > 0:
            left = left // 2
            found = found + 1
        return found

    def down(self, number: int) -> int:
        return 0 if number <= 0 else number + self.down(number - 1)

    def last(self) -> int:
        found = -1
        for item in self.q:
            if item > found:
                found = item
        return found

    @action
    def add(self) -> None:
        self.b.add(self.c)
        self.g.add(self.a)

    @action
    def less(self) -> None:
        self.b.discard(self.c)

    @action
    def taken(self) -> None:
        self.b.remove(self.c)

    @action
    def given(self) -> None:
        self.x.remove(self.p)

    @action
    def gone(self) -> None:
        self.q.pop(self.s)

    @action
    def gone_too(self) -> None:
        self.w.pop()

    @invariant
    def quotients(self) -> bool:
        return self.i // self.j == self.j // self.s and self.s // self.u == self.i // 3

    @invariant
    def remainders(self) -> bool:
        return self.i % self.j == self.j % self.s or self.s % self.u == self.i % -3

    @invariant
    def products(self) -> bool:
        return self.i * self.s - self.u * self.s + 2 * self.j >= -self.i and -self.s <= abs(self.i)

    @invariant
    def bits(self) -> bool:
        return (self.s & self.u) | 5 != (self.s ^ self.u) or ~self.s == abs(self.u)

    @invariant
    def orders(self) -> bool:
        return max(self.i, self.s, self.j) > min(self.i, self.u) >= max(self.p[1], 0)

    @invariant
    def of_sorts(self, other: N) -> bool:
        return self.n < other or self.n.next == self.o or self.n.index + 1 == self.s

    @invariant
    def ends(self) -> bool:
        return max(n for n in N if n.index <= self.s) <= self.n or min(self.v) > max(self.w)

    @invariant
    def only_there(self) -> bool:
        return self.o is not None and self.o < self.n

    @invariant
    def of_fields(self) -> bool:
        if isinstance(self.r, R):
            return self.r.a == self.a
        return self.r is None or self.r.on == self.on or replace(self.r, n=3).n == self.i

    @invariant
    def entries(self) -> bool:
        return self.q[self.s] == self.w[self.u] or self.w[self.i] == self.m[self.c]

    @invariant
    def slices(self) -> bool:
        ends = self.q[self.s :] == self.q[: self.u] or self.w[self.i : self.j] != self.w[-2:]
        return ends and self.q[1:2] + self.w == self.w + self.q

    @invariant
    def of_maps(self) -> bool:
        turned = Map({c: self.m[c] + 1 for c in C})
        shown = {C.X: self.s, C.Y: self.u, C.Z: 0}
        return turned == shown or sum(self.m.values()) == len(self.e[self.a]) or shown[self.c] == 1

    @invariant
    def of_pairs(self) -> bool:
        return any(self.k[a, c] and self.c == c for a, c in self.k) or (self.a, self.c) in self.k

    @invariant
    def of_items(self) -> bool:
        return all(n < 2 or c == self.c for c, n in self.m.items()) or self.s in self.m.values()

    @invariant
    def of_sets(self) -> bool:
        more = self.t | Set([self.c])
        return (more - self.t).issubset(self.t & more) or more.isdisjoint(self.t ^ Set([C.X]))

    @invariant
    def of_numbers(self) -> bool:
        held = Set([self.i, self.j, self.s]) | self.v
        return len(held) == len(self.v) + 2 or sum(held) == sum(self.q) or self.i in self.v

    @invariant
    def sorted_ones(self) -> bool:
        return sorted(self.q) == sorted(self.v) or sorted(self.w)[0] == self.s

    @invariant
    def listed(self) -> bool:
        found = [n for n in self.w if n > self.u]
        return len(found) > 1 or list(self.t) == [self.c] or found == [n for n in self.v if n > 0]

    @invariant
    def chosen(self) -> bool:
        return choose(x for x in self.x if x[1] > self.s) == self.p or self.p in self.x

    @invariant
    def of_set_of_sets(self) -> bool:
        return any(some in self.y for some in subsets(Set([self.a]))) or max(map(len, self.y)) > 1

    @invariant
    def ranges(self) -> bool:
        inside = self.i in range(self.s, self.j) or self.j in range(self.i, self.u, -2)
        return inside or sum(range(self.s)) == self.u or any(n * n == self.i for n in range(4))

    @invariant
    def every_pair(self) -> bool:
        return all(pair[0] == self.a or pair[1] < 3 for pair in every(tuple[A, Small]))

    @invariant
    def folds(self) -> bool:
        return self.last() > self.i or self.halves(self.s) == self.down(self.u)

    @invariant
    def of_bags(self) -> bool:
        return self.b.count(self.c) > self.g.total() or len(self.b.distinct()) == self.g.count(
            self.a
        )

    @invariant
    def asserted(self) -> bool:
        assert self.s < 3
        return self.on or self.halves(self.s) > 1

    @reachable
    def moved(self) -> bool:
        return self.i in self.q
