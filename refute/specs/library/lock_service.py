"""A lock service: one server that has a lock, and clients that ask for it, for any number of them.

Source: the lock server of Verdi (J. Wilcox et al.: "Verdi: A Framework for Implementing and
Formally Verifying Distributed Systems", PLDI 2015) as the benchmarks of mypyvy have it
(github.com/wilcoxjay/mypyvy, examples/lockserv.pyv). Messages are sets, so that they may overtake
each other, and a client has at most one of a kind on its way.
"""

from __future__ import annotations

from refute.machine import (
    Machine,
    Set,
    Sort,
    Var,
    action,
    empty_set,
    invariant,
    reachable,
    var,
    when,
)


class Client(Sort):
    """Who asks for the lock."""


class LockService(Machine):
    """Requests, grants and releases on their way; who thinks that it has the lock."""

    free: Var[bool] = var(True)
    requests: Var[Set[Client]] = var(empty_set)
    grants: Var[Set[Client]] = var(empty_set)
    releases: Var[Set[Client]] = var(empty_set)
    holding: Var[Set[Client]] = var(empty_set)

    @action
    def ask(self, c: Client) -> None:
        """A client sends a request; nothing keeps it from asking twice."""
        self.requests.add(c)

    @action
    def grant(self, c: Client) -> None:
        """The server, which has the lock, gives it to one that asked."""
        when(self.free and c in self.requests)
        self.free = False
        self.requests.discard(c)
        self.grants.add(c)

    @action
    def acquire(self, c: Client) -> None:
        """The lock arrives."""
        when(c in self.grants)
        self.grants.discard(c)
        self.holding.add(c)

    @action
    def release(self, c: Client) -> None:
        """A client sends it back."""
        when(c in self.holding)
        self.holding.discard(c)
        self.releases.add(c)

    @action
    def take_back(self, c: Client) -> None:
        """The server has the lock again."""
        when(c in self.releases)
        self.releases.discard(c)
        self.free = True

    @invariant
    def exclusive(self, c: Client, d: Client) -> bool:
        """No two clients hold the lock."""
        return c == d or c not in self.holding or d not in self.holding

    @reachable
    def passed_on(self) -> bool:
        """One holds the lock while all others ask for it."""
        inside = any(c in self.holding for c in Client)
        return inside and all(c in self.holding or c in self.requests for c in Client)

    @reachable
    def returning(self) -> bool:
        """The lock is on its way back to the server, and asked for again by who sent it."""
        return any(c in self.releases and c in self.requests for c in Client)
