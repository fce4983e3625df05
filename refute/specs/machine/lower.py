"""From a process's structured code to blocks between yields, and which locals a yield keeps.

A process's place is the block it goes on with, after following empty jumps: two places from which
the same code follows are one place, so that the number of states depends on behaviour, not on how
a loop was written. Locals that no later code reads are not part of the state.
"""

from __future__ import annotations

import dataclasses

from refute.errors import Unsupported
from refute.specs.machine.ir import (
    Assign,
    Block,
    Branch,
    Check,
    Choose,
    Done,
    Expr,
    For,
    If,
    Jump,
    Leave,
    Meet,
    Stmt,
    When,
    While,
    Write,
    Yield,
)

Targets = dict[str, int]


def used(expr: Expr) -> frozenset[str]:
    """The locals an expression reads and does not bind itself (every name is bound once)."""
    inside = frozenset[str]().union(*map(used, expr.args))
    if expr.op == "local":
        return inside | {expr.data}
    if expr.op in ("fold", "loop", "rec"):
        return inside - frozenset(expr.data)
    return inside - {expr.data} if expr.op in ("for", "let") else inside


def live_before(body: tuple[Stmt, ...], after: frozenset[str]) -> frozenset[str]:
    """The locals that may be read from the start of the body before they are assigned."""
    live = after
    for stmt in reversed(body):
        live = _live(stmt, live)
    return live


def _live(stmt: Stmt, after: frozenset[str]) -> frozenset[str]:
    match stmt:
        case When() | Check():
            return after | used(stmt.condition)
        case Choose():
            return (after - {stmt.name}) | used(stmt.source)
        case Assign():
            return (after - {stmt.name}) | used(stmt.value)
        case Meet():
            read = stmt.keys if stmt.value is None else (*stmt.keys, stmt.value)
            return (after - {stmt.name}).union(*map(used, read))
        case Write():
            return after.union(used(stmt.value), *map(used, stmt.path))
        case If():
            then, orelse = live_before(stmt.then, after), live_before(stmt.orelse, after)
            return then | orelse | used(stmt.condition)
        case For():
            inside = live_before(stmt.body, after) - {stmt.name}
            return after | inside | used(stmt.source)
    return after


class Lowering:
    """Blocks of one process, made from the end backwards."""

    def __init__(self, place: str, params: frozenset[str]) -> None:
        self.place = place
        self.params = params
        self.blocks: list[Block | None] = []
        self.onward: set[int] = set()  # blocks that end a round of a bounded loop

    def new(self, block: Block | None) -> int:
        """The number of a new block."""
        self.blocks.append(block)
        return len(self.blocks) - 1

    def lower(self, body: tuple[Stmt, ...]) -> tuple[tuple[Block, ...], int]:
        """All blocks, and the one a process starts with."""
        done = self.new(Block((), Done()))
        entry = self.sequence(body, done, {"return": done})
        return self._tidy(entry)

    def sequence(self, body: tuple[Stmt, ...], then: int, targets: Targets) -> int:
        """The block that runs the body and goes on with `then`."""
        tail: list[Stmt] = []
        for stmt in reversed(body):
            if not _splits(stmt):
                tail.insert(0, stmt)
                continue
            then = self._straight(tail, then)
            tail = []
            then = self._split(stmt, then, targets)
        return self._straight(tail, then)

    def _straight(self, body: list[Stmt], then: int) -> int:
        return self.new(Block(tuple(body), Jump(then))) if body else then

    def _split(self, stmt: Stmt, then: int, targets: Targets) -> int:
        match stmt:
            case Leave(word="yield"):
                return self.new(Block((), Yield(then, ())))
            case Leave():
                return targets[stmt.word]
            case If():
                ways = [self.sequence(b, then, targets) for b in (stmt.then, stmt.orelse)]
                return self.new(Block((), Branch(stmt.condition, *ways)))
            case While():
                head = self.new(None)
                again = head
                if stmt.bounded:
                    again = self.new(Block((), Jump(head)))
                    self.onward.add(again)
                inner = {**targets, "break": then, "continue": again}
                body = self.sequence(stmt.body, again, inner)
                constant = stmt.condition.op == "const" and stmt.condition.data is True
                end = Jump(body) if constant else Branch(stmt.condition, body, then)
                self.blocks[head] = Block((), end)
                return head
        raise AssertionError(stmt)

    def _tidy(self, entry: int) -> tuple[tuple[Block, ...], int]:
        """Follow empty jumps, refuse rounds without a yield, drop what is not reached."""
        made = [b for b in self.blocks if b is not None]
        self._refuse_rounds(made)
        start = self._through(made, entry)
        numbers: dict[int, int] = {}
        queue = [start]
        while queue:
            at = queue.pop()
            if at in numbers:
                continue
            numbers[at] = len(numbers)
            queue += [self._through(made, n) for n in _next(made[at].end)]
        rename = {
            n: numbers[self._through(made, n)]
            for n in range(len(made))
            if self._through(made, n) in numbers
        }
        blocks = tuple(Block(made[n].body, _renamed(made[n].end, rename)) for n in numbers)
        return _with_live(blocks, self.params), numbers[start]

    def _through(self, blocks: list[Block], at: int) -> int:
        seen = set()
        while not blocks[at].body and isinstance(blocks[at].end, Jump):
            if at in seen:
                raise self._round()
            seen.add(at)
            at = _next(blocks[at].end)[0]
        return at

    def _refuse_rounds(self, blocks: list[Block]) -> None:
        state = [0] * len(blocks)

        def visit(at: int) -> None:
            state[at] = 1
            if not isinstance(blocks[at].end, Yield) and at not in self.onward:
                for n in _next(blocks[at].end):
                    if state[n] == 1:
                        raise self._round()
                    if state[n] == 0:
                        visit(n)
            state[at] = 2

        for at in range(len(blocks)):
            if state[at] == 0:
                visit(at)

    def _round(self) -> Unsupported:
        return Unsupported(
            f"{self.place}: a loop with a way round without yield is not in the machine language",
            thing=self.place,
            next_step="put self = yield on every way through the loop, or use for",
        )


def _splits(stmt: Stmt) -> bool:
    match stmt:
        case Leave() | While():
            return True
        case If():
            return any(map(_splits, stmt.then + stmt.orelse))
    return False


def _next(end: Jump | Branch | Yield | Done) -> list[int]:
    match end:
        case Jump() | Yield():
            return [end.target]
        case Branch():
            return [end.then, end.orelse]
    return []


def _renamed(end: Jump | Branch | Yield | Done, to: dict[int, int]) -> Jump | Branch | Yield | Done:
    match end:
        case Jump():
            return Jump(to[end.target])
        case Yield():
            return Yield(to[end.target], ())
        case Branch():
            return Branch(end.condition, to[end.then], to[end.orelse])
    return end


def live_at(blocks: tuple[Block, ...]) -> list[frozenset[str]]:
    """For each block the locals that may be read from its start before they are assigned."""
    live: list[frozenset[str]] = [frozenset()] * len(blocks)
    changed = True
    while changed:
        changed = False
        for at, block in reversed(list(enumerate(blocks))):
            after = frozenset[str]().union(*(live[n] for n in _next(block.end)))
            if isinstance(block.end, Branch):
                after |= used(block.end.condition)
            found = live_before(block.body, after)
            changed |= found != live[at]
            live[at] = found
    return live


def _with_live(blocks: tuple[Block, ...], params: frozenset[str]) -> tuple[Block, ...]:
    live = [names - params for names in live_at(blocks)]
    return tuple(
        dataclasses.replace(b, end=Yield(b.end.target, tuple(sorted(live[b.end.target]))))
        if isinstance(b.end, Yield)
        else b
        for b in blocks
    )
