"""A resource allocator with a schedule, after S. Merz's SchedulingAllocator.tla.

Source: tlaplus/Examples, specifications/allocator/SchedulingAllocator.tla and SimpleAllocator.tla.
Clients ask for sets of resources and may get them in parts. The simple allocator gives whatever is
there; the scheduling one keeps a queue of clients, so that each of them will be served. That
repository's manifest gives, for three clients and two resources, 400 distinct states and 1633
generated (simple), 1690 and 5854 (scheduling, AllocatorRefinement).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from refute.machine import (
    Formula,
    Machine,
    Map,
    Seq,
    Set,
    Sort,
    Upto,
    Var,
    action,
    any_of,
    empty_set,
    fair,
    infinitely_often,
    invariant,
    leads_to,
    permutations,
    refines,
    subsets,
    temporal,
    var,
    when,
)


class Client(Sort, size=3):
    """Who asks."""


class Resource(Sort, size=2):
    """What is asked for; each can be held by one client."""


class SimpleAllocator(Machine):
    """Gives what is asked for and there."""

    unsat: Var[Map[Client, Set[Resource]]] = var(each=empty_set)
    alloc: Var[Map[Client, Set[Resource]]] = var(each=empty_set)

    def available(self, r: Resource) -> bool:
        """Whether nobody holds r."""
        return all(r not in held for held in self.alloc.values())

    def grantable(self, c: Client, s: Set[Resource]) -> bool:
        """Whether c waits for all of s, and all of it is there."""
        return len(s) > 0 and s <= self.unsat[c] and all(self.available(r) for r in s)

    @action
    def request(self, c: Client, s: Set[Resource]) -> None:
        """A client that holds and awaits nothing asks for resources."""
        when(len(self.unsat[c]) == 0 and len(self.alloc[c]) == 0 and len(s) > 0)
        self.unsat[c] = s

    @action(fair="strong")
    def allocate(self, c: Client) -> None:
        """Some of what a client awaits is given to it."""
        s = any_of(s for s in subsets(self.unsat[c]) if self.grantable(c, s))
        self.alloc[c] = self.alloc[c] | s
        self.unsat[c] = self.unsat[c] - s

    @action
    def give_back(self, c: Client, s: Set[Resource]) -> None:
        """A client returns some of what it holds."""
        when(len(s) > 0 and s <= self.alloc[c])
        self.alloc[c] = self.alloc[c] - s

    @fair("weak")
    def client_returns(self, after: SimpleAllocator, c: Client) -> bool:
        """WF of Return(c, alloc[c]): a client returns all that it holds."""
        return len(self.alloc[c]) > 0 and len(after.alloc[c]) == 0

    @temporal
    def clients_will_return(self, c: Client) -> Formula:
        """Who has got all it asked for returns it."""
        return leads_to(lambda: len(self.unsat[c]) == 0, lambda: len(self.alloc[c]) == 0)

    @temporal
    def clients_will_obtain(self, c: Client, r: Resource) -> Formula:
        """What is asked for is given."""
        return leads_to(lambda: r in self.unsat[c], lambda: r in self.alloc[c])

    @temporal
    def often_satisfied(self, c: Client) -> Formula:
        """Everybody has all it asked for again and again."""
        return infinitely_often(lambda: len(self.unsat[c]) == 0)

    @invariant
    def resource_mutex(self, c: Client, d: Client) -> bool:
        """No two clients hold the same resource."""
        return c == d or self.alloc[c].isdisjoint(self.alloc[d])


class SchedulingAllocator(Machine):
    """As the simple one, in the order of a schedule where clients want the same."""

    unsat: Var[Map[Client, Set[Resource]]] = var(each=empty_set)
    alloc: Var[Map[Client, Set[Resource]]] = var(each=empty_set)
    sched: Var[Annotated[Seq[Client], Upto("Client")]] = var(())

    def available(self, r: Resource) -> bool:
        """Whether nobody holds r."""
        return all(r not in held for held in self.alloc.values())

    def grantable(self, c: Client, s: Set[Resource]) -> bool:
        """Whether c waits for all of s, and all of it is there."""
        return len(s) > 0 and s <= self.unsat[c] and all(self.available(r) for r in s)

    def to_schedule(self) -> Set[Client]:
        """Clients that wait and are not scheduled."""
        return Set(c for c in Client if len(self.unsat[c]) > 0 and c not in self.sched)

    @action
    def request(self, c: Client, s: Set[Resource]) -> None:
        """A client that holds and awaits nothing asks for resources."""
        when(len(self.unsat[c]) == 0 and len(self.alloc[c]) == 0 and len(s) > 0)
        self.unsat[c] = s

    @action(fair="weak")
    def allocate(self, c: Client) -> None:
        """A scheduled client gets some of what it awaits, if nobody before it wants that."""
        s = any_of(s for s in subsets(self.unsat[c]) if self.grantable(c, s))
        i = any_of([i for i in range(len(self.sched)) if self.sched[i] == c])
        when(all(self.unsat[d].isdisjoint(s) for d in self.sched[:i]))
        if s == self.unsat[c]:
            self.sched = self.sched[:i] + self.sched[i + 1 :]
        self.alloc[c] = self.alloc[c] | s
        self.unsat[c] = self.unsat[c] - s

    @action
    def give_back(self, c: Client, s: Set[Resource]) -> None:
        """A client returns some of what it holds."""
        when(len(s) > 0 and s <= self.alloc[c])
        self.alloc[c] = self.alloc[c] - s

    @action(fair="weak")
    def schedule(self) -> None:
        """All waiting clients are appended, in some order."""
        waiting = self.to_schedule()
        when(len(waiting) > 0)
        order = any_of(permutations(waiting))
        self.sched = self.sched + order

    @fair("weak")
    def client_returns(self, after: SchedulingAllocator, c: Client) -> bool:
        """WF of Return(c, alloc[c]) where c awaits nothing."""
        return len(self.unsat[c]) == 0 and len(self.alloc[c]) > 0 and len(after.alloc[c]) == 0

    @temporal
    def clients_will_return(self, c: Client) -> Formula:
        """Who has got all it asked for returns it."""
        return leads_to(lambda: len(self.unsat[c]) == 0, lambda: len(self.alloc[c]) == 0)

    @temporal
    def clients_will_obtain(self, c: Client, r: Resource) -> Formula:
        """What is asked for is given."""
        return leads_to(lambda: r in self.unsat[c], lambda: r in self.alloc[c])

    @temporal
    def often_satisfied(self, c: Client) -> Formula:
        """Everybody has all it asked for again and again."""
        return infinitely_often(lambda: len(self.unsat[c]) == 0)

    @refines(SimpleAllocator)
    def simply(self) -> Mapping[str, object]:
        """It is a simple allocator, fairness included (AllocatorRefinement)."""
        return {"unsat": self.unsat, "alloc": self.alloc}

    @invariant
    def resource_mutex(self, c: Client, d: Client) -> bool:
        """No two clients hold the same resource."""
        return c == d or self.alloc[c].isdisjoint(self.alloc[d])
