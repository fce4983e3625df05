"""Nodes in a ring of any size: positions in a line, whose last one is followed by the first.

What lies between two nodes on the way around is said by the order of the line alone, as the Ivy
benchmarks say it by a ternary relation (O. Padon, K. McMillan, A. Panda, M. Sagiv, S. Shoham: "Ivy:
Safety Verification by Interactive Generalization", PLDI 2016); so it is for every number of nodes.
"""

from __future__ import annotations

from refute.machine import OrderedSort


class Node(OrderedSort):
    """A place in the ring."""


def between(a: Node, b: Node, c: Node) -> bool:
    """Whether the way around from a comes to b before it comes to c; all three differ."""
    return (a < b and b < c) or (b < c and c < a) or (c < a and a < b)


def follows(a: Node, b: Node) -> bool:
    """Whether b is the node after a: nothing is between; a node alone follows itself."""
    apart = a != b or all(k == a for k in Node)
    return apart and not any(between(a, k, b) for k in Node)
