"""Fair cycles: a run that satisfies a formula and every fairness condition, as a lasso.

The product of the state graph with the formula's automaton is searched for a strongly connected
set of nodes in which a run can go round for ever: it keeps every promise of the automaton; each
weak condition is disabled in some state of it or taken on an edge of it; each strong condition is
disabled in all of its states or taken. Where a strong one fails, the states that enable it are
removed and what is left is taken apart again (Emerson and Lei; Streett's condition). Every state
has an edge to itself, for others may move while the machine does not: TLA's stuttering.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from refute.frozen import frozen
from refute.verifiers.model.automaton import Automaton
from refute.verifiers.model.components import components

Goal = tuple[str, int]  # "at", "kept", "weak" or "strong", and a pair's number or one bit
Way = list[tuple[int, int]]  # pairs, each with the conditions taken on the edge to it


@frozen
class StateGraph:
    """edges: (state, conditions taken) for each state; the rest as in `fairness.Graph`."""

    edges: Sequence[Sequence[tuple[int, int]]]
    enabled: Sequence[int]
    starts: Sequence[int]
    weak: int
    strong: int


@frozen
class Lasso:
    """States from a start; from place `loop` on they are repeated, and the last is that one again.

    When `loop` is the last place, the machine stays there for ever.
    """

    states: tuple[int, ...]
    loop: int


class Product:
    """The part of graph times automaton that is reachable.

    truth: the predicates true in a state. shunned: conditions not to be taken in the cycle.
    """

    def __init__(
        self,
        graph: StateGraph,
        automaton: Automaton,
        truth: Callable[[int], int],
        shunned: int = 0,
    ) -> None:
        self.graph = graph
        self.automaton = automaton
        self.truth = truth
        self.shunned = shunned
        self.states: list[int] = []
        self.nodes: list[int] = []
        self.parents: list[int] = []
        self.next: list[list[tuple[int, int]]] = []
        self._numbers: dict[tuple[int, int], int] = {}
        for state in graph.starts:
            for node in automaton.initial:
                self._meet(state, node, -1)
        while len(self.next) < len(self.states):
            self._expand(len(self.next))

    def _meet(self, state: int, node: int, parent: int) -> int:
        """The number of a pair; -1 where the state does not fit the node."""
        known = self._numbers.get((state, node))
        if known is not None:
            return known
        if not self.automaton.nodes[node].fits(self.truth(state)):
            return -1
        self._numbers[state, node] = len(self.states)
        self.states.append(state)
        self.nodes.append(node)
        self.parents.append(parent)
        return len(self.states) - 1

    def _expand(self, at: int) -> None:
        state, found = self.states[at], []
        for after, taken in ((state, 0), *self.graph.edges[state]):
            for node in self.automaton.next(self.nodes[at]):
                number = self._meet(after, node, at)
                if number >= 0:
                    found.append((number, taken))
        self.next.append(found)

    def enabled(self, at: int) -> int:
        """The conditions enabled in a pair's state."""
        return self.graph.enabled[self.states[at]]

    def lasso(self) -> Lasso | None:
        """A run that the automaton accepts and that is fair; None when there is none."""
        still = self._standing()
        if still is not None:
            path = self._states(self._prefix(still))
            return Lasso(tuple(path), len(path) - 1)
        fair = self._fair()
        return None if not fair else self._around(fair)

    def _all_promises(self) -> int:
        return (1 << len(self.automaton.promises)) - 1

    def _standing(self) -> int | None:
        """The first pair where the machine may stay for ever."""
        every, binding = self._all_promises(), self.graph.weak | self.graph.strong
        for at, node in enumerate(self.nodes):
            quiet = not self.enabled(at) & binding and self.automaton.nodes[node].kept == every
            if quiet and any(number == at for number, _ in self.next[at]):
                return at
        return None

    def _fair(self) -> list[int]:
        """The fair set of pairs that is nearest to a start; empty when there is none."""
        found: list[list[int]] = []
        queue = [list(range(len(self.states)))]
        while queue:
            among = queue.pop()
            for component in components(among, self._inside(set(among))):
                left = self._judged(component)
                if left is None:
                    found.append(component)
                elif left:
                    queue.append(left)
        return min(found, key=min, default=[])

    def _inside(self, allowed: set[int]) -> Callable[[int], Iterator[int]]:
        shunned = self.shunned
        return lambda at: (n for n, m in self.next[at] if n in allowed and not m & shunned)

    def _judged(self, component: list[int]) -> list[int] | None:
        """None if the set is fair; else what is left of it that may be."""
        inside = set(component)
        taken, kept, always, ever, moves = 0, 0, -1, 0, False
        for at in component:
            always &= self.enabled(at)
            ever |= self.enabled(at)
            kept |= self.automaton.nodes[self.nodes[at]].kept
            for number, mask in self.next[at]:
                if number in inside and not mask & self.shunned:
                    moves, taken = True, taken | mask
        if not moves or kept != self._all_promises() or self.graph.weak & always & ~taken:
            return []
        missing = self.graph.strong & ever & ~taken
        return [at for at in component if not self.enabled(at) & missing] if missing else None

    def _prefix(self, at: int) -> list[int]:
        path = [at]
        while self.parents[path[-1]] >= 0:
            path.append(self.parents[path[-1]])
        return path[::-1]

    def _states(self, path: list[int]) -> list[int]:
        return moved([self.states[at] for at in path])

    def _around(self, fair: list[int]) -> Lasso:
        """A way round in a fair set that shows all that makes it fair."""
        inside, entry = set(fair), min(fair)
        ever = 0
        for at in fair:
            ever |= self.enabled(at)
        goals = goals_of(self._all_promises(), self.graph.weak, self.graph.strong & ever)
        path = around(entry, goals, self._met, lambda at, left: self._nearest(at, inside, left))
        prefix = self._states(self._prefix(entry))
        return shortened([*prefix, *self._states(path)[1:]], len(prefix) - 1)

    def _met(self, goal: Goal, at: int, mask: int) -> bool:
        """Whether a pair, reached by an edge with these conditions taken, shows it."""
        return shows(goal, at, mask, self.enabled(at), self.automaton.nodes[self.nodes[at]].kept)

    def _nearest(self, start: int, inside: set[int], goals: Sequence[Goal]) -> Way:
        """The shortest way, of at least one edge, to what shows one of the goals."""
        ways: dict[int, list[tuple[int, int]]] = {start: []}
        queue = [start]
        for at in queue:
            for number, mask in self.next[at]:
                if number not in inside or mask & self.shunned:
                    continue
                if any(self._met(g, number, mask) for g in goals):
                    return [*ways[at], (number, mask)]
                if number not in ways:
                    ways[number] = [*ways[at], (number, mask)]
                    queue.append(number)
        raise AssertionError("a fair set is strongly connected")


def moved(states: Sequence[int]) -> list[int]:
    """The states of a path, without those where nothing moved."""
    return [s for i, s in enumerate(states) if i == 0 or states[i - 1] != s]


def goals_of(promises: int, weak: int, strong: int) -> list[Goal]:
    """What a way round must show: promises kept, weak conditions, strong ones enabled there."""
    wanted = {"kept": promises, "weak": weak, "strong": strong}
    return [(k, 1 << n) for k, m in wanted.items() for n in range(m.bit_length()) if m & 1 << n]


def shows(goal: Goal, at: int, mask: int, enabled: int, kept: int) -> bool:
    """Whether a pair shows a goal. mask: the conditions taken on the edge to it."""
    match goal:
        case ("at", wanted):
            return at == wanted
        case ("kept", bit):
            return bool(kept & bit)
        case ("weak", bit):
            return bool(mask & bit) or not enabled & bit
    return bool(mask & goal[1])


def around(
    entry: int,
    goals: Sequence[Goal],
    met: Callable[[Goal, int, int], bool],
    nearest: Callable[[int, Sequence[Goal]], Way],
) -> list[int]:
    """The pairs of a way round that shows all goals, from entry to entry.

    nearest: the shortest way, of at least one edge, from a pair to what shows one of the goals.
    """
    path = [entry]
    left = [g for g in goals if not met(g, entry, 0)]
    while left:
        way = nearest(path[-1], left)
        for at, mask in way:
            left = [g for g in left if not met(g, at, mask)]
        path += [at for at, _ in way]
    if len(path) == 1 or path[-1] != entry:
        path += [at for at, _ in nearest(path[-1], [("at", entry)])]
    return path


def shortened(states: list[int], loop: int) -> Lasso:
    """The same behaviour with its cycle begun as early as possible."""
    while 0 < loop < len(states) - 1 and states[loop - 1] == states[-2]:
        states, loop = states[:-1], loop - 1
    return Lasso(tuple(states), loop)
