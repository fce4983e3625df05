"""The branches of steps, numbered: which of them no step ever took is part of a report.

Both the program and whoever reads its bits number them by one walk: per action or process, each
block and each way of an `if` that holds a statement, in the order of the code.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from refute.specs.machine.ir import Expr, For, If, MachineIR, Stmt, When

WORD = 64


def branch_lines(ir: MachineIR) -> list[list[int]]:
    """For each action, then each process, the lines that its branches begin at."""
    found = [list(_inside(action.body)) for action in ir.actions]
    for process in ir.processes:
        found.append([line for block in process.blocks for line in _branch(block.body)])
    return found


def _branch(body: Sequence[Stmt]) -> Iterator[int]:
    if body:
        yield body[0].line
    yield from _inside(body)


def _inside(body: Sequence[Stmt]) -> Iterator[int]:
    for stmt in body:
        match stmt:
            case If():
                yield from _branch(stmt.then)
                yield from _branch(stmt.orelse)
            case For():
                yield from _inside(stmt.body)


def refusing(ir: MachineIR) -> set[int]:
    """The lines of branches that begin with `when(False)`: no step is meant to take them."""
    bodies = [action.body for action in ir.actions]
    bodies += [block.body for process in ir.processes for block in process.blocks]
    return {stmt.line for body in bodies for stmt in _refusals(body)}


def _refusals(body: Sequence[Stmt]) -> Iterator[When]:
    for stmt in body:
        match stmt:
            case When(Expr("const", data=False)):
                yield stmt
            case If():
                yield from _refusals(stmt.then)
                yield from _refusals(stmt.orelse)
            case For():
                yield from _refusals(stmt.body)


def words_of(lines: Sequence[int]) -> int:
    """Words that hold a bit for each branch of one step."""
    return -(-len(lines) // WORD)


def never_ran(ir: MachineIR, ran: Sequence[int]) -> list[int]:
    """The lines of branches that no step took; ran: the words of all steps, one after the other."""
    every: set[int] = set()
    taken: set[int] = set()
    start = 0
    for lines in branch_lines(ir):
        every.update(lines)
        bits = [ran[start + at // WORD] >> at % WORD & 1 for at in range(len(lines))]
        taken.update(line for line, bit in zip(lines, bits, strict=True) if bit)
        start += words_of(lines)
    return sorted(every - taken - refusing(ir))
