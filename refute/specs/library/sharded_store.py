"""A key-value store whose keys move between nodes: each has at most one owner, for any sizes.

Source: `sharded_kv` of the mypyvy benchmarks (github.com/wilcoxjay/mypyvy,
examples/sharded-kv.pyv), after the key-value store of IronFleet (C. Hawblitzel et al.: "IronFleet:
Proving Practical Distributed Systems Correct", SOSP 2015). Who owns a key may write it, or send it,
with its value, to another node, which owns it when the message arrives.
"""

from __future__ import annotations

from refute.machine import (
    Machine,
    Map,
    Set,
    Sort,
    Var,
    action,
    anything,
    empty_set,
    initial,
    invariant,
    reachable,
    terminal,
    var,
    when,
)


class Node(Sort):
    """A server."""


class Key(Sort):
    """What values are stored under."""


class Value(Sort):
    """What is stored."""


class ShardedStore(Machine):
    """table: what each node stores; moving: what is on its way to it; owners: of each key."""

    table: Var[Map[Node, Map[Key, Set[Value]]]] = var(each=empty_set)
    moving: Var[Map[Node, Map[Key, Set[Value]]]] = var(each=empty_set)
    owners: Var[Map[Key, Set[Node]]] = var(one_of=anything)

    @initial
    def at_most_one_owner(self) -> bool:
        """No key has two owners at first."""
        return all(
            n == m or n not in self.owners[k] or m not in self.owners[k]
            for k in Key
            for n in Node
            for m in Node
        )

    @action
    def put(self, n: Node, k: Key, v: Value) -> None:
        """The owner of a key writes it."""
        when(n in self.owners[k])
        self.table[n][k] = Set([v])

    @action
    def move(self, n: Node, to: Node, k: Key, v: Value) -> None:
        """A key goes to another node, with its value."""
        when(v in self.table[n][k])
        self.table[n][k].discard(v)
        self.owners[k].discard(n)
        self.moving[to][k].add(v)

    @action
    def arrive(self, n: Node, k: Key, v: Value) -> None:
        """The key is there."""
        when(v in self.moving[n][k])
        self.moving[n][k].discard(v)
        self.table[n][k].add(v)
        self.owners[k].add(n)

    @invariant
    def one_owner(self, n: Node, m: Node, k: Key) -> bool:
        """No two nodes own a key."""
        return n == m or n not in self.owners[k] or m not in self.owners[k]

    @invariant
    def one_value(self, n: Node, m: Node, k: Key, v: Value, w: Value) -> bool:
        """A key has one value, at one node."""
        stored = v in self.table[n][k] and w in self.table[m][k]
        return not stored or (n == m and v == w)

    @terminal
    def forsaken(self) -> bool:
        """Nobody owns a key, from the start on."""
        return all(not self.owners[k] for k in Key)

    @reachable
    def moved(self) -> bool:
        """A value is on its way."""
        return any(self.moving[n][k] for n in Node for k in Key)

    @reachable
    def all_written(self) -> bool:
        """Every key has a value."""
        return all(any(self.table[n][k] for n in Node) for k in Key)
