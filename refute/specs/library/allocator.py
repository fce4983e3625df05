"""A resource allocator with a schedule, after S. Merz's SchedulingAllocator.tla.

Source: tlaplus/Examples, specifications/allocator/SchedulingAllocator.tla and SimpleAllocator.tla.
Clients ask for sets of resources and may get them in parts. The simple allocator gives whatever is
there; the scheduling one keeps a queue of clients, so that each of them will be served. That
repository's manifest gives, for three clients and two resources, 400 distinct states and 1633
generated (simple), 1690 and 5854 (scheduling, AllocatorRefinement).
"""

from __future__ import annotations

from typing import Annotated

from refute.machine import (
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
    invariant,
    permutations,
    subsets,
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

    @action
    def allocate(self, c: Client, s: Set[Resource]) -> None:
        """Some of what a client awaits is given to it."""
        when(self.grantable(c, s))
        self.alloc[c] = self.alloc[c] | s
        self.unsat[c] = self.unsat[c] - s

    @action
    def give_back(self, c: Client, s: Set[Resource]) -> None:
        """A client returns some of what it holds."""
        when(len(s) > 0 and s <= self.alloc[c])
        self.alloc[c] = self.alloc[c] - s

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

    @action
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

    @action
    def schedule(self) -> None:
        """All waiting clients are appended, in some order."""
        waiting = self.to_schedule()
        when(len(waiting) > 0)
        order = any_of(permutations(waiting))
        self.sched = self.sched + order

    @invariant
    def resource_mutex(self, c: Client, d: Client) -> bool:
        """No two clients hold the same resource."""
        return c == d or self.alloc[c].isdisjoint(self.alloc[d])
