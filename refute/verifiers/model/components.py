"""Strongly connected components, without recursion (R. Tarjan, 1972)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator


def components(
    nodes: Iterable[int], following: Callable[[int], Iterator[int]]
) -> Iterator[list[int]]:
    """The strongly connected components of a graph. following: the nodes behind a node."""
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    open_nodes: list[int] = []
    is_open: set[int] = set()
    for root in nodes:
        if root in index:
            continue
        work = [(root, following(root))]
        index[root] = low[root] = len(index)
        open_nodes.append(root)
        is_open.add(root)
        while work:
            at, rest = work[-1]
            for behind in rest:
                if behind not in index:
                    index[behind] = low[behind] = len(index)
                    open_nodes.append(behind)
                    is_open.add(behind)
                    work.append((behind, following(behind)))
                    break
                if behind in is_open:
                    low[at] = min(low[at], index[behind])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[at])
                if low[at] == index[at]:
                    found: list[int] = []
                    while not found or found[-1] != at:
                        found.append(open_nodes.pop())
                    is_open.difference_update(found)
                    yield found
