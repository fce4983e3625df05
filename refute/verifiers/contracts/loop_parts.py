"""Loop parts: the test and the start of an iteration, alike for `while` and `for`.

A `for` loop has a hidden index, which counts what was taken; the bounds of it need no invariant.
"""

from __future__ import annotations

import abc
import ast
import dataclasses
from collections.abc import Sequence

from refute.verifiers.contracts.havoc import Changed
from refute.verifiers.contracts.iteration import Iteration, iterate
from refute.verifiers.contracts.operators import number, truth
from refute.verifiers.contracts.run import Run
from refute.verifiers.contracts.state import State
from refute.verifiers.contracts.targets import assign
from refute.verifiers.contracts.terms import Term, conj, known
from refute.verifiers.contracts.values import IntV, Seq


@dataclasses.dataclass(frozen=True)
class Hints:
    """What stands at the top of a loop's body."""

    invariants: tuple[ast.expr, ...] = ()
    measure: ast.expr | None = None


def split(run: Run, body: Sequence[ast.stmt]) -> tuple[list[ast.stmt], Hints]:
    """The body without its leading hints, and the hints."""
    invariants: list[ast.expr] = []
    measure: ast.expr | None = None
    rest = list(body)
    while rest:
        match rest[0]:
            case ast.Expr(value=ast.Call(func=function, args=[argument], keywords=[])):
                hint = "" if _local(run, function) else run.program.hint(run.frame.module, function)
            case _:
                break
        if hint == "invariant":
            invariants.append(argument)
        elif hint == "decreases" and measure is None:
            measure = argument
        else:
            break
        rest.pop(0)
    return rest, Hints(tuple(invariants), measure)


def _local(run: Run, function: ast.expr) -> bool:
    """Whether the name that a dotted expression begins with is a local variable."""
    names = (n.id for n in ast.walk(function) if isinstance(n, ast.Name))
    return any(name in run.frame.locals_ for name in names)


class Shape(abc.ABC):
    """What `while` and `for` have in common. node: for places and the else clause."""

    node: ast.While | ast.For
    body: list[ast.stmt]
    hints: Hints

    def count(self, state: State) -> int | None:
        """How many iterations there are, where that is known."""
        return None

    @abc.abstractmethod
    def test(self, run: Run, state: State) -> Term:
        """Whether there is another iteration."""

    @abc.abstractmethod
    def start(self, run: Run, state: State) -> None:
        """What happens before the body."""

    @abc.abstractmethod
    def assume_index(self, run: Run, state: State) -> None:
        """What is known of a hidden index anyway."""

    def freeze(self, state: State) -> list[int]:
        """Let nothing change what the loop goes over, if it must not; addresses of what it was."""
        return []

    @abc.abstractmethod
    def begin_measures(self, run: Run, state: State) -> None:
        """Remember what the length was that the iteration depends on."""

    def may_go_on_forever(self, run: Run, state: State, changed: Changed) -> bool:
        """Whether termination needs an argument."""
        return True


class While(Shape):
    """A while loop."""

    def __init__(self, node: ast.While, body: list[ast.stmt], hints: Hints) -> None:
        self.node: ast.While = node
        self.body = body
        self.hints = hints

    def test(self, run: Run, state: State) -> Term:
        """The truth of its condition."""
        return truth(run, state, run.evaluate(state, self.node.test))

    def start(self, run: Run, state: State) -> None:
        """Nothing: the body is next."""

    def assume_index(self, run: Run, state: State) -> None:
        """Nothing: there is no index."""

    def begin_measures(self, run: Run, state: State) -> None:
        """Nothing: what it depends on is its `decreases`."""


class For(Shape):
    """A for loop over an iteration; `index` is the local that counts."""

    def __init__(
        self, node: ast.For, body: list[ast.stmt], hints: Hints, iteration: Iteration, index: str
    ) -> None:
        self.node: ast.For = node
        self.body = body
        self.hints = hints
        self.iteration = iteration
        self.index = index
        self._length: Term = None

    @classmethod
    def over(cls, run: Run, state: State, node: ast.For, body: list[ast.stmt], hints: Hints) -> For:
        """The loop over what its iterable is now."""
        iteration = iterate(run, state, run.evaluate(state, node.iter), node.iter)
        if _late(node):
            run.unsupported(state, "a loop that changes what its generator computes with", node)
        index = f"index!{node.lineno}.{node.col_offset}"
        state.env[index] = IntV(iteration.start)
        return cls(node, body, hints, iteration, index)

    def count(self, state: State) -> int | None:
        """Known for a range of constants and for the elements of a display."""
        return self.iteration.count

    def _stop(self, state: State) -> Term:
        now = self._now(state)
        return self.iteration.stop if now is None else now.length

    def _now(self, state: State) -> Seq | None:
        """What the loop goes over as it is now, where it is looked at element by element."""
        live, source = self.iteration.live, self.iteration.source
        if source is not None:
            return state.cell(source).seq
        return live(state) if live is not None and not self.iteration.fixed else None

    def freeze(self, state: State) -> list[int]:
        """Let nothing change the lists that an iterator reads late; those it has frozen."""
        frozen = []
        for address in self.iteration.lists if self.iteration.fixed else ():
            cell = state.heap[address]
            if not cell.frozen:
                why = "a change of a list that an iterator goes over"
                state.heap[address] = dataclasses.replace(cell, frozen=why)
                frozen.append(address)
        return frozen

    def at(self, state: State) -> Term:
        """The hidden index."""
        term = number(state.env[self.index])
        assert term is not None
        return term

    def test(self, run: Run, state: State) -> Term:
        """Whether an element is left."""
        return self.at(state) < self._stop(state)

    def start(self, run: Run, state: State) -> None:
        """Take the next element."""
        at, now = self.at(state), self._now(state)
        item = self.iteration.at(at) if now is None else now.at(at)
        state.env[self.index] = IntV(at + 1)
        assign(run, state, self.node.target, item)

    def assume_index(self, run: Run, state: State) -> None:
        """It only counts up."""
        at = self.at(state)
        if not known(at):
            state.assume(conj([self.iteration.start <= at]))

    def begin_measures(self, run: Run, state: State) -> None:
        """The length of a list that the body may make longer."""
        self._length = self._stop(state)

    def may_go_on_forever(self, run: Run, state: State, changed: Changed) -> bool:
        """Only if the list that is gone over may grow."""
        source = self.iteration.source
        lists = self.iteration.lists if source is None else (source.address,)
        if not any(address in changed.cells for address in lists):
            return False
        return not run.holds(state, self._stop(state) <= self._length)


def _late(node: ast.For) -> bool:
    """Whether the loop assigns to a variable that a generator it goes over reads each time."""
    made = [g for g in ast.walk(node.iter) if isinstance(g, ast.GeneratorExp)]
    read = {n.id for g in made for n in ast.walk(g) if isinstance(n, ast.Name)}
    stored = {
        n.id
        for part in (node.target, *node.body)
        for n in ast.walk(part)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store | ast.Del)
    }
    own = {
        n.id
        for g in made
        for c in g.generators
        for n in ast.walk(c.target)
        if isinstance(n, ast.Name)
    }
    return bool((read - own) & stored)


def measures(run: Run, state: State, shape: Shape) -> list[tuple[ast.expr, Term]]:
    """Expressions that may fall in a while loop, by its test, with their values now."""
    if not isinstance(shape, While):
        return []
    found = []
    for expression in _guessed(shape.node.test):
        ast.fix_missing_locations(ast.copy_location(expression, shape.node))
        with run.apart():
            value = number(run.evaluate(state.copy(), expression))
        if value is not None:
            found.append((expression, value))
    return found


def _guessed(test: ast.expr) -> list[ast.expr]:
    match test:
        case ast.Compare(left=left, ops=[ast.Lt() | ast.LtE()], comparators=[right]):
            return [ast.BinOp(right, ast.Sub(), left)]
        case ast.Compare(left=left, ops=[ast.Gt() | ast.GtE()], comparators=[right]):
            return [ast.BinOp(left, ast.Sub(), right)]
        case ast.Compare(left=left, ops=[ast.NotEq()], comparators=[right]):
            return [ast.BinOp(left, ast.Sub(), right), ast.BinOp(right, ast.Sub(), left)]
        case ast.BoolOp(op=ast.And(), values=parts):
            return [e for part in parts for e in _guessed(part)]
        case ast.Name():
            length = ast.Call(ast.Name("len", ast.Load()), [test], [])
            return [test, length]
    return []
