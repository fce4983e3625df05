"""Facts about the code of actions and processes that engines ask for before they compile it."""

from __future__ import annotations

from refute.specs.machine.ir import Choose, For, If, Process, Stmt, Yield
from refute.specs.machine.values import domain


def instance_count(process: Process) -> int:
    """How many processes a family has."""
    count = 1
    for param in process.params:
        count *= len(domain(param.type))
    return count


def resumes(process: Process) -> set[tuple[int, tuple[str, ...]]]:
    """The blocks that a process goes on with after a yield, and the locals kept until then."""
    ends = [b.end for b in process.blocks]
    return {(e.target, e.live) for e in ends if isinstance(e, Yield)}


def chooses(body: tuple[Stmt, ...]) -> bool:
    """Whether a step may ask for a choice."""
    for stmt in body:
        match stmt:
            case Choose():
                return True
            case If() if chooses(stmt.then + stmt.orelse):
                return True
            case For() if chooses(stmt.body):
                return True
    return False
