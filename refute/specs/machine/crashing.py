"""Crashes: one action more, in which all processes end and volatile variables begin anew.

What `@recover` does belongs to the same step, so that nothing sees the state in between.
"""

from __future__ import annotations

from collections.abc import Sequence

from refute.specs.machine.ir import CRASH, Action, Die, Expr, Stmt, Variable, Write


def crash_action(
    variables: Sequence[Variable], volatile: frozenset[str], recovery: tuple[Stmt, ...], line: int
) -> Action:
    """The action of a crash. volatile: names; each of these has one starting value."""
    resets = [
        Write(v.name, (), Expr("const", v.type, (), v.initial[0]), v.type, line)
        for v in variables
        if v.name in volatile
    ]
    return Action(CRASH, (), (Die(line), *resets, *recovery), line=line)
